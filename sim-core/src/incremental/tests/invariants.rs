//! Everything that must hold between two events, recomputed from the transfers, exactly.

use super::super::clocks::Clocks;
use super::super::contract::NONE;
use super::super::heap::OUT;
use super::super::layers::Layers;
use super::super::numbers::INF;
use super::super::state::{Shares, product};
use weir_plugin_api::LinkId;

impl Clocks {
    /// Panics where anything is not as it must be, or not as the arbiter has it.
    pub(super) fn check(&self, shares: &Shares) {
        assert!(
            self.arrivals.is_empty() && self.removed.is_empty() && self.moved.is_empty() && self.joining.is_empty()
        );
        assert_eq!(self.classes.len(), shares.classes.len());
        for (class, theirs) in self.classes.iter().zip(&shares.classes) {
            let of_transfers: u64 = class.heap.ids().map(|t| u64::from(self.transfers[t as usize].weight)).sum();
            assert_eq!((of_transfers, class.group), (class.weight, theirs.bundle));
            assert_eq!(class.weight, theirs.weight);
        }
        for (group, record) in self.groups.iter().enumerate() {
            let classes: u64 = record.heap.ids().map(|c| self.classes[c as usize].weight).sum();
            if record.root == NONE {
                assert_eq!(classes, 0, "a free group has no classes");
            } else {
                let theirs = &shares.bundles[group];
                assert_eq!((record.root, classes), (theirs.link, theirs.weight));
            }
        }
        self.check_roots(shares);
        self.check_alone(shares);
    }

    fn check_roots(&self, shares: &Shares) {
        for (root, record) in self.roots.iter().enumerate() {
            assert_eq!(record.level, shares.links[root].share);
            assert!(record.level == INF || record.link == shares.links[root].id);
            let ends = record.heap.ids().map(|g| record.heap.key(g, &self.group_places));
            assert_eq!(record.heap.first().map(|(key, _)| key), ends.min());
            assert_eq!(self.root_places[root] == OUT, record.heap.first().is_none());
        }
    }

    /// Weights of links, and that whoever is alone has them to itself.
    fn check_alone(&self, shares: &Shares) {
        let mut weights = vec![0; self.links.len()];
        for class in 0..self.classes.len() as u32 {
            for at in self.links_of(class) {
                weights[self.class_links[at] as usize] += self.classes[class as usize].weight;
            }
        }
        for (link, record) in self.links.iter().enumerate() {
            let theirs = shares.links.iter().find(|l| l.id == record.id && !l.is_limit).map_or(0, |l| l.weight);
            assert_eq!(weights[link], theirs, "weight of link {link}");
            if record.alone == NONE {
                assert_eq!(record.weight, theirs);
                continue;
            }
            let transfer = &self.transfers[record.alone as usize];
            assert_eq!((record.weight, weights[link]), (u64::from(transfer.weight), 0), "alone on link {link}");
            let (level, left) = self.standing_alone(record.alone, transfer.start);
            assert!(level <= self.classes[transfer.class as usize].limit && left == transfer.work);
            assert!(product(u64::from(transfer.weight), level) <= i128::from(record.capacity));
        }
    }
}

impl Shares {
    /// Panics where anything is not as it must be.
    pub(super) fn check(&self) {
        assert!(self.queue.is_empty() && self.touched.is_empty() && self.dissolved.is_empty());
        assert!(self.moved_bundles.is_empty() && self.moved_classes.is_empty());
        for link in 0..self.links.len() as u32 {
            self.check_sums(link);
            self.check_share(link);
            self.check_cells(link);
            self.check_quiet(link);
        }
        for class in self.classes.iter().filter(|c| c.weight > 0) {
            let links = &self.class_links[class.first as usize..(class.first + class.count) as usize];
            assert!(links.contains(&self.bundles[class.bundle as usize].link), "held back by a link of its route");
        }
    }

