//! What limited each transfer: the link at which it lost most, and why.
//!
//! Under each binding a transfer loses what it could have sent at full rate less what it sent. The link with the largest
//! loss is its bottleneck, the cause with the largest loss there is the reason; a transfer that lost nothing gets the
//! binding it had for the longest time.

use weir_plugin_api::{Binding, PS_PER_S, SimDuration, SimTime};

use crate::outcome::Bottleneck;
use crate::store::NO_BOTTLENECK;

/// Losses below this part of the bytes sent at full rate are rounding (assumed).
const NO_LOSS: f64 = 1e-9;

/// What passed under one binding.
#[derive(Clone, Copy, Debug)]
struct Interval {
    binding: Binding,
    time: SimDuration,
    bytes: f64,
}

impl Interval {
    /// Bytes that a transfer could have sent more at rate `full`; 0 within rounding.
    fn loss(&self, full: f64) -> f64 {
        let could = full * self.time.0 as f64 / PS_PER_S as f64;
        let loss = could - self.bytes;
        if loss > NO_LOSS * could { loss } else { 0.0 }
    }
}

#[derive(Clone, Debug)]
struct SlotLog {
    /// As the arbiter gave it, to notice a change.
    answered: Binding,
    /// With the link resolved and `by` as a task id.
    current: Binding,
    since: SimTime,
    /// Bytes left at `since`.
    left: f64,
    past: Vec<Interval>,
}

/// Per slot: the binding in force since when, and what passed under earlier ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct BottleneckLog {
    slots: Vec<SlotLog>,
}

impl BottleneckLog {
    pub(crate) fn add_slot(&mut self) {
        let none = Binding::NONE;
        self.slots.push(SlotLog { answered: none, current: none, since: SimTime::NEVER, left: 0.0, past: Vec::new() });
    }

    /// Whether this binding is another one than before (link or cause; a new culprit alone is not). Always true before
    /// the first one.
    #[inline]
    pub(crate) fn differs(&self, slot: u32, answered: &Binding) -> bool {
        let slot_log = &self.slots[slot as usize];
        slot_log.since.is_never()
            || (slot_log.answered.link, slot_log.answered.cause) != (answered.link, answered.cause)
            || answered.link.is_none()
    }

    /// The binding from `now` on; `left` are the bytes left at `now`.
    pub(crate) fn change(&mut self, slot: u32, now: SimTime, left: f64, answered: Binding, current: Binding) {
        let slot_log = &mut self.slots[slot as usize];
        if slot_log.since.is_never() {
            (slot_log.since, slot_log.left) = (now, left);
        } else if (slot_log.current.link, slot_log.current.cause) != (current.link, current.cause) {
            slot_log.bank(now, left);
        }
        slot_log.answered = answered;
        slot_log.current = current;
    }

    pub(crate) fn current(&self, slot: u32) -> Binding {
        self.slots[slot as usize].current
    }

    /// What limited the transfer most, the first of equals, but for `blocked`; empties the slot. `full` is the rate it
    /// could have had.
    pub(crate) fn close(&mut self, slot: u32, now: SimTime, left: f64, full: f64) -> Bottleneck {
        let slot_log = &mut self.slots[slot as usize];
        let bottleneck = |binding, time| Bottleneck { binding, time, ..NO_BOTTLENECK };
        let worst = if slot_log.since.is_never() {
            bottleneck(slot_log.current, SimDuration::ZERO)
        } else if slot_log.past.is_empty() {
            bottleneck(slot_log.current, now - slot_log.since)
        } else {
            slot_log.bank(now, left);
            worst(&slot_log.past, full)
        };
        (slot_log.answered, slot_log.current, slot_log.since) = (Binding::NONE, Binding::NONE, SimTime::NEVER);
        slot_log.past.clear();
        worst
    }
}

impl SlotLog {
    /// Adds what passed since the last change to the binding in force.
    fn bank(&mut self, now: SimTime, left: f64) {
        let (binding, time, bytes) = (self.current, now - self.since, self.left - left);
        (self.since, self.left) = (now, left);
        let same = |s: &&mut Interval| (s.binding.link, s.binding.cause) == (binding.link, binding.cause);
        match self.past.iter_mut().find(same) {
            Some(interval) => {
                interval.time = interval.time.plus(time);
                interval.bytes += bytes;
            }
            None => self.past.push(Interval { binding, time, bytes }),
        }
    }
}

/// Of all intervals: the link with the largest loss, and there the interval with the largest loss.
fn worst(past: &[Interval], full: f64) -> Bottleneck {
    let on_link = |interval: &Interval| -> f64 {
        past.iter().filter(|s| s.binding.link == interval.binding.link).map(|s| s.loss(full)).sum()
    };
    let rank = |s: &Interval| (on_link(s), s.loss(full), s.time.0 as f64);
    let first = &past[0];
    let (best, _) = past[1..].iter().fold((first, rank(first)), |(best, highest), interval| {
        let rank = rank(interval);
        if rank > highest { (interval, rank) } else { (best, highest) }
    });
    Bottleneck { binding: best.binding, time: best.time, ..NO_BOTTLENECK }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_plugin_api::{Cause, LinkId};

    fn binding(link: u32) -> Binding {
        Binding::new(LinkId(link), Cause::SharedLink, 9)
    }

    /// A transfer of 100 bytes that could send 1 byte per ps.
    const FULL: f64 = PS_PER_S as f64;

    fn change(log: &mut BottleneckLog, time: u64, left: f64, link: u32) {
        assert!(log.differs(0, &binding(link)));
        log.change(0, SimTime(time), left, binding(link), binding(link));
        assert!(!log.differs(0, &binding(link)));
    }

    /// Of 3 GB in a second, 0.3 bytes are a part of 1e-10 and 30 bytes one of 1e-8.
    #[test]
    fn a_loss_below_a_billionth_is_rounding() {
        let sent = |bytes| Interval { binding: binding(1), time: SimDuration(PS_PER_S), bytes };
        assert_eq!(sent(3e9 - 0.3).loss(3e9), 0.0);
        assert_eq!(sent(3e9 - 30.0).loss(3e9), 30.0);
    }

    #[test]
    fn the_largest_loss_wins_even_in_pieces() {
        let mut log = BottleneckLog::default();
        log.add_slot();
        // Link 1 for 4 + 3 ps at 1/2 (3.5 lost), link 2 for 6 + 2 ps at 3/4 (2 lost).
        for (time, left, link) in [(10, 100.0, 1), (14, 98.0, 2), (20, 93.5, 1), (23, 92.0, 2)] {
            change(&mut log, time, left, link);
        }
        let b = log.close(0, SimTime(25), 90.5, FULL);
        assert_eq!((b.binding.link, b.time), (LinkId(1), SimDuration(7)));
        let empty = log.close(0, SimTime(30), 0.0, FULL);
        assert_eq!((empty.binding, empty.time), (Binding::NONE, SimDuration::ZERO));
    }

    #[test]
    fn without_loss_the_longest_wins() {
        let mut log = BottleneckLog::default();
        log.add_slot();
        for (time, left, link) in [(0, 100.0, 1), (3, 97.0, 2)] {
            change(&mut log, time, left, link);
        }
        let b = log.close(0, SimTime(10), 90.0, FULL);
        assert_eq!((b.binding.link, b.time), (LinkId(2), SimDuration(7)));
    }
}
