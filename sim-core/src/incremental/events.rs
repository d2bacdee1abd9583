//! What happens at an instant: ends leave, arrivals are placed, the arbiter says what changes, the next ends are found.

use weir_plugin_api::{CallError, Cause, Change, IncrementalArbiter, LinkId, SimTime, WeightChange};

use super::NONE;
use super::clocks::{Clocks, Transfer};
use super::heap::OUT;
use super::soonest::NEVER;

/// A transfer whose last byte has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone {
    /// As it was given.
    pub(crate) id: u32,
    /// The link that limited it at its end, or [`LinkId::NONE`] for its limit, and for how long without a break.
    pub(crate) link: LinkId,
    pub(crate) time: u64,
    /// Why: [`Cause::OwnLimit`], `FullRate` where it is alone, `Priority` or `SharedLink`.
    pub(crate) cause: Cause,
    /// One that is served before it there, or another one that the link limits, or else crosses it; [`NONE`] where there
    /// is none.
    pub(crate) by: u32,
}

impl Clocks {
    /// Adds a transfer; it is placed by the next [`Self::arbitrate`]. `work` is how far the clock goes for it.
    pub(crate) fn admit(&mut self, now: u64, id: u32, path: u32, weight: u32, work: i128) {
        let transfer = Transfer { id, path, class: NONE, weight, start: now, work, holder: NONE };
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
        self.due.time().min(self.alone.time())
    }

    /// Whether anything has changed since the last [`Self::arbitrate`].
    #[inline]
    pub(crate) fn is_outdated(&self) -> bool {
        !self.removed.is_empty() || !self.arrivals.is_empty()
    }

    /// Takes out the transfers that end at `now`, in no particular order.
    pub(crate) fn take_ended(&mut self, now: u64, arbiter: &dyn IncrementalArbiter, out: &mut Vec<Gone>) {
        self.take_ended_alone(now, out);
        if self.due.time() > now {
            return;
        }
        let mut slots = std::mem::take(&mut self.leaving);
        while self.due.time() <= now
            && let Some((_, root)) = self.due.first()
        {
            self.due.set(NEVER, root);
            let first = slots.len();
            self.take_ended_of(root, now, &mut slots);
            for &slot in &slots[first..] {
                let equal = slots[first..].iter().copied().find(|&other| other != slot);
                out.push(self.gone(slot, now, equal, arbiter));
            }
        }
        for slot in slots.drain(..) {
            self.take_weight(slot, now);
        }
        self.leaving = slots;
    }

    /// Takes the ends below one root out of the heaps. Weights stay until all ends of the instant are known, so that
    /// equals name each other.
    fn take_ended_of(&mut self, root: u32, now: u64, slots: &mut Vec<u32>) {
        let record = &mut self.roots[root as usize];
        record.advance(now);
        let until = record.clock.saturating_add(i128::from(record.level >> 10));
        self.mark(root);
        while let Some((end, group)) = self.roots[root as usize].heap.first()
            && end <= until
        {
            let Some((_, class)) = self.groups[group as usize].heap.first() else { break };
            let Some((_, slot)) = self.classes[class as usize].heap.first() else { break };
            self.classes[class as usize].heap.remove(slot, &mut self.transfer_places);
            self.key_class(class);
            slots.push(slot);
        }
    }

    /// What limited a transfer; `equal` is another one that ends with it below the same root.
    pub(super) fn gone(&self, slot: u32, now: u64, equal: Option<u32>, arbiter: &dyn IncrementalArbiter) -> Gone {
        let Transfer { id, class, start, .. } = self.transfers[slot as usize];
        let (root, since) = self.root_and_since(class);
        let (link, time) = (self.roots[root as usize].link, now - since.max(start));
        let gone = |cause, by: Option<u32>| Gone {
            id,
            link,
            time,
            cause,
            by: by.map_or(NONE, |slot| self.transfers[slot as usize].id),
        };
        if link.is_none() {
            return gone(Cause::OwnLimit, None);
        }
        let above = arbiter.above(root).and_then(|class| self.classes[class as usize].heap.ids().next());
        if above.is_some() {
            return gone(Cause::Priority, above);
        }
        match equal.or_else(|| self.beside(root, slot, arbiter)) {
            None => gone(Cause::FullRate, None),
            by => gone(Cause::SharedLink, by),
        }
    }

    /// A transfer other than `slot` on the link of a root, as far as first ones tell: of those that it limits, else any.
    fn beside(&self, root: u32, slot: u32, arbiter: &dyn IncrementalArbiter) -> Option<u32> {
        let of_class = |class: u32| self.classes[class as usize].heap.ids().take(2).find(|&other| other != slot);
        let of_group = |group: u32| self.groups[group as usize].heap.ids().take(2).find_map(of_class);
        let below = self.roots[root as usize].heap.ids().take(2).find_map(of_group);
        below.or_else(|| arbiter.beside(root, self.transfers[slot as usize].class).and_then(of_class))
    }

