//! Classes with a rate of their own: those that throttle nothing, and those that nobody blocks. All others have the level of
//! their first link.

use super::tables::Up;
use super::{Factors, NONE};
use crate::pcie_congestion::EPS;

/// A class with a rate of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exception {
    pub(super) class: u32,
    /// r; then the rate in the end.
    pub(super) rate: f64,
    /// ρ'.
    pub(super) arrived: f64,
    /// The hop at which it is blocked, or [`NONE`].
    pub(super) blocked_at: u32,
    /// It is cut at a contended link: sums over slots count it, at the level of its first link.
    pub(super) is_counted: bool,
    pub(super) raise: f64,
}

impl Factors {
    /// Finds all of them.
    pub(super) fn find_exceptions(&mut self) {
        self.exceptions.clear();
        self.find_free_starts();
        self.find_starts_below();
        for at in 0..self.specials.len() {
            self.consider(self.specials[at]);
        }
        let mut next = self.used_ups.next(0);
        while let Some(link) = next {
            next = self.used_ups.next(link + 1);
            self.find_unblocked(link);
        }
    }

    /// Classes that no contended link cuts after their first.
    fn find_free_starts(&mut self) {
        let mut next = self.used_ups.next(0);
        while let Some(link) = next {
            next = self.used_ups.next(link + 1);
            let up = &self.links.ups[link as usize];
            let is_free = |slot: &super::tables::Slot| slot.starting > 0 && !self.throttles(up.cut_above, slot);
            if up.starting.is_empty() || !up.slots.iter().any(is_free) {
                continue;
            }
            for at in 0..self.links.ups[link as usize].starting.len() {
                let class = self.links.ups[link as usize].starting[at];
                if !self.is_counted(class) {
                    self.consider(class);
                }
            }
        }
    }

    /// Classes without up links.
    fn find_starts_below(&mut self) {
        let mut next = self.starts_below.next(0);
        while let Some(port) = next {
            next = self.starts_below.next(port + 1);
            for at in 0..self.links.downs[port as usize].starting.len() {
                self.consider(self.links.downs[port as usize].starting[at]);
            }
        }
    }

    /// Whether a contended link cuts a class after its first one, up to its port, with all of its slot.
    pub(super) fn is_counted(&self, class: u32) -> bool {
        let class = &self.classes[class as usize];
        class.ups > 0
            && (class.turn() <= self.links.ups[class.route[0] as usize].cut_above
                || self.pairs[class.pair as usize].cut)
    }

    /// Lists a class if it has a rate of its own.
    fn consider(&mut self, class: u32) {
        if self.listed[class as usize] == self.event {
            return;
        }
        let arrived = self.rate_so_far(class);
        let is_counted = self.is_counted(class);
        let last = if self.last_contended(class) > 0 { 1 } else { self.classes[class as usize].route.len() as u32 };
        let (mut rate, mut blocked_at) = (arrived, NONE);
        for hop in 0..last {
            let level = self.level_of_hop(class, hop);
            if level < rate {
                (rate, blocked_at) = (level, hop);
            }
        }
        if rate >= arrived - EPS * self.classes[class as usize].narrowest {
            (rate, blocked_at) = (arrived, NONE);
        }
        if blocked_at == NONE || !is_counted {
            self.listed[class as usize] = self.event;
            self.exceptions.push(Exception { class, rate, arrived, blocked_at, is_counted, raise: 0.0 });
        }
    }

    /// Looks for classes that are not slower than their tree by a descent along the least rates.
    fn find_unblocked(&mut self, link: u32) {
        let Up { bandwidth, depth, tree, own, factor, parent, .. } = self.links.ups[link as usize];
        let level = self.sets.level[self.sets.find(tree) as usize] + EPS * bandwidth;
        if own.is_finite() && own <= level {
            let factor = factor * self.links.ups[parent as usize].factor;
            let mut at = 0;
            while let Some(&slot) = self.links.ups[link as usize].slots.get(at).filter(|slot| slot.turn() < depth) {
                if slot.least * factor <= level {
                    self.descend(link, slot.key, factor, level);
                }
                at += 1;
            }
        }
        let mut at = self.links.ups[link as usize].slots.len();
        while at > 0 && self.links.ups[link as usize].slots[at - 1].turn() == depth {
            at -= 1;
            let slot = self.links.ups[link as usize].slots[at];
            let pair = &self.pairs[slot.pair as usize];
            if pair.cut && slot.least * factor * pair.factor <= level {
                self.descend(link, slot.key, factor * pair.factor, level);
            }
        }
    }

    /// Considers the classes of a slot whose x at a link, times `factor`, is at most `level`.
    fn descend(&mut self, link: u32, key: u64, factor: f64, level: f64) {
        self.counters.descents += 1;
        let Up { bandwidth, children, .. } = self.links.ups[link as usize];
        let Ok(at) = self.links.ups[link as usize].slot(key) else { return };
        if self.links.ups[link as usize].slots[at].starting > 0 && bandwidth * factor <= level {
            for at in 0..self.links.ups[link as usize].starting.len() {
                let class = self.links.ups[link as usize].starting[at];
                if self.classes[class as usize].key == key {
                    self.consider(class);
                }
            }
        }
        for child in children.0..children.1 {
            let from = &self.links.ups[child as usize];
            let factor = factor * from.factor;
            if from.slot(key).is_ok_and(|at| from.slots[at].least * factor <= level) {
                self.descend(child, key, factor, level);
            }
        }
    }
}
