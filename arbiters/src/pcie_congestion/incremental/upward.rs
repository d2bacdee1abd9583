//! Step B by slots: only links above a change, the deepest first.

use super::tables::{Slot, Up};
use super::{Factors, NONE};
use crate::pcie_congestion::EPS;

/// A promise is so much above the factor when it is made, and is made anew when it is so much above it.
const ROOM: f64 = 1.05;
const TOO_MUCH_ROOM: f64 = 1.12;

/// What clamping may take without a trace: rounding.
const ROUNDING: f64 = 1.0 + 1e-14;

/// The promise for a factor: the old one if it serves.
pub(super) fn promise(old: f64, factor: f64) -> f64 {
    if factor > old || factor < old / TOO_MUCH_ROOM { (factor * ROOM).min(1.0) } else { old }
}

impl Factors {
    /// Sums what has changed, and finds the factors of up links.
    #[inline(never)]
    pub(super) fn divide_upward(&mut self) {
        let mut before = self.links.ups.len() as u32;
        while let Some(link) = self.dirty_ups.previous(before) {
            self.dirty_ups.remove(link);
            self.divide_up(link);
            before = link;
        }
    }

    fn divide_up(&mut self, link: u32) {
        let factor = self.links.ups[link as usize].factor;
        let mut slots = std::mem::take(&mut self.links.ups[link as usize].slots);
        let mut changed = std::mem::take(&mut self.changed_slots);
        for slot in slots.iter_mut().filter(|slot| slot.dirty) {
            slot.dirty = false;
            self.sum_slot(link, slot);
            changed.push((slot.key, slot.pair, slot.transfers == 0));
        }
        slots.retain(|slot| slot.transfers > 0);
        let up = &mut self.links.ups[link as usize];
        self.clamped -= u32::from(up.clamped);
        up.slots = slots;
        up.divide();
        self.clamped += u32::from(up.clamped);
        let has_moved = up.factor.to_bits() != factor.to_bits();
        self.to_grow.insert(link);
        if has_moved {
            self.grow_children(self.links.ups[link as usize].children);
        }
        self.tell_next(link, has_moved, &changed);
        changed.clear();
        self.changed_slots = changed;
        self.promise_up(link);
    }

    /// Σ x and its extremes, from the links that lead here and the classes that start here.
    fn sum_slot(&self, link: u32, slot: &mut Slot) {
        let Up { bandwidth, children, .. } = self.links.ups[link as usize];
        (slot.sum, slot.least, slot.most) = (f64::from(slot.starting) * bandwidth, f64::INFINITY, 0.0);
        if slot.starting > 0 {
            (slot.least, slot.most) = (bandwidth, bandwidth);
        }
        if slot.starting < slot.transfers {
            for child in &self.links.ups[children.0 as usize..children.1 as usize] {
                if let Ok(at) = child.slot(slot.key) {
                    let from = &child.slots[at];
                    slot.sum += child.factor * from.sum;
                    slot.least = slot.least.min(child.factor * from.least);
                    slot.most = slot.most.max(child.factor * from.most);
                }
            }
        }
        slot.clamped = slot.most > bandwidth * ROUNDING;
    }

    /// Marks what depends on changed slots, on all of them where the factor has moved.
    fn tell_next(&mut self, link: u32, has_moved: bool, changed: &[(u64, u32, bool)]) {
        let Up { depth, parent, .. } = self.links.ups[link as usize];
        for &(key, pair, is_gone) in changed {
            if (key >> 32) as u32 == depth {
                self.tell_port(pair, is_gone);
            } else if !has_moved || is_gone {
                self.mark_slot(parent, key);
            }
        }
        if !has_moved {
            return;
        }
        for at in 0..self.links.ups[link as usize].slots.len() {
            let Slot { key, pair, .. } = self.links.ups[link as usize].slots[at];
            if (key >> 32) as u32 == depth {
                self.tell_port(pair, false);
            } else {
                self.mark_slot(parent, key);
            }
        }
    }

    fn mark_slot(&mut self, link: u32, key: u64) {
        let up = &mut self.links.ups[link as usize];
        if let Ok(at) = up.slot(key) {
            up.slots[at].dirty = true;
            self.dirty_ups.insert(link);
        }
    }

    /// What enters a port has changed, or enters it no more.
    fn tell_port(&mut self, pair: u32, is_gone: bool) {
        let port = self.pairs[pair as usize].port;
        if port != NONE {
            self.dirty_downs.insert(port);
        }
        if is_gone {
            self.free_pairs.push(pair);
            if port != NONE {
                self.links.downs[port as usize].pairs.retain(|&other| other != pair);
            }
        }
    }

    fn promise_up(&mut self, link: u32) {
        let up = &mut self.links.ups[link as usize];
        let promised = promise(up.promise, up.factor);
        if promised != up.promise {
            up.promise = promised;
            let classes = std::mem::take(&mut up.classes);
            classes.iter().for_each(|&class| self.reserve(class));
            self.links.ups[link as usize].classes = classes;
        }
    }
}

impl Up {
    /// Its factor, from its slots.
    fn divide(&mut self) {
        let sum = self.slots.iter().map(|slot| slot.sum).sum();
        self.sum = sum;
        self.contended = sum > self.bandwidth * (1.0 + EPS);
        self.factor = if self.contended { self.bandwidth / sum } else { 1.0 };
        self.clamped = self.slots.iter().any(|slot| slot.clamped);
        let over = self.slots.iter().take_while(|slot| slot.turn() < self.depth);
        (self.least_over, self.transfers_over) = (f64::INFINITY, 0);
        for slot in over {
            self.least_over = self.least_over.min(slot.least);
            self.transfers_over += slot.transfers;
        }
    }
}
