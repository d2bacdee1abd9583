//! Which link or memory would save most if it were wider: found by running again with each, not by adding up delays. A link
//! at which many transfers lose time may stand before another that lets them through no faster.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ordered_float::OrderedFloat;
use weir_plugin_api::{LinkId, NodeId, PS_PER_S, SimDuration, SimTime};
use weir_report::page::Effort;
use weir_report::{SAME_MAKESPAN, Widening};
use weir_scenario::Scenario;
use weir_sim_core::{Fabric, FabricError, Outcome, Stop, TaskId};

use crate::critical_path::critical_path;
use crate::{Error, Run, RunOptions};

/// How many times as wide it is tried.
const WIDER: f64 = 2.0;
/// Links and memories that are tried at most: a third of them those at which transfers lose most, a third those that hold
/// back the critical path longest, then the busiest (*assumed*).
const MOST_TRIED: u64 = 16;
/// Rates that all runs together may ask arbiters for (*assumed*: some seconds on one core, of 50 to 300 ns each).
const MOST_RATES: u64 = 20_000_000;
/// Rates that an event of a run with an incremental side is worth (*assumed*: some microseconds).
const RATES_PER_EVENT: u64 = 20;
/// The widest that anything gets, bytes per second: the most that scenarios may write.
const WIDEST: f64 = 1e18;

/// What can be wider.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Wider {
    /// Both directions of a link, by the first, with what they share.
    Link(LinkId),
    /// The memory of a node, by its place in [`Fabric::shared`].
    Memory(u32),
}

impl Wider {
    pub(crate) fn link(link: LinkId) -> Self {
        Self::Link(link.min(opposite(link)))
    }

    /// What links share: one link in both directions, or the memory of a node.
    pub(crate) fn shared(fabric: &Fabric, number: u32) -> Self {
        let shared = &fabric.shared()[number as usize];
        if shared.node.is_some() { Self::Memory(number) } else { Self::link(shared.links[0]) }
    }

    /// The two nodes of a link, or twice the node of a memory.
    pub(crate) fn ends(self, fabric: &Fabric) -> (NodeId, NodeId) {
        match self {
            Self::Link(link) => (fabric.link(link).from, fabric.link(link).to),
            Self::Memory(number) => {
                let node = fabric.shared()[number as usize].node.unwrap_or(NodeId::NONE);
                (node, node)
            }
        }
    }

    /// The same fabric with this so many times as wide.
    pub(crate) fn on(self, fabric: &Fabric, times: f64) -> Result<Fabric, Error> {
        let mut wider = fabric.clone();
        let refused = |error: FabricError| Error::input(error.to_string());
        let more = |bandwidth: f64| (bandwidth * times).min(WIDEST);
        let shared = |wider: &mut Fabric, number: u32| {
            wider.set_shared(number, more(fabric.shared()[number as usize].bandwidth)).map_err(refused)
        };
        match self {
            Self::Memory(number) => shared(&mut wider, number)?,
            Self::Link(link) => {
                for link in [link, opposite(link)] {
                    let (bandwidth, latency) = (more(fabric.link(link).bandwidth), fabric.link(link).latency);
                    wider.set_link(link, bandwidth, latency).map_err(refused)?;
                }
                for &number in fabric.shared_by(link) {
                    if Self::shared(fabric, number) == self {
                        shared(&mut wider, number)?;
                    }
                }
            }
        }
        Ok(wider)
    }
}

impl Run {
    /// The links, and the memories of nodes, that would save most with twice their bandwidth in both directions, best first:
    /// by the makespan, among equals by the sum of all ends, then in the order of links. Only those are tried at which
    /// transfers lose time, that hold back the critical path, or that are among the busiest: at most 16, fewer in large runs.
    /// Empty for a run that did not end or that is too large to be run several times more, and if `cancel` becomes true.
    ///
    /// # Errors
    /// A run with a wider link fails.
    pub fn widenings(&self, cancel: Option<&Arc<AtomicBool>>) -> Result<Vec<Widening>, Error> {
        if !self.complete() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for wider in self.candidates(self.tries())? {
            let Some((makespan, sum_saved)) = self.widened(wider, cancel)? else { return Ok(Vec::new()) };
            found.push((self.makespan() - makespan, sum_saved, wider));
        }
        let least = SimDuration((self.makespan().0 as f64 * SAME_MAKESPAN) as u64);
        for (saved, ..) in found.iter_mut().filter(|(saved, ..)| *saved <= least) {
            *saved = SimDuration::ZERO;
        }
        found.sort_by_key(|&(saved, sum_saved, wider)| (Reverse(saved), Reverse(sum_saved), wider));
        Ok(found.into_iter().map(|(saved, sum_saved, wider)| self.widening(wider, saved, sum_saved)).collect())
    }

    fn widening(&self, wider: Wider, saved: SimDuration, sum_saved: i128) -> Widening {
        let (from, to) = wider.ends(&self.scenario.contents().fabric);
        let sum_saved_s = sum_saved as f64 / PS_PER_S as f64;
        Widening::new(self.node(from), self.node(to), WIDER, saved.seconds(), sum_saved_s)
    }

    /// How many runs with something wider take no more than some seconds; none if that is only one.
    fn tries(&self) -> usize {
        let each = match self.outcome.incremental {
            true => self.outcome.events.saturating_mul(RATES_PER_EVENT),
            false => Effort::of(&self.outcome, &self.scenario.contents().tasks).rates,
        };
        let tries = (MOST_RATES / each.max(1)).min(MOST_TRIED);
        if tries > 1 { tries as usize } else { 0 }
    }

