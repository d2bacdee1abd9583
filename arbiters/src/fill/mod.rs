//! Progressive filling: the weighted max-min allocation over links with given capacities.
//!
//! The level of a flow is rate / weight. All levels rise together; when a link has no capacity left, or a flow has
//! reached a bound of its own, the flows concerned are settled at that level and the rest goes on.
//!
//! - A link used by one flow only is a bound of that flow, not a shared link; so is its limit.
//! - A link on which the own bounds fit together can never saturate, and is left out.
//! - The level at which a link saturates, what is left on it / the weight of its open flows, never falls while flows are
//!   settled in order of level. So an outdated key in the heap is a lower bound, corrected when it comes to the top. Own
//!   bounds are looked at only on a link that is about to saturate: those below its level are below every other level
//!   too, and are settled first.
//! - Every number depends only on the flows connected to it, never on others shown in the same call. Nor does the order:
//!   a key is corrected only when it is the lowest of its connected set, and looking at it again without a change in that
//!   set gives the same key, so links of other sets in the heap cannot alter which one of a set comes next.
//! - What is left is exact to 1e-12 for the last of 64 flows: a compensated sum, or a plain one where weights are equal.

mod shared;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use weir_plugin_api::LinkId;

use crate::groups::NONE;
use shared::Shared;

/// Capacity of a fabric link and its place in the current filling.
#[derive(Clone, Copy, Debug)]
struct Port {
    capacity: f64,
    /// Whether a flow uses it.
    used: bool,
    /// Index into `links` if several flows use it, or [`NONE`].
    local: u32,
}

/// What bounds a flow; links by index into `links`.
#[derive(Clone, Copy, Debug)]
enum Decider {
    Limit,
    OwnLink(LinkId),
    Shared(u32),
}

/// The transfers of one class in a filling.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Weight of each transfer.
    weight: f64,
    count: f64,
    /// Largest rate of each transfer by its limit and by the links it has alone; and its level.
    own_rate: f64,
    own_level: f64,
    /// Rate of each transfer; below zero while open.
    rate: f64,
    /// Its hops are `hops[start..end]`: links of the fabric, then shared links, in the end those that can saturate.
    start: u32,
    end: u32,
    decider: Decider,
}

/// What bounds a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bound {
    /// Its limit.
    Limit,
    /// A link, and another flow on it if there is one.
    Link(LinkId, Option<usize>),
}

/// Order of links: smallest level first (levels are ≥ 0, so their bits are in order), then lowest link id; then the index
/// into `links`. One number, since the heap compares them all the time.
type Key = u128;

#[inline]
fn key(level: f64, link: &Shared, local: u32) -> Key {
    Key::from(level.to_bits()) << 64 | Key::from(link.link.0) << 32 | Key::from(local)
}

/// The filling: reused from call to call.
#[derive(Debug)]
pub(crate) struct Filling {
    ports: Vec<Port>,
    /// Links in use, for the reset.
    touched: Vec<LinkId>,
    links: Vec<Shared>,
    flows: Vec<Flow>,
    hops: Vec<u32>,
    members: Vec<u32>,
    heap: BinaryHeap<Reverse<Key>>,
    /// Flows not yet settled that use a link that can saturate.
    open: usize,
}

impl Filling {
    /// A filling over links of these capacities.
    pub(crate) fn new(capacities: &[f64]) -> Self {
        Self {
            ports: capacities.iter().map(|&capacity| Port { capacity, used: false, local: NONE }).collect(),
            touched: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
            hops: Vec::new(),
            members: Vec::new(),
            heap: BinaryHeap::new(),
            open: 0,
        }
    }

    /// Capacity of a link.
    #[inline]
    pub(crate) fn capacity(&self, link: LinkId) -> f64 {
        self.ports[link.index()].capacity
    }

    /// Changes the capacity of a link (≥ 0).
    #[inline]
    pub(crate) fn set_capacity(&mut self, link: LinkId, capacity: f64) {
        self.ports[link.index()].capacity = capacity;
    }

    /// Forgets the flows of the last call.
    pub(crate) fn clear(&mut self) {
        for link in self.touched.drain(..) {
            let port = &mut self.ports[link.index()];
            (port.used, port.local) = (false, NONE);
        }
        self.links.clear();
        self.flows.clear();
        self.hops.clear();
    }

    /// Adds `count` transfers of one class.
    pub(crate) fn add(&mut self, route: &[LinkId], limit: f64, weight: f64, count: f64) {
        let start = self.hops.len() as u32;
        self.hops.extend(route.iter().map(|link| link.0));
        for &link in route {
            let port = &mut self.ports[link.index()];
            if !port.used {
                port.used = true;
                self.touched.push(link);
            } else if port.local == NONE {
                port.local = self.links.len() as u32;
                self.links.push(Shared::new(link, port.capacity));
            }
        }
        let (end, decider) = (self.hops.len() as u32, Decider::Limit);
        self.flows.push(Flow { weight, count, own_rate: limit, own_level: 0.0, rate: -1.0, start, end, decider });
    }

