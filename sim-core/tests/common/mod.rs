//! Random fabrics and workloads, and a slow, obvious simulator to compare with.
#![allow(dead_code, reason = "each test program uses its part")]

pub mod graphs;
pub mod slow;

use proptest::prelude::*;
use weir_sim_core::api::{
    ClassId, FabricView, Flags, LinkKind, NodeId, NodeKind, RateArbiter, Registry, SimDuration, SimTime,
};
use weir_sim_core::{
    EngineId, Fabric, FabricBuilder, LinkSpec, Outcome, Routes, RunOptions, ServiceId, Simulation, Task, TaskGraph,
    TaskGraphBuilder, TaskId, Work,
};

/// A transfer as drawn: everything relative, so that shrinking keeps it valid.
#[derive(Clone, Debug)]
pub struct Draw {
    pub from: usize,
    pub to: usize,
    pub bytes: u64,
    pub start: u64,
    pub limit: Option<f64>,
    pub weight: u32,
    pub priority: i64,
    /// Waits for the transfer this many places earlier, if there is one.
    pub after: usize,
}

/// A forest as drawn: per node its parent among the earlier ones and the bandwidth of its link.
#[derive(Clone, Debug)]
pub struct DrawTree {
    pub parents: Vec<usize>,
    pub bandwidths: Vec<(f64, f64)>,
    pub latency: u64,
}

/// A whole random case.
#[derive(Clone, Debug)]
pub struct Case {
    pub tree: DrawTree,
    pub transfers: Vec<Draw>,
    /// Whether two thirds of the sources send one or two at a time; else all send any number.
    pub queued: bool,
    /// Whether children are numbered in the opposite order: the same world under other ids.
    pub mirrored: bool,
}

pub fn bandwidth() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1e9), Just(2e9), Just(11.6e9), (1e8..4e10_f64)]
}

pub fn tree(nodes: std::ops::Range<usize>) -> impl Strategy<Value = DrawTree> {
    (prop::collection::vec((0..1000_usize, bandwidth(), bandwidth()), nodes), 0..3_u64).prop_map(|(rows, latency)| {
        DrawTree {
            parents: rows.iter().enumerate().map(|(i, r)| r.0 % (i + 1)).collect(),
            bandwidths: rows.iter().map(|r| (r.1, r.2)).collect(),
            latency: latency * 700_000,
        }
    })
}

pub fn draw() -> impl Strategy<Value = Draw> {
    let size = prop_oneof![Just(1_000_000_u64), 1..5_000_000_u64, 1..50_u64];
    let start = prop_oneof![2 => Just(0_u64), 1 => (0..8_u64).prop_map(|k| k * 100_000_000), 2 => 0..2_000_000_000_u64];
    let limit = prop_oneof![4 => Just(None), 1 => (1e7..2e10_f64).prop_map(Some)];
    (0..1000_usize, 0..1000_usize, size, start, limit, 1..5_u32, 0..3_i64, 0..12_usize).prop_map(
        |(from, to, bytes, start, limit, weight, priority, after)| Draw {
            from,
            to,
            bytes,
            start,
            limit,
            weight,
            priority,
            after,
        },
    )
}

pub fn case(nodes: std::ops::Range<usize>, transfers: std::ops::Range<usize>) -> impl Strategy<Value = Case> {
    (tree(nodes), prop::collection::vec(draw(), transfers)).prop_map(|(tree, transfers)| Case {
        tree,
        transfers,
        queued: true,
        mirrored: false,
    })
}

/// What a simulation needs.
pub struct World {
    pub fabric: Fabric,
    pub routes: Routes,
    pub tasks: TaskGraph,
}

/// Depth-first list of (drawn node, parent's place in the list).
fn depth_first(tree: &DrawTree, mirrored: bool) -> Vec<(usize, usize)> {
    let mut children = vec![Vec::new(); tree.parents.len() + 1];
    for (i, &p) in tree.parents.iter().enumerate() {
        children[p].push(i + 1);
    }
    if mirrored {
        children.iter_mut().for_each(|c| c.reverse());
    }
    let mut order = Vec::new();
    let mut stack = vec![(0, usize::MAX)];
    while let Some((node, parent)) = stack.pop() {
        let place = order.len();
        order.push((node, parent));
        stack.extend(children[node].iter().rev().map(|&c| (c, place)));
    }
    order
}

/// The fabric of a drawn tree: leaves are gpus, the root a root complex, the rest switches. Returns the leaves too, in
/// the order drawn.
pub fn fabric(tree: &DrawTree, mirrored: bool) -> (Fabric, Vec<NodeId>) {
    let mut builder = FabricBuilder::new();
    let leaves = add_tree(&mut builder, tree, mirrored);
    (builder.build(), leaves)
}

