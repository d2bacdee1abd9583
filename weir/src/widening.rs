//! Which link would save most if it were wider: found by running again with each, not by adding up delays. A link at which
//! many transfers lose time may stand before another that lets them through no faster.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ordered_float::OrderedFloat;
use weir_plugin_api::{LinkId, PS_PER_S, SimDuration, SimTime};
use weir_report::Widening;
use weir_sim_core::{Link, LinkTotals, Outcome, Stop};

use crate::{Error, Run, RunOptions};

/// How many times as wide a link is tried.
const WIDER: f64 = 2.0;
/// Links that are tried at most: half of them those at which transfers lose most, half the busiest (*assumed*).
const MOST_TRIED: usize = 16;
/// Transfers that all runs together may simulate, at least one run (*assumed*: seconds on one core).
const MOST_TRANSFERS: usize = 50_000;
/// Makespans that differ by less than this part are equal: ends are rounded to picoseconds.
const ROUNDING: f64 = 1e-9;

impl Run {
    /// The links that would save most with twice their bandwidth in both directions, best first: by the makespan, among
    /// equals by the sum of all ends, then in the order of links. Only links are tried at which transfers lose time or that
    /// are among the busiest, at most 16 of them, fewer in runs of more than 3,000 transfers. Empty for a run that did not
    /// end, and if `cancel` becomes true.
    ///
    /// # Errors
    /// A run with a wider link fails.
    pub fn widenings(&self, cancel: Option<&Arc<AtomicBool>>) -> Result<Vec<Widening>, Error> {
        if !self.complete() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for link in self.candidates()? {
            let Some((makespan, sum_saved)) = self.widened(link, cancel)? else { return Ok(Vec::new()) };
            found.push((self.makespan() - makespan, sum_saved, link));
        }
        let least = SimDuration((self.makespan().0 as f64 * ROUNDING) as u64);
        for (saved, ..) in found.iter_mut().filter(|(saved, ..)| *saved <= least) {
            *saved = SimDuration::ZERO;
        }
        found.sort_by_key(|&(saved, sum_saved, link)| (Reverse(saved), Reverse(sum_saved), link));
        Ok(found.into_iter().map(|(saved, sum_saved, link)| self.widening(link, saved, sum_saved)).collect())
    }

    fn widening(&self, link: LinkId, saved: SimDuration, sum_saved: i128) -> Widening {
        let link = self.scenario.contents().fabric.link(link);
        let sum_saved_s = sum_saved as f64 / PS_PER_S as f64;
        Widening::new(self.node(link.from), self.node(link.to), WIDER, saved.seconds(), sum_saved_s)
    }

    /// The links worth trying, each by its first direction.
    fn candidates(&self) -> Result<Vec<LinkId>, Error> {
        let scenario = self.scenario.contents();
        let transfers = scenario.tasks.transfers().count().max(1);
        let most = (MOST_TRANSFERS / transfers).clamp(1, MOST_TRIED);
        let mut lost: Vec<(f64, LinkId)> = self.lost_by_link()?.into_iter().map(|(link, lost)| (lost, link)).collect();
        lost.sort_by_key(|&(lost, link)| (Reverse(OrderedFloat(lost)), link));
        let utilisation = |(link, total): (&Link, &LinkTotals)| total.bytes as f64 / link.bandwidth;
        let used = scenario.fabric.links().iter().zip(&self.outcome.links).map(utilisation).zip(0..);
        let mut busiest: Vec<(f64, LinkId)> =
            used.filter(|&(used, _)| used > 0.0).map(|(used, at)| (used, LinkId(at))).collect();
        busiest.sort_by_key(|&(used, link)| (Reverse(OrderedFloat(used)), link));
        let mut links: Vec<LinkId> = Vec::new();
        let pairs = lost.iter().map(|&(_, link)| link).take(most / 2).chain(busiest.iter().map(|&(_, link)| link));
        for link in pairs {
            let link = link.min(opposite(link));
            if links.len() < most && !links.contains(&link) {
                links.push(link);
            }
        }
        Ok(links)
    }

    /// The time that transfers lost by the link at which each lost most, seconds.
    fn lost_by_link(&self) -> Result<BTreeMap<LinkId, f64>, Error> {
        self.report(|run| {
            let mut lost = BTreeMap::new();
            for task in run.transfers() {
                let link = self.outcome.bottlenecks[task.index()].binding.link;
                let Some(delay) = weir_report::Delay::of_task(run, task).filter(|_| !link.is_none()) else { continue };
                *lost.entry(link).or_insert(0.0) += delay.blocked_s.unwrap_or(0.0) + delay.cut_s;
            }
            lost.retain(|_, lost| *lost > 0.0);
            lost
        })
    }

    /// The makespan if a link and its other direction are wider, and by how much earlier transfers end, in picoseconds added
    /// up; `None` if the run is cancelled.
    fn widened(&self, link: LinkId, cancel: Option<&Arc<AtomicBool>>) -> Result<Option<(SimTime, i128)>, Error> {
        let scenario = self.scenario.contents();
        let mut fabric = scenario.fabric.clone();
        for link in [link, opposite(link)] {
            let (bandwidth, latency) = (fabric.link(link).bandwidth * WIDER, fabric.link(link).latency);
            fabric.set_link(link, bandwidth, latency).map_err(|error| Error::input(error.to_string()))?;
        }
        // The two ways of large runs differ by more than a link may save.
        let phase_by_phase = !self.outcome.incremental;
        let options = RunOptions { phase_by_phase, cancel: cancel.cloned(), ..RunOptions::default() };
        let outcome = self.scenario.prepared(&self.arbiter).on(&fabric).run(&options)?;
        let ends = |outcome: &Outcome| -> i128 {
            scenario.tasks.transfers().map(|(task, _)| i128::from(outcome.tasks[task.index()].end.0)).sum()
        };
        let ended = outcome.stop == Stop::Finished;
        Ok(ended.then(|| (outcome.makespan, ends(&self.outcome) - ends(&outcome))))
    }
}

/// The other direction of a link: the two have numbers that follow each other.
fn opposite(link: LinkId) -> LinkId {
    LinkId(link.0 ^ 1)
}
