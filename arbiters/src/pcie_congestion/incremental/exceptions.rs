//! Exceptions: sources and single classes with a rate of their own, as nobody blocks them, or something blocks them further on
//! and they throttle nothing. All others have the level of their first link.

use super::sources::Source;
use super::tables::Up;
use super::{Factors, NONE};
use crate::pcie_congestion::EPS;

/// A source, but for classes that are looked at one by one; or one class. Classes of a source are told apart after their port
/// only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exception {
    /// The source, or [`NONE`]; its first class, or the only one.
    pub(super) source: u32,
    pub(super) class: u32,
    pub(super) transfers: f64,
    /// r.
    pub(super) rate: f64,
    /// ρ'.
    pub(super) arrived: f64,
    /// The hop at which it is blocked, or [`NONE`].
    pub(super) blocked_at: u32,
    /// What sums over slots count for each transfer: the level of its first link where that is throttled, else 0.
    pub(super) counted: f64,
    /// What step D2 adds.
    pub(super) raise: f64,
    /// Its links, and the end of those that all of its classes share.
    pub(super) hops: (usize, usize),
    pub(super) shared: usize,
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
    /// Whether a source has the level of that tree alone, as all its links up are of it.
    #[inline]
    fn keeps(&self, source: &Source) -> bool {
        source.is_free && source.turn() >= self.top && self.level < self.arrived - EPS * source.narrowest
    }
}

impl Factors {
    /// Finds all of them in the subtrees that the event touches; and sources and classes that may have been some.
    #[inline(never)]
    pub(super) fn find_exceptions(&mut self) {
        self.exceptions.clear();
        self.away.clear();
        self.apart.clear();
        self.take_fresh();
        self.seek_unblocked();
        for at in 0..self.subtrees.ranges.len() {
            let (first, end) = self.subtrees.ranges[at];
            let mut next = self.watched.next(first);
            // Links side by side are of one subtree.
            let mut known = None;
            while let Some(link) = next.filter(|&link| link < end) {
                let parent = self.links.ups[link as usize].parent;
                let (_, is_touched) =
                    known.filter(|&(other, _)| other == parent).unwrap_or_else(|| (parent, self.is_touched(link)));
                known = Some((parent, is_touched));
                if is_touched {
                    self.find_at(link);
                }
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

    /// Considers the sources of a link.
    fn find_at(&mut self, link: u32) {
        let (sought, home) = (self.links.ups[self.top(link) as usize].sought, self.home(link));
        let mut watched = std::mem::take(&mut self.links.ups[link as usize].watched);
        let mut has_left = false;
        for &source in &watched {
            let of = &mut self.sources[source as usize];
            let (is_away, may_be) = (of.told_below != link, of.is_free || of.slow == sought);
            of.is_watched = is_away || may_be;
            has_left |= !of.is_watched;
            if is_away {
                self.away.push(source);
            }
            if !of.apart.is_empty() {
                of.apart.iter().for_each(|&class| self.classes[class as usize].is_apart = false);
                self.apart.append(&mut of.apart);
            }
            // Subtrees may lie within others.
            if may_be && of.listed != self.event && !home.keeps(of) {
                self.consider_source(source);
            }
        }
        if has_left {
            watched.retain(|&source| self.sources[source as usize].is_watched);
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

    /// Lists a source if it has a rate of its own. Where links down are throttled that its classes do not share, these are
    /// considered one by one.
    #[inline(never)]
    fn consider_source(&mut self, source: u32) {
        let of = &self.sources[source as usize];
        let (is_free, narrowest) = (of.is_free, of.narrowest);
        if is_free && self.sets.throttles_below() {
            for at in 0..self.sources[source as usize].classes.len() {
                self.consider(self.sources[source as usize].classes[at]);
            }
            return;
        }
        let Some((class, transfers)) = self.alike(source) else { return };
        let found = self.blocked_rate(class, is_free, narrowest);
        if found.blocked_at != 0 {
            let of = &mut self.sources[source as usize];
            (of.listed, of.exception) = (self.event, self.exceptions.len() as u32);
            self.exceptions.push(Exception { source, class, transfers: f64::from(transfers), ..found });
        }
    }

    /// Lists a class by itself if it has a rate of its own.
    #[inline(never)]
    fn consider(&mut self, class: u32) {
        if self.classes[class as usize].listed == self.event {
            return;
        }
        let of = &self.classes[class as usize];
        let (transfers, narrowest) = (f64::from(of.transfers), of.narrowest);
        let is_free = self.sources.get(of.source as usize).is_none_or(|source| source.is_free);
        let found = self.blocked_rate(class, is_free, narrowest);
        if found.blocked_at != 0 || self.classes[class as usize].ups == 0 {
            let of = &mut self.classes[class as usize];
            (of.listed, of.exception) = (self.event, self.exceptions.len() as u32);
            self.exceptions.push(Exception { class, transfers, ..found });
        }
    }

    /// The rate of a class, and of others with the same links up to the port that are not free or on no throttled link down.
    fn blocked_rate(&self, class: u32, is_free: bool, narrowest: f64) -> Exception {
        let of = &self.classes[class as usize];
        let (arrived, first) = (self.rate_so_far(class), self.first_level(class));
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
        if rate >= arrived - EPS * narrowest {
            (rate, blocked_at) = (arrived, NONE);
        }
        let counted = if of.ups > 0 && first.is_finite() { first } else { 0.0 };
        let (raise, hops, shared) = (0.0, (0, 0), 0);
        let (source, transfers) = (NONE, 0.0);
        Exception { source, class, transfers, rate, arrived, blocked_at, counted, raise, hops, shared }
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

    /// Notes the sources of a slot whose x at a link, times `factor`, is at most `level`.
    fn descend(&mut self, link: u32, key: u64, factor: f64, level: f64) {
        self.counters.descents += 1;
        let Up { bandwidth, children, .. } = self.links.ups[link as usize];
        if bandwidth * factor <= level
            && let Some(source) = self.source_at(link, key)
        {
            self.sources[source as usize].slow = self.event;
            self.watch(source);
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
