//! Shared bandwidths that a topology lacks: copies both ways at once that are slower than the same copies alone.
//!
//! | rows | what is proposed | its figure |
//! |---|---|---|
//! | a device and one other, both ways | `shared` of the type of the device's link | 2 · rate |
//! | several devices and one host memory, both ways | `memory` of the host | copies at it · rate |
//!
//! The figure is the geometric mean over the rows: that which fits them best where all get equal parts.

use std::collections::{BTreeMap, BTreeSet};

use weir_plugin_api::{Direction, LinkId, NodeId, NodeKind};
use weir_report::rate;
use weir_scenario::Machine;

use crate::fit::Fit;
use crate::measurement::{Experiment, MeasuredEnd};

/// Part of a lone copy's rate below which a copy is slowed by those beside it; *assumed*, the error that a prediction may have.
const SLOWED: f64 = 0.9;
/// Part of the measured time that a row's simulation may lack before the topology counts as lacking something, half of what
/// a slowed copy is slower; *assumed*.
const UNEXPLAINED: f64 = 0.05;
/// Rows that a proposal names.
const NAMED: usize = 3;

/// Where a shared bandwidth is missing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Lacking {
    /// A link type, by its place.
    Type(usize),
    /// A node.
    Memory(NodeId),
}

/// Rates by source and destination.
type Rates = BTreeMap<(NodeId, NodeId), f64>;

/// The rows that ask for a shared bandwidth.
#[derive(Default)]
struct Asking<'a> {
    /// Sum of the logarithms of the bandwidths that single rows ask for.
    sum: f64,
    rows: Vec<&'a str>,
}

/// The lines to add to a topology, each with the rows that ask for it. Rows that the fitted topology explains ask for nothing:
/// their copies share links that it has.
pub(crate) fn proposals(machine: &Machine, experiments: &[Experiment], fit: &Fit) -> Vec<String> {
    let slow = fit.rows.iter().filter(|row| row.error() < -UNEXPLAINED);
    let unexplained: BTreeSet<(usize, usize)> = slow.map(|row| (row.experiment, row.row)).collect();
    let mut all: BTreeMap<Lacking, Asking<'_>> = BTreeMap::new();
    let lone = slowest(experiments.iter().filter(|e| e.transfers.len() == 1));
    let of_pairs = |e: &&Experiment| e.transfers.len() == 2 && is_both_ways(e);
    let pairs = slowest(experiments.iter().filter(of_pairs));
    for (place, experiment) in experiments.iter().enumerate().filter(|(_, e)| is_both_ways(e)) {
        let Some((lacking, count)) = lacking(machine, experiment) else { continue };
        for (_, ends, measured) in rates(experiment).filter(|(row, ..)| unexplained.contains(&(place, *row))) {
            let Some(&alone) = lone.get(&ends) else { continue };
            // What a link shares does not count for the memory behind it.
            let expected = match (lacking, pairs.get(&ends)) {
                (Lacking::Memory(_), Some(pair)) => alone.min(*pair),
                _ => alone,
            };
            if measured < SLOWED * expected {
                let asking = all.entry(lacking).or_default();
                asking.sum += libm::log(measured * count as f64);
                asking.rows.push(&experiment.name);
            }
        }
    }
    all.iter().map(|(lacking, asking)| text(machine, *lacking, asking)).collect()
}

/// Whether each way of an experiment is taken in both directions.
fn is_both_ways(e: &Experiment) -> bool {
    let back = |from, to| e.transfers.iter().any(|t| (t.from, t.to) == (to, from));
    e.transfers.len() > 1 && e.transfers.iter().all(|t| back(t.from, t.to))
}

/// The place of the row, the source and destination, and the bytes per second of each transfer whose end was measured.
fn rates(e: &Experiment) -> impl Iterator<Item = (usize, (NodeId, NodeId), f64)> {
    e.rows.iter().enumerate().filter_map(|(at_row, row)| {
        let MeasuredEnd::Transfer(at) = row.end else { return None };
        let transfer = e.transfers.get(at)?;
        let bytes = transfer.bytes as f64 * f64::from(e.messages);
        Some((at_row, (transfer.from, transfer.to), bytes / row.seconds))
    })
}

fn slowest<'a>(experiments: impl Iterator<Item = &'a Experiment>) -> Rates {
    let mut all = Rates::new();
    for (_, ends, rate) in experiments.flat_map(rates) {
        all.entry(ends).and_modify(|least| *least = rate.min(*least)).or_insert(rate);
    }
    all
}

/// What the copies of an experiment may share that the topology does not have, and how many of them share it.
fn lacking(machine: &Machine, e: &Experiment) -> Option<(Lacking, usize)> {
    let fabric = &machine.fabric;
    let host = |node: NodeId| matches!(fabric.node(node).kind, NodeKind::Cpu | NodeKind::Host);
    let first = e.transfers.first()?;
    let (a, b) = (first.from, first.to);
    if e.transfers.len() == 2 {
        let device = if host(a) { b } else { a };
        let up = (0..fabric.links().len()).map(LinkId::from_index);
        let up =
            up.into_iter().find(|&l| fabric.link(l).from == device && fabric.link(l).direction == Direction::Up)?;
        let place = Lacking::Type(machine.type_of(up)?);
        return fabric.shared_both_ways(up).is_none().then_some((place, 2));
    }
    let memory = [a, b].into_iter().find(|&node| host(node))?;
    let count = e.transfers.iter().filter(|t| t.from == memory || t.to == memory).count();
    let has = fabric.shared().iter().any(|shared| shared.node == Some(memory));
    (!has).then_some((Lacking::Memory(memory), count))
}

fn text(machine: &Machine, lacking: Lacking, asking: &Asking<'_>) -> String {
    let figure = rate(libm::exp(asking.sum / asking.rows.len() as f64)).replace(' ', "");
    let line = match lacking {
        Lacking::Type(at) => format!("`shared: {figure}` to link type `{}`", machine.types[at].name),
        Lacking::Memory(node) => format!("`memory: {{ bandwidth: {figure} }}` to `{}`", machine.node_name(node)),
    };
    let named: Vec<String> = asking.rows.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let more = match asking.rows.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "copies both ways at once are slower than the same copies alone, and the topology has nothing that both directions \
         share: add {line}, and calibrate again\n  the rows: {}{more}",
        named.join(", ")
    )
}
