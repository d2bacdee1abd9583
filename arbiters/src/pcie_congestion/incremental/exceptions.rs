//! Classes with a rate of their own: those that nobody blocks, and those that something blocks further on, as they throttle
//! nothing. All others have the level of their first link.

use super::tables::{Class, Up, insert};
use super::{Factors, NONE};
use crate::pcie_congestion::EPS;

/// Classes with a rate of their own: one, or several of one slot that start at the same link and that nobody looks at one by
/// one; they are told apart after their port only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exception {
    /// The first of them.
    pub(super) class: u32,
    key: u64,
    /// Whether others may join.
    pub(super) is_open: bool,
    pub(super) transfers: f64,
    /// r.
    pub(super) rate: f64,
    /// ρ'.
    pub(super) arrived: f64,
    /// The hop at which it is blocked, or [`NONE`].
    pub(super) blocked_at: u32,
    /// What sums over slots count for each transfer: the level of its first link where that is throttled, else 0.
    pub(super) counted: f64,
    /// What step D2 adds, and the part of it that fits on the links up to the port.
    pub(super) raise: f64,
    pub(super) fits: f64,
    /// Its links, and the end of those that all of its classes share.
    pub(super) hops: (usize, usize),
    pub(super) shared: usize,
}

/// A class of an exception.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) class: u32,
    pub(super) exception: u32,
    /// In the end.
    pub(super) rate: f64,
}

/// A link where classes start, for those that nothing cuts after it.
struct Home {
    /// Depth of the topmost link of its tree.
    top: u32,
    /// The level of that tree; infinite where links down are throttled, too.
    level: f64,
    /// ρ'.
    arrived: f64,
}

impl Home {
    /// Whether a class that starts here has the level of that tree alone, as all its links up are of it; unknown for those
    /// that are looked at one by one.
    #[inline]
    fn keeps(&self, class: &Class) -> bool {
        class.is_free && class.turn() >= self.top && self.level < self.arrived - EPS * class.narrowest
    }
}

impl Factors {
    /// Finds all of them in the subtrees that the event touches; and classes that may have been some.
    #[inline(never)]
    pub(super) fn find_exceptions(&mut self) {
        self.exceptions.clear();
        self.members.clear();
        self.away.clear();
        while let Some(class) = self.fresh.pop() {
            self.classes[class as usize].is_fresh = false;
            self.count_anew(class);
            self.watch(class);
        }
        self.seek_unblocked();
        for at in 0..self.subtrees.ranges.len() {
            let (first, end) = self.subtrees.ranges[at];
            let mut next = self.watched.next(first);
            while let Some(link) = next.filter(|&link| link < end) {
                self.find_at(link);
                next = self.watched.next(link + 1);
            }
            self.find_starts_below(first, end);
        }
        for at in 0..self.specials.len() {
            let class = self.specials[at];
            if self.is_touched(self.classes[class as usize].route[0]) {
                self.consider(class);
            }
        }
    }

    /// Watches a class: it may be an exception, or hangs elsewhere than below its first link.
    #[inline]
    pub(super) fn watch(&mut self, class: u32) {
        if !self.classes[class as usize].is_watched {
            self.begin_to_watch(class);
        }
    }

    fn begin_to_watch(&mut self, class: u32) {
        let of = &mut self.classes[class as usize];
        if of.ups > 0 && of.transfers > 0 {
            of.is_watched = true;
            insert(&mut self.links.ups[of.route[0] as usize].watched, class);
            self.watched.insert(of.route[0]);
        }
    }

