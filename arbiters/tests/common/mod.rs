//! Fabrics, phases and slow twins for the tests of the arbiters.
#![allow(dead_code)] // each test binary uses a part of it

pub mod fifo_twin;
pub mod pcie_twin;
pub mod random;
pub mod rational_twin;

use std::sync::LazyLock;

use weir_arbiters::register;
use weir_plugin_api::{
    Binding, CallError, ClassId, FabricView, Grant, LinkId, LinkKind, NodeId, NodeKind, PhaseView, RateArbiter,
    Registry, RouteId, SimDuration, SimTime, Step, TransferId,
};
use weir_sim_core::{Classes, Fabric, FabricBuilder, LinkSpec, Routes, Selection, Way};

/// Both halves of a link with one bandwidth each way.
pub fn link(up: f64, down: f64) -> LinkSpec {
    LinkSpec { up, down, latency: SimDuration::ZERO, kind: LinkKind::PCIE }
}

/// A transfer of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    pub from: NodeId,
    pub to: NodeId,
    pub limit: f64,
    pub weight: f64,
    pub priority: i64,
    pub arrival: u64,
}

impl Transfer {
    pub fn new(from: NodeId, to: NodeId) -> Self {
        Self { from, to, limit: f64::INFINITY, weight: 1.0, priority: 0, arrival: 0 }
    }
}

/// A phase with the tables behind it.
pub struct Phase {
    pub routes: Routes,
    pub classes: Classes,
    pub class: Vec<ClassId>,
    pub route: Vec<RouteId>,
    pub arrival: Vec<u64>,
    pub id: Vec<TransferId>,
    pub transfers: Vec<Transfer>,
}

impl Phase {
    pub fn new(fabric: &Fabric, transfers: &[Transfer]) -> Self {
        Self::select(fabric, transfers, |_| Selection::First)
    }

    /// With the routes that a selection by position takes.
    pub fn select(fabric: &Fabric, transfers: &[Transfer], selection: impl Fn(usize) -> Selection) -> Self {
        let (mut routes, mut classes) = (Routes::new(), Classes::default());
        let (mut class, mut route) = (Vec::new(), Vec::new());
        for (position, t) in transfers.iter().enumerate() {
            let r = routes.select(fabric, &[Way::through(&[t.from, t.to], selection(position))], &[]).expect("a route");
            route.push(r);
            class.push(classes.intern(r, t.limit, t.weight, t.priority));
        }
        let arrival = transfers.iter().map(|t| t.arrival).collect();
        let id = (0..transfers.len()).map(TransferId::from_index).collect();
        Self { routes, classes, class, route, arrival, id, transfers: transfers.to_vec() }
    }

    pub fn view(&self) -> PhaseView<'_> {
        PhaseView {
            now: SimTime::ZERO,
            id: (&self.id).into(),
            class: (&self.class).into(),
            arrival: (&self.arrival).into(),
            classes: self.classes.table(),
            routes: self.routes.table(),
        }
    }

    /// The same tables with only some of the transfers.
    pub fn subset(&self, positions: &[usize]) -> Self {
        Self {
            routes: self.routes.clone(),
            classes: self.classes.clone(),
            class: positions.iter().map(|&p| self.class[p]).collect(),
            route: positions.iter().map(|&p| self.route[p]).collect(),
            arrival: positions.iter().map(|&p| self.arrival[p]).collect(),
            id: positions.iter().map(|&p| self.id[p]).collect(),
            transfers: positions.iter().map(|&p| self.transfers[p]).collect(),
        }
    }

    pub fn links(&self, position: usize) -> &[LinkId] {
        self.routes.links(self.route[position])
    }

    pub fn len(&self) -> usize {
        self.class.len()
    }

    /// Positions by sets that share links, directly or through others; each ascending.
    pub fn connected_sets(&self) -> Vec<Vec<usize>> {
        let mut set: Vec<usize> = (0..self.len()).collect();
        loop {
            let before = set.clone();
            for a in 0..self.len() {
                for b in 0..self.len() {
                    if self.links(a).iter().any(|l| self.links(b).contains(l)) {
                        set[a] = set[a].min(set[b]);
                    }
                }
            }
            if set == before {
                break;
            }
        }
        let mut sets: Vec<Vec<usize>> = vec![Vec::new(); self.len()];
        for (position, &s) in set.iter().enumerate() {
            sets[s].push(position);
        }
        sets.retain(|s| !s.is_empty());
        sets
    }
}

