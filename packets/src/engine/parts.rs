//! Packets, queues, transfers and ports: what the engine keeps of each.

use super::sums::LinkSums;
use super::wires::Wire;
use super::{Held, NONE, reads, stalls};

/// A packet in a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// When it can be sent on, ps.
    pub(super) visible: u64,
    /// When it was ready at its source, ps.
    pub(super) ready: u64,
    pub(super) transfer: u32,
    /// Its transfer's.
    pub(super) priority: i32,
    pub(super) weight: f64,
    /// Bytes of payload that have not been sent on.
    pub(super) payload: u32,
    /// The packet behind it.
    pub(super) next: u32,
    /// The link that it waits for, and where in the list of routes that is.
    pub(super) out: u32,
    pub(super) place: u32,
    pub(super) channel: u16,
    /// Bytes of header, or [`OF_LINK`].
    pub(super) header: u16,
    /// Nothing of its transfer comes behind it.
    pub(super) is_last: bool,
}

/// Packets of one input and channel, and under `voq` of one output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub(super) first: u32,
    pub(super) last: u32,
}

/// Who has been first in a queue, as far as somebody waited behind: apart from queues, which are looked at far more often.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lead {
    /// Since when, ps: its first packet is the first, packets for one output have been first, and those of one transfer.
    pub(super) since: u64,
    pub(super) to_since: u64,
    pub(super) by_since: u64,
    /// For which output, and of which transfer, the packets were that left it last.
    pub(super) to: u32,
    by: u32,
}

impl Lead {
    pub(super) const NONE: Self = Self { since: 0, to_since: 0, by_since: 0, to: NONE, by: NONE };

    /// The first packet, which could be sent on since `visible`, has left over `out`: the one behind it is first from `free` on.
    #[inline]
    pub(super) fn pass(&mut self, visible: u64, free: u64, (out, by): (u32, u32)) {
        let since = self.since.max(visible);
        if self.to != out {
            (self.to, self.to_since) = (out, since);
            (self.by, self.by_since) = (by, since);
        } else if self.by != by {
            (self.by, self.by_since) = (by, since);
        }
        self.since = free;
    }
}

/// A transfer under way.
#[derive(Clone, Debug)]
pub(super) struct Transfer {
    /// Where its route is in the list of routes, the place after its last link included, and the first link.
    pub(super) route: (u32, u32),
    pub(super) first: u32,
    /// Bytes of payload.
    pub(super) bytes: u64,
    /// Of these, what has no packet yet.
    pub(super) left: u64,
    /// What has not come.
    pub(super) missing: u64,
    /// Of a full packet at its source, bytes.
    pub(super) payload: u32,
    pub(super) channel: u16,
    /// Bytes of header of its packets, or [`OF_LINK`].
    pub(super) header: u16,
    pub(super) engine: u32,
    pub(super) priority: i32,
    pub(super) weight: f64,
    pub(super) start: u64,
    pub(super) interval: u64,
    pub(super) window: u64,
    /// Packets that were granted at the source, and that have come.
    pub(super) granted: u64,
    pub(super) come: u64,
    /// Since when its window is full, and when it opened last.
    pub(super) shut: Option<u64>,
    pub(super) opened: u64,
    /// When its next packet is ready, and whether it asks to be sent.
    pub(super) ready: u64,
    pub(super) is_asking: bool,
    pub(super) held: stalls::Log,
    /// The longest wait of its last packet in a buffer on the way that is due to others.
    pub(super) queued: Option<Held>,
    /// What has been asked for, if it is a read.
    pub(super) read: Option<Box<reads::Asked>>,
}

impl Transfer {
    /// Since when its next packet can be sent, ps: ready, and in its window.
    pub(super) fn visible(&self) -> u64 {
        self.ready.max(self.opened)
    }

    /// When its limit allows the next packet, at the earliest.
    pub(super) fn due(&self) -> u64 {
        self.start.saturating_add(self.granted.saturating_mul(self.interval))
    }

    /// Bytes that come in one piece at the least for a window and for tags: a full packet, of a read what one request asks for.
    fn unit(&self) -> u64 {
        self.read.as_ref().map_or(u64::from(self.payload), |read| read.request)
    }

