//! What to record of a run, and when to stop it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weir_plugin_api::SimTime;
use weir_sim_core as sim;

/// What to record of a run beside its plain result, and when to stop it.
///
/// ```
/// use weir::{RunOptions, Scenario, SimTime};
///
/// let scenario = Scenario::open("../scenarios/pcie/four-transfers.yaml")?;
/// let run = scenario.run_with(&RunOptions::new().until(SimTime(1_000_000_000)))?; // 1 ms
/// assert!(!run.complete());
/// # Ok::<(), weir::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    until: Option<SimTime>,
    phases: bool,
    explanations: bool,
    peaks: bool,
    cancel: Option<Arc<AtomicBool>>,
}

impl RunOptions {
    /// A plain result of the whole run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops at this simulated time; the result is not complete then.
    #[must_use]
    pub fn until(self, time: SimTime) -> Self {
        Self { until: Some(time), ..self }
    }

    /// Records the phases, intervals of constant rates. Memory grows with their number times the active transfers.
    #[must_use]
    pub fn phases(self) -> Self {
        Self { phases: true, ..self }
    }

    /// Records the phases with the arbiter's steps, for [`crate::Run::explanation`].
    #[must_use]
    pub fn explanations(self) -> Self {
        Self { phases: true, explanations: true, ..self }
    }

    /// Knows the peak load of every link in runs of 20,000 transfers and more, too; slower.
    #[must_use]
    pub fn peaks(self) -> Self {
        Self { peaks: true, ..self }
    }

    /// Stops soon after this becomes true, from another thread or a signal handler; the result is not complete then.
    #[must_use]
    pub fn cancel(self, flag: Arc<AtomicBool>) -> Self {
        Self { cancel: Some(flag), ..self }
    }

    pub(crate) fn wants_peaks(&self) -> bool {
        self.peaks
    }

    pub(crate) fn engine(&self) -> sim::RunOptions<'_> {
        sim::RunOptions {
            until: self.until.unwrap_or(SimTime::NEVER),
            phases: self.phases,
            explain: self.explanations,
            cancel: self.cancel.as_deref(),
            ..sim::RunOptions::default()
        }
    }
}