    fn check_sums(&self, link: u32) {
        let record = &self.links[link as usize];
        let (mut own, mut others, mut weight, mut reserved, mut load) = (0, 0, 0, 0, 0);
        for class in self.classes.iter().filter(|c| c.bundle != NONE) {
            let on = &self.class_links[class.first as usize..(class.first + class.count) as usize];
            if on.contains(&link) {
                weight += class.weight;
                reserved += product(class.weight, class.promise);
                load += product(class.weight, self.links[self.bundles[class.bundle as usize].link as usize].share);
                if !record.is_awake {
                    continue;
                }
                let by = self.bundles[class.bundle as usize].link;
                if by == link {
                    own += class.weight;
                } else {
                    others += product(class.weight, self.links[by as usize].share);
                }
            }
        }
        assert_eq!((record.own, record.others, record.weight), (own, others, weight), "sums of link {link}");
        if self.sleepy {
            assert_eq!(record.reserved, reserved, "reservations of link {link}");
        }
        if !record.is_awake && !record.is_limit {
            assert!(load <= reserved && reserved <= i128::from(record.capacity), "quiet link {link} may be full");
        }
    }

    fn check_quiet(&self, link: u32) {
        let record = &self.links[link as usize];
        if !self.sleepy {
            return;
        }
        for &(class, at) in &record.classes {
            let class = &self.classes[class as usize];
            let bundle = &self.bundles[class.bundle as usize];
            let level = self.links[bundle.link as usize].share;
            assert!(bundle.floor <= class.promise && self.links[bundle.link as usize].floor <= bundle.floor);
            assert!(level <= class.promise, "a promise is kept");
            assert!(record.is_awake || !record.is_limit || class.promise <= record.capacity);
            assert!((class.first..class.first + class.count).contains(&at));
        }
        assert!(record.is_awake || record.own == 0 && record.cells_in.is_empty() && record.share == INF);
    }

    fn check_share(&self, link: u32) {
        let record = &self.links[link as usize];
        assert_eq!(record.share == INF, record.own == 0, "a share of something");
        if record.is_limit {
            assert!(record.own == 0 || record.share == record.capacity);
            return;
        }
        let own = if record.own > 0 { product(record.own, record.share) } else { 0 };
        let load = own + record.others;
        assert!(load <= i128::from(record.capacity), "load of link {link}");
        assert!(
            record.own == 0 || load + i128::from(record.own) > i128::from(record.capacity),
            "link {link} is not full"
        );
    }

    fn check_cells(&self, link: u32) {
        let record = &self.links[link as usize];
        let most = if record.is_limit { record.capacity } else { record.share };
        for &index in &record.cells_in {
            let cell = &self.cells[index as usize];
            let share = self.links[cell.by as usize].share;
            assert!(share <= most, "link {link} lets others have more than its share");
            assert!(share <= record.hint);
            let (mut weight, mut hop) = (0, cell.head);
            while hop != NONE {
                let member = &self.hops[hop as usize];
                assert_eq!((member.link, member.cell), (link, index));
                assert_eq!(self.bundles[member.bundle as usize].link, cell.by);
                weight += self.bundles[member.bundle as usize].weight;
                hop = member.next;
            }
            assert_eq!(cell.weight, weight);
        }
        if self.sleepy {
            let (mut own, mut hop) = (0, record.own_head);
            while hop != NONE {
                let member = &self.hops[hop as usize];
                assert_eq!(self.bundles[member.bundle as usize].link, link);
                own += self.bundles[member.bundle as usize].weight;
                hop = member.next;
            }
            assert_eq!(own, record.own, "own bundles of link {link}");
        }
    }
}

impl Layers {
    /// Panics where a priority is not consistent over what the higher ones leave, or a link is overloaded.
    pub(super) fn check(&self) {
        for (at, layer) in self.layers.iter().enumerate() {
            layer.shares.check();
            for link in 0..self.capacities.len() {
                assert_eq!(layer.shares.capacity(LinkId::from_index(link)), self.left(link, at));
            }
        }
        for (link, &capacity) in self.capacities.iter().enumerate() {
            let used: u64 = self.layers.iter().map(|layer| layer.used[link]).sum();
            assert!(used <= capacity, "link {link} is overloaded");
        }
    }
}
