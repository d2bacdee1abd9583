//! Shared bandwidths that a topology lacks: copies both ways at once that are slower than the same copies alone.
//!
//! | rows | what is proposed | its figure |
//! |---|---|---|
//! | a device and one other, both ways | `shared` of the type of the narrowest link, the device's before others | 2 · rate |
//! | several devices and one host memory, both ways | `memory` of the host | copies at it · rate |
//!
//! The figure is the geometric mean over the rows: that which fits them best where all get equal parts. Where logs give both
//! copies one time, it is compared with the slower of the two alone; copies by kernels do not count, which are slower by themselves.

use std::collections::BTreeMap;

use ordered_float::OrderedFloat;
use weir_plugin_api::{LinkId, NodeId, NodeKind};
use weir_report::rate;
use weir_scenario::Machine;
use weir_sim_core::Routes;

use crate::fit::Fit;
use crate::fit::parameter::Setting;
use crate::measurement::{Experiment, MeasuredEnd, Transfer};

/// Part of a lone copy's rate below which a copy is slowed by those beside it; *assumed*, the error that a prediction may have.
const SLOWED: f64 = 0.9;
/// Part of the measured time that a row's simulation may lack before the topology counts as lacking something, half of what
/// a slowed copy is slower; *assumed*.
const UNEXPLAINED: f64 = 0.05;
/// Factor between the sizes of two copies up to which their rates are compared; *assumed*, smaller copies are slower for their latency.
const ALIKE: u64 = 2;
/// Part of a bandwidth by which a narrower one counts as narrower; *assumed*, above the precision of fitted values.
const NARROWER: f64 = 1e-3;
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

/// A transfer of a row.
#[derive(Clone, Copy)]
struct TransferRate {
    ends: (NodeId, NodeId),
    bytes: u64,
    /// Bytes per second.
    rate: f64,
    /// Simulated over measured seconds.
    slower: f64,
}

impl TransferRate {
    /// Whether the fitted topology makes too little of a difference to another copy, or is too fast for this one. A fit that is between the
    /// two is too slow for the lone copy.
    fn is_unexplained(self, alone: Self) -> bool {
        self.slower < 1.0 - UNEXPLAINED || self.slower < alone.slower * (1.0 - UNEXPLAINED)
    }
}

/// A copy beside others, next to the lone one that it is compared with.
#[derive(Clone, Copy)]
struct Slowed {
    one: TransferRate,
    alone: TransferRate,
    /// What it would have if nothing were missing, bytes per second.
    expected: f64,
}

/// Copies by source and destination.
#[derive(Default)]
struct Rates(BTreeMap<(NodeId, NodeId), Vec<TransferRate>>);

impl Rates {
    fn of(all: &[(&Experiment, Vec<Vec<TransferRate>>)], wanted: impl Fn(&Experiment) -> bool) -> Self {
        let mut rates = Self::default();
        for one in all.iter().filter(|(experiment, _)| wanted(experiment)).flat_map(|(_, rows)| rows.iter().flatten()) {
            rates.0.entry(one.ends).or_default().push(*one);
        }
        rates
    }

