//! Everything that must hold between two events, recomputed from the transfers, exactly.

use weir_plugin_api::{IncrementalArbiter, LinkId};

use super::super::NONE;
use super::super::clocks::Clocks;
use super::super::numbers::{INF, Level};

impl Clocks {
    /// Panics where anything is not as it must be.
    pub(super) fn check(&mut self, arbiter: &dyn IncrementalArbiter) {
        assert!(self.arrivals.is_empty() && self.removed.is_empty() && self.joining.is_empty());
        assert!(self.nodes.moved.is_empty());
        for (id, class) in (0_u32..).zip(&self.classes) {
            let first = self.nodes.at(id).heap.ids();
            let all = first.chain(self.turns.iter().flat_map(|turns| turns.behind(id)));
            let of_transfers: u64 = all.map(|t| u64::from(self.transfers[t as usize].weight)).sum();
            assert_eq!(of_transfers, class.weight);
        }
        self.nodes.ids().for_each(|id| self.check_ends(id));
        self.check_alone();
        self.sum_loads(arbiter).expect("no link is overloaded");
    }

    /// The ids of all transfers that have a class, with that.
    pub(super) fn classes_of_active(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let classes = 0..self.classes.len() as u32;
        let of =
            |class: u32| self.nodes.at(class).heap.ids().chain(self.turns.iter().flat_map(move |t| t.behind(class)));
        classes.flat_map(move |class| of(class).map(move |slot| (self.transfers[slot as usize].id, class)))
    }

    /// First ends are passed on, and a root that something hangs below has a level, and is due unless it stands.
    fn check_ends(&self, id: u32) {
        let node = self.nodes.at(id);
        let is_class = id < self.nodes.first_own;
        let ends =
            node.heap.ids().map(|x| if is_class { node.heap.key(x, &self.transfer_places) } else { self.nodes.key(x) });
        let first = node.heap.first().map(|(key, _)| key);
        assert_eq!(first, ends.min());
        if node.below != NONE {
            let is_in = self.nodes.at(node.below).heap.ids().any(|other| other == id);
            assert_eq!(is_in, first.is_some());
            assert!(first.is_none_or(|first| first + node.offset == self.nodes.key(id)));
            assert_eq!(node.root, NONE, "only roots have a clock");
            return;
        }
        let Some(root) = self.nodes.roots.get(node.root as usize) else {
            assert_eq!(first, None, "members without a level");
            return;
        };
        assert_eq!((root.node, root.level == INF), (id, first.is_none()), "a level of nothing");
        let stands = first.is_none() || root.level == 0;
        assert_eq!(self.due.ids().any(|id| id == node.root), !stands);
    }

    /// The level of a class, and the link that holds it back.
    fn level_of(&self, class: u32, arbiter: &dyn IncrementalArbiter) -> (Level, LinkId) {
        (self.nodes.level_of(class), arbiter.holder(class).link)
    }

    /// Panics unless every class is at its limit, or has the highest level of a link that is full but for rounding: these two
    /// are what max-min is.
    pub(super) fn check_max_min(&self, arbiter: &dyn IncrementalArbiter) {
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
            let (level, holder) = self.level_of(class, arbiter);
            let Some(link) = self.links.iter().position(|link| link.id == holder) else {
                assert_eq!(level, self.limit_of(path), "at its limit");
                continue;
            };
            let (mut load, mut own) = (0, 0);
            for &other in &on[link] {
                let (theirs, by) = self.level_of(other, arbiter);
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
