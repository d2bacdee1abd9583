//! `collective`: ranks exchange bytes as NCCL and MPI do, by a named algorithm.
//!
//! ```text
//! params ──► resolved: ranks, phases of groups ──► steps: messages by rounds ─┬─► plan: tasks ──────► simulated time
//!                                                                            └─► formula, departures ─► estimate
//! ```
//!
//! **Definition.** [`steps`] says which rank sends what to which in which round, [`plan`] what waits for what, [`formula`] the closed
//! forms. **Ties.** Messages that are ready at one instant begin in the order of rounds, then of ranks. **Source.** In [`steps`], by
//! algorithm. Sizes, algorithm bandwidth and bus bandwidth as in nccl-tests, doc/PERFORMANCE.md.

mod departures;
mod formula;
mod params;
mod plan;
mod resolve;
mod steps;

use serde::Serialize;
use weir_plugin_api::{CallError, Estimates, Plan, Surroundings};

use crate::operation::{self, Operation, Resolved, estimate};
use params::{Algorithm, CollectiveParams, Kind};
pub(crate) use resolve::Collective;

/// `details` of the results.
#[derive(Serialize)]
struct Details {
    kind: Kind,
    algorithm: Algorithm,
    ranks: usize,
    bytes: u64,
    /// Rounds of all phases.
    steps: u64,
    /// Bandwidths by the closed form, B/s.
    algbw: f64,
    busbw: f64,
    /// busbw over algbw.
    bus_factor: f64,
}

impl Resolved for Collective {
    const NAME: &'static str = "collective";
    type Params = CollectiveParams;

    fn new(operation: Operation<CollectiveParams>, surroundings: &Surroundings<'_>) -> Result<Self, CallError> {
        Self::of(&operation.params, surroundings)
    }

    fn plan(&self, plan: &mut Plan) {
        plan::plan(self, plan);
    }

    fn estimates(&self, surroundings: &Surroundings<'_>) -> Result<Estimates, CallError> {
        let (time, departures) = self.estimated(surroundings)?;
        let time = estimate(self.algorithm.word(), time, departures.relation(), &departures.because())?;
        let algbw = if time.seconds > 0.0 { self.size as f64 / time.seconds } else { 0.0 };
        let bus_factor = self.kind.bus_factor(self.ranks.len() as f64);
        let rounds = |phase: &resolve::Phase| phase.iter().map(|group| group.steps.rounds()).max().unwrap_or(0);
        let details = Details {
            kind: self.kind,
            algorithm: self.algorithm,
            ranks: self.ranks.len(),
            bytes: self.size,
            steps: self.phases.iter().map(rounds).sum(),
            algbw,
            busbw: bus_factor * algbw,
            bus_factor,
        };
        Ok(Estimates { list: vec![time], details: operation::details(&details)? })
    }
}
