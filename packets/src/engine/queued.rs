//! How long packets wait in buffers on their way, and for whom.
//!
//! A transfer ends when its last packet comes: what its source was not held up for, this packet has waited for on its way.

use super::grants::Asked;
use super::{Engine, Held, HeldCause, NONE, REQUESTS};

impl Engine {
    /// A packet leaves the buffer of its input over `out`: the last one of its transfer, a request, or one of a queue for this
    /// output alone. Others have a part in its wait if they were sent on from the same input until now; in that of the last one, or
    /// of a request, also if they have sent over the link since this was last idle. What it waited for packets before it that went
    /// elsewhere is not part of that.
    pub(super) fn note_queued(&mut self, now: u64, out: u32, asked: &Asked) {
        let is_alone = asked.is_last || asked.transfer() >= REQUESTS;
        let beside = self.ports[out as usize].other;
        let own = self.ports[asked.input as usize].input;
        let before = if own.busy_until < now { NONE } else { own.served };
        let is_other = |by: u32| by != NONE && (by ^ asked.transfer()) & !REQUESTS != 0;
        let (cause, link, by) = match (is_other(beside), is_other(before)) {
            (true, _) if is_alone => (HeldCause::Arbitration, out, Some(beside)),
            (false, true) => (HeldCause::HeadOfLine, own.accepted, Some(before)),
            _ if is_alone && self.has_dllps => return self.note_dllps(now, out, asked),
            _ => return,
        };
        let lead = &self.leads[asked.from as usize];
        let since = if lead.to == out { lead.to_since } else { lead.since };
        let time = now.saturating_sub(asked.visible().max(since));
        self.note_wait(now, asked.transfer(), Held { cause, link, by, time });
    }

    /// The last packet of a transfer leaves a buffer over `out`: since the link was idle, none but DLLPs and its own packets
    /// went over it.
    fn note_dllps(&mut self, now: u64, out: u32, asked: &Asked) {
        let passed = self.dllps[out as usize].passed.saturating_mul(self.ports[out as usize].wire.dllp_time);
        let time = passed.min(now.saturating_sub(asked.visible()));
        self.note_wait(now, asked.transfer(), Held { cause: HeldCause::Dllp, link: out, by: None, time });
    }

    /// The first packet of a queue can leave it from `free` on: those before it, of transfer `by` and over `out`, have left by then.
    pub(super) fn note_blocked(&mut self, free: u64, (queue, first): (u32, u32), (out, by): (u32, u32)) {
        let by_since = self.leads[queue as usize].by_since;
        let packet = &self.packets[first as usize];
        let id = packet.transfer;
        if packet.out != out && (by ^ id) & !REQUESTS != 0 {
            let time = free.saturating_sub(packet.visible.max(by_since));
            self.note_wait(free, id, Held { cause: HeldCause::HeadOfLine, link: out, by: Some(by), time });
        }
    }

    /// Keeps a wait that ends at `now` if it is the longest one. A request counts for its read if that had nothing else to send.
    fn note_wait(&mut self, now: u64, id: u32, wait: Held) {
        if wait.time == 0 {
            return;
        }
        if id >= REQUESTS {
            let reason = (wait.cause, wait.link, wait.by.unwrap_or(NONE));
            return self.request_waited(now, id, (reason, wait.time));
        }
        let queued = &mut self.transfer_mut(id).queued;
        if queued.is_none_or(|longest| wait.time > longest.time) {
            *queued = Some(Held { by: wait.by.map(|by| by & !REQUESTS), ..wait });
        }
    }
}
