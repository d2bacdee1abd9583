//! One load moved in both ways: phase by phase, and by what changes.

use weir_plugin_api::{IncrementalEntry, LinkKind, NodeId, NodeKind, Registry, SimDuration, SimTime};
use weir_sim_core::{
    Changing, EngineId, Fabric, FabricBuilder, LinkChanges, LinkSpec, Outcome, Routes, RunOptions, ServiceId, Sharing,
    Simulation, Stop, Task, TaskGraph, TaskGraphBuilder, TaskId, Work,
};

/// Bandwidths of links, B/s.
const BANDWIDTHS: [f64; 6] = [1e8, 1e9, 2e9, 11.6e9, 23.4e9, 4e10];
/// Most nodes and transfers of one input.
const MOST: (usize, usize) = (14, 60);

/// The policies that have an incremental side, by name.
fn policies() -> Vec<(String, IncrementalEntry)> {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).expect("distinct names");
    registry.iter().filter_map(|entry| Some((entry.name.clone(), entry.incremental.clone()?))).collect()
}

/// Both ways take every byte to its end, and where no tie or queue turns a picosecond into many, the ends are the same but
/// for rounding, 1 ps per event at most.
pub fn movers(bytes: &[u8]) {
    let Some(world) = World::read(&mut bytes.iter().copied()) else { return };
    let all = policies();
    let (name, entry) = &all[usize::from(world.policy) % all.len()];
    let sharing = Sharing::Incremental { entry, params: "{}", from: 0, peaks_below: usize::MAX };
    let [phases, changes] = [Sharing::ByArbiter, sharing].map(|sharing| world.run(name, sharing));
    for outcome in [&phases, &changes] {
        assert_eq!(outcome.stop, Stop::Finished);
        assert_eq!(outcome.sent_bytes, world.sizes);
    }
    if !world.steady {
        return;
    }
    let slack = 2 * phases.events + 2;
    assert_eq!(phases.events, changes.events);
    for (one, other) in phases.tasks.iter().zip(&changes.tasks) {
        assert!(one.end.0.abs_diff(other.end.0) <= slack, "{} and {}", one.end, other.end);
    }
}

pub(crate) struct World {
    pub(crate) fabric: Fabric,
    routes: Routes,
    tasks: TaskGraph,
    pub(crate) sizes: Vec<u64>,
    policy: u8,
    /// No queues, waits, narrow limits or equal sizes.
    steady: bool,
}

impl World {
    /// Reads a tree and its transfers, as long as there are bytes; `None` where they are too few.
    pub(crate) fn read(bytes: &mut impl Iterator<Item = u8>) -> Option<Self> {
        let (options, nodes) = (bytes.next()?, usize::from(bytes.next()?) % MOST.0 + 2);
        let (fabric, leaves) = tree(nodes, bytes)?;
        let (policy, steady) = (options >> 2, options & 2 != 0);
        let (mut routes, mut graph, mut sizes) = (Routes::new(), TaskGraphBuilder::new(), Vec::new());
        while sizes.len() < MOST.1
            && let Some(drawn) = transfer(bytes)
        {
            let place = sizes.len() as u64;
            let from = usize::from(drawn.from) % leaves.len();
            let to = (from + 1 + usize::from(drawn.to) % (leaves.len() - 1)) % leaves.len();
            let route = routes.between(&fabric, leaves[from], leaves[to])?;
            let least = if steady { 1e9 } else { 1e7 };
            let limit = if drawn.limit < 64 { least * (1.0 + f64::from(drawn.limit)) } else { f64::INFINITY };
            let class =
                graph.classes().intern(route, limit, f64::from(drawn.options % 4 + 1), i64::from(drawn.options / 64));
            let size = u64::from(drawn.size) + 1;
            // Ties are what a picosecond decides.
            let size = if steady { size * 1009 + 7919 * (place + 1) * (place + 1) } else { size * 50 };
            let engine = match from % 3 {
                slots if slots == 0 || steady => EngineId::NONE,
                slots => graph.engine(leaves[from], "send", slots as u32).ok()?,
            };
            let work = Work::Carries { bytes: size, class };
            let start = SimTime(u64::from(drawn.start) * 10_000_000);
            let task = graph.task(Task { start, engine, service: ServiceId::PLAIN, work });
            let after = u64::from(drawn.options / 4 % 8);
            if !steady && (1..=place).contains(&after) {
                graph.wait(task, TaskId((place - after) as u32));
            }
            sizes.push(size);
        }
        Some(Self { fabric, routes, tasks: graph.build().ok()?, sizes, policy, steady })
    }

