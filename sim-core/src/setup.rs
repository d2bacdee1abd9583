//! What a run is made of, and its options.

use std::sync::atomic::{AtomicBool, AtomicU64};

use weir_plugin_api::{CallError, IncrementalEntry, RateArbiter, SimTime};

use crate::changes::LinkChanges;
use crate::fabric::Fabric;
use crate::packets::PacketSettings;
use crate::routes::Routes;
use crate::tasks::TaskGraph;

/// Who divides bandwidth among the active transfers.
#[derive(Clone, Copy, Debug, Default)]
pub enum Sharing<'a> {
    /// The arbiter, phase by phase.
    #[default]
    ByArbiter,
    /// The arbiter's incremental side, which updates rates from event to event. Bottlenecks are those at the
    /// end of a transfer (docs/incremental.md). Where rates turn out too small to be integers, the arbiter is asked from the
    /// beginning.
    Incremental {
        /// The incremental side of the arbiter.
        entry: &'a IncrementalEntry,
        /// The arbiter's parameters, a JSON object.
        params: &'a str,
        /// The fewest transfers of such a run. Smaller runs, and runs that record phases without a listener, ask the arbiter.
        from: usize,
        /// From this many transfers on, peaks of links may stay unknown: events cost less without links that cannot be
        /// full.
        peaks_below: usize,
    },
    /// Nobody: transfers go packet by packet, and ports choose. The arbiter is not asked.
    Packets(&'a PacketSettings),
}

/// Makes an arbiter for a fabric, which has accepted the routes of the run.
pub type MakeArbiter<'a> = dyn Fn(&Fabric) -> Result<Box<dyn RateArbiter>, CallError> + Sync + 'a;

/// Links that change in a run, and what that takes. Such a run goes phase by phase, or packet by packet; then
/// transfers wait, whatever else [`LinkChanges::on_failure`] says.
#[derive(Clone, Copy)]
pub struct Changing<'a> {
    /// When they change.
    pub links: &'a LinkChanges,
    /// Makes an arbiter for the fabric as it is then.
    pub make: &'a MakeArbiter<'a>,
}

impl std::fmt::Debug for Changing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Changing").field("links", self.links).finish_non_exhaustive()
    }
}

/// What to record beside the plain result, and when to stop.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions<'a> {
    /// Stop at this instant; [`SimTime::NEVER`] for no limit.
    pub until: SimTime,
    /// Whether the outcome has the rates of each phase; costs memory per phase and transfer.
    pub phases: bool,
    /// Record phases with the arbiter's steps; in a run of packets, what contended ports do.
    pub explain: bool,
    /// In a run of packets: record how full input buffers are over time.
    pub buffers: bool,
    /// Who divides bandwidth; the arbiter unless said otherwise.
    pub sharing: Sharing<'a>,
    /// Links that change while the run goes on.
    pub changing: Option<Changing<'a>>,
    /// In a run of packets: links crossed by packets at most, skipped ones apart; what its settings say if not given.
    pub most_hops: Option<u64>,
    /// Stop soon after this becomes true.
    pub cancel: Option<&'a AtomicBool>,
    /// Counts starts and ends of tasks while the run goes on, for another thread to read.
    pub progress: Option<&'a AtomicU64>,
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        Self {
            until: SimTime::NEVER,
            phases: false,
            explain: false,
            buffers: false,
            sharing: Sharing::ByArbiter,
            changing: None,
            most_hops: None,
            cancel: None,
            progress: None,
        }
    }
}

/// One run of a task graph over a fabric under an arbiter.
#[derive(Clone, Copy)]
pub struct Simulation<'a> {
    /// The graph of links.
    pub fabric: &'a Fabric,
    /// Routes of the classes of `tasks`.
    pub routes: &'a Routes,
    /// The tasks, with their classes, engines and waits.
    pub tasks: &'a TaskGraph,
}
