//! The search over send orders: all orders, proven best ones, the gap after a number of evaluations.
//!
//! Targets, from measurements of a prototype (x86-64, 2 GHz): all 1,679,616 orders of the 3-D halo on T2 in 0.4 s on one
//! core with symmetries, 1 µs per order without; its best order proven in 50 ms.

use std::sync::atomic::AtomicBool;

use criterion::{Criterion, criterion_group, criterion_main};
use weir_optimize::order::{AnnealOptions, BranchOptions, Enumeration, anneal, branch_and_bound};

#[path = "../tests/common/mod.rs"]
mod common;

static GO: AtomicBool = AtomicBool::new(false);

fn all_orders(c: &mut Criterion) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let world = common::halo_on_t2(&[2, 2, 2], "pcie-congestion");
    let problem = world.problem();
    let mut group = c.benchmark_group("halo-3d, all orders, one core");
    group.sample_size(10);
    for symmetries in [true, false] {
        let name = if symmetries { "with symmetries and table" } else { "plain, with table" };
        group.bench_function(name, |b| {
            b.iter(|| {
                pool.install(|| {
                    let all = Enumeration::new(&problem, symmetries).expect("covered");
                    let mut part = all.part(1, 1).expect("a shard");
                    all.go_on(&mut part, &GO, &mut ()).expect("it ends")
                })
            });
        });
    }
    group.bench_function("table and symmetries alone", |b| {
        b.iter(|| pool.install(|| Enumeration::new(&problem, true).expect("covered").first_choices()));
    });
    group.finish();
}

fn proven(c: &mut Criterion) {
    let mut group = c.benchmark_group("proven best");
    group.sample_size(10);
    for (name, grid) in [("halo-3d", &[2, 2, 2][..]), ("halo-2d", &[4, 2])] {
        let world = common::halo_on_t2(grid, "pcie-congestion");
        let problem = world.problem();
        group.bench_function(name, |b| {
            b.iter(|| branch_and_bound(&problem, BranchOptions::default(), &GO).expect("covered"));
        });
    }
    for seed in 1..=3 {
        let world = common::random_on_t2(3, seed, "pcie-congestion");
        let problem = world.problem();
        group.bench_function(format!("3 random messages each, seed {seed}"), |b| {
            b.iter(|| branch_and_bound(&problem, BranchOptions::default(), &GO).expect("covered"));
        });
    }
    group.finish();
}

fn evaluations(c: &mut Criterion) {
    let mut group = c.benchmark_group("10,000 evaluations of annealing");
    group.sample_size(10);
    let world = common::two_t2(false, "pcie-congestion");
    let problem = world.problem();
    let options = AnnealOptions { evaluations: 10_000, chains: 1, seed: 1, ..AnnealOptions::default() };
    group.bench_function("16 GPUs", |b| b.iter(|| anneal(&problem, &options, &GO).expect("it runs")));
    group.finish();
}

criterion_group!(benches, all_orders, proven, evaluations);
criterion_main!(benches);
