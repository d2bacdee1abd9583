//! The tree of the fabric, and the machine of a device.

use weir_plugin_api::{Direction, FabricView, NodeKind};

/// The topmost ancestor of a node that is not a network: what stands for its machine where no cpu is named. `None` for
/// a device that the topology does not have.
pub(crate) fn machine_of(fabric: &FabricView<'_>, node: u32) -> Option<u32> {
    machine(fabric, &parents(fabric), node)
}

/// The same of several nodes.
pub(crate) fn machines_of(fabric: &FabricView<'_>, nodes: &[u32]) -> Vec<Option<u32>> {
    let parents = parents(fabric);
    nodes.iter().map(|&node| machine(fabric, &parents, node)).collect()
}

fn machine(fabric: &FabricView<'_>, parents: &[Option<u32>], node: u32) -> Option<u32> {
    let kinds = fabric.node_kind.as_slice();
    let network = |node: u32| kinds.get(node as usize) == Some(&NodeKind::Network);
    kinds.get(node as usize)?;
    ancestors(parents, node).take_while(|&above| !network(above)).last().or(Some(node))
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
