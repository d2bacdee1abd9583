//! Where a route can go: in a tree there is one way; beside lateral links, at each node the links that can lead on.

use weir_plugin_api::{LinkId, NodeId};

use crate::fabric::Fabric;

/// In a forest the only simple path: up to the lowest common ancestor, then down.
pub(super) fn climb(fabric: &Fabric, from: NodeId, to: NodeId, out: &mut Vec<LinkId>) -> bool {
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

/// The links out of `node` that a simple path to `to` may take, in id order: up unless `to` is below and no lateral
/// link leaves the subtree; down towards `to`, or into a subtree that a lateral link leaves; every lateral link.
pub(super) fn useful_links(fabric: &Fabric, node: NodeId, to: NodeId, links: &mut Vec<LinkId>) {
    links.clear();
    let n = fabric.node(node);
    if !n.parent.is_none() && (!fabric.in_subtree(to, node) || fabric.crossed[node.index()]) {
        links.push(n.up);
    }
    let first = links.len();
    let begin = fabric.crossed_below.partition_point(|&(parent, _)| parent < node);
    links
        .extend(fabric.crossed_below[begin..].iter().take_while(|&&(parent, _)| parent == node).map(|&(_, link)| link));
    if let Some(link) = down_towards(fabric, node, to)
        && let Err(at) = links[first..].binary_search(&link)
    {
        links.insert(first + at, link);
    }
    let row = fabric.lateral_offsets[node.index()] as usize..fabric.lateral_offsets[node.index() + 1] as usize;
    links.extend_from_slice(&fabric.laterals[row]);
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
