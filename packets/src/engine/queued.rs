//! How long packets wait in buffers on their way, and for whom.
//!
//! A transfer ends when its last packet comes: what its source was not held up for, this packet has waited for on its way.

use super::grants::Asked;
use super::{Engine, Held, HeldCause, NONE, REQUESTS};

impl Engine {
    /// A packet leaves the buffer of its input over `out`: the last one of its transfer, or one of a queue for this output alone.
    /// Others have a part in its wait if they were sent on from the same input until now; in that of the last one also if they
    /// have sent over the link since this was last idle.
    pub(super) fn note_queued(&mut self, now: u64, out: u32, asked: &Asked) {
        let beside = self.ports[out as usize].other;
        let own = self.ports[asked.input as usize].input;
        let before = if own.busy_until < now { NONE } else { own.served };
        let is_other = |by: u32| by != NONE && (by ^ asked.transfer()) & !REQUESTS != 0;
        let (cause, link, by) = match (is_other(beside), is_other(before)) {
            (true, _) if asked.is_last => (HeldCause::Arbitration, out, Some(beside)),
            (false, true) => (HeldCause::HeadOfLine, out, Some(before)),
            _ if asked.is_last && self.has_dllps => return self.note_dllps(now, out, asked),
            _ => return,
        };
        let visible = asked.visible();
        if visible < now {
            self.keep_longest(asked.transfer(), Held { cause, link, by, time: now - visible });
        }
    }

    /// The last packet of a transfer leaves a buffer over `out`: since the link was idle, none but DLLPs and its own packets
    /// went over it.
    fn note_dllps(&mut self, now: u64, out: u32, asked: &Asked) {
        let passed = self.dllps[out as usize].passed.saturating_mul(self.ports[out as usize].wire.dllp_time);
        let time = passed.min(now.saturating_sub(asked.visible()));
        if time > 0 {
            self.keep_longest(asked.transfer(), Held { cause: HeldCause::Dllp, link: out, by: None, time });
        }
    }

    /// A packet can leave its queue from `free` on: the one before it, of transfer `by` and over `out`, has left by then.
    pub(super) fn note_blocked(&mut self, free: u64, packet: u32, (out, by): (u32, u32)) {
        let packet = &self.packets[packet as usize];
        let id = packet.transfer;
        if packet.out != out && packet.visible < free && (by ^ id) & !REQUESTS != 0 {
            let time = free - packet.visible;
            self.keep_longest(id, Held { cause: HeldCause::HeadOfLine, link: out, by: Some(by), time });
        }
    }

    /// Requests count for the read that they ask for.
    fn keep_longest(&mut self, id: u32, wait: Held) {
        let queued = &mut self.transfer_mut(id & !REQUESTS).queued;
        if queued.is_none_or(|longest| wait.time > longest.time) {
            *queued = Some(Held { by: wait.by.map(|by| by & !REQUESTS), ..wait });
        }
    }
}
