//! Time of one arbitration. `pcie-congestion` on T2 with 8 active transfers: at most 2 µs; `max-min`: about 10 ns per
//! transfer and hop.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Phase, Transfer, board_tree, make, t2};
use criterion::{Criterion, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::hint::black_box;
use weir_plugin_api::{Binding, Grant, NodeId, NodeKind, SimTime};
use weir_sim_core::Fabric;

fn random(ends: &[NodeId], n: usize) -> Vec<Transfer> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut transfers = Vec::new();
    while transfers.len() < n {
        let (a, b) = (rng.random_range(0..ends.len()), rng.random_range(0..ends.len()));
        if a != b {
            transfers.push(Transfer { arrival: transfers.len() as u64, ..Transfer::new(ends[a], ends[b]) });
        }
    }
    transfers
}

fn measure(c: &mut Criterion, name: &str, what: &str, fabric: &Fabric, transfers: &[Transfer]) {
    let phase = Phase::new(fabric, transfers);
    let mut arbiter = make(name, fabric, "{}");
    let mut rates = vec![0.0; phase.len()];
    let mut bindings = vec![Binding::NONE; phase.len()];
    c.bench_function(&format!("{name}/{what}"), |b| {
        b.iter(|| {
            let grant = &mut Grant { rates: &mut rates, bindings: &mut bindings, recheck: SimTime::NEVER };
            arbiter.allocate(black_box(&phase.view()), grant).expect("rates");
        });
    });
}

/// Step 2 of the 3-D halo order on the slides: conflicts at every port.
const HALO: [(usize, usize); 8] = [(0, 2), (1, 0), (2, 3), (3, 7), (4, 5), (5, 1), (6, 4), (7, 6)];

fn small(c: &mut Criterion) {
    let (fabric, gpus) = t2(11.6e9);
    for name in common::names() {
        measure(c, name, "T2, 1 transfer", &fabric, &common::between(&gpus, &[(4, 1)]));
        measure(c, name, "T2, 8 transfers, halo", &fabric, &common::between(&gpus, &HALO));
        let mut shifted: Vec<(usize, usize)> = (0..8).map(|a| (a, (a * 3 + 4) % 8)).collect();
        shifted.retain(|(a, b)| a != b);
        measure(c, name, "T2, 8 transfers, crossing", &fabric, &common::between(&gpus, &shifted));
    }
}

fn large(c: &mut Criterion) {
    let (hosts_64, ends_64) = board_tree(NodeKind::Switch, &[8, 8], 11.6e9);
    let (hosts_4096, ends_4096) = board_tree(NodeKind::Switch, &[64, 64], 11.6e9);
    let (hosts_8, ends_8) = board_tree(NodeKind::Switch, &[8], 11.6e9);
    for name in common::names() {
        measure(c, name, "64 hosts, 256 transfers", &hosts_64, &random(&ends_64, 256));
        measure(c, name, "4096 hosts, 440 transfers", &hosts_4096, &random(&ends_4096, 440));
        measure(c, name, "8 hosts, 3000 transfers", &hosts_8, &random(&ends_8, 3000));
    }
}

/// All to all among the devices of two or four switches: at most 100 µs for 8 devices and 1 ms for 16 under `input-fifo`.
fn all_to_all(c: &mut Criterion) {
    for switches in [2, 4] {
        let (fabric, ends) = board_tree(NodeKind::RootComplex, &[switches, 4], 56.3e9);
        let n = ends.len();
        let pairs: Vec<(usize, usize)> = (0..n * n).map(|at| (at / n, at % n)).filter(|(a, b)| a != b).collect();
        let transfers = common::between(&ends, &pairs);
        for name in ["max-min", "pcie-congestion", "input-fifo"] {
            measure(c, name, &format!("all to all, {n} devices"), &fabric, &transfers);
        }
        measure(c, "input-fifo", &format!("random, {n} devices"), &fabric, &random(&ends, pairs.len()));
    }
}

criterion_group!(benches, small, large, all_to_all);
criterion_main!(benches);
