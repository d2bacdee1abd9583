//! The graph ready to run: nodes in a forest, each link as two directed halves, lateral links beside the tree.

use crate::shared::{SharedBandwidth, SharedLinks};
use smallvec::SmallVec;
use weir_plugin_api::{Direction, FabricColumns, FabricView, LinkId, LinkKind, NodeId, NodeKind, SimDuration};

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

/// Adds a directed link with its depth to what arbiters see of a fabric, or of a region of it.
pub(crate) fn push_link(columns: &mut FabricColumns, link: &Link, depth: u32) {
    columns.bandwidth.push(link.bandwidth);
    columns.from.push(link.from.0);
    columns.to.push(link.to.0);
    columns.direction.push(link.direction);
    columns.depth.push(depth);
    columns.kind.push(link.kind);
}

/// The fabric: nodes and directed links in dense tables.
#[derive(Clone, Debug, Default)]
pub struct Fabric {
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: Vec<Link>,
    pub(crate) columns: FabricColumns,
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

    /// What a route without branches takes of what links share: by its place in [`Self::shared`], and how many times.
    pub(crate) fn shared_crossed(&self, route: &[LinkId]) -> SmallVec<[(u32, u32); 4]> {
        self.shared.crossed(route, |link| self.link(link).to)
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
}
