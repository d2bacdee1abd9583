//! The cpu or host nearest to each node.

use weir_plugin_api::{NodeId, NodeKind};
use weir_sim_core::Fabric;

/// Per node the cpu or host that it reaches in the fewest hops, the first in file order among equals (itself where it is
/// one); [`NodeId::NONE`] where it reaches none.
///
/// Breadth-first from all of them at once: every link goes both ways, so that hops from them are hops to them. Among the
/// neighbours that are one hop nearer, a node takes over the smallest host.
pub(super) fn hosts(fabric: &Fabric) -> Box<[NodeId]> {
    let nodes = fabric.nodes();
    let mut host = vec![NodeId::NONE; nodes.len()].into_boxed_slice();
    let is_host = |node: &NodeId| matches!(fabric.node(*node).kind, NodeKind::Cpu | NodeKind::Host);
    let mut ring: Vec<NodeId> = (0..nodes.len()).map(NodeId::from_index).filter(is_host).collect();
    if ring.is_empty() {
        return host;
    }
    let (offsets, neighbours) = neighbours(fabric);
    ring.iter().for_each(|&node| host[node.index()] = node);
    let mut first = true;
    while !ring.is_empty() {
        let mut found = Vec::new();
        for &node in ring.iter().filter(|&&node| first || fabric.node(node).kind.forwards()) {
            for &next in &neighbours[offsets[node.index()] as usize..offsets[node.index() + 1] as usize] {
                if host[next.index()].is_none() {
                    found.push((next, host[node.index()]));
                }
            }
        }
        found.sort_unstable();
        found.dedup_by_key(|(node, _)| *node);
        found.iter().for_each(|&(node, of)| host[node.index()] = of);
        ring = found.into_iter().map(|(node, _)| node).collect();
        first = false;
    }
    host
}

/// Per node the nodes its links lead to, as compressed rows.
fn neighbours(fabric: &Fabric) -> (Vec<u32>, Vec<NodeId>) {
    let mut offsets = vec![0_u32; fabric.nodes().len() + 1];
    for link in fabric.links() {
        offsets[link.from.index() + 1] += 1;
    }
    for i in 1..offsets.len() {
        offsets[i] += offsets[i - 1];
    }
    let (mut next, mut rows) = (offsets.clone(), vec![NodeId(0); fabric.links().len()]);
    for link in fabric.links() {
        let at = &mut next[link.from.index()];
        rows[*at as usize] = link.to;
        *at += 1;
    }
    (offsets, rows)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_plugin_api::{LinkKind, SimDuration};
    use weir_sim_core::{FabricBuilder, LinkSpec, Routes};

    use super::*;

    /// The slow twin: the length of the route to every host.
    fn slow(fabric: &Fabric) -> Vec<NodeId> {
        let (n, mut routes) = (fabric.nodes().len(), Routes::new());
        let mut nearest = |node: NodeId| {
            let hosts = (0..n).map(NodeId::from_index);
            let hosts = hosts.filter(|&h| matches!(fabric.node(h).kind, NodeKind::Cpu | NodeKind::Host));
            let hops = |host: NodeId| match node == host {
                true => Some((0, host)),
                false => routes.between(fabric, node, host).map(|route| (routes.links(route).len(), host)),
            };
            hosts.filter_map(hops).min().map_or(NodeId::NONE, |(_, host)| host)
        };
        (0..n).map(|node| nearest(NodeId::from_index(node))).collect()
    }

    proptest! {
        #[test]
        fn agrees_with_the_routes(
            kinds in proptest::collection::vec((0..8_usize, 0..12_usize), 1..12),
            laterals in proptest::collection::vec((0..12_usize, 0..12_usize), 0..5),
        ) {
            let link = LinkSpec { up: 1e9, down: 1e9, latency: SimDuration::ZERO, kind: LinkKind::PCIE };
            let mut builder = FabricBuilder::new();
            let mut chain: Vec<NodeId> = Vec::new();
            for &(kind, depth) in &kinds {
                let kind = NodeKind::ALL[kind];
                chain.truncate(depth);
                let node = match chain.last() {
                    Some(&parent) => builder.child(parent, kind, link),
                    None => builder.root(kind),
                };
                chain.push(node.unwrap());
            }
            for &(a, b) in &laterals {
                let at = |i: usize| NodeId::from_index(i % kinds.len());
                let _ = builder.lateral(at(a), at(b), link);
            }
            let fabric = builder.build();
            prop_assert_eq!(hosts(&fabric).to_vec(), slow(&fabric));
        }
    }
}
