//! What happens at an instant: ends leave, arrivals are placed, shares are made right, the next ends are found.

use super::heap::{Heap, OUT};
use super::numbers::{INF, Level, time_until};
use super::state::{Link, NONE, Shares, Transfer};

/// From this many arrivals in one instant on, a new bundle's first link is guessed as if all were alike.
const MANY: usize = 64;

/// Never: no end.
pub(super) const NEVER: u64 = u64::MAX;

/// A transfer whose last byte has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone {
    /// As it was given.
    pub(crate) id: u32,
    pub(crate) class: u32,
    /// The link, or limit, that held it back at its end, and for how long without a break.
    pub(crate) link: u32,
    pub(crate) time: u64,
    /// Another transfer on that link, one that it holds back if there is one; [`NONE`] where it is alone.
    pub(crate) by: u32,
}

impl Shares {
    /// Adds a transfer; it is placed by the next [`Self::settle`]. `work` is how far the clock goes for it.
    pub(crate) fn admit(&mut self, now: u64, id: u32, class: u32, weight: u32, work: i128) {
        let transfer = Transfer { id, class, weight, start: now, work, holder: NONE };
        let slot = if let Some(slot) = self.free_transfers.pop() {
            self.transfers[slot as usize] = transfer;
            slot
        } else {
            self.transfers.push(transfer);
            self.transfer_places.push(OUT);
            (self.transfers.len() - 1) as u32
        };
        self.arrivals.push(slot);
        self.active += 1;
    }

    /// When the next transfer ends; [`u64::MAX`] for never.
    #[inline]
    pub(crate) fn next_end(&self) -> u64 {
        let first = |heap: &Heap<u64>| heap.first().map_or(NEVER, |(time, _)| time);
        first(&self.due).min(first(&self.alone))
    }

    /// Whether anything has changed since the last [`Self::settle`].
    #[inline]
    pub(crate) fn unsettled(&self) -> bool {
        !self.touched.is_empty() || !self.arrivals.is_empty()
    }

    /// Takes out the transfers that end at `now`, in no particular order.
    pub(crate) fn take_ended(&mut self, now: u64, out: &mut Vec<Gone>) {
        self.take_ended_alone(now, out);
        let mut slots = std::mem::take(&mut self.leaving);
        while let Some((time, link)) = self.due.first()
            && time <= now
        {
            self.due.remove(link, &mut self.link_places);
            self.take_ended_of(link, now, &mut slots, out);
            self.touch(link);
        }
        for slot in slots.drain(..) {
            self.take_weight(slot, now);
        }
        self.leaving = slots;
    }

    /// Takes the ends of one link out of the heaps. Weights stay until all ends of the instant are known, so that
    /// equals name each other.
    fn take_ended_of(&mut self, link: u32, now: u64, slots: &mut Vec<u32>, out: &mut Vec<Gone>) {
        let record = &mut self.links[link as usize];
        record.advance(now);
        record.is_moved = true;
        let until = record.clock.saturating_add(i128::from(record.share >> 10));
        let first = slots.len();
        while let Some((end, bundle)) = self.links[link as usize].heap.first()
            && end <= until
        {
            let Some((_, class)) = self.bundles[bundle as usize].heap.first() else { break };
            let Some((_, slot)) = self.classes[class as usize].heap.first() else { break };
            self.classes[class as usize].heap.remove(slot, &mut self.transfer_places);
            self.key_class(class);
            slots.push(slot);
        }
        for &slot in &slots[first..] {
            let equal = slots[first..].iter().copied().find(|&other| other != slot);
            let by = equal.or_else(|| self.beside(link, slot));
            out.push(self.gone(slot, now, by));
        }
    }

    pub(super) fn gone(&self, slot: u32, now: u64, by: Option<u32>) -> Gone {
        let Transfer { id, class, start, .. } = self.transfers[slot as usize];
        let by = by.map_or(NONE, |slot| self.transfers[slot as usize].id);
        let (link, since) = self.held_by(class);
        Gone { id, class, link, time: now - since.max(start), by }
    }

    /// The link that holds a class back, and since when.
    pub(super) fn held_by(&self, class: u32) -> (u32, u64) {
        let class = &self.classes[class as usize];
        let bundle = &self.bundles[class.bundle as usize];
        (bundle.link, bundle.since.max(class.since))
    }

    /// A transfer other than `slot` on a link, as far as first ones tell: of those that it holds back, else any.
    pub(super) fn beside(&self, link: u32, slot: u32) -> Option<u32> {
        let record = &self.links[link as usize];
        let crossing = record.cells_in.iter().map(|&c| self.hops[self.cells[c as usize].head as usize].bundle);
        let mut bundles = record.heap.ids().take(2).chain(crossing);
        bundles.find_map(|bundle| {
            let mut classes = self.bundles[bundle as usize].heap.ids().take(2);
            classes.find_map(|class| self.classes[class as usize].heap.ids().take(2).find(|&other| other != slot))
        })
    }

    /// Takes the weight of an ended transfer off its links, and its class out of use if it was the last.
    fn take_weight(&mut self, slot: u32, now: u64) {
        let Transfer { class, weight, .. } = self.transfers[slot as usize];
        for at in self.links_of(class) {
            let link = &mut self.links[self.class_links[at] as usize];
            link.weight -= u64::from(weight);
            if link.weight == 0 {
                link.busy += now - link.busy_since;
            }
        }
        if self.sleepy {
            self.reserve(class, -i64::from(weight));
        }
        let record = &mut self.classes[class as usize];
        record.weight -= u64::from(weight);
        if record.weight == 0 {
            self.leave_bundle(class, u64::from(weight));
        } else {
            let bundle = record.bundle;
            self.change_weight(bundle, -i64::from(weight));
        }
        self.free_transfers.push(slot);
        self.active -= 1;
    }

