//! One chain of annealing: where it begins, and how it cools down.
//!
//! ```text
//! classes:  lists of every start ─► single sources, from the best lists ─► single sources, from the best order
//! none:     single sources, from the workload's own order or a random one
//! ```

use std::sync::atomic::AtomicBool;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::chain::{Chain, Swap, cancelled};
use super::classes::ClassOrders;
use super::options::{AnnealOptions, CLOSE};
use super::pace::{Limit, Pace};
use crate::order::bounds::potentials::Potentials;
use crate::order::problem::{OrderError, OrderProblem};
use crate::order::run::plan::Plan;

/// Where a chain begins to cool, and where it ends, in times of one lone message.
#[derive(Clone, Copy)]
struct Temperatures {
    hot: f64,
    cold: f64,
}

/// Temperatures from a random start, in times of one lone message (measured: 0.03 is too cold to start from, one run of
/// three is stuck from 0.3).
const WIDE: Temperatures = Temperatures { hot: 0.6, cold: 0.03 };
/// Temperatures of lists of classes, of which a swap moves many sources (measured with 64 sources: 0.6 and 4 are worse).
const LISTS: Temperatures = Temperatures { hot: 1.5, cold: 0.1 };
/// Temperatures of single sources after their classes (measured: hotter ones lose what the lists gave).
const NARROW: Temperatures = Temperatures { hot: 0.1, cold: 0.01 };
/// Temperatures of the best of them at the end; *assumed*, about half of [`NARROW`].
const NARROWEST: Temperatures = Temperatures { hot: 0.06, cold: 0.005 };
/// Orders from one start of lists: where one ends depends on its beginning more than on its length, so that many short
/// ones are tried (measured with 64 sources: 34.8 to 40.3 lone messages after 4,000 orders each, 35.6 to 43.0 after 1,250).
const LENGTH: u64 = 1_500;
/// Starts there are at least, with a number of evaluations; *assumed*, one per candidate.
const STARTS: u32 = 4;
/// The best lists from which single sources go on; *assumed*.
const CANDIDATES: usize = 4;
/// Part of the evaluations, or of the time, after which the lists are done; *assumed*.
const LISTS_DONE: f64 = 0.4;
/// The same for the candidates; the rest is for the best order; *assumed*.
const CANDIDATES_DONE: f64 = 0.7;

/// An order as positions among each source's messages.
pub(super) type Sequences = Vec<Vec<usize>>;

/// What came of one chain.
pub(super) struct ChainResult {
    pub(super) order: Sequences,
    pub(super) makespan: u64,
    pub(super) evaluated: u64,
    pub(super) complete: bool,
}

/// What the chains of a search share.
pub(super) struct Annealing<'s, 'a> {
    pub(super) problem: &'s OrderProblem<'a>,
    pub(super) plan: &'s Plan,
    pub(super) potentials: &'s Potentials,
    pub(super) bound: f64,
    /// Time of the longest message alone, ps: the unit of temperatures.
    pub(super) lone: f64,
    pub(super) options: &'s AnnealOptions,
    pub(super) cancel: &'s AtomicBool,
    /// The workload's own order and its makespan.
    pub(super) own: Sequences,
    pub(super) baseline: u64,
}

struct Walk<'c, 's, 'a, const N: usize> {
    search: &'c Annealing<'s, 'a>,
    chain: Chain<'c, 'a, N>,
    random: ChaCha8Rng,
    pace: Pace,
    best: ChainResult,
}

impl<'a> Annealing<'_, 'a> {
    /// Runs one chain to its end.
    pub(super) fn chain<const N: usize>(&self, number: u64, limit: Limit) -> Result<ChainResult, OrderError> {
        let _chain = tracing::debug_span!("chain", number).entered();
        let mut random = ChaCha8Rng::seed_from_u64(self.options.seed);
        random.set_stream(number);
        let mut order = self.own.clone();
        if number > 0 {
            order.iter_mut().for_each(|sequence| shuffle(sequence, &mut random));
        }
        let mut chain = Chain::new(self.problem, self.plan, self.potentials, self.cancel)?;
        let makespan = chain.restart(order.clone())?;
        let best = match makespan {
            Some(makespan) => ChainResult { order, makespan, evaluated: 1, complete: true },
            None => self.interrupted(),
        };
        let mut walk = Walk::<N> { search: self, chain, random, pace: Pace::new(limit), best };
        let fits = |classes: &&ClassOrders| classes.fits(&self.plan.counts);
        let mut classes: Vec<&ClassOrders> = self.options.classes.iter().filter(fits).collect();
        let movable = makespan.is_some() && self.plan.counts.iter().any(|&n| n > 1);
        if movable && classes.is_empty() {
            walk.cool(WIDE, 1.0)?;
        } else if movable {
            let first = number as usize % classes.len();
            classes.rotate_left(first);
            walk.by_classes(&classes)?;
        }
        walk.best.evaluated += walk.pace.done;
        walk.best.complete &= !cancelled(self.cancel);
        Ok(walk.best)
    }

    /// The result of a chain that could not begin.
    fn interrupted(&self) -> ChainResult {
        let (order, makespan) = (self.own.clone(), self.baseline);
        ChainResult { order, makespan, evaluated: 0, complete: false }
    }
}

