//! A good order of a large problem by simulated annealing, with a bound of how far it can be from the best.
//!
//! A move swaps two messages of one source, one time in four of two sources. It is kept when the makespan is at most
//! current − T · ln(random) (Kirkpatrick, Gelatt, Vecchi, *Optimization by Simulated Annealing*, Science 220, 1983); the
//! threshold is drawn first, so that a run stops as soon as a source cannot be done by then. T falls exponentially with
//! the number of evaluations, not with the clock, so that a seed gives the same order on every run and machine.
//!
//! Where the arbiter is known, its rates are computed with bit masks; they may differ from its own in their last bits. So
//! a chain keeps its last few best orders and runs them with the arbiter itself at the end: what is reported is exact.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use weir_sim_core::TaskId;

use super::bounds::{Potentials, unit};
use super::chain::{Chain, cancelled};
use super::classes::ClassOrders;
use super::plan::{Plan, with_lanes};
use super::problem::OrderProblem;
use super::refusal::OrderError;

/// Temperatures from a random start, in times of one lone message (measured: 0.03 is too cold to start from, one run of
/// three is stuck from 0.3).
const WIDE: (f64, f64) = (0.6, 0.03);
/// Temperatures of single sources after their classes.
const NARROW: (f64, f64) = (0.2, 0.01);
/// Percent of the evaluations that go to lists of classes.
const LISTS: u64 = 30;
/// Longer runs are faster than short ones: more sets are known, and more runs are stopped early (measured: 1.5 to 2).
const FASTER: f64 = 1.5;
/// Stop this close to the bound.
const CLOSE: f64 = 1e-9;
/// Evaluations between two looks at the flag.
const LOOK: u64 = 64;
/// The last best orders of a chain that are run with the arbiter itself at the end.
const KEPT: usize = 4;
/// Rates by masks are used where they give the workload's own order its makespan, within this.
const ALIKE: f64 = 1e-6;

/// How long to search, and from where.
#[derive(Clone, Default, Debug)]
pub struct AnnealOptions {
    /// Orders to try in each chain.
    pub evaluations: u64,
    /// Independent chains of other random numbers; one per thread or more, and two at least, as one may be stuck.
    pub chains: u64,
    /// Of all random numbers.
    pub seed: u64,
    /// Classes to begin with, chain by chain; none for the workload's own and random orders.
    pub classes: Vec<ClassOrders>,
}

/// What annealing found.
#[derive(Clone, PartialEq, Debug)]
pub struct Annealed {
    /// The best order.
    pub order: Vec<Vec<TaskId>>,
    /// Its makespan, ps.
    pub makespan: u64,
    /// Makespan of the workload's own order, ps.
    pub baseline: u64,
    /// No order is faster than this, ps.
    pub bound: f64,
    /// Orders tried.
    pub evaluated: u64,
    /// Whether all evaluations were done, or the bound was reached.
    pub complete: bool,
}

impl Annealed {
    /// Whether the bound proves the order best, within 1e-9.
    #[must_use]
    pub fn proved(&self) -> bool {
        self.bound >= self.makespan as f64 * (1.0 - CLOSE)
    }
}

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

/// About how many evaluations a chain of these options can do in a time, by short runs of the first.
///
/// # Errors
/// A wrong answer of the arbiter.
pub fn evaluations_in(
    problem: &OrderProblem<'_>,
    options: &AnnealOptions,
    time: Duration,
    cancel: &AtomicBool,
) -> Result<u64, OrderError> {
    let (begin, mut evaluations) = (Instant::now(), 64);
    let mut before = Duration::ZERO;
    // A few percent of the time are enough to know the speed. The difference of two runs leaves out their beginning.
    loop {
        let start = Instant::now();
        let found = anneal(problem, &AnnealOptions { evaluations, chains: 1, ..options.clone() }, cancel)?;
        let (took, spent) = (start.elapsed(), begin.elapsed());
        if spent * 20 > time || found.evaluated < evaluations || evaluations >= 1 << 40 {
            let left = time.saturating_sub(spent).as_secs_f64();
            let half = took.saturating_sub(before).as_secs_f64().max(took.as_secs_f64() / 8.0);
            return Ok(((FASTER * evaluations as f64 / 2.0 * left / half) as u64).max(1));
        }
        (evaluations, before) = (evaluations * 2, took);
    }
}

