//! All orders: their makespans by weight, in shards that merge and go on where they stopped.
//!
//! ```text
//! first choices (of all sources at 0) ─► one per orbit ─► tree of decisions ─► tally ─► Part ─┐
//!            shard i of n: index ≡ i − 1 (mod n)                                        merge ┴─► the same bytes
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::digest::digest;
use super::part::Part;
use super::plan::{Keys, Plan, with_lanes};
use super::problem::OrderProblem;
use super::rates::{Memo, Rates, Table};
use super::refusal::OrderError;
use super::state::State;
use super::symmetry::Symmetry;
use super::tally::{Best, Counter, Tally, better};
use super::tree::{Halt, MOST_DECIDING, MOST_LEFT, Walk, begin, run};
use super::units::{Done, Sum, Until};

/// Orders in a unit of work, about: some milliseconds.
const ORDERS_A_UNIT: u128 = 1 << 14;
/// First choices with more orders below them than that many units are divided.
const UNITS_A_FIRST: u128 = 8;
/// Time between two states that can be saved; *assumed*: little to lose.
const SAVED_EVERY: Duration = Duration::from_secs(1);
/// Work takes at least that many times as long as joining and saving its results.
const WORK_PER_SAVING: u32 = 10;

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
        let firsts = plan.counts.iter().try_fold(1_u64, |all, &n| all.checked_mul(n as u64));
        let firsts = firsts.ok_or(OrderError::TooManyFirst { most: u64::MAX })?;
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
        Ok(Self { problem, plan, symmetry, digest, lanes, firsts, unit: ORDERS_A_UNIT, every: SAVED_EVERY })
    }

    /// Cuts the work otherwise: units of about `orders` orders, a state that can be saved after each `every`. Results do
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
        let own: Vec<Vec<usize>> = self.plan.counts.iter().map(|&n| (0..n).collect()).collect();
        let candidates = self.plan.candidates.unwrap_or(u128::MAX);
        Ok(Part {
            weir_order_part: 1,
            digest: self.digest.clone(),
            shard,
            shards,
            symmetries: self.symmetry.order() as u64,
            candidates,
            first_choices: self.firsts,
            next: 0,
            inside: 0,
            baseline: self.lanes.run(self.problem, &self.plan, &own)?,
            best: None,
            tally: Tally::default(),
        })
    }

    /// Visits what is left of a part. `saved` is shown the part about once a second: a copy of it goes on later to the
    /// same bytes. When `cancel` becomes true the part has all units of work that were finished, some milliseconds each;
    /// returned is the best order seen, which may be later.
    ///
    /// # Errors
    /// A part of another problem; a wrong answer of the arbiter.
    pub fn go_on(
        &self,
        part: &mut Part,
        cancel: &AtomicBool,
        saved: &mut dyn FnMut(&Part),
    ) -> Result<Option<Best>, OrderError> {
        part.check(&self.digest, self.firsts, self.symmetry.order() as u64)?;
        let (mut every, mut seen) = (self.every, part.best);
        while !part.complete() && !cancel.load(Ordering::Relaxed) {
            let mut sum = Sum::default();
            self.slice(part, &mut sum, Until { instant: Instant::now() + every, cancel });
            let worked = Instant::now();
            seen = better(seen, sum.seen);
            part.best = better(part.best, sum.best);
            part.tally.merge(sum.runs.tally());
            match sum.halt {
                Some(Halt::Error(error)) => return Err(error),
                Some(Halt::Cancelled) => break,
                None => saved(part),
            }
            every = self.every.max(worked.elapsed() * WORK_PER_SAVING);
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
        let (shard, from) = ((part.shard, part.shards), part.next);
        let firsts = |unit: u64| {
            let begin = from + unit * size;
            self.firsts_of(shard, begin..begin.saturating_add(size).min(self.firsts)).map(|(_, first)| first)
        };
        let units = (self.firsts - from).div_ceil(size);
        let finished = self.lanes.firsts(work, sum, until, units, &|unit| Box::new(firsts(unit)));
        part.next = from.saturating_add(finished.saturating_mul(size)).min(self.firsts);
    }

    /// First choices with many orders below: the subtrees of one after another.
    fn inside(&self, part: &mut Part, sum: &mut Sum, until: Until<'_>, work: Work<'_, '_>, orders: u128) {
        loop {
            let next = self.firsts_of((part.shard, part.shards), part.next..self.firsts).next();
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
        (shard, shards): (u64, u64),
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

/// The makespan of the workload's own order, without a table.
pub(crate) fn own_makespan(problem: &OrderProblem<'_>) -> Result<u64, OrderError> {
    fn one<const N: usize>(problem: &OrderProblem<'_>, plan: &Plan) -> Result<u64, OrderError> {
        let own: Vec<Vec<usize>> = plan.counts.iter().map(|&n| (0..n).collect()).collect();
        run::<N, _>(plan, &mut Memo::<N>::new(problem, plan, Vec::new())?, &own)
    }
    let plan = Plan::new(problem);
    with_lanes!(plan.sources, one(problem, &plan))
}

/// Whether a tree search covers the problem.
pub(crate) fn covered(plan: &Plan) -> Result<(), OrderError> {
    let most = plan.counts.iter().copied().max().unwrap_or(0);
    if plan.sources > MOST_DECIDING || most > MOST_LEFT || plan.candidates.is_none() {
        let most = u128::from(u64::MAX);
        return Err(OrderError::TooManyOrders { candidates: plan.candidates, most, instead: "anneal" });
    }
    Ok(())
}

/// What a piece of work is about.
#[derive(Clone, Copy)]
struct Work<'w, 'a> {
    problem: &'w OrderProblem<'a>,
    plan: &'w Plan,
    symmetry: &'w Symmetry,
    cancel: &'w AtomicBool,
    /// The least number among an order and its images under some symmetries.
    lowest: &'w (dyn Fn(u128, u128) -> u128 + Sync),
}

/// A first choice of all sources, with the symmetries that make others of it.
struct First {
    choices: Vec<usize>,
    images: u128,
}

impl First {
    /// The state in which all sources have started.
    fn state<const N: usize>(&self, plan: &Plan) -> State<N> {
        let (mut state, mut deciding) = begin::<N>(plan);
        while deciding != 0 {
            let source = deciding.trailing_zeros() as usize;
            state.choose::<true>(plan, source, self.choices[source]);
            deciding &= deciding - 1;
        }
        state.images = self.images;
        state
    }
}

/// The subtrees below a first choice.
#[derive(Clone, Copy)]
struct Inside<'f> {
    first: &'f First,
    /// How many subtrees are done.
    from: u64,
    /// Orders below it, about.
    orders: u128,
    /// Orders of a unit, about.
    unit: u128,
}

/// Which first choices are visited in a unit.
type FirstsOf<'i> = dyn Fn(u64) -> Box<dyn Iterator<Item = First> + 'i> + Sync + 'i;

/// The enumeration for one width of states.
trait Lanes {
    /// A row of the table; empty without one.
    fn row(&self, row: u64) -> &[f64];
    /// Visits all orders below first choices, in `units` units; returns how many are finished.
    fn firsts(&self, work: Work<'_, '_>, sum: &mut Sum, until: Until<'_>, units: u64, of: &FirstsOf<'_>) -> u64;
    /// Visits all orders below one first choice; returns how many subtrees are done, none when all are.
    fn inside(&self, work: Work<'_, '_>, sum: &mut Sum, until: Until<'_>, of: Inside<'_>) -> Option<u64>;
    /// The makespan of one order.
    fn run(&self, problem: &OrderProblem<'_>, plan: &Plan, order: &[Vec<usize>]) -> Result<u64, OrderError>;
}

fn lanes<const N: usize>(
    problem: &OrderProblem<'_>,
    plan: &Plan,
    cancel: &AtomicBool,
) -> Result<Box<dyn Lanes + Send + Sync>, OrderError> {
    Ok(Box::new(Lane::<N>::new(problem, plan, cancel)?))
}

struct Lane<const N: usize> {
    table: Option<Table<N>>,
}

impl<const N: usize> Lane<N> {
    fn new(problem: &OrderProblem<'_>, plan: &Plan, cancel: &AtomicBool) -> Result<Self, OrderError> {
        let table = match plan.keys {
            Keys::Rows(rows) => Some(Table::new(problem, plan, rows, cancel)?),
            Keys::Hashes => None,
        };
        Ok(Self { table })
    }
}

impl<const N: usize> Lanes for Lane<N> {
    fn row(&self, row: u64) -> &[f64] {
        self.table.as_ref().map_or(&[], |table| &table.rows[row as usize])
    }

    fn firsts(&self, work: Work<'_, '_>, sum: &mut Sum, until: Until<'_>, units: u64, of: &FirstsOf<'_>) -> u64 {
        let states = |unit| of(unit).map(|first| first.state::<N>(work.plan));
        self.units(work, sum, until, units, states)
    }

    fn inside(&self, work: Work<'_, '_>, sum: &mut Sum, until: Until<'_>, of: Inside<'_>) -> Option<u64> {
        let root = of.first.state::<N>(work.plan);
        let least = usize::try_from(of.orders / of.unit).unwrap_or(usize::MAX).min(MOST_SUBTREES);
        let subtrees = match &self.table {
            Some(table) => subtrees(work, &mut &*table, root, least),
            None => memo(work).map_err(Halt::from).and_then(|mut memo| subtrees(work, &mut memo, root, least)),
        };
        let count = subtrees.as_ref().map_or(0, |all| all.len() as u64);
        let changed =
            || OrderError::Shards("the saved place is not one of this search; the file was changed".to_owned());
        let left = subtrees.and_then(|all| Ok((count.checked_sub(of.from).ok_or_else(changed)?, all)));
        let (left, all) = match left {
            Ok(found) => found,
            Err(halt) => {
                sum.halt = Some(halt);
                return Some(of.from);
            }
        };
        let state = |unit: u64| all.get((of.from + unit) as usize).cloned().into_iter();
        let finished = self.units(work, sum, until, left, state);
        (finished < left).then_some(of.from + finished)
    }

    fn run(&self, problem: &OrderProblem<'_>, plan: &Plan, order: &[Vec<usize>]) -> Result<u64, OrderError> {
        match &self.table {
            Some(table) => run::<N, _>(plan, &mut &*table, order),
            None => run::<N, _>(plan, &mut Memo::<N>::new(problem, plan, Vec::new())?, order),
        }
    }
}

impl<const N: usize> Lane<N> {
    /// Works through units, each the states that are given; how many are finished.
    fn units<I: Iterator<Item = State<N>>>(
        &self,
        work: Work<'_, '_>,
        sum: &mut Sum,
        until: Until<'_>,
        count: u64,
        states: impl Fn(u64) -> I + Sync,
    ) -> u64 {
        match &self.table {
            Some(table) if work.plan.paced => {
                let visit = |rates: &mut _, unit| visit::<N, true, &Table<N>>(work, rates, states(unit));
                sum.work(count, until, || Ok::<_, Halt>(table), visit)
            }
            Some(table) => {
                let visit = |rates: &mut _, unit| visit::<N, false, &Table<N>>(work, rates, states(unit));
                sum.work(count, until, || Ok::<_, Halt>(table), visit)
            }
            None => sum.work(count, until, || memo(work), |rates, unit| visit::<N, true, _>(work, rates, states(unit))),
        }
    }
}

/// Most subtrees below one first choice: some MiB of states.
const MOST_SUBTREES: usize = 1 << 14;

fn memo<'w, 'a, const N: usize>(work: Work<'w, 'a>) -> Result<Memo<'w, 'a, N>, OrderError> {
    Memo::new(work.problem, work.plan, Vec::new())
}

/// Visits all orders below some states.
fn visit<const N: usize, const PACED: bool, R: Rates<N>>(
    work: Work<'_, '_>,
    rates: &mut R,
    states: impl Iterator<Item = State<N>>,
) -> Done {
    let mut walk = Walk::<N, PACED, _, _>::new(work.plan, rates, Counter::new(work.lowest), work.symmetry, work.cancel);
    let all = || -> Result<(), Halt> {
        for mut state in states {
            walk.visit(&mut state)?;
            walk.flush()?;
        }
        Ok(())
    };
    let halt = all().err();
    let best = walk.sink.best;
    // What is cut off is not counted, and need not be sorted.
    let tally = if halt.is_none() { walk.sink.finish() } else { Tally::default() };
    Done { tally, best, halt }
}

/// The states after as many decisions below a state as make `least` of them, in the order of the walk.
fn subtrees<const N: usize, R: Rates<N>>(
    work: Work<'_, '_>,
    rates: &mut R,
    root: State<N>,
    least: usize,
) -> Result<Vec<State<N>>, Halt> {
    let mut walk = Walk::<N, true, _, _>::new(work.plan, rates, Counter::new(work.lowest), work.symmetry, work.cancel);
    let mut all = vec![root];
    while all.len() < least {
        let mut next = Vec::new();
        for state in &mut all {
            walk.expand(state, &mut next)?;
        }
        if next.len() == all.len() {
            break;
        }
        all = next;
    }
    Ok(all)
}
