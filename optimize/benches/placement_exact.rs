//! Time of exact and bisected placement; run with `cargo bench -p weir-optimize --bench placement_exact`.
//!
//! Exact search is measured on 16 devices with random weights, as many ranks as devices and one or four fewer, on trees from
//! regular to lopsided; a chain, each of whose nodes has one device and the rest, is the worst.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weir_optimize::placement::{Machine, Measured, Options, Pattern, search};
use weir_optimize::search::Method;

/// Random messages, about six to each rank, seeded.
fn pattern(ranks: usize) -> Pattern {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let message = |_| (rng.random_range(0..ranks), rng.random_range(0..ranks), rng.random_range(1..1000));
    let messages: Vec<_> = (0..3 * ranks).map(message).collect();
    Pattern::new(ranks, messages, 1).expect("a pattern")
}

/// Costs of a tree: the number of levels up to the node where two devices part.
fn machine(devices: usize, parting: impl Fn(usize, usize) -> usize) -> Machine {
    let cost = |a, b| if a == b { 0.0 } else { parting(a, b) as f64 };
    let rows: Vec<Vec<f64>> = (0..devices).map(|a| (0..devices).map(|b| cost(a, b)).collect()).collect();
    Machine::measured(&rows, Measured::Cost).expect("a machine")
}

/// Levels of a regular tree with so many children per node.
fn regular(devices: usize, children: usize) -> Machine {
    machine(devices, |a, b| (1..).find(|&l| a / children.pow(l) == b / children.pow(l)).unwrap_or(0) as usize)
}

fn exact(c: &mut Criterion) {
    let trees = [
        ("binary", regular(16, 2)),
        ("four boards", regular(16, 4)),
        ("five, five, six", machine(16, |a, b| if (a / 5).min(2) == (b / 5).min(2) { 1 } else { 2 })),
        ("chain", machine(16, |a, b| a.max(b))),
        ("chain of pairs", machine(16, |a, b| 1 + (a / 2).max(b / 2))),
    ];
    let mut group = c.benchmark_group("exact");
    group.sample_size(10);
    for (name, machine) in &trees {
        for ranks in [16, 15, 12] {
            let pattern = pattern(ranks);
            let options = Options { method: Method::Exhaustive, ..Options::default() };
            group.bench_function(format!("{name}, {ranks} ranks"), |b| {
                b.iter(|| search(black_box(&pattern), machine, options));
            });
        }
    }
    group.finish();
}

fn bisection(c: &mut Criterion) {
    let mut group = c.benchmark_group("bisection");
    group.sample_size(10);
    for ranks in [16, 64, 256, 1024] {
        let (pattern, machine) = (pattern(ranks), regular(ranks, 4));
        let options = Options { method: Method::Bisection, ..Options::default() };
        group.bench_function(format!("{ranks} ranks"), |b| b.iter(|| search(black_box(&pattern), &machine, options)));
    }
    group.finish();
}

criterion_group!(benches, exact, bisection);
criterion_main!(benches);
