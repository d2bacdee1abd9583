//! Topologies, patterns and random cases, and all orders one by one through the simulation.
#![allow(dead_code, reason = "each test program uses its part")]

use proptest::prelude::*;
use weir_optimize::order::OrderProblem;
use weir_sim_core::api::{Flags, LinkKind, NodeId, NodeKind, RateArbiter, Registry, SimDuration, SimTime};
use weir_sim_core::{
    EngineId, Fabric, FabricBuilder, LinkSpec, Routes, RunOptions, ServiceId, Simulation, Task, TaskGraph,
    TaskGraphBuilder, TaskId, Work,
};

/// Bandwidth of the paper's links, B/s.
pub const BANDWIDTH: f64 = 11.6e9;
/// 300 MB over one link of 11.6 GB/s, ps, rounded up.
pub const LONE: f64 = 25_862_068_966.0;
/// The default of `pcie-congestion`: 1 − 1/1.21.
pub const TAU: f64 = 21.0 / 121.0;

pub fn link(bandwidth: f64) -> LinkSpec {
    LinkSpec { up: bandwidth, down: bandwidth, latency: SimDuration::ZERO, kind: LinkKind::PCIE }
}

/// What a problem borrows.
#[derive(Debug)]
pub struct World {
    pub fabric: Fabric,
    pub gpus: Vec<NodeId>,
    pub routes: Routes,
    pub tasks: TaskGraph,
    pub arbiter: &'static str,
    pub params: String,
    pub tau: f64,
}

/// A transfer: from, to (positions among the GPUs), bytes.
pub type Sent = (usize, usize, u64);

impl World {
    pub fn new(fabric: Fabric, gpus: Vec<NodeId>, sent: &[Sent], arbiter: &'static str, tau: f64) -> Self {
        let (mut routes, mut graph) = (Routes::new(), TaskGraphBuilder::new());
        for &(from, to, bytes) in sent {
            let engine = graph.engine(gpus[from], "send", 1).expect("one number of slots");
            let route = routes.between(&fabric, gpus[from], gpus[to]).expect("connected");
            let class = graph.classes().intern(route, f64::INFINITY, 1.0, 0);
            let work = Work::Carries { bytes, class };
            graph.task(Task { start: SimTime::ZERO, engine, service: ServiceId::PLAIN, work });
        }
        let tasks = graph.build().expect("no waits");
        let params = if arbiter == "pcie-congestion" { format!("{{\"tau\":{tau}}}") } else { "{}".to_owned() };
        Self { fabric, gpus, routes, tasks, arbiter, params, tau }
    }

    pub fn make(&self) -> (Box<dyn RateArbiter>, Flags) {
        let mut registry = Registry::new();
        weir_arbiters::register(&mut registry).expect("distinct names");
        let entry = registry.get(self.arbiter).expect("a built-in arbiter");
        ((entry.make)(&self.fabric.view(), &self.params).expect("good parameters"), entry.flags)
    }

    pub fn problem(&self) -> OrderProblem<'_> {
        let flags = self.make().1;
        let problem = OrderProblem::new(&self.fabric, &self.routes, &self.tasks, || Ok(self.make().0), flags);
        problem.expect("covered")
    }

    /// The makespan of an order through the simulation: the k-th transfer that a source sends takes the place of its
    /// k-th transfer of the workload.
    pub fn simulate(&self, order: &[Vec<TaskId>]) -> u64 {
        let mut at: Vec<TaskId> = (0..self.tasks.tasks().len() as u32).map(TaskId).collect();
        for sequence in order {
            let mut places = sequence.clone();
            places.sort_unstable();
            for (place, &task) in places.iter().zip(sequence) {
                at[place.index()] = task;
            }
        }
        let mut graph = TaskGraphBuilder::new();
        for c in 0..self.tasks.classes().len() {
            let table = self.tasks.classes().table();
            graph.classes().intern(table.route[c], table.limit[c], table.weight[c], table.priority[c]);
        }
        for &task in &at {
            let old = self.tasks.tasks()[task.index()];
            let engine = match old.engine {
                EngineId::NONE => EngineId::NONE,
                engine => graph.engine(NodeId(engine.0), "send", 1).expect("one number of slots"),
            };
            graph.task(Task { engine, ..old });
        }
        let tasks = graph.build().expect("no waits");
        let simulation = Simulation { fabric: &self.fabric, routes: &self.routes, tasks: &tasks };
        let (mut arbiter, flags) = self.make();
        simulation.run(&mut *arbiter, flags, RunOptions::default()).expect("it ends").makespan.0
    }
}

