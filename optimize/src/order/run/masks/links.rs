//! The links and routes of a problem, numbered for masks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use weir_sim_core::api::{Direction, LinkId, NodeKind};

use crate::order::problem::{OrderProblem, sources};
use crate::order::run::plan::Plan;

/// A link that some message uses.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) bandwidth: f64,
    /// (1 − tau) · bandwidth.
    pub(super) reduced: f64,
    pub(super) down: bool,
    /// A down link that leaves a root complex.
    pub(super) port: bool,
    /// The links that come right before it on some route.
    pub(super) entering: Range<usize>,
}

/// One link of a route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) link: u32,
    /// The message reduces the capacity of this port.
    pub(super) reduces: bool,
    /// Smallest of limit and bandwidths up to here.
    pub(super) ceiling: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    hops: Range<usize>,
    pub(super) crosses: bool,
    pub(super) limit: f64,
    /// The narrowest bandwidth of the route.
    pub(super) least: f64,
    /// Ceilings at the first and last link.
    pub(super) first: f64,
    pub(super) last: f64,
}

#[derive(Debug)]
pub(super) struct Network {
    /// In the order of arbitration: every route is increasing.
    pub(super) links: Vec<Link>,
    pub(super) entering: Vec<u32>,
    /// By [`Plan::message`].
    pub(super) messages: Vec<Message>,
    hops: Vec<Hop>,
}

impl Network {
    pub(super) fn new(problem: &OrderProblem<'_>, plan: &Plan, tau: f64) -> Self {
        let order = ranked(problem);
        let number: BTreeMap<LinkId, u32> = order.iter().copied().zip(0..).collect();
        let mut network = Self {
            links: Vec::new(),
            entering: Vec::new(),
            messages: vec![Message::default(); plan.messages()],
            hops: Vec::new(),
        };
        let mut before = vec![BTreeSet::new(); order.len()];
        for (s, source) in problem.sources.iter().enumerate() {
            for (m, message) in source.messages.iter().enumerate() {
                let added = network.add(problem, message, &number);
                for pair in network.hops[added.hops.clone()].windows(2) {
                    before[pair[1].link as usize].insert(pair[0].link);
                }
                network.messages[plan.message(s, m)] = added;
            }
        }
        for (&id, before) in order.iter().zip(before) {
            let link = problem.fabric.link(id);
            let start = network.entering.len();
            network.entering.extend(before);
            let down = link.direction == Direction::Down;
            network.links.push(Link {
                bandwidth: link.bandwidth,
                reduced: (1.0 - tau) * link.bandwidth,
                down,
                port: down && problem.fabric.node(link.from).kind == NodeKind::RootComplex,
                entering: start..network.entering.len(),
            });
        }
        network
    }

    fn add(&mut self, problem: &OrderProblem<'_>, m: &sources::Message, number: &BTreeMap<LinkId, u32>) -> Message {
        let fabric = problem.fabric;
        let kind = |node| fabric.node(node).kind;
        let leaves = |link: &LinkId| kind(fabric.link(*link).from) == NodeKind::RootComplex;
        let route = problem.routes.links(problem.classes.route(m.class));
        let inner = route[1..].iter().any(leaves);
        let crosses = inner && kind(m.from) != NodeKind::Cpu && kind(m.to) != NodeKind::Cpu;
        let (limit, start) = (problem.classes.limit(m.class), self.hops.len());
        let mut least = f64::INFINITY;
        for (hop, id) in route.iter().enumerate() {
            least = least.min(fabric.link(*id).bandwidth);
            let port = leaves(id) && fabric.link(*id).direction == Direction::Down;
            let reduces = crosses && port && hop > 0;
            self.hops.push(Hop { link: number[id], reduces, ceiling: least.min(limit) });
        }
        let (first, last) = (self.hops[start].ceiling, least.min(limit));
        Message { hops: start..self.hops.len(), crosses, limit, least, first, last }
    }

    #[inline(always)]
    pub(super) fn route(&self, message: &Message) -> &[Hop] {
        &self.hops[message.hops.clone()]
    }

    /// Smallest of a message's limit and bandwidths up to a link of its route.
    pub(super) fn ceiling(&self, message: u32, link: usize) -> f64 {
        let message = &self.messages[message as usize];
        let hop = self.route(message).iter().find(|hop| hop.link as usize == link);
        hop.map_or(message.last, |hop| hop.ceiling)
    }
}

/// The links in use in the arbiter's order: up links deepest first, lateral ones, down links shallowest first.
fn ranked(problem: &OrderProblem<'_>) -> Vec<LinkId> {
    let used: BTreeSet<LinkId> = problem
        .sources
        .iter()
        .flat_map(|source| &source.messages)
        .flat_map(|m| problem.routes.links(problem.classes.route(m.class)).iter().copied())
        .collect();
    let view = problem.fabric.view();
    let mut order: Vec<LinkId> = used.into_iter().collect();
    order.sort_by_key(|id| {
        let depth = i64::from(view.depth[id.index()]);
        match view.direction[id.index()] {
            Direction::Up => (0, -depth),
            Direction::Lateral => (1, 0),
            Direction::Down => (2, depth),
        }
    });
    order
}
