//! The working tables of one set of connected transfers: flows (transfers of one class), the sources that send them, and
//! the links that they take.

use std::cmp::Ordering;

use weir_plugin_api::{Direction, LinkId, PhaseView};

use crate::common::groups::{ClassGroup, NONE};
use crate::common::ports::{Port, crosses_root_complex};

/// A link in use, in the order of arbitration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) id: LinkId,
    pub(super) down: bool,
    /// A transfer on it crosses the root complex that it leaves, at a cost.
    pub(super) reduced: bool,
    /// C(l): its bandwidth, less the root complex's penalty.
    pub(super) capacity: f64,
    /// Links of one direction and depth are divided at once.
    pub(super) tier: u32,
    /// No queue at its far end: each link that follows has its own.
    pub(super) leaves_memory: bool,
    /// Its hops are `by_link[start..end]`.
    pub(super) start: u32,
    pub(super) end: u32,
}

/// What sends its transfers in turn from one queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    /// Its streams are `streams[start..end]`.
    pub(super) start: u32,
    pub(super) end: u32,
    /// n_s: how many transfers it has.
    pub(super) transfers: f64,
    /// w_s / n_s: the weight of each of its transfers.
    pub(super) weight: f64,
}

/// The transfers of a source that have one limit, hence one rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) source: u32,
    pub(super) limit: f64,
    /// How many transfers.
    pub(super) count: f64,
    /// The rate of each.
    pub(super) rate: f64,
}

/// The transfers of one class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) group: u32,
    pub(super) stream: u32,
    pub(super) count: f64,
    pub(super) limit: f64,
    /// Its hops.
    pub(super) start: u32,
    pub(super) end: u32,
    /// y: its part of the ports so far, of each transfer; and the link that cut it last, or [`NONE`].
    pub(super) share: f64,
    pub(super) cut: u32,
    /// The narrowest link of its route and its bandwidth, and the narrowest with penalties.
    pub(super) narrowest: LinkId,
    pub(super) bandwidth: f64,
    pub(super) capacity: f64,
}

/// One link of a flow's route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) flow: u32,
    pub(super) link: u32,
}

/// The tables, reused from set to set.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) links: Vec<Link>,
    pub(super) sources: Vec<Source>,
    pub(super) streams: Vec<Stream>,
    /// By source, limit and route: the order of the phase does not matter.
    pub(super) flows: Vec<Flow>,
    pub(super) hops: Vec<Hop>,
    /// Hops by link.
    by_link: Vec<u32>,
    order: Vec<u32>,
    ids: Vec<(u32, LinkId)>,
    pub(super) shares: super::shares::Scratch,
}

impl Layout {
    /// Lays out the groups of one set. `local` of the ports is [`NONE`] before and after.
    pub(super) fn build(&mut self, phase: &PhaseView<'_>, groups: &[ClassGroup], members: &[u32], ports: &mut [Port]) {
        self.list_links(phase, groups, members, ports);
        self.order.clear();
        self.order.extend(members);
        self.order.sort_unstable_by(|&a, &b| compare(phase, &groups[a as usize], &groups[b as usize], ports));
        self.sources.clear();
        self.streams.clear();
        self.flows.clear();
        self.hops.clear();
        let mut before: Option<&[LinkId]> = None;
        for at in 0..self.order.len() {
            let index = self.order[at];
            let route = phase.route(groups[index as usize].first as usize);
            let same_source = before.is_some_and(|before| source(before, ports) == source(route, ports));
            self.add_flow(phase, groups, index, !same_source, ports);
            before = Some(route);
        }
        for &(_, id) in &self.ids {
            ports[id.index()].local = NONE;
        }
        self.list_hops();
    }

    /// Lists the links in use in the order of arbitration, and numbers them in the ports.
    fn list_links(&mut self, phase: &PhaseView<'_>, groups: &[ClassGroup], members: &[u32], ports: &mut [Port]) {
        self.ids.clear();
        for &group in members {
            for &link in phase.route(groups[group as usize].first as usize) {
                let port = &mut ports[link.index()];
                if port.local == NONE {
                    port.local = 0;
                    self.ids.push((port.rank, link));
                }
            }
        }
        self.ids.sort_unstable();
        self.links.clear();
        for (&(_, id), local) in self.ids.iter().zip(0..) {
            let port = &mut ports[id.index()];
            port.local = local;
            self.links.push(Link {
                id,
                down: port.direction == Direction::Down,
                reduced: false,
                capacity: port.bandwidth,
                tier: port.tier,
                leaves_memory: port.leaves_memory,
                start: 0,
                end: 0,
            });
        }
    }

