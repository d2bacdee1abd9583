//! Steps D2 and D3: exceptions that were cut and are not blocked get what blocking frees. What all others on a link have is
//! summed over slots.

use super::exceptions::Exception;
use super::tables::{Class, Up};
use super::{Factors, NONE};
use crate::pcie_congestion::EPS;

/// What exceptions add up to on a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extra {
    event: u64,
    /// Σ r − what sums over slots count for them.
    rates: f64,
    /// Of unblocked ones: how many transfers, Σ y − r.
    unblocked: f64,
    lost: f64,
    /// Σ of raises.
    raises: f64,
    /// Σ r of all on the link, the share of each unblocked transfer, the part of raises that fits; NaN until asked for.
    base: f64,
    share: f64,
    fits: f64,
}

impl Factors {
    #[inline(never)]
    pub(super) fn hand_on(&mut self) {
        let mut raised = std::mem::take(&mut self.raised);
        raised.clear();
        let is_cut = |e: &Exception| e.blocked_at == NONE && self.is_cut(e.class);
        raised.extend((0..self.exceptions.len()).filter(|&at| is_cut(&self.exceptions[at])));
        if !raised.is_empty() {
            self.counters.raised += raised.len() as u64;
            self.hand_on_to(&raised);
        }
        self.raised = raised;
    }

    fn hand_on_to(&mut self, raised: &[usize]) {
        for &at in raised {
            self.clear_extras(self.exceptions[at].class);
        }
        for at in 0..self.exceptions.len() {
            self.add_extras(at);
        }
        for &at in raised {
            self.exceptions[at].raise = self.raise(at);
            self.add_raise(at);
        }
        for &at in raised {
            let Exception { class, rate, raise, .. } = self.exceptions[at];
            if raise > 0.0 {
                let mut fits = 1.0_f64;
                for hop in 0..self.classes[class as usize].route.len() as u32 {
                    fits = fits.min(self.part_that_fits(self.link_of_hop(class, hop)));
                }
                self.exceptions[at].rate = rate + raise * fits;
            }
        }
    }

    /// A number for each link: up links, then down links.
    fn link_of_hop(&self, class: u32, hop: u32) -> usize {
        let class = &self.classes[class as usize];
        let link = class.route[hop as usize] as usize;
        if hop < class.ups { link } else { self.links.ups.len() + link }
    }

    fn is_cut(&self, class: u32) -> bool {
        let mark = &self.marks[class as usize];
        let class = &self.classes[class as usize];
        mark.event == self.event && mark.cuts != NONE
            || self.pairs.get(class.pair as usize).is_some_and(|pair| pair.cut)
            || class.up_links().iter().any(|&k| self.links.ups[k as usize].contended)
    }

    fn clear_extras(&mut self, class: u32) {
        for hop in 0..self.classes[class as usize].route.len() as u32 {
            let link = self.link_of_hop(class, hop);
            if self.extras[link].event != self.event {
                let nan = f64::NAN;
                self.extras[link] = Extra { event: self.event, base: nan, share: nan, fits: nan, ..Extra::default() };
            }
        }
    }

    /// Adds an exception to the sums of its links, as far as these are asked for.
    #[inline(never)]
    fn add_extras(&mut self, at: usize) {
        let Exception { class, rate, blocked_at, is_counted, .. } = self.exceptions[at];
        let transfers = f64::from(self.classes[class as usize].transfers);
        let counted = if is_counted { self.level_of_hop(class, 0) } else { 0.0 };
        let mut after = self.classes[class as usize].bandwidth;
        for hop in 0..self.classes[class as usize].route.len() as u32 {
            if blocked_at == NONE {
                after = self.rate_after(class, hop, after);
            }
            let link = self.link_of_hop(class, hop);
            let extra = &mut self.extras[link];
            if extra.event == self.event {
                extra.rates += transfers * (rate - counted);
                if blocked_at == NONE {
                    extra.unblocked += transfers;
                    extra.lost += transfers * (after - rate);
                }
            }
        }
    }

    /// y after a hop, from y after the one before.
    fn rate_after(&self, class: u32, hop: u32, before: f64) -> f64 {
        let Class { route, ups, pair, .. } = &self.classes[class as usize];
        let link = route[hop as usize] as usize;
        if hop < *ups {
            return before * self.links.ups[link].factor;
        }
        if let Some(cut) = self.cut_at(class, hop) {
            return cut;
        }
        let turn = if hop == *ups { self.pairs.get(*pair as usize).map_or(1.0, |pair| pair.factor) } else { 1.0 };
        before.min(self.links.downs[link].bandwidth) * turn
    }

    fn cut_at(&self, class: u32, hop: u32) -> Option<f64> {
        let mark = &self.marks[class as usize];
        if mark.event != self.event {
            return None;
        }
        let mut at = mark.cuts;
        while at != NONE {
            let cut = self.cuts[at as usize];
            if cut.hop == hop {
                return Some(cut.rate);
            }
            at = cut.before;
        }
        None
    }

