//! What both directions of a link, or all links of a node, carry together: which there are, where their fit begins, and
//! whether they limit anything.
//!
//! Only rows of transfers that cross a shared bandwidth at once tell it. The narrowest link explains all others.

use std::collections::BTreeMap;

use weir_plugin_api::{LinkId, NodeId};
use weir_scenario::Machine;

use super::parameter::{Direction, Parameter, ParameterKind, Setting, below};
use super::problem::Problem;
use crate::measurement::{Experiment, MeasuredEnd};

/// How near to what its links carry a shared bandwidth is without effect; *assumed*, above the precision of the least
/// bandwidth that limits no row.
const NEAR: f64 = 1e-3;

/// Where a shared bandwidth is written: what stands in one place has one value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Written {
    /// In a link type with a name.
    Type(usize),
    /// In the place of a link.
    Link(LinkId),
    /// As `memory` of nodes.
    Memory(usize),
}

/// The shared bandwidths of the links in use. Those of `machines` cannot be written, and stay as they are.
pub(super) fn parameters(machine: &Machine, used: &[LinkId]) -> Vec<Parameter> {
    let mut places: BTreeMap<Written, Vec<u32>> = BTreeMap::new();
    for (number, shared) in (0..).zip(machine.fabric.shared()) {
        let Some(&first) = shared.links.first() else { continue };
        let of_type = || machine.type_of(first).map(Written::Type);
        let place = match shared.node {
            Some(node) => machine.memories.iter().position(|m| m.nodes.contains(&node)).map(Written::Memory),
            None => of_type().or_else(|| machine.in_place(first).map(Written::Link)),
        };
        if let Some(place) = place {
            places.entry(place).or_default().push(number);
        }
    }
    let all = places.into_iter().map(|(place, numbers)| parameter(machine, place, numbers));
    all.filter(|parameter| parameter.links.iter().any(|link| used.binary_search(link).is_ok())).collect()
}

fn parameter(machine: &Machine, place: Written, shared: Vec<u32>) -> Parameter {
    let of = |number: u32| &machine.fabric.shared()[number as usize];
    let (name, of_type) = match place {
        Written::Type(at) => (format!("shared of {}", machine.types[at].name), Some(at)),
        Written::Link(link) => (format!("shared of the link of {}", below(machine, link)), None),
        Written::Memory(at) => (format!("memory of {}", names(machine, &machine.memories[at].nodes)), None),
    };
    let mut links: Vec<LinkId> = shared.iter().flat_map(|&number| of(number).links.iter().copied()).collect();
    links.sort_unstable();
    links.dedup();
    let start = of(shared[0]).bandwidth;
    let (kind, direction) = (ParameterKind::Shared, Direction::Both);
    Parameter { name, kind, links, shared, of_type, direction, start, marked: None, devices: Vec::new() }
}

/// Nodes that are written as one: the name of one, or the first and the last.
pub(super) fn names(machine: &Machine, nodes: &[NodeId]) -> String {
    match *nodes {
        [one] => machine.node_name(one).to_owned(),
        [first, .., last] => format!("{} to {}", machine.node_name(first), machine.node_name(last)),
        [] => String::new(),
    }
}

/// How many transfers of an experiment cross at once what a parameter is the bandwidth of: a link, or links that share it.
fn at_once(problem: &Problem<'_>, parameter: &Parameter, experiment: usize) -> usize {
    let crossing = |links: &[LinkId]| problem.simulator.crossing(experiment, links);
    let shared = parameter.shared.iter().map(|&number| &problem.machine.fabric.shared()[number as usize].links);
    match parameter.kind {
        ParameterKind::Shared => shared.map(|links| crossing(links)).max().unwrap_or(0),
        _ => parameter.links.iter().map(|&link| crossing(&[link])).max().unwrap_or(0),
    }
}

/// Whether it is a shared bandwidth that no fitted row has several transfers cross at once.
pub(super) fn never_at_once(problem: &Problem<'_>, parameter: &Parameter) -> bool {
    let several = |e: usize| problem.fitted[e] && at_once(problem, parameter, e) > 1;
    parameter.kind == ParameterKind::Shared && !(0..problem.fitted.len()).any(several)
}

/// Sums of concurrent rates over what a parameter is the bandwidth of: of each fitted group the mean of its measured rates
/// for each transfer that crosses it. Empty for what is no bandwidth.
pub(super) fn sums(problem: &Problem<'_>, parameter: &Parameter) -> Vec<f64> {
    if !parameter.kind.is_capacity() {
        return Vec::new();
    }
    let crossed = |(e, experiment): (usize, &Experiment)| {
        let count = at_once(problem, parameter, e);
        (problem.fitted[e] && count > 1).then(|| mean_rate(experiment).map(|rate| rate * count as f64)).flatten()
    };
    problem.experiments.iter().enumerate().filter_map(crossed).collect()
}

/// Bytes per second of the transfers of an experiment whose end was measured.
fn mean_rate(experiment: &Experiment) -> Option<f64> {
    let rate = |row: &crate::MeasuredTime| {
        let bytes = match row.end {
            MeasuredEnd::Transfer(at) => experiment.transfers[at].bytes as f64,
            MeasuredEnd::Last => experiment.transfers.iter().map(|t| t.bytes as f64).fold(0.0, f64::max),
        };
        bytes * f64::from(experiment.messages) / row.seconds
    };
    let count = experiment.rows.len();
    (count > 0).then(|| experiment.rows.iter().map(rate).sum::<f64>() / count as f64)
}

/// Whether rows of several transfers at once over a shared bandwidth show that it is not below what its links carry together.
pub(super) fn shows_no_limit(problem: &Problem<'_>, parameter: &Parameter, setting: &Setting) -> bool {
    limits_nothing(problem, parameter, setting) && !never_at_once(problem, parameter)
}

/// Whether a shared bandwidth is not below what its links carry together.
fn limits_nothing(problem: &Problem<'_>, parameter: &Parameter, setting: &Setting) -> bool {
    parameter.kind == ParameterKind::Shared
        && parameter.shared.iter().all(|&number| {
            let links = &problem.machine.fabric.shared()[number as usize].links;
            let together: f64 = links.iter().map(|link| setting.bandwidth[link.index()]).sum();
            setting.shared[number as usize] >= together * (1.0 - NEAR)
        })
}
