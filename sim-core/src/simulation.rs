//! The event loop.

use std::sync::atomic::AtomicBool;

use weir_plugin_api::{Flags, RateArbiter, SimTime};

use crate::fabric::Fabric;
use crate::outcome::{Outcome, SimError};
use crate::routes::Routes;
use crate::tasks::TaskGraph;

/// What to run beside the plain result, and when to stop.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions<'a> {
    /// Stop at this instant; [`SimTime::NEVER`] for no limit.
    pub until: SimTime,
    /// Record phases.
    pub phases: bool,
    /// Record phases with the arbiter's steps.
    pub explain: bool,
    /// Stop soon after this becomes true.
    pub cancel: Option<&'a AtomicBool>,
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        Self { until: SimTime::NEVER, phases: false, explain: false, cancel: None }
    }
}

/// One run of a task graph over a fabric under an arbiter.
pub struct Simulation<'a> {
    /// The graph of links.
    pub fabric: &'a Fabric,
    /// Routes of the classes of `tasks`.
    pub routes: &'a Routes,
    /// What to do.
    pub tasks: &'a TaskGraph,
}

impl Simulation<'_> {
    /// Runs to the end, or to what `options` say.
    ///
    /// # Errors
    /// A wrong answer of the arbiter, a deadlock, the horizon, or an instant without end.
    pub fn run(
        &self,
        _arbiter: &mut dyn RateArbiter,
        _flags: Flags,
        _options: RunOptions<'_>,
    ) -> Result<Outcome, SimError> {
        todo!()
    }
}