    /// Takes an empty class, with its last weight, out of its bundle.
    fn leave_bundle(&mut self, class: u32, weight: u64) {
        if self.sleepy {
            self.forget_class(class);
        }
        let bundle = std::mem::replace(&mut self.classes[class as usize].bundle, NONE);
        if self.bundles[bundle as usize].weight == weight {
            self.dissolve(bundle);
        } else {
            self.change_weight(bundle, -(weight as i64));
        }
    }

    /// Places what has arrived, makes all shares right, and finds the next ends. Returns whether anything happened.
    pub(crate) fn settle(&mut self, now: u64) -> bool {
        let arrivals = std::mem::take(&mut self.arrivals);
        for &slot in &arrivals {
            self.add_weight(slot, now);
        }
        while let Some(slot) = self.joining.pop() {
            if self.transfers[slot as usize].holder != NONE {
                self.join_others(slot, now);
            }
        }
        for &slot in &arrivals {
            if self.is_alone(slot) {
                self.place_alone(slot, now);
            } else {
                self.place(slot, arrivals.len() >= MANY, now);
            }
        }
        self.arrivals = arrivals;
        self.arrivals.clear();
        self.relax(now);
        if self.sleepy {
            self.settle_quiet(now);
        }
        let happened = !self.touched.is_empty();
        for at in 0..self.touched.len() {
            self.conclude(self.touched[at], now);
        }
        self.touched.clear();
        happened
    }

    /// Wakes links until nothing quiet can be full, and lets others sleep, once.
    fn settle_quiet(&mut self, now: u64) {
        let mut slept = false;
        loop {
            self.keep_promises();
            if !self.wake_overbooked(now) && (std::mem::replace(&mut slept, true) || !self.go_to_sleep(now)) {
                return;
            }
            self.relax(now);
        }
    }

    fn add_weight(&mut self, slot: u32, now: u64) {
        let Transfer { class, weight, .. } = self.transfers[slot as usize];
        for at in self.links_of(class) {
            let link = &mut self.links[self.class_links[at] as usize];
            if link.weight == 0 {
                link.busy_since = now;
            }
            link.weight += u64::from(weight);
            if link.alone != NONE {
                self.joining.push(link.alone);
            }
        }
    }

    /// Puts a transfer into its class, and a class that had none into a bundle.
    fn place(&mut self, slot: u32, many: bool, now: u64) {
        let Transfer { class, weight, work, .. } = self.transfers[slot as usize];
        let bundle = self.classes[class as usize].bundle;
        if bundle == NONE {
            self.place_class(class, u64::from(weight), many, now);
        } else {
            self.change_weight(bundle, i64::from(weight));
            self.classes[class as usize].weight += u64::from(weight);
            if self.sleepy {
                self.reserve(class, i64::from(weight));
            }
        }
        let record = &mut self.classes[class as usize];
        let bundle = &self.bundles[record.bundle as usize];
        let clock = self.links[bundle.link as usize].clock_at(now) - bundle.offset - record.offset;
        record.heap.set(clock + work, slot, &mut self.transfer_places);
        self.key_class(class);
    }

    /// Puts a class without transfers into a bundle, for transfers of this weight.
    fn place_class(&mut self, class: u32, weight: u64, many: bool, now: u64) {
        let link = self.first_link(class, weight, many, now);
        let bundle = if self.sleepy { self.bundle_for(class) } else { self.bundle_of_class(class) };
        if self.bundles[bundle as usize].link == NONE {
            self.bundles[bundle as usize].weight = weight;
            self.attach(bundle, link, now);
        } else {
            self.change_weight(bundle, weight as i64);
        }
        let record = &mut self.classes[class as usize];
        (record.bundle, record.offset, record.since, record.weight) = (bundle, 0, now, weight);
        if self.sleepy {
            self.list_class(class);
            let holder = self.bundles[bundle as usize].link;
            self.promise(class, self.links[holder as usize].share);
            self.note_promise(class);
        }
    }

    /// The link that is guessed to hold a class back: the awake one with the lowest share; where all are quiet, it wakes.
    fn first_link(&mut self, class: u32, weight: u64, many: bool, now: u64) -> u32 {
        let mut best = (true, INF, NONE);
        for at in self.links_of(class) {
            let link = self.class_links[at];
            let record = &self.links[link as usize];
            let this = (!record.is_awake, guess(record, weight, many), link);
            if (this.0, this.1) < (best.0, best.1) {
                best = this;
            }
        }
        let (is_quiet, guess, link) = best;
        if is_quiet {
            self.wake(link, now);
        }
        let record = &mut self.links[link as usize];
        if record.share == INF {
            record.share = guess.max(1);
        }
        link
    }

    /// After an instant: the next end on a link, and its load.
    fn conclude(&mut self, link: u32, now: u64) {
        let record = &mut self.links[link as usize];
        record.is_touched = false;
        if record.share == INF && !self.sleepy {
            record.peak = record.peak.max(record.others as u64);
        }
        if !std::mem::take(&mut record.is_moved) {
            return;
        }
        if record.share != INF {
            record.peak = record.capacity;
        }
        self.most_updates = self.most_updates.max(std::mem::take(&mut record.updates));
        match record.heap.first() {
            Some((end, _)) => {
                let next = now.saturating_add(time_until(end, record.clock_at(now), record.share));
                self.due.set(next, link, &mut self.link_places);
            }
            None => self.due.remove(link, &mut self.link_places),
        }
    }
}

/// The share a link would have with `weight` more of its own.
fn guess(link: &Link, weight: u64, many: bool) -> Level {
    let equal = link.equal_share();
    if many || link.is_limit { equal } else { equal.max(link.quotient(link.others, link.own + weight)) }
}