    /// Considers classes that start at a link.
    fn find_at(&mut self, link: u32) {
        if !self.is_touched(link) {
            return;
        }
        let sought = self.links.ups[self.top(link) as usize].sought;
        let (before, home) = (self.exceptions.len(), self.home(link));
        let mut watched = std::mem::take(&mut self.links.ups[link as usize].watched);
        let mut has_left = false;
        for &class in &watched {
            let of = &mut self.classes[class as usize];
            let is_away = of.told_below != link;
            let may_be = of.is_free || of.slow == sought;
            of.is_watched = is_away || may_be;
            has_left |= !of.is_watched;
            if is_away {
                self.away.push(class);
            }
            if may_be && !home.keeps(of) && !self.join(class, before) {
                self.consider(class);
            }
        }
        if has_left {
            watched.retain(|&class| self.classes[class as usize].is_watched);
            if watched.is_empty() {
                self.watched.remove(link);
            }
        }
        self.links.ups[link as usize].watched = watched;
    }

    fn home(&self, link: u32) -> Home {
        let (up, top) = (&self.links.ups[link as usize], &self.links.ups[self.top(link) as usize]);
        let level = if self.sets.throttles_below() { f64::INFINITY } else { top.branch.level };
        Home { top: top.depth, level, arrived: up.bandwidth * up.factor }
    }

    /// Lists a class, or no more, as one that no contended link cuts after its first one.
    pub(super) fn count_anew(&mut self, class: u32) {
        let of = &self.classes[class as usize];
        let is_free = of.transfers > 0 && of.ups > 0 && !self.is_counted(class);
        if is_free != of.is_free {
            self.classes[class as usize].is_free = is_free;
            self.watch(class);
        }
    }

    /// Looks for unblocked classes in trees that have changed.
    #[inline(never)]
    fn seek_unblocked(&mut self) {
        for at in 0..self.touched.len() {
            let top = self.touched[at];
            let up = &mut self.links.ups[top as usize];
            let has_moved = up.branch.level.to_bits() != up.branch.level_before.to_bits();
            if up.branch.merged || up.sought == self.event || up.looked != self.event && !has_moved {
                continue;
            }
            up.sought = self.event;
            up.branch.level_before = up.branch.level;
            if up.branch.level.is_finite() {
                self.seek_in_tree(top, self.links.ups[top as usize].branch.level + self.tolerance);
            }
        }
    }

    fn seek_in_tree(&mut self, link: u32, level: f64) {
        let Up { children, branch, .. } = self.links.ups[link as usize];
        if branch.own <= level {
            self.find_unblocked(link, level);
        }
        for child in children.0..children.1 {
            let below = self.links.ups[child as usize].branch;
            if below.merged && below.least <= level {
                self.seek_in_tree(child, level);
            }
        }
    }

    /// Classes without up links.
    fn find_starts_below(&mut self, first: u32, end: u32) {
        let mut next = self.starts_below.next(first);
        while let Some(port) = next.filter(|&port| port < end) {
            next = self.starts_below.next(port + 1);
            if !self.is_touched(port) {
                continue;
            }
            for at in 0..self.links.downs[port as usize].starting.len() {
                self.consider(self.links.downs[port as usize].starting[at]);
            }
        }
    }

    /// Whether a contended link cuts a class after its first one, up to its port, with all of its slot.
    pub(super) fn is_counted(&self, class: u32) -> bool {
        let class = &self.classes[class as usize];
        class.ups > 0
            && (class.turn() <= self.links.ups[class.route[0] as usize].branch.cut_above
                || self.pairs[class.pair as usize].cut)
    }

    /// Lists a class with another one of its slot, among the exceptions from one on; whether there is one.
    fn join(&mut self, class: u32, from: usize) -> bool {
        let key = self.classes[class as usize].key;
        if self.marks[class as usize].event == self.event {
            return false;
        }
        let others = self.exceptions[from..].iter();
        let Some(at) = others.clone().position(|other| other.is_open && other.key == key) else { return false };
        self.exceptions[from + at].transfers += f64::from(self.classes[class as usize].transfers);
        self.list(class, (from + at) as u32);
        true
    }

    fn list(&mut self, class: u32, exception: u32) {
        self.classes[class as usize].listed = self.event;
        self.classes[class as usize].exception = exception;
        let rate = self.exceptions[exception as usize].rate;
        self.members.push(Member { class, exception, rate });
    }

