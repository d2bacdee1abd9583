//! Bundles: made when the first class needs them, attached to the link that holds them back, moved, dissolved.

use super::state::{Bundle, Shares, product};
use super::{INF, Level, NONE};
use crate::common::cells::Hop;

impl Shares {
    /// A bundle without classes that crosses these links, held back by none yet.
    pub(super) fn add_bundle(&mut self, links: &[u32]) -> u32 {
        let index = self.new_bundle(links.len());
        for (hop, &link) in self.hops_of(index).zip(links) {
            self.cells.hops[hop].link = link;
        }
        index
    }

    /// A bundle with room for so many hops, whose links must be set.
    fn new_bundle(&mut self, count: usize) -> u32 {
        let index = if let Some(index) = self.free_bundles.pop() {
            index
        } else {
            let (link, head, floor) = (NONE, NONE, INF);
            let node = self.add_node();
            self.bundles.push(Bundle { first: 0, count: 0, link, head, weight: 0, floor, node, is_moved: false });
            (self.bundles.len() - 1) as u32
        };
        let first = self.new_hops(index, count);
        let bundle = &mut self.bundles[index as usize];
        (bundle.first, bundle.count, bundle.weight) = (first, count as u32, 0);
        (bundle.floor, bundle.head) = (INF, NONE);
        index
    }

    /// A bundle for one class alone, where all links are awake; not attached yet.
    pub(super) fn bundle_of_class(&mut self, class: u32) -> u32 {
        let links = self.links_of(class);
        let bundle = self.new_bundle(links.len());
        let hops = self.hops_of(bundle);
        for (hop, &link) in self.cells.hops[hops].iter_mut().zip(&self.class_links[links]) {
            hop.link = link;
        }
        bundle
    }

    fn new_hops(&mut self, bundle: u32, count: usize) -> u32 {
        let fresh = Hop::new(NONE, bundle);
        if let Some(first) = self.free_hops.get_mut(count).and_then(Vec::pop) {
            self.cells.hops[first as usize..first as usize + count].fill(fresh);
            return first;
        }
        let first = self.cells.hops.len() as u32;
        self.cells.hops.resize(self.cells.hops.len() + count, fresh);
        first
    }

    /// Lets `link` hold a bundle back that was held back by none. Its share must be set.
    pub(super) fn attach(&mut self, bundle: u32, link: u32) {
        let weight = self.bundles[bundle as usize].weight;
        let share = self.links[link as usize].share;
        self.bundles[bundle as usize].link = link;
        self.note_bundle(bundle);
        for hop in self.hops_of(bundle) {
            let on = self.cells.hops[hop].link;
            if on == link {
                self.links[on as usize].own += weight;
                self.join_own(hop);
            } else {
                self.cells.join(hop, link, weight);
                self.links[on as usize].count_other(weight, share);
            }
            self.notice(on);
        }
        self.lower_floor(link, self.bundles[bundle as usize].floor);
    }

    /// Notes that a bundle must be reported to the host.
    fn note_bundle(&mut self, bundle: u32) {
        let record = &mut self.bundles[bundle as usize];
        if !record.is_moved {
            record.is_moved = true;
            self.moved_bundles.push(bundle);
        }
    }

    /// Takes a bundle whose last class has gone off its links, with what is left of its weight. Its record is free once the
    /// host knows of it.
    pub(super) fn dissolve(&mut self, bundle: u32) {
        let Bundle { link, weight, first, count, .. } = self.bundles[bundle as usize];
        let others = product(weight, self.links[link as usize].share);
        if self.sleepy {
            let key: Vec<u32> = self.hops_of(bundle).map(|hop| self.cells.hops[hop].link).collect();
            self.bundle_by.remove(key.as_slice());
        }
        for hop in self.hops_of(bundle) {
            let on = self.cells.hops[hop].link;
            if on == link {
                self.links[on as usize].own -= weight;
                self.leave_own(hop);
            } else {
                self.cells.leave(hop, weight);
                self.links[on as usize].others -= others;
            }
            self.notice(on);
        }
        self.bundles[bundle as usize].link = NONE;
        if self.free_hops.len() <= count as usize {
            self.free_hops.resize(count as usize + 1, Vec::new());
        }
        self.free_hops[count as usize].push(first);
        self.dissolved.push(bundle);
    }