impl<const N: usize> Walk<'_, '_, '_, N> {
    /// Anneals the lists of classes from several starts, then single sources from the best of them.
    fn by_classes(&mut self, classes: &[&ClassOrders]) -> Result<(), OrderError> {
        let (mut starts, mut number): (Vec<(u64, Sequences)>, usize) = (Vec::new(), 0);
        while starts.is_empty() || (self.pace.progress() < LISTS_DONE && !self.over()) {
            starts.push(self.lists(classes[number % classes.len()])?);
            number += 1;
            // A stable sort: of equal ones the first.
            starts.sort_by_key(|found| found.0);
            starts.truncate(CANDIDATES);
        }
        let mut best: Option<(u64, Sequences)> = None;
        for (candidate, (_, order)) in starts.into_iter().enumerate() {
            let part = (candidate + 1) as f64 / CANDIDATES as f64;
            let end = LISTS_DONE + (CANDIDATES_DONE - LISTS_DONE) * part;
            let found = self.refine(order, NARROW, end)?;
            if best.as_ref().is_none_or(|best| found.0 < best.0) {
                best = Some(found);
            }
        }
        best.map_or(Ok(()), |(_, order)| self.refine(order, NARROWEST, 1.0).map(|_| ()))
    }

    /// Whether there is nothing more to do.
    fn over(&self) -> bool {
        cancelled(self.search.cancel) || self.search.bound >= self.best.makespan as f64 * (1.0 - CLOSE)
    }

    /// Keeps the chain's order if it is the best so far.
    fn note(&mut self) {
        if self.chain.makespan < self.best.makespan {
            (self.best.order, self.best.makespan) = (self.chain.order.clone(), self.chain.makespan);
            tracing::debug!(best = self.best.makespan, evaluated = self.pace.done, "found a better order");
        }
    }

    /// Anneals one list per class from random ones; the best order on the way.
    fn lists(&mut self, classes: &ClassOrders) -> Result<(u64, Sequences), OrderError> {
        let mut lists = classes.lists();
        lists.iter_mut().for_each(|list| shuffle(list, &mut self.random));
        let order = classes.order(&lists);
        self.pace.done += 1;
        let Some(makespan) = self.chain.restart(order.clone())? else { return Ok((u64::MAX, order)) };
        self.note();
        let mut best = (makespan, order);
        if classes.directions() < 2 {
            return Ok(best);
        }
        let (cooling, length) =
            (Cooling::new(LISTS, 0.0, 1.0), self.pace.at_most(LENGTH, LISTS_DONE / f64::from(STARTS)));
        for evaluation in 0..length {
            if self.over() || self.pace.progress() >= LISTS_DONE {
                break;
            }
            let Some(temperature) = cooling.at(evaluation as f64 / length as f64) else { break };
            let list = below(lists.len(), &mut self.random);
            let (i, j) = self.two(lists[list].len());
            let limit = self.threshold(temperature);
            lists[list].swap(i, j);
            self.pace.done += 1;
            if !self.chain.replace(classes.order(&lists), limit)? {
                lists[list].swap(i, j);
            } else if self.chain.makespan < best.0 {
                best = (self.chain.makespan, self.chain.order.clone());
                self.note();
            }
        }
        Ok(best)
    }

    /// Anneals single sources from an order; the best on the way.
    fn refine(&mut self, order: Sequences, range: Temperatures, end: f64) -> Result<(u64, Sequences), OrderError> {
        if self.chain.restart(order.clone())?.is_none() {
            return Ok((u64::MAX, order));
        }
        self.cool(range, end)
    }

    /// Cools down by swaps up to a progress; the best order on the way.
    fn cool(&mut self, range: Temperatures, end: f64) -> Result<(u64, Sequences), OrderError> {
        let counts = &self.search.plan.counts;
        let free: Vec<usize> = (0..counts.len()).filter(|&s| counts[s] > 1).collect();
        let mut best = (self.chain.makespan, self.chain.order.clone());
        let cooling = Cooling::new(range, self.pace.progress(), end);
        while !self.over() {
            let Some(temperature) = cooling.at(self.pace.progress()) else { break };
            let swaps = [self.random_swap(&free), self.random_swap(&free)];
            let two = self.random.next_u32().is_multiple_of(4) && swaps[0].source != swaps[1].source;
            let count = if two { 2 } else { 1 };
            let limit = self.threshold(temperature);
            self.pace.done += 1;
            if self.chain.swap(&swaps[..count], limit)? && self.chain.makespan < best.0 {
                best = (self.chain.makespan, self.chain.order.clone());
                self.note();
            }
        }
        Ok(best)
    }

    /// The makespan that is taken at a temperature (in times of a lone message), drawn anew.
    fn threshold(&mut self, temperature: f64) -> f64 {
        self.chain.makespan as f64 - temperature * self.search.lone * libm::log(share(&mut self.random))
    }

    fn random_swap(&mut self, free: &[usize]) -> Swap {
        let source = free[below(free.len(), &mut self.random)];
        Swap { source, places: self.two(self.search.plan.counts[source]) }
    }

    /// Two different places of two or more.
    fn two(&mut self, count: usize) -> (usize, usize) {
        let (first, step) = (below(count, &mut self.random), 1 + below(count - 1, &mut self.random));
        (first, (first + step) % count)
    }
}

/// A temperature that falls exponentially from one progress to another.
struct Cooling {
    hot: f64,
    /// ln(cold / hot).
    fall: f64,
    begin: f64,
    end: f64,
}

impl Cooling {
    fn new(Temperatures { hot, cold }: Temperatures, begin: f64, end: f64) -> Self {
        Self { hot, fall: libm::log(cold / hot), begin, end }
    }

    /// The temperature at a progress; none from the end on.
    fn at(&self, progress: f64) -> Option<f64> {
        let part = (progress - self.begin) / (self.end - self.begin);
        (progress < self.end).then(|| self.hot * libm::exp(self.fall * part))
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
