//! Packets that acknowledge and return credit (DLLPs): they cross the opposite link, and take its time.
//!
//! Once a packet has left the input buffer of a link, its last piece if it is split, or has come to its destination, one DLLP is
//! due on the opposite link. It goes as soon as the wire there is free, before any packet; those that are due go in order. It
//! needs no credit, and what is being sent is not interrupted. When the sender knows of the credit is `credit_return`'s matter.
//!
//! They are no events: a link lets those pass that are due when it is looked at, which comes to the same times.

use std::collections::VecDeque;

use super::{Engine, NONE};

/// DLLPs over one link.
#[derive(Clone, Debug, Default)]
pub(super) struct Dllps {
    /// When each one that has not begun is due, in order.
    pub(super) due: VecDeque<u64>,
    /// Since when the link has not been idle, and how many have begun since.
    pub(super) busy_since: u64,
    pub(super) passed: u64,
}

impl Dllps {
    /// The link was idle until now.
    pub(super) fn wake(&mut self, now: u64) {
        (self.busy_since, self.passed) = (now, 0);
    }
}

impl Engine {
    /// A packet of a link leaves its buffer at `time`: a DLLP is due on the opposite link.
    #[inline]
    pub(super) fn send_dllp(&mut self, time: u64, link: u32) {
        if self.has_dllps {
            self.send_over_opposite(time, link);
        }
    }

    fn send_over_opposite(&mut self, time: u64, link: u32) {
        let over = self.ports[link as usize].wire.dllps_over;
        if over == NONE {
            return;
        }
        self.pass_dllps(self.now, over);
        let due = &mut self.dllps[over as usize].due;
        // Nearly always the latest, as with credit.
        let behind = due.iter().rev().take_while(|other| **other > time).count();
        due.insert(due.len() - behind, time);
    }

    /// Lets those begin on a link that can by `now`.
    #[inline]
    pub(super) fn pass_dllps(&mut self, now: u64, link: u32) {
        if self.has_dllps {
            self.pass_due(now, link);
        }
    }

    fn pass_due(&mut self, now: u64, link: u32) {
        let port = &mut self.ports[link as usize];
        let took = port.wire.dllp_time;
        if took == 0 {
            return;
        }
        let dllps = &mut self.dllps[link as usize];
        while let Some(&due) = dllps.due.front() {
            let begin = port.free_at.max(due);
            if begin > now {
                break;
            }
            dllps.due.pop_front();
            if begin > port.free_at {
                // It was idle before.
                (port.sending, port.before) = (NONE, NONE);
                dllps.wake(begin);
            }
            dllps.passed += 1;
            (port.free_at, port.sent_dllp) = (begin.saturating_add(took), true);
            let counts = &mut port.sums.counts;
            counts.busy += took;
            counts.dllps += 1;
            if port.starved_since != u64::MAX {
                port.starved_since += took;
            }
        }
    }

    /// Until when a link is busy as of `at`, and how many DLLPs that have not passed yet begin before.
    pub(super) fn busy_until(&self, at: u64, link: u32) -> (u64, u64) {
        let (mut free_at, mut number) = (self.ports[link as usize].free_at, 0);
        if !self.has_dllps {
            return (free_at, 0);
        }
        let wire = &self.ports[link as usize].wire;
        for &due in &self.dllps[link as usize].due {
            let begin = free_at.max(due);
            if begin > at {
                break;
            }
            (free_at, number) = (begin.saturating_add(wire.dllp_time), number + 1);
        }
        (free_at, number)
    }

    /// Appends what is due on a link, relative to now.
    pub(super) fn state_of_dllps(&self, now: u64, link: u32, to: &mut Vec<u64>) {
        to.extend(self.dllps[link as usize].due.iter().map(|due| due.saturating_sub(now)));
        to.push(u64::MAX);
    }
}
