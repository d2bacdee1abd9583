//! What an arbiter sees: the fabric once, a phase at every arbitration. `#[repr(C)]` structures of slices, read by
//! Rust and C arbiters alike, so that both see the same bits.

pub use crate::abi::Slice;
use crate::{ClassId, LinkId, RouteId, SimTime, TransferId};

/// What a node is. Switches, root complexes, networks and NICs forward; the others only start or end transfers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum NodeKind {
    /// PCIe switch, or any plain forwarding node.
    Switch = 0,
    /// Host bridge: joins the PCIe ports of one socket.
    RootComplex = 1,
    /// Network switch, or a whole network as one node.
    Network = 2,
    /// Network interface: forwards between a machine and a network, and may start or end transfers.
    Nic = 3,
    /// Graphics processor.
    Gpu = 4,
    /// Field-programmable gate array.
    Fpga = 5,
    /// Processor with its host memory.
    Cpu = 6,
    /// A machine seen as one endpoint.
    Host = 7,
}

impl NodeKind {
    /// All kinds, by number.
    pub const ALL: [Self; 8] =
        [Self::Switch, Self::RootComplex, Self::Network, Self::Nic, Self::Gpu, Self::Fpga, Self::Cpu, Self::Host];

    /// Whether a route may pass through such a node.
    #[inline]
    #[must_use]
    pub fn forwards(self) -> bool {
        matches!(self, Self::Switch | Self::RootComplex | Self::Network | Self::Nic)
    }

    /// The word used in scenario files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::RootComplex => "root-complex",
            Self::Network => "network",
            Self::Nic => "nic",
            Self::Gpu => "gpu",
            Self::Fpga => "fpga",
            Self::Cpu => "cpu",
            Self::Host => "host",
        }
    }
}

/// Where a directed link leads in the tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Direction {
    /// Towards the root.
    Up = 0,
    /// Towards the leaves.
    Down = 1,
    /// Between two nodes, outside the tree.
    Lateral = 2,
}

/// The kinds of link that have a number; any other text is [`LinkKind::OTHER`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct LinkKind(pub u32);

impl LinkKind {
    /// PCI Express: slots, switches and root ports.
    pub const PCIE: Self = Self(0);
    /// Socket interconnect (QPI, UPI, xGMI between sockets).
    pub const QPI: Self = Self(1);
    /// NVLink between GPUs, or a GPU and a processor.
    pub const NVLINK: Self = Self(2);
    /// Links between machines: a network card's cable, a switch's port.
    pub const NETWORK: Self = Self(3);
    /// Host memory: between a root complex and a processor.
    pub const MEMORY: Self = Self(4);
    /// Any other text that a scenario gives as `kind`.
    pub const OTHER: Self = Self(u32::MAX);
}

/// The fabric as an arbiter sees it, borrowed while the arbiter is created: an arbiter copies what it needs.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct FabricView<'a> {
    /// Per directed link: bandwidth in bytes per second, finite and > 0.
    pub bandwidth: Slice<'a, f64>,
    /// Per directed link: the node it leaves.
    pub from: Slice<'a, u32>,
    /// Per directed link: the node it enters.
    pub to: Slice<'a, u32>,
    /// Per directed link: up, down or lateral.
    pub direction: Slice<'a, Direction>,
    /// Per directed link: depth of the lower node of a tree link (children of a root have 1); of a lateral link, of the
    /// node it leaves.
    pub depth: Slice<'a, u32>,
    /// Per directed link: its kind.
    pub kind: Slice<'a, LinkKind>,
    /// Per node: its kind.
    pub node_kind: Slice<'a, NodeKind>,
}

impl FabricView<'_> {
    /// Number of directed links.
    #[must_use]
    pub fn links(&self) -> usize {
        self.bandwidth.len()
    }

    /// Kind of the node that a link leaves.
    #[must_use]
    pub fn from_kind(&self, link: LinkId) -> NodeKind {
        self.node_kind[self.from[link.index()] as usize]
    }

    /// Kind of the node that a link enters.
    #[must_use]
    pub fn to_kind(&self, link: LinkId) -> NodeKind {
        self.node_kind[self.to[link.index()] as usize]
    }
}

