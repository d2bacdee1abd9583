//! What to record of a run, and when to stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use weir_plugin_api::SimTime;
use weir_sim_core as sim;

use crate::Jitter;

/// What to record of a run beside its plain result, and when to stop it. The default is the plain result of the whole run.
///
/// ```
/// use weir::{RunOptions, Scenario, SimTime};
///
/// let scenario = Scenario::open("../scenarios/pcie/four-transfers.yaml")?;
/// let first_ms = RunOptions { until: Some(SimTime(1_000_000_000)), ..RunOptions::default() };
/// assert!(!scenario.run_with(&first_ms)?.complete());
/// # Ok::<(), weir::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Stops at this simulated time; the result is not complete then.
    pub until: Option<SimTime>,
    /// Records the phases, intervals of constant rates. Memory grows with their number times the active transfers.
    pub phases: bool,
    /// Records the phases with the arbiter's steps, or of packets what ports grant, for [`crate::Run::explanation`].
    pub explanations: bool,
    /// Records how full input buffers are over time, in a run of packets; it then skips less at once.
    pub buffers: bool,
    /// Knows the peak load of every link in runs of 20,000 transfers and more, too; slower.
    pub peaks: bool,
    /// Asks the arbiter about every phase of a large run, too, as searches do, instead of its incremental side
    /// (`docs/incremental.md`).
    pub phase_by_phase: bool,
    /// Runs again with every transfer starting a little later, for [`crate::Run::spread`].
    pub jitter: Option<Jitter>,
    /// In a run of packets: links crossed by packets at most, skipped ones apart; 10^10 if not given.
    pub most_hops: Option<u64>,
    /// Stops soon after this becomes true, from another thread or a signal handler; the result is not complete then.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Counts starts and ends of tasks while the run goes on, for another thread to read.
    pub progress: Option<Arc<AtomicU64>>,
}

impl RunOptions {
    /// As the simulation takes them.
    pub(crate) fn engine(&self) -> sim::RunOptions<'_> {
        sim::RunOptions {
            until: self.until.unwrap_or(SimTime::NEVER),
            phases: self.phases || self.explanations,
            explain: self.explanations,
            buffers: self.buffers,
            most_hops: self.most_hops,
            cancel: self.cancel.as_deref(),
            progress: self.progress.as_deref(),
            ..sim::RunOptions::default()
        }
    }
}
