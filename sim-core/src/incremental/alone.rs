//! Transfers that share no link with any other: the narrowest hop, or their limit, sets their level until another one comes.
//!
//! They need no class, group or root, and the arbiter does not see them; they have an end only. The arithmetic is that of a
//! root with one member, to the last bit: level ⌊C / w⌋, end ⌈(work − level / 1024) / level⌉ after the start. When another
//! transfer comes to one of the links, the transfer is placed like any other, with what is left of its work.

use weir_plugin_api::{Cause, LinkId};

use super::NONE;
use super::clocks::Clocks;
use super::events::Gone;
use super::numbers::{Level, time_until};

/// In the place of a link: its own limit holds a transfer back.
const LIMIT: u32 = NONE - 1;

impl Clocks {
    /// Whether a transfer, counted in the weights of its links, is the only one on all of them.
    #[inline]
    pub(super) fn is_alone(&self, slot: u32) -> bool {
        let (class, weight) = (self.transfers[slot as usize].class, self.transfers[slot as usize].weight);
        self.class_links[self.links_of(class)].iter().all(|&l| self.links[l as usize].weight == u64::from(weight))
    }

    /// Lets a transfer run by itself from `now` on.
    pub(super) fn place_alone(&mut self, slot: u32, now: u64) {
        let (class, weight) = (self.transfers[slot as usize].class, self.transfers[slot as usize].weight);
        let (mut level, mut holder) = (self.classes[class as usize].limit, LIMIT);
        for at in self.links_of(class) {
            let link = self.class_links[at];
            let record = &mut self.links[link as usize];
            record.alone = slot;
            let own = record.capacity / u64::from(weight);
            if own < level || own == level && holder == LIMIT {
                (level, holder) = (own, link);
            }
        }
        for at in self.links_of(class) {
            let link = self.class_links[at];
            let record = &mut self.links[link as usize];
            let load = if link == holder { record.capacity } else { level.saturating_mul(u64::from(weight)) };
            record.peak = record.peak.max(load);
        }
        let transfer = &mut self.transfers[slot as usize];
        transfer.holder = holder;
        let end = now.saturating_add(time_until(transfer.work, 0, level.max(1)));
        self.alone.set(end, slot, &mut self.transfer_places);
    }

    /// Takes out the transfers by themselves that end at `now`.
    pub(super) fn take_ended_alone(&mut self, now: u64, out: &mut Vec<Gone>) {
        while let Some((end, slot)) = self.alone.first()
            && end <= now
        {
            out.push(self.gone_alone(slot, now));
            self.leave_alone(slot);
            let class = self.transfers[slot as usize].class;
            for at in self.links_of(class) {
                let link = &mut self.links[self.class_links[at] as usize];
                link.weight = 0;
                link.busy += now - link.busy_since;
            }
            self.free_transfers.push(slot);
            self.active -= 1;
        }
    }

    fn leave_alone(&mut self, slot: u32) {
        self.alone.remove(slot, &mut self.transfer_places);
        for at in self.links_of(self.transfers[slot as usize].class) {
            self.links[self.class_links[at] as usize].alone = NONE;
        }
    }

    pub(super) fn gone_alone(&self, slot: u32, now: u64) -> Gone {
        let transfer = &self.transfers[slot as usize];
        let link = self.links.get(transfer.holder as usize).map_or(LinkId::NONE, |link| link.id);
        let cause = if link.is_none() { Cause::OwnLimit } else { Cause::FullRate };
        Gone { id: transfer.id, class: transfer.class, link, time: now - transfer.start, cause, by: NONE }
    }

    /// The level of a transfer by itself, and what is left of its work at `now`.
    pub(super) fn standing_alone(&self, slot: u32, now: u64) -> (Level, i128) {
        let transfer = &self.transfers[slot as usize];
        let level = match self.links.get(transfer.holder as usize) {
            Some(link) => link.capacity / u64::from(transfer.weight),
            None => self.classes[transfer.class as usize].limit,
        };
        (level, transfer.work - i128::from(level) * i128::from(now - transfer.start))
    }

    /// Places a transfer that is no longer by itself like any other, unless that has been done.
    pub(super) fn join_others(&mut self, slot: u32, now: u64) {
        let at = self.links_of(self.transfers[slot as usize].class).start;
        if self.links[self.class_links[at] as usize].alone != slot {
            return;
        }
        let (_, left) = self.standing_alone(slot, now);
        self.leave_alone(slot);
        self.transfers[slot as usize].work = left;
        self.placed.push(slot);
    }
}
