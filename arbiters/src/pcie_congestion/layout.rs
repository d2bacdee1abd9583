//! The working tables of one phase: items (transfers of one class), their hops, and the links that need arbitration.

use ordered_float::OrderedFloat;
use weir_plugin_api::{Direction, LinkId, PhaseView};

use super::EPS;
use crate::common::groups::{ClassGroup, NONE};
use crate::common::ports::{Port, crosses_root_complex};

/// A link of the fabric that is in use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) id: LinkId,
    pub(super) down: bool,
    pub(super) below_root_complex: bool,
    /// A transfer on it crosses the root complex that it leaves.
    pub(super) reduced: bool,
    /// C(l).
    pub(super) capacity: f64,
    pub(super) bandwidth: f64,
    pub(super) transfers: u32,
    items: u32,
    /// Its hops are `members[start..end]`; [`NONE`] for links that need no arbitration.
    pub(super) start: u32,
    end: u32,
    /// Group of the transfers that come from here, while a downstream port is divided.
    pub(super) group: u32,
    /// All its transfers have the rate of its slowest throttler.
    pub(super) throttled: bool,
    /// Step D2: bandwidth freed by blocked transfers, per unblocked one; NaN until it is asked for.
    pub(super) share: f64,
    /// Step D3: part of the raises that fits; NaN until it is asked for.
    pub(super) fits: f64,
}

/// The transfers of one class. Rates are of each transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) count: f64,
    pub(super) limit: f64,
    pub(super) crosses: bool,
    /// Its hops.
    pub(super) start: u32,
    pub(super) end: u32,
    /// Rate after the latest cut while links are divided; then the final rate.
    pub(super) rate: f64,
    /// ρ', the rate after step C.
    pub(super) arrived: f64,
    /// r, the rate after step D1.
    pub(super) blocked_rate: f64,
    /// What step D2 would add.
    pub(super) raise: f64,
    /// Its last hop with a cut, or [`NONE`].
    pub(super) last_cut: u32,
    /// Its last hop with a cut at a contended link, or [`NONE`]: it throttles the links before.
    pub(super) last_contended: u32,
    /// The hop at which it is blocked, and the item that blocks it; [`NONE`] where it is not.
    pub(super) blocked_at: u32,
    pub(super) blocked_by: u32,
    /// The narrowest link of the route, and its bandwidth.
    pub(super) narrowest: LinkId,
    pub(super) least: f64,
}

/// One link of an item's route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) link: u32,
    pub(super) item: u32,
    /// Smallest of limit and bandwidths up to here: x is the latest cut's y, clamped to this.
    pub(super) ceiling: f64,
    /// x while the link is divided, then y; only on links that need arbitration.
    pub(super) rate: f64,
    /// Group by entering link, while a downstream port is divided.
    pub(super) group: u32,
    pub(super) cut: bool,
}

/// The tables, reused from phase to phase.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) ports: Vec<Port>,
    pub(super) links: Vec<Link>,
    pub(super) items: Vec<Item>,
    pub(super) hops: Vec<Hop>,
    /// Hops by link.
    members: Vec<u32>,
    /// (rank, link) of the links that need arbitration, in order.
    pub(super) order: Vec<(u32, u32)>,
    /// Per hop, where a transfer is limited: w, the rate after it if none were; else empty.
    pub(super) weights: Vec<f64>,
    /// (x / w, hop) of the hops that share one sum, while that is divided.
    ratios: Vec<(OrderedFloat<f64>, u32)>,
}

impl Layout {
    pub(super) fn new(ports: Vec<Port>) -> Self {
        let (links, items, hops, members, order) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { ports, links, items, hops, members, order, weights: Vec::new(), ratios: Vec::new() }
    }

    /// Lays out a phase, with the limits of its transfers or as if they had none.
    pub(super) fn build(&mut self, phase: &PhaseView<'_>, groups: &[ClassGroup], has_limits: bool) {
        for link in self.links.drain(..) {
            self.ports[link.id.index()].local = NONE;
        }
        self.items.clear();
        self.hops.clear();
        for group in groups {
            self.add_item(phase, group, has_limits);
        }
        self.order_links();
        self.list_members();
    }

