//! All orders: their makespans by weight, in shards that merge and go on where they stopped.
//!
//! ```text
//! first choices (of all sources at 0) ─► one per orbit ─► tree of decisions ─► distribution ─► Part ─┐
//!            shard i of n: index ≡ i − 1 (mod n)                                        merge ┴─► the same bytes
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::digest::digest;
use super::lanes::{First, Inside, Lanes, lanes};
use super::part::{FORMAT, Part};
use super::symmetry::Symmetry;
use super::units::{Sum, Until};
use super::walk::Work;
use crate::distribution::Distribution;
use crate::order::problem::{OrderError, OrderProblem};
use crate::order::run::best::{Best, better};
use crate::order::run::plan::{Keys, Plan, with_lanes};
use crate::order::run::tree::covered;
use crate::order::strategy::Keeper;

/// Orders in a unit of work, about: some milliseconds.
const ORDERS_A_UNIT: u128 = 1 << 14;
/// First choices with more orders below them than that many units are divided.
const UNITS_A_FIRST: u128 = 8;
/// Longest time between two states that can be saved; *assumed*: little to lose.
const SAVED_EVERY: Duration = Duration::from_secs(1);
/// The first state comes after this time; *assumed*: some units of work.
const SAVED_FIRST: Duration = Duration::from_millis(20);
/// A state comes at the latest after this part of the time so far, unless joining and saving take long.
const PARTS_TO_LOSE: u32 = 10;
/// Work takes at least that many times as long as joining and saving its results.
const WORK_PER_SAVING: u32 = 10;

/// The first choices of a part: those whose index is `shard` − 1 modulo `shards`.
#[derive(Clone, Copy)]
struct Share {
    shard: u64,
    shards: u64,
}

impl Share {
    fn of(part: &Part) -> Self {
        Self { shard: part.shard, shards: part.shards }
    }
}

/// An enumeration of all orders, ready to run.
pub struct Enumeration<'p, 'a> {
    problem: &'p OrderProblem<'a>,
    plan: Plan,
    symmetry: Symmetry,
    digest: String,
    lanes: Box<dyn Lanes + Send + Sync>,
    firsts: u64,
    unit: u128,
    every: Duration,
}

impl<'p, 'a> Enumeration<'p, 'a> {
    /// Asks the arbiter for all active sets where these are at most 2^20, and looks for symmetries if they are wanted.
    ///
    /// # Errors
    /// A wrong answer of the arbiter; more first choices or messages than a tree search covers.
    pub fn new(problem: &'p OrderProblem<'a>, symmetries: bool) -> Result<Self, OrderError> {
        Self::unless(&AtomicBool::new(false), problem, symmetries)
    }

    /// As [`Self::new`], which may take seconds; it ends soon after `cancel` becomes true.
    ///
    /// # Errors
    /// [`OrderError::Cancelled`] beside those of [`Self::new`].
    pub fn unless(cancel: &AtomicBool, problem: &'p OrderProblem<'a>, symmetries: bool) -> Result<Self, OrderError> {
        let plan = Plan::new(problem);
        covered(&plan)?;
        let firsts = plan.first_choices().ok_or(OrderError::TooManyFirst { most: u64::MAX })?;
        let lanes = with_lanes!(plan.sources, lanes(problem, &plan, cancel))?;
        let symmetry = match plan.keys {
            Keys::Rows(rows) if symmetries => Symmetry::new(problem, &plan, rows, |row| lanes.row(row), cancel),
            _ => Symmetry::default(),
        };
        if cancel.load(Ordering::Relaxed) {
            return Err(OrderError::Cancelled);
        }
        let rows = if let Keys::Rows(rows) = plan.keys { rows } else { 0 };
        let rates = (0..rows).flat_map(|row| lanes.row(row).iter().copied());
        let digest = digest(problem, &plan, rates);
        tracing::debug!(orders = plan.candidates, firsts, symmetries = symmetry.order(), "ready to visit all orders");
        Ok(Self { problem, plan, symmetry, digest, lanes, firsts, unit: ORDERS_A_UNIT, every: SAVED_EVERY })
    }

    /// Cuts the work otherwise: units of about `orders` orders, a state that can be saved at least each `every`. Results do
    /// not depend on it; a part goes on with the same `orders` that it began with.
    #[must_use]
    pub fn in_units(self, orders: u128, every: Duration) -> Self {
        Self { unit: orders.max(1), every, ..self }
    }

    /// The symmetries in use.
    #[must_use]
    pub fn symmetry(&self) -> &Symmetry {
        &self.symmetry
    }

    /// Number of first choices of all sources together.
    #[must_use]
    pub fn first_choices(&self) -> u64 {
        self.firsts
    }

    /// An empty result for shard `shard` of `shards`, to be filled by [`Self::go_on`].
    ///
    /// # Errors
    /// A shard that there is not; an arbiter that fails for the workload's own order.
    pub fn part(&self, shard: u64, shards: u64) -> Result<Part, OrderError> {
        if !(1..=shards).contains(&shard) {
            return Err(OrderError::Shards(format!("there is no shard {shard} of {shards}; they count from 1")));
        }
        let candidates = self.plan.candidates.unwrap_or(u128::MAX);
        Ok(Part {
            weir_order_part: FORMAT,
            digest: self.digest.clone(),
            shard,
            shards,
            symmetries: self.symmetry.order() as u64,
            candidates,
            first_choices: self.firsts,
            next: 0,
            inside: 0,
            baseline: self.lanes.run(self.problem, &self.plan, &self.plan.own_order())?,
            best: None,
            distribution: Distribution::default(),
        })
    }