/// Interned routes as compressed rows: route `r` is `links[offsets[r] .. offsets[r + 1]]`. The table grows during a run;
/// ids stay valid.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct RouteTable<'a> {
    /// One more entry than routes.
    pub offsets: Slice<'a, u64>,
    /// Links of all routes, in order of travel.
    pub links: Slice<'a, LinkId>,
}

impl<'a> RouteTable<'a> {
    /// The links of a route, in order of travel; never empty.
    #[inline]
    #[must_use]
    pub fn links(&self, route: RouteId) -> &'a [LinkId] {
        let (offsets, links) = (self.offsets.as_slice(), self.links.as_slice());
        &links[offsets[route.index()] as usize..offsets[route.index() + 1] as usize]
    }
}

/// Attributes by class. Transfers of one class are indistinguishable to an arbiter but for id, arrival and progress.
/// The table grows during a run; ids stay valid.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ClassTable<'a> {
    /// Per class: the route.
    pub route: Slice<'a, RouteId>,
    /// Per class: largest allowed rate in bytes per second; infinite where the scenario sets none.
    pub limit: Slice<'a, f64>,
    /// Per class: weight, finite and > 0; 1 by default.
    pub weight: Slice<'a, f64>,
    /// Per class: priority, larger is served first; 0 by default.
    pub priority: Slice<'a, i64>,
}

/// The active transfers of one instant, in id order, borrowed for the call.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PhaseView<'a> {
    /// The instant for which rates are asked.
    pub now: SimTime,
    /// Per active transfer: its id, ascending.
    pub id: Slice<'a, TransferId>,
    /// Per active transfer: its class.
    pub class: Slice<'a, ClassId>,
    /// Per active transfer: the instant its bytes began to wait for rates, in ps. The rank by (arrival, id) is what
    /// arbiters with [`crate::Flags::READS_ARRIVAL`] may read.
    pub arrival: Slice<'a, u64>,
    /// Route, limit, weight and priority of each class.
    pub classes: ClassTable<'a>,
    /// The links of each route, in order of travel.
    pub routes: RouteTable<'a>,
}

/// One active transfer with its attributes looked up.
#[derive(Clone, Copy, Debug)]
pub struct TransferView<'a> {
    /// Its id in the run; smaller ones come first in a phase.
    pub id: TransferId,
    /// The class that its attributes are of.
    pub class: ClassId,
    /// When it began to wait for rates, in ps.
    pub arrival: u64,
    /// Largest allowed rate, bytes per second; may be infinite.
    pub limit: f64,
    /// Its share beside others of the same policy, finite and above 0.
    pub weight: f64,
    /// Priority, larger is served first.
    pub priority: i64,
    /// Its links in order of travel; never empty.
    pub route: &'a [LinkId],
}

impl<'a> PhaseView<'a> {
    /// Number of active transfers.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether no transfer is active.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The links of the transfer at a position of the phase.
    #[inline]
    #[must_use]
    pub fn route(&self, position: usize) -> &'a [LinkId] {
        let class = self.class.as_slice()[position];
        self.routes.links(self.classes.route.as_slice()[class.index()])
    }

    /// The transfer at a position of the phase.
    #[inline]
    #[must_use]
    pub fn transfer(&self, position: usize) -> TransferView<'a> {
        let class = self.class.as_slice()[position];
        let c = class.index();
        TransferView {
            id: self.id.as_slice()[position],
            class,
            arrival: self.arrival.as_slice()[position],
            limit: self.classes.limit.as_slice()[c],
            weight: self.classes.weight.as_slice()[c],
            priority: self.classes.priority.as_slice()[c],
            route: self.routes.links(self.classes.route.as_slice()[c]),
        }
    }
}
