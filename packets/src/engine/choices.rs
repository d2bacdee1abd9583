//! What port arbiters are asked, and the check of what they answer.

use weir_plugin_api::{CallError, GrantView, Head, LinkId, SimTime, TransferId};

use super::{Engine, PacketError};

/// What the arbiter of a link answers instead.
pub(super) fn failed(link: u32, error: CallError) -> PacketError {
    PacketError::Arbiter { link, error }
}

impl Engine {
    /// Asks an output's arbiter for one of the candidates; for a sample of each arbiter's answers, the first, the second, the
    /// fourth and so on, it asks again.
    pub(super) fn choose(&mut self, now: u64, out: u32) -> Result<u32, PacketError> {
        let first = self.heads.len();
        for at in 0..self.candidates.len() {
            let head = self.head(out, self.candidates[at]);
            self.heads.push(head);
        }
        let (heads, requesters) = (&self.heads[first..], self.wires[out as usize].stride);
        let ask = GrantView::new(LinkId(out), SimTime(now), heads, requesters);
        let which = self.arbiter_of[out as usize] as usize;
        let arbiter = &self.arbiters[which];
        let slot = arbiter.choose(&ask).map_err(|error| failed(out, error))?;
        self.choices[which] += 1;
        if self.choices[which].is_power_of_two() {
            let again = arbiter.choose(&ask).map_err(|error| failed(out, error))?;
            if again != slot {
                return Err(PacketError::Impure { link: out, slot, again });
            }
        }
        if heads.iter().any(|head| head.slot == slot) { Ok(slot) } else { Err(PacketError::Slot { link: out, slot }) }
    }

    /// A requester as its output's arbiter sees it.
    fn head(&self, out: u32, slot: u32) -> Head {
        let asked = self.asked(out, slot);
        let (ready, visible) = self.ready_and_visible(asked);
        let of = self.transfer(asked.transfer);
        Head {
            slot,
            channel: u32::from(asked.channel),
            bytes: asked.bytes,
            payload: asked.piece,
            ready: SimTime(ready),
            visible: SimTime(visible),
            transfer: TransferId(asked.transfer),
            priority: of.priority,
            weight: of.weight,
        }
    }
}
