//! Policies that serve the least of something.

use super::{GrantView, Granted, Head, PortArbiter, RoundRobin};

fn least<K: Ord>(heads: &[Head], key: impl Fn(&Head) -> K) -> u32 {
    heads.iter().min_by_key(|head| (key(head), head.slot)).map_or(u32::MAX, |head| head.slot)
}

/// Serves whose packet was ready at its source first: shares in proportion to what is offered, as equations (5) and (6) of
/// Martinasso et al., SC16, have them.
#[derive(Clone, Copy, Debug, Default)]
pub struct OldestFirst;

impl PortArbiter for OldestFirst {
    fn choose(&self, ask: &GrantView<'_>) -> u32 {
        least(ask.heads, |head| head.ready)
    }

    fn commit(&mut self, _: &Granted<'_>) {}

    fn state(&self, _: u32, _: &mut Vec<u64>) -> bool {
        true
    }
}

/// Serves whose packet became visible at this node first.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArrivalOrder;

impl PortArbiter for ArrivalOrder {
    fn choose(&self, ask: &GrantView<'_>) -> u32 {
        least(ask.heads, |head| head.visible)
    }

    fn commit(&mut self, _: &Granted<'_>) {}

    fn state(&self, _: u32, _: &mut Vec<u64>) -> bool {
        true
    }
}

/// Serves the lowest requester. It starves the others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fixed;

impl PortArbiter for Fixed {
    fn choose(&self, ask: &GrantView<'_>) -> u32 {
        least(ask.heads, |_| ())
    }

    fn commit(&mut self, _: &Granted<'_>) {}

    fn state(&self, _: u32, _: &mut Vec<u64>) -> bool {
        true
    }

    fn reads_age(&self) -> bool {
        false
    }
}

/// Serves the highest priority of a transfer; round robin among equals.
#[derive(Clone, Debug, Default)]
pub struct StrictPriority(RoundRobin);

impl PortArbiter for StrictPriority {
    fn choose(&self, ask: &GrantView<'_>) -> u32 {
        let highest = ask.heads.iter().map(|head| head.priority).max();
        let first = ask.heads.iter().filter(|head| Some(head.priority) == highest);
        self.0.next(ask.out, first)
    }

    fn commit(&mut self, granted: &Granted<'_>) {
        self.0.commit(granted);
    }

    fn state(&self, out: u32, to: &mut Vec<u64>) -> bool {
        self.0.state(out, to)
    }

    fn reads_age(&self) -> bool {
        false
    }
}
