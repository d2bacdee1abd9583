//! The tree of decisions: a source decides when it becomes free with two or more messages left; sources that become
//! free at the same picosecond decide together. Orders that agree so far share their past. How long a source pauses
//! depends on what it sends next, so that it decides before the pause.

use std::sync::atomic::{AtomicBool, Ordering};

use super::plan::Plan;
use super::rates::Rates;
use super::refusal::OrderError;
use super::state::{MOST_PS, State};
use super::symmetry::Symmetry;

/// Most messages of a source in a tree search: what is left is a bit each. 32! orders are out of reach anyway.
pub(crate) const MOST_LEFT: usize = 32;
/// Most sources in a tree search: those that decide are a bit each.
pub(crate) const MOST_DECIDING: usize = 64;
/// Runs after the last decision that go side by side, so that one waits while another computes.
const SIDE_BY_SIDE: usize = 6;

/// Why a search stops before its end.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Halt {
    /// It was asked to.
    Cancelled,
    /// It failed.
    Error(OrderError),
}

impl From<OrderError> for Halt {
    fn from(error: OrderError) -> Self {
        Self::Error(error)
    }
}

/// Moves to the next instant at which a last byte leaves or a pause is over. Sources without a choice start their last message or rest;
/// the others are returned, a bit each: they wait for a decision. Without `PACED` the plan must have no pauses, which then
/// cost nothing.
#[inline(always)]
pub(crate) fn advance<const N: usize, const PACED: bool>(plan: &Plan, state: &mut State<N>) -> Result<u64, OrderError> {
    let time = state.next_end();
    if time == f64::INFINITY {
        return Err(OrderError::Stuck);
    }
    state.now = time;
    let mut ended = state.ended(time, 0);
    let mut deciding = 0;
    while ended != 0 {
        let source = ended.trailing_zeros() as usize;
        ended &= ended - 1;
        if state.resumes::<PACED>(plan, source) {
            continue;
        }
        state.finish(plan, source);
        let left = state.left[source];
        if left == 0 {
            state.rest(plan, source);
        } else if left & (left - 1) == 0 {
            start_last::<N, PACED>(plan, state, source);
        } else {
            deciding |= 1 << source;
        }
    }
    Ok(deciding)
}

/// Starts the only message that is left to a source.
#[inline(always)]
fn start_last<const N: usize, const PACED: bool>(plan: &Plan, state: &mut State<N>, source: usize) {
    let message = state.left[source].trailing_zeros() as usize;
    state.left[source] = 0;
    state.start::<PACED>(plan, source, message, plan.counts[source] - 1);
}

/// The makespan of a run that has ended, in ps.
#[inline(always)]
pub(crate) fn makespan<const N: usize>(state: &State<N>) -> Result<u64, OrderError> {
    if state.latest < MOST_PS { Ok(state.latest as u64) } else { Err(OrderError::TooLong) }
}

/// The state at time 0 with nothing started, and the sources that decide. Sources of one message have started it.
pub(crate) fn begin<const N: usize>(plan: &Plan) -> (State<N>, u64) {
    let mut state = State::new(plan);
    let mut deciding = 0;
    for source in 0..plan.sources {
        state.busy += 1;
        if plan.counts[source] == 1 {
            start_last::<N, true>(plan, &mut state, source);
        } else {
            deciding |= 1 << source;
        }
    }
    (state, deciding)
}

/// What receives the makespans of orders.
pub(crate) trait Sink {
    /// The order of this number, and its images under some symmetries (a bit each), take `makespan` ps.
    fn add(&mut self, makespan: u64, number: u128, images: u128);
}

/// A walk through all orders below a state; `PACED` as in [`advance`].
pub(crate) struct Walk<'p, const N: usize, const PACED: bool, R, S> {
    pub(crate) plan: &'p Plan,
    pub(crate) rates: R,
    pub(crate) sink: S,
    symmetry: &'p Symmetry,
    pub(crate) cancel: &'p AtomicBool,
    decided: Vec<State<N>>,
}

impl<'p, const N: usize, const PACED: bool, R: Rates<N>, S: Sink> Walk<'p, N, PACED, R, S> {
    pub(crate) fn new(plan: &'p Plan, rates: R, sink: S, symmetry: &'p Symmetry, cancel: &'p AtomicBool) -> Self {
        Self { plan, rates, sink, symmetry, cancel, decided: Vec::with_capacity(SIDE_BY_SIDE) }
    }

    /// Visits every order below a state in which all sources have started; [`Self::flush`] after the last.
    pub(crate) fn visit(&mut self, state: &mut State<N>) -> Result<(), Halt> {
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
    pub(crate) fn expand(&mut self, state: &mut State<N>, out: &mut Vec<State<N>>) -> Result<(), Halt> {
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
    fn decide<F>(&mut self, state: &State<N>, deciding: u64, each: &mut F) -> Result<(), Halt>
    where
        F: FnMut(&mut Self, &mut State<N>) -> Result<(), Halt>,
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
    pub(crate) fn flush(&mut self) -> Result<(), Halt> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Halt::Cancelled);
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
            self.sink.add(makespan(&state)?, state.number, state.images);
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

/// The makespan of one order, given as positions among each source's messages.
pub(crate) fn run<const N: usize, R: Rates<N>>(
    plan: &Plan,
    rates: &mut R,
    order: &[Vec<usize>],
) -> Result<u64, OrderError> {
    let mut state = State::<N>::new(plan);
    state.left = [0; N];
    for (source, sequence) in order.iter().enumerate() {
        state.busy += 1;
        state.start::<true>(plan, source, sequence[0], 0);
        state.left[source] = 1;
    }
    while state.busy > 0 {
        state.apply(rates.of(&state)?);
        state.now = state.next_end();
        if state.now == f64::INFINITY {
            return Err(OrderError::Stuck);
        }
        for (source, sequence) in order.iter().enumerate() {
            if state.end[source] == state.now && !state.resumes::<true>(plan, source) {
                state.finish(plan, source);
                let place = state.left[source] as usize;
                match sequence.get(place) {
                    Some(&message) => state.start::<true>(plan, source, message, place),
                    None => state.rest(plan, source),
                }
                state.left[source] += 1;
            }
        }
    }
    makespan(&state)
}
