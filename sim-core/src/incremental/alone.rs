//! Transfers that share no link with any other: the narrowest hop sets their level until another one comes.
//!
//! They need no class, bundle or share, only an end. The arithmetic is that of a link with one member, to the last bit: level
//! ⌊C / w⌋, end ⌈(work − level / 1024) / level⌉ after the start. When another transfer comes to one of the links, the
//! transfer is placed like any other, with what is left of its work. Only while all links are awake.

use super::events::Gone;
use super::heap::OUT;
use super::numbers::{INF, Level, time_until};
use super::state::{Link, NONE, Shares};

impl Link {
    /// The level of a transfer of this weight that has the link to itself.
    #[inline]
    fn level_alone(&self, weight: u32) -> Level {
        if self.is_limit { self.capacity } else { self.capacity / u64::from(weight) }
    }
}

impl Shares {
    /// Whether a transfer, counted in the weights of its links, is the only one on all of them.
    #[inline]
    pub(super) fn is_alone(&self, slot: u32) -> bool {
        let (class, weight) = (self.transfers[slot as usize].class, self.transfers[slot as usize].weight);
        !self.sleepy
            && self.links_of(class).all(|at| self.links[self.class_links[at] as usize].weight == u64::from(weight))
    }

    /// Lets a transfer run by itself from `now` on.
    pub(super) fn place_alone(&mut self, slot: u32, now: u64) {
        let (class, weight) = (self.transfers[slot as usize].class, self.transfers[slot as usize].weight);
        let (mut level, mut holder) = (INF, NONE);
        for at in self.links_of(class) {
            let link = self.class_links[at];
            let own = self.links[link as usize].level_alone(weight);
            if own < level {
                (level, holder) = (own, link);
            }
        }
        for at in self.links_of(class) {
            let link = self.class_links[at];
            let record = &mut self.links[link as usize];
            record.alone = slot;
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
            let class = self.forget_alone(slot);
            for at in self.links_of(class) {
                let link = &mut self.links[self.class_links[at] as usize];
                link.weight = 0;
                link.busy += now - link.busy_since;
            }
            self.free_transfers.push(slot);
            self.active -= 1;
        }
    }

    /// Takes a transfer out of those by themselves; its class.
    fn forget_alone(&mut self, slot: u32) -> u32 {
        self.alone.remove(slot, &mut self.transfer_places);
        debug_assert_eq!(self.transfer_places[slot as usize], OUT);
        let class = self.transfers[slot as usize].class;
        for at in self.links_of(class) {
            self.links[self.class_links[at] as usize].alone = NONE;
        }
        class
    }

    pub(super) fn gone_alone(&self, slot: u32, now: u64) -> Gone {
        let transfer = &self.transfers[slot as usize];
        Gone { id: transfer.id, class: transfer.class, link: transfer.holder, time: now - transfer.start, by: NONE }
    }

    /// The level of a transfer by itself, and what is left of its work at `now`.
    pub(super) fn standing_alone(&self, slot: u32, now: u64) -> (Level, i128) {
        let transfer = &self.transfers[slot as usize];
        let level = self.links[transfer.holder as usize].level_alone(transfer.weight);
        (level, transfer.work - i128::from(level) * i128::from(now - transfer.start))
    }

    /// Places a transfer that is no longer by itself like any other: what held it back still does.
    pub(super) fn join_others(&mut self, slot: u32, now: u64) {
        let (level, left) = self.standing_alone(slot, now);
        let class = self.forget_alone(slot);
        let transfer = self.transfers[slot as usize];
        self.transfers[slot as usize].holder = NONE;
        self.links[transfer.holder as usize].share = level.max(1);
        let bundle = self.bundle_of_class(class);
        self.bundles[bundle as usize].weight = u64::from(transfer.weight);
        self.attach(bundle, transfer.holder, now);
        self.bundles[bundle as usize].since = transfer.start;
        let record = &mut self.classes[class as usize];
        (record.bundle, record.offset) = (bundle, 0);
        (record.since, record.weight) = (transfer.start, u64::from(transfer.weight));
        let end = self.clock_of(bundle, now) + left;
        self.classes[class as usize].heap.set(end, slot, &mut self.transfer_places);
        self.key_class(class);
    }
}
