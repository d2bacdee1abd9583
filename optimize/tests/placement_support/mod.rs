//! Machines and patterns for the tests of placement.

#![allow(dead_code, reason = "each test file uses its part")]

use weir_optimize::placement::Pattern;
use weir_sim_core::api::{LinkKind, NodeId, NodeKind, SimDuration};
use weir_sim_core::{Fabric, FabricBuilder, LinkSpec};

/// A link of 1 GB/s with a latency in ps.
pub fn link(latency: u64) -> LinkSpec {
    LinkSpec { up: 1e9, down: 1e9, latency: SimDuration(latency), kind: LinkKind::PCIE }
}

/// A hierarchy to build: how many children, and what is below them.
#[derive(Clone, Debug)]
pub enum Below {
    Device,
    Node(Vec<Below>),
}

impl Below {
    /// All nodes of a level with the same number of children.
    pub fn regular(sizes: &[usize]) -> Self {
        match sizes {
            [] => Self::Device,
            [size, rest @ ..] => Self::Node(vec![Self::regular(rest); *size]),
        }
    }
}

/// A tree below one root; `latencies` are those of its links in the order of building, repeated as needed.
pub fn fabric(below: &Below, latencies: &[u64]) -> (Fabric, Vec<NodeId>) {
    fabric_of(below, latencies.iter().map(|&latency| link(latency)).collect())
}

/// As [`fabric`], of any links.
pub fn fabric_of(below: &Below, links: Vec<LinkSpec>) -> (Fabric, Vec<NodeId>) {
    let mut building = Building { builder: FabricBuilder::new(), links, devices: Vec::new() };
    let root = building.builder.root(NodeKind::Switch).expect("a root");
    building.grow(root, below);
    (building.builder.build(), building.devices)
}

struct Building {
    builder: FabricBuilder,
    links: Vec<LinkSpec>,
    devices: Vec<NodeId>,
}

impl Building {
    fn grow(&mut self, at: NodeId, below: &Below) {
        let Below::Node(children) = below else {
            self.devices.push(at);
            return;
        };
        for child in children {
            let kind = if matches!(child, Below::Device) { NodeKind::Gpu } else { NodeKind::Switch };
            let link = self.links[0];
            self.links.rotate_left(1);
            let node = self.builder.child(at, kind, link).expect("a child");
            self.grow(node, child);
        }
    }
}

/// The 16-GPU node of the paper: 2 sockets, joined beside the tree, × 2 switches × 2 boards × 2 GPUs.
pub fn helios() -> (Fabric, Vec<NodeId>) {
    let pcie = LinkSpec { up: 11.6e9, down: 11.6e9, latency: SimDuration::ZERO, kind: LinkKind::PCIE };
    let qpi = LinkSpec { up: 6e9, down: 6e9, kind: LinkKind::QPI, ..pcie };
    let mut builder = FabricBuilder::new();
    let mut devices = Vec::new();
    let mut roots = Vec::new();
    for _ in 0..2 {
        let root = builder.root(NodeKind::RootComplex).expect("a root");
        roots.push(root);
        for _ in 0..2 {
            let switch = builder.child(root, NodeKind::Switch, pcie).expect("a switch");
            for _ in 0..2 {
                let board = builder.child(switch, NodeKind::Switch, pcie).expect("a board");
                devices.extend((0..2).map(|_| builder.child(board, NodeKind::Gpu, pcie).expect("a GPU")));
            }
        }
    }
    builder.lateral(roots[0], roots[1], qpi).expect("a socket link");
    (builder.build(), devices)
}

/// Messages along the axes of a grid, both ways; rank = Σ coordinate · stride with the first axis fastest.
pub fn grid(lengths: &[usize], weights: &[u64], wrap: bool) -> Pattern {
    let ranks: usize = lengths.iter().product();
    let mut messages = Vec::new();
    for rank in 0..ranks {
        let mut stride = 1;
        for (&length, &weight) in lengths.iter().zip(weights) {
            let at = rank / stride % length;
            let next = if at + 1 < length { Some(rank + stride) } else { Some(rank + stride - length * stride) };
            // The wrap of a length of 2 is the neighbour link (`wrap2: once`).
            if let Some(next) = next.filter(|_| at + 1 < length || (wrap && length > 2)) {
                messages.extend([(rank, next, weight), (next, rank, weight)]);
            }
            stride *= length;
        }
    }
    Pattern::new(ranks, messages, 1).expect("a grid")
}
