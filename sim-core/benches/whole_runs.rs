//! Whole runs under `max-min`, phase by phase, on the loads of the peer comparison: all at once (`t0`), arriving over time
//! across the tree (`po`) and within a leaf switch (`lo`).

#[path = "peers/load.rs"]
mod load;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use load::{LOADS, Size};
use weir_arbiters::MaxMin;
use weir_sim_core::api::ArbiterPlugin;
use weir_sim_core::{Outcome, RunOptions, Simulation};

/// Loads of a few seconds at most.
const CASES: [&str; 9] =
    ["po 8", "po 64", "po 1024", "po 4096", "lo 1024", "lo 4096", "t0 8 x 3k", "t0 1024 x 1k", "t0 4096 x 1k"];

fn run(size: &Size) -> Outcome {
    let mut arbiter = MaxMin::create(&size.fabric.view(), "{}").expect("no parameters");
    let simulation = Simulation { fabric: &size.fabric, routes: &size.routes, tasks: &size.tasks };
    simulation.run(&mut arbiter, MaxMin::FLAGS, RunOptions::default()).expect("it ends")
}

fn whole_runs(c: &mut Criterion) {
    let mut group = c.benchmark_group("whole-runs");
    group.sample_size(10);
    for name in CASES {
        let load = LOADS.iter().find(|load| load.name == name).expect("a load of the comparison");
        let size = load.build();
        group.throughput(criterion::Throughput::Elements(load.transfers as u64));
        group.bench_function(BenchmarkId::from_parameter(name.replace(' ', "-")), |b| b.iter(|| run(&size)));
    }
    group.finish();
}

criterion_group!(benches, whole_runs);
criterion_main!(benches);
