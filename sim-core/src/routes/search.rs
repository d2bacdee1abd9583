//! The way that a transfer takes where it has no choice: the fewest links, then the smallest ids.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use weir_plugin_api::{LinkId, NodeId};

use crate::fabric::Fabric;

/// Appends the links of the route from one node to another; false where there is none.
pub(super) fn first(fabric: &Fabric, from: NodeId, to: NodeId, out: &mut Vec<LinkId>) -> bool {
    if fabric.has_laterals() { search(fabric, from, to, out) } else { climb(fabric, from, to, out) }
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
pub(super) fn useful_links(fabric: &Fabric, node: NodeId, to: NodeId, ways: &mut Vec<LinkId>) {
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