    /// Takes the weight of an ended transfer off its links, and its class out of its group if it was the last.
    fn take_weight(&mut self, slot: u32, now: u64) {
        let Transfer { path, class, weight, .. } = self.transfers[slot as usize];
        for at in self.links_of(path) {
            let link = &mut self.links[self.path_links[at] as usize];
            link.weight -= u64::from(weight);
            if link.weight == 0 {
                link.busy += now - link.busy_since;
            }
        }
        let record = &mut self.classes[class as usize];
        record.weight -= u64::from(weight);
        if record.weight == 0 {
            record.group = NONE;
            self.paths[path as usize].class = NONE;
            self.emptied.push(class);
        }
        self.removed.push(WeightChange { class, weight });
        self.free_transfers.push(slot);
        self.active -= 1;
    }

    /// Places what has arrived, lets the arbiter make all levels right, and finds the next ends.
    pub(crate) fn arbitrate(&mut self, now: u64, arbiter: &mut dyn IncrementalArbiter) -> Result<(), CallError> {
        let (mut is_first, arrivals) = (false, self.arrivals.len());
        for at in 0..arrivals {
            is_first |= self.add_weight(self.arrivals[at], now);
        }
        while let Some(slot) = self.joining.pop() {
            self.join_others(slot, now);
        }
        for at in 0..arrivals {
            let slot = self.arrivals[at];
            if self.may_be_alone && is_first && (arrivals == 1 || self.is_alone(slot)) {
                self.place_alone(slot, now);
            } else {
                self.placed.push(slot);
            }
        }
        self.arrivals.clear();
        if self.removed.is_empty() && self.placed.is_empty() {
            return Ok(());
        }
        self.ask(now, arbiter)?;
        self.apply(now)?;
        for at in 0..self.placed.len() {
            self.place(self.placed[at], now)?;
        }
        self.placed.clear();
        self.conclude(now)?;
        self.check_loads()
    }

    fn ask(&mut self, now: u64, arbiter: &mut dyn IncrementalArbiter) -> Result<(), CallError> {
        self.answer.clear();
        for at in 0..self.placed.len() {
            let slot = self.placed[at] as usize;
            let Transfer { path, weight, .. } = self.transfers[slot];
            let class = self.class_on(path, arbiter);
            self.transfers[slot].class = class;
            self.added.push(WeightChange { class, weight });
        }
        let change = Change { now: SimTime(now), removed: &self.removed, added: &self.added };
        let mut answer = std::mem::take(&mut self.answer);
        arbiter.arbitrate(&change, &mut answer)?;
        self.removed.clear();
        self.added.clear();
        self.free_classes.append(&mut self.emptied);
        let checked = self.check_answer(&answer);
        self.answer = answer;
        checked
    }

    /// Counts a transfer in the weights of its links. Returns whether it is the first one on all of them.
    fn add_weight(&mut self, slot: u32, now: u64) -> bool {
        let Transfer { path, weight, .. } = self.transfers[slot as usize];
        let mut is_first = true;
        for at in self.links_of(path) {
            let link = &mut self.links[self.path_links[at] as usize];
            if link.weight == 0 {
                link.busy_since = now;
            } else {
                is_first = false;
            }
            link.weight += u64::from(weight);
            if link.alone != NONE {
                self.joining.push(link.alone);
            }
        }
        is_first
    }

    /// Puts a transfer on the clock of its class, which has a group by now.
    fn place(&mut self, slot: u32, now: u64) -> Result<(), CallError> {
        let Transfer { class, weight, work, start, holder, .. } = self.transfers[slot as usize];
        self.check_place(class)?;
        let record = &self.classes[class as usize];
        let end = self.clock_of(record.group, now) - record.offset + work;
        if holder != NONE {
            self.keep_since(class, holder, start);
            self.transfers[slot as usize].holder = NONE;
        }
        let record = &mut self.classes[class as usize];
        record.weight += u64::from(weight);
        record.heap.set(end, slot, &mut self.transfer_places);
        self.key_class(class);
        Ok(())
    }

    /// A transfer that was alone until now, and is still limited by the same link, has been so since its start.
    fn keep_since(&mut self, class: u32, holder: u32, start: u64) {
        let holder = self.links.get(holder as usize).map_or(LinkId::NONE, |link| link.id);
        let group = self.classes[class as usize].group;
        let record = &mut self.groups[group as usize];
        if self.roots[record.root as usize].link == holder && record.heap.first().is_none() {
            record.since = start;
            self.classes[class as usize].since = start;
        }
    }
}
