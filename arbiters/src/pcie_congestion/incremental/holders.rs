//! Which link holds a class back, why, and by whom.

use weir_plugin_api::{Cause, ClassInfo, Holder, Level, LinkId, NO_LEVEL};

use super::trees::By;
use super::{AT_SOURCE, Factors, NONE};
use crate::common::ports::crosses_root_complex;
use crate::pcie_congestion::EPS;

/// A rate that is so near to that of the narrowest link is full.
const ROUNDING: f64 = 1e-12;

impl Factors {
    /// A transfer that shares no link: as the rate arbiter has it.
    pub(super) fn lone(&self, class: &ClassInfo<'_>) -> Option<(LinkId, Level)> {
        let crosses = crosses_root_complex(&self.ports, class.links);
        let limit = if class.limit == NO_LEVEL { f64::INFINITY } else { class.limit as f64 / self.scale };
        let (mut rate, mut least, mut cut) = (limit, limit, None);
        for &link in class.links {
            let port = &self.ports[link.index()];
            (rate, least) = (rate.min(port.bandwidth), least.min(port.bandwidth));
            if crosses && port.below_root_complex && rate > port.reduced * (1.0 + EPS) {
                (rate, cut) = (port.reduced, Some(link));
            }
        }
        cut.filter(|_| rate < least).map(|link| (link, self.level(rate)))
    }

    /// What holds a class back: as the bindings of the rate arbiter, as far as it is at hand.
    pub(super) fn held_back(&self, class: u32) -> Holder {
        if let Some(holder) = self.classes[class as usize].asked {
            return holder;
        }
        let of = &self.classes[class as usize];
        if self.is_home(class) {
            return self.blocked(class, 0);
        }
        let (blocked_at, rate) = match self.sources.get(of.source as usize).filter(|_| of.told_below == AT_SOURCE) {
            Some(source) => (source.blocked_at, source.rate),
            None => (of.blocked_at, of.rate),
        };
        match blocked_at {
            NONE => self.unblocked(class, rate),
            hop => self.blocked(class, hop),
        }
    }

    /// A class that has the level of one of its links.
    fn blocked(&self, class: u32, hop: u32) -> Holder {
        let of = &self.classes[class as usize];
        let by = match self.level_by_hop(class, hop) {
            By::Nobody => NONE,
            By::Class(by) => by,
            By::Over(link) => self.slowest_over(link),
            By::Turn(pair) => {
                let from = &self.links.ups[self.pairs[pair as usize].from as usize];
                let key = from.slots.iter().find(|slot| slot.pair == pair).map_or(0, |slot| slot.key);
                self.slowest(self.pairs[pair as usize].from, key)
            }
        };
        // Where the two meet, if they do.
        let meet = self.classes.get(by as usize).and_then(|by| of.links.iter().find(|link| by.links.contains(link)));
        Holder { link: *meet.unwrap_or(&of.links[hop as usize]), cause: Cause::HeadOfLine, by }
    }

    /// The slowest class of those that go on over the next link.
    fn slowest_over(&self, link: u32) -> u32 {
        let up = &self.links.ups[link as usize];
        let mut over = up.slots.iter().take_while(|slot| slot.turn() < up.depth);
        over.find(|slot| slot.least == up.least_over).map_or(NONE, |slot| self.slowest(link, slot.key))
    }

    /// The slowest class of a slot.
    fn slowest(&self, mut link: u32, key: u64) -> u32 {
        loop {
            let up = &self.links.ups[link as usize];
            let Ok(at) = up.slot(key) else { return NONE };
            let slot = &up.slots[at];
            if slot.starting > 0 && slot.least == up.bandwidth {
                let source = self.source_at(link, key).map(|source| &self.sources[source as usize]);
                return source.and_then(|source| source.classes.first().copied()).unwrap_or(NONE);
            }
            let is_slowest = |&child: &u32| {
                let from = &self.links.ups[child as usize];
                from.slot(key).is_ok_and(|at| from.factor * from.slots[at].least == slot.least)
            };
            match (up.children.0..up.children.1).find(is_slowest) {
                Some(child) => link = child,
                None => return NONE,
            }
        }
    }

    /// A class that is not blocked: its last cut, else its narrowest link.
    fn unblocked(&self, class: u32, rate: f64) -> Holder {
        let of = &self.classes[class as usize];
        let Some(hop) = self.last_cut(class).filter(|_| rate < of.narrowest * (1.0 - ROUNDING)) else {
            let narrowest = of.links.iter().find(|link| self.ports[link.index()].bandwidth <= of.narrowest);
            return Holder { link: *narrowest.unwrap_or(&LinkId::NONE), cause: Cause::FullRate, by: NONE };
        };
        let number = of.route[hop as usize] as usize;
        let cause = if hop < of.ups || self.links.downs[number].is_lateral {
            Cause::Upstream
        } else {
            let down = &self.links.downs[number];
            let is_reduced = down.below_root_complex && down.crossing > 0;
            if is_reduced && self.last_contended(class) != hop { Cause::RootComplex } else { Cause::Downstream }
        };
        Holder { link: of.links[hop as usize], cause, by: self.competitor(class, hop) }
    }

    fn last_cut(&self, class: u32) -> Option<u32> {
        let mark = &self.marks[class as usize];
        if mark.event == self.event && mark.cuts != NONE {
            return Some(self.cuts[mark.cuts as usize].hop);
        }
        let of = &self.classes[class as usize];
        if self.pairs.get(of.pair as usize).is_some_and(|pair| pair.cut) {
            return Some(of.ups);
        }
        of.up_links().iter().rposition(|&k| self.links.ups[k as usize].contended).map(|hop| hop as u32)
    }

    /// Another class on the link of a hop, from another link if there is one.
    fn competitor(&self, class: u32, hop: u32) -> u32 {
        let of = &self.classes[class as usize];
        let number = of.route[hop as usize] as usize;
        let classes = if hop < of.ups { &self.links.ups[number].classes } else { &self.links.downs[number].classes };
        let link = of.links[hop as usize];
        let entering = |class: u32| {
            let links = &self.classes[class as usize].links;
            let at = links.iter().position(|&other| other == link)?;
            at.checked_sub(1).map(|before| links[before])
        };
        let from = entering(class);
        let others = || classes.iter().copied().filter(|&other| other != class);
        let by = others().find(|&other| entering(other) != from).or_else(|| others().next());
        by.unwrap_or(if of.transfers > 1 { class } else { NONE })
    }
}
