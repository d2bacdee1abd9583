//! All orders: their makespans by weight, in shards that merge and go on where they stopped.
//!
//! ```text
//! first choices (of all sources at 0) ─► one per orbit ─► tree of decisions ─► tally ─► Part ─┐
//!            shard i of n: index ≡ i − 1 (mod n)                                        merge ┴─► the same bytes
//! ```

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::digest::digest;
use super::part::Part;
use super::plan::{Keys, Plan, with_lanes};
use super::problem::OrderProblem;
use super::rates::{Memo, Rates, Table};
use super::refusal::OrderError;
use super::symmetry::Symmetry;
use super::tally::{Best, Counter, Tally, better};
use super::tree::{Halt, MOST_DECIDING, MOST_LEFT, Walk, begin, run};

/// Orders that a thread visits between two looks at the rest.
const ORDERS_A_PIECE: u128 = 1 << 14;
/// Pieces between two checkpoints.
const PIECES: u64 = 64;

/// An enumeration of all orders, ready to run.
pub struct Enumeration<'p, 'a> {
    problem: &'p OrderProblem<'a>,
    plan: Plan,
    symmetry: Symmetry,
    digest: String,
    lanes: Box<dyn Lanes + Send + Sync>,
    firsts: u64,
}

impl<'p, 'a> Enumeration<'p, 'a> {
    /// Asks the arbiter for all active sets where these are at most 2^20, and looks for symmetries if they are wanted.
    ///
    /// # Errors
    /// A wrong answer of the arbiter; more first choices or messages than a tree search covers.
    pub fn new(problem: &'p OrderProblem<'a>, symmetries: bool) -> Result<Self, OrderError> {
        let plan = Plan::new(problem);
        covered(&plan)?;
        let firsts = plan.counts.iter().try_fold(1_u64, |all, &n| all.checked_mul(n as u64));
        let firsts = firsts.ok_or(OrderError::TooManyFirst { most: u64::MAX })?;
        let lanes = with_lanes!(plan.sources, lanes(problem, &plan))?;
        let symmetry = match plan.keys {
            Keys::Rows(rows) if symmetries => Symmetry::new(problem, &plan, rows, |row| lanes.row(row)),
            _ => Symmetry::default(),
        };
        let rows = if let Keys::Rows(rows) = plan.keys { rows } else { 0 };
        let rates = (0..rows).flat_map(|row| lanes.row(row).iter().copied());
        let digest = digest(problem, &plan, rates);
        Ok(Self { problem, plan, symmetry, digest, lanes, firsts })
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
            baseline: self.lanes.run(self.problem, &self.plan, &own)?,
            best: None,
            tally: Tally::default(),
        })
    }

    /// Visits what is left of a part. `saved` is shown the part after every piece of work: a copy of it goes on later to
    /// the same bytes. When `cancel` becomes true the part stays at its last such point; returned is the best order
    /// seen, which may be later.
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
        let orders = (self.plan.candidates.unwrap_or(u128::MAX) / u128::from(self.firsts)).max(1);
        let piece = (ORDERS_A_PIECE / orders).max(1) as u64 * part.shards;
        while part.next < self.firsts {
            let (from, to) = (part.next, part.next.saturating_add(piece.saturating_mul(PIECES)).min(self.firsts));
            let pieces: Vec<(u64, u64)> = (from..to)
                .step_by(usize::try_from(piece).unwrap_or(usize::MAX))
                .map(|at| (at, at.saturating_add(piece).min(to)))
                .collect();
            let done: Vec<_> = pieces.into_par_iter().map(|range| self.piece(part, range, cancel)).collect();
            let best = done.iter().fold(part.best, |best, d| better(best, d.best));
            match done.iter().find_map(|d| d.halt.as_ref()) {
                Some(Halt::Cancelled) => return Ok(best),
                Some(Halt::Error(error)) => return Err(error.clone()),
                None => {}
            }
            done.iter().for_each(|d| part.tally.merge(&d.tally));
            (part.best, part.next) = (best, to);
            saved(part);
        }
        Ok(part.best)
    }

    fn piece(&self, part: &Part, range: (u64, u64), cancel: &AtomicBool) -> Done {
        let of_shard = |index: &u64| index % part.shards == part.shard - 1;
        let mut first = vec![0; self.plan.sources];
        let firsts = (range.0..range.1).filter(of_shard).filter_map(|index| {
            self.first(index, &mut first);
            self.symmetry.orbit(&first).map(|images| (first.clone(), images))
        });
        let lowest = |number, images| self.symmetry.lowest(&self.plan, number, images);
        let work = Work { problem: self.problem, plan: &self.plan, symmetry: &self.symmetry, cancel };
        self.lanes.visit(work, &mut firsts.into_iter(), Counter::new(&lowest))
    }

    /// The first choices of an index: mixed radix, the first source most significant.
    fn first(&self, mut index: u64, out: &mut [usize]) {
        for (choice, &count) in out.iter_mut().zip(&self.plan.counts).rev() {
            *choice = (index % count as u64) as usize;
            index /= count as u64;
        }
    }
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

