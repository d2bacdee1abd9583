//! How many transfers devices send at once, from experiments in which they send several.
//!
//! A device with k send slots begins the next transfer when one of k ends. So measured ends are compared with those simulated with
//! each number of slots, by values of all else that fit the experiments on which no number of slots has an effect. Where the
//! ends of single transfers were measured, a common factor is left out: their pattern tells k, and contention that the arbiter
//! does not know slows all of them. Where only the end of the last was, it tells k as far as lone copies show what each link
//! carries; if no number fits, a sum of rates above that of the fastest lone copy tells how many there are at least. Over one
//! link it tells nothing, for n transfers take as long one after the other as at once.

use std::collections::BTreeSet;

use weir_plugin_api::{LinkId, NodeId};
use weir_scenario::NodeText;

use super::error::FitError;
use super::options::Choice;
use super::outcome::{Fitted, Known};
use super::parameter::{Parameter, Setting, engines};
use super::problem::Problem;
use super::shared::names;
use super::solve::unseen_restored;
use super::structure;
use crate::measurement::{Experiment, MeasuredEnd, MeasuredTime};

/// How near ends must be to those of a number of slots, and how far above a lone copy a sum of rates must lie; *assumed*, the
/// error that a prediction may have.
const NEAR: f64 = 0.1;

/// How many transfers devices send at once, as far as rows tell.
pub(super) struct FoundSlots {
    /// The values of the topology, with the numbers found.
    pub(super) setting: Setting,
    /// The numbers that are others than in the topology.
    pub(super) fitted: Vec<Fitted>,
    /// Of which devices nothing was found, and why.
    pub(super) notes: Vec<String>,
}

impl FoundSlots {
    /// The numbers of the topology.
    pub(super) fn none(base: &Setting) -> Self {
        Self { setting: base.clone(), fitted: Vec::new(), notes: Vec::new() }
    }

    /// Finds the number of some devices, which have `has`, by the experiments that may tell one.
    fn look_at(&mut self, devices: &Devices<'_>, has: u32, telling: &[usize]) -> Result<(), FitError> {
        let Devices { problem, nodes, .. } = *devices;
        let name = names(problem.machine, nodes);
        let own: Vec<usize> = telling.iter().copied().filter(|&at| devices.is_source(at)).collect();
        let (fitted, held_out): (Vec<usize>, Vec<usize>) = own.into_iter().partition(|&at| problem.fitted[at]);
        if fitted.is_empty() {
            self.notes.extend((!held_out.is_empty()).then(|| held_out_note(&name, held_out.len())));
            return Ok(());
        }
        match devices.told(&fitted)? {
            Some(told) if told.has(has) => {}
            Some(told) => self.count(engines(&name, nodes, has), told),
            None if fitted.iter().any(|&at| is_one_to_all(&problem.experiments[at])) => {
                let stays = "the rows do not tell how many transfers it sends at once: `engines` stays as it is";
                self.notes.push(format!("{name}: {stays}"));
            }
            None => {}
        }
        Ok(())
    }

