//! Time to plan large operations, and to simulate those plans: a put of 10^5 packets (3·10^5 tasks), an offload in
//! 256 streams, a gather of 1000 nodes with 16 devices each; and the closed forms of one offload with all its
//! details.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{GPU_A, GPU_B, World, estimates, plan, simulated};
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use std::hint::black_box;

fn put() -> Value {
    let level = |latency: u64, per_byte: f64| json!({ "affine": { "latency": latency, "per_byte": per_byte } });
    json!({ "from": GPU_A, "to": GPU_B, "size": 100_000 * 4096_u64, "packet": 4096,
            "read": level(900_000, 850.0), "network": level(5_000, 690.0), "write": level(1_200_000, 2300.0) })
}

fn offload() -> Value {
    json!({ "device": GPU_A, "in": 16_000_000, "out": 16_000_000, "kernel": 2_500_000_000_u64, "streams": 256,
            "copy_engines": 1, "preset": "pcie3-gtx-titan" })
}

fn gather() -> Value {
    let level = json!({ "affine": { "latency": 5_000, "per_byte": 690.0 } });
    json!({ "root": 100, "nodes": (100..1100).collect::<Vec<_>>(), "devices_per_node": 16,
        "size_per_device": 131_072, "approach": 2,
            "rounds": "free", "read": level, "network": level })
}

fn models(c: &mut Criterion) {
    let world = World::small(1e9, 0);
    for (key, params, what) in
        [("put", put(), "10^5 packets"), ("offload", offload(), "256 streams"), ("gather", gather(), "16 x 1000")]
    {
        c.bench_function(&format!("plan/{key}, {what}"), |b| b.iter(|| plan(&world, key, black_box(&params))));
        let plan = plan(&world, key, &params);
        c.bench_function(&format!("simulate/{key}, {what}"), |b| b.iter(|| simulated(&world, black_box(&plan))));
    }
    c.bench_function("estimate/offload, 256 streams", |b| {
        b.iter(|| estimates(&world, "offload", black_box(&offload())));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = models
}
criterion_main!(benches);
