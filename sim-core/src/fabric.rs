//! The graph ready to run: nodes in a forest, each link as two directed halves, lateral links beside the tree.

use crate::shared::{SharedBandwidth, SharedLinks};
use rustc_hash::FxHashMap;
use weir_plugin_api::{Direction, FabricView, LinkId, LinkKind, NodeId, NodeKind, SimDuration};

/// A node of the fabric.
#[derive(Clone, Debug)]
pub struct Node {
    /// What stands there: a root complex, a switch, a device ….
    pub kind: NodeKind,
    /// Its parent in the tree; [`NodeId::NONE`] for a root.
    pub parent: NodeId,
    /// Hops from its root.
    pub depth: u32,
    /// One past the last node of its subtree: nodes are numbered depth-first.
    pub subtree_end: u32,
    /// The up half of the link to its parent ([`LinkId::NONE`] for a root); the down half has the next id.
    pub up: LinkId,
}

/// One direction of a link.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The node it leaves.
    pub from: NodeId,
    /// The node it enters.
    pub to: NodeId,
    /// What it carries in bytes per second, finite and above 0.
    pub bandwidth: f64,
    /// Added to the completion of every transfer that crosses it.
    pub latency: SimDuration,
    /// Where it leads in the tree.
    pub direction: Direction,
    /// What the link is made of; policies may tell kinds apart.
    pub kind: LinkKind,
}

/// Both halves of a link that is to be built.
#[derive(Clone, Copy, Debug)]
pub struct LinkSpec {
    /// Bytes per second towards the root, or from the first to the second end of a lateral link.
    pub up: f64,
    /// Bytes per second the other way.
    pub down: f64,
    /// Latency of each half.
    pub latency: SimDuration,
    /// Kind of both halves.
    pub kind: LinkKind,
}

/// Why a fabric cannot be built.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum FabricError {
    /// A bandwidth is not a finite number above zero.
    #[error("a link's bandwidth must be finite and above zero, not {0}")]
    Bandwidth(f64),
    /// More nodes or links than ids.
    #[error("more than {0} nodes or links")]
    TooLarge(u32),
    /// Nodes must be added depth-first: a parent's subtree was left before.
    #[error("node {0} was added after its parent's subtree had ended")]
    NotDepthFirst(u32),
    /// A lateral link from a node to itself.
    #[error("a lateral link joins node {0} to itself")]
    Loop(u32),
    /// A second lateral link between the same two nodes.
    #[error("a second lateral link between nodes {0} and {1}")]
    Twice(u32, u32),
}

/// What arbiters see of a fabric, or of a region of it: a column for each property, see [`FabricView`].
#[derive(Clone, Debug, Default)]
pub(crate) struct FabricColumns {
    pub(crate) bandwidth: Vec<f64>,
    from: Vec<u32>,
    to: Vec<u32>,
    direction: Vec<Direction>,
    depth: Vec<u32>,
    kind: Vec<LinkKind>,
    pub(crate) node_kind: Vec<NodeKind>,
}

impl FabricColumns {
    /// Adds a directed link with its depth.
    pub(crate) fn push(&mut self, link: &Link, depth: u32) {
        self.bandwidth.push(link.bandwidth);
        self.from.push(link.from.0);
        self.to.push(link.to.0);
        self.direction.push(link.direction);
        self.depth.push(depth);
        self.kind.push(link.kind);
    }

    /// The columns as an arbiter sees them.
    pub(crate) fn view(&self) -> FabricView<'_> {
        FabricView {
            bandwidth: (&self.bandwidth).into(),
            from: (&self.from).into(),
            to: (&self.to).into(),
            direction: (&self.direction).into(),
            depth: (&self.depth).into(),
            kind: (&self.kind).into(),
            node_kind: (&self.node_kind).into(),
        }
    }
}

/// The fabric: nodes and directed links in dense tables.
#[derive(Clone, Debug, Default)]
pub struct Fabric {
    nodes: Vec<Node>,
    links: Vec<Link>,
    columns: FabricColumns,
    /// Lateral links by the node they leave, as compressed rows; empty without lateral links.
    pub(crate) lateral_offsets: Vec<u32>,
    pub(crate) laterals: Vec<LinkId>,
    /// Per node: whether a lateral link has exactly one end in its subtree.
    pub(crate) crossed: Vec<bool>,
    /// (parent, down half) of the links to crossed nodes, sorted: a wide switch is not searched child by child.
    pub(crate) crossed_below: Vec<(NodeId, LinkId)>,
    pub(crate) shared: SharedLinks,
}