    /// Takes the number that fits best.
    fn count(&mut self, parameter: Parameter, told: Told) {
        let (value, known) = (f64::from(told.best), if told.most.is_some() { Known::Counted } else { Known::Enough });
        self.setting.set(&parameter, value);
        self.fitted.push(Fitted { parameter, value, known });
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

impl Told {
    /// Whether a number is one of these.
    fn has(self, slots: u32) -> bool {
        self.least <= slots && self.most.is_none_or(|most| slots <= most)
    }
}

/// The numbers that the fitted experiments tell: one for all devices that are written as one.
pub(super) fn found(problem: &Problem<'_>, parameters: &[Parameter]) -> Result<FoundSlots, FitError> {
    let mut all = FoundSlots::none(problem.base);
    let telling: Vec<usize> = (0..problem.experiments.len()).filter(|&at| sends_several(problem, at)).collect();
    let rest = if telling.is_empty() { problem.base.clone() } else { of_the_rest(problem, parameters, &telling)? };
    let mut written: BTreeSet<NodeId> = BTreeSet::new();
    for NodeText { nodes, .. } in &problem.machine.send_slots {
        written.extend(nodes);
        let Some(has) = nodes.first().and_then(|&node| problem.machine.send_slots(node)) else { continue };
        all.look_at(&Devices { problem, rest: &rest, nodes }, has, &telling)?;
    }
    let sources: BTreeSet<NodeId> = telling.iter().flat_map(|&at| sources_of_several(problem, at)).collect();
    let others = sources.difference(&written).map(|&node| problem.machine.node_name(node));
    let others: Vec<&str> = others.collect();
    if !others.is_empty() {
        all.notes.push(format!("{}: `engines` in `machines` stay as they are", others.join(", ")));
    }
    Ok(all)
}

fn held_out_note(name: &str, count: usize) -> String {
    let what = if count == 1 { "the one group that tells" } else { "all groups that tell" };
    format!(
        "{name}: {what} how many transfers it sends at once {} held out: `engines` stays as it is (--hold-out 0, or \
             another --seed)",
        if count == 1 { "is" } else { "are" }
    )
}

/// Whether devices whose send slots may be another number send several transfers in an experiment that counts.
fn sends_several(problem: &Problem<'_>, at: usize) -> bool {
    sources_of_several(problem, at).next().is_some()
}

/// These devices.
fn sources_of_several<'p>(problem: &'p Problem<'_>, at: usize) -> impl Iterator<Item = NodeId> + use<'p> {
    let Experiment { transfers, rows, kernels, .. } = &problem.experiments[at];
    let engines = problem.machine.engines();
    let has_slots = |node: &NodeId| engines.send_slots(*node).is_some() && engines.copy_engines(*node) != Some(1);
    let counts = !kernels && !rows.is_empty() && !(0..rows.len()).any(|row| problem.is_left_out((at, row)));
    let mut sources: Vec<NodeId> = transfers.iter().filter(|_| counts).map(|t| t.from).collect();
    sources.sort_unstable();
    let several = |two: &[NodeId]| two[0] == two[1];
    let all: BTreeSet<NodeId> = sources.windows(2).filter(|two| several(two)).map(|two| two[0]).collect();
    all.into_iter().filter(has_slots)
}

/// Whether one device sends all transfers of an experiment.
fn is_one_to_all(experiment: &Experiment) -> bool {
    experiment.transfers.windows(2).all(|two| two[0].from == two[1].from)
}

/// The values that fit the experiments on which slots have no effect.
fn of_the_rest(problem: &Problem<'_>, parameters: &[Parameter], telling: &[usize]) -> Result<Setting, FitError> {
    let mut fitted = problem.fitted.to_vec();
    telling.iter().for_each(|&at| fitted[at] = false);
    if !fitted.contains(&true) {
        return Ok(problem.base.clone());
    }
    let rest = Problem { fitted: &fitted, ..*problem };
    let solved = unseen_restored(&rest, structure::best(&rest, parameters.to_vec(), Choice::Auto)?)?;
    Ok(rest.setting(&solved.parameters, &solved.values()))
}

/// Devices that are written as one.
struct Devices<'a> {
    problem: &'a Problem<'a>,
    /// The values of all else.
    rest: &'a Setting,
    nodes: &'a [NodeId],
}

/// How measured ends are compared with simulated ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Each with that of its transfer.
    Transfer,
    /// In their order: devices may serve transfers in another order than that of the log.
    Order,
    /// The last alone, whatever common factor there is.
    Last,
}

