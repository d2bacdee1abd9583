//! One order under change: its run is kept event by event, so that a changed order restarts where it first differs.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::order::bounds::potentials::{Potentials, lone_times};
use crate::order::problem::{OrderError, OrderProblem};
use crate::order::run::plan::Plan;
use crate::order::run::rates::Memo;
use crate::order::run::state::State;
use crate::order::run::tree::makespan;

/// Lanes up to which [`MANY_SETS`] are kept, because sets are met again after a long time; *assumed*, between the 16 and
/// the 64 sources that were measured.
const FEW: usize = 32;
/// Sets that are kept with more lanes (measured with 64 sources: 2^10 to 2^18 make no difference, as a set is met again at
/// once or never, and small tables stay in the cache).
const FEW_SETS: usize = 1 << 12;
/// Sets that are kept with [`FEW`] lanes (measured with 16 sources: from 2^12 on no difference).
const MANY_SETS: usize = 1 << 16;

/// Two messages of a source that change places in its order.
#[derive(Clone, Copy)]
pub(crate) struct Swap {
    pub(crate) source: usize,
    pub(crate) places: (usize, usize),
}

/// The current order with its run, and the one that is tried.
pub(crate) struct Chain<'p, 'a, const N: usize> {
    plan: &'p Plan,
    memo: Memo<'p, 'a, N>,
    potentials: &'p Potentials,
    /// Per source its messages in the order of sending.
    pub(crate) order: Vec<Vec<usize>>,
    /// Makespan of `order`, ps.
    pub(crate) makespan: u64,
    /// Per message (by [`Plan::message`]) its time at the highest rate it can have, ps.
    lone: Vec<f64>,
    /// Per source and place: the lone times from there on, and the gaps between.
    left: Vec<Vec<f64>>,
    /// After each event of the current run: the state with its rates.
    kept: Vec<State<N>>,
    /// After each event the loss so far of each potential, ps; rows of their number.
    kept_losses: Vec<f64>,
    /// Per source and place: the event at which it starts.
    starts: Vec<Vec<usize>>,
    tried: Vec<State<N>>,
    tried_losses: Vec<f64>,
    losses: Vec<f64>,
    tried_starts: Vec<Vec<usize>>,
    cancel: &'p AtomicBool,
}

impl<'p, 'a, const N: usize> Chain<'p, 'a, N> {
    /// A chain without an order yet.
    pub(crate) fn new(
        problem: &'p OrderProblem<'a>,
        plan: &'p Plan,
        potentials: &'p Potentials,
        cancel: &'p AtomicBool,
    ) -> Result<Self, OrderError> {
        let room = if N > FEW { FEW_SETS } else { MANY_SETS };
        let memo = Memo::with_room(problem, plan, potentials.weights.clone(), room)?;
        Ok(Self {
            plan,
            memo,
            potentials,
            losses: vec![0.0; potentials.roots.len()],
            kept_losses: Vec::new(),
            tried_losses: Vec::new(),
            left: plan.counts.iter().map(|&n| vec![0.0; n]).collect(),
            starts: plan.counts.iter().map(|&n| vec![0; n]).collect(),
            tried_starts: plan.counts.iter().map(|&n| vec![0; n]).collect(),
            lone: lone_times(problem, plan),
            order: Vec::new(),
            makespan: 0,
            kept: Vec::new(),
            tried: Vec::new(),
            cancel,
        })
    }

    /// Goes on from another order; its makespan, none when cut off.
    pub(crate) fn restart(&mut self, order: Vec<Vec<usize>>) -> Result<Option<u64>, OrderError> {
        self.order = order;
        (0..self.plan.sources).for_each(|s| self.count_left(s));
        let makespan = self.run(0, f64::INFINITY)?;
        self.take(0, makespan.unwrap_or(u64::MAX));
        Ok(makespan)
    }

    /// Goes over to another order if its makespan is at most `limit`, and says so.
    pub(crate) fn replace(&mut self, order: Vec<Vec<usize>>, limit: f64) -> Result<bool, OrderError> {
        let Some(first) = self.parts(&order) else { return Ok(self.makespan as f64 <= limit) };
        let before = std::mem::replace(&mut self.order, order);
        (0..self.plan.sources).for_each(|s| self.count_left(s));
        if let Some(makespan) = self.run(first, limit)? {
            self.take(first, makespan);
            return Ok(true);
        }
        self.order = before;
        (0..self.plan.sources).for_each(|s| self.count_left(s));
        Ok(false)
    }

    /// The event at which another order starts something else; none when it is the same.
    fn parts(&self, order: &[Vec<usize>]) -> Option<usize> {
        let differs = |s: usize| (0..order[s].len()).find(|&place| order[s][place] != self.order[s][place]);
        (0..order.len()).filter_map(|s| differs(s).map(|place| self.starts[s][place])).min()
    }

    /// Swaps messages. Keeps the change if the makespan is at most `limit`, and says so.
    pub(crate) fn swap(&mut self, swaps: &[Swap], limit: f64) -> Result<bool, OrderError> {
        let start = |swap: &Swap| self.starts[swap.source][swap.places.0.min(swap.places.1)];
        let first = swaps.iter().map(start).min().unwrap_or(0);
        swaps.iter().for_each(|swap| self.exchange(swap));
        if let Some(makespan) = self.run(first, limit)? {
            self.take(first, makespan);
            return Ok(true);
        }
        swaps.iter().rev().for_each(|swap| self.exchange(swap));
        Ok(false)
    }

    fn exchange(&mut self, swap: &Swap) {
        self.order[swap.source].swap(swap.places.0, swap.places.1);
        self.count_left(swap.source);
    }

