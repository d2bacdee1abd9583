//! Progressive filling: the weighted max-min allocation over links with given capacities.
//!
//! The level of a flow is rate / weight. All levels rise together; when a link has no capacity left, or a flow has
//! reached a bound of its own, the rates of the flows concerned are fixed at that level and the rest goes on.
//!
//! - The own bound of a flow is its limit or the narrowest link of its route. A link on which the own bounds fit
//!   together, such as one used by a single flow, can never saturate, and is left out.
//! - The level at which a link saturates, what is left on it / the weight of its open flows, never falls while flows are
//!   fixed in order of level. So an outdated key in the heap is a lower bound, corrected when it comes to the top. Own
//!   bounds are looked at only on a link that is about to saturate: those below its level are below every other level
//!   too, and are fixed first.
//! - Every number depends only on the flows connected to it, never on others shown in the same call. Nor does the order:
//!   a key is corrected only when it is the lowest of its connected set, and looking at it again without a change in that
//!   set gives the same key, so links of other sets in the heap cannot alter which one of a set comes next.
//! - What is left is exact to 1e-12 for the last of 64 flows: a compensated sum, or a plain one where weights are equal.
//!
//! Hops are visited once when a flow is added, which also links them into one list per link, once when a link saturates,
//! and once when the rate of their flow is fixed.

mod shared;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use weir_plugin_api::LinkId;

use crate::common::groups::{NONE, narrowest};
use shared::{Port, Terms};

#[derive(Clone, Copy, Debug)]
enum Decider {
    Limit,
    OwnLink(LinkId),
    /// Index into `saturated`.
    Shared(u32),
}

/// The transfers of one class in a filling.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Weight of each transfer.
    weight: f64,
    count: f64,
    /// Largest rate of each transfer by its limit and by the narrowest link of its route; and its level.
    own_rate: f64,
    own_level: f64,
    /// Rate of each transfer; below zero while open.
    rate: f64,
    /// Its hops are `hops[start..end]`.
    start: u32,
    end: u32,
    decider: Decider,
}

/// A flow on a link.
#[derive(Clone, Copy, Debug)]
struct Hop {
    link: LinkId,
    flow: u32,
    /// The hop of the flow that was added to this link before, or [`NONE`].
    before: u32,
}