    /// Whether a unit has come with what is missing now, of what was `before`; the last one may be smaller.
    pub(super) fn has_completed(&self, before: u64) -> bool {
        self.missing == 0 || (self.bytes - before) / self.unit() != (self.bytes - self.missing) / self.unit()
    }

    /// Bytes that have come of the unit that is on its way.
    pub(super) fn part_come(&self) -> u64 {
        (self.bytes - self.missing) % self.unit()
    }
}

/// The far end of a link, where an input is serial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    /// Until when it sends.
    pub(super) busy_until: u64,
    /// The transfer that it sent last.
    pub(super) served: u32,
    /// The output that it accepted last; also where it is not serial.
    pub(super) accepted: u32,
}

/// What asks for an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Requester {
    Queue { queue: u32, input: u32 },
    Engine { node: u32, engine: u32 },
}

/// A link: its output, when that is free, and the input that it feeds. What grants read and change comes first, so that it
/// lies in few lines of the cache.
#[repr(C, align(64))]
pub(super) struct Port {
    pub(super) free_at: u64,
    /// When it looks again; [`u64::MAX`] for not yet known.
    pub(super) wake_at: u64,
    /// Since when it has been idle because nobody who asks has credit; [`u64::MAX`] for not at all.
    pub(super) starved_since: u64,
    pub(super) input: Input,
    /// Bytes in the buffer at its far end, or on their way to it, of all channels.
    pub(super) inside: u64,
    /// The transfer that sends, or was last to.
    pub(super) sending: u32,
    /// The one that sent until `sending` began; [`NONE`] where the link was idle then.
    pub(super) before: u32,
    /// The last other one that has sent since the link was idle; [`NONE`] for none.
    pub(super) other: u32,
    /// It begins to send nothing.
    pub(super) is_down: bool,
    /// Its last packet was a DLLP.
    pub(super) sent_dllp: bool,
    /// Someone asks who had no credit when it was looked at.
    pub(super) is_starved: bool,
    pub(super) is_marked: bool,
    /// How many ask for it.
    pub(super) asking: u32,
    /// Which of the arbiters serves it.
    pub(super) arbiter: u32,
    pub(super) wire: Wire,
    /// What has crossed it.
    pub(super) sums: LinkSums,
    /// Transfers whose packets wait here at their source for a reason that is not known yet.
    pub(super) unexplained: Vec<Unexplained>,
}

/// A wait that begins, or has begun, and whose reason is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unexplained {
    pub(super) since: u64,
    pub(super) transfer: u32,
}

impl Port {
    /// It is not, or no more, idle for want of credit.
    #[inline]
    pub(super) fn end_starved(&mut self, now: u64) {
        let since = std::mem::replace(&mut self.starved_since, u64::MAX);
        self.sums.counts.starved += now.saturating_sub(since);
    }

    /// Whether it looks again at `time`, and not earlier: an event is to be pending then.
    #[inline]
    pub(super) fn is_to_wake(&mut self, time: u64) -> bool {
        let is_earlier = time < self.wake_at;
        self.wake_at = self.wake_at.min(time);
        is_earlier
    }

    /// Looks up from `since` on why a transfer waits here at its source.
    pub(super) fn explain_later(&mut self, since: u64, id: u32) {
        match self.unexplained.iter_mut().find(|wait| wait.transfer == id) {
            Some(wait) => wait.since = since,
            None => self.unexplained.push(Unexplained { since, transfer: id }),
        }
    }

    /// One that has sent nothing yet.
    pub(super) fn idle(wire: Wire, arbiter: u32) -> Self {
        Self {
            free_at: 0,
            wake_at: u64::MAX,
            starved_since: u64::MAX,
            input: Input { busy_until: 0, served: NONE, accepted: NONE },
            inside: 0,
            sending: NONE,
            before: NONE,
            other: NONE,
            is_down: false,
            sent_dllp: false,
            is_starved: false,
            is_marked: false,
            asking: 0,
            arbiter,
            wire,
            sums: LinkSums::default(),
            unexplained: Vec::new(),
        }
    }

    /// From when on a packet of a transfer that starts here is held up: when the one before it has left.
    pub(super) fn own_end(&self, now: u64, id: u32) -> u64 {
        // A DLLP behind its packet has begun by now, so that the packet has left.
        if self.sending == id && !self.sent_dllp { self.free_at.max(now) } else { now }
    }
}