/// An order as positions among each source's messages.
type Sequences = Vec<Vec<usize>>;

/// What came of one chain.
struct Found {
    order: Sequences,
    makespan: u64,
    /// The best ones before it, the latest last.
    earlier: Vec<Sequences>,
    evaluated: u64,
    complete: bool,
}

impl Found {
    fn improve(&mut self, order: Sequences, makespan: u64) {
        self.earlier.push(std::mem::replace(&mut self.order, order));
        if self.earlier.len() == KEPT {
            self.earlier.remove(0);
        }
        self.makespan = makespan;
    }
}

fn chains<const N: usize>(
    problem: &OrderProblem<'_>,
    plan: &Plan,
    options: &AnnealOptions,
    cancel: &AtomicBool,
) -> Result<Annealed, OrderError> {
    let potentials = Potentials::new(problem, plan);
    let bound = potentials.root();
    let own: Sequences = plan.counts.iter().map(|&n| (0..n).collect()).collect();
    let baseline = Chain::<N>::new(problem, plan, &potentials, own.clone(), false)?.makespan;
    let lone = unit(problem);
    let quick = problem.quick_tau().is_some() && {
        let quick = Chain::<N>::new(problem, plan, &potentials, own.clone(), true)?.makespan;
        (quick as f64 - baseline as f64).abs() <= ALIKE * baseline as f64
    };
    let task = Search { problem, plan, potentials: &potentials, bound, lone, options, cancel, quick };
    let found: Vec<Result<Found, OrderError>> = (0..options.chains.max(1))
        .into_par_iter()
        .map(|chain| task.exact::<N>(task.chain::<N>(chain, &own)?))
        .collect();
    let mut best =
        Annealed { order: problem.named(&own), makespan: baseline, baseline, bound, evaluated: 1, complete: true };
    for result in found {
        let found = result?;
        best.evaluated += found.evaluated;
        best.complete &= found.complete;
        if found.makespan < best.makespan {
            (best.order, best.makespan) = (problem.named(&found.order), found.makespan);
        }
    }
    best.bound = best.bound.min(best.makespan as f64);
    Ok(best)
}

/// What the chains of a search share.
struct Search<'s, 'a> {
    problem: &'s OrderProblem<'a>,
    plan: &'s Plan,
    potentials: &'s Potentials,
    bound: f64,
    /// Time of the longest message alone, ps: the unit of temperatures.
    lone: f64,
    options: &'s AnnealOptions,
    cancel: &'s AtomicBool,
    /// With rates by masks.
    quick: bool,
}