    pub(crate) fn run(&self, name: &str, sharing: Sharing<'_>) -> Outcome {
        self.run_changing(name, sharing, &LinkChanges::default())
    }

    /// The same while links change.
    pub(crate) fn run_changing(&self, name: &str, sharing: Sharing<'_>, links: &LinkChanges) -> Outcome {
        let mut registry = Registry::new();
        weir_arbiters::register(&mut registry).expect("distinct names");
        let entry = registry.get(name).expect("built in");
        let mut arbiter = (entry.make)(&self.fabric.view(), "{}").expect("no parameter is needed");
        let simulation = Simulation { fabric: &self.fabric, routes: &self.routes, tasks: &self.tasks };
        let make = |fabric: &Fabric| (entry.make)(&fabric.view(), "{}");
        let changing = (!links.is_empty()).then_some(Changing { links, make: &make });
        let options = RunOptions { sharing, changing, ..RunOptions::default() };
        simulation.run(arbiter.as_mut(), entry.flags, options).expect("no audit finds anything")
    }
}

/// A tree of so many nodes below its root, and its leaves; `None` for a single leaf.
fn tree(nodes: usize, bytes: &mut impl Iterator<Item = u8>) -> Option<(Fabric, Vec<NodeId>)> {
    let drawn: Vec<(usize, f64, f64)> = (0..nodes)
        .map(|node| {
            let bandwidth = |byte: u8| BANDWIDTHS[usize::from(byte) % BANDWIDTHS.len()];
            Some((usize::from(bytes.next()?) % (node + 1), bandwidth(bytes.next()?), bandwidth(bytes.next()?)))
        })
        .collect::<Option<_>>()?;
    let mut builder = FabricBuilder::new();
    let root = builder.root(NodeKind::RootComplex).ok()?;
    let children = |node: usize| (1..=nodes).filter(|&child| drawn[child - 1].0 == node).collect::<Vec<_>>();
    let (mut waiting, mut leaves) =
        (children(0).into_iter().map(|child| (child, root)).collect::<Vec<_>>(), Vec::new());
    // Depth first, as the builder wants it.
    while let Some((node, parent)) = waiting.pop() {
        let below = children(node);
        let (_, up, down) = drawn[node - 1];
        let kind = if below.is_empty() { NodeKind::Gpu } else { NodeKind::Switch };
        let link = LinkSpec { up, down, latency: SimDuration(700_000), kind: LinkKind::PCIE };
        let id = builder.child(parent, kind, link).ok()?;
        if below.is_empty() {
            leaves.push(id);
        }
        waiting.extend(below.into_iter().map(|child| (child, id)));
    }
    (leaves.len() > 1).then(|| (builder.build(), leaves))
}

struct Drawn {
    from: u8,
    to: u8,
    size: u16,
    start: u8,
    limit: u8,
    options: u8,
}

fn transfer(bytes: &mut impl Iterator<Item = u8>) -> Option<Drawn> {
    let mut next = || bytes.next();
    let (from, to, size) = (next()?, next()?, u16::from_le_bytes([next()?, next()?]));
    Some(Drawn { from, to, size, start: next()?, limit: next()?, options: next()? })
}

#[test]
fn seeds_are_loads() {
    for seed in seeds() {
        let world = World::read(&mut seed.into_iter()).expect("a tree with two leaves");
        assert!(world.sizes.len() > 20);
    }
}

/// Loads of both policies, steady or not, drawn by a multiplicative generator (Lehmer's, with 2^31 - 1 and 48271).
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    (0..16_u64)
        .map(|seed| {
            let mut state = seed + 1;
            let mut next = || {
                state = state * 48_271 % 0x7fff_ffff;
                (state >> 8) as u8
            };
            std::iter::once(seed as u8).chain((0..240).map(|_| next())).collect()
        })
        .collect()
}