fn add_tree(builder: &mut FabricBuilder, tree: &DrawTree, mirrored: bool) -> Vec<NodeId> {
    let order = depth_first(tree, mirrored);
    let mut ids = Vec::new();
    let mut leaves = Vec::new();
    for &(node, parent) in &order {
        let leaf = !tree.parents.contains(&node);
        let id = if parent == usize::MAX {
            builder.root(NodeKind::RootComplex).expect("a root")
        } else {
            let (up, down) = tree.bandwidths[node - 1];
            let link = LinkSpec { up, down, latency: SimDuration(tree.latency), kind: LinkKind::PCIE };
            let kind = if leaf { NodeKind::Gpu } else { NodeKind::Switch };
            builder.child(ids[parent], kind, link).expect("depth-first")
        };
        ids.push(id);
        if leaf {
            leaves.push((node, id));
        }
    }
    leaves.sort_unstable();
    leaves.into_iter().map(|(_, id)| id).collect()
}

impl Case {
    /// Fabric, routes and tasks of the case; `None` when the tree has a single leaf.
    pub fn world(&self) -> Option<World> {
        let (fabric, leaves) = fabric(&self.tree, self.mirrored);
        if leaves.len() < 2 {
            return None;
        }
        let (mut routes, mut graph) = (Routes::new(), TaskGraphBuilder::new());
        self.add_tasks(&fabric, &leaves, &mut routes, &mut graph);
        Some(World { fabric, routes, tasks: graph.build().expect("waits point backwards") })
    }

    fn add_tasks(&self, fabric: &Fabric, leaves: &[NodeId], routes: &mut Routes, graph: &mut TaskGraphBuilder) {
        let first = graph.len();
        for (i, t) in self.transfers.iter().enumerate() {
            let from = t.from % leaves.len();
            let to = (from + 1 + t.to % (leaves.len() - 1)) % leaves.len();
            let route = routes.between(fabric, leaves[from], leaves[to]).expect("a tree connects");
            let limit = t.limit.unwrap_or(f64::INFINITY);
            let class = graph.classes().intern(route, limit, f64::from(t.weight), t.priority);
            // A third of the sources send any number at once, the others one or two.
            let engine = match from % 3 {
                slots if slots == 0 || !self.queued => EngineId::NONE,
                slots => graph.engine(leaves[from], "send", slots as u32).expect("one number of slots"),
            };
            let work = Work::Carries { bytes: t.bytes, class };
            let task = graph.task(Task { start: SimTime(t.start), engine, service: ServiceId::PLAIN, work });
            if (1..=4).contains(&t.after) && t.after <= i {
                graph.wait(task, TaskId((first + i - t.after) as u32));
            }
        }
    }
}

/// One fabric with both trees under roots of their own; the tasks of `first` come first.
pub fn join(first: &Case, second: &Case) -> World {
    let mut builder = FabricBuilder::new();
    let leaves = [add_tree(&mut builder, &first.tree, false), add_tree(&mut builder, &second.tree, false)];
    let fabric = builder.build();
    let (mut routes, mut graph) = (Routes::new(), TaskGraphBuilder::new());
    first.add_tasks(&fabric, &leaves[0], &mut routes, &mut graph);
    second.add_tasks(&fabric, &leaves[1], &mut routes, &mut graph);
    World { fabric, routes, tasks: graph.build().expect("waits point backwards") }
}

impl World {
    pub fn run(&self, arbiter: &mut dyn RateArbiter, flags: Flags, options: RunOptions<'_>) -> Outcome {
        let simulation = Simulation { fabric: &self.fabric, routes: &self.routes, tasks: &self.tasks };
        simulation.run(arbiter, flags, options).expect("the run ends")
    }

    pub fn class_of(&self, task: usize) -> ClassId {
        match self.tasks.tasks()[task].work {
            Work::Carries { class, .. } => class,
            _ => panic!("task {task} carries nothing"),
        }
    }

    pub fn bytes_of(&self, task: usize) -> u64 {
        match self.tasks.tasks()[task].work {
            Work::Carries { bytes, .. } => bytes,
            _ => 0,
        }
    }
}

/// The built-in arbiters.
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).expect("distinct names");
    registry
}

pub const ARBITERS: [&str; 6] = ["equal-share", "fcfs", "input-fifo", "max-min", "pcie-congestion", "strict-priority"];

/// A fresh built-in arbiter with its flags.
pub fn arbiter(name: &str, fabric: &FabricView<'_>) -> (Box<dyn RateArbiter>, Flags) {
    let registry = registry();
    let entry = registry.get(name).unwrap_or_else(|| panic!("no arbiter {name}"));
    ((entry.make)(fabric, "{}").expect("default parameters"), entry.flags)
}
