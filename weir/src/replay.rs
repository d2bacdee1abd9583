//! The phases or the progress of a run once more, from a second run, so that they need not fit into memory.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_report::Run;
use weir_scenario::ArbiterSpec;
use weir_sim_core::{Listener, Stop};

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

    /// Tells a listener of it; whether it heard all.
    pub fn tell(&self, listener: Listener<'_>) -> bool {
        let cancel: &AtomicBool = self.options.cancel.as_ref().expect("is set above");
        let look = || {
            if (self.stop)() {
                cancel.store(true, Ordering::Relaxed);
            }
        };
        let run = |listener| self.scenario.run_with_listener(self.arbiter, &self.options, listener);
        let ended = match listener {
            Listener::Phases(take) => run(Listener::Phases(&mut |phase| {
                look();
                take(phase);
            })),
            Listener::Progress { every, take } => {
                let take = &mut |time, sent: &[_]| {
                    look();
                    take(time, sent);
                };
                run(Listener::Progress { every, take })
            }
        };
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