    /// Lists a class if it has a rate of its own.
    #[inline(never)]
    fn consider(&mut self, class: u32) {
        if self.classes[class as usize].listed == self.event {
            return;
        }
        let of = &self.classes[class as usize];
        let (arrived, is_free) = (self.rate_so_far(class), of.ups == 0 || of.is_free);
        let (rate, blocked_at, level) = self.blocked_rate(class, arrived, is_free);
        if blocked_at == 0 && of.ups > 0 {
            return;
        }
        let counted = if of.ups > 0 && level.is_finite() { level } else { 0.0 };
        let (key, transfers) = (of.key, f64::from(of.transfers));
        let is_looked_at = self.marks[class as usize].event == self.event;
        let is_open = of.ups > 0 && !is_looked_at && !(is_free && self.sets.throttles_below());
        let (raise, fits, hops, shared) = (0.0, 1.0, (0, 0), 0);
        self.exceptions.push(Exception {
            class,
            key,
            is_open,
            transfers,
            rate,
            arrived,
            blocked_at,
            counted,
            raise,
            fits,
            hops,
            shared,
        });
        self.list(class, self.exceptions.len() as u32 - 1);
    }

    /// r, the hop at which a class is blocked or [`NONE`], and the level of its first link.
    fn blocked_rate(&self, class: u32, arrived: f64, is_free: bool) -> (f64, u32, f64) {
        let of = &self.classes[class as usize];
        let first = self.first_level(class);
        let (mut rate, mut blocked_at) = if first < arrived { (first, 0) } else { (arrived, NONE) };
        // Who throttles its first link has the level of that.
        if is_free && !self.throttles_one_by_one(class) {
            let mut hop = 0;
            while hop < of.ups {
                let link = of.route[hop as usize];
                let (depth, top) = (self.links.ups[link as usize].depth, &self.links.ups[self.top(link) as usize]);
                if top.branch.level < rate {
                    (rate, blocked_at) = (top.branch.level, hop);
                }
                // The next links up to the topmost one have the same level.
                hop += 1 + depth - top.depth;
            }
            let downs = if self.sets.throttles_below() { of.ups..of.route.len() as u32 } else { 0..0 };
            for hop in downs {
                let level = self.level_of_hop(class, hop);
                if level < rate {
                    (rate, blocked_at) = (level, hop);
                }
            }
        }
        if rate < arrived - EPS * of.narrowest { (rate, blocked_at, first) } else { (arrived, NONE, first) }
    }

    /// Looks for classes that are not slower than their tree by a descent along the least rates.
    fn find_unblocked(&mut self, link: u32, level: f64) {
        let Up { depth, factor, parent, .. } = self.links.ups[link as usize];
        let above = self.links.ups.get(parent as usize).filter(|above| above.contended).map(|above| above.factor);
        for at in 0..self.links.ups[link as usize].slots.len() {
            let slot = self.links.ups[link as usize].slots[at];
            let factor = match (slot.turn() < depth, above) {
                (true, Some(above)) => factor * above,
                (true, None) => continue,
                (false, _) => {
                    let pair = &self.pairs[slot.pair as usize];
                    if pair.cut { factor * pair.factor } else { continue }
                }
            };
            if slot.least * factor <= level {
                self.descend(link, slot.key, factor, level);
            }
        }
    }

    /// Lists the classes of a slot whose x at a link, times `factor`, is at most `level`.
    fn descend(&mut self, link: u32, key: u64, factor: f64, level: f64) {
        self.counters.descents += 1;
        let Up { bandwidth, children, .. } = self.links.ups[link as usize];
        let Ok(at) = self.links.ups[link as usize].slot(key) else { return };
        if self.links.ups[link as usize].slots[at].starting > 0 && bandwidth * factor <= level {
            for at in 0..self.links.ups[link as usize].starting.len() {
                let class = self.links.ups[link as usize].starting[at];
                if self.classes[class as usize].key == key {
                    self.classes[class as usize].slow = self.event;
                    self.watch(class);
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
