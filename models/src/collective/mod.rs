//! `collective`: ranks exchange bytes as NCCL and MPI do, by a named algorithm.
//!
//! ```text
//! params ──► resolved: ranks, phases of groups ──► steps: messages by rounds ─┬─► plan: tasks ──────► simulated time
//!                                                                            └─► formula, departures ─► estimate
//! ```
//!
//! **Definition.** [`steps`] says which rank sends what to which in which round, [`plan`] what waits for what,
//! [`formula`] the closed forms; [`levels`], [`order`] and [`bound`] what their keys and numbers mean. **Ties.**
//! Messages that are ready at one instant begin in the order of rounds, then of ranks. **Source.** In [`steps`], by
//! algorithm. Sizes, algorithm bandwidth and bus bandwidth as in nccl-tests, doc/PERFORMANCE.md.

mod bound;
mod cuts;
mod departures;
mod formula;
pub(crate) mod graph;
mod levels;
mod order;
pub(crate) mod params;
mod plan;
mod resolve;
mod ring_search;
mod steps;

use serde::Serialize;
use weir_plugin_api::{Alternative, CallError, Estimates, Plan, Relation, Surroundings};

use crate::operation::{self, Operation, Resolved, choose, estimate, parse, seconds};
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
    /// busbw over algbw.
    bus_factor: f64,
    /// By the closed form.
    estimated: Bandwidths,
    /// What no algorithm can exceed, where the topology tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<BoundDetails>,
    /// How the order was found, with `order: topology`.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<order::Found>,
    /// Bytes that over the simulated time are these bandwidths.
    moved: Bandwidths,
    /// The host shows them.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'static [&'static str],
}

/// Algorithm and bus bandwidth of nccl-tests, B/s.
#[derive(Serialize)]
struct Bandwidths {
    algbw: f64,
    busbw: f64,
}

/// The lower bound on the time, s, and the cut that sets it.
#[derive(Serialize)]
struct BoundDetails {
    seconds: f64,
    busbw: f64,
    /// Ranks on one side; all of them where it is the sum over their links.
    cut_ranks: u64,
    cut_bytes: f64,
    /// B/s.
    cut_bandwidth: f64,
    /// Where the cut is; none where it is the sum over all ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_at: Option<bound::Place>,
}

impl Collective {
    fn details(&self, time: f64, bound: Option<bound::Bound>) -> Details {
        let (size, bus_factor) = (self.size as f64, self.kind.bus_factor(self.ranks.len() as f64));
        let over = |seconds: f64| if seconds > 0.0 { size / seconds } else { 0.0 };
        let bandwidths = |algbw: f64| Bandwidths { algbw, busbw: bus_factor * algbw };
        let is_one_way = self.phases.iter().flatten().any(|group| group.steps.one_way().is_some());
        let rounds = |phase: &resolve::Phase| phase.iter().map(|group| group.steps.rounds()).max().unwrap_or(0);
        let bound = bound.map(|bound| BoundDetails {
            seconds: seconds(bound.time),
            busbw: bus_factor * over(seconds(bound.time)),
            cut_ranks: bound.ranks,
            cut_bytes: bound.bytes,
            cut_bandwidth: bound.bandwidth,
            cut_at: bound.at,
        });
        Details {
            kind: self.kind,
            algorithm: self.algorithm,
            ranks: self.ranks.len(),
            bytes: self.size,
            steps: self.phases.iter().map(rounds).sum(),
            bus_factor,
            estimated: bandwidths(over(time)),
            bound,
            order: self.found,
            moved: bandwidths(size),
            warnings: if is_one_way { &[ONE_WAY] } else { &[] },
        }
    }
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
        let mut list = Vec::new();
        let bound = bound::bound(self, surroundings);
        if let Some(bound) = bound {
            list.push(estimate("bound", bound.time, Relation::AtLeast, BOUND)?);
        }
        let name = if self.phases.len() > 1 { "levels" } else { self.algorithm.word() };
        let time = estimate(name, time, departures.relation(), &departures.because())?;
        let details = operation::details(&self.details(time.seconds, bound))?;
        list.push(time);
        Ok(Estimates { list, details })
    }

    fn alternatives(
        operation: &str,
        _surroundings: &Surroundings<'_>,
        out: &mut Vec<Alternative>,
    ) -> Result<(), CallError> {
        let params = parse::<Self>(operation)?.params;
        if params.options.algorithm != Some(Algorithm::Auto) {
            return Ok(());
        }
        let choices = Algorithm::choices(params.kind).map(|a| (a.word().to_owned(), a.word().into()));
        choose(operation, "algorithm", None, choices, out)
    }
}

/// What [`steps`] cannot tell of a switch that adds or multicasts.
const ONE_WAY: &str = "algorithm: all-gathers and reduce-scatters by `nvls` load links with all bytes both ways, though a switch \
                       moves only a part one way; take bytes of links, and times beside other traffic, as upper bounds";

/// Why a run takes longer than the bound.
const BOUND: &str = "+the bound has neither latencies nor the protocol, and lets nobody wait";