    /// Settles all flows.
    pub(crate) fn run(&mut self) {
        self.find_own_bounds();
        self.find_saturable();
        self.list_members();
        while self.open > 0 {
            let (link, level) = self.next_link();
            if self.links[link].least < level {
                self.settle_own_below(link, level);
            } else {
                self.saturate(link, level);
            }
        }
        for flow in self.flows.iter_mut().filter(|f| f.rate < 0.0) {
            flow.rate = flow.own_rate;
        }
    }

    /// Turns links used by one flow into bounds of that flow, and adds the flow to the others.
    fn find_own_bounds(&mut self) {
        for flow in &mut self.flows {
            let (mut narrowest, mut least, mut kept) = (LinkId::NONE, f64::INFINITY, flow.start);
            for hop in flow.start..flow.end {
                let link = self.hops[hop as usize];
                let port = &self.ports[link as usize];
                if port.local != NONE {
                    self.hops[kept as usize] = port.local;
                    kept += 1;
                } else if port.capacity < least {
                    (narrowest, least) = (LinkId(link), port.capacity);
                }
            }
            let rate = least / flow.count;
            if rate < flow.own_rate {
                (flow.own_rate, flow.decider) = (rate, Decider::OwnLink(narrowest));
            }
            flow.own_level = flow.own_rate / flow.weight;
            flow.end = kept;
            for &local in &self.hops[flow.start as usize..kept as usize] {
                self.links[local as usize].join(flow);
            }
        }
    }

    /// Fills the heap with the links that can saturate.
    fn find_saturable(&mut self) {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.clear();
        let mut next = 0;
        for (local, link) in self.links.iter_mut().enumerate() {
            if link.can_saturate() {
                (link.start, link.open) = (next, link.flows);
                next += link.flows;
                entries.push(Reverse(key(link.level(), link, local as u32)));
            }
        }
        if self.members.len() < next as usize {
            self.members.resize(next as usize, 0);
        }
        self.heap = BinaryHeap::from(entries);
    }

    /// Lists the flows of each link that can saturate, and drops the other links.
    fn list_members(&mut self) {
        self.open = 0;
        for (index, flow) in self.flows.iter_mut().enumerate() {
            let mut kept = flow.start;
            for hop in flow.start..flow.end {
                let local = self.hops[hop as usize];
                let link = &mut self.links[local as usize];
                if link.open > 0 {
                    self.members[link.start as usize] = index as u32;
                    link.start += 1;
                    self.hops[kept as usize] = local;
                    kept += 1;
                }
            }
            flow.end = kept;
            self.open += usize::from(kept > flow.start);
        }
        for link in self.links.iter_mut().filter(|l| l.open > 0) {
            link.start -= link.flows;
        }
    }

    /// The link with open flows that saturates first, and its level.
    fn next_link(&mut self) -> (usize, f64) {
        loop {
            let mut top = self.heap.peek_mut().expect("an open flow has an open link");
            let local = top.0 as u32;
            let link = &self.links[local as usize];
            if link.open == 0 {
                PeekMut::pop(top);
                continue;
            }
            let level = link.level();
            let now = key(level, link, local);
            if now <= top.0 {
                return (local as usize, level);
            }
            *top = Reverse(now);
        }
    }

    /// Settles the open flows of a link whose own bound is below its level, if there are any.
    fn settle_own_below(&mut self, local: usize, level: f64) {
        let mut least = f64::INFINITY;
        for at in self.links[local].members() {
            let index = self.members[at] as usize;
            let flow = &mut self.flows[index];
            if flow.rate >= 0.0 {
                continue;
            }
            if flow.own_level < level {
                flow.rate = flow.own_rate;
                self.take(index);
            } else {
                least = least.min(flow.own_level);
            }
        }
        self.links[local].least = least;
    }

    /// Settles the open flows of a link at its level.
    fn saturate(&mut self, local: usize, level: f64) {
        self.links[local].open = 0;
        for at in self.links[local].members() {
            let index = self.members[at] as usize;
            let flow = &mut self.flows[index];
            if flow.rate < 0.0 {
                let rate = level * flow.weight;
                if rate < flow.own_rate {
                    (flow.rate, flow.decider) = (rate, Decider::Shared(local as u32));
                } else {
                    flow.rate = flow.own_rate;
                }
                self.take(index);
            }
        }
    }

    /// Takes a settled flow off the links that still have open flows.
    #[inline]
    fn take(&mut self, index: usize) {
        self.open -= 1;
        let flow = &self.flows[index];
        let (used, weight) = (flow.rate * flow.count, flow.weight * flow.count);
        for &local in &self.hops[flow.start as usize..flow.end as usize] {
            self.links[local as usize].leave(used, weight);
        }
    }

    /// Rate of each transfer of a flow.
    #[inline]
    pub(crate) fn rate(&self, flow: usize) -> f64 {
        self.flows[flow].rate
    }

    /// What bounds a flow.
    #[inline]
    pub(crate) fn bound(&self, index: usize) -> Bound {
        match self.flows[index].decider {
            Decider::Limit => Bound::Limit,
            Decider::OwnLink(link) => Bound::Link(link, None),
            Decider::Shared(local) => {
                let link = &self.links[local as usize];
                let members = &self.members[link.members()];
                let other = if members[0] as usize == index { members[1] } else { members[0] };
                Bound::Link(link.link, Some(other as usize))
            }
        }
    }
}