    fn add_item(&mut self, phase: &PhaseView<'_>, group: &ClassGroup, has_limits: bool) {
        let route = phase.route(group.first as usize);
        let limit = if has_limits { phase.classes.limit.as_slice()[group.class.index()] } else { f64::INFINITY };
        let (index, start) = (self.items.len() as u32, self.hops.len() as u32);
        let crosses = crosses_root_complex(&self.ports, route);
        let (mut narrowest, mut least) = (LinkId::NONE, f64::INFINITY);
        for &id in route {
            let local = self.local(id);
            let link = &mut self.links[local as usize];
            link.items += 1;
            link.transfers += group.count;
            if link.bandwidth < least {
                (narrowest, least) = (id, link.bandwidth);
            }
            if crosses && link.below_root_complex {
                link.reduced = true;
                link.capacity = self.ports[id.index()].reduced;
            }
            let ceiling = least.min(limit);
            self.hops.push(Hop { link: local, item: index, ceiling, rate: ceiling, group: 0, cut: false });
        }
        self.items.push(Item {
            count: f64::from(group.count),
            limit,
            crosses,
            start,
            end: self.hops.len() as u32,
            rate: f64::INFINITY,
            arrived: 0.0,
            blocked_rate: 0.0,
            raise: 0.0,
            last_cut: NONE,
            last_contended: NONE,
            blocked_at: NONE,
            blocked_by: NONE,
            narrowest,
            least,
        });
    }

    /// The index of a link of the fabric among those in use.
    #[inline]
    fn local(&mut self, id: LinkId) -> u32 {
        let port = &mut self.ports[id.index()];
        if port.local == NONE {
            port.local = self.links.len() as u32;
            self.links.push(Link {
                id,
                down: port.direction == Direction::Down,
                below_root_complex: port.below_root_complex,
                reduced: false,
                capacity: port.bandwidth,
                bandwidth: port.bandwidth,
                transfers: 0,
                items: 0,
                start: NONE,
                end: NONE,
                group: NONE,
                throttled: false,
                share: f64::NAN,
                fits: f64::NAN,
            });
        }
        port.local
    }

    /// Only links with several transfers, and reduced ports of a root complex, can cut.
    fn order_links(&mut self) {
        self.order.clear();
        let mut next = 0;
        for (index, link) in self.links.iter_mut().enumerate() {
            if link.transfers > 1 || link.reduced {
                (link.start, link.end) = (next, next);
                next += link.items;
                self.order.push((self.ports[link.id.index()].rank, index as u32));
            }
        }
        self.order.sort_unstable_by_key(|&(rank, _)| rank);
        self.members.resize(next as usize, 0);
    }

    fn list_members(&mut self) {
        for (index, hop) in self.hops.iter().enumerate() {
            let link = &mut self.links[hop.link as usize];
            if link.start != NONE {
                self.members[link.end as usize] = index as u32;
                link.end += 1;
            }
        }
    }

    /// The hops over a link that needs arbitration, in order of items; empty for others.
    #[inline]
    pub(super) fn members(&self, link: usize) -> &[u32] {
        let link = &self.links[link];
        if link.start == NONE { &[] } else { &self.members[link.start as usize..link.end as usize] }
    }

    /// Brings the rates of all transfers to the entrance of a link (x); returns their sum.
    #[inline]
    pub(super) fn arrive(&mut self, link: usize) -> f64 {
        let link = &self.links[link];
        let mut sum = 0.0;
        for &member in &self.members[link.start as usize..link.end as usize] {
            let hop = &mut self.hops[member as usize];
            let item = &self.items[hop.item as usize];
            hop.rate = item.rate.min(hop.ceiling);
            sum += item.count * hop.rate;
        }
        sum
    }

