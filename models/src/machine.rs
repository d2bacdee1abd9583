//! The tree of the fabric, and machines.

use weir_plugin_api::{Direction, FabricView, NodeKind};

/// The topmost ancestor of a node that is not a network: what stands for its machine where no cpu is named. `None` for
/// a device that the topology does not have.
pub(crate) fn machine_of(fabric: &FabricView<'_>, node: u32) -> Option<u32> {
    let kinds = fabric.node_kind.as_slice();
    let network = |node: u32| kinds.get(node as usize) == Some(&NodeKind::Network);
    kinds.get(node as usize)?;
    ancestors(&parents(fabric), node).take_while(|&above| !network(above)).last().or(Some(node))
}

/// Per node, what all nodes have in common that links join without passing a network: one of them.
pub(crate) fn machines(fabric: &FabricView<'_>) -> Vec<u32> {
    let mut joined: Vec<u32> = (0..fabric.node_kind.len() as u32).collect();
    let find = |joined: &mut Vec<u32>, mut node: u32| {
        while joined[node as usize] != node {
            joined[node as usize] = joined[joined[node as usize] as usize];
            node = joined[node as usize];
        }
        node
    };
    for link in 0..fabric.links() {
        let ends = [fabric.from[link], fabric.to[link]];
        if ends.iter().all(|&end| fabric.node_kind[end as usize] != NodeKind::Network) {
            let [a, b] = ends.map(|end| find(&mut joined, end));
            joined[a.max(b) as usize] = a.min(b);
        }
    }
    (0..joined.len() as u32).map(|node| find(&mut joined, node)).collect()
}

/// The node above each one in the tree.
pub(crate) fn parents(fabric: &FabricView<'_>) -> Vec<Option<u32>> {
    let mut parents = vec![None; fabric.node_kind.len()];
    for link in (0..fabric.links()).filter(|&link| fabric.direction[link] == Direction::Up) {
        parents[fabric.from[link] as usize].get_or_insert(fabric.to[link]);
    }
    parents
}

/// A node, the one above it, and so on to the root.
pub(crate) fn ancestors(parents: &[Option<u32>], node: u32) -> impl Iterator<Item = u32> + '_ {
    // A tree has fewer levels than nodes.
    std::iter::successors(Some(node), |&node| parents.get(node as usize).copied().flatten()).take(parents.len())
}