    /// What is worth trying, so many at most.
    fn candidates(&self, most: usize) -> Result<Vec<Wider>, Error> {
        let (lost, critical) =
            (most_first(self.lost_time()?), most_first(critical_time(self.scenario.contents(), &self.outcome)));
        let third = most.div_ceil(3);
        let mut all: Vec<Wider> = Vec::new();
        let best = lost.into_iter().take(third).chain(critical.into_iter().take(third));
        for wider in best.chain(most_first(self.utilisation())) {
            if all.len() < most && !all.contains(&wider) {
                all.push(wider);
            }
        }
        Ok(all)
    }

    /// The bytes that crossed what was used, over its bandwidth: seconds.
    fn utilisation(&self) -> BTreeMap<Wider, f64> {
        let fabric = &self.scenario.contents().fabric;
        let bytes = |link: LinkId| self.outcome.links[link.index()].bytes as f64;
        let mut used = BTreeMap::new();
        for (at, link) in fabric.links().iter().enumerate() {
            let at = LinkId::from_index(at);
            let most = used.entry(Wider::link(at)).or_insert(0.0_f64);
            *most = most.max(bytes(at) / link.bandwidth);
        }
        for (number, shared) in (0..).zip(fabric.shared()) {
            let most = used.entry(Wider::shared(fabric, number)).or_insert(0.0);
            *most = most.max(shared.links.iter().map(|&link| bytes(link)).sum::<f64>() / shared.bandwidth);
        }
        used
    }

    /// The time that transfers lost by what each lost most at, seconds.
    fn lost_time(&self) -> Result<BTreeMap<Wider, f64>, Error> {
        let fabric = &self.scenario.contents().fabric;
        self.report(|run| {
            let mut lost = BTreeMap::new();
            for task in run.transfers() {
                let at = held_back_at(fabric, &self.outcome, task);
                if let (Some(at), Some(delay)) = (at, weir_report::Delay::of_task(run, task)) {
                    *lost.entry(at).or_insert(0.0) += delay.blocked_s.unwrap_or(0.0) + delay.cut_s;
                }
            }
            lost
        })
    }

    /// The makespan if something is wider, and by how much earlier transfers end, in picoseconds added up; `None` if the run
    /// is cancelled.
    fn widened(&self, wider: Wider, cancel: Option<&Arc<AtomicBool>>) -> Result<Option<(SimTime, i128)>, Error> {
        let scenario = self.scenario.contents();
        let fabric = wider.on(&scenario.fabric, WIDER)?;
        // The two ways of large runs differ by more than a link may save.
        let phase_by_phase = !self.outcome.incremental;
        let options = RunOptions { phase_by_phase, cancel: cancel.cloned(), ..RunOptions::default() };
        let arbiter = self.arbiter.on(&fabric);
        let outcome = self.scenario.prepared(&arbiter).on(&fabric).run(&options)?;
        let ends = |outcome: &Outcome| -> i128 {
            scenario.tasks.transfers().map(|(task, _)| i128::from(outcome.tasks[task.index()].end.0)).sum()
        };
        let ended = outcome.stop == Stop::Finished;
        Ok(ended.then(|| (outcome.makespan, ends(&self.outcome) - ends(&outcome))))
    }
}

/// The time that transfers on the critical path took, by what held each back, seconds.
fn critical_time(scenario: &Scenario, outcome: &Outcome) -> BTreeMap<Wider, f64> {
    let mut critical = BTreeMap::new();
    for task in critical_path(outcome, &scenario.tasks) {
        let times = outcome.tasks[task.index()];
        if let Some(at) = held_back_at(&scenario.fabric, outcome, task) {
            *critical.entry(at).or_insert(0.0) += (times.end - times.start).seconds();
        }
    }
    critical
}

/// What held back transfers on the critical path for longest; `None` where that was no link or memory.
pub(crate) fn critical_link(scenario: &Scenario, outcome: &Outcome) -> Option<Wider> {
    most_first(critical_time(scenario, outcome)).into_iter().next()
}

/// What a transfer lost most at; where it lost nothing, its narrowest link. Not its own limit.
fn held_back_at(fabric: &Fabric, outcome: &Outcome, task: TaskId) -> Option<Wider> {
    let binding = outcome.bottlenecks[task.index()].binding;
    let shared = binding.shared().filter(|&number| (number as usize) < fabric.shared().len());
    let wider = shared.map_or_else(|| Wider::link(binding.link), |number| Wider::shared(fabric, number));
    (!binding.link.is_none()).then_some(wider)
}

/// What has any time, the longest first.
fn most_first(times: BTreeMap<Wider, f64>) -> Vec<Wider> {
    let mut times: Vec<(f64, Wider)> = times.into_iter().map(|(wider, time)| (time, wider)).collect();
    times.retain(|&(time, _)| time > 0.0);
    times.sort_by_key(|&(time, wider)| (Reverse(OrderedFloat(time)), wider));
    times.into_iter().map(|(_, wider)| wider).collect()
}

/// The other direction of a link: the two have numbers that follow each other.
fn opposite(link: LinkId) -> LinkId {
    LinkId(link.0 ^ 1)
}
