//! Progressive filling: the weighted max-min allocation over links with given capacities.
//!
//! The level of a flow is rate / weight. All levels rise together; when a link has no capacity left, or a flow has
//! reached a bound of its own, the flows concerned are settled at that level and the rest goes on.
//!
//! - A link used by one flow only is a bound of that flow, not a shared link; so is its limit.
//! - A link on which the own bounds fit together can never saturate, and is left out.
//! - The level at which a link saturates, what is left on it / the weight of its open flows, never falls while flows are
//!   settled in order of level. So a level computed earlier is a lower bound, and is computed again only when it comes to
//!   the top of the heap. Own bounds are looked at only on a link that is about to saturate: those below its level are
//!   below every other level too, and are settled first.
//! - Every number depends only on flows connected through shared links, never on others shown in the same call. What is
//!   left is a compensated sum: 64 settled flows before the last leave its rate exact to 1e-13.

use std::collections::BinaryHeap;

use std::cmp::Reverse;

use weir_plugin_api::LinkId;

use crate::groups::NONE;

/// A number with the rounding error of its additions (Knuth, *The Art of Computer Programming*, vol. 2, 4.2.2, TwoSum).
#[derive(Clone, Copy, Debug)]
struct Sum {
    value: f64,
    error: f64,
}

impl Sum {
    #[inline]
    fn new(value: f64) -> Self {
        Self { value, error: 0.0 }
    }

    #[inline]
    fn add(&mut self, term: f64) {
        let sum = self.value + term;
        let virtual_term = sum - self.value;
        self.error += (self.value - (sum - virtual_term)) + (term - virtual_term);
        self.value = sum;
    }

    #[inline]
    fn get(&self) -> f64 {
        self.value + self.error
    }
}

/// Capacity of a fabric link and its place in the current filling.
#[derive(Clone, Copy, Debug)]
struct Port {
    capacity: f64,
    /// Index into `links`, or [`NONE`].
    local: u32,
}

/// A link used in the current filling.
#[derive(Clone, Copy, Debug)]
struct Shared {
    /// Capacity left to open flows.
    left: Sum,
    /// Weight of open flows.
    weight: Sum,
    /// Sum of the own bounds of its flows.
    wanted: f64,
    link: LinkId,
    /// Flows on it.
    flows: u32,
    /// Flows not yet settled; 0 as well on links that cannot saturate.
    open: u32,
    /// Its flows are `members[start..start + flows]` if it can saturate; while they are laid out, where the next goes.
    start: u32,
}

/// The transfers of one class in a filling.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// Weight of each transfer.
    weight: f64,
    count: f64,
    /// Largest rate of each transfer by its limit and by the links it has alone.
    own_rate: f64,
    /// Rate of each transfer; below zero while open.
    rate: f64,
    /// Its hops are `hops[start..end]`.
    start: u32,
    end: u32,
    /// The deciding link as an index into `links`, or [`NONE`] for the limit.
    bound: u32,
}

/// What bounds a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bound {
    /// Its limit.
    Limit,
    /// A link, and another flow on it if there is one.
    Link(LinkId, Option<usize>),
}

/// Order of links: smallest level first (levels are ≥ 0, so their bits are in order), then lowest link id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    level: u64,
    link: LinkId,
    local: u32,
}

/// The filling: reused from call to call.
#[derive(Debug)]
pub(crate) struct Filling {
    ports: Vec<Port>,
    links: Vec<Shared>,
    flows: Vec<Flow>,
    hops: Vec<u32>,
    members: Vec<u32>,
    heap: BinaryHeap<Reverse<Key>>,
}