/// A link without capacity left, and the first two flows on it.
#[derive(Clone, Copy, Debug)]
struct Saturated {
    link: LinkId,
    first: u32,
    second: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bound {
    Limit,
    /// A link, and another flow on it if there is one.
    Link(LinkId, Option<usize>),
}

/// Order of links: smallest level first (levels are ≥ 0, so their bits are in order), then lowest link id. One number,
/// since the heap compares them all the time.
type Key = u128;

#[inline]
fn key(level: f64, link: LinkId) -> Key {
    Key::from(level.to_bits()) << 64 | Key::from(link.0)
}

/// The filling: reused from call to call.
#[derive(Debug)]
pub(crate) struct Filling {
    capacities: Vec<f64>,
    ports: Vec<Port>,
    touched: Vec<LinkId>,
    flows: Vec<Flow>,
    /// Hops of all flows; those from `used` on are of earlier calls.
    hops: Vec<Hop>,
    used: usize,
    heap: BinaryHeap<Reverse<Key>>,
    saturated: Vec<Saturated>,
}

impl Filling {
    /// A filling over links of these capacities.
    pub(crate) fn new(capacities: &[f64]) -> Self {
        Self {
            capacities: capacities.to_vec(),
            ports: vec![Port::UNUSED; capacities.len()],
            touched: Vec::new(),
            flows: Vec::new(),
            hops: Vec::new(),
            used: 0,
            heap: BinaryHeap::new(),
            saturated: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn capacity(&self, link: LinkId) -> f64 {
        self.capacities[link.index()]
    }

    /// Changes the capacity of a link (≥ 0).
    #[inline]
    pub(crate) fn set_capacity(&mut self, link: LinkId, capacity: f64) {
        self.capacities[link.index()] = capacity;
    }

    /// Forgets the flows of the last call.
    pub(crate) fn clear(&mut self) {
        for link in self.touched.drain(..) {
            self.ports[link.index()] = Port::UNUSED;
        }
        self.flows.clear();
        self.used = 0;
        self.saturated.clear();
    }

    /// Adds `count` transfers of one class.
    pub(crate) fn add(&mut self, route: &[LinkId], limit: f64, weight: f64, count: f64) {
        let narrowest = narrowest(route, |link| self.capacities[link.index()]);
        self.add_narrowed(route, narrowest, limit, weight, count);
    }

    /// As [`Self::add`], for a route whose narrowest link and its capacity are known.
    pub(crate) fn add_narrowed(
        &mut self,
        route: &[LinkId],
        (narrowest, capacity): (LinkId, f64),
        limit: f64,
        weight: f64,
        count: f64,
    ) {
        let (mut own_rate, mut decider) = (limit, Decider::Limit);
        if capacity / count < limit {
            (own_rate, decider) = (capacity / count, Decider::OwnLink(narrowest));
        }
        let (index, own_level) = (self.flows.len() as u32, own_rate / weight);
        let (start, end) = (self.used, self.used + route.len());
        let (rate, hops) = (-1.0, (start as u32, end as u32));
        self.flows.push(Flow { weight, count, own_rate, own_level, rate, start: hops.0, end: hops.1, decider });
        self.used = end;
        if self.hops.len() < end {
            self.hops.resize(end, Hop { link: LinkId::NONE, flow: NONE, before: NONE });
        }
        let terms = Terms { weight: weight * count, wanted: own_rate * count, level: own_level, plain: weight == 1.0 };
        let ports = self.ports.as_mut_slice();
        for (i, (slot, &link)) in self.hops[start..end].iter_mut().zip(route).enumerate() {
            let before = ports[link.index()].join(&terms, hops.0 + i as u32);
            *slot = Hop { link, flow: index, before };
            if before == NONE {
                self.touched.push(link);
            }
        }
    }

    /// Fixes the rates of all flows.
    pub(crate) fn run(&mut self) {
        self.find_saturable();
        while let Some((link, level)) = self.next_link() {
            if self.ports[link.index()].least < level {
                self.fix_own_below(link, level);
            } else {
                self.saturate(link, level);
            }
        }
        for flow in self.flows.iter_mut().filter(|f| f.rate < 0.0) {
            flow.rate = flow.own_rate;
        }
    }

    /// Fills the heap with the links that can saturate.
    fn find_saturable(&mut self) {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.clear();
        for &link in &self.touched {
            let port = &mut self.ports[link.index()];
            if port.open_to(self.capacities[link.index()]) {
                entries.push(Reverse(key(port.level(), link)));
            }
        }
        self.heap = BinaryHeap::from(entries);
    }

    /// The link with open flows that saturates first, and its level.
    fn next_link(&mut self) -> Option<(LinkId, f64)> {
        loop {
            let mut top = self.heap.peek_mut()?;
            let link = LinkId(top.0 as u32);
            let port = &self.ports[link.index()];
            if port.open == 0 {
                PeekMut::pop(top);
                continue;
            }
            let level = port.level();
            let now = key(level, link);
            if now <= top.0 {
                return Some((link, level));
            }
            *top = Reverse(now);
        }
    }

    /// Fixes the rates of the open flows of a link whose own bound is below its level, if there are any.
    fn fix_own_below(&mut self, link: LinkId, level: f64) {
        let mut least = f64::INFINITY;
        let mut at = self.ports[link.index()].last;
        while at != NONE {
            let Hop { flow: index, before, .. } = self.hops[at as usize];
            let flow = &mut self.flows[index as usize];
            if flow.rate < 0.0 {
                if flow.own_level < level {
                    flow.rate = flow.own_rate;
                    take(flow, &self.hops, &mut self.ports);
                } else {
                    least = least.min(flow.own_level);
                }
            }
            at = before;
        }
        self.ports[link.index()].least = least;
    }

    /// Fixes the rates of the open flows of a link at its level.
    fn saturate(&mut self, link: LinkId, level: f64) {
        let port = &mut self.ports[link.index()];
        port.open = 0;
        let decider = Decider::Shared(self.saturated.len() as u32);
        let (mut first, mut second, mut at) = (NONE, NONE, port.last);
        while at != NONE {
            let Hop { flow: index, before, .. } = self.hops[at as usize];
            let flow = &mut self.flows[index as usize];
            if flow.rate < 0.0 {
                let rate = level * flow.weight;
                if rate < flow.own_rate {
                    (flow.rate, flow.decider) = (rate, decider);
                } else {
                    flow.rate = flow.own_rate;
                }
                take(flow, &self.hops, &mut self.ports);
            }
            (first, second, at) = (index, first, before);
        }
        self.saturated.push(Saturated { link, first, second });
    }

    /// Rate of each transfer of a flow.
    #[inline]
    pub(crate) fn rate(&self, flow: usize) -> f64 {
        self.flows[flow].rate
    }

    #[inline]
    pub(crate) fn bound(&self, index: usize) -> Bound {
        match self.flows[index].decider {
            Decider::Limit => Bound::Limit,
            Decider::OwnLink(link) => Bound::Link(link, None),
            Decider::Shared(at) => {
                let Saturated { link, first, second } = self.saturated[at as usize];
                let other = if first as usize == index { second } else { first };
                Bound::Link(link, Some(other as usize))
            }
        }
    }
}

/// Takes a flow of fixed rate off the links that still have open flows.
#[inline]
fn take(flow: &Flow, hops: &[Hop], ports: &mut [Port]) {
    let (used, weight) = (flow.rate * flow.count, flow.weight * flow.count);
    for hop in &hops[flow.start as usize..flow.end as usize] {
        ports[hop.link.index()].leave(used, weight);
    }
}