impl<'a> Search<'_, 'a> {
    /// The best of a chain by the arbiter itself.
    fn exact<const N: usize>(&self, found: Found) -> Result<Found, OrderError> {
        if !self.quick {
            return Ok(found);
        }
        let mut chain = Chain::<N>::new(self.problem, self.plan, self.potentials, found.order, false)?;
        let mut best = (chain.makespan, chain.order.clone());
        for order in found.earlier.into_iter().rev() {
            chain.restart(order)?;
            if chain.makespan < best.0 {
                best = (chain.makespan, chain.order.clone());
            }
        }
        Ok(Found { makespan: best.0, order: best.1, earlier: Vec::new(), ..found })
    }

    fn begin<const N: usize>(&self, order: Sequences) -> Result<Chain<'_, 'a, N>, OrderError> {
        Chain::new(self.problem, self.plan, self.potentials, order, self.quick)
    }

    fn chain<const N: usize>(&self, number: u64, own: &[Vec<usize>]) -> Result<Found, OrderError> {
        let mut random = ChaCha8Rng::seed_from_u64(self.options.seed);
        random.set_stream(number);
        let mut order = own.to_vec();
        let classes = (number as usize).checked_rem(self.options.classes.len()).map(|at| &self.options.classes[at]);
        if let Some(classes) = classes.filter(|c| c.fits(&self.plan.counts)) {
            return self.by_classes::<N>(classes, &mut random);
        }
        if number > 0 {
            order.iter_mut().for_each(|sequence| shuffle(sequence, &mut random));
        }
        let mut chain = self.begin::<N>(order)?;
        self.cool(&mut chain, WIDE, self.options.evaluations, &mut random)
    }

    /// Anneals the lists of classes, then single sources.
    fn by_classes<const N: usize>(&self, classes: &ClassOrders, random: &mut ChaCha8Rng) -> Result<Found, OrderError> {
        let (mut lists, evaluations) = (classes.lists(), self.options.evaluations * LISTS / 100);
        lists.iter_mut().for_each(|list| shuffle(list, random));
        let mut chain = self.begin::<N>(classes.order(&lists))?;
        let mut best = (chain.makespan, chain.order.clone());
        let cooling = libm::pow(WIDE.1 / WIDE.0, 1.0 / evaluations.max(1) as f64);
        let mut temperature = WIDE.0 * self.lone;
        for _ in 0..evaluations {
            if cancelled(self.cancel) {
                break;
            }
            temperature *= cooling;
            let list = below(lists.len(), random);
            let (i, j) = (below(lists[list].len(), random), below(lists[list].len(), random));
            let limit = chain.makespan as f64 - temperature * libm::log(share(random));
            lists[list].swap(i, j);
            if !chain.replace(classes.order(&lists), limit)? {
                lists[list].swap(i, j);
            } else if chain.makespan < best.0 {
                best = (chain.makespan, chain.order.clone());
            }
        }
        chain.restart(best.1)?;
        let found = self.cool(&mut chain, NARROW, self.options.evaluations - evaluations, random)?;
        Ok(Found { evaluated: found.evaluated + evaluations, ..found })
    }

    /// Cools a chain down over a number of evaluations; the best order on the way.
    fn cool<const N: usize>(
        &self,
        chain: &mut Chain<'_, '_, N>,
        (hot, cold): (f64, f64),
        evaluations: u64,
        random: &mut ChaCha8Rng,
    ) -> Result<Found, OrderError> {
        let (order, makespan) = (chain.order.clone(), chain.makespan);
        let mut best = Found { order, makespan, earlier: Vec::new(), evaluated: 1, complete: true };
        let free: Vec<usize> = (0..self.plan.sources).filter(|&s| self.plan.counts[s] > 1).collect();
        let cooling = libm::pow(cold / hot, LOOK as f64 / evaluations.max(LOOK) as f64);
        let mut temperature = hot * self.lone;
        for evaluation in 0..if free.is_empty() { 0 } else { evaluations } {
            if evaluation % LOOK == LOOK - 1 {
                temperature *= cooling;
                if cancelled(self.cancel) {
                    best.complete = false;
                    break;
                }
            }
            if self.bound >= best.makespan as f64 * (1.0 - CLOSE) {
                break;
            }
            let moves = [self.change(&free, random), self.change(&free, random)];
            let count = if random.next_u32().is_multiple_of(4) && moves[0].0 != moves[1].0 { 2 } else { 1 };
            let limit = chain.makespan as f64 - temperature * libm::log(share(random));
            best.evaluated += 1;
            if chain.swap(&moves[..count], limit)? && chain.makespan < best.makespan {
                best.improve(chain.order.clone(), chain.makespan);
            }
        }
        Ok(best)
    }

    /// A source and two of its places.
    fn change(&self, free: &[usize], random: &mut ChaCha8Rng) -> (usize, usize, usize) {
        let source = free[below(free.len(), random)];
        let count = self.plan.counts[source];
        let (first, step) = (below(count, random), 1 + below(count - 1, random));
        (source, first, (first + step) % count)
    }
}

/// A whole number below `count`, by the upper half of a product (the bias is below 2^-32 · count).
fn below(count: usize, random: &mut ChaCha8Rng) -> usize {
    ((u64::from(random.next_u32()) * count as u64) >> 32) as usize
}

/// A number in (0, 1].
fn share(random: &mut ChaCha8Rng) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

fn shuffle(items: &mut [usize], random: &mut ChaCha8Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(last + 1, random));
    }
}
