//! The fabric, routes and phases, as they travel to a child.

use serde::{Deserialize, Serialize};
use weir_plugin_api::{
    ClassId, ClassTable, Direction, FabricView, LinkId, LinkKind, NodeKind, PhaseView, RouteId, RouteTable, SimTime,
    TransferId,
};

use super::mirror::{Growth, Mirror, Sent, grow};

#[derive(Serialize, Deserialize)]
pub(crate) struct FabricFrame {
    bandwidth: Growth<f64>,
    from: Growth<u32>,
    to: Growth<u32>,
    direction: Growth<u8>,
    depth: Growth<u32>,
    kind: Growth<u32>,
    node_kind: Growth<u8>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct RoutesFrame {
    offsets: Growth<u64>,
    links: Growth<u32>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct PhaseFrame {
    now: u64,
    id: Vec<u32>,
    class: Vec<u32>,
    arrival: Vec<u64>,
    route: Growth<u32>,
    limit: Growth<f64>,
    weight: Growth<f64>,
    priority: Growth<i64>,
    routes: RoutesFrame,
}

/// What a child has of the fabric, on the run's side.
#[derive(Default)]
pub(crate) struct SentFabric {
    bandwidth: Mirror<f64>,
    from: Mirror<u32>,
    to: Mirror<u32>,
    direction: Mirror<u8>,
    depth: Mirror<u32>,
    kind: Mirror<u32>,
    node_kind: Mirror<u8>,
}

impl SentFabric {
    pub(crate) fn frame(&mut self, fabric: &FabricView<'_>) -> FabricFrame {
        FabricFrame {
            bandwidth: self.bandwidth.growth_to(fabric.bandwidth.iter().copied()),
            from: self.from.growth_to(fabric.from.iter().copied()),
            to: self.to.growth_to(fabric.to.iter().copied()),
            direction: self.direction.growth_to(fabric.direction.iter().map(|&d| d as u8)),
            depth: self.depth.growth_to(fabric.depth.iter().copied()),
            kind: self.kind.growth_to(fabric.kind.iter().map(|kind| kind.0)),
            node_kind: self.node_kind.growth_to(fabric.node_kind.iter().map(|&kind| kind as u8)),
        }
    }
}

/// What a child has of routes and classes, on the run's side: these grow, and start anew after `reset`.
#[derive(Default)]
pub(crate) struct SentTables {
    route: Sent<u32>,
    limit: Sent<f64>,
    weight: Sent<f64>,
    priority: Sent<i64>,
    offsets: Sent<u64>,
    links: Sent<u32>,
}

impl SentTables {
    pub(crate) fn routes(&mut self, routes: &RouteTable<'_>) -> RoutesFrame {
        RoutesFrame {
            offsets: self.offsets.growth_to(&routes.offsets, |&offset| offset),
            links: self.links.growth_to(&routes.links, |link| link.0),
        }
    }

    pub(crate) fn phase(&mut self, phase: &PhaseView<'_>) -> PhaseFrame {
        PhaseFrame {
            now: phase.now.0,
            id: phase.id.iter().map(|id| id.0).collect(),
            class: phase.class.iter().map(|class| class.0).collect(),
            arrival: phase.arrival.to_vec(),
            route: self.route.growth_to(&phase.classes.route, |route| route.0),
            limit: self.limit.growth_to(&phase.classes.limit, |&limit| limit),
            weight: self.weight.growth_to(&phase.classes.weight, |&weight| weight),
            priority: self.priority.growth_to(&phase.classes.priority, |&priority| priority),
            routes: self.routes(&phase.routes),
        }
    }
}

/// The fabric in the child.
#[derive(Default)]
pub(crate) struct HeldFabric {
    bandwidth: Vec<f64>,
    from: Vec<u32>,
    to: Vec<u32>,
    direction: Vec<Direction>,
    depth: Vec<u32>,
    kind: Vec<LinkKind>,
    node_kind: Vec<NodeKind>,
}

impl HeldFabric {
    /// `None` where the frame says what cannot be.
    pub(crate) fn update(&mut self, frame: FabricFrame) -> Option<()> {
        const DIRECTIONS: [Direction; 3] = [Direction::Up, Direction::Down, Direction::Lateral];
        grow(&mut self.bandwidth, frame.bandwidth, Some)?;
        grow(&mut self.from, frame.from, Some)?;
        grow(&mut self.to, frame.to, Some)?;
        grow(&mut self.direction, frame.direction, |d| DIRECTIONS.get(usize::from(d)).copied())?;
        grow(&mut self.depth, frame.depth, Some)?;
        grow(&mut self.kind, frame.kind, |kind| Some(LinkKind(kind)))?;
        grow(&mut self.node_kind, frame.node_kind, |kind| NodeKind::ALL.get(usize::from(kind)).copied())
    }

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

/// Routes, classes and the phase in the child.
#[derive(Default)]
pub(crate) struct HeldPhase {
    now: u64,
    id: Vec<TransferId>,
    class: Vec<ClassId>,
    arrival: Vec<u64>,
    route: Vec<RouteId>,
    limit: Vec<f64>,
    weight: Vec<f64>,
    priority: Vec<i64>,
    offsets: Vec<u64>,
    links: Vec<LinkId>,
}

impl HeldPhase {
    /// `None` where the frame says what cannot be.
    pub(crate) fn update_routes(&mut self, frame: RoutesFrame) -> Option<()> {
        grow(&mut self.offsets, frame.offsets, Some)?;
        grow(&mut self.links, frame.links, |link| Some(LinkId(link)))
    }

    /// As [`Self::update_routes`].
    pub(crate) fn update(&mut self, frame: PhaseFrame) -> Option<()> {
        self.now = frame.now;
        self.id = frame.id.into_iter().map(TransferId).collect();
        self.class = frame.class.into_iter().map(ClassId).collect();
        self.arrival = frame.arrival;
        grow(&mut self.route, frame.route, |route| Some(RouteId(route)))?;
        grow(&mut self.limit, frame.limit, Some)?;
        grow(&mut self.weight, frame.weight, Some)?;
        grow(&mut self.priority, frame.priority, Some)?;
        self.update_routes(frame.routes)
    }

    pub(crate) fn routes(&self) -> RouteTable<'_> {
        RouteTable { offsets: (&self.offsets).into(), links: (&self.links).into() }
    }

    pub(crate) fn view(&self) -> PhaseView<'_> {
        PhaseView {
            now: SimTime(self.now),
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
}
