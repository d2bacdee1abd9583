//! The work of an enumeration for one width of states: rates in a table or on demand, units of first choices or of
//! subtrees below one.

use std::sync::atomic::AtomicBool;

use super::units::{Done, Sum, Until};
use super::walk::{Walk, Work};
use crate::distribution::Distribution;
use crate::order::problem::{OrderError, OrderProblem};
use crate::order::run::plan::{Keys, Plan};
use crate::order::run::rates::{Memo, RateTable, Rates};
use crate::order::run::state::State;
use crate::order::run::tree::{begin, run};

/// A first choice of all sources, with the symmetries that make others of it.
pub(super) struct First {
    pub(super) choices: Vec<usize>,
    pub(super) images: u128,
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
pub(super) struct Inside<'f> {
    pub(super) first: &'f First,
    /// How many subtrees are done.
    pub(super) from: u64,
    /// Orders below it, about.
    pub(super) orders: u128,
    /// Orders of a unit, about.
    pub(super) unit: u128,
}

/// Which first choices are visited in a unit.
pub(super) type FirstsOf<'i> = dyn Fn(u64) -> Box<dyn Iterator<Item = First> + 'i> + Sync + 'i;

/// The enumeration for one width of states.
pub(super) trait Lanes {
    /// A row of the table; empty without one.
    fn row(&self, row: u64) -> &[f64];
    /// Visits all orders below first choices, in `units` units; returns how many are finished.
    fn firsts(&self, work: Work<'_, '_>, sum: &mut Sum, until: Until<'_>, units: u64, of: &FirstsOf<'_>) -> u64;
    /// Visits all orders below one first choice; returns how many subtrees are done, none when all are.
    fn inside(&self, work: Work<'_, '_>, sum: &mut Sum, until: Until<'_>, of: Inside<'_>) -> Option<u64>;
    /// The makespan of one order.
    fn run(&self, problem: &OrderProblem<'_>, plan: &Plan, order: &[Vec<usize>]) -> Result<u64, OrderError>;
}

pub(super) fn lanes<const N: usize>(
    problem: &OrderProblem<'_>,
    plan: &Plan,
    cancel: &AtomicBool,
) -> Result<Box<dyn Lanes + Send + Sync>, OrderError> {
    Ok(Box::new(Lane::<N>::new(problem, plan, cancel)?))
}

struct Lane<const N: usize> {
    table: Option<RateTable<N>>,
}

impl<const N: usize> Lane<N> {
    fn new(problem: &OrderProblem<'_>, plan: &Plan, cancel: &AtomicBool) -> Result<Self, OrderError> {
        let table = match plan.keys {
            Keys::Rows(rows) => Some(RateTable::new(problem, plan, rows, cancel)?),
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
            None => memo(work).and_then(|mut memo| subtrees(work, &mut memo, root, least)),
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
                let visit = |rates: &mut _, unit| visit::<N, true, &RateTable<N>>(work, rates, states(unit));
                sum.work(count, until, || Ok(table), visit)
            }
            Some(table) => {
                let visit = |rates: &mut _, unit| visit::<N, false, &RateTable<N>>(work, rates, states(unit));
                sum.work(count, until, || Ok(table), visit)
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
    let mut walk = Walk::<N, PACED, _>::new(work, rates);
    let all = || -> Result<(), OrderError> {
        for mut state in states {
            walk.visit(&mut state)?;
            walk.flush()?;
        }
        Ok(())
    };
    let halt = all().err();
    let best = walk.counter.best;
    // What is cut off is not counted, and need not be sorted.
    let distribution = if halt.is_none() { walk.counter.finish() } else { Distribution::default() };
    Done { distribution, best, halt }
}

/// The states after as many decisions below a state as make `least` of them, in the order of the walk.
fn subtrees<const N: usize, R: Rates<N>>(
    work: Work<'_, '_>,
    rates: &mut R,
    root: State<N>,
    least: usize,
) -> Result<Vec<State<N>>, OrderError> {
    let mut walk = Walk::<N, true, _>::new(work, rates);
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
