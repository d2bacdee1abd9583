//! Measured throughput that a topology cannot explain, whatever the arbiter: the transfers over one link, or over links that
//! share a bandwidth, ended sooner than it can carry their bytes.
//!
//! **What is tested.** Of transfers that began at one instant, those over a link l that have ended by the time t sent their
//! bytes through it in t: Σ bytes ≤ B(l) · t, for every link, every shared bandwidth and every measured t. Latencies only make
//! times longer, and transfers that were not measured only carry more, so that the bound stays true. Each link alone is a
//! cut between the sources and destinations of the transfers whose way takes it. Sets of several links are not tested: where
//! a topology has several ways, the way is the one that weir takes.

use std::collections::BTreeMap;

use weir_plugin_api::LinkId;
use weir_scenario::Machine;
use weir_sim_core::{Fabric, Routes};

use crate::fit::parameter::{ParameterKind, Setting};
use crate::fit::{Fit, Known, most_of_wire};
use crate::measurement::{Experiment, MeasuredEnd};

/// How far above a bandwidth a throughput may be; *assumed*, above what good measurements repeat to.
const ABOVE: f64 = 1.05;

/// A transfer with its way, and the seconds from the common start by which it had ended.
#[derive(Clone, PartialEq, Debug)]
pub struct TimedTransfer {
    /// The links that it takes, in any order.
    pub links: Vec<LinkId>,
    /// Payload.
    pub bytes: f64,
    /// Measured seconds, above 0.
    pub seconds: f64,
}

/// What carried more than it can.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CutPlace {
    /// A link in one direction.
    Link(LinkId),
    /// A bandwidth that links share, by its place in [`Fabric::shared`].
    Shared(usize),
}

/// Transfers that were faster together than what all of them cross.
#[derive(Clone, PartialEq, Debug)]
pub struct Exceeded {
    /// What they cross.
    pub place: CutPlace,
    /// What that carries, bytes per second.
    pub carries: f64,
    /// What they were measured with, bytes per second.
    pub measured: f64,
    /// The transfers, by their places.
    pub transfers: Vec<usize>,
}

/// Where transfers from one start are furthest above what a link, or a shared bandwidth, carries; `None` where none is.
#[must_use]
pub fn exceeded(fabric: &Fabric, bandwidth: &[f64], transfers: &[TimedTransfer]) -> Option<Exceeded> {
    let mut order: Vec<usize> = (0..transfers.len()).collect();
    order.sort_by(|&a, &b| transfers[a].seconds.total_cmp(&transfers[b].seconds));
    let mut loads: BTreeMap<CutPlace, (f64, Vec<usize>)> = BTreeMap::new();
    let mut worst: Option<Exceeded> = None;
    for at in order {
        let transfer = &transfers[at];
        for (place, times) in crossed(fabric, &transfer.links) {
            let (bytes, crossing) = loads.entry(place).or_default();
            *bytes += transfer.bytes * times;
            crossing.push(at);
            let carries = match place {
                CutPlace::Link(link) => bandwidth[link.index()],
                CutPlace::Shared(number) => fabric.shared()[number].bandwidth,
            };
            let measured = *bytes / transfer.seconds;
            let before = worst.as_ref().map_or(ABOVE, |worst| worst.measured / worst.carries);
            if measured / carries > before {
                worst = Some(Exceeded { place, carries, measured, transfers: crossing.clone() });
            }
        }
    }
    worst
}

/// What a way crosses, and how many times it takes a part of it: a node's bandwidth once, that of both directions of a link
/// for each.
fn crossed(fabric: &Fabric, links: &[LinkId]) -> BTreeMap<CutPlace, f64> {
    let mut all = BTreeMap::new();
    for &link in links {
        all.insert(CutPlace::Link(link), 1.0);
        for &number in fabric.shared_by(link) {
            let once = fabric.shared()[number as usize].node.is_some();
            let times = all.entry(CutPlace::Shared(number as usize)).or_insert(0.0);
            *times = if once { 1.0 } else { *times + 1.0 };
        }
    }
    all
}