/// Two trees like the paper's T2 (Fig. 1), or one: a root complex (or switch), two switches each, with two boards of two
/// GPUs each.
pub fn t2(b: &mut FabricBuilder, root: NodeId, gpus: &mut Vec<NodeId>) {
    for _ in 0..2 {
        let plx = b.child(root, NodeKind::Switch, link(BANDWIDTH)).expect("plx");
        for _ in 0..2 {
            let board = b.child(plx, NodeKind::Switch, link(BANDWIDTH)).expect("board");
            gpus.extend([(); 2].map(|()| b.child(board, NodeKind::Gpu, link(BANDWIDTH)).expect("gpu")));
        }
    }
}

/// The messages of a halo exchange on a grid, first axis fastest: rank, axis, lower then upper neighbour.
pub fn halo(grid: &[usize], bytes: u64) -> Vec<Sent> {
    let ranks: usize = grid.iter().product();
    let mut sent = Vec::new();
    for rank in 0..ranks {
        let mut stride = 1;
        for &length in grid {
            let at = rank / stride % length;
            sent.extend((at > 0).then(|| (rank, rank - stride, bytes)));
            sent.extend((at + 1 < length).then(|| (rank, rank + stride, bytes)));
            stride *= length;
        }
    }
    sent
}

pub fn halo_on_t2(grid: &[usize], arbiter: &'static str) -> World {
    let mut b = FabricBuilder::new();
    let root = b.root(NodeKind::RootComplex).expect("root");
    let mut gpus = Vec::new();
    t2(&mut b, root, &mut gpus);
    World::new(b.build(), gpus, &halo(grid, 300_000_000), arbiter, TAU)
}

/// Two T2 trees under a switch, or one root complex over all: 16 GPUs.
pub fn two_t2(one_root: bool, arbiter: &'static str) -> World {
    let mut b = FabricBuilder::new();
    let (top, inner) =
        if one_root { (NodeKind::RootComplex, NodeKind::Switch) } else { (NodeKind::Switch, NodeKind::RootComplex) };
    let root = b.root(top).expect("root");
    let mut gpus = Vec::new();
    for _ in 0..2 {
        let half = b.child(root, inner, link(BANDWIDTH)).expect("half");
        t2(&mut b, half, &mut gpus);
    }
    World::new(b.build(), gpus, &halo(&[4, 2, 2], 300_000_000), arbiter, TAU)
}

/// Number of orders of a world.
pub fn all_orders(problem: &OrderProblem<'_>) -> Vec<Vec<Vec<TaskId>>> {
    let mut orders: Vec<Vec<Vec<TaskId>>> = vec![Vec::new()];
    for source in 0..problem.sources() {
        let all = permutations(&problem.transfers(source));
        orders =
            orders.iter().flat_map(|o| all.iter().map(|p| [o.as_slice(), std::slice::from_ref(p)].concat())).collect();
    }
    orders
}

/// All permutations in lexicographic order.
pub fn permutations(items: &[TaskId]) -> Vec<Vec<TaskId>> {
    if items.len() < 2 {
        return vec![items.to_vec()];
    }
    let without = |i: usize| items.iter().enumerate().filter(move |&(j, _)| j != i).map(|(_, &x)| x);
    (0..items.len())
        .flat_map(|i| {
            let rest: Vec<TaskId> = without(i).collect();
            permutations(&rest).into_iter().map(move |tail| [vec![items[i]], tail].concat())
        })
        .collect()
}

/// A random case: a tree of up to 12 nodes whose root is a root complex, 2 to 5 sources of 1 to 3 messages.
pub fn world() -> impl Strategy<Value = World> {
    let parents = prop::collection::vec(0..1000_usize, 3..12);
    let equal = any::<(bool, bool, bool, bool)>();
    let sent = prop::collection::vec((0..1000_usize, 0..1000_usize, 1_000..3_000_000_u64), 3..9);
    let widths = prop::collection::vec(0..3_usize, 12);
    (parents, equal, sent, widths, 0..5_u32, 0..3_u64).prop_map(|(parents, flags, sent, widths, tau, latency)| {
        let (equal_sizes, equal_links, max_min, shuffled) = flags;
        let (fabric, gpus) = tree(&parents, &widths, equal_links, latency * 700_000);
        let mut kept: Vec<Sent> = Vec::new();
        for (from, to, bytes) in sent {
            let from = from % gpus.len().min(5);
            let to = (from + 1 + to % (gpus.len() - 1)) % gpus.len();
            if kept.iter().filter(|k| k.0 == from).count() < 3 {
                kept.push((from, to, if equal_sizes { 1_000_000 } else { bytes }));
            }
        }
        if !shuffled {
            kept.sort_by_key(|k| k.0);
        }
        // 5 sources of 3 are 7,776 orders: too many to run one by one for every case.
        while orders(&kept) > 500 {
            kept.pop();
        }
        World::new(fabric, gpus, &kept, if max_min { "max-min" } else { "pcie-congestion" }, f64::from(tau) / 10.0)
    })
}