impl Devices<'_> {
    /// Whether one of these sends several transfers of an experiment.
    fn is_source(&self, at: usize) -> bool {
        self.at_once(at) > 1
    }

    /// The most transfers that one of these sends in an experiment.
    fn at_once(&self, at: usize) -> usize {
        let transfers = &self.problem.experiments[at].transfers;
        let of = |node: &NodeId| transfers.iter().filter(|transfer| transfer.from == *node).count();
        self.nodes.iter().map(of).max().unwrap_or(0)
    }

    /// What experiments tell together; `None` where they tell nothing, or contradict each other. Those in which others send,
    /// too, count only where there are no others.
    fn told(&self, own: &[usize]) -> Result<Option<Told>, FitError> {
        let (alone, beside): (Vec<usize>, Vec<usize>) =
            own.iter().partition(|&&at| is_one_to_all(&self.problem.experiments[at]));
        let own = if alone.is_empty() { beside } else { alone };
        let has_ends = |at: &usize| self.problem.experiments[*at].rows.iter().filter(|row| is_own(row)).count() > 1;
        let (each, last): (Vec<usize>, Vec<usize>) = own.into_iter().partition(has_ends);
        let least = last.iter().filter_map(|&at| self.least_of_sum(&self.problem.experiments[at])).max();
        if each.is_empty() {
            let (shown, simulator) = (self.shown_links(), self.problem.simulator);
            let is_known = |at: &usize| simulator.links(*at).iter().all(|link| shown.contains(link));
            let known: Vec<usize> = last.into_iter().filter(is_known).collect();
            let fitting = self.fitting(&known, By::Last, least)?;
            return Ok(fitting.or(least.map(|least| Told { least, best: least, most: None })));
        }
        match self.fitting(&each, By::Transfer, least)? {
            None => self.fitting(&each, By::Order, least),
            told => Ok(told),
        }
    }

    /// The numbers from `least` on with which the ends of experiments fit; `None` where none does, or all do. Other devices that
    /// send several transfers beside these have the same number: mostly they are of one model.
    fn fitting(&self, own: &[usize], by: By, least: Option<u32>) -> Result<Option<Told>, FitError> {
        let all = own.iter().map(|&at| self.at_once(at)).max().unwrap_or(0) as u32;
        let beside = own.iter().flat_map(|&at| sources_of_several(self.problem, at));
        let devices: Vec<NodeId> = self.nodes.iter().copied().chain(beside).collect();
        let one = engines("", &devices, 1);
        let squares = |slots: u32| {
            let mut setting = self.rest.clone();
            setting.set(&one, slots.into());
            let simulated = self.problem.simulator.seconds(&setting, |at| own.contains(&at))?;
            Ok(own.iter().map(|&at| squares(&self.problem.experiments[at], &simulated[at], by)).sum::<f64>())
        };
        let squares = (1..=all).map(squares).collect::<Result<Vec<f64>, FitError>>()?;
        let rows: usize = own.iter().map(|&at| self.problem.experiments[at].rows.len()).sum();
        let of = |slots: u32| squares[slots as usize - 1];
        let lowest = squares.iter().copied().fold(f64::INFINITY, f64::min);
        let fits = |slots: &u32| of(*slots) <= lowest + NEAR * NEAR && Some(*slots) >= least;
        let fitting: Vec<u32> = (1..=all).filter(fits).collect();
        let (Some(&first), Some(&last)) = (fitting.first(), fitting.last()) else { return Ok(None) };
        let best = fitting.iter().copied().min_by(|&a, &b| of(a).total_cmp(&of(b))).unwrap_or(first);
        let told = Told { least: first, best, most: (last < all).then_some(last) };
        let tells = (first, last) != (1, all) && lowest <= rows as f64 * NEAR * NEAR;
        Ok(Some(told).filter(|_| tells))
    }

    /// The links of the fitted experiments on which slots have no effect.
    fn shown_links(&self) -> BTreeSet<LinkId> {
        let Problem { simulator, experiments, fitted, .. } = *self.problem;
        let shown = (0..experiments.len()).filter(|&e| fitted[e] && !sends_several(self.problem, e));
        shown.flat_map(|e| simulator.links(e).iter().copied()).collect()
    }

    /// How many transfers at least are under way at once where they carry more together than the fastest lone copy of their source.
    fn least_of_sum(&self, experiment: &Experiment) -> Option<u32> {
        let last = experiment.rows.iter().filter(|row| !is_own(row)).map(|row| row.seconds).next_back()?;
        let bytes: f64 = experiment.transfers.iter().map(|t| t.bytes as f64 * f64::from(experiment.messages)).sum();
        let times = bytes / last / self.fastest_lone(experiment.transfers[0].from)?;
        (is_one_to_all(experiment) && times > 1.0 + NEAR).then(|| (times - NEAR).ceil() as u32)
    }

    /// Bytes per second of the fastest lone copy of a device.
    fn fastest_lone(&self, from: NodeId) -> Option<f64> {
        let Problem { experiments, fitted, .. } = *self.problem;
        let fitted = experiments.iter().zip(fitted).filter(|(_, fitted)| **fitted).map(|(experiment, _)| experiment);
        let lone = fitted.filter(|e| e.transfers.len() == 1 && e.transfers[0].from == from && !e.kernels);
        let rate = |e: &Experiment| {
            let bytes = e.transfers[0].bytes as f64 * f64::from(e.messages);
            e.rows.iter().map(|row| bytes / row.seconds).fold(0.0, f64::max)
        };
        lone.map(rate).max_by(f64::total_cmp)
    }
}

fn is_own(row: &MeasuredTime) -> bool {
    matches!(row.end, MeasuredEnd::Transfer(_))
}

/// The sum of squares of ln(simulated / measured) of an experiment: around their mean, but for the last alone.
fn squares(experiment: &Experiment, simulated: &[f64], by: By) -> f64 {
    let mut measured: Vec<f64> = experiment.rows.iter().map(|row| row.seconds).collect();
    let mut simulated = simulated.to_vec();
    if by == By::Order {
        measured.sort_by(f64::total_cmp);
        simulated.sort_by(f64::total_cmp);
    }
    let residuals: Vec<f64> = simulated.iter().zip(&measured).map(|(s, m)| libm::log(s / m)).collect();
    let mean = if by == By::Last { 0.0 } else { residuals.iter().sum::<f64>() / residuals.len() as f64 };
    residuals.iter().map(|residual| (residual - mean).powi(2)).sum()
}
