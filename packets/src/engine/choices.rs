//! What port arbiters are asked, and the check of what they answer.

use weir_plugin_api::{CallError, GrantView, LinkId, SimTime};

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
        let port = &self.ports[out as usize];
        let asks = &self.asks[port.wire.first_slot as usize..];
        self.heads.extend(self.candidates.iter().map(|&slot| asks[slot as usize].head));
        let heads = &self.heads[first..];
        let ask = GrantView::new(LinkId(out), SimTime(now), heads, port.wire.stride);
        let which = port.arbiter as usize;
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
