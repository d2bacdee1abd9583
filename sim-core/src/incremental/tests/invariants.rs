//! Everything that must hold between two events, recomputed from the transfers, exactly.

use super::super::NONE;
use super::super::clocks::Clocks;
use super::super::numbers::{INF, Level};

impl Clocks {
    /// Panics where anything is not as it must be.
    pub(super) fn check(&mut self) {
        assert!(
            self.arrivals.is_empty() && self.removed.is_empty() && self.moved.is_empty() && self.joining.is_empty()
        );
        for class in &self.classes {
            let of_transfers: u64 = class.heap.ids().map(|t| u64::from(self.transfers[t as usize].weight)).sum();
            assert_eq!((of_transfers, class.group == NONE), (class.weight, class.weight == 0));
        }
        for record in &self.groups {
            let classes: u64 = record.heap.ids().map(|c| self.classes[c as usize].weight).sum();
            assert_eq!(record.root == NONE, classes == 0, "a free group has no classes");
        }
        self.check_roots();
        self.check_alone();
        self.sum_loads().expect("no link is overloaded");
    }

    fn check_roots(&self) {
        for (root, record) in self.roots.iter().enumerate() {
            assert_eq!(record.level == INF, record.heap.first().is_none(), "a level of nothing");
            let ends = record.heap.ids().map(|g| record.heap.key(g, &self.group_places));
            assert_eq!(record.heap.first().map(|(key, _)| key), ends.min());
            let stands = record.heap.first().is_none() || record.level == 0;
            assert_eq!(self.due.ids().any(|id| id == root as u32), !stands);
        }
    }

    /// The level of a class, and the link that holds it back.
    fn level_of(&self, class: u32) -> (Level, weir_plugin_api::LinkId) {
        let root = &self.roots[self.root_and_since(class).0 as usize];
        (root.level, root.link)
    }

    /// Panics unless every class is at its limit, or has the highest level of a link that is full but for rounding: these two
    /// are what max-min is.
    pub(super) fn check_max_min(&self) {
        let used = |path: &u32| self.paths[*path as usize].class != NONE;
        let with_weight: Vec<u32> = (0..self.paths.len() as u32).filter(used).collect();
        let mut on = vec![Vec::new(); self.links.len()];
        for &path in &with_weight {
            for at in self.links_of(path) {
                on[self.path_links[at] as usize].push(self.paths[path as usize].class);
            }
        }
        for &path in &with_weight {
            let class = self.paths[path as usize].class;
            let (level, holder) = self.level_of(class);
            let Some(link) = self.links.iter().position(|link| link.id == holder) else {
                assert_eq!(level, self.limit_of(path), "at its limit");
                continue;
            };
            let (mut load, mut own) = (0, 0);
            for &other in &on[link] {
                let (theirs, by) = self.level_of(other);
                assert!(theirs <= level, "class {other} has more of link {link} than {class}, which it holds back");
                let weight = u128::from(self.classes[other as usize].weight);
                load += weight * u128::from(theirs);
                own += if by == holder { weight } else { 0 };
            }
            assert!(load + own > u128::from(self.links[link].capacity), "link {link} holds back and is not full");
        }
    }

    /// Weights of links, and that whoever is alone has them to itself.
    fn check_alone(&self) {
        let mut weights = vec![0; self.links.len()];
        for class in self.classes.iter().filter(|class| class.weight > 0) {
            for at in self.links_of(class.path) {
                weights[self.path_links[at] as usize] += class.weight;
            }
        }
        for (link, record) in self.links.iter().enumerate() {
            if record.alone == NONE {
                assert_eq!(record.weight, weights[link], "weight of link {link}");
                continue;
            }
            let transfer = &self.transfers[record.alone as usize];
            assert_eq!((record.weight, weights[link]), (u64::from(transfer.weight), 0), "alone on link {link}");
            let (level, left) = self.standing_alone(record.alone, transfer.start);
            assert!(level <= self.limit_of(transfer.path) && left == transfer.work);
            assert!(u128::from(transfer.weight) * u128::from(level) <= u128::from(record.capacity));
        }
    }
}
