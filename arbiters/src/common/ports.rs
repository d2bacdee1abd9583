//! What the policies of PCIe trees know of each directed link of the fabric.

use weir_plugin_api::{Direction, FabricView, LinkId, LinkKind, NodeKind, RouteId, RouteTable};

use crate::common::groups::NONE;

/// A directed link of the fabric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Port {
    pub(crate) bandwidth: f64,
    /// (1 − tau) · bandwidth.
    pub(crate) reduced: f64,
    /// Place in the order of arbitration: every admitted route is increasing.
    pub(crate) rank: u32,
    /// Place in that order, the same for links of one direction and depth.
    pub(crate) tier: u32,
    /// Its index among the links of the current phase, or [`NONE`].
    pub(crate) local: u32,
    pub(crate) direction: Direction,
    /// A down link that leaves a root complex.
    pub(crate) below_root_complex: bool,
    /// The node it leaves is a root complex.
    from_root_complex: bool,
    /// Whether host memory is before it, or behind it.
    from_memory: bool,
    to_memory: bool,
    /// Of kind `memory`, from a processor's memory.
    pub(crate) leaves_memory: bool,
}

impl Port {
    /// The links of a fabric, by id; up links are ranked deepest first, then lateral links, then down links shallowest
    /// first (Algorithm 1), equal ones by id.
    pub(crate) fn table(fabric: &FabricView<'_>, tau: f64) -> Vec<Self> {
        let key = |&l: &u32| {
            let depth = i64::from(fabric.depth[l as usize]);
            match fabric.direction[l as usize] {
                Direction::Up => (0, -depth),
                Direction::Lateral => (1, 0),
                Direction::Down => (2, depth),
            }
        };
        let mut order: Vec<u32> = (0..fabric.links() as u32).collect();
        order.sort_by_key(key);
        let mut ports: Vec<Self> = (0..fabric.links()).map(|l| Self::new(fabric, l, tau)).collect();
        let (mut tier, mut before) = (0, None);
        for (rank, &link) in order.iter().enumerate() {
            tier += u32::from(before.replace(key(&link)).is_some_and(|before| before != key(&link)));
            (ports[link as usize].rank, ports[link as usize].tier) = (rank as u32, tier);
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
            tier: 0,
            local: NONE,
            direction,
            below_root_complex: from_root_complex && direction == Direction::Down,
            from_root_complex,
            from_memory: is_memory(from),
            to_memory: is_memory(to),
            leaves_memory: from == NodeKind::Cpu && fabric.kind[index] == LinkKind::MEMORY,
        }
    }
}

/// Whether host memory is at a node where a route ends, or beyond it: nothing else ends at a root complex, unless a region
/// gives the links beyond it another policy, and those are of host memory or come from another socket.
fn is_memory(end: NodeKind) -> bool {
    matches!(end, NodeKind::Cpu | NodeKind::RootComplex)
}

/// Whether a root complex is an inner node of the route and neither end is host memory.
pub(crate) fn crosses_root_complex(ports: &[Port], route: &[LinkId]) -> bool {
    let (first, last) = (&ports[route[0].index()], &ports[route[route.len() - 1].index()]);
    !first.from_memory && !last.to_memory && route[1..].iter().any(|link| ports[link.index()].from_root_complex)
}

/// C(l) of a set that holds a transfer of each route: all of these may cross the root complex to l, or none.
pub(crate) fn capacity(ports: &[Port], link: LinkId, routes: &RouteTable<'_>) -> f64 {
    let port = &ports[link.index()];
    let mut all = (0..routes.offsets.len() - 1).map(|route| routes.links(RouteId(route as u32)));
    let crosses = |route: &[LinkId]| route.contains(&link) && crosses_root_complex(ports, route);
    if port.below_root_complex && all.any(crosses) { port.reduced } else { port.bandwidth }
}