    /// What equation (9) adds to an exception.
    #[inline(never)]
    fn raise(&mut self, at: usize) -> f64 {
        let Exception { class, arrived, .. } = self.exceptions[at];
        let Class { ups, pair, bandwidth, .. } = self.classes[class as usize];
        let (mut goal, mut after) = (f64::INFINITY, bandwidth);
        for hop in 0..self.classes[class as usize].route.len() as u32 {
            after = self.rate_after(class, hop, after);
            let is_cut = match hop.cmp(&ups) {
                std::cmp::Ordering::Less => {
                    self.links.ups[self.classes[class as usize].route[hop as usize] as usize].contended
                }
                std::cmp::Ordering::Equal if self.pairs.get(pair as usize).is_some_and(|pair| pair.cut) => true,
                _ => self.cut_at(class, hop).is_some(),
            };
            if is_cut {
                goal = goal.min(after + self.share(self.link_of_hop(class, hop)));
            }
        }
        (goal - arrived).max(0.0)
    }

    fn add_raise(&mut self, at: usize) {
        let Exception { class, raise, .. } = self.exceptions[at];
        let raise = f64::from(self.classes[class as usize].transfers) * raise;
        for hop in 0..self.classes[class as usize].route.len() as u32 {
            let link = self.link_of_hop(class, hop);
            self.extras[link].raises += raise;
        }
    }

    /// Bandwidth freed by the blocked transfers of an overloaded link, per unblocked one.
    fn share(&mut self, link: usize) -> f64 {
        if self.extras[link].share.is_nan() {
            let after = match link.checked_sub(self.links.ups.len()) {
                None => self.links.ups[link].bandwidth,
                Some(down) => self.links.downs[down].flow,
            };
            let base = self.base(link);
            let extra = &mut self.extras[link];
            extra.share =
                if extra.unblocked > 0.0 { (after - base - extra.lost).max(0.0) / extra.unblocked } else { 0.0 };
        }
        self.extras[link].share
    }

    /// The part of all raises that a link has room for.
    fn part_that_fits(&mut self, link: usize) -> f64 {
        if !self.extras[link].fits.is_nan() {
            return self.extras[link].fits;
        }
        let (capacity, flow) = match link.checked_sub(self.links.ups.len()) {
            None => (self.links.ups[link].bandwidth, self.links.ups[link].sum.min(self.links.ups[link].bandwidth)),
            Some(down) => (self.links.downs[down].capacity(), self.links.downs[down].flow),
        };
        let raises = self.extras[link].raises;
        let mut fits = 1.0;
        if raises > EPS * capacity && flow + raises > capacity {
            let base = self.base(link);
            if base + raises > capacity {
                fits = (capacity - base).max(0.0) / raises;
            }
        }
        self.extras[link].fits = fits;
        fits
    }

    /// Σ r on a link.
    #[inline(never)]
    fn base(&mut self, link: usize) -> f64 {
        if self.extras[link].base.is_nan() {
            self.counters.bases += 1;
            let counted = match link.checked_sub(self.links.ups.len()) {
                None => self.links.ups[link].slots.iter().map(|slot| self.counted(link as u32, slot.key)).sum(),
                Some(down) => self.counted_below(down as u32),
            };
            self.extras[link].base = counted + self.extras[link].rates;
        }
        self.extras[link].base
    }

    /// Σ of the levels of first links, over the classes of a slot that contended links cut after their first one.
    fn counted(&self, link: u32, key: u64) -> f64 {
        let Up { children, contended, branch, .. } = self.links.ups[link as usize];
        let up = &self.links.ups[link as usize];
        let Ok(at) = up.slot(key) else { return 0.0 };
        let slot = &up.slots[at];
        if self.throttles(branch.cut_above, slot) {
            return f64::from(slot.transfers) * self.up_level(link);
        }
        let below = |child: u32| {
            let from = &self.links.ups[child as usize];
            match from.slot(key) {
                Ok(at) if contended => f64::from(from.slots[at].transfers) * self.up_level(child),
                Ok(_) => self.counted(child, key),
                Err(_) => 0.0,
            }
        };
        (children.0..children.1).map(below).sum()
    }

    fn counted_below(&self, port: u32) -> f64 {
        let down = &self.links.downs[port as usize];
        let pair = |&id: &u32| {
            let from = self.pairs[id as usize].from;
            self.counted(from, u64::from(self.links.ups[from as usize].depth) << 32 | u64::from(port + 1))
        };
        let mut sum: f64 = down.pairs.iter().map(pair).sum();
        if down.above > 0 {
            for &class in &down.classes {
                if self.hop_from_above(class, port).is_some() && self.is_counted(class) {
                    sum += f64::from(self.classes[class as usize].transfers) * self.level_of_hop(class, 0);
                }
            }
        }
        sum
    }
}