    /// Visits what is left of a part. The keeper is given each of its states, at first after some milliseconds, later about
    /// once a second: a copy goes on later to the same bytes. When `cancel` becomes true the part has all units of work that
    /// were finished, some milliseconds each, or with a hurried keeper those of its last state; returned is the best order
    /// seen, which may be later.
    ///
    /// # Errors
    /// A part of another problem; a wrong answer of the arbiter.
    pub fn go_on<K: Keeper>(
        &self,
        part: &mut Part,
        cancel: &AtomicBool,
        keeper: &mut K,
    ) -> Result<Option<Best>, OrderError> {
        part.check(&self.digest, self.firsts, self.symmetry.order() as u64)?;
        let (mut seen, begun, mut joining) = (part.best, Instant::now(), Duration::ZERO);
        while !part.complete() && !cancel.load(Ordering::Relaxed) {
            let wanted = (begun.elapsed() / PARTS_TO_LOSE).max(SAVED_FIRST).min(self.every);
            let (mut sum, place) = (Sum::default(), (part.next, part.inside));
            let instant = Instant::now() + wanted.max(joining * WORK_PER_SAVING);
            self.slice(part, &mut sum, Until { instant, cancel });
            let worked = Instant::now();
            seen = better(seen, sum.seen);
            match sum.halt {
                Some(OrderError::Cancelled) if keeper.is_hurried() => {
                    (part.next, part.inside) = place;
                    return Ok(seen);
                }
                None | Some(OrderError::Cancelled) => {}
                Some(error) => return Err(error),
            }
            part.best = better(part.best, sum.best);
            part.distribution.merge(sum.runs.merged());
            let (visited, best) = (part.distribution.count(), part.best.map(|best| best.makespan));
            tracing::debug!(visited, best, "visited orders");
            keeper.save(part);
            joining = worked.elapsed();
        }
        Ok(seen)
    }

    /// Works for a while; the part's place moves on.
    fn slice(&self, part: &mut Part, sum: &mut Sum, until: Until<'_>) {
        let orders = (self.plan.candidates.unwrap_or(u128::MAX) / u128::from(self.firsts)).max(1);
        let lowest = |number, images| self.symmetry.lowest(&self.plan, number, images);
        let (plan, symmetry) = (&self.plan, &self.symmetry);
        let work = Work { problem: self.problem, plan, symmetry, cancel: until.cancel, lowest: &lowest };
        if orders > self.unit.saturating_mul(UNITS_A_FIRST) {
            return self.inside(part, sum, until, work, orders);
        }
        let size = u64::try_from(self.unit / orders).unwrap_or(u64::MAX).max(1).saturating_mul(part.shards);
        let (part_of, from) = (Share::of(part), part.next);
        let firsts = |unit: u64| {
            let begin = from + unit * size;
            self.firsts_of(part_of, begin..begin.saturating_add(size).min(self.firsts)).map(|(_, first)| first)
        };
        let units = (self.firsts - from).div_ceil(size);
        let finished = self.lanes.firsts(work, sum, until, units, &|unit| Box::new(firsts(unit)));
        part.next = from.saturating_add(finished.saturating_mul(size)).min(self.firsts);
    }

    /// First choices with many orders below: the subtrees of one after another.
    fn inside(&self, part: &mut Part, sum: &mut Sum, until: Until<'_>, work: Work<'_, '_>, orders: u128) {
        loop {
            let next = self.firsts_of(Share::of(part), part.next..self.firsts).next();
            let Some((index, first)) = next else {
                (part.next, part.inside) = (self.firsts, 0);
                return;
            };
            if index > part.next {
                (part.next, part.inside) = (index, 0);
            }
            let of = Inside { first: &first, from: part.inside, orders, unit: self.unit };
            match self.lanes.inside(work, sum, until, of) {
                None => (part.next, part.inside) = (index + 1, 0),
                Some(inside) => part.inside = inside,
            }
            if sum.halt.is_some() || until.over() {
                return;
            }
        }
    }

    /// The first choices of a shard in some range that are the first of their orbits, with their indices.
    fn firsts_of(
        &self,
        Share { shard, shards }: Share,
        range: std::ops::Range<u64>,
    ) -> impl Iterator<Item = (u64, First)> + '_ {
        let (own, at) = (shard - 1, range.start % shards);
        let ahead = if own >= at { own - at } else { shards - at + own };
        let begin = range.start.saturating_add(ahead);
        let indices = (begin..range.end).step_by(usize::try_from(shards).unwrap_or(usize::MAX));
        let mut choices = vec![0; self.plan.sources];
        indices.filter_map(move |index| {
            self.first(index, &mut choices);
            let images = self.symmetry.orbit(&choices)?;
            Some((index, First { choices: choices.clone(), images }))
        })
    }

    /// The first choices of an index: mixed radix, the first source most significant.
    fn first(&self, mut index: u64, out: &mut [usize]) {
        for (choice, &count) in out.iter_mut().zip(&self.plan.counts).rev() {
            *choice = (index % count as u64) as usize;
            index /= count as u64;
        }
    }
}
