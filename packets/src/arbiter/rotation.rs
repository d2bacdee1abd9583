//! `round-robin` and `weighted-round-robin`: in turn, by packets.
//!
//! **Definition.** Requesters stand in a circle in the order of their slots. `round-robin` serves the first one that asks
//! after the last one served; `weighted-round-robin` stays with a requester for up to as many packets in a row as its
//! weight says, and goes on when it does not ask.
//! **Ties.** None: the circle decides.
//! **Fairness.** Equal numbers of packets (weights: in proportion to them) among those that always ask, whatever their
//! sizes; work-conserving. Ignores priority and the weight of transfers.
//! **Source.** Nagle, *On Packet Switches with Infinite Storage*, RFC 970 (1985); with weights: Katevenis, Sidiropoulos,
//! Courcoubetis, *Weighted Round-Robin Cell Multiplexing*, IEEE JSAC 9(8), 1991.

use std::collections::BTreeMap;

use weir_plugin_api::{CallError, GrantView, Head, LinkId, NO_SLOT, PortArbiter, PortGrant};

use super::{PerOutput, after};

/// Serves the next requester after the last one served, by packet. With equal packets all requesters get equal shares.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    last: PerOutput<Option<u32>>,
}

impl RoundRobin {
    /// The slot next after the last one served, among these by ascending slot.
    pub(super) fn next<'h>(&self, out: LinkId, heads: impl Iterator<Item = &'h Head>) -> u32 {
        let last = self.last.get(out).copied().flatten();
        let mut slots = heads.map(|head| head.slot);
        let first = slots.next().unwrap_or(NO_SLOT);
        let is_next = |slot: u32| last.is_none_or(|last| slot > last);
        if is_next(first) { first } else { slots.find(|&slot| is_next(slot)).unwrap_or(first) }
    }
}

impl PortArbiter for RoundRobin {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
        Ok(self.next(ask.out, ask.heads.iter()))
    }

    fn commit(&mut self, granted: &PortGrant<'_>) -> Result<(), CallError> {
        *self.last.of(granted.out) = Some(granted.slot);
        Ok(())
    }

    fn state(&self, out: LinkId, to: &mut Vec<u64>) -> Result<bool, CallError> {
        to.push(self.last.get(out).copied().flatten().map_or(u64::MAX, u64::from));
        Ok(true)
    }
}

/// Round robin in which a requester is served up to its weight times in a row.
#[derive(Clone, Debug, Default)]
pub struct WeightedRoundRobin {
    weights: BTreeMap<(u32, u32), u32>,
    /// Who was served last, and how often in a row.
    turn: PerOutput<Option<(u32, u32)>>,
}

impl WeightedRoundRobin {
    /// `weights` by output and number in the channel; 1 for others.
    #[must_use]
    pub fn new(weights: BTreeMap<(u32, u32), u32>) -> Self {
        Self { weights, turn: PerOutput::default() }
    }
}

impl PortArbiter for WeightedRoundRobin {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
        let turn = self.turn.get(ask.out).copied().flatten();
        let goes_on = turn.filter(|&(slot, served)| {
            let head = ask.heads.iter().find(|head| head.slot == slot);
            head.is_some() && served < self.weights.get(&(ask.out.0, ask.place(slot))).copied().unwrap_or(1)
        });
        let next = || after(&ask.heads, turn.map(|turn| turn.0)).next().map_or(NO_SLOT, |head| head.slot);
        Ok(goes_on.map_or_else(next, |turn| turn.0))
    }

    fn commit(&mut self, granted: &PortGrant<'_>) -> Result<(), CallError> {
        let turn = self.turn.of(granted.out);
        let weight = self.weights.get(&(granted.out.0, granted.place(granted.slot))).copied().unwrap_or(1);
        let served = turn.filter(|turn| turn.0 == granted.slot && turn.1 < weight).map_or(0, |turn| turn.1);
        *turn = Some((granted.slot, served + 1));
        Ok(())
    }

    fn state(&self, out: LinkId, to: &mut Vec<u64>) -> Result<bool, CallError> {
        let (slot, served) = self.turn.get(out).copied().flatten().unwrap_or((u32::MAX, 0));
        to.extend([u64::from(slot), u64::from(served)]);
        Ok(true)
    }
}