    fn count_left(&mut self, source: usize) {
        let mut sum = 0.0;
        for (left, &m) in self.left[source].iter_mut().zip(&self.order[source]).rev() {
            sum += self.lone[self.plan.message(source, m)];
            *left = sum;
            sum += self.plan.gap(source, m);
        }
    }

    /// The tried run becomes the current one.
    fn take(&mut self, first: usize, makespan: u64) {
        self.makespan = makespan;
        self.kept.truncate(first);
        self.kept.append(&mut self.tried);
        self.kept_losses.truncate(first * self.losses.len());
        self.kept_losses.append(&mut self.tried_losses);
        self.starts.clone_from(&self.tried_starts);
    }

    /// Runs the order from an event on, up to which the current run is the same. None when it must take longer than
    /// `limit`, or is cut off.
    fn run(&mut self, first: usize, limit: f64) -> Result<Option<u64>, OrderError> {
        self.tried.clear();
        self.tried_losses.clear();
        self.tried_starts.clone_from(&self.starts);
        let mut state = self.resume(first);
        let mut event = first;
        if first > 0 && !self.event(&mut state, event, limit)? {
            return Ok(None);
        }
        while state.busy > 0 {
            if cancelled(self.cancel) {
                return Ok(None);
            }
            let at = self.memo.find(&state)?;
            state.apply(self.memo.rates(at));
            self.tried.push(state.clone());
            self.tried_losses.extend_from_slice(&self.losses);
            event += 1;
            if self.next_bound(at, &state) > limit || !self.event(&mut state, event, limit)? {
                return Ok(None);
            }
        }
        let makespan = makespan(&state)?;
        Ok((makespan as f64 <= limit).then_some(makespan))
    }

    /// The state after the event before `first`, from the current run.
    fn resume(&mut self, first: usize) -> State<N> {
        let Some(before) = first.checked_sub(1) else {
            self.losses.fill(0.0);
            return self.begin();
        };
        let (state, count) = (self.kept[before].clone(), self.losses.len());
        self.losses.copy_from_slice(&self.kept_losses[before * count..first * count]);
        // What the phase after that event loses.
        let at = self.memo.find(&state);
        if let Ok(at) = at {
            self.next_bound(at, &state);
        }
        state
    }

    /// Adds the loss of the phase up to the next event; no run that begins so is done before the time returned.
    fn next_bound(&mut self, at: usize, state: &State<N>) -> f64 {
        let span = state.next_end() - state.now;
        let mut most = 0.0;
        let rates = self.memo.losses(at);
        for ((loss, &rate), &root) in self.losses.iter_mut().zip(rates).zip(&self.potentials.roots) {
            *loss += rate * span;
            let bound = root + *loss;
            most = if bound > most { bound } else { most };
        }
        // Sums in f64 round; a run that ends on the bound must not be lost.
        most * (1.0 - 1e-12) + self.potentials.latency
    }

    fn begin(&mut self) -> State<N> {
        let mut state = State::<N>::new(self.plan);
        for (source, sequence) in self.order.iter().enumerate() {
            state.busy += 1;
            state.left[source] = 1;
            state.start::<true>(self.plan, source, sequence[0], 0);
            self.tried_starts[source][0] = 0;
        }
        state
    }

    /// The next ends and starts; false when some source cannot be done by `limit`.
    fn event(&mut self, state: &mut State<N>, event: usize, limit: f64) -> Result<bool, OrderError> {
        state.now = state.next_end();
        if state.now == f64::INFINITY {
            return Err(OrderError::Stuck);
        }
        for base in (0..N).step_by(64) {
            let mut ended = state.ended(state.now, base);
            while ended != 0 {
                let source = base + ended.trailing_zeros() as usize;
                ended &= ended - 1;
                if state.resumes::<true>(self.plan, source) {
                    continue;
                }
                state.finish(self.plan, source);
                let place = state.left[source] as usize;
                state.left[source] += 1;
                let Some(&message) = self.order[source].get(place) else {
                    state.rest(self.plan, source);
                    continue;
                };
                state.start::<true>(self.plan, source, message, place);
                self.tried_starts[source][place] = event;
                // A pause ends when the message begins.
                let begin = if state.next[source] == 0 { state.now } else { state.end[source] };
                if begin + self.left[source][place] > limit {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

pub(crate) fn cancelled(cancel: &AtomicBool) -> bool {
    cancel.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::random_on_t2;

    /// Two sources change, each at another place: the run goes on from the earlier of the two events, and one that is
    /// refused leaves the chain as it was.
    #[test]
    fn another_order_is_run_from_where_it_first_differs() {
        let world = random_on_t2(4, 3, "max-min");
        let (problem, go) = (world.problem(), AtomicBool::new(false));
        let plan = Plan::new(&problem);
        let potentials = Potentials::new(&problem, &plan).strongest(4);
        let mut chain = Chain::<8>::new(&problem, &plan, &potentials, &go).expect("rates");
        let simulated = |order: &[Vec<usize>]| world.simulate(&problem.named(order));
        let mut order = plan.own_order();
        chain.restart(order.clone()).expect("no error");
        for (first, second, limit) in [(0, 3, f64::INFINITY), (5, 2, f64::INFINITY), (1, 6, 0.0), (4, 7, f64::INFINITY)]
        {
            let mut other = order.clone();
            other[first].swap(2, 3);
            other[second].swap(0, 1);
            assert_eq!(chain.replace(other.clone(), limit), Ok(limit > 0.0));
            if limit > 0.0 {
                order = other;
            }
            assert_eq!((chain.makespan, &chain.order), (simulated(&order), &order));
        }
    }
}
