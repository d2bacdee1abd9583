//! The phases of a run once more, from a second run, so that they need not fit into memory.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_plugin_api::SimDuration;
use weir_report::Run;
use weir_scenario::ArbiterSpec;
use weir_sim_core::{PhaseListener, PhaseRecord, Stop};

use crate::{Error, RunOptions, Scenario};

/// A second run up to where the first one stopped.
#[doc(hidden)]
pub struct Replay<'a> {
    scenario: &'a Scenario,
    arbiter: &'a ArbiterSpec,
    options: RunOptions,
    stop: &'a dyn Fn() -> bool,
    failure: Cell<Option<Error>>,
}

impl<'a> Replay<'a> {
    /// Of `run`; it ends soon after `stop` says so.
    #[must_use]
    pub fn new(scenario: &'a Scenario, arbiter: &'a ArbiterSpec, run: &Run<'_>, stop: &'a dyn Fn() -> bool) -> Self {
        let until = (run.outcome.stop != Stop::Finished).then_some(run.outcome.now);
        let (cancel, phase_by_phase) = (Some(Arc::default()), !run.outcome.incremental);
        let options = RunOptions { until, cancel, phase_by_phase, ..RunOptions::default() };
        Self { scenario, arbiter, options, stop, failure: Cell::new(None) }
    }

    /// Hands over the phases, read at most once in `every`; whether all came.
    pub fn each(&self, every: SimDuration, take: &mut dyn FnMut(PhaseRecord)) -> bool {
        let cancel: &AtomicBool = self.options.cancel.as_ref().expect("is set above");
        let take = &mut |phase| {
            if (self.stop)() {
                cancel.store(true, Ordering::Relaxed);
            }
            take(phase);
        };
        let ended = self.scenario.run_with_listener(self.arbiter, &self.options, PhaseListener { every, take });
        let is_whole = ended.as_ref().is_ok_and(|run| !run.cancelled());
        self.failure.set(ended.err());
        is_whole
    }

    /// Why not all came, where the run failed.
    ///
    /// # Errors
    /// As [`Scenario::run_under`].
    pub fn failed(self) -> Result<(), Error> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }
}