    /// Adds to the weight of a bundle, or takes from it; its classes count theirs themselves.
    pub(super) fn change_weight(&mut self, bundle: u32, change: i64) {
        let record = &mut self.bundles[bundle as usize];
        record.weight = record.weight.wrapping_add_signed(change);
        let link = record.link;
        let share = self.links[link as usize].share;
        let others = product(change.unsigned_abs(), share) * i128::from(change.signum());
        for hop in self.hops_of(bundle) {
            let on = self.cells.hops[hop].link;
            let record = &mut self.links[on as usize];
            if on == link {
                record.own = record.own.wrapping_add_signed(change);
            } else {
                record.others += others;
                record.hint = record.hint.max(share);
                self.cells.change_weight(hop, change);
            }
            self.notice(on);
        }
    }

    /// Lets `to` hold a bundle back instead of the link that did.
    pub(super) fn move_bundle(&mut self, bundle: u32, to: u32) {
        let Bundle { link: from, weight, .. } = self.bundles[bundle as usize];
        let (left, taken) = (self.links[from as usize].share, self.links[to as usize].share);
        self.bundles[bundle as usize].link = to;
        self.note_bundle(bundle);
        for hop in self.hops_of(bundle) {
            self.move_hop(hop, from, to, weight, left, taken);
        }
        self.lower_floor(to, self.bundles[bundle as usize].floor);
    }

    fn move_hop(&mut self, hop: usize, from: u32, to: u32, weight: u64, left: Level, taken: Level) {
        let on = self.cells.hops[hop].link;
        if on == from {
            self.links[on as usize].own -= weight;
            self.leave_own(hop);
            self.cells.join(hop, to, weight);
            self.links[on as usize].count_other(weight, taken);
        } else if on == to {
            self.cells.leave(hop, weight);
            let record = &mut self.links[on as usize];
            record.others -= product(weight, left);
            record.own += weight;
            self.join_own(hop);
        } else {
            self.cells.change(hop, to, weight);
            let record = &mut self.links[on as usize];
            record.others += product(weight, taken) - product(weight, left);
            record.hint = record.hint.max(taken);
        }
        self.notice(on);
    }

    /// Puts a hop on the list of the bundles that its link holds back.
    fn join_own(&mut self, hop: usize) {
        if !self.sleepy && !self.is_layer {
            return;
        }
        let on = self.cells.hops[hop].link;
        let next = std::mem::replace(&mut self.links[on as usize].own_head, hop as u32);
        (self.cells.hops[hop].next, self.cells.hops[hop].before) = (next, NONE);
        if next != NONE {
            self.cells.hops[next as usize].before = hop as u32;
        }
    }

    fn leave_own(&mut self, hop: usize) {
        if !self.sleepy && !self.is_layer {
            return;
        }
        let Hop { link, next, before, .. } = self.cells.hops[hop];
        if next != NONE {
            self.cells.hops[next as usize].before = before;
        }
        match before {
            NONE => self.links[link as usize].own_head = next,
            before => self.cells.hops[before as usize].next = next,
        }
    }

    /// Puts a class on the list of a bundle.
    pub(super) fn enter(&mut self, class: u32, bundle: u32) {
        let next = std::mem::replace(&mut self.bundles[bundle as usize].head, class);
        if next != NONE {
            self.classes[next as usize].before = class;
        }
        let record = &mut self.classes[class as usize];
        (record.bundle, record.next, record.before) = (bundle, next, NONE);
        if !record.is_moved {
            record.is_moved = true;
            self.moved_classes.push(class);
        }
    }

    /// Takes a class off the list of its bundle.
    pub(super) fn leave(&mut self, class: u32) -> u32 {
        let record = &mut self.classes[class as usize];
        let bundle = std::mem::replace(&mut record.bundle, NONE);
        let (next, before) = (record.next, record.before);
        if next != NONE {
            self.classes[next as usize].before = before;
        }
        match before {
            NONE => self.bundles[bundle as usize].head = next,
            before => self.classes[before as usize].next = next,
        }
        bundle
    }
}
