//! `deficit-round-robin`: in turn, by bytes.
//!
//! **Definition.** Requesters are visited in a circle in the order of their slots. A visit adds a quantum of bytes, times
//! the requester's weight, to its deficit; it sends while that covers its packet, which is taken from it. Who is absent,
//! or alone, has a deficit of 0.
//! **Ties.** None: the circle decides.
//! **Fairness.** Equal bytes (weights: in proportion to them) among those that always ask, within a packet and a quantum;
//! work-conserving. Ignores priority and the weight of transfers.
//! **Source.** Shreedhar, Varghese, *Efficient Fair Queuing Using Deficit Round-Robin*, IEEE/ACM Trans. Networking 4(3),
//! 1996.

use std::collections::BTreeMap;

use weir_plugin_api::{CallError, GrantView, Head, LinkId, NO_SLOT, PortArbiter, PortGrant, SimTime};

use super::{PerOutput, after};

/// Round robin in which each visit adds a quantum of bytes to a requester's deficit, and it sends while that suffices. Who is
/// absent, or alone, has a deficit of 0.
#[derive(Clone, Debug)]
pub struct DeficitRoundRobin {
    quantum: u64,
    weights: BTreeMap<(u32, u32), u32>,
    ports: PerOutput<Port>,
    /// Deficits after a grant, before they take the place of those before it.
    spare: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
struct Port {
    last: Option<u32>,
    /// By slot; 0 for those missing.
    deficits: Vec<u64>,
}

impl Port {
    fn deficit(&self, slot: u32) -> u64 {
        self.deficits.get(slot as usize).copied().unwrap_or(0)
    }
}

/// The head that is served next, and how many visits of the round it takes.
struct Next<'h> {
    head: &'h Head,
    /// Its place in the order of visits.
    place: usize,
    visits: u64,
}

impl DeficitRoundRobin {
    /// A `quantum` of bytes, at least 1, times the weights by output and number in the channel; 1 for others.
    #[must_use]
    pub fn new(quantum: u64, weights: BTreeMap<(u32, u32), u32>) -> Self {
        Self { quantum: quantum.max(1), weights, ports: PerOutput::default(), spare: Vec::new() }
    }

    fn quantum(&self, ask: &GrantView<'_>, head: &Head) -> u64 {
        let weight = self.weights.get(&(ask.out.0, ask.place(head.slot))).copied().unwrap_or(1);
        self.quantum.saturating_mul(u64::from(weight.max(1)))
    }

    fn next<'h>(&self, ask: &GrantView<'h>) -> Option<Next<'h>> {
        let nothing = Port::default();
        let (heads, port) = (ask.heads.as_slice(), self.ports.get(ask.out).unwrap_or(&nothing));
        let deficit = |head: &Head| port.deficit(head.slot);
        let goes_on = heads.iter().find(|head| Some(head.slot) == port.last);
        if let Some(head) = goes_on.filter(|head| deficit(head) >= u64::from(head.bytes)) {
            return Some(Next { head, place: 0, visits: 0 });
        }
        let visits =
            |head: &Head| u64::from(head.bytes).saturating_sub(deficit(head)).div_ceil(self.quantum(ask, head)).max(1);
        let visited = after(heads, port.last).enumerate();
        let next = visited.map(|(place, head)| Next { head, place, visits: visits(head) });
        next.min_by_key(|next| (next.visits, next.place))
    }
}

impl PortArbiter for DeficitRoundRobin {
    fn choose(&self, ask: &GrantView<'_>) -> Result<u32, CallError> {
        Ok(self.next(ask).map_or(NO_SLOT, |next| next.head.slot))
    }

    fn commit(&mut self, granted: &PortGrant<'_>) -> Result<(), CallError> {
        let (out, slot) = (granted.out, granted.slot);
        let ask = &GrantView::new(out, SimTime::ZERO, granted.heads.as_slice(), granted.requesters);
        let last = self.ports.of(out).last;
        let mut deficits = std::mem::take(&mut self.spare);
        deficits.clear();
        if let Some(next) = self.next(ask).filter(|next| next.head.slot == slot) {
            deficits.resize(granted.heads.last().map_or(0, |head| head.slot as usize + 1), 0);
            let before = self.ports.get(out).map_or(&[][..], |port| &port.deficits);
            for (place, head) in after(&granted.heads, last).enumerate() {
                let visits = if place <= next.place { next.visits } else { next.visits.saturating_sub(1) };
                let at = head.slot as usize;
                deficits[at] = before.get(at).copied().unwrap_or(0);
                deficits[at] = deficits[at].saturating_add(self.quantum(ask, head).saturating_mul(visits));
            }
            deficits[slot as usize] = deficits[slot as usize].saturating_sub(u64::from(granted.bytes));
        }
        let port = self.ports.of(out);
        port.last = Some(slot);
        self.spare = std::mem::replace(&mut port.deficits, deficits);
        Ok(())
    }

    fn state(&self, out: LinkId, to: &mut Vec<u64>) -> Result<bool, CallError> {
        if let Some(port) = self.ports.get(out) {
            to.push(port.last.map_or(u64::MAX, u64::from));
            let deficits = (0..).zip(&port.deficits).filter(|(_, deficit)| **deficit > 0);
            to.extend(deficits.flat_map(|(slot, &deficit): (u64, _)| [slot, deficit]));
        }
        Ok(true)
    }
}
