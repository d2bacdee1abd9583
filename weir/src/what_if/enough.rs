//! The smallest factor that saves as much as any: beyond it a wider link brings nothing more.

use weir_plugin_api::SimTime;
use weir_report::SAME_MAKESPAN;
use weir_scenario::Improvement;
use weir_sim_core::Outcome;

use super::change::{Attempt, Tried, TriedAll};
use super::runs::Runs;
use super::target::Target;

/// The part of the makespan that the best must save for a factor to be searched; *assumed*: less is worth no purchase.
const WORTH: f64 = 1e-4;
/// The factors that are tried first, in hundredths. *Assumed*: nobody buys links more than 16 times as wide, four generations
/// of PCIe.
const LADDER: [u32; 5] = [110, 200, 400, 800, 1_600];

/// Finds it between factors that were tried by halving the interval down to a hundredth. Where a factor on the way saves more
/// than what was known, the search begins again for that: under some policies a wider link makes the run longer. Marks the
/// change, or adds it; nothing where even the largest factor is not enough, or the best saves less than a ten-thousandth.
pub(super) fn enough(runs: &Runs<'_>, target: &Target<'_>, base: &Outcome, all: &mut TriedAll) {
    if all.changes.iter().any(|tried| matches!(tried.improvement, Improvement::Bandwidth(_))) {
        // What did not run is put down, and the search ends there.
        let _ = Search { runs, target, base, between: Vec::new(), all }.run();
    }
}

struct Search<'a, 'r> {
    runs: &'a Runs<'r>,
    target: &'a Target<'a>,
    base: &'a Outcome,
    /// Factors that were tried for the search alone.
    between: Vec<Tried>,
    all: &'a mut TriedAll,
}

impl Search<'_, '_> {
    fn run(&mut self) -> Option<()> {
        let part = |part: f64| (self.base.makespan.0 as f64 * part) as u64;
        let (slack, worth) = (part(SAME_MAKESPAN), part(WORTH));
        loop {
            let best = self.known().map(|tried| tried.makespan.0).min()?;
            if best.saturating_add(slack + worth) >= self.base.makespan.0 {
                return None;
            }
            let mut found = self.smallest(SimTime(best + slack))?;
            if self.known().any(|tried| tried.makespan.0 < best) {
                continue;
            }
            let same = self.all.changes.iter_mut().find(|tried| tried.improvement == found.improvement);
            match same {
                Some(tried) => tried.enough = true,
                None => {
                    found.enough = true;
                    self.all.changes.push(found);
                }
            }
            return Some(());
        }
    }

    fn known(&self) -> impl Iterator<Item = &Tried> {
        self.all.changes.iter().chain(&self.between)
    }

    /// The smallest factor with at most this makespan.
    fn smallest(&mut self, most: SimTime) -> Option<Tried> {
        let times = |tried: &Tried| match tried.improvement {
            Improvement::Times(hundredths) => Some(hundredths),
            _ => None,
        };
        let mut factors: Vec<u32> = self.known().filter_map(times).chain(LADDER).collect();
        factors.sort_unstable();
        let (mut less, mut found) = (100, None);
        for hundredths in factors {
            let tried = self.tried(hundredths)?;
            if tried.makespan <= most {
                found = Some((hundredths, tried));
                break;
            }
            less = hundredths;
        }
        let (mut enough, mut best) = found?;
        while enough - less > 1 {
            let middle = less + (enough - less) / 2;
            let tried = self.tried(middle)?;
            if tried.makespan <= most {
                (enough, best) = (middle, tried);
            } else {
                less = middle;
            }
        }
        Some(best)
    }

    /// What a factor leads to, known or run.
    fn tried(&mut self, hundredths: u32) -> Option<Tried> {
        let improvement = Improvement::Times(hundredths);
        if let Some(known) = self.known().find(|tried| tried.improvement == improvement) {
            return Some(known.clone());
        }
        match self.runs.attempt(self.target, improvement, self.base) {
            Ok(Attempt::Done(tried)) => {
                self.between.push(tried.clone());
                Some(tried)
            }
            attempt => {
                self.runs.take(self.target, improvement, attempt, self.all);
                None
            }
        }
    }
}
