//! Views with memory of their own: for who keeps a fabric or a phase, or makes one up.

use crate::view::{ClassTable, FabricView, PhaseView, RouteTable};
use crate::{ClassId, Direction, LinkId, LinkKind, NodeKind, RouteId, SimTime, TransferId};

/// A fabric, or a region of it: a column for each property, as [`FabricView`] has them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FabricColumns {
    /// Per directed link: bandwidth in bytes per second.
    pub bandwidth: Vec<f64>,
    /// Per directed link: the node it leaves.
    pub from: Vec<u32>,
    /// Per directed link: the node it enters.
    pub to: Vec<u32>,
    /// Per directed link: up, down or lateral.
    pub direction: Vec<Direction>,
    /// Per directed link: depth of the lower node of a tree link; of a lateral link, of the node it leaves.
    pub depth: Vec<u32>,
    /// Per directed link: its kind.
    pub kind: Vec<LinkKind>,
    /// Per node: its kind.
    pub node_kind: Vec<NodeKind>,
}

impl FabricColumns {
    /// As an arbiter sees it.
    #[must_use]
    pub fn view(&self) -> FabricView<'_> {
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

/// The active transfers of an instant, with their classes and routes: a column for each property, as [`PhaseView`] has them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PhaseColumns {
    /// Per active transfer: its id, ascending.
    pub id: Vec<TransferId>,
    /// Per active transfer: its class.
    pub class: Vec<ClassId>,
    /// Per active transfer: when it began to wait for rates, in ps.
    pub arrival: Vec<u64>,
    /// Per class: the route.
    pub route: Vec<RouteId>,
    /// Per class: largest allowed rate in bytes per second; infinite for none.
    pub limit: Vec<f64>,
    /// Per class: weight, above 0.
    pub weight: Vec<f64>,
    /// Per class: priority.
    pub priority: Vec<i64>,
    /// Per route: where its links begin, and in the end where those of the last one end.
    pub offsets: Vec<u64>,
    /// Links of all routes, in order of travel.
    pub links: Vec<LinkId>,
}

impl PhaseColumns {
    /// As an arbiter sees them at `now`.
    #[must_use]
    pub fn view(&self, now: SimTime) -> PhaseView<'_> {
        PhaseView {
            now,
            id: (&self.id).into(),
            class: (&self.class).into(),
            arrival: (&self.arrival).into(),
            classes: ClassTable {
                route: (&self.route).into(),
                limit: (&self.limit).into(),
                weight: (&self.weight).into(),
                priority: (&self.priority).into(),
            },
            routes: self.routes(),
        }
    }

    /// Leaves no transfer, class and route, and keeps the memory. `offsets` has its first entry then, which the default has not.
    pub fn clear(&mut self) {
        self.id.clear();
        self.class.clear();
        self.arrival.clear();
        self.route.clear();
        self.limit.clear();
        self.weight.clear();
        self.priority.clear();
        self.offsets.clear();
        self.offsets.push(0);
        self.links.clear();
    }

    /// The routes alone.
    #[must_use]
    pub fn routes(&self) -> RouteTable<'_> {
        RouteTable { offsets: (&self.offsets).into(), links: (&self.links).into() }
    }
}
