//! How many transfers devices send at once, from experiments in which one device sends equal transfers to several others.
//!
//! A device with k send slots begins the next transfer when one of k ends. Where the end of each was measured, the ends simulated
//! with each number of slots are compared with them, by values of all else that fit the other experiments; a common factor is left
//! out, for the pattern of the ends tells k, and contention that the arbiter does not know slows all of them. Where only the
//! end of the last was measured, a sum of rates above that of the fastest lone copy tells that there are at least two slots; one
//! below tells nothing, for n transfers take as long one after the other as at once over one link.

use std::collections::BTreeMap;

use weir_plugin_api::NodeId;
use weir_scenario::NodeText;

use super::error::FitError;
use super::options::Choice;
use super::outcome::{Fitted, Known};
use super::parameter::{Parameter, Setting, engines};
use super::problem::Problem;
use super::shared::names;
use super::solve::unseen_restored;
use super::structure;
use crate::measurement::{Experiment, MeasuredEnd};

/// How near ends must be to those of a number of slots, and how far above a lone copy a sum of rates must lie; *assumed*, the
/// error that a prediction may have.
const NEAR: f64 = 0.1;

/// The devices that send at once, as far as rows tell.
pub(super) struct FoundSlots {
    /// The values of the topology, with the numbers found.
    pub(super) setting: Setting,
    /// The numbers that are others than in the topology.
    pub(super) fitted: Vec<Fitted>,
    /// Of which devices nothing was found.
    pub(super) notes: Vec<String>,
}

impl FoundSlots {
    /// The numbers of the topology.
    pub(super) fn none(base: &Setting) -> Self {
        Self { setting: base.clone(), fitted: Vec::new(), notes: Vec::new() }
    }
}

/// What rows tell of devices that are written as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Told {
    /// At least so many at once.
    least: u32,
    /// The number that fits best.
    best: u32,
    /// At most so many; `None` where all that there were went at once.
    most: Option<u32>,
}

/// Experiments in which one device sends to several, by that device.
type BySource = BTreeMap<NodeId, Vec<usize>>;

/// The numbers that the fitted experiments tell: one for all devices that are written as one.
pub(super) fn found(problem: &Problem<'_>, parameters: &[Parameter]) -> Result<FoundSlots, FitError> {
    let mut all = FoundSlots::none(problem.base);
    let mut by_source = BySource::new();
    for at in (0..problem.experiments.len()).filter(|&at| is_one_to_all(problem, at)) {
        by_source.entry(problem.experiments[at].transfers[0].from).or_default().push(at);
    }
    if by_source.is_empty() {
        return Ok(all);
    }
    let has_pattern = by_source.values().flatten().any(|&at| ends(&problem.experiments[at]).is_some());
    let rest = if has_pattern { of_the_rest(problem, parameters, &by_source)? } else { problem.base.clone() };
    for NodeText { nodes, .. } in &problem.machine.send_slots {
        let own: Vec<usize> = nodes.iter().filter_map(|node| by_source.remove(node)).flatten().collect();
        let has = nodes.first().and_then(|&node| problem.machine.send_slots(node)).filter(|_| !own.is_empty());
        let Some(has) = has else { continue };
        let name = names(problem.machine, nodes);
        let Some(told) = told(problem, &rest, nodes, &own)? else {
            let stays = "the rows do not tell how many transfers it sends at once: `engines` stays as it is";
            all.notes.push(format!("{name}: {stays}"));
            continue;
        };
        if told.least <= has && told.most.is_none_or(|most| has <= most) {
            continue;
        }
        let (parameter, value) = (engines(&name, nodes, has), f64::from(told.best));
        all.setting.set(&parameter, value);
        let known = if told.most.is_some() { Known::Counted } else { Known::Enough };
        all.fitted.push(Fitted { parameter, value, known });
    }
    let of_machines: Vec<&str> = by_source.keys().map(|&node| problem.machine.node_name(node)).collect();
    if !of_machines.is_empty() {
        all.notes.push(format!("{}: `engines` in `machines` stay as they are", of_machines.join(", ")));
    }
    Ok(all)
}

/// Whether an experiment is fitted, and one device with a number of slots sends equal transfers to several others in it.
fn is_one_to_all(problem: &Problem<'_>, at: usize) -> bool {
    let Experiment { transfers, rows, kernels, .. } = &problem.experiments[at];
    let Some(first) = transfers.first().filter(|_| problem.fitted[at] && !kernels && transfers.len() > 1) else {
        return false;
    };
    let equal = transfers.iter().all(|t| (t.from, t.bytes) == (first.from, first.bytes));
    let counts = !rows.is_empty() && !(0..rows.len()).any(|row| problem.is_left_out((at, row)));
    let engines = problem.machine.engines();
    equal && counts && engines.send_slots(first.from).is_some() && engines.copy_engines(first.from) != Some(1)
}

