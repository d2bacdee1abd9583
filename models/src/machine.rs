//! The machine of a device.

use weir_plugin_api::{Direction, FabricView, NodeKind};

/// The topmost ancestor of a node that is not a network: what stands for its machine where no cpu is named. `None` for
/// a device that the topology does not have.
pub(crate) fn machine_of(fabric: &FabricView<'_>, node: u32) -> Option<u32> {
    let kinds = fabric.node_kind.as_slice();
    let network = |node: u32| kinds.get(node as usize) == Some(&NodeKind::Network);
    kinds.get(node as usize)?;
    let mut at = node;
    // A tree has fewer levels than nodes.
    for _ in 0..kinds.len() {
        match parent(fabric, at) {
            Some(above) if !network(above) => at = above,
            _ => break,
        }
    }
    Some(at)
}

/// The node above another one in the tree.
fn parent(fabric: &FabricView<'_>, node: u32) -> Option<u32> {
    let (from, to) = (fabric.from.as_slice(), fabric.to.as_slice());
    let directions = fabric.direction.as_slice();
    (0..from.len()).find(|&l| from[l] == node && directions[l] == Direction::Up).map(|l| to[l])
}