    /// The slowest of the same ends and about the same size.
    fn slowest(&self, like: TransferRate) -> Option<TransferRate> {
        let alike = |one: &&TransferRate| {
            one.bytes <= like.bytes.saturating_mul(ALIKE) && like.bytes <= one.bytes.saturating_mul(ALIKE)
        };
        self.0.get(&like.ends)?.iter().filter(alike).copied().min_by_key(|one| OrderedFloat(one.rate))
    }
}

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
    let mut all: BTreeMap<Lacking, Asking<'_>> = BTreeMap::new();
    let rates: Vec<_> = experiments.iter().enumerate().map(|(at, e)| (e, rates(e, at, fit))).collect();
    let lone = Rates::of(&rates, |e| e.transfers.len() == 1);
    let pairs = Rates::of(&rates, |e| e.transfers.len() == 2 && is_both_ways(e));
    // What one copy loses beside the one back, others may lose as well.
    let of_pair = |pair: &TransferRate| Some(pair.rate / lone.slowest(*pair)?.rate);
    let kept = pairs.0.values().flatten().filter_map(of_pair).fold(1.0, f64::min);
    for (experiment, rows) in rates.iter().filter(|(e, _)| is_both_ways(e)) {
        let Some((lacking, count)) = lacking(machine, experiment, &fit.setting) else { continue };
        let slowed = |&one: &TransferRate| {
            let alone = lone.slowest(one)?;
            // What a link shares does not count for the memory behind it.
            let expected = match (lacking, pairs.slowest(one)) {
                (Lacking::Memory(_), Some(pair)) => alone.rate.min(pair.rate),
                (Lacking::Memory(_), None) => alone.rate * kept,
                _ => alone.rate,
            };
            Some(Slowed { one, alone, expected })
        };
        for row in rows {
            // One time of several copies is that of the last, which is no faster than the slowest of them alone.
            let Some(all_slowed) = row.iter().map(slowed).collect::<Option<Vec<Slowed>>>() else { continue };
            let last = all_slowed.into_iter().min_by_key(|slowed| OrderedFloat(slowed.expected));
            let Some(Slowed { one, alone, expected }) = last else { continue };
            if one.is_unexplained(alone) && one.rate < SLOWED * expected {
                let asking = all.entry(lacking).or_default();
                asking.sum += libm::log(one.rate * count as f64);
                asking.rows.push(&experiment.name);
            }
        }
    }
    all.iter().map(|(lacking, asking)| text(machine, *lacking, asking)).collect()
}

/// Whether each way of an experiment is taken in both directions.
fn is_both_ways(e: &Experiment) -> bool {
    let back = |from, to| e.transfers.iter().any(|t| (t.from, t.to) == (to, from));
    !e.kernels && !e.transfers.is_empty() && e.transfers.iter().all(|t| back(t.from, t.to))
}

/// For each row of an experiment the transfers that it is of: the one whose end was measured, or all where they have one size and one end,
/// any of which may be the last.
fn rates(e: &Experiment, place: usize, fit: &Fit) -> Vec<Vec<TransferRate>> {
    let same_size = e.transfers.windows(2).all(|pair| pair[0].bytes == pair[1].bytes);
    // The rows of a fit are in the order of the experiments.
    let first = fit.rows.partition_point(|row| row.experiment < place);
    let mut all = Vec::new();
    for (measured, compared) in e.rows.iter().zip(&fit.rows[first..]) {
        let of = match measured.end {
            MeasuredEnd::Transfer(at) => e.transfers.get(at..=at).unwrap_or_default(),
            MeasuredEnd::Last if same_size => &e.transfers[..],
            MeasuredEnd::Last => &[],
        };
        let rate = |bytes: u64| bytes as f64 * f64::from(e.messages) / measured.seconds;
        let slower = compared.simulated / compared.measured;
        let each = |t: &Transfer| TransferRate { ends: (t.from, t.to), bytes: t.bytes, rate: rate(t.bytes), slower };
        all.push(of.iter().map(each).collect());
    }
    all
}

/// What the copies of an experiment may share that the topology does not have, and how many of them share it.
fn lacking(machine: &Machine, e: &Experiment, fitted: &Setting) -> Option<(Lacking, usize)> {
    let fabric = &machine.fabric;
    let host = |node: NodeId| matches!(fabric.node(node).kind, NodeKind::Cpu | NodeKind::Host);
    let first = e.transfers.first()?;
    let (a, b) = (first.from, first.to);
    if e.transfers.len() == 2 {
        // From the device, so that its own link comes first.
        let (device, other) = if host(a) { (b, a) } else { (a, b) };
        let mut routes = Routes::new();
        let route = routes.between(fabric, device, other)?;
        let bandwidth = |link: LinkId| fitted.bandwidth[link.index()];
        let narrower = |a: LinkId, b: LinkId| if bandwidth(b) < bandwidth(a) * (1.0 - NARROWER) { b } else { a };
        let link = routes.links(route).iter().copied().reduce(narrower)?;
        let place = Lacking::Type(machine.type_of(link)?);
        return fabric.shared_both_ways(link).is_none().then_some((place, 2));
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
