//! Bundles: made when the first class needs them, attached to the link that holds them back, moved, dissolved.

use super::heap::{Heap, OUT};
use super::numbers::{INF, Level};
use super::state::{Bundle, Hop, NONE, Shares, product};

impl Shares {
    /// A bundle without classes that crosses these links, held back by none yet.
    pub(super) fn add_bundle(&mut self, links: &[u32]) -> u32 {
        let index = if let Some(index) = self.free_bundles.pop() {
            index
        } else {
            self.bundles.push(Bundle {
                first: 0,
                count: 0,
                link: NONE,
                offset: 0,
                weight: 0,
                heap: Heap::default(),
                since: 0,
                floor: INF,
            });
            self.bundle_places.push(OUT);
            (self.bundles.len() - 1) as u32
        };
        let first = self.add_hops(index, links);
        let bundle = &mut self.bundles[index as usize];
        (bundle.first, bundle.count, bundle.offset, bundle.weight) = (first, links.len() as u32, 0, 0);
        bundle.floor = INF;
        index
    }

    /// A bundle for one class alone, where all links are awake; not attached yet.
    pub(super) fn bundle_of_class(&mut self, class: u32) -> u32 {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        key.extend_from_slice(&self.class_links[self.links_of(class)]);
        let bundle = self.add_bundle(&key);
        self.key = key;
        bundle
    }

    fn add_hops(&mut self, bundle: u32, links: &[u32]) -> u32 {
        let fresh = |&link: &u32| Hop { link, bundle, cell: NONE, next: NONE, before: NONE };
        if let Some(first) = self.free_hops.get_mut(links.len()).and_then(Vec::pop) {
            for (hop, link) in self.hops[first as usize..].iter_mut().zip(links) {
                *hop = fresh(link);
            }
            return first;
        }
        let first = self.hops.len() as u32;
        self.hops.extend(links.iter().map(fresh));
        first
    }

    /// Lets `link` hold a bundle back that was held back by none. Its share must be set.
    pub(super) fn attach(&mut self, bundle: u32, link: u32, now: u64) {
        let weight = self.bundles[bundle as usize].weight;
        let share = self.links[link as usize].share;
        self.links[link as usize].advance(now);
        let record = &mut self.bundles[bundle as usize];
        (record.link, record.since) = (link, now);
        for hop in self.hops_of(bundle) {
            let on = self.hops[hop].link;
            if on == link {
                self.links[on as usize].own += weight;
            } else {
                self.join_cell(hop, link, weight);
                self.links[on as usize].count_other(weight, share);
            }
            self.touch(on);
        }
        self.key_bundle(bundle);
        self.lower_floor(link, self.bundles[bundle as usize].floor);
    }

    /// Takes a bundle whose last class has gone off its links, with what is left of its weight, and frees it.
    pub(super) fn dissolve(&mut self, bundle: u32) {
        let Bundle { link, weight, first, count, .. } = self.bundles[bundle as usize];
        let record = &mut self.links[link as usize];
        record.heap.remove(bundle, &mut self.bundle_places);
        record.is_moved = true;
        let others = product(weight, record.share);
        if self.sleepy {
            let key: Vec<u32> = self.hops_of(bundle).map(|hop| self.hops[hop].link).collect();
            self.bundle_by.remove(key.as_slice());
        }
        for hop in self.hops_of(bundle) {
            let on = self.hops[hop].link;
            if on == link {
                self.links[on as usize].own -= weight;
            } else {
                self.leave_cell(hop, weight);
                self.links[on as usize].others -= others;
            }
            self.touch(on);
        }
        self.bundles[bundle as usize].link = NONE;
        if self.free_hops.len() <= count as usize {
            self.free_hops.resize(count as usize + 1, Vec::new());
        }
        self.free_hops[count as usize].push(first);
        self.free_bundles.push(bundle);
    }

    /// Adds to the weight of a bundle, or takes from it; its classes count theirs themselves.
    pub(super) fn change_weight(&mut self, bundle: u32, change: i64) {
        let record = &mut self.bundles[bundle as usize];
        record.weight = record.weight.wrapping_add_signed(change);
        let link = record.link;
        let share = self.links[link as usize].share;
        let others = product(change.unsigned_abs(), share) * i128::from(change.signum());
        for hop in self.hops_of(bundle) {
            let on = self.hops[hop].link;
            let record = &mut self.links[on as usize];
            if on == link {
                record.own = record.own.wrapping_add_signed(change);
            } else {
                record.others += others;
                record.hint = record.hint.max(share);
                let cell = &mut self.cells[self.hops[hop].cell as usize];
                cell.weight = cell.weight.wrapping_add_signed(change);
            }
            self.touch(on);
        }
    }

    /// Lets `to` hold a bundle back instead of the link that did. Both clocks go on; nothing inside it is touched.
    pub(super) fn move_bundle(&mut self, bundle: u32, to: u32, now: u64) {
        let Bundle { link: from, weight, .. } = self.bundles[bundle as usize];
        let (left, taken) = (self.links[from as usize].share, self.links[to as usize].share);
        let shift = self.links[to as usize].clock_at(now) - self.links[from as usize].clock_at(now);
        // What its clock shows must be settled before the weight behind it goes.
        let losing = &mut self.links[from as usize];
        losing.advance(now);
        losing.heap.remove(bundle, &mut self.bundle_places);
        losing.is_moved = true;
        let record = &mut self.bundles[bundle as usize];
        record.offset += shift;
        (record.link, record.since) = (to, now);
        for hop in self.hops_of(bundle) {
            self.move_hop(hop, from, to, weight, (left, taken));
        }
        self.key_bundle(bundle);
        self.lower_floor(to, self.bundles[bundle as usize].floor);
    }

    fn move_hop(&mut self, hop: usize, from: u32, to: u32, weight: u64, (left, taken): (Level, Level)) {
        let on = self.hops[hop].link;
        if on == from {
            self.links[on as usize].own -= weight;
        } else {
            self.leave_cell(hop, weight);
            self.links[on as usize].others -= product(weight, left);
        }
        if on == to {
            self.links[on as usize].own += weight;
        } else {
            self.join_cell(hop, to, weight);
            self.links[on as usize].count_other(weight, taken);
        }
        self.touch(on);
    }

    /// Sets the place of a class in its bundle by its first end, and that of the bundle in its link.
    pub(super) fn key_class(&mut self, class: u32) {
        let record = &self.classes[class as usize];
        let (bundle, key) = (record.bundle, record.heap.first().map(|(end, _)| end + record.offset));
        let heap = &mut self.bundles[bundle as usize].heap;
        match key {
            Some(key) => heap.set(key, class, &mut self.class_places),
            None => heap.remove(class, &mut self.class_places),
        }
        self.key_bundle(bundle);
    }

    /// Sets the place of a bundle in its link by its first end.
    pub(super) fn key_bundle(&mut self, bundle: u32) {
        let record = &self.bundles[bundle as usize];
        if record.link == NONE {
            return;
        }
        let key = record.heap.first().map(|(end, _)| end + record.offset);
        let link = &mut self.links[record.link as usize];
        link.is_moved = true;
        let heap = &mut link.heap;
        match key {
            Some(key) => heap.set(key, bundle, &mut self.bundle_places),
            None => heap.remove(bundle, &mut self.bundle_places),
        }
    }
}
