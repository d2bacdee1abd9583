//! `gather`: Tables 1, 2a and 2b of the text, every approach against its formula, rounds, the fabric.

use crate::common::{
    CPU_A, CPU_B, FPGA_A, GPU_A, GPU_B, World, details, equal, estimates, holds, last, plan, refusal, time_of,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use weir_plugin_api::{EngineScope, NodeId, PlannedWork, Relation};

fn world() -> World {
    World::small(1e9, 0)
}

/// n nodes from 100 on, the root first; times in ms.
fn gather(n: u64, f: u64, approach: u8, read: f64, network: f64) -> Value {
    let (size, nodes) = (8_388_608 / n / f, (100..100 + n).collect::<Vec<_>>());
    let message = if approach == 3 { size * f } else { size };
    let table = |bytes: u64, ms: f64| json!({ "table": [[bytes, ms * 1e9]] });
    json!({ "root": 100, "nodes": nodes, "devices_per_node": f, "size_per_device": size, "approach": approach,
            "read": table(size, read), "network": table(message, network) })
}

/// Holds a cell against its estimate to the printed digits; returns |estimate − observed| / estimate.
fn cell(params: &Value, formula: &str, printed: f64, observed: f64) -> f64 {
    equal(&world(), "gather", params);
    let estimate = last(&world(), "gather", params);
    assert_eq!(estimate.formula, formula, "{params}");
    assert_eq!(format!("{:.2}", estimate.seconds * 1e3), format!("{printed:.2}"), "{params}");
    assert_eq!(time_of(&world(), "gather", params), (printed * 1e9).round() as u64, "{params}");
    (estimate.seconds * 1e3 - observed).abs() / (estimate.seconds * 1e3)
}

/// n, T_cpu<-fpga, T_cpu<->cpu, then per approach estimate and observation, ms.
type Sample<const APPROACHES: usize> = (u64, f64, f64, [(f64, f64); APPROACHES]);

/// Table 1: one device per node, approaches 1 to 3.
const TABLE_1: [Sample<3>; 5] = [
    (1, 8.14, 5.72, [(8.14, 8.33), (8.14, 8.27), (8.14, 8.22)]),
    (2, 4.93, 2.88, [(12.74, 12.41), (7.81, 7.98), (7.81, 7.98)]),
    (4, 2.93, 1.45, [(16.07, 16.79), (7.28, 6.90), (7.28, 6.84)]),
    (8, 1.91, 0.73, [(20.39, 22.28), (7.02, 6.45), (7.02, 6.39)]),
    (16, 1.51, 0.37, [(29.71, 35.12), (7.06, 6.17), (7.06, 6.16)]),
];

/// Table 2a: four devices per node, approaches 1 and 2.
const TABLE_2A: [Sample<2>; 5] = [
    (1, 2.93, 1.45, [(11.72, 12.00), (11.72, 12.00)]),
    (2, 1.91, 0.73, [(18.20, 20.85), (10.56, 11.99)]),
    (4, 1.51, 0.37, [(28.60, 31.72), (10.48, 8.54)]),
    (8, 1.24, 0.20, [(45.28, 52.50), (10.56, 8.29)]),
    (16, 1.24, 0.10, [(85.36, 81.37), (10.96, 8.21)]),
];

/// Table 2b: the same, approach 3.
const TABLE_2B: [Sample<1>; 5] = [
    (1, 2.93, 5.72, [(11.72, 13.93)]),
    (2, 1.91, 2.88, [(10.52, 10.99)]),
    (4, 1.51, 1.45, [(10.39, 10.64)]),
    (8, 1.24, 0.73, [(10.07, 8.57)]),
    (16, 1.24, 0.37, [(10.51, 8.95)]),
];

/// Every cell of Tables 1, 2a and 2b, and the mean error of section 4.2: 9.4 %, relative to the estimate.
#[test]
fn tables_1_and_2() {
    let mut errors = Vec::new();
    for (n, read, network, cells) in TABLE_1 {
        for (approach, (formula, (printed, observed))) in (1..).zip(["eq5", "eq9", "eq7"].into_iter().zip(cells)) {
            errors.push(cell(&gather(n, 1, approach, read, network), formula, printed, observed));
        }
    }
    for (n, read, network, cells) in TABLE_2A {
        for (approach, (formula, (printed, observed))) in (1..).zip(["eq6", "eq10"].into_iter().zip(cells)) {
            errors.push(cell(&gather(n, 4, approach, read, network), formula, printed, observed));
        }
    }
    for (n, read, network, [(printed, observed)]) in TABLE_2B {
        errors.push(cell(&gather(n, 4, 3, read, network), "eq8", printed, observed));
    }
    assert_eq!(errors.len(), 30);
    let mean = errors.iter().sum::<f64>() / 30.0;
    assert_eq!(format!("{:.1}", mean * 100.0), "9.4");
}

/// Running freely, approach 2 is nearer to the observed times of Table 2a from n = 4 on.
#[test]
fn free_rounds_are_nearer_to_the_observed_times() {
    for (n, read, network, cells) in TABLE_2A {
        let (printed, observed) = cells[1];
        let mut params = gather(n, 4, 2, read, network);
        params["rounds"] = json!("free");
        let (simulated, _, relation) = holds(&world(), "gather", &params);
        assert_eq!(relation, if n == 1 { Relation::Equal } else { Relation::AtMost });
        let ms = simulated as f64 / 1e9;
        assert!(n < 4 || (ms - observed).abs() < (printed - observed).abs(), "n = {n}: {ms} ms");
    }
}

/// Names, engines and waits of approach 2 as the pseudo-code has them; nodes 5 (root) and 6, two devices each.
#[test]
fn tasks_of_approach_2() {
    let mut params = json!({ "root": 5, "nodes": [6, 5], "devices_per_node": 2, "size_per_device": 10, "approach": 2,
        "read": { "affine": { "latency": 3, "per_byte": 1.0 } }, "network": { "affine": { "per_byte": 1.0 } } });
    let rows = |params: &Value| {
        let plan = plan(&world(), "gather", params);
        let engines: Vec<_> = plan.engines().iter().map(|e| (e.name.clone(), e.scope)).collect();
        let device = |node| EngineScope::Device(NodeId(node));
        assert_eq!(
            engines,
            [("io".to_owned(), device(6)), ("io".to_owned(), device(5)), ("nic".to_owned(), device(5))]
        );
        plan.iter()
            .map(|t| (t.name.to_owned(), t.engine, t.waits.iter().map(|w| w.task).collect::<Vec<_>>()))
            .collect::<Vec<_>>()
    };
    let row = |name: &str, engine: Option<u32>, waits: &[u32]| (name.to_owned(), engine, waits.to_vec());
    let barrier = [
        row("r0.0", Some(0), &[]),
        row("r1.0", Some(1), &[]),
        row("m0.0", Some(2), &[0]),
        row("bar0", None, &[2, 1]),
        row("r0.1", Some(0), &[3]),
        row("r1.1", Some(1), &[3]),
        row("m0.1", Some(2), &[4]),
        row("bar1", None, &[6, 5]),
    ];
    assert_eq!(rows(&params), barrier);
    params["rounds"] = json!("free");
    let free = [
        row("r0.0", Some(0), &[]),
        row("r1.0", Some(1), &[]),
        row("m0.0", Some(2), &[0]),
        row("r0.1", Some(0), &[2]),
        row("r1.1", Some(1), &[1]),
        row("m0.1", Some(2), &[3]),
    ];
    assert_eq!(rows(&params), free);
    let expected =
        json!({ "approach": 2, "nodes": 2, "devices_per_node": 2, "bytes": 40, "read": 13e-12, "message": 10e-12 });
    assert_eq!(details(&world(), "gather", &params), expected);
}

/// Reads and messages over the links: 1 GB/s, no latency.
#[test]
fn over_the_fabric() {
    let world = world();
    for approach in 1..=3 {
        let params = json!({ "root": CPU_A, "nodes": [CPU_A, CPU_B], "devices_per_node": 2, "size_per_device": 500,
            "approach": approach,
            "read": { "fabric": true }, "network": { "fabric": true }, "devices": [GPU_A, FPGA_A, GPU_B, 8] });
        let ends: Vec<_> = plan(&world, "gather", &params)
            .iter()
            .filter_map(|t| match t.work {
                PlannedWork::Carries { from, to, bytes, .. } => Some((t.name.to_owned(), from.0, to.0, bytes)),
                _ => None,
            })
            .collect();
        assert!(ends.contains(&("r1.1".to_owned(), 8, CPU_B, 500)), "{ends:?}");
        let bytes = if approach == 3 { 1000 } else { 500 };
        assert!(ends.contains(&("m1.0".to_owned(), CPU_B, CPU_A, bytes)), "{ends:?}");
        let (_, formula, _) = holds(&world, "gather", &params);
        // R = M = 500 ns: 2 (2 R + M); 2 (R + M); 2 R + 2 M.
        assert_eq!(formula.round() as u64, [3_000_000, 2_000_000, 2_000_000][approach - 1]);
    }
    let fixed_reads = json!({ "root": CPU_A, "nodes": [CPU_B, CPU_A], "size_per_device": 500, "approach": 1,
        "read": { "affine": { "per_byte": 1.0 } }, "network": { "fabric": true } });
    let (simulated, formula, relation) = holds(&world, "gather", &fixed_reads);
    assert_eq!((simulated, formula.round() as u64, relation), (501_000, 501_000, Relation::AtLeast));
}

/// With latencies on the links, messages of approach 3 overlap them, while the formula adds them up: nothing is
/// claimed.
#[test]
fn latencies_of_messages_overlap() {
    let world = World::small(1e9, 1_000_000);
    let mut params = json!({ "root": CPU_A, "nodes": [CPU_A, CPU_B, GPU_B], "size_per_device": 500, "approach": 3,
        "read": { "affine": { "per_byte": 0.0 } }, "network": { "fabric": true } });
    let (simulated, formula, relation) = holds(&world, "gather", &params);
    assert!(relation == Relation::Unstated && (simulated as f64) < formula);
    assert!(last(&world, "gather", &params).because.contains("latencies"));
    params["approach"] = json!(1);
    assert_eq!(holds(&world, "gather", &params).2, Relation::AtLeast);
}

#[test]
fn refusals_name_the_key_and_the_remedy() {
    let says = |extra: Value, begins: &str, remedy: &str| {
        let mut params = gather(2, 1, 2, 1.0, 1.0);
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let text = refusal(&world(), "gather", &params);
        assert!(text.starts_with(begins) && text.contains(remedy), "{text}");
    };
    says(json!({ "root": 7 }), "nodes: ", "add it");
    says(json!({ "nodes": [100, 101, 101] }), "nodes: ", "once");
    says(json!({ "approach": 4 }), "approach: ", "1, 2 or 3");
    says(json!({ "devices_per_node": 0 }), "devices_per_node: ", "1 or more");
    says(json!({ "devices_per_node": 9_000_000 }), "devices_per_node: ", "fewer");
    says(json!({ "read": { "fabric": true } }), "devices: ", "name them");
    says(json!({ "devices": [1] }), "devices: ", "name all");
    says(json!({ "read": { "fabric": true }, "devices": [1, 2] }), "read.fabric: ", "add links");
    says(json!({ "network": { "fabric": true } }), "network.fabric: ", "add links");
    says(json!({ "network": { "table": [[1, 1]] } }), "network.table: ", "add a row");
    let mut alone = gather(2, 1, 2, 1.0, 1.0);
    alone.as_object_mut().unwrap().remove("network");
    assert!(refusal(&world(), "gather", &alone).starts_with("network: "));
    // A root alone needs none, nor a time for its messages.
    let mut one = gather(1, 2, 2, 1.0, 1.0);
    one["network"] = json!({ "table": [[1, 1]] });
    equal(&world(), "gather", &one);
    one.as_object_mut().unwrap().remove("network");
    equal(&world(), "gather", &one);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_approach_equals_its_formula(
        n in 1..9_u64, f in 1..6_u64, root in 0..9_u64, size in 1..1_000_000_u64,
        read in (0..5_000_000_u64, 0.0..90.0_f64), network in (0..5_000_000_u64, 0.0..90.0_f64),
            gap in prop_oneof![Just(0), 0..90_000_000_u64],
    ) {
        let affine = |(latency, per_byte): (u64, f64)| json!({ "affine": { "latency": latency,
            "per_byte": per_byte } });
        let mut params = json!({ "root": 50 + root % n, "nodes": (50..50 + n).collect::<Vec<_>>(),
            "devices_per_node": f,
            "size_per_device": size, "read": affine(read), "network": affine(network) });
        for approach in 1..=3 {
            params["approach"] = json!(approach);
            equal(&world(), "gather", &params);
            prop_assert_eq!(estimates(&world(), "gather", &params).list.len(), 1);
        }
        // Free rounds are never slower than those with barriers.
        params["approach"] = json!(2);
        let barrier = time_of(&world(), "gather", &params);
        params["rounds"] = json!("free");
        let (free, _, relation) = holds(&world(), "gather", &params);
        prop_assert!(free <= barrier);
        prop_assert_eq!(relation, if f == 1 || n == 1 { Relation::Equal } else { Relation::AtMost });
        // Gaps between messages only lengthen.
        params.as_object_mut().unwrap().remove("rounds");
        params["network"] = json!({ "loggp": { "latency": network.0, "gap": gap, "per_byte": network.1 } });
        for approach in 1..=3 {
            params["approach"] = json!(approach);
            holds(&world(), "gather", &params);
        }
    }
}
