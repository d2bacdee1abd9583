//! Transfers that share no link with any other: the narrowest hop, or their limit, sets their level until another one comes.
//!
//! They need no class and no node, and the arbiter does not see them; they have an end only. The arithmetic is that of a
//! root with one member, to the last bit: level ⌊C / w⌋, end ⌈(work − level / 1024) / level⌉ after the start. When another
//! transfer comes to one of the links, the transfer is placed like any other, with what is left of its work.

use weir_plugin_api::{Cause, LinkId};

use super::NONE;
use super::clocks::{Clocks, Terms, Transfer};
use super::events::Gone;
use super::numbers::{Level, time_of};
use super::soonest::NEVER;

/// In the place of a link: its own limit binds.
const LIMIT: u32 = NONE - 1;

/// What a link bears of a transfer alone on it.
#[inline]
fn capacity_alone(capacity: u64, link: u32, alone: Option<(u32, Level)>) -> u64 {
    match alone {
        Some((by, level)) if by == link => level.min(capacity),
        _ => capacity,
    }
}

impl Clocks {
    /// Whether a transfer, counted in the weights of its links, is the only one on all of them.
    #[inline]
    pub(super) fn is_alone(&self, slot: u32) -> bool {
        let Transfer { path, weight, .. } = self.transfers[slot as usize];
        self.path_links[self.links_of(path)].iter().all(|&l| self.links[l as usize].weight == u64::from(weight))
    }

    /// Lets a transfer run by itself from `now` on.
    pub(super) fn place_alone(&mut self, slot: u32, now: u64) {
        let Transfer { path, weight, .. } = self.transfers[slot as usize];
        let Terms { limit, alone, .. } = self.terms[self.paths[path as usize].terms as usize];
        let (mut level, mut holder) = (limit, LIMIT);
        for at in self.links_of(path) {
            let link = self.path_links[at];
            let record = &mut self.links[link as usize];
            record.alone = slot;
            let capacity = capacity_alone(record.capacity, link, alone);
            let own = if weight == 1 { capacity } else { capacity / u64::from(weight) };
            if own < level || own == level && holder == LIMIT {
                (level, holder) = (own, link);
            }
        }
        for at in self.links_of(path) {
            let link = self.path_links[at];
            let record = &mut self.links[link as usize];
            let capacity = capacity_alone(record.capacity, link, alone);
            let load = if link == holder { capacity } else { level.saturating_mul(u64::from(weight)) };
            record.peak = record.peak.max(load);
        }
        let transfer = &mut self.transfers[slot as usize];
        transfer.holder = holder;
        let end = time_of(transfer.work, 0, level.max(1), now, || transfer.start);
        self.alone.set(end.min(NEVER - 1), slot);
    }

    /// Takes out the transfers by themselves that end at `now`.
    pub(super) fn take_ended_alone(&mut self, now: u64, out: &mut Vec<Gone>) {
        while self.alone.time() <= now
            && let Some((_, slot)) = self.alone.first()
        {
            out.push(self.gone_alone(slot, now));
            self.alone.set(NEVER, slot);
            for at in self.links_of(self.transfers[slot as usize].path) {
                let link = &mut self.links[self.path_links[at] as usize];
                (link.alone, link.weight) = (NONE, 0);
                link.busy += now - link.busy_since;
            }
            self.free_transfers.push(slot);
            self.active -= 1;
        }
    }

    fn leave_alone(&mut self, slot: u32) {
        self.alone.set(NEVER, slot);
        for at in self.links_of(self.transfers[slot as usize].path) {
            self.links[self.path_links[at] as usize].alone = NONE;
        }
    }

    pub(super) fn gone_alone(&self, slot: u32, now: u64) -> Gone {
        let transfer = &self.transfers[slot as usize];
        let link = self.links.get(transfer.holder as usize).map_or(LinkId::NONE, |link| link.id);
        let cause = if link.is_none() { Cause::OwnLimit } else { Cause::FullRate };
        Gone { id: transfer.id, link, time: now - transfer.start, cause, by: NONE, blocked: None }
    }

    /// The level of a transfer by itself, and what is left of its work at `now`.
    pub(super) fn standing_alone(&self, slot: u32, now: u64) -> (Level, i128) {
        let transfer = &self.transfers[slot as usize];
        let Terms { limit, alone, .. } = self.terms[self.paths[transfer.path as usize].terms as usize];
        let level = match self.links.get(transfer.holder as usize) {
            Some(link) => capacity_alone(link.capacity, transfer.holder, alone) / u64::from(transfer.weight),
            None => limit,
        };
        (level, transfer.work - i128::from(level) * i128::from(now - transfer.start))
    }

    /// Places a transfer that is no longer by itself like any other, unless that has been done.
    pub(super) fn join_others(&mut self, slot: u32, now: u64) {
        let at = self.links_of(self.transfers[slot as usize].path).start;
        if self.links[self.path_links[at] as usize].alone != slot {
            return;
        }
        let (_, left) = self.standing_alone(slot, now);
        self.leave_alone(slot);
        self.transfers[slot as usize].work = left;
        self.placed.push(slot);
    }
}
