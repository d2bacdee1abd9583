//! Interned routes: shortest in hops, among equals the lexicographically smallest sequence of link ids.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use weir_plugin_api::{LinkId, NodeId, RouteId, RouteTable, SimDuration};

use crate::fabric::Fabric;

/// The table of routes in use. Only pairs that are asked for are computed; there is no all-pairs table.
#[derive(Clone, Debug)]
pub struct Routes {
    offsets: Vec<u64>,
    links: Vec<LinkId>,
    latency: Vec<SimDuration>,
    by_pair: FxHashMap<(NodeId, NodeId), RouteId>,
}

impl Default for Routes {
    fn default() -> Self {
        Self { offsets: vec![0], links: Vec::new(), latency: Vec::new(), by_pair: FxHashMap::default() }
    }
}

impl Routes {
    /// A table without routes: each is found when it is first asked for.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The route from one node to another, computed at its first use; `None` when `to` cannot be reached or is `from`.
    pub fn between(&mut self, fabric: &Fabric, from: NodeId, to: NodeId) -> Option<RouteId> {
        if from == to {
            return None;
        }
        if let Some(&route) = self.by_pair.get(&(from, to)) {
            return Some(route);
        }
        let start = self.links.len();
        let found = if fabric.has_laterals() {
            search(fabric, from, to, &mut self.links)
        } else {
            climb(fabric, from, to, &mut self.links)
        };
        if !found {
            self.links.truncate(start);
            return None;
        }
        let route = RouteId::from_index(self.latency.len());
        let latency = self.links[start..].iter().fold(SimDuration::ZERO, |sum, &l| sum.plus(fabric.link(l).latency));
        self.latency.push(latency);
        self.offsets.push(self.links.len() as u64);
        self.by_pair.insert((from, to), route);
        Some(route)
    }

    /// The route from one node to another, if it has been computed.
    #[must_use]
    pub fn known(&self, from: NodeId, to: NodeId) -> Option<RouteId> {
        self.by_pair.get(&(from, to)).copied()
    }

    /// Number of distinct routes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.latency.len()
    }

    /// Whether no route is in use.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.latency.is_empty()
    }

    /// The links of a route, in order of travel.
    #[inline]
    #[must_use]
    pub fn links(&self, route: RouteId) -> &[LinkId] {
        &self.links[self.offsets[route.index()] as usize..self.offsets[route.index() + 1] as usize]
    }

    /// Sum of the latencies of a route's links.
    #[inline]
    #[must_use]
    pub fn latency(&self, route: RouteId) -> SimDuration {
        self.latency[route.index()]
    }

    /// The table as arbiters see it.
    #[must_use]
    pub fn table(&self) -> RouteTable<'_> {
        RouteTable { offsets: (&self.offsets).into(), links: (&self.links).into() }
    }
}

/// In a forest the only simple path: up to the lowest common ancestor, then down.
fn climb(fabric: &Fabric, from: NodeId, to: NodeId, out: &mut Vec<LinkId>) -> bool {
    let (mut a, mut b) = (from, to);
    let down_start = out.len();
    while !fabric.in_subtree(to, a) {
        if a != from && !fabric.node(a).kind.forwards() {
            return false;
        }
        let node = fabric.node(a);
        if node.parent.is_none() {
            return false;
        }
        out.push(node.up);
        a = node.parent;
    }
    let turn = out.len();
    if a != from && a != to && !fabric.node(a).kind.forwards() {
        return false;
    }
    while b != a {
        if b != to && !fabric.node(b).kind.forwards() {
            return false;
        }
        let node = fabric.node(b);
        out.push(LinkId(node.up.0 + 1));
        b = node.parent;
    }
    out[turn..].reverse();
    debug_assert!(out.len() > down_start);
    true
}

/// Breadth-first over the nodes that can lie on a simple path. A queue in order of discovery visits nodes of one
/// distance in the order of their smallest link sequences, so the first discovery of a node is its route.
fn search(fabric: &Fabric, from: NodeId, to: NodeId, out: &mut Vec<LinkId>) -> bool {
    let mut reached: FxHashMap<NodeId, LinkId> = FxHashMap::default();
    let mut queue = VecDeque::from([from]);
    let mut ways = Vec::new();
    reached.insert(from, LinkId::NONE);
    while let Some(node) = queue.pop_front() {
        if node == to {
            break;
        }
        if node != from && !fabric.node(node).kind.forwards() {
            continue;
        }
        useful_links(fabric, node, to, &mut ways);
        for &link in &ways {
            let next = fabric.link(link).to;
            if let std::collections::hash_map::Entry::Vacant(slot) = reached.entry(next) {
                slot.insert(link);
                queue.push_back(next);
            }
        }
    }
    if !reached.contains_key(&to) {
        return false;
    }
    let start = out.len();
    let mut at = to;
    while at != from {
        let link = reached[&at];
        out.push(link);
        at = fabric.link(link).from;
    }
    out[start..].reverse();
    true
}

/// The links out of `node` that a simple path to `to` may take, in id order: up unless `to` is below and no lateral
/// link leaves the subtree; down towards `to`, or into a subtree that a lateral link leaves; every lateral link.
fn useful_links(fabric: &Fabric, node: NodeId, to: NodeId, ways: &mut Vec<LinkId>) {
    ways.clear();
    let n = fabric.node(node);
    if !n.parent.is_none() && (!fabric.in_subtree(to, node) || fabric.crossed[node.index()]) {
        ways.push(n.up);
    }
    let first = ways.len();
    let begin = fabric.crossed_below.partition_point(|&(parent, _)| parent < node);
    ways.extend(fabric.crossed_below[begin..].iter().take_while(|&&(parent, _)| parent == node).map(|&(_, link)| link));
    if let Some(link) = down_towards(fabric, node, to)
        && let Err(at) = ways[first..].binary_search(&link)
    {
        ways.insert(first + at, link);
    }
    let row = fabric.lateral_offsets[node.index()] as usize..fabric.lateral_offsets[node.index() + 1] as usize;
    ways.extend_from_slice(&fabric.laterals[row]);
}

/// The down link from `node` to its child above (or at) `to`, if `to` is below `node`.
fn down_towards(fabric: &Fabric, node: NodeId, to: NodeId) -> Option<LinkId> {
    if to == node || !fabric.in_subtree(to, node) {
        return None;
    }
    let mut child = to;
    while fabric.node(child).parent != node {
        child = fabric.node(child).parent;
    }
    Some(LinkId(fabric.node(child).up.0 + 1))
}
