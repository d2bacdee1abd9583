//! Whole runs under `max-min` on trees of hosts: all at once (`t0`), arriving over time across the tree (`po`) and
//! within a leaf switch (`lo`). The same shapes as the peer comparison in `benches/peers`, drawn here from ChaCha8.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use weir_arbiters::MaxMin;
use weir_sim_core::api::{ArbiterPlugin, LinkKind, NodeId, NodeKind, SimDuration, SimTime};
use weir_sim_core::{
    EngineId, Fabric, FabricBuilder, LinkSpec, Outcome, Routes, RunOptions, ServiceId, Simulation, Task, TaskGraph,
    TaskGraphBuilder, Work,
};

/// A tree of hosts: fan-outs from the root down, host links of 1.25 GB/s, each level oversubscribed 2 : 1 (assumed).
struct Tree {
    fabric: Fabric,
    hosts: Vec<NodeId>,
    leaf: usize,
}

fn tree(fanouts: &[usize]) -> Tree {
    let mut bandwidth = vec![1.25e9; fanouts.len()];
    for level in (0..fanouts.len() - 1).rev() {
        bandwidth[level] = bandwidth[level + 1] * fanouts[level + 1] as f64 / 2.0;
    }
    let mut builder = FabricBuilder::new();
    let root = builder.root(NodeKind::Network).expect("a root");
    let mut hosts = Vec::new();
    grow(&mut builder, root, fanouts, &bandwidth, &mut hosts);
    Tree { fabric: builder.build(), hosts, leaf: *fanouts.last().expect("one level") }
}

fn grow(builder: &mut FabricBuilder, parent: NodeId, fanouts: &[usize], bandwidth: &[f64], hosts: &mut Vec<NodeId>) {
    let link = LinkSpec { up: bandwidth[0], down: bandwidth[0], latency: SimDuration::ZERO, kind: LinkKind::NETWORK };
    for _ in 0..fanouts[0] {
        if fanouts.len() == 1 {
            hosts.push(builder.child(parent, NodeKind::Host, link).expect("depth-first"));
        } else {
            let child = builder.child(parent, NodeKind::Switch, link).expect("depth-first");
            grow(builder, child, &fanouts[1..], &bandwidth[1..], hosts);
        }
    }
}

/// What is drawn: `rate` transfers per second on average (all at 0 where it is infinite), across the tree or locally.
struct Load {
    count: usize,
    rate: f64,
    local: bool,
}

fn unit(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

fn exponential(random: &mut ChaCha8Rng, mean: f64) -> f64 {
    -mean * (1.0 - unit(random)).ln()
}

fn workload(tree: &Tree, load: &Load) -> (Routes, TaskGraph) {
    let random = &mut ChaCha8Rng::seed_from_u64(7);
    let mut routes = Routes::new();
    let mut graph = TaskGraphBuilder::new();
    let mut time = 0.0;
    for _ in 0..load.count {
        let hosts = tree.hosts.len();
        let from = (unit(random) * hosts as f64) as usize;
        let (first, range) = if load.local { (from / tree.leaf * tree.leaf, tree.leaf) } else { (0, hosts) };
        let step = 1 + (unit(random) * (range - 1) as f64) as usize;
        let to = first + (from - first + step) % range;
        let route = routes.between(&tree.fabric, tree.hosts[from], tree.hosts[to]).expect("connected");
        let class = graph.classes().intern(route, f64::INFINITY, 1.0, 0);
        let bytes = exponential(random, 10e6) as u64 + 1000;
        if load.rate.is_finite() {
            time += exponential(random, 1.0 / load.rate);
        }
        let start = SimTime((time * 1e12) as u64);
        graph.task(Task {
            start,
            engine: EngineId::NONE,
            service: ServiceId::PLAIN,
            work: Work::Carries { bytes, class },
        });
    }
    (routes, graph.build().expect("no waits"))
}

fn run(tree: &Tree, routes: &Routes, tasks: &TaskGraph) -> Outcome {
    let mut arbiter = MaxMin::create(&tree.fabric.view(), "{}").expect("no parameters");
    let simulation = Simulation { fabric: &tree.fabric, routes, tasks };
    simulation.run(&mut arbiter, MaxMin::FLAGS, RunOptions::default()).expect("it ends")
}

/// (name, fan-outs, transfers, utilisation-like factor of the arrival rate, local).
const CASES: [(&str, &[usize], usize, f64, bool); 9] = [
    ("po-8", &[2, 2, 2], 10_000, 0.98, false),
    ("po-64", &[4, 4, 4], 10_000, 0.95, false),
    ("po-1024", &[4, 4, 8, 8], 10_000, 0.9, false),
    ("po-4096", &[8, 8, 8, 8], 10_000, 0.8, false),
    ("lo-1024", &[4, 4, 8, 8], 10_000, 1.5, true),
    ("lo-4096", &[8, 8, 8, 8], 10_000, 0.5, true),
    ("t0-8", &[2, 2, 2], 3_000, f64::INFINITY, false),
    ("t0-1024", &[4, 4, 8, 8], 1_000, f64::INFINITY, false),
    ("t0-4096", &[8, 8, 8, 8], 1_000, f64::INFINITY, false),
];

/// Transfers per second at which the busiest link of a tree is used fully by uniform traffic of 10 MB messages.
fn capacity(tree: &Tree) -> f64 {
    let hosts = tree.hosts.len() as f64;
    let below = |root: NodeId| tree.hosts.iter().filter(|&&h| tree.fabric.in_subtree(h, root)).count() as f64;
    let per_link = tree.fabric.nodes().iter().enumerate().filter(|(_, n)| !n.up.is_none()).map(|(i, n)| {
        let inside = below(NodeId(i as u32));
        inside * (hosts - inside) / (hosts * (hosts - 1.0)) / tree.fabric.link(n.up).bandwidth
    });
    1.0 / per_link.fold(0.0, f64::max) / 10e6
}

fn whole_runs(c: &mut Criterion) {
    let mut group = c.benchmark_group("whole-runs");
    group.sample_size(10);
    for (name, fanouts, count, factor, local) in CASES {
        let tree = tree(fanouts);
        let (routes, tasks) = workload(&tree, &Load { count, rate: factor * capacity(&tree), local });
        group.throughput(criterion::Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::from_parameter(name), |b| b.iter(|| run(&tree, &routes, &tasks)));
    }
    group.finish();
}

criterion_group!(benches, whole_runs);
criterion_main!(benches);
