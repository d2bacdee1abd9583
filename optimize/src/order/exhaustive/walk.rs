//! The walk through all orders below a state.

use std::sync::atomic::{AtomicBool, Ordering};

use super::counter::Counter;
use super::symmetry::Symmetry;
use crate::order::problem::{OrderError, OrderProblem};
use crate::order::run::plan::Plan;
use crate::order::run::rates::Rates;
use crate::order::run::state::State;
use crate::order::run::tree::{advance, makespan};

/// Runs after the last decision that go side by side, so that one waits while another computes.
const SIDE_BY_SIDE: usize = 6;

/// What a piece of work is about.
#[derive(Clone, Copy)]
pub(super) struct Work<'w, 'a> {
    pub(super) problem: &'w OrderProblem<'a>,
    pub(super) plan: &'w Plan,
    pub(super) symmetry: &'w Symmetry,
    pub(super) cancel: &'w AtomicBool,
    /// The least number among an order and its images under some symmetries.
    pub(super) lowest: &'w (dyn Fn(u128, u128) -> u128 + Sync),
}

/// A walk through all orders below a state; `PACED` as in [`advance`].
pub(crate) struct Walk<'p, const N: usize, const PACED: bool, R> {
    pub(crate) plan: &'p Plan,
    pub(crate) rates: R,
    pub(crate) counter: Counter<'p>,
    symmetry: &'p Symmetry,
    pub(crate) cancel: &'p AtomicBool,
    decided: Vec<State<N>>,
}

impl<'p, const N: usize, const PACED: bool, R: Rates<N>> Walk<'p, N, PACED, R> {
    pub(crate) fn new(work: Work<'p, '_>, rates: R) -> Self {
        let Work { plan, symmetry, cancel, .. } = work;
        Self {
            plan,
            rates,
            counter: Counter::new(work.lowest),
            symmetry,
            cancel,
            decided: Vec::with_capacity(SIDE_BY_SIDE),
        }
    }

    /// Visits every order below a state in which all sources have started; [`Self::flush`] after the last.
    pub(crate) fn visit(&mut self, state: &mut State<N>) -> Result<(), OrderError> {
        loop {
            if self.symmetry.parts(state) {
                let images = self.symmetry.images(self.plan, state);
                return images.into_iter().try_for_each(|mut image| self.visit(&mut image));
            }
            state.apply(self.rates.of(state)?);
            if state.undecided == 0 {
                self.decided.push(state.clone());
                return if self.decided.len() == SIDE_BY_SIDE { self.flush() } else { Ok(()) };
            }
            let deciding = advance::<N, PACED>(self.plan, state)?;
            if deciding != 0 {
                return self.decide(state, deciding, &mut |walk, child| walk.visit(child));
            }
        }
    }

    /// The states after the next decision below a state: to visit each is to visit the state.
    pub(crate) fn expand(&mut self, state: &mut State<N>, out: &mut Vec<State<N>>) -> Result<(), OrderError> {
        loop {
            if self.symmetry.parts(state) {
                let images = self.symmetry.images(self.plan, state);
                return images.into_iter().try_for_each(|mut image| self.expand(&mut image, out));
            }
            state.apply(self.rates.of(state)?);
            if state.undecided == 0 {
                out.push(state.clone());
                return Ok(());
            }
            let deciding = advance::<N, PACED>(self.plan, state)?;
            if deciding != 0 {
                return self.decide(state, deciding, &mut |_, child| {
                    out.push(child.clone());
                    Ok(())
                });
            }
        }
    }

    /// Hands on every combination of choices of the sources that decide.
    fn decide<F>(&mut self, state: &State<N>, deciding: u64, each: &mut F) -> Result<(), OrderError>
    where
        F: FnMut(&mut Self, &mut State<N>) -> Result<(), OrderError>,
    {
        let source = deciding.trailing_zeros() as usize;
        let mut left = state.left[source];
        while left != 0 {
            let mut child = state.clone();
            child.choose::<PACED>(self.plan, source, left.trailing_zeros() as usize);
            left &= left - 1;
            match deciding & (deciding - 1) {
                0 => each(self, &mut child)?,
                others => self.decide(&child, others, each)?,
            }
        }
        Ok(())
    }

    /// Runs what has no decision left to its end.
    pub(crate) fn flush(&mut self) -> Result<(), OrderError> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(OrderError::Cancelled);
        }
        let mut running = true;
        while running {
            running = false;
            for at in 0..self.decided.len() {
                let state = &mut self.decided[at];
                if state.busy == 0 {
                    continue;
                }
                running = true;
                advance::<N, PACED>(self.plan, state)?;
                if self.symmetry.parts(state) {
                    self.part(at)?;
                } else {
                    state.apply(self.rates.of(state)?);
                }
            }
        }
        for state in self.decided.drain(..) {
            self.counter.add(makespan(&state)?, state.number, state.images);
        }
        Ok(())
    }

    /// Puts the images that part from a decided run beside it.
    fn part(&mut self, at: usize) -> Result<(), OrderError> {
        let mut images = self.symmetry.images(self.plan, &self.decided[at]);
        for image in &mut images {
            image.apply(self.rates.of(image)?);
        }
        self.decided[at] = images.swap_remove(0);
        self.decided.append(&mut images);
        Ok(())
    }
}