/// The arbiters of the crate.
pub static ARBITERS: LazyLock<Registry> = LazyLock::new(|| {
    let mut registry = Registry::new();
    register(&mut registry).expect("an empty registry takes all");
    registry
});

/// Their names.
pub fn names() -> impl Iterator<Item = &'static str> {
    ARBITERS.iter().map(|entry| entry.name.as_str())
}

/// Builds an arbiter by name.
pub fn try_make(name: &str, fabric: &FabricView<'_>, params: &str) -> Result<Box<dyn RateArbiter>, CallError> {
    (ARBITERS.get(name).expect("a known name").make)(fabric, params)
}

/// Builds an arbiter by name.
pub fn make(name: &str, fabric: &Fabric, params: &str) -> Box<dyn RateArbiter> {
    try_make(name, &fabric.view(), params).expect("good parameters")
}

/// Rates and bindings of a phase.
pub fn answer(arbiter: &mut dyn RateArbiter, phase: &Phase) -> (Vec<f64>, Vec<Binding>) {
    let mut rates = vec![f64::NAN; phase.len()];
    let mut bindings = vec![Binding::NONE; phase.len()];
    let mut grant = Grant { rates: &mut rates, bindings: &mut bindings, recheck: SimTime::NEVER };
    arbiter.allocate(&phase.view(), &mut grant).expect("rates");
    assert!(grant.recheck.is_never(), "no built-in arbiter asks to be called again");
    (rates, bindings)
}

pub fn rates(arbiter: &mut dyn RateArbiter, phase: &Phase) -> Vec<f64> {
    answer(arbiter, phase).0
}

pub fn steps(arbiter: &mut dyn RateArbiter, phase: &Phase) -> Vec<Step> {
    let mut steps = Vec::new();
    assert!(arbiter.explain(&phase.view(), &mut steps).expect("steps"));
    steps
}

/// Panics unless the two agree to a relative tolerance.
pub fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len());
    for (i, (a, e)) in actual.iter().zip(expected).enumerate() {
        assert!((a - e).abs() <= tolerance * e.abs(), "transfer {i}: {a} instead of {e}: {actual:?} {expected:?}");
    }
}

/// Topology T2 (Fig. 1): a root complex, two switches, four K80 boards (switches), eight GPUs. Returns the GPUs.
pub fn t2(bandwidth: f64) -> (Fabric, Vec<NodeId>) {
    board_tree(NodeKind::RootComplex, &[2, 2, 2], bandwidth)
}

/// A regular tree: `arity[i]` children at depth `i`; the leaves are GPUs and returned.
pub fn board_tree(root: NodeKind, arity: &[usize], bandwidth: f64) -> (Fabric, Vec<NodeId>) {
    fn grow(b: &mut FabricBuilder, at: NodeId, arity: &[usize], bandwidth: f64, leaves: &mut Vec<NodeId>) {
        let Some((&n, rest)) = arity.split_first() else {
            leaves.push(at);
            return;
        };
        let kind = if rest.is_empty() { NodeKind::Gpu } else { NodeKind::Switch };
        for _ in 0..n {
            let child = b.child(at, kind, link(bandwidth, bandwidth)).expect("depth-first");
            grow(b, child, rest, bandwidth, leaves);
        }
    }
    let mut b = FabricBuilder::new();
    let root = b.root(root).expect("a root");
    let mut leaves = Vec::new();
    grow(&mut b, root, arity, bandwidth, &mut leaves);
    (b.build(), leaves)
}

/// Transfers between numbered leaves.
pub fn between(leaves: &[NodeId], pairs: &[(usize, usize)]) -> Vec<Transfer> {
    pairs.iter().map(|&(a, b)| Transfer::new(leaves[a], leaves[b])).collect()
}