    /// Adds a group after all of those before it in the order, to their source or to a new one.
    fn add_flow(&mut self, phase: &PhaseView<'_>, groups: &[ClassGroup], index: u32, new_source: bool, ports: &[Port]) {
        let group = &groups[index as usize];
        let (route, count) = (phase.route(group.first as usize), f64::from(group.count));
        let (limit, start) = (limit(phase, group), self.hops.len() as u32);
        if new_source {
            let stream = self.streams.len() as u32;
            self.sources.push(Source { start: stream, end: stream, transfers: 0.0, weight: f64::INFINITY });
        }
        let source = self.sources.len() as u32 - 1;
        let own = &mut self.sources[source as usize];
        own.transfers += count;
        match self.streams.last_mut() {
            Some(stream) if own.end > own.start && stream.limit.to_bits() == limit.to_bits() => stream.count += count,
            _ => {
                own.end += 1;
                self.streams.push(Stream { source, limit, count, rate: 0.0 });
            }
        }
        let flow = self.flows.len() as u32;
        let (narrowest, bandwidth) = self.add_hops(route, flow, ports);
        let stream = self.streams.len() as u32 - 1;
        let (end, capacity) = (self.hops.len() as u32, bandwidth);
        let (share, cut) = (0.0, NONE);
        self.flows.push(Flow {
            group: index,
            stream,
            count,
            limit,
            start,
            end,
            share,
            cut,
            narrowest,
            bandwidth,
            capacity,
        });
    }

    /// Adds the hops of a flow; returns the narrowest link and its bandwidth.
    fn add_hops(&mut self, route: &[LinkId], flow: u32, ports: &[Port]) -> (LinkId, f64) {
        let crosses = crosses_root_complex(ports, route);
        let mut narrowest = (LinkId::NONE, f64::INFINITY);
        for &id in route {
            let port = &ports[id.index()];
            let link = &mut self.links[port.local as usize];
            if port.bandwidth < narrowest.1 {
                narrowest = (id, port.bandwidth);
            }
            if crosses && port.below_root_complex && port.reduced < port.bandwidth {
                (link.reduced, link.capacity) = (true, port.reduced);
            }
            link.end += 1;
            self.hops.push(Hop { flow, link: port.local });
        }
        narrowest
    }

    /// Sorts the hops by link, and finds the narrowest capacity of each route.
    fn list_hops(&mut self) {
        let mut next = 0;
        for link in &mut self.links {
            let hops = link.end;
            (link.start, link.end) = (next, next);
            next += hops;
        }
        self.by_link.clear();
        self.by_link.resize(self.hops.len(), 0);
        for (hop, index) in self.hops.iter().zip(0..) {
            let link = &mut self.links[hop.link as usize];
            self.by_link[link.end as usize] = index;
            link.end += 1;
            let flow = &mut self.flows[hop.flow as usize];
            flow.capacity = flow.capacity.min(link.capacity);
        }
    }

    /// The hops over a link, in order of flows.
    pub(super) fn on(&self, link: u32) -> &[u32] {
        let link = &self.links[link as usize];
        &self.by_link[link.start as usize..link.end as usize]
    }

    /// The hops of a flow, in order of travel.
    pub(super) fn route(&self, flow: u32) -> &[Hop] {
        let flow = &self.flows[flow as usize];
        &self.hops[flow.start as usize..flow.end as usize]
    }

    /// The link before a hop, or [`NONE`] for the first of a route.
    pub(super) fn before(&self, hop: u32) -> u32 {
        let first = self.flows[self.hops[hop as usize].flow as usize].start;
        if hop == first { NONE } else { self.hops[hop as usize - 1].link }
    }

    /// The link after a hop, or [`NONE`] for the last of a route.
    pub(super) fn after(&self, hop: u32) -> u32 {
        let end = self.flows[self.hops[hop as usize].flow as usize].end;
        if hop + 1 == end { NONE } else { self.hops[hop as usize + 1].link }
    }

    /// The weight of each transfer of a stream.
    pub(super) fn weight(&self, stream: u32) -> f64 {
        self.sources[self.streams[stream as usize].source as usize].weight
    }

    pub(super) fn source_of(&self, flow: u32) -> u32 {
        self.streams[self.flows[flow as usize].stream as usize].source
    }
}

/// What tells sources apart: the first link of a route, and the second where the first leaves host memory.
fn source(route: &[LinkId], ports: &[Port]) -> (LinkId, Option<LinkId>) {
    let second = if ports[route[0].index()].leaves_memory { route.get(1).copied() } else { None };
    (route[0], second)
}

/// The limit of a group.
fn limit(phase: &PhaseView<'_>, group: &ClassGroup) -> f64 {
    phase.classes.limit[group.class.index()]
}

/// By source, limit, route and number of transfers: what else tells classes apart is not read.
fn compare(phase: &PhaseView<'_>, a: &ClassGroup, b: &ClassGroup, ports: &[Port]) -> Ordering {
    let (first, second) = (phase.route(a.first as usize), phase.route(b.first as usize));
    let sources = source(first, ports).cmp(&source(second, ports));
    let limits = || limit(phase, a).total_cmp(&limit(phase, b));
    sources.then_with(limits).then_with(|| first.cmp(second)).then_with(|| a.count.cmp(&b.count))
}
