//! Engines: plain queues, a put of many packets through three stages, copies and kernels of many streams.

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use weir_arbiters::MaxMin;
use weir_sim_core::api::{
    ArbiterPlugin, ClassId, EngineScope, LinkKind, NodeId, NodeKind, Queue, SimDuration, SimTime,
};
use weir_sim_core::{
    Engine, EngineId, Fabric, FabricBuilder, LinkSpec, Outcome, Routes, RunOptions, Service, ServiceId, Simulation,
    Task, TaskGraph, TaskGraphBuilder, TaskId, Work,
};

/// A cpu and gpus on one switch, links of 11.6 GB/s (assumed).
struct Desk {
    fabric: Fabric,
    nodes: Vec<NodeId>,
    routes: Routes,
    graph: TaskGraphBuilder,
}

impl Desk {
    fn new(gpus: usize) -> Self {
        let mut b = FabricBuilder::new();
        let link = LinkSpec { up: 11.6e9, down: 11.6e9, latency: SimDuration(500_000), kind: LinkKind::PCIE };
        let root = b.root(NodeKind::Switch).expect("a root");
        let mut nodes = vec![b.child(root, NodeKind::Cpu, link).expect("a cpu")];
        nodes.extend((0..gpus).map(|_| b.child(root, NodeKind::Gpu, link).expect("a gpu")));
        Self { fabric: b.build(), nodes, routes: Routes::new(), graph: TaskGraphBuilder::new() }
    }

    fn class(&mut self, from: usize, to: usize) -> ClassId {
        let route = self.routes.between(&self.fabric, self.nodes[from], self.nodes[to]).expect("connected");
        self.graph.classes().intern(route, f64::INFINITY, 1.0, 0)
    }

    fn engine(&mut self, name: &str) -> EngineId {
        self.graph.own_engine(Engine { scope: EngineScope::Operation, name: Arc::from(name), slots: 1 })
    }

    fn service(&mut self, class: u32, lead: u64, gap: u64) -> ServiceId {
        let (lead, gap) = (SimDuration(lead), SimDuration(gap));
        self.graph.service(Service { queue: Queue::Issued, class, lead, gap })
    }

    fn task(&mut self, engine: EngineId, service: ServiceId, work: Work, waits: &[TaskId]) -> TaskId {
        let task = self.graph.task(Task { start: SimTime::ZERO, engine, service, work });
        waits.iter().for_each(|&earlier| self.graph.wait(task, earlier));
        task
    }

    fn release(&mut self) -> TaskId {
        self.task(EngineId::NONE, ServiceId::PLAIN, Work::Nothing { counted: false }, &[])
    }

    fn issue(&mut self, release: TaskId, engine: EngineId, service: ServiceId, work: Work, wait: TaskId) -> TaskId {
        let task = self.task(engine, service, work, &[wait]);
        self.graph.issue(task, release);
        task
    }

    fn built(self) -> Built {
        Built { fabric: self.fabric, routes: self.routes, tasks: self.graph.build().expect("no cycle") }
    }
}

struct Built {
    fabric: Fabric,
    routes: Routes,
    tasks: TaskGraph,
}

impl Built {
    fn run(&self) -> Outcome {
        let mut arbiter = MaxMin::create(&self.fabric.view(), "{}").expect("no parameters");
        let simulation = Simulation { fabric: &self.fabric, routes: &self.routes, tasks: &self.tasks };
        simulation.run(&mut arbiter, MaxMin::FLAGS, RunOptions::default()).expect("it ends")
    }
}

/// Transfers of the workload, one after another on the `send` engines of eight gpus.
fn plain(count: usize) -> Built {
    let mut d = Desk::new(8);
    for i in 0..count {
        let from = 1 + i % 8;
        let engine = d.graph.engine(d.nodes[from], "send", 1).expect("one number of slots");
        let class = d.class(from, 0);
        d.task(engine, ServiceId::PLAIN, Work::Carries { bytes: 1000 + i as u64 % 7, class }, &[]);
    }
    d.built()
}

/// A put of packets, `overlap: [[read], [network], [write]]`: each stage an engine, each packet from one to the next.
fn put(packets: usize) -> Built {
    let mut d = Desk::new(1);
    let release = d.release();
    let stages = [("read", 1_170), ("network", 530), ("write", 1_200)].map(|(name, span)| (d.engine(name), span));
    let service = d.service(0, 0, 0);
    for _ in 0..packets {
        let mut before = release;
        for (engine, span) in stages {
            before = d.issue(release, engine, service, Work::Lasts(SimDuration(span * 1_000_000)), before);
        }
    }
    d.built()
}

/// Streams on eight gpus that copy over the fabric, issued breadth-first: all copies in, all kernels, all copies out.
fn offload(streams: usize) -> Built {
    let mut d = Desk::new(8);
    let release = d.release();
    // Latency and gap of each direction: the size of those of a PCIe 3.0 card (assumed).
    let (copy_in, kernel, copy_out) =
        (d.service(0, 9_420_000, 2_503_000), d.service(0, 0, 0), d.service(1, 9_023_000, 2_674_000));
    for gpu in 1..=8 {
        let (copy, compute) = (d.engine("copy"), d.engine("compute"));
        let [class_in, class_out] = [d.class(0, gpu), d.class(gpu, 0)];
        let carries = |class| Work::Carries { bytes: 65_536, class };
        let copies: Vec<TaskId> =
            (0..streams).map(|_| d.issue(release, copy, copy_in, carries(class_in), release)).collect();
        let span = Work::Lasts(SimDuration(10_000_000));
        let kernels: Vec<TaskId> =
            copies.into_iter().map(|copied| d.issue(release, compute, kernel, span, copied)).collect();
        for done in kernels {
            d.issue(release, copy, copy_out, carries(class_out), done);
        }
    }
    d.built()
}

fn engines(c: &mut Criterion) {
    let mut group = c.benchmark_group("engines");
    group.sample_size(10);
    let mut bench = |name: &str, size: usize, built: &Built| {
        group.throughput(Throughput::Elements(built.tasks.tasks().len() as u64));
        group.bench_function(BenchmarkId::new(name, size), |b| b.iter(|| built.run()));
    };
    bench("plain", 10_000, &plain(10_000));
    for packets in [10_000, 20_000, 40_000, 100_000] {
        bench("put", packets, &put(packets));
    }
    bench("offload", 256, &offload(256));
    group.finish();
}

criterion_group!(benches, engines);
criterion_main!(benches);
