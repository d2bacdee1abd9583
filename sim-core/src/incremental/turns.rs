//! Classes whose transfers are served one after the other: the first one moves, the others wait behind it.
//!
//! Only the first one has an end. The next one begins on the clock of the instant in which that has gone.

use std::collections::VecDeque;

use weir_plugin_api::{Cause, IncrementalArbiter, LinkId};

use super::NONE;
use super::clocks::{Clocks, Transfer};
use super::events::Gone;
use super::numbers::{INF, time_of};

/// Who waits, and for whom each has.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Per class those behind its first transfer, in order of (arrival, id).
    queues: Vec<VecDeque<u32>>,
    /// Per slot of a transfer.
    waits: Vec<Wait>,
}

/// For whom a transfer waited when it came.
#[derive(Clone, Copy, Debug)]
struct Wait {
    since: u64,
    link: LinkId,
    /// The other one's id; [`NONE`] for nobody.
    by: u32,
}

impl Turns {
    fn note(&mut self, slot: u32, wait: Wait) {
        if self.waits.len() <= slot as usize {
            self.waits.resize(slot as usize + 1, Wait { since: 0, link: LinkId::NONE, by: NONE });
        }
        self.waits[slot as usize] = wait;
    }

    fn queue(&mut self, class: u32) -> &mut VecDeque<u32> {
        if self.queues.len() <= class as usize {
            self.queues.resize_with(class as usize + 1, VecDeque::new);
        }
        &mut self.queues[class as usize]
    }

    /// Those of a class behind its first transfer.
    pub(super) fn behind(&self, class: u32) -> impl Iterator<Item = u32> + '_ {
        self.queues.get(class as usize).into_iter().flatten().copied()
    }
}

impl Clocks {
    /// Lets a transfer wait behind those of its class; returns whether there are any. Their first one is whom it waits for.
    pub(super) fn wait_in_turn(&mut self, slot: u32, now: u64) -> bool {
        let Transfer { class, path, .. } = self.transfers[slot as usize];
        let Some((_, first)) = self.nodes.at(class).heap.first() else { return false };
        let link = self.links[self.path_links[self.links_of(path).start] as usize].id;
        let by = self.transfers[first as usize].id;
        if let Some(turns) = &mut self.turns {
            turns.note(slot, Wait { since: now, link, by });
            turns.queue(class).push_back(slot);
        }
        true
    }

    /// Notes for whom the first transfer of a class waits.
    pub(super) fn note_first(&mut self, slot: u32, now: u64, arbiter: &dyn IncrementalArbiter) {
        let class = self.transfers[slot as usize].class;
        let mut wait = Wait { since: now, link: LinkId::NONE, by: NONE };
        if self.nodes.level_of(class) == 0 {
            let holder = arbiter.holder(class);
            let other = (holder.by != class).then(|| self.first_of(holder.by)).flatten();
            (wait.link, wait.by) = (holder.link, other.map_or(NONE, |slot| self.transfers[slot as usize].id));
        }
        if let Some(turns) = &mut self.turns {
            turns.note(slot, wait);
        }
    }

    /// The next one of a class whose first transfer has gone.
    pub(super) fn next_in_turn(&mut self, class: u32, now: u64) {
        let Some(slot) = self.turns.as_mut().and_then(|turns| turns.queue(class).pop_front()) else { return };
        let end = self.nodes.clock_of(class, now) + self.transfers[slot as usize].work;
        self.nodes.at_mut(class).heap.set(end, slot, &mut self.transfer_places);
    }

    /// What held a transfer back for how long, if it had to wait; `left` is what its clock has to go still.
    pub(super) fn gone_in_turn(&self, slot: u32, left: i128, now: u64) -> Option<Gone> {
        let Transfer { id, class, work, .. } = self.transfers[slot as usize];
        let wait = self.turns.as_ref()?.waits[slot as usize];
        // It has moved at one level since its turn came.
        let served = match self.nodes.level_of(class) {
            0 | INF => 0,
            level if left < work => time_of(work - left, 0, level, 0, || 0),
            _ => 0,
        };
        let blocked = (now - wait.since).saturating_sub(served);
        let (link, by) = (wait.link, wait.by);
        (blocked > 0).then_some(Gone { id, link, time: blocked, cause: Cause::Waiting, by, blocked: Some(blocked) })
    }
}
