//! The tree of decisions: a source decides when it becomes free with two or more messages left; sources that become
//! free at the same picosecond decide together. Orders that agree so far share their past. How long a source pauses
//! depends on what it sends next, so that it decides before the pause.

use super::plan::Plan;
use super::rates::{Memo, Rates};
use super::state::{MOST_PS, State};
use crate::order::problem::limits::{MOST_DECIDING, MOST_LEFT};
use crate::order::problem::{OrderError, OrderProblem};

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

/// The makespan of the workload's own order.
pub(crate) fn run_own<const N: usize>(problem: &OrderProblem<'_>, plan: &Plan) -> Result<u64, OrderError> {
    run::<N, _>(plan, &mut Memo::new(problem, plan, Vec::new())?, &plan.own_order())
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
