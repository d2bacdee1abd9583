//! What `pcie-congestion` knows of each directed link of the fabric, and which routes it takes.

use weir_plugin_api::{CallError, Direction, FabricView, LinkId, NodeKind};

use crate::common::groups::NONE;

/// A directed link of the fabric.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    pub(super) bandwidth: f64,
    /// (1 − tau) · bandwidth.
    pub(super) reduced: f64,
    /// Place in the order of arbitration: every admitted route is increasing.
    pub(super) rank: u32,
    /// Its index among the links of the current phase, or [`NONE`].
    pub(super) local: u32,
    pub(super) direction: Direction,
    /// A down link that leaves a root complex.
    pub(super) below_root_complex: bool,
    /// The node it leaves is a root complex.
    from_root_complex: bool,
    /// Whether host memory is before it, or behind it.
    from_memory: bool,
    to_memory: bool,
}

impl Port {
    /// The links of a fabric, by id; up links are ranked deepest first, then lateral links, then down links shallowest
    /// first (Algorithm 1), equal ones by id.
    pub(super) fn table(fabric: &FabricView<'_>, tau: f64) -> Vec<Self> {
        let mut order: Vec<u32> = (0..fabric.links() as u32).collect();
        order.sort_by_key(|&l| {
            let depth = i64::from(fabric.depth[l as usize]);
            match fabric.direction[l as usize] {
                Direction::Up => (0, -depth),
                Direction::Lateral => (1, 0),
                Direction::Down => (2, depth),
            }
        });
        let mut ports: Vec<Self> = (0..fabric.links()).map(|l| Self::new(fabric, l, tau)).collect();
        for (rank, &link) in order.iter().enumerate() {
            ports[link as usize].rank = rank as u32;
        }
        ports
    }

    fn new(fabric: &FabricView<'_>, index: usize, tau: f64) -> Self {
        let link = LinkId::from_index(index);
        let (from, to) = (fabric.from_kind(link), fabric.to_kind(link));
        let direction = fabric.direction[index];
        let from_root_complex = from == NodeKind::RootComplex;
        Self {
            bandwidth: fabric.bandwidth[index],
            reduced: (1.0 - tau) * fabric.bandwidth[index],
            rank: 0,
            local: NONE,
            direction,
            below_root_complex: from_root_complex && direction == Direction::Down,
            from_root_complex,
            from_memory: is_memory(from),
            to_memory: is_memory(to),
        }
    }
}

/// Whether host memory is at a node where a route ends, or beyond it: nothing else ends at a root complex, unless a region
/// gives the links beyond it another policy, and those are of host memory or come from another socket.
fn is_memory(end: NodeKind) -> bool {
    matches!(end, NodeKind::Cpu | NodeKind::RootComplex)
}

/// Whether a root complex is an inner node of the route and neither end is host memory.
pub(super) fn crosses_root_complex(ports: &[Port], route: &[LinkId]) -> bool {
    let (first, last) = (&ports[route[0].index()], &ports[route[route.len() - 1].index()]);
    !first.from_memory && !last.to_memory && route[1..].iter().any(|link| ports[link.index()].from_root_complex)
}

/// Routes must climb, take at most one lateral link, and descend.
pub(super) fn admit(ports: &[Port], route: &[LinkId]) -> Result<(), CallError> {
    let mut before = Direction::Up;
    for &link in route {
        let direction = ports[link.index()].direction;
        let problem = match (before, direction) {
            (Direction::Down, Direction::Up) => "goes up again after it came down",
            (Direction::Down, Direction::Lateral) => "takes a lateral link after it came down",
            (Direction::Lateral, Direction::Up) => "goes up after a lateral link",
            (Direction::Lateral, Direction::Lateral) => "takes more than one lateral link",
            _ => {
                before = direction;
                continue;
            }
        };
        return Err(CallError::Refused(format!(
            "the route {problem}: `pcie-congestion` is defined inside one tree (up, at most one lateral link, down)"
        )));
    }
    Ok(())
}
