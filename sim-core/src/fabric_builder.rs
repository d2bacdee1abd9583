//! Builds a fabric node by node.

use rustc_hash::FxHashMap;
use weir_plugin_api::{Direction, LinkId, NodeId, NodeKind};

use crate::fabric::{Fabric, FabricError, Link, LinkSpec, Node, push_link};
use crate::shared::SharedBandwidth;

/// Builds a [`Fabric`]: nodes depth-first in file order, then lateral links in file order.
#[derive(Debug, Default)]
pub struct FabricBuilder {
    fabric: Fabric,
    pairs: std::collections::BTreeSet<(NodeId, NodeId)>,
    /// Nodes whose links share a bandwidth.
    memories: Vec<(NodeId, f64)>,
}

impl FabricBuilder {
    /// Most nodes, and most directed links.
    pub const MOST: u32 = 1 << 30;

    /// A fabric without nodes and links, to which these are added.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a root.
    ///
    /// # Errors
    /// When there are too many nodes.
    pub fn root(&mut self, kind: NodeKind) -> Result<NodeId, FabricError> {
        self.push_node(kind, NodeId::NONE, 0, LinkId::NONE)
    }

    /// Adds a node below `parent`, whose subtree must still be open (depth-first order).
    ///
    /// # Errors
    /// A bandwidth that is not finite and above zero, a wrong order, too many nodes.
    pub fn child(&mut self, parent: NodeId, kind: NodeKind, link: LinkSpec) -> Result<NodeId, FabricError> {
        let next = self.fabric.nodes.len() as u32;
        let last = NodeId(next.wrapping_sub(1));
        if !self.is_ancestor(parent, last) {
            return Err(FabricError::NotDepthFirst(next));
        }
        let depth = self.fabric.node(parent).depth + 1;
        let id = NodeId(next);
        let half = |from, to, bandwidth, direction| Link {
            from,
            to,
            bandwidth,
            latency: link.latency,
            direction,
            kind: link.kind,
        };
        let up = self.push_link(half(id, parent, link.up, Direction::Up), depth)?;
        self.push_link(half(parent, id, link.down, Direction::Down), depth)?;
        self.push_node(kind, parent, depth, up)
    }

    /// Adds a lateral link; all nodes must have been added.
    ///
    /// # Errors
    /// A bandwidth that is not finite and above zero, both ends the same, or a pair that has one already.
    pub fn lateral(&mut self, first: NodeId, second: NodeId, link: LinkSpec) -> Result<(), FabricError> {
        if first == second {
            return Err(FabricError::Loop(first.0));
        }
        if !self.pairs.insert((first.min(second), first.max(second))) {
            return Err(FabricError::Twice(first.0, second.0));
        }
        for (from, to, bandwidth) in [(first, second, link.up), (second, first, link.down)] {
            let depth = self.fabric.node(from).depth;
            let half =
                Link { from, to, bandwidth, latency: link.latency, direction: Direction::Lateral, kind: link.kind };
            self.push_link(half, depth)?;
        }
        Ok(())
    }

    /// Lets both directions of the link added last share a bandwidth, bytes per second, above zero.
    pub fn share_last_link(&mut self, bandwidth: f64) {
        let links = self.fabric.links.len() as u32;
        let links = vec![LinkId(links - 2), LinkId(links - 1)];
        self.fabric.shared.push(SharedBandwidth { bandwidth, links, node: None });
    }

    /// Lets all links of a node share a bandwidth, bytes per second, above zero.
    pub fn share_node(&mut self, node: NodeId, bandwidth: f64) {
        self.memories.push((node, bandwidth));
    }

    /// The fabric of everything added, ready for routes and runs.
    #[must_use]
    pub fn build(mut self) -> Fabric {
        let f = &mut self.fabric;
        for i in (0..f.nodes.len()).rev() {
            let (parent, end) = (f.nodes[i].parent, f.nodes[i].subtree_end);
            if !parent.is_none() {
                let p = &mut f.nodes[parent.index()];
                p.subtree_end = p.subtree_end.max(end);
            }
        }
        self.index_laterals();
        self.index_memories();
        self.fabric
    }