fn orders(sent: &[Sent]) -> usize {
    let count = |source| sent.iter().filter(|s| s.0 == source).count();
    (0..5).map(|source| (1..=count(source)).product::<usize>()).product()
}

/// A tree of these parents (each among the nodes before it), and its leaves.
pub fn tree(parents: &[usize], widths: &[usize], equal: bool, latency: u64) -> (Fabric, Vec<NodeId>) {
    let parents: Vec<usize> = parents.iter().enumerate().map(|(i, p)| p % (i + 1)).chain([0, 0]).collect();
    let mut b = FabricBuilder::new();
    let (mut order, mut stack, mut gpus) = (vec![], vec![0], Vec::new());
    let mut ids = vec![NodeId::NONE; parents.len() + 1];
    while let Some(node) = stack.pop() {
        order.push(node);
        stack.extend((0..parents.len()).filter(|&i| parents[i] == node).map(|i| i + 1));
    }
    for node in order {
        let leaf = !parents.contains(&node);
        let bandwidth = if equal { 1e9 } else { [1e9, 2e9, 1.3e9][widths[node % widths.len()]] };
        let spec = LinkSpec { latency: SimDuration(latency), ..link(bandwidth) };
        ids[node] = match node {
            0 => b.root(NodeKind::RootComplex).expect("root"),
            _ if leaf => b.child(ids[parents[node - 1]], NodeKind::Gpu, spec).expect("gpu"),
            _ if node % 3 == 1 => b.child(ids[parents[node - 1]], NodeKind::RootComplex, spec).expect("inner"),
            _ => b.child(ids[parents[node - 1]], NodeKind::Switch, spec).expect("inner"),
        };
        if leaf {
            gpus.push(ids[node]);
        }
    }
    (b.build(), gpus)
}

/// `count` messages of each GPU of T2 to random others, sizes of 100 to 500 MB; drawn by a linear congruence.
pub fn random_on_t2(count: usize, seed: u64, arbiter: &'static str) -> World {
    let mut state = seed;
    let mut draw = |below: u64| {
        // Knuth's MMIX constants; the upper half of the state.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut sent = Vec::new();
    for from in 0..8 {
        for _ in 0..count {
            let to = (from + 1 + draw(7) as usize) % 8;
            sent.push((from, to, 100_000_000 + draw(400_000_000)));
        }
    }
    let t2 = halo_on_t2(&[4, 2], arbiter);
    World::new(t2.fabric, t2.gpus, &sent, arbiter, TAU)
}

/// Four root complexes of two T2 halves each under a switch: 64 GPUs and a 4 × 4 × 4 halo.
pub fn four_sockets(arbiter: &'static str) -> World {
    let mut b = FabricBuilder::new();
    let root = b.root(NodeKind::Switch).expect("root");
    let mut gpus = Vec::new();
    for _ in 0..4 {
        let socket = b.child(root, NodeKind::RootComplex, link(BANDWIDTH)).expect("socket");
        for _ in 0..2 {
            let half = b.child(socket, NodeKind::Switch, link(BANDWIDTH)).expect("half");
            t2(&mut b, half, &mut gpus);
        }
    }
    World::new(b.build(), gpus, &halo(&[4, 4, 4], 300_000_000), arbiter, TAU)
}

/// The coordinates of a GPU in a grid, first axis fastest.
pub fn coordinates(world: &World, grid: &[usize], node: NodeId) -> Option<Vec<i64>> {
    let mut rank = world.gpus.iter().position(|&g| g == node)?;
    let axis = |&length: &usize| {
        let at = rank % length;
        rank /= length;
        at as i64
    };
    Some(grid.iter().map(axis).collect())
}