impl Filling {
    /// A filling over links of these capacities.
    pub(crate) fn new(capacities: &[f64]) -> Self {
        Self {
            ports: capacities.iter().map(|&capacity| Port { capacity, local: NONE }).collect(),
            links: Vec::new(),
            flows: Vec::new(),
            hops: Vec::new(),
            members: Vec::new(),
            heap: BinaryHeap::new(),
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
        for link in self.links.drain(..) {
            self.ports[link.link.index()].local = NONE;
        }
        self.flows.clear();
        self.hops.clear();
    }

    /// Adds `count` transfers of one class.
    pub(crate) fn add(&mut self, route: &[LinkId], limit: f64, weight: f64, count: f64) {
        let start = self.hops.len() as u32;
        let total = weight * count;
        for &link in route {
            let port = &mut self.ports[link.index()];
            if port.local == NONE {
                port.local = self.links.len() as u32;
                let (left, weight) = (Sum::new(port.capacity), Sum::new(total));
                self.links.push(Shared { left, weight, wanted: 0.0, link, flows: 1, open: 0, start: 0 });
            } else {
                let shared = &mut self.links[port.local as usize];
                shared.flows += 1;
                shared.weight.add(total);
            }
            self.hops.push(port.local);
        }
        let end = self.hops.len() as u32;
        self.flows.push(Flow { weight, count, own_rate: limit, rate: -1.0, start, end, bound: NONE });
    }

    /// Settles all flows.
    pub(crate) fn run(&mut self) {
        self.find_own_bounds();
        self.lay_out();
        while let Some(Reverse(key)) = self.heap.pop() {
            self.advance(key);
        }
        for flow in self.flows.iter_mut().filter(|f| f.rate < 0.0) {
            flow.rate = flow.own_rate;
        }
    }

    /// Deals with the link whose level was the lowest: it is saturated unless its level has risen above another.
    fn advance(&mut self, key: Key) {
        loop {
            let link = &self.links[key.local as usize];
            if link.open == 0 {
                return;
            }
            // Below zero only by rounding, when nothing is left.
            let level = (link.left.get() / link.weight.get()).max(0.0);
            let now = Key { level: level.to_bits(), ..key };
            if self.heap.peek().is_some_and(|Reverse(next)| *next < now) {
                self.heap.push(Reverse(now));
                return;
            }
            if !self.settle_own_below(key.local, level) {
                self.saturate(key.local, level);
                return;
            }
        }
    }

    /// Turns links used by one flow into bounds of that flow, and adds up the own bounds on the others.
    fn find_own_bounds(&mut self) {
        for flow in &mut self.flows {
            let hops = &self.hops[flow.start as usize..flow.end as usize];
            for &local in hops {
                let link = &self.links[local as usize];
                if link.flows == 1 {
                    let rate = link.left.get() / flow.count;
                    if rate < flow.own_rate {
                        (flow.own_rate, flow.bound) = (rate, local);
                    }
                }
            }
            let wanted = flow.own_rate * flow.count;
            for &local in hops {
                self.links[local as usize].wanted += wanted;
            }
        }
    }

    /// Lists the flows of each link that can saturate, and fills the heap with these links.
    fn lay_out(&mut self) {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.clear();
        let mut next = 0;
        for (local, link) in self.links.iter_mut().enumerate() {
            if link.flows > 1 && link.wanted > link.left.get() {
                (link.start, link.open) = (next, link.flows);
                next += link.flows;
                let level = (link.left.get() / link.weight.get()).to_bits();
                entries.push(Reverse(Key { level, link: link.link, local: local as u32 }));
            }
        }
        if self.members.len() < next as usize {
            self.members.resize(next as usize, 0);
        }
        for (index, flow) in self.flows.iter().enumerate() {
            for &local in &self.hops[flow.start as usize..flow.end as usize] {
                let link = &mut self.links[local as usize];
                if link.open > 0 {
                    self.members[link.start as usize] = index as u32;
                    link.start += 1;
                }
            }
        }
        for Reverse(key) in &entries {
            let link = &mut self.links[key.local as usize];
            link.start -= link.flows;
        }
        self.heap = BinaryHeap::from(entries);
    }

    fn members(link: &Shared) -> std::ops::Range<usize> {
        link.start as usize..(link.start + link.flows) as usize
    }

    /// Settles the open flows of a link whose own bound is below its level; false where there is none.
    fn settle_own_below(&mut self, local: u32, level: f64) -> bool {
        let mut any = false;
        for at in Self::members(&self.links[local as usize]) {
            let index = self.members[at] as usize;
            let flow = &mut self.flows[index];
            if flow.rate < 0.0 && flow.own_rate < level * flow.weight {
                flow.rate = flow.own_rate;
                self.take(index);
                any = true;
            }
        }
        any
    }

    /// Settles the open flows of a link at its level.
    fn saturate(&mut self, local: u32, level: f64) {
        for at in Self::members(&self.links[local as usize]) {
            let index = self.members[at] as usize;
            let flow = &mut self.flows[index];
            if flow.rate < 0.0 {
                flow.rate = (level * flow.weight).min(flow.own_rate);
                if flow.rate < flow.own_rate {
                    flow.bound = local;
                }
                self.take(index);
            }
        }
    }

    /// Takes a settled flow off the links that can saturate.
    #[inline]
    fn take(&mut self, index: usize) {
        let flow = &self.flows[index];
        let (used, weight) = (flow.rate * flow.count, flow.weight * flow.count);
        for &local in &self.hops[flow.start as usize..flow.end as usize] {
            let link = &mut self.links[local as usize];
            if link.open > 0 {
                link.open -= 1;
                link.left.add(-used);
                link.weight.add(-weight);
            }
        }
    }

    /// Rate of each transfer of a flow.
    #[inline]
    pub(crate) fn rate(&self, flow: usize) -> f64 {
        self.flows[flow].rate
    }

    /// What bounds a flow.
    pub(crate) fn bound(&self, index: usize) -> Bound {
        let flow = &self.flows[index];
        if flow.bound == NONE {
            return Bound::Limit;
        }
        let link = &self.links[flow.bound as usize];
        if link.flows < 2 {
            return Bound::Link(link.link, None);
        }
        let members = &self.members[Self::members(link)];
        let other = if members[0] as usize == index { members[1] } else { members[0] };
        Bound::Link(link.link, Some(other as usize))
    }
}