    /// Finds the links of the nodes that share a bandwidth.
    fn index_memories(&mut self) {
        let mut links: FxHashMap<NodeId, Vec<LinkId>> = self.memories.iter().map(|&(node, _)| (node, vec![])).collect();
        let ends = (0..).map(LinkId).zip(&self.fabric.links).flat_map(|(id, link)| [(id, link.from), (id, link.to)]);
        for (id, node) in ends.filter(|_| !self.memories.is_empty()) {
            links.entry(node).and_modify(|links| links.push(id));
        }
        for &(node, bandwidth) in &self.memories {
            let links = links.remove(&node).unwrap_or_default();
            self.fabric.shared.push(SharedBandwidth { bandwidth, links, node: Some(node) });
        }
    }

    fn push_link(&mut self, link: Link, depth: u32) -> Result<LinkId, FabricError> {
        if !(link.bandwidth.is_finite() && link.bandwidth > 0.0) {
            return Err(FabricError::Bandwidth(link.bandwidth));
        }
        if self.fabric.links.len() >= Self::MOST as usize {
            return Err(FabricError::TooLarge(Self::MOST));
        }
        let id = LinkId::from_index(self.fabric.links.len());
        push_link(&mut self.fabric.columns, &link, depth);
        self.fabric.links.push(link);
        Ok(id)
    }

    fn is_ancestor(&self, ancestor: NodeId, mut node: NodeId) -> bool {
        while !node.is_none() {
            if node == ancestor {
                return true;
            }
            node = match self.fabric.nodes.get(node.index()) {
                Some(n) => n.parent,
                None => return false,
            };
        }
        false
    }

    fn push_node(&mut self, kind: NodeKind, parent: NodeId, depth: u32, up: LinkId) -> Result<NodeId, FabricError> {
        let index = self.fabric.nodes.len() as u32;
        if index >= Self::MOST {
            return Err(FabricError::TooLarge(Self::MOST));
        }
        self.fabric.nodes.push(Node { kind, parent, depth, subtree_end: index + 1, up });
        self.fabric.columns.node_kind.push(kind);
        Ok(NodeId(index))
    }

    fn index_laterals(&mut self) {
        let f = &mut self.fabric;
        let lateral: Vec<LinkId> = (0..f.links.len())
            .filter(|&i| f.links[i].direction == Direction::Lateral)
            .map(LinkId::from_index)
            .collect();
        if lateral.is_empty() {
            return;
        }
        let mut offsets = vec![0_u32; f.nodes.len() + 1];
        for &l in &lateral {
            offsets[f.link(l).from.index() + 1] += 1;
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let mut sorted = lateral.clone();
        sorted.sort_by_key(|&l| (f.link(l).from, l));
        let crossed = crossed(f, &lateral);
        let below = (0..crossed.len()).filter(|&i| crossed[i] && !f.nodes[i].parent.is_none());
        f.crossed_below = below.map(|i| (f.nodes[i].parent, LinkId(f.nodes[i].up.0 + 1))).collect();
        f.crossed_below.sort_unstable();
        (f.lateral_offsets, f.laterals, f.crossed) = (offsets, sorted, crossed);
    }
}

/// Per node: whether a lateral link has exactly one end in its subtree.
fn crossed(fabric: &Fabric, laterals: &[LinkId]) -> Vec<bool> {
    let mut crossed = vec![false; fabric.nodes.len()];
    for &l in laterals {
        let (mut a, mut b) = (fabric.link(l).from, fabric.link(l).to);
        while a != b {
            let deeper = |x: NodeId| if x.is_none() { None } else { Some(fabric.node(x).depth) };
            let climb = if deeper(a) >= deeper(b) { &mut a } else { &mut b };
            crossed[climb.index()] = true;
            *climb = fabric.node(*climb).parent;
        }
    }
    crossed
}
