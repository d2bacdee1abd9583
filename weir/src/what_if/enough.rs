//! The smallest factor that saves as much as no limit: beyond it a wider link brings nothing more.

use weir_plugin_api::SimTime;
use weir_report::SAME_MAKESPAN;
use weir_scenario::Improvement;
use weir_sim_core::Outcome;

use super::change::{Attempt, Tried, TriedAll};
use super::runs::Runs;
use super::target::Target;

/// The part of the makespan that no limit must save for a factor to be searched; *assumed*: less is worth no purchase.
const WORTH: f64 = 1e-4;
/// The largest factor that is tried, in hundredths: 1024 times.
const MOST: u32 = 102_400;

/// Finds it between factors that were tried, doubles beyond, and halves the interval down to a hundredth. It takes for granted
/// that a wider link never makes the run longer. Marks the change, or adds it; nothing where even the largest factor is not
/// enough, or no limit saves less than a ten-thousandth.
pub(super) fn enough(runs: &Runs<'_>, target: &Target<'_>, base: &Outcome, all: &mut TriedAll) {
    let slack = (base.makespan.0 as f64 * SAME_MAKESPAN) as u64;
    let worth = (base.makespan.0 as f64 * WORTH) as u64;
    let no_limit = all.changes.iter().find(|tried| matches!(tried.improvement, Improvement::Bandwidth(_)));
    let Some(least) = no_limit.map(|tried| tried.makespan.0 + slack) else { return };
    if least.saturating_add(worth) >= base.makespan.0 {
        return;
    }
    let mut search = Search { runs, target, base, least: SimTime(least), all };
    // What did not run is put down, and the search ends there.
    let _ = search.run();
}

struct Search<'a, 'r> {
    runs: &'a Runs<'r>,
    target: &'a Target<'a>,
    base: &'a Outcome,
    /// What is enough.
    least: SimTime,
    all: &'a mut TriedAll,
}

impl Search<'_, '_> {
    fn run(&mut self) -> Option<()> {
        let (mut less, mut found) = (100, None);
        for hundredths in [110, 200].into_iter().chain((2..=10).map(|power| 100 << power)) {
            debug_assert!(hundredths <= MOST, "the largest factor");
            let tried = self.tried(hundredths)?;
            if tried.makespan <= self.least {
                found = Some((hundredths, tried));
                break;
            }
            less = hundredths;
        }
        let (mut enough, mut best) = found?;
        while enough - less > 1 {
            let middle = less + (enough - less) / 2;
            let tried = self.tried(middle)?;
            if tried.makespan <= self.least {
                (enough, best) = (middle, tried);
            } else {
                less = middle;
            }
        }
        let same = self.all.changes.iter_mut().find(|tried| tried.improvement == best.improvement);
        match same {
            Some(tried) => tried.enough = true,
            None => {
                best.enough = true;
                self.all.changes.push(best);
            }
        }
        Some(())
    }

    /// What a factor leads to, known or run.
    fn tried(&mut self, hundredths: u32) -> Option<Tried> {
        let improvement = Improvement::Times(hundredths);
        if let Some(known) = self.all.changes.iter().find(|tried| tried.improvement == improvement) {
            return Some(known.clone());
        }
        match self.runs.attempt(self.target, improvement, self.base) {
            Ok(Attempt::Done(tried)) => Some(tried),
            attempt => {
                self.runs.take(self.target, improvement, attempt, self.all);
                None
            }
        }
    }
}
