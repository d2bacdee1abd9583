//! The fabric, routes and phases, as they travel to a child.

use serde::{Deserialize, Serialize};
use weir_plugin_api::{
    ClassId, Direction, FabricColumns, FabricView, LinkId, LinkKind, NodeKind, PhaseColumns, PhaseView, RouteId,
    RouteTable, SimTime, TransferId,
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

/// Brings the fabric in the child up to date; `None` where the frame says what cannot be.
pub(crate) fn update_fabric(held: &mut FabricColumns, frame: FabricFrame) -> Option<()> {
    const DIRECTIONS: [Direction; 3] = [Direction::Up, Direction::Down, Direction::Lateral];
    grow(&mut held.bandwidth, frame.bandwidth, Some)?;
    grow(&mut held.from, frame.from, Some)?;
    grow(&mut held.to, frame.to, Some)?;
    grow(&mut held.direction, frame.direction, |d| DIRECTIONS.get(usize::from(d)).copied())?;
    grow(&mut held.depth, frame.depth, Some)?;
    grow(&mut held.kind, frame.kind, |kind| Some(LinkKind(kind)))?;
    grow(&mut held.node_kind, frame.node_kind, |kind| NodeKind::ALL.get(usize::from(kind)).copied())
}

/// As [`update_fabric`], of routes.
pub(crate) fn update_routes(held: &mut PhaseColumns, frame: RoutesFrame) -> Option<()> {
    grow(&mut held.offsets, frame.offsets, Some)?;
    grow(&mut held.links, frame.links, |link| Some(LinkId(link)))
}

/// As [`update_fabric`], of the phase with its routes and classes. Gives its instant.
pub(crate) fn update_phase(held: &mut PhaseColumns, frame: PhaseFrame) -> Option<SimTime> {
    held.id = frame.id.into_iter().map(TransferId).collect();
    held.class = frame.class.into_iter().map(ClassId).collect();
    held.arrival = frame.arrival;
    grow(&mut held.route, frame.route, |route| Some(RouteId(route)))?;
    grow(&mut held.limit, frame.limit, Some)?;
    grow(&mut held.weight, frame.weight, Some)?;
    grow(&mut held.priority, frame.priority, Some)?;
    update_routes(held, frame.routes)?;
    Some(SimTime(frame.now))
}