impl Fabric {
    /// All nodes, by id.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All directed links, by id.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The node of an id of this fabric.
    #[inline]
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The directed link of an id of this fabric.
    #[inline]
    #[must_use]
    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id.index()]
    }

    /// Bandwidth of every directed link, bytes per second.
    #[must_use]
    pub fn bandwidths(&self) -> &[f64] {
        &self.columns.bandwidth
    }

    /// The bandwidths that several directed links share.
    #[must_use]
    pub fn shared(&self) -> &[SharedBandwidth] {
        self.shared.all()
    }

    /// What a link shares with others, by the places in [`Self::shared`].
    #[must_use]
    pub fn shared_by(&self, link: LinkId) -> &[u32] {
        self.shared.of(link)
    }

    /// What both directions of a link carry together at most, bytes per second, where that is given.
    #[must_use]
    pub fn shared_both_ways(&self, link: LinkId) -> Option<f64> {
        let mut shared = self.shared.of(link).iter().map(|&number| &self.shared.all()[number as usize]);
        shared.find(|shared| shared.node.is_none()).map(|shared| shared.bandwidth)
    }

    /// Whether there are links outside the tree.
    #[must_use]
    pub(crate) fn has_laterals(&self) -> bool {
        !self.laterals.is_empty()
    }

    /// Whether `node` lies in the subtree below (or is) `root`.
    #[inline]
    #[must_use]
    pub fn in_subtree(&self, node: NodeId, root: NodeId) -> bool {
        node >= root && node.0 < self.node(root).subtree_end
    }

    /// The fabric as an arbiter sees it.
    #[must_use]
    pub fn view(&self) -> FabricView<'_> {
        self.columns.view()
    }

    /// Gives a directed link another bandwidth (bytes per second) and latency, for fits that try many. Routes made before
    /// keep the latencies that they were made with.
    ///
    /// # Errors
    /// A bandwidth that is not finite and above zero.
    ///
    /// # Panics
    /// On a link of another fabric.
    pub fn set_link(&mut self, id: LinkId, bandwidth: f64, latency: SimDuration) -> Result<(), FabricError> {
        if !(bandwidth.is_finite() && bandwidth > 0.0) {
            return Err(FabricError::Bandwidth(bandwidth));
        }
        let link = &mut self.links[id.index()];
        (link.bandwidth, link.latency) = (bandwidth, latency);
        self.columns.bandwidth[id.index()] = bandwidth;
        Ok(())
    }

    /// Gives what links share another bandwidth, bytes per second, by its place in [`Self::shared`]. Arbiters keep what they
    /// were made with.
    ///
    /// # Errors
    /// A bandwidth that is not finite and above zero.
    ///
    /// # Panics
    /// On a number of another fabric.
    pub fn set_shared(&mut self, number: u32, bandwidth: f64) -> Result<(), FabricError> {
        if !(bandwidth.is_finite() && bandwidth > 0.0) {
            return Err(FabricError::Bandwidth(bandwidth));
        }
        self.shared.set(number, bandwidth);
        Ok(())
    }

    fn push_link(&mut self, link: Link, depth: u32) -> Result<LinkId, FabricError> {
        if !(link.bandwidth.is_finite() && link.bandwidth > 0.0) {
            return Err(FabricError::Bandwidth(link.bandwidth));
        }
        if self.links.len() >= FabricBuilder::MOST as usize {
            return Err(FabricError::TooLarge(FabricBuilder::MOST));
        }
        let id = LinkId::from_index(self.links.len());
        self.columns.push(&link, depth);
        self.links.push(link);
        Ok(id)
    }
}

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
        let up = self.fabric.push_link(half(id, parent, link.up, Direction::Up), depth)?;
        self.fabric.push_link(half(parent, id, link.down, Direction::Down), depth)?;
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
            self.fabric.push_link(half, depth)?;
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
        let mut crossed = vec![false; f.nodes.len()];
        for &l in &lateral {
            let (mut a, mut b) = (f.link(l).from, f.link(l).to);
            while a != b {
                let deeper = |x: NodeId| if x.is_none() { None } else { Some(f.node(x).depth) };
                let climb = if deeper(a) >= deeper(b) { &mut a } else { &mut b };
                crossed[climb.index()] = true;
                *climb = f.node(*climb).parent;
            }
        }
        let below = (0..crossed.len()).filter(|&i| crossed[i] && !f.nodes[i].parent.is_none());
        f.crossed_below = below.map(|i| (f.nodes[i].parent, LinkId(f.nodes[i].up.0 + 1))).collect();
        f.crossed_below.sort_unstable();
        (f.lateral_offsets, f.laterals, f.crossed) = (offsets, sorted, crossed);
    }
}
