//! Finding the hierarchy of devices: from the fabric's tree, or from the costs alone.

use weir_sim_core::Fabric;
use weir_sim_core::api::NodeId;

use super::matrix::Matrix;
use super::tree::Shape;

/// Lowest common ancestor in the fabric's tree; [`NodeId::NONE`], the virtual root, for nodes below different roots.
fn common_ancestor(fabric: &Fabric, mut a: NodeId, mut b: NodeId) -> NodeId {
    while a != b {
        let depth = |node: NodeId| (!node.is_none()).then(|| fabric.node(node).depth);
        let climb = if depth(a) >= depth(b) { &mut a } else { &mut b };
        *climb = fabric.node(*climb).parent;
    }
    a
}

/// level(a, b) = greatest depth of a device or of the others − depth of the lowest common ancestor − 1 for all pairs of devices,
/// by rows; the virtual root above several roots has depth −1. In depth-first order the lowest common ancestor of two devices
/// is the highest of those of the neighbours between them.
pub(super) fn levels(fabric: &Fabric, devices: &[NodeId], others: &[NodeId]) -> Vec<u32> {
    let n = devices.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| devices[i]);
    let deepest = devices.iter().chain(others).map(|&d| fabric.node(d).depth).max().unwrap_or(0);
    let between = |pair: &[usize]| {
        let common = common_ancestor(fabric, devices[pair[0]], devices[pair[1]]);
        if common.is_none() { deepest } else { deepest - 1 - fabric.node(common).depth }
    };
    let neighbours: Vec<u32> = order.windows(2).map(between).collect();
    let mut levels = vec![0; n * n];
    for (i, &a) in order.iter().enumerate() {
        let mut level = 0;
        for (&b, &parting) in order[i + 1..].iter().zip(&neighbours[i..]) {
            level = level.max(parting);
            (levels[a * n + b], levels[b * n + a]) = (level, level);
        }
    }
    levels
}

/// The tree that the devices span in the fabric's tree: only nodes at which two devices part. A device with devices below
/// it becomes a child of a node in its place.
pub(super) fn of_fabric(fabric: &Fabric, devices: &[NodeId]) -> Shape {
    let mut order: Vec<u32> = (0..devices.len() as u32).collect();
    order.sort_by_key(|&i| devices[i as usize]);
    // Depth-first numbering: the open subtrees form a stack, each with its node and what was found below it.
    let mut open: Vec<(NodeId, Vec<Shape>)> = Vec::new();
    for (position, &device) in order.iter().enumerate() {
        let node = devices[device as usize];
        if position > 0 {
            let parting = common_ancestor(fabric, devices[order[position - 1] as usize], node);
            close(fabric, &mut open, parting);
        }
        open.push((node, vec![Shape::Device(device)]));
    }
    close_all(open)
}

/// Joins the open subtrees below `parting` into one child of it.
fn close(fabric: &Fabric, open: &mut Vec<(NodeId, Vec<Shape>)>, parting: NodeId) {
    let below = |node: NodeId| node != parting && (parting.is_none() || fabric.in_subtree(node, parting));
    let mut child: Option<Shape> = None;
    while let Some((_, mut shapes)) = open.pop_if(|(node, _)| below(*node)) {
        shapes.extend(child);
        child = Some(single(shapes));
    }
    match open.last_mut() {
        Some((node, shapes)) if *node == parting => shapes.extend(child),
        _ => open.push((parting, child.into_iter().collect())),
    }
}

fn close_all(mut open: Vec<(NodeId, Vec<Shape>)>) -> Shape {
    let mut child: Option<Shape> = None;
    while let Some((_, mut shapes)) = open.pop() {
        shapes.extend(child);
        child = Some(single(shapes));
    }
    child.unwrap_or(Shape::Node(Vec::new()))
}

/// A node with one child is that child.
fn single(mut shapes: Vec<Shape>) -> Shape {
    match (shapes.pop(), shapes.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            shapes.extend(last);
            Shape::Node(shapes)
        }
    }
}

/// The hierarchy of clusters: devices that a chain of pairs at most so costly joins, for every cost that occurs.
pub(super) fn of_costs(matrix: &Matrix) -> Shape {
    let n = matrix.devices();
    let mut joins = spanning_tree(matrix);
    joins.sort_unstable();
    let mut cluster: Vec<usize> = (0..n).collect();
    let mut shapes: Vec<Option<(u128, Shape)>> = (0..n as u32).map(|d| Some((0, Shape::Device(d)))).collect();
    for (cost, a, b) in joins {
        let (a, b) = (find(&mut cluster, a), find(&mut cluster, b));
        let (kept, gone) = (a.min(b), a.max(b));
        let mut children = Vec::new();
        for part in [shapes[kept].take(), shapes[gone].take()].into_iter().flatten() {
            match part {
                (at, Shape::Node(below)) if at == cost => children.extend(below),
                (_, shape) => children.push(shape),
            }
        }
        shapes[kept] = Some((cost, Shape::Node(children)));
        cluster[gone] = kept;
    }
    shapes.into_iter().flatten().next().map_or(Shape::Node(Vec::new()), |(_, shape)| shape)
}

/// The pairs of a cheapest spanning tree (Prim), with their costs.
fn spanning_tree(matrix: &Matrix) -> Vec<(u128, usize, usize)> {
    let n = matrix.devices();
    let mut nearest: Vec<(u128, usize)> = (0..n).map(|d| (matrix.at(0, d), 0)).collect();
    let mut outside: Vec<usize> = (1..n).collect();
    let mut joins = Vec::with_capacity(outside.len());
    while let Some(at) = (0..outside.len()).min_by_key(|&i| (nearest[outside[i]].0, outside[i])) {
        let device = outside.swap_remove(at);
        joins.push((nearest[device].0, nearest[device].1, device));
        for &other in &outside {
            if matrix.at(device, other) < nearest[other].0 {
                nearest[other] = (matrix.at(device, other), device);
            }
        }
    }
    joins
}

fn find(cluster: &mut [usize], mut at: usize) -> usize {
    while cluster[at] != at {
        cluster[at] = cluster[cluster[at]];
        at = cluster[at];
    }
    at
}
