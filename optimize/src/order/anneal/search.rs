//! A good order of a large problem by simulated annealing, with a bound of how far it can be from the best.
//!
//! A move swaps two messages of one source, one time in four of two sources. It is kept when the makespan is at most
//! current − T · ln(random) (Kirkpatrick, Gelatt, Vecchi, *Optimization by Simulated Annealing*, Science 220, 1983); the
//! threshold is drawn first, so that a run stops as soon as a source cannot be done by then. T falls exponentially with
//! the number of evaluations, so that a seed gives the same order on every run and machine; only with a time it falls
//! with the clock, so that the time is kept and the end is cold however fast the machine is.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use rayon::prelude::*;

use super::options::{AnnealOptions, Annealed};
use super::pace::Limit;
use super::stages::{Annealing, ChainResult};
use crate::order::bounds::potentials::{Potentials, unit};
use crate::order::problem::{OrderError, OrderProblem};
use crate::order::run::plan::{Plan, with_lanes};
use crate::order::run::tree::run_own;

/// Potentials whose bounds stop runs (measured with 16 and 64 sources: more stop no more than one run in a hundred).
const STOPPING: usize = 8;
/// Part of a time that chains are given; *assumed*: the rest is for what follows the chains.
const SEARCHING: f64 = 0.99;

/// Anneals from the workload's own order (the first chain) and from random ones.
///
/// # Errors
/// A wrong answer of the arbiter.
pub fn anneal(
    problem: &OrderProblem<'_>,
    options: &AnnealOptions,
    cancel: &AtomicBool,
) -> Result<Annealed, OrderError> {
    let plan = Plan::new(problem);
    with_lanes!(plan.sources, chains(problem, &plan, options, cancel))
}

fn chains<const N: usize>(
    problem: &OrderProblem<'_>,
    plan: &Plan,
    options: &AnnealOptions,
    cancel: &AtomicBool,
) -> Result<Annealed, OrderError> {
    let begin = Instant::now();
    let potentials = Potentials::new(problem, plan);
    let bound = potentials.root();
    let potentials = potentials.strongest(STOPPING);
    let own = plan.own_order();
    // Without it there is no result, so that it is not cut off.
    let baseline = run_own::<N>(problem, plan)?;
    let mut best =
        Annealed { order: problem.named(&own), makespan: baseline, baseline, bound, evaluated: 1, complete: true };
    let lone = unit(problem);
    let search = Annealing { problem, plan, potentials: &potentials, bound, lone, options, cancel, own, baseline };
    let chains = options.chains.max(1);
    // Chains that have to wait for a thread share its time.
    let rounds = chains.div_ceil(rayon::current_num_threads() as u64) as u32;
    let time = options.time.map(|time| time.saturating_sub(begin.elapsed()).mul_f64(SEARCHING) / rounds);
    let limit = || time.map_or(Limit::Evaluations(options.evaluations), |time| Limit::Time(time, Instant::now()));
    tracing::debug!(chains, evaluations = options.evaluations, ?time, bound, baseline, "annealing begins");
    let results: Vec<Result<ChainResult, OrderError>> =
        (0..chains).into_par_iter().map(|chain| search.chain::<N>(chain, limit())).collect();
    for found in results {
        let found = found?;
        best.evaluated += found.evaluated;
        best.complete &= found.complete;
        if found.makespan < best.makespan {
            (best.order, best.makespan) = (problem.named(&found.order), found.makespan);
        }
    }
    best.bound = best.bound.min(best.makespan as f64);
    // A proof ends the search, whatever became of the other chains.
    best.complete |= best.proved();
    Ok(best)
}
