//! A good order of a large problem by simulated annealing, with a bound of how far it can be from the best.
//!
//! A move swaps two messages of one source, one time in four of two sources. It is kept when the makespan is at most
//! current − T · ln(random) (Kirkpatrick, Gelatt, Vecchi, *Optimization by Simulated Annealing*, Science 220, 1983); the
//! threshold is drawn first, so that a run stops as soon as a source cannot be done by then. T falls exponentially with
//! the number of evaluations, so that a seed gives the same order on every run and machine; only with a time it falls
//! with the clock, so that the time is kept and the end is cold however fast the machine is.
//!
//! Where the arbiter is known, its rates are computed with bit masks; they may differ from its own in their last bits. So
//! a chain keeps its last few best orders and runs them with the arbiter itself at the end: what is reported is exact.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::chain::{Chain, cancelled};
use super::options::{AnnealOptions, Annealed};
use super::pace::Limit;
use super::stages::{Found, Search, Sequences};
use crate::order::bounds::potentials::{Potentials, unit};
use crate::order::problem::{OrderError, OrderProblem};
use crate::order::run::plan::{Plan, with_lanes};
use rayon::prelude::*;

/// Rates by masks are used where they give the workload's own order its makespan, within this.
const ALIKE: f64 = 1e-6;
/// Potentials whose bounds stop runs (measured with 16 and 64 sources: more stop no more than one run in a hundred).
const STOPPING: usize = 8;
/// Part of a time that chains are given; *assumed*: the rest is for the runs at the end.
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
    let own: Sequences = plan.counts.iter().map(|&n| (0..n).collect()).collect();
    // Without it there is no result, so that it is not cut off.
    let baseline = run_whole::<N>(problem, plan, &potentials, &own, false)?;
    let quick = problem.quick_model().is_some() && {
        let quick = run_whole::<N>(problem, plan, &potentials, &own, true)?;
        (quick as f64 - baseline as f64).abs() <= ALIKE * baseline as f64
    };
    let mut best =
        Annealed { order: problem.named(&own), makespan: baseline, baseline, bound, evaluated: 1, complete: true };
    let lone = unit(problem);
    let search = Search { problem, plan, potentials: &potentials, bound, lone, options, cancel, quick, own, baseline };
    let chains = options.chains.max(1);
    // Chains that have to wait for a thread share its time.
    let rounds = chains.div_ceil(rayon::current_num_threads() as u64) as u32;
    let time = options.time.map(|time| time.saturating_sub(begin.elapsed()).mul_f64(SEARCHING) / rounds);
    let limit = || time.map_or(Limit::Evaluations(options.evaluations), |time| Limit::Time(time, Instant::now()));
    let found: Vec<Result<Found, OrderError>> =
        (0..chains).into_par_iter().map(|chain| search.exact::<N>(search.chain::<N>(chain, limit())?)).collect();
    for result in found {
        let found = result?;
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

/// The makespan of one order.
fn run_whole<const N: usize>(
    problem: &OrderProblem<'_>,
    plan: &Plan,
    potentials: &Potentials,
    order: &Sequences,
    quick: bool,
) -> Result<u64, OrderError> {
    let go = AtomicBool::new(false);
    let mut chain = Chain::<N>::new(problem, plan, potentials, quick, &go)?;
    Ok(chain.restart(order.clone())?.unwrap_or(u64::MAX))
}

impl Search<'_, '_> {
    /// The best of a chain by the arbiter itself.
    fn exact<const N: usize>(&self, found: Found) -> Result<Found, OrderError> {
        if !self.quick || found.evaluated == 0 {
            return Ok(found);
        }
        // The best is run to its end whatever happens: without that its makespan is not known.
        let mut best = run_whole::<N>(self.problem, self.plan, self.potentials, &found.order, false)?;
        let mut order = found.order;
        for earlier in found.earlier.into_iter().rev() {
            if cancelled(self.cancel) {
                break;
            }
            let makespan = run_whole::<N>(self.problem, self.plan, self.potentials, &earlier, false)?;
            if makespan < best {
                (best, order) = (makespan, earlier);
            }
        }
        Ok(Found { makespan: best, order, earlier: Vec::new(), ..found })
    }
}
