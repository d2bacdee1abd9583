//! Steps D2 and D3: exceptions that were cut and are not blocked get what blocking frees. What all others on a link have is
//! summed over slots.

use super::exceptions::Exception;
use super::tables::Class;
use super::{Factors, NONE};
use crate::pcie_congestion::EPS;

/// What exceptions add up to on a link; a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
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

impl Extra {
    /// Begins an event; whether it had not begun.
    #[inline]
    fn begin(&mut self, event: u64) -> bool {
        let is_new = self.event != event;
        if is_new {
            let nan = f64::NAN;
            *self = Self { event, base: nan, share: nan, fits: nan, ..Self::default() };
        }
        is_new
    }

    /// Adds an exception of these rates, with so many unblocked transfers that have lost so much each.
    #[inline]
    fn add(&mut self, rates: f64, unblocked: f64, lost: f64) {
        self.rates += rates;
        self.unblocked += unblocked;
        self.lost += unblocked * lost;
    }
}

/// A link of an exception.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    /// Up links, then the others.
    link: u32,
    is_cut: bool,
    /// y.
    after: f64,
}

impl Factors {
    #[inline(never)]
    pub(super) fn hand_on(&mut self) {
        let (mut raised, mut extras) = (std::mem::take(&mut self.raised), std::mem::take(&mut self.extras));
        raised.clear();
        self.hops.clear();
        self.begun.clear();
        self.unlike.clear();
        for at in 0..self.exceptions.len() {
            if self.list_hops(at, &mut extras) && self.exceptions[at].blocked_at == NONE {
                raised.push(at);
            }
        }
        self.extras = extras;
        if !raised.is_empty() {
            self.counters.raised += raised.len() as u64;
            self.hand_on_to(&raised);
        }
        self.raised = raised;
    }

    /// Lists the links of an exception up to the port, and adds it to the sums of these; then all of its links where it is looked
    /// at by itself, and so may be cut further down. Returns whether it is cut.
    fn list_hops(&mut self, at: usize, extras: &mut [Extra]) -> bool {
        let first = self.hops.len();
        let Exception { class: id, transfers, rate, blocked_at, counted, .. } = self.exceptions[at];
        let (rates, unblocked) = (transfers * (rate - counted), if blocked_at == NONE { transfers } else { 0.0 });
        let class = &self.classes[id as usize];
        let (mut after, mut is_any_cut) = (class.bandwidth, false);
        for &link in class.up_links() {
            let up = &self.links.ups[link as usize];
            after *= up.factor;
            is_any_cut |= up.contended;
            self.hops.push(Hop { link, is_cut: up.contended, after });
            let extra = &mut extras[link as usize];
            if extra.begin(self.event) {
                self.begun.push(link);
            }
            extra.add(rates, unblocked, after - rate);
        }
        let shared = class.shared_hops();
        let hops = if self.is_looked_at(id) { class.route.len() as u32 } else { shared };
        for hop in class.ups..hops {
            after = self.rate_after(id, hop, after);
            let class = &self.classes[id as usize];
            let turns = hop == class.ups && self.pairs.get(class.pair as usize).is_some_and(|pair| pair.cut);
            let is_cut = turns || self.cut_at(id, hop).is_some();
            is_any_cut |= is_cut;
            let link = self.links.ups.len() as u32 + class.route[hop as usize];
            self.hops.push(Hop { link, is_cut, after });
            let extra = &mut extras[link as usize];
            if extra.begin(self.event) {
                self.begun.push(link);
            }
            if hop < shared {
                extra.add(rates, unblocked, after - rate);
            }
        }
        let exception = &mut self.exceptions[at];
        (exception.hops, exception.shared) = ((first, self.hops.len()), first + shared as usize);
        is_any_cut
    }

    fn hand_on_to(&mut self, raised: &[usize]) {
        for &at in raised {
            self.exceptions[at].raise = self.raise(at);
            self.add_raise(at);
        }
        self.add_raises_below(raised);
        self.is_tight = false;
        for at in 0..self.begun.len() {
            self.part_that_fits(self.begun[at] as usize);
        }
        if self.is_tight {
            return raised.iter().for_each(|&at| self.raise_partly(at));
        }
        for &at in raised {
            let exception = &mut self.exceptions[at];
            exception.rate += exception.raise;
        }
    }

