//! What port arbiters are asked, and the check of what they answer.

use weir_plugin_api::{CallError, GrantView, LinkId, SimTime, TransferId};

use super::{Engine, PacketError, REQUESTS};

/// What the arbiter of a link answers instead.
pub(super) fn failed(link: u32, error: CallError) -> PacketError {
    PacketError::Arbiter { link, error }
}

impl Engine {
    /// Asks an output's arbiter for one of the heads from `first` on; for a sample of each arbiter's answers, the first, the second, the
    /// fourth and so on, it asks again.
    pub(super) fn choose(&mut self, now: u64, out: u32, first: usize) -> Result<u32, PacketError> {
        for head in &mut self.heads[first..] {
            let TransferId(id) = head.transfer;
            let transfer = if id < REQUESTS { &self.transfers } else { &self.requests };
            let transfer = transfer[(id & !REQUESTS) as usize].as_ref();
            (head.priority, head.weight) = transfer.map_or((0, 1.0), |of| (of.priority, of.weight));
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
}
