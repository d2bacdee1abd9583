//! The hierarchy of devices: groups of interchangeable devices below nodes that say how far apart two devices are.
//!
//! ```text
//!                 root: joint 4                cost(a, b) = leaf(a) + leaf(b) + joint(common node)
//!          ┌───────────┴───────────┐
//!       joint 2                 joint 2        devices of one group have the same leaf value and the same place,
//!      ┌───┴───┐               ┌───┴───┐       so exchanging them changes nothing
//!   group 1 group 1         group 1 group 1
//! ```
//!
//! A latency along links is of this form (leaf: to the root; joint: minus twice the way from the common node to the root);
//! a level or a narrowest link is of this form with leaf values 0.

use super::matrix::Matrix;

/// What lies below a node of the hierarchy.
#[derive(Clone, Debug)]
pub(super) enum Below {
    /// Other nodes, in the order of their first devices.
    Nodes(Vec<usize>),
    /// The devices of one group.
    Group(usize),
}

/// A node of the hierarchy.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// What two devices cost whose lowest common node this is, without their leaf values.
    pub(super) joint: i128,
    /// Devices in the subtree.
    pub(super) size: usize,
    pub(super) below: Below,
}

/// Devices that may be exchanged without changing any cost.
#[derive(Clone, Debug)]
pub(super) struct DeviceGroup {
    /// Positions in the list of devices, ascending.
    pub(super) devices: Vec<u32>,
    /// The leaf value of each.
    pub(super) leaf: i128,
}

/// The hierarchy; children come before their parents in `nodes`, the root is last.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) groups: Vec<DeviceGroup>,
}

/// A hierarchy without costs, as a builder knows it.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Device(u32),
    /// What lies below a node.
    Node(Vec<Shape>),
}

/// What lies right below a node while its tree is built.
#[derive(Default)]
struct Children {
    /// All devices, in the order of the children.
    devices: Vec<u32>,
    /// The children that are nodes.
    nodes: Vec<usize>,
    /// The children that are devices.
    loose: Vec<u32>,
    /// What two devices of different children cost, where there are two.
    joint: Option<i128>,
}

impl Tree {
    pub(super) fn root(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The tree of a shape, with the costs of a matrix, if they are of the form in the module's opening for these leaf values.
    pub(super) fn fit(shape: &Shape, matrix: &Matrix, leaf: &[i128]) -> Option<Self> {
        let mut tree = Self { nodes: Vec::new(), groups: Vec::new() };
        tree.add(shape, leaf, &mut |a, b| {
            i128::try_from(matrix.at(a, b)).ok()?.checked_sub(leaf[a])?.checked_sub(leaf[b])
        })?;
        Some(tree)
    }

    /// The tree of a shape whose costs are not used.
    pub(super) fn guide(shape: &Shape, devices: usize) -> Self {
        let mut tree = Self { nodes: Vec::new(), groups: Vec::new() };
        // Leaf values that all differ keep every device in a group of its own.
        let leaf: Vec<i128> = (0..devices as i128).collect();
        let fits = tree.add(shape, &leaf, &mut |_, _| Some(0));
        debug_assert!(fits.is_some(), "a constant fits every shape");
        for group in &mut tree.groups {
            group.leaf = 0;
        }
        tree
    }

    /// Adds a shape's node after its children; its devices, or `None` when the costs do not fit.
    fn add(
        &mut self,
        shape: &Shape,
        leaf: &[i128],
        cost: &mut dyn FnMut(usize, usize) -> Option<i128>,
    ) -> Option<Vec<u32>> {
        let children = match shape {
            Shape::Device(device) => {
                self.push_group(vec![*device], leaf[*device as usize], 0);
                return Some(vec![*device]);
            }
            Shape::Node(children) => children,
        };
        let Children { devices, mut nodes, loose, joint } = self.add_children(children, leaf, cost)?;
        let joint = joint.unwrap_or(0);
        self.push_loose(loose, leaf, joint, &mut nodes);
        if nodes.len() != 1 {
            let first = |node: usize| self.first_device(node);
            nodes.sort_by_key(|&node| first(node));
            self.nodes.push(Node { joint, size: devices.len(), below: Below::Nodes(nodes) });
        }
        Some(devices)
    }

    /// Adds what lies below a node; `None` when the costs do not fit.
    fn add_children(
        &mut self,
        children: &[Shape],
        leaf: &[i128],
        cost: &mut dyn FnMut(usize, usize) -> Option<i128>,
    ) -> Option<Children> {
        let mut all = Children::default();
        for child in children {
            let below = match child {
                Shape::Device(device) => {
                    all.loose.push(*device);
                    vec![*device]
                }
                Shape::Node(_) => {
                    let below = self.add(child, leaf, cost)?;
                    all.nodes.push(self.root());
                    below
                }
            };
            if !agree(&all.devices, &below, cost, &mut all.joint) {
                return None;
            }
            all.devices.extend(below);
        }
        Some(all)
    }

    /// Devices right below a node: those with the same leaf value are a group.
    fn push_loose(&mut self, mut loose: Vec<u32>, leaf: &[i128], joint: i128, nodes: &mut Vec<usize>) {
        loose.sort_unstable_by_key(|&device| (leaf[device as usize], device));
        for run in loose.chunk_by(|&a, &b| leaf[a as usize] == leaf[b as usize]) {
            self.push_group(run.to_vec(), leaf[run[0] as usize], joint);
            nodes.push(self.root());
        }
    }

    fn push_group(&mut self, devices: Vec<u32>, leaf: i128, joint: i128) {
        self.nodes.push(Node { joint, size: devices.len(), below: Below::Group(self.groups.len()) });
        self.groups.push(DeviceGroup { devices, leaf });
    }

    fn first_device(&self, node: usize) -> u32 {
        match &self.nodes[node].below {
            Below::Group(group) => self.groups[*group].devices[0],
            Below::Nodes(nodes) => nodes.iter().map(|&n| self.first_device(n)).min().unwrap_or(u32::MAX),
        }
    }
}

/// Whether every device of one set has the same cost to every device of the other, the joint cost if that is known already.
fn agree(
    some: &[u32],
    others: &[u32],
    cost: &mut dyn FnMut(usize, usize) -> Option<i128>,
    joint: &mut Option<i128>,
) -> bool {
    let mut pairs = some.iter().flat_map(|&a| others.iter().map(move |&b| (a as usize, b as usize)));
    pairs.all(|(a, b)| cost(a, b).is_some_and(|found| *joint.get_or_insert(found) == found))
}