    /// The classes of an exception.
    fn members(&self, at: usize) -> impl Iterator<Item = u32> + '_ {
        let Exception { source, class, .. } = self.exceptions[at];
        let source = self.sources.get(source as usize);
        let (of, alone) = (source.map_or(&[][..], |source| &source.classes), source.is_none().then_some(class));
        let is_any_looked_at = source.is_some_and(|source| source.looked_at.0 == self.event);
        of.iter().copied().filter(move |&class| !is_any_looked_at || !self.is_looked_at(class)).chain(alone)
    }

    /// Raises are known: adds them up after ports, class by class, and sees which links have no room for them.
    fn add_raises_below(&mut self, raised: &[usize]) {
        let (mut links, mut below) = (std::mem::take(&mut self.links_below), std::mem::take(&mut self.raises_below));
        for &at in raised {
            let raise = self.exceptions[at].raise;
            for class in self.members(at).filter(|_| raise > 0.0) {
                let of = &self.classes[class as usize];
                let raise = raise * f64::from(of.transfers);
                for &link in of.links_below_port() {
                    let raises = &mut below[link as usize];
                    if *raises == 0.0 {
                        links.push(link);
                    }
                    *raises += raise;
                }
            }
        }
        for link in links.drain(..) {
            let raises = std::mem::take(&mut below[link as usize]);
            let (down, at) = (&self.links.downs[link as usize], self.links.ups.len() + link as usize);
            let extra = &mut self.extras[at];
            if extra.event == self.event || down.flow + raises > down.capacity() {
                if extra.begin(self.event) {
                    self.begun.push(at as u32);
                }
                extra.raises += raises;
            }
        }
        (self.links_below, self.raises_below) = (links, below);
    }

    /// Raises an exception as far as there is room on its links; classes of it may have less after the port.
    fn raise_partly(&mut self, at: usize) {
        let Exception { source, hops, shared, raise, rate, .. } = self.exceptions[at];
        if raise == 0.0 {
            return;
        }
        let part = |fits: f64, link: usize| {
            let extra = &self.extras[link];
            if extra.event == self.event { fits.min(extra.fits) } else { fits }
        };
        let mut fits = self.hops[hops.0..shared].iter().fold(1.0, |fits, hop| part(fits, hop.link as usize));
        let mut unlike = std::mem::take(&mut self.unlike);
        for class in self.members(at) {
            let below = self.classes[class as usize].links_below_port().iter();
            let own = below.fold(fits, |fits, &link| part(fits, self.links.ups.len() + link as usize));
            if source == NONE {
                fits = own;
            } else if own < fits {
                unlike.push((class, rate + raise * own));
            }
        }
        self.unlike = unlike;
        self.exceptions[at].rate = rate + raise * fits;
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
        let Exception { hops, arrived, .. } = self.exceptions[at];
        let mut goal = f64::INFINITY;
        for at in hops.0..hops.1 {
            let Hop { link, is_cut, after } = self.hops[at];
            if is_cut {
                goal = goal.min(after + self.share(link as usize));
            }
        }
        (goal - arrived).max(0.0)
    }

    /// Adds a raise to the sums of its links up to the port.
    fn add_raise(&mut self, at: usize) {
        let Exception { hops, shared, transfers, raise, .. } = self.exceptions[at];
        for hop in &self.hops[hops.0..shared] {
            self.extras[hop.link as usize].raises += transfers * raise;
        }
    }

    /// Bandwidth freed by the blocked transfers of an overloaded link, per unblocked one.
    fn share(&mut self, link: usize) -> f64 {
        if self.extras[link].share.is_nan() {
            let base = self.base(link);
            let (after, (unblocked, lost)) = match link.checked_sub(self.links.ups.len()) {
                Some(down) if self.links.downs[down].above > 0 => {
                    (self.links.downs[down].flow, self.unblocked_below(down as u32))
                }
                Some(down) => (self.links.downs[down].flow, (self.extras[link].unblocked, self.extras[link].lost)),
                None => (self.links.ups[link].bandwidth, (self.extras[link].unblocked, self.extras[link].lost)),
            };
            self.extras[link].share = if unblocked > 0.0 { (after - base - lost).max(0.0) / unblocked } else { 0.0 };
        }
        self.extras[link].share
    }

    /// Of the unblocked classes on a down link: how many transfers, Σ y − r.
    fn unblocked_below(&self, port: u32) -> (f64, f64) {
        let (mut unblocked, mut lost) = (0.0, 0.0);
        for &class in &self.links.downs[port as usize].classes {
            if let Some(exception) = self.exception(class).filter(|exception| exception.blocked_at == NONE) {
                let of = &self.classes[class as usize];
                let hops = of.route.iter().skip(of.ups as usize).position(|&d| d == port).unwrap_or(0) as u32 + of.ups;
                let after = (0..=hops).fold(of.bandwidth, |after, hop| self.rate_after(class, hop, after));
                unblocked += f64::from(of.transfers);
                lost += f64::from(of.transfers) * (after - exception.rate);
            }
        }
        (unblocked, lost)
    }

    fn exception(&self, class: u32) -> Option<&Exception> {
        let of = &self.classes[class as usize];
        if of.listed == self.event {
            return Some(&self.exceptions[of.exception as usize]);
        }
        let source = self.sources.get(of.source as usize).filter(|source| source.listed == self.event)?;
        let is_of_it = source.looked_at.0 != self.event || !self.is_looked_at(class);
        is_of_it.then(|| &self.exceptions[source.exception as usize])
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
        self.is_tight |= fits < 1.0;
        self.extras[link].fits = fits;
        fits
    }

    /// Σ r on a link.
    #[inline(never)]
    fn base(&mut self, link: usize) -> f64 {
        if self.extras[link].base.is_nan() {
            self.counters.bases += 1;
            let rates = self.extras[link].rates;
            self.extras[link].base = match link.checked_sub(self.links.ups.len()) {
                Some(down) if self.links.downs[down].above > 0 => self.rates_below(down as u32),
                Some(down) => self.counted_at(down as u32) + rates,
                None => self.counted_over(link as u32) + rates,
            };
        }
        self.extras[link].base
    }

    /// Σ of the levels of first links, as far as these are throttled, over the classes of a slot.
    fn counted(&self, link: u32, key: u64) -> f64 {
        let up = &self.links.ups[link as usize];
        let Ok(at) = up.slot(key) else { return 0.0 };
        let slot = &up.slots[at];
        if self.throttles(up.branch.cut_above, slot) {
            return f64::from(slot.transfers) * self.up_level(link);
        }
        let mut sum = self.counted_starting(link, slot.starting);
        if slot.starting < slot.transfers {
            for child in up.children.0..up.children.1 {
                let from = &self.links.ups[child as usize];
                match from.slot(key) {
                    Ok(at) if up.contended => sum += f64::from(from.slots[at].transfers) * self.up_level(child),
                    Ok(_) => sum += self.counted(child, key),
                    Err(_) => {}
                }
            }
        }
        sum
    }

    /// The same over so many transfers that start at a link.
    fn counted_starting(&self, link: u32, transfers: u32) -> f64 {
        if transfers == 0 {
            return 0.0;
        }
        let level = self.up_level(link);
        if level.is_finite() { f64::from(transfers) * level } else { 0.0 }
    }

    fn counted_over(&self, link: u32) -> f64 {
        let up = &self.links.ups[link as usize];
        if !up.contended {
            return up.slots.iter().map(|slot| self.counted(link, slot.key)).sum();
        }
        // It cuts all that come from links below.
        let mut sum = self.counted_starting(link, up.starting);
        for child in up.children.0..up.children.1 {
            let over = self.links.ups[child as usize].transfers_over;
            if over > 0 {
                sum += f64::from(over) * self.up_level(child);
            }
        }
        sum
    }

    /// The same over the pairs of a port.
    fn counted_at(&self, port: u32) -> f64 {
        let pair = |&id: &u32| {
            let from = self.pairs[id as usize].from;
            self.counted(from, u64::from(self.links.ups[from as usize].depth) << 32 | u64::from(port + 1))
        };
        self.links.downs[port as usize].pairs.iter().map(pair).sum()
    }

    /// Σ r on a down link, class by class.
    fn rates_below(&self, port: u32) -> f64 {
        let rate = |&class: &u32| {
            let Class { source, transfers, listed, .. } = self.classes[class as usize];
            let rate = match self.sources.get(source as usize) {
                // Nearly all.
                Some(source) if listed != self.event && source.listed != self.event => self.up_level(source.link),
                _ => self.exception(class).map_or_else(|| self.first_level(class), |exception| exception.rate),
            };
            f64::from(transfers) * rate
        };
        self.links.downs[port as usize].classes.iter().map(rate).sum()
    }
}