/// What came of a piece of work.
struct Done {
    tally: Tally,
    best: Option<Best>,
    halt: Option<Halt>,
}

/// What a piece of work is about.
#[derive(Clone, Copy)]
struct Work<'w, 'a> {
    problem: &'w OrderProblem<'a>,
    plan: &'w Plan,
    symmetry: &'w Symmetry,
    cancel: &'w AtomicBool,
}

/// First choices to visit, each with the symmetries that make others of it.
type Firsts<'i> = dyn Iterator<Item = (Vec<usize>, u128)> + 'i;

/// The enumeration for one width of states.
trait Lanes {
    /// A row of the table; empty without one.
    fn row(&self, row: u64) -> &[f64];
    /// Visits all orders below some first choices.
    fn visit(&self, work: Work<'_, '_>, firsts: &mut Firsts<'_>, counter: Counter<'_>) -> Done;
    /// The makespan of one order.
    fn run(&self, problem: &OrderProblem<'_>, plan: &Plan, order: &[Vec<usize>]) -> Result<u64, OrderError>;
}

fn lanes<const N: usize>(problem: &OrderProblem<'_>, plan: &Plan) -> Result<Box<dyn Lanes + Send + Sync>, OrderError> {
    Ok(Box::new(Lane::<N>::new(problem, plan)?))
}

struct Lane<const N: usize> {
    table: Option<Table<N>>,
}

impl<const N: usize> Lane<N> {
    fn new(problem: &OrderProblem<'_>, plan: &Plan) -> Result<Self, OrderError> {
        let table = match plan.keys {
            Keys::Rows(rows) => Some(Table::new(problem, plan, rows)?),
            Keys::Hashes => None,
        };
        Ok(Self { table })
    }
}

impl<const N: usize> Lanes for Lane<N> {
    fn row(&self, row: u64) -> &[f64] {
        self.table.as_ref().map_or(&[], |table| &table.rows[row as usize])
    }

    fn visit(&self, work: Work<'_, '_>, firsts: &mut Firsts<'_>, counter: Counter<'_>) -> Done {
        match &self.table {
            Some(table) if work.plan.paced => visit::<N, true, _>(work, table, firsts, counter),
            Some(table) => visit::<N, false, _>(work, table, firsts, counter),
            None => match Memo::<N>::new(work.problem, work.plan, Vec::new()) {
                Ok(memo) => visit::<N, true, _>(work, memo, firsts, counter),
                Err(error) => Done { tally: Tally::default(), best: None, halt: Some(Halt::Error(error)) },
            },
        }
    }

    fn run(&self, problem: &OrderProblem<'_>, plan: &Plan, order: &[Vec<usize>]) -> Result<u64, OrderError> {
        match &self.table {
            Some(table) => run::<N, _>(plan, &mut &*table, order),
            None => run::<N, _>(plan, &mut Memo::<N>::new(problem, plan, Vec::new())?, order),
        }
    }
}

fn visit<const N: usize, const PACED: bool, R: Rates<N>>(
    work: Work<'_, '_>,
    rates: R,
    firsts: &mut Firsts<'_>,
    counter: Counter<'_>,
) -> Done {
    let plan = work.plan;
    let mut walk = Walk::<N, PACED, _, _>::new(plan, rates, counter, work.symmetry, work.cancel);
    let mut all = || -> Result<(), Halt> {
        for (first, images) in &mut *firsts {
            let (mut state, mut deciding) = begin::<N>(plan);
            while deciding != 0 {
                let source = deciding.trailing_zeros() as usize;
                state.choose::<PACED>(plan, source, first[source]);
                deciding &= deciding - 1;
            }
            state.images = images;
            walk.visit(&mut state)?;
            walk.flush()?;
        }
        Ok(())
    };
    let halt = all().err();
    let (tally, best) = walk.sink.finish();
    Done { tally, best, halt }
}
