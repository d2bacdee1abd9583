//! Rates of active sets: asked of the arbiter once per set, and kept.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use super::oracle::Oracle;
use super::plan::{Keys, Plan};
use super::state::State;
use crate::order::problem::{OrderError, OrderProblem};

/// Part of a capacity that an arbiter promised by which its rates may exceed it; *assumed*, far above rounding.
const BROKEN: f64 = 1e-6;
/// Most sets that a memo keeps (measured: at 16 sources 12 % of look-ups hit with 2^8, 70 % with 2^16, 78 % with 2^20).
const MOST_KEPT: usize = 1 << 18;
/// Most numbers that a memo keeps: 128 MiB of them.
const MOST_NUMBERS: usize = 1 << 24;

/// Where a search finds the rates of a state's active set.
pub(crate) trait Rates<const N: usize> {
    fn of(&mut self, state: &State<N>) -> Result<&[f64; N], OrderError>;
}

/// The rates of all active sets.
pub(crate) struct RateTable<const N: usize> {
    pub(crate) rows: Vec<[f64; N]>,
}

impl<const N: usize> RateTable<N> {
    /// Asks for every set; rows in parallel, each of the same bits wherever it is computed.
    pub(crate) fn new(
        problem: &OrderProblem<'_>,
        plan: &Plan,
        rows: u64,
        cancel: &AtomicBool,
    ) -> Result<Self, OrderError> {
        /// Rows of one piece of work; *assumed*.
        const BLOCK: usize = 1 << 12;
        /// Rows between two looks at `cancel`.
        const LOOK: usize = 64;
        let mut table = vec![[0.0; N]; rows as usize];
        table.par_chunks_mut(BLOCK).enumerate().try_for_each(|(block, rows)| {
            let mut oracle = Oracle::new(problem)?;
            let mut digits = vec![0; plan.sources];
            for (i, row) in rows.iter_mut().enumerate() {
                if i % LOOK == 0 && cancel.load(Ordering::Relaxed) {
                    return Err(OrderError::Cancelled);
                }
                digits_of(plan, (block * BLOCK + i) as u64, &mut digits);
                oracle.ask(plan, &digits, row)?;
            }
            Ok(())
        })?;
        Ok(Self { rows: table })
    }
}

/// The digits of a row.
pub(crate) fn digits_of(plan: &Plan, mut row: u64, digits: &mut [u16]) {
    for s in (0..plan.sources).rev() {
        digits[s] = (row % plan.radix[s]) as u16;
        row /= plan.radix[s];
    }
}

/// The whole table, shared by threads.
impl<const N: usize> Rates<N> for &RateTable<N> {
    #[inline(always)]
    fn of(&mut self, state: &State<N>) -> Result<&[f64; N], OrderError> {
        Ok(&self.rows[state.key as usize])
    }
}

/// Lent to one walk after another, so that what is known stays.
impl<const N: usize, R: Rates<N>> Rates<N> for &mut R {
    #[inline(always)]
    fn of(&mut self, state: &State<N>) -> Result<&[f64; N], OrderError> {
        (**self).of(state)
    }
}

/// Rates on demand, each set kept until another needs its place; beside them one number per potential, if wanted.
pub(crate) struct Memo<'p, 'a, const N: usize> {
    oracle: Oracle<'p, 'a>,
    plan: &'p Plan,
    /// Right shift from a hash to a place; none where each row has its own.
    shift: Option<u32>,
    filled: Vec<bool>,
    digits: Vec<[u16; N]>,
    rates: Vec<[f64; N]>,
    potentials: usize,
    /// Per message ([`Plan::message`]): the potentials with a weight for it, and the weight.
    weights: Vec<Vec<(u32, f64)>>,
    losses: Vec<f64>,
}

impl<'p, 'a, const N: usize> Memo<'p, 'a, N> {
    /// `potentials`: per potential the weight of each message ([`Plan::message`]).
    pub(crate) fn new(
        problem: &'p OrderProblem<'a>,
        plan: &'p Plan,
        potentials: Vec<Vec<f64>>,
    ) -> Result<Self, OrderError> {
        Self::with_room(problem, plan, potentials, MOST_KEPT)
    }

    /// As [`Self::new`], for about `sets` sets.
    pub(crate) fn with_room(
        problem: &'p OrderProblem<'a>,
        plan: &'p Plan,
        potentials: Vec<Vec<f64>>,
        sets: usize,
    ) -> Result<Self, OrderError> {
        let most = (MOST_NUMBERS / (N + potentials.len())).clamp(1, sets);
        let (kept, shift) = match plan.keys {
            Keys::Rows(rows) if rows as usize <= most => (rows as usize, None),
            _ => (1 << most.ilog2(), Some(63 - most.ilog2())),
        };
        let weights = |message: usize| {
            let of = (0..).zip(&potentials).map(|(potential, row)| (potential, row[message]));
            of.filter(|&(_, weight)| weight > 0.0).collect()
        };
        Ok(Self {
            oracle: Oracle::new(problem)?,
            plan,
            shift,
            filled: vec![false; kept],
            digits: vec![[0; N]; kept],
            rates: vec![[0.0; N]; kept],
            losses: vec![0.0; kept * potentials.len()],
            weights: (0..plan.messages()).map(weights).collect(),
            potentials: potentials.len(),
        })
    }

    /// Where the state's set is kept; asks for it unless it is there.
    #[inline]
    pub(crate) fn find(&mut self, state: &State<N>) -> Result<usize, OrderError> {
        // Fibonacci hashing; two shifts, as one by 64 is not defined.
        let hash = state.key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = self.shift.map_or(state.key, |shift| hash >> shift >> 1) as usize;
        if !(self.filled[at] && self.digits[at] == state.digit) {
            self.fill(at, state)?;
        }
        Ok(at)
    }

    #[cold]
    fn fill(&mut self, at: usize, state: &State<N>) -> Result<(), OrderError> {
        self.filled[at] = false;
        self.oracle.ask(self.plan, &state.digit[..self.plan.sources], &mut self.rates[at])?;
        let (plan, rates) = (self.plan, &self.rates[at]);
        let losses = &mut self.losses[at * self.potentials..(at + 1) * self.potentials];
        losses.fill(1.0);
        for (s, &digit) in state.digit[..plan.sources].iter().enumerate().filter(|&(_, &digit)| digit > 0) {
            for &(potential, weight) in &self.weights[plan.message(s, plan.meaning(s, digit).0)] {
                losses[potential as usize] -= weight * rates[s];
            }
        }
        // g is at most 1 where the arbiter keeps to what it promised of links.
        if losses.iter().any(|&loss| loss < -BROKEN) {
            return Err(OrderError::Capacity);
        }
        self.digits[at] = state.digit;
        self.filled[at] = true;
        Ok(())
    }

    #[inline]
    pub(crate) fn rates(&self, at: usize) -> &[f64; N] {
        &self.rates[at]
    }

    /// 1 − g of each potential for the set kept at a place.
    #[inline]
    pub(crate) fn losses(&self, at: usize) -> &[f64] {
        &self.losses[at * self.potentials..(at + 1) * self.potentials]
    }
}

impl<const N: usize> Rates<N> for Memo<'_, '_, N> {
    #[inline]
    fn of(&mut self, state: &State<N>) -> Result<&[f64; N], OrderError> {
        let at = self.find(state)?;
        Ok(&self.rates[at])
    }
}
