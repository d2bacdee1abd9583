//! `oldest-first`, `arrival-order`, `fixed` and `strict-priority`: policies that serve the least of something.
//!
//! **Definition.** Served is who has the least time of being ready at its source (`oldest-first`), the least time of
//! becoming visible at this node (`arrival-order`), the lowest slot (`fixed`), or the highest priority of a transfer, in
//! turn among equals (`strict-priority`).
//! **Ties.** The lowest slot; under `strict-priority` the circle of `round-robin`.
//! **Fairness.** `oldest-first`: shares in proportion to what is offered. `arrival-order`: as its inputs bring packets.
//! `fixed` and `strict-priority` starve who comes last. All are work-conserving. Only `strict-priority` reads priorities.
//! **Source.** `oldest-first`: the shares are equations (5) and (6) of Martinasso et al., SC16. `arrival-order` is first
//! come, first served; strict priority is a service class of PCI Express (Base Specification, section 6.3).

use weir_plugin_api::{CallError, GrantView, Head, LinkId, NO_SLOT, PortArbiter, PortGrant};

use super::RoundRobin;

fn least<K: Ord>(ask: &GrantView<'_>, key: impl Fn(&Head) -> K) -> u32 {
    ask.heads.iter().min_by_key(|head| (key(head), head.slot)).map_or(NO_SLOT, |head| head.slot)
}

/// Serves whose packet was ready at its source first: shares in proportion to what is offered, as equations (5) and (6) of
/// Martinasso et al., SC16, have them.
#[derive(Clone, Copy, Debug, Default)]
pub struct OldestFirst;

impl PortArbiter for OldestFirst {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
        Ok(least(ask, |head| head.ready))
    }

    fn commit(&mut self, _: &PortGrant<'_>) -> Result<(), CallError> {
        Ok(())
    }

    fn state(&self, _: LinkId, _: &mut Vec<u64>) -> Result<bool, CallError> {
        Ok(true)
    }
}

/// Serves whose packet became visible at this node first.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArrivalOrder;

impl PortArbiter for ArrivalOrder {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
        Ok(least(ask, |head| head.visible))
    }

    fn commit(&mut self, _: &PortGrant<'_>) -> Result<(), CallError> {
        Ok(())
    }

    fn state(&self, _: LinkId, _: &mut Vec<u64>) -> Result<bool, CallError> {
        Ok(true)
    }
}

/// Serves the lowest requester. It starves the others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fixed;

impl PortArbiter for Fixed {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
        Ok(least(ask, |_| ()))
    }

    fn commit(&mut self, _: &PortGrant<'_>) -> Result<(), CallError> {
        Ok(())
    }

    fn state(&self, _: LinkId, _: &mut Vec<u64>) -> Result<bool, CallError> {
        Ok(true)
    }
}

/// Serves the highest priority of a transfer; round robin among equals.
#[derive(Clone, Debug, Default)]
pub struct StrictPriority(RoundRobin);

impl PortArbiter for StrictPriority {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
        let highest = ask.heads.iter().map(|head| head.priority).max();
        let first = ask.heads.iter().filter(|head| Some(head.priority) == highest);
        Ok(self.0.next(ask.out, first))
    }

    fn commit(&mut self, granted: &PortGrant<'_>) -> Result<(), CallError> {
        self.0.commit(granted)
    }

    fn state(&self, out: LinkId, to: &mut Vec<u64>) -> Result<bool, CallError> {
        self.0.state(out, to)
    }
}
