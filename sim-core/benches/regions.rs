//! Regions: a cluster of machines with a policy for their insides and one for the network; two regions of one policy.

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use weir_arbiters::{MaxMin, PcieCongestion};
use weir_sim_core::api::{
    ArbiterEntry, ArbiterPlugin, Flags, LinkKind, NodeId, NodeKind, RateArbiter, SimDuration, SimTime,
};
use weir_sim_core::{
    Division, EngineId, Fabric, FabricBuilder, LinkSpec, Outcome, RegionPolicy, Routes, RunOptions, ServiceId,
    Simulation, Task, TaskGraph, TaskGraphBuilder, TaskId, Work, region_arbiter,
};

/// Transfers that are active at any time.
const ACTIVE: usize = 300;
/// Machines on one leaf switch, and spine switches (assumed).
const MACHINES_PER_LEAF: usize = 16;
const SPINES: usize = 4;

fn link(bandwidth: f64, kind: LinkKind) -> LinkSpec {
    LinkSpec { up: bandwidth, down: bandwidth, latency: SimDuration::ZERO, kind }
}

/// Machines of two PCIe switches, each with four GPUs and a NIC; NICs on leaf switches, these on all spines.
fn cluster(machines: usize) -> (Fabric, Vec<NodeId>) {
    let mut b = FabricBuilder::new();
    let (mut gpus, mut nics) = (Vec::new(), Vec::new());
    let pcie = link(25e9, LinkKind::PCIE);
    for _ in 0..machines {
        let root = b.root(NodeKind::RootComplex).expect("a root");
        for _ in 0..2 {
            let switch = b.child(root, NodeKind::Switch, pcie).expect("depth-first");
            gpus.extend((0..4).map(|_| b.child(switch, NodeKind::Gpu, pcie).expect("depth-first")));
            nics.push(b.child(switch, NodeKind::Nic, pcie).expect("depth-first"));
        }
    }
    let mut switches =
        |count: usize| (0..count).map(|_| b.root(NodeKind::Network).expect("a root")).collect::<Vec<_>>();
    let (leaves, spines) = (switches(machines.div_ceil(MACHINES_PER_LEAF)), switches(SPINES));
    for (at, &nic) in nics.iter().enumerate() {
        b.lateral(nic, leaves[at / 2 / MACHINES_PER_LEAF], link(12.5e9, LinkKind::NETWORK)).expect("a new pair");
    }
    for &leaf in &leaves {
        for &spine in &spines {
            b.lateral(leaf, spine, link(50e9, LinkKind::NETWORK)).expect("a new pair");
        }
    }
    (b.build(), gpus)
}

struct Load {
    fabric: Fabric,
    routes: Routes,
    tasks: TaskGraph,
}

/// Transfers between random GPUs, each after one before it, so that the same number is always active.
fn load(fabric: Fabric, ends: &[NodeId], transfers: usize) -> Load {
    let (mut routes, mut graph) = (Routes::new(), TaskGraphBuilder::new());
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut pick = |most: usize| (random.next_u64() % most as u64) as usize;
    for at in 0..transfers {
        let from = pick(ends.len());
        let to = (from + 1 + pick(ends.len() - 1)) % ends.len();
        let route = routes.between(&fabric, ends[from], ends[to]).expect("connected");
        let class = graph.classes().intern(route, f64::INFINITY, 1.0, 0);
        let work = Work::Carries { bytes: 1_000_000 + pick(63_000_000) as u64, class };
        let task = graph.task(Task { start: SimTime::ZERO, engine: EngineId::NONE, service: ServiceId::PLAIN, work });
        if at >= ACTIVE {
            graph.wait(task, TaskId((at - ACTIVE) as u32));
        }
    }
    Load { fabric, routes, tasks: graph.build().expect("no cycle") }
}

impl Load {
    fn run(&self, arbiter: &mut dyn RateArbiter, flags: Flags) -> Outcome {
        let simulation = Simulation { fabric: &self.fabric, routes: &self.routes, tasks: &self.tasks };
        simulation.run(arbiter, flags, RunOptions::default()).expect("it ends")
    }

    /// In regions, by the policy that each directed link has.
    fn run_in_regions(&self, policies: &[RegionPolicy], of: impl Fn(usize) -> u32) -> Outcome {
        let view = self.fabric.view();
        let of: Vec<u32> = (0..self.fabric.links().len()).map(of).collect();
        let division = Arc::new(Division::of(&self.fabric, &of));
        let mut arbiter = region_arbiter(&view, division, policies).expect("policies take their regions");
        self.run(&mut *arbiter, Flags::PURE)
    }
}

fn policy<P: ArbiterPlugin>() -> RegionPolicy {
    let ArbiterEntry { make, flags, .. } = ArbiterEntry::builtin::<P>();
    RegionPolicy { name: "".into(), make, flags, params: "{}".into() }
}

fn regions(c: &mut Criterion) {
    let mut group = c.benchmark_group("regions");
    group.sample_size(10);
    for machines in [128, 1024] {
        let (fabric, gpus) = cluster(machines);
        let load = load(fabric, &gpus, 2_000);
        group.throughput(Throughput::Elements(load.tasks.tasks().len() as u64));
        let policies = [policy::<PcieCongestion>(), policy::<MaxMin>()];
        group.bench_function(BenchmarkId::new("pcie and network", machines), |b| {
            b.iter(|| load.run_in_regions(&policies, |l| u32::from(load.fabric.links()[l].kind == LinkKind::NETWORK)));
        });
        if machines == 128 {
            group.bench_function("max-min phase by phase", |b| {
                let mut arbiter = MaxMin::create(&load.fabric.view(), "{}").expect("no parameters");
                b.iter(|| load.run(&mut arbiter, MaxMin::FLAGS));
            });
            // Policies of one constructor may be served as one; these two are cut apart.
            let cut = [policy::<MaxMin>(), policy::<MaxMin>()];
            let policies = [cut[0].clone(), cut[0].clone()];
            group.bench_function("two regions of max-min", |b| {
                let of = |l: usize| u32::from(load.fabric.links()[l].kind == LinkKind::NETWORK);
                b.iter(|| load.run_in_regions(&policies, of));
            });
            group.bench_function("two regions of max-min, cut", |b| {
                let of = |l: usize| u32::from(load.fabric.links()[l].kind == LinkKind::NETWORK);
                b.iter(|| load.run_in_regions(&cut, of));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, regions);
criterion_main!(benches);