/// The values that fit all other experiments.
fn of_the_rest(problem: &Problem<'_>, parameters: &[Parameter], by_source: &BySource) -> Result<Setting, FitError> {
    let mut fitted = problem.fitted.to_vec();
    by_source.values().flatten().for_each(|&at| fitted[at] = false);
    if !fitted.contains(&true) {
        return Ok(problem.base.clone());
    }
    let rest = Problem { fitted: &fitted, ..*problem };
    let solved = unseen_restored(&rest, structure::best(&rest, parameters.to_vec(), Choice::No)?)?;
    Ok(rest.setting(&solved.parameters, &solved.values()))
}

/// What experiments of devices that are written as one tell together; `None` where they tell nothing, or contradict each other.
fn told(problem: &Problem<'_>, rest: &Setting, nodes: &[NodeId], own: &[usize]) -> Result<Option<Told>, FitError> {
    let (each, last): (Vec<usize>, Vec<usize>) = own.iter().partition(|&&at| ends(&problem.experiments[at]).is_some());
    let least = last.iter().filter_map(|&at| least_of_sum(problem, &problem.experiments[at])).max();
    let most_at_once = each.iter().map(|&at| problem.experiments[at].transfers.len()).max();
    let Some(all) = most_at_once.map(|count| count as u32) else {
        return Ok(least.map(|least| Told { least, best: least, most: None }));
    };
    let one = engines("", nodes, 1);
    let squares = |slots: u32| {
        let mut setting = rest.clone();
        setting.set(&one, slots.into());
        let simulated = problem.simulator.seconds(&setting, |at| each.contains(&at))?;
        Ok(each.iter().map(|&at| of_pattern(&problem.experiments[at], &simulated[at])).sum::<f64>())
    };
    let squares = (1..=all).map(squares).collect::<Result<Vec<f64>, FitError>>()?;
    let rows: usize = each.iter().map(|&at| problem.experiments[at].rows.len()).sum();
    let lowest = squares.iter().copied().fold(f64::INFINITY, f64::min);
    let fits = |slots: &u32| squares[*slots as usize - 1] <= lowest + NEAR * NEAR && Some(*slots) >= least;
    let fitting: Vec<u32> = (1..=all).filter(fits).collect();
    let best = fitting.iter().copied().min_by(|&a, &b| squares[a as usize - 1].total_cmp(&squares[b as usize - 1]));
    let is_near = lowest <= rows as f64 * NEAR * NEAR;
    let bounds = fitting.first().copied().zip(fitting.last().copied()).zip(best);
    let told = |((least, most), best)| Told { least, best, most: (most < all).then_some(most) };
    Ok(bounds.filter(|_| is_near).map(told))
}

/// The measured ends of all transfers, ascending; `None` where some were not measured.
fn ends(experiment: &Experiment) -> Option<Vec<f64>> {
    let own = experiment.rows.iter().filter(|row| matches!(row.end, MeasuredEnd::Transfer(_)));
    let mut ends: Vec<f64> = own.map(|row| row.seconds).collect();
    ends.sort_by(f64::total_cmp);
    (ends.len() == experiment.transfers.len() && ends.len() == experiment.rows.len()).then_some(ends)
}

/// The sum of squares of ln(simulated / measured) around their mean, of the ends of an experiment in their order.
fn of_pattern(experiment: &Experiment, simulated: &[f64]) -> f64 {
    let Some(measured) = ends(experiment) else { return 0.0 };
    let mut simulated = simulated.to_vec();
    simulated.sort_by(f64::total_cmp);
    let residuals: Vec<f64> = simulated.iter().zip(&measured).map(|(s, m)| libm::log(s / m)).collect();
    let mean = residuals.iter().sum::<f64>() / residuals.len() as f64;
    residuals.iter().map(|residual| (residual - mean).powi(2)).sum()
}

/// How many transfers at least are under way at once where they carry more together than the fastest lone copy of their source.
fn least_of_sum(problem: &Problem<'_>, experiment: &Experiment) -> Option<u32> {
    let last = experiment.rows.iter().filter(|row| row.end == MeasuredEnd::Last).map(|row| row.seconds).next_back()?;
    let bytes: f64 = experiment.transfers.iter().map(|t| t.bytes as f64 * f64::from(experiment.messages)).sum();
    let times = bytes / last / fastest_lone(problem, experiment.transfers[0].from)?;
    (times > 1.0 + NEAR).then(|| (times - NEAR).ceil() as u32)
}

/// Bytes per second of the fastest lone copy of a device.
fn fastest_lone(problem: &Problem<'_>, from: NodeId) -> Option<f64> {
    let fitted = problem.experiments.iter().zip(problem.fitted).filter(|(_, fitted)| **fitted).map(|(e, _)| e);
    let lone = fitted.filter(|e| e.transfers.len() == 1 && e.transfers[0].from == from && !e.kernels);
    let rate = |e: &Experiment| {
        let bytes = e.transfers[0].bytes as f64 * f64::from(e.messages);
        e.rows.iter().map(|row| bytes / row.seconds).fold(0.0, f64::max)
    };
    lone.map(rate).max_by(f64::total_cmp)
}
