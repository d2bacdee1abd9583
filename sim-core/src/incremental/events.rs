//! What happens at an instant: ends leave, arrivals are placed, the arbiter says what changes, the next ends are found.

use weir_plugin_api::{CallError, Cause, Change, Holder, IncrementalArbiter, LinkId, SimTime, WeightChange};

use super::NONE;
use super::clocks::{Clocks, Transfer};
use super::heap::OUT;
use super::numbers::is_forgiven;
use super::soonest::NEVER;

/// A transfer whose last byte has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone {
    /// As it was given.
    pub(crate) id: u32,
    /// The link that limited it at its end, or [`LinkId::NONE`] for its limit, and for how long without a break.
    pub(crate) link: LinkId,
    pub(crate) time: u64,
    /// Why: what the arbiter says, or [`Cause::FullRate`] where nobody shares the link.
    pub(crate) cause: Cause,
    /// One that holds it back there, or shares the link; [`NONE`] where there is none.
    pub(crate) by: u32,
    /// For how long it had no rate, where that is known.
    pub(crate) blocked: Option<u64>,
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
                if let Some(gone) = self.gone_in_turn(slot, 0, now) {
                    out.push(gone);
                    continue;
                }
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
        let record = &mut self.nodes.roots[root as usize];
        record.advance(now);
        let (top, clock, level) = (record.node, record.clock, record.level);
        self.nodes.mark(root);
        while let Some((end, _)) = self.nodes.at(top).heap.first()
            && let Some((class, first)) = self.first_below(top)
            && is_forgiven(end - clock, level, now, || self.transfers[first as usize].start)
        {
            self.nodes.at_mut(class).heap.remove(first, &mut self.transfer_places);
            self.next_in_turn(class, now);
            self.nodes.pass_on(class);
            slots.push(first);
        }
    }

    /// What limited a transfer; `equal` is another one that ends with it below the same root.
    pub(super) fn gone(&self, slot: u32, now: u64, equal: Option<u32>, arbiter: &dyn IncrementalArbiter) -> Gone {
        let Transfer { id, class, start, .. } = self.transfers[slot as usize];
        let (root, since) = self.nodes.root_and_since(class);
        let Holder { link, cause, by } = arbiter.holder(class);
        let other = self.another_of(by, slot);
        let sharing = || equal.or_else(|| self.beside(root, slot));
        let (cause, named) = match cause {
            Cause::OwnLimit => (cause, None),
            // Whoever was served first may end in the same instant.
            Cause::SharedLink | Cause::Priority if cause == Cause::SharedLink || other.is_none() => {
                let named = sharing().or(other);
                (if named.is_some() { Cause::SharedLink } else { Cause::FullRate }, named)
            }
            _ => (cause, other),
        };
        let by = named.map_or(NONE, |slot| self.transfers[slot as usize].id);
        let blocked = self.turns.as_ref().map(|_| 0);
        Gone { id, link, time: now - since.max(start), cause, by, blocked }
    }

    /// A transfer other than `slot` below a root, as far as first ones tell.
    fn beside(&self, root: u32, slot: u32) -> Option<u32> {
        if root < self.nodes.first_own {
            return self.another_of(root, slot);
        }
        self.nodes.at(root).heap.ids().take(2).find_map(|node| self.beside(node, slot))
    }

    /// A transfer of a class other than `slot`.
    fn another_of(&self, class: u32, slot: u32) -> Option<u32> {
        let known = self.nodes.has_class(class).then(|| self.nodes.at(class).heap.ids());
        known.into_iter().flatten().take(2).find(|&other| other != slot)
    }

    /// The first transfer of a class.
    pub(super) fn first_of(&self, class: u32) -> Option<u32> {
        if self.nodes.has_class(class) { self.nodes.at(class).heap.first().map(|(_, slot)| slot) } else { None }
    }

    /// Takes the weight of an ended transfer off its links, and lets its class hang below nothing if it was the last.
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
            self.nodes.release(class);
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
        if self.turns.is_some() {
            let transfers = &self.transfers;
            self.placed.sort_unstable_by_key(|&slot| (transfers[slot as usize].start, transfers[slot as usize].id));
        }
        if self.removed.is_empty() && self.placed.is_empty() {
            return Ok(());
        }
        self.ask(now, arbiter)?;
        self.apply(now)?;
        for at in 0..self.placed.len() {
            self.place(self.placed[at], now, arbiter);
        }
        self.placed.clear();
        self.conclude(now)?;
        self.check_loads(arbiter)
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
        arbiter.settle(&change, &mut answer)?;
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

    /// Puts a transfer on the clock of its class, or behind others of that.
    fn place(&mut self, slot: u32, now: u64, arbiter: &dyn IncrementalArbiter) {
        let Transfer { class, weight, work, start, holder, .. } = self.transfers[slot as usize];
        self.classes[class as usize].weight += u64::from(weight);
        if self.turns.is_some() {
            if self.wait_in_turn(slot, now) {
                return;
            }
            self.note_first(slot, now, arbiter);
        }
        if holder != NONE {
            self.keep_since(class, holder, start, arbiter);
            self.transfers[slot as usize].holder = NONE;
        }
        let end = self.nodes.clock_of(class, now) + work;
        self.nodes.at_mut(class).heap.set(end, slot, &mut self.transfer_places);
        self.nodes.pass_on(class);
    }

    /// A transfer that was alone until now, and is still limited by the same link, has been so since its start.
    fn keep_since(&mut self, class: u32, holder: u32, start: u64, arbiter: &dyn IncrementalArbiter) {
        let holder = self.links.get(holder as usize).map_or(LinkId::NONE, |link| link.id);
        if arbiter.holder(class).link != holder {
            return;
        }
        let mut node = class;
        while self.nodes.at(node).below != NONE && self.nodes.at(node).heap.first().is_none() {
            self.nodes.at_mut(node).since = start;
            node = self.nodes.at(node).below;
        }
    }
}