/// The groups of a log that a fitted topology does not explain, each with its place among the experiments: several transfers, or
/// a collective, over a link that are faster than it is before the fit, after it, and than any lone copy over it was. A lone copy
/// that a fit misses is an error of the fit, unless it is above the wire, and so are copies over a link that it makes slower than the
/// topology has it.
#[must_use]
pub fn not_explained(machine: &Machine, experiments: &[Experiment], fit: &Fit) -> Vec<(usize, Exceeded)> {
    let fabric = &machine.fabric;
    let Setting { mut bandwidth, mut shared, loggp: None, .. } = fit.setting.clone() else { return Vec::new() };
    // What is only known to be enough for the fitted rows may be anything above.
    for of in fit.parameters.iter().filter(|of| of.known == Known::Enough) {
        match of.parameter.kind {
            ParameterKind::Bandwidth => {
                of.parameter.links.iter().for_each(|link| bandwidth[link.index()] = f64::INFINITY);
            }
            ParameterKind::Shared => of.parameter.shared.iter().for_each(|&at| shared[at as usize] = f64::MAX),
            _ => {}
        }
    }
    let given = fabric.bandwidths();
    let fabric = &with_shared(fabric, &shared);
    let (mut carries, timed): (Vec<f64>, Vec<_>) = (
        bandwidth.iter().zip(given).map(|(fitted, given)| fitted.max(*given)).collect(),
        experiments.iter().map(|e| timed(fabric, e)).collect(),
    );
    for lone in timed.iter().filter(|timed| timed.len() == 1).flatten() {
        for link in &lone.links {
            carries[link.index()] = carries[link.index()].max(lone.bytes / lone.seconds);
        }
    }
    // No wire is faster than its generation.
    for (carries, link) in carries.iter_mut().zip((0..).map(LinkId)) {
        *carries = most_of_wire(machine, link).map_or(*carries, |most| carries.min(most));
    }
    let found = timed.iter().zip(experiments).map(|(timed, experiment)| {
        // Of a collective one transfer may say it: its algorithm is assumed, and others carry less over a link. Above its wire
        // no link carries any.
        let counts = |above: &Exceeded| {
            above.transfers.len() > 1 || experiment.kernels && timed.len() > 1 || is_above_the_wire(machine, above)
        };
        exceeded(fabric, &carries, timed).filter(counts)
    });
    found.enumerate().filter_map(|(at, above)| Some((at, above?))).collect()
}

/// Whether it is more than the wire of a link carries, as far as its type says that.
pub(crate) fn is_above_the_wire(machine: &Machine, above: &Exceeded) -> bool {
    let CutPlace::Link(link) = above.place else { return false };
    most_of_wire(machine, link).is_some_and(|most| above.measured > most)
}

/// What the transfers of an experiment ask of one of these links at most, together: bytes per second, and how many they are.
pub(crate) fn asked_of(fabric: &Fabric, experiment: &Experiment, links: &[LinkId]) -> Option<(f64, usize)> {
    let mut timed = timed(fabric, experiment);
    timed.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let of_link = |link: &LinkId| {
        let crossing = timed.iter().filter(|transfer| transfer.links.contains(link));
        let sums = crossing.scan((0.0, 0), |(bytes, count), transfer| {
            (*bytes, *count) = (*bytes + transfer.bytes, *count + 1);
            Some((*bytes / transfer.seconds, *count))
        });
        sums.max_by(|a, b| a.0.total_cmp(&b.0))
    };
    links.iter().filter_map(of_link).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// The fastest lone copy over a link, bytes per second; `None` where there was none.
pub(crate) fn of_lone_copies(fabric: &Fabric, experiments: &[Experiment], link: LinkId) -> Option<f64> {
    let lone = experiments.iter().filter(|experiment| experiment.transfers.len() == 1);
    let asked = lone.filter_map(|experiment| asked_of(fabric, experiment, &[link]));
    asked.map(|(throughput, _)| throughput).max_by(f64::total_cmp)
}

/// A fabric with other shared bandwidths, where they are larger.
fn with_shared(fabric: &Fabric, shared: &[f64]) -> Fabric {
    let mut fabric = fabric.clone();
    let given: Vec<f64> = fabric.shared().iter().map(|shared| shared.bandwidth).collect();
    for (number, bandwidth) in (0..).zip(shared.iter().zip(given).map(|(fitted, given)| fitted.max(given))) {
        // One that is refused stays as it was.
        let _ = fabric.set_shared(number, bandwidth);
    }
    fabric
}

/// The transfers of an experiment whose end is known.
fn timed(fabric: &Fabric, experiment: &Experiment) -> Vec<TimedTransfer> {
    let mut routes = Routes::new();
    let last = experiment.rows.iter().filter(|row| row.end == MeasuredEnd::Last).map(|row| row.seconds);
    let last = last.fold(f64::INFINITY, f64::min);
    let each = experiment.transfers.iter().enumerate().filter_map(|(at, transfer)| {
        let own = experiment.rows.iter().filter(|row| row.end == MeasuredEnd::Transfer(at)).map(|row| row.seconds);
        let seconds = own.fold(last, f64::min);
        let route = routes.between(fabric, transfer.from, transfer.to)?;
        let bytes = transfer.bytes as f64 * f64::from(experiment.messages);
        seconds.is_finite().then(|| TimedTransfer { links: routes.links(route).to_vec(), bytes, seconds })
    });
    each.collect()
}

/// The name of a place, with the names that nodes have.
#[must_use]
pub fn place_name<'n>(fabric: &Fabric, place: CutPlace, name: impl Fn(weir_plugin_api::NodeId) -> &'n str) -> String {
    let ends = |link: LinkId| (name(fabric.link(link).from), name(fabric.link(link).to));
    match place {
        CutPlace::Link(link) => format!("{} → {}", ends(link).0, ends(link).1),
        CutPlace::Shared(number) => match (&fabric.shared()[number].node, fabric.shared()[number].links.first()) {
            (Some(node), _) => format!("memory of {}", name(*node)),
            (None, Some(&link)) => format!("both ways between {} and {}", ends(link).0, ends(link).1),
            (None, None) => "a shared bandwidth".to_owned(),
        },
    }
}