    /// Keeps the rates of now, which nothing limits, as weights.
    pub(super) fn keep_weights(&mut self) {
        let mut weights = std::mem::take(&mut self.weights);
        weights.clear();
        weights.extend((0..self.hops.len() as u32).map(|hop| self.rate_after(hop)));
        self.weights = weights;
    }

    /// Cuts those of a link's transfers that come from one group (all of them without) to a sum, where some are limited:
    /// y = min(x, λ · w), λ the largest that keeps the sum.
    pub(super) fn cut_to(&mut self, link: usize, group: Option<u32>, sum: f64, contended: bool) {
        let mut ratios = std::mem::take(&mut self.ratios);
        ratios.clear();
        for &hop in self.members(link) {
            let of = &self.hops[hop as usize];
            if group.is_none_or(|group| group == of.group) {
                ratios.push((OrderedFloat(of.rate / self.weights[hop as usize]), hop));
            }
        }
        // Where none is limited before here, these are the rates without limits, to the bit.
        let same = |&(_, hop): &(_, u32)| self.hops[hop as usize].rate == self.unlimited(hop);
        let as_without = ratios.iter().all(same) && (self.sum_of_weights(&ratios) - sum).abs() <= EPS * sum;
        let level = if as_without { 1.0 } else { self.level(&mut ratios, sum) };
        for &(_, hop) in &ratios {
            let (x, y) = (self.hops[hop as usize].rate, level * self.weights[hop as usize]);
            // By more than rounding of its own rate: so much of the whole link for each of many would overfill it.
            if as_without || x > y * (1.0 + EPS) {
                self.cut(hop, y, contended);
            }
        }
        self.ratios = ratios;
    }

    /// x at a hop if nothing were limited.
    fn unlimited(&self, hop: u32) -> f64 {
        let Hop { item, link, .. } = self.hops[hop as usize];
        let is_first = hop == self.items[item as usize].start;
        let before = if is_first { f64::INFINITY } else { self.weights[hop as usize - 1] };
        before.min(self.links[link as usize].bandwidth)
    }

    /// The sum of y if nothing were limited.
    fn sum_of_weights(&self, ratios: &[(OrderedFloat<f64>, u32)]) -> f64 {
        ratios.iter().map(|&(_, hop)| self.weight(hop)).sum()
    }

    /// y of all transfers of a hop if nothing were limited.
    fn weight(&self, hop: u32) -> f64 {
        self.items[self.hops[hop as usize].item as usize].count * self.weights[hop as usize]
    }

    /// λ: of the transfers by x / w, those that want no more than their part of what is left are served first.
    fn level(&self, ratios: &mut [(OrderedFloat<f64>, u32)], sum: f64) -> f64 {
        ratios.sort_unstable();
        let (mut left, mut weights) = (sum, self.sum_of_weights(ratios));
        for &(ratio, hop) in &*ratios {
            if ratio.0 * weights > left {
                break;
            }
            let Hop { item, rate, .. } = self.hops[hop as usize];
            left -= self.items[item as usize].count * rate;
            weights -= self.weight(hop);
        }
        left / weights
    }

    /// Lowers the rate of one hop's transfers to `rate`.
    #[inline]
    pub(super) fn cut(&mut self, member: u32, rate: f64, contended: bool) {
        let hop = &mut self.hops[member as usize];
        (hop.rate, hop.cut) = (rate, true);
        let item = &mut self.items[hop.item as usize];
        (item.rate, item.last_cut) = (rate, member);
        if contended {
            item.last_contended = member;
        }
    }

    /// y after a hop, also on links that needed no arbitration.
    pub(super) fn rate_after(&self, member: u32) -> f64 {
        let mut at = member;
        loop {
            let hop = &self.hops[at as usize];
            if hop.cut {
                return hop.rate.min(self.hops[member as usize].ceiling);
            }
            if at == self.items[hop.item as usize].start {
                return self.hops[member as usize].ceiling;
            }
            at -= 1;
        }
    }
}

/// `x` scaled by `new / old`, exact where a transfer is alone.
#[inline]
pub(super) fn scaled(x: f64, new: f64, old: f64) -> f64 {
    if x == old { new } else { x * new / old }
}
