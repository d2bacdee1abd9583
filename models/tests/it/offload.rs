//! `offload`: simulated time and closed form, the switches, the fabric.

use crate::common::offload::{Case, case, close};
use crate::common::{CPU_A, GPU_A, World, details, equal, estimates, holds, last, plan, refusal, simulated, time_of};
use proptest::prelude::*;
use serde_json::{Value, json};
use weir_plugin_api::{EngineScope, NodeId, PlannedWork, Queue, Relation};

fn world() -> World {
    World::small(1e10, 0)
}

fn titan(streams: u64) -> Value {
    json!({ "device": 3, "in": 16_000_000, "out": 16_000_000, "kernel": 2_500_000_000_u64, "streams": streams,
            "copy_engines": 1, "preset": "pcie3-gtx-titan" })
}

/// Table I, 16 MB each way, a kernel of 2.5 ms, 1 to 256 streams: the text's own category for the GTX Titan (Table
/// III).
#[test]
fn gtx_titan_in_1_to_256_streams() {
    let world = world();
    let mut times = Vec::new();
    for n in 1..=256 {
        equal(&world, "offload", &titan(n));
        let seconds = last(&world, "offload", &titan(n)).seconds;
        // Equations (3) and (4) with the numbers of Table I in ms.
        let (n, b) = (n as f64, 16e6);
        let (lhd, ldh, ghd, gdh) = (0.009420, 0.009023, 0.002503, 0.002674);
        let (thd, tdh) = (b * 8.318392e-8, b * 7.924734e-8);
        let kernel = lhd + thd / n + 2.5 + ldh + tdh / n;
        let first = lhd + thd + ghd * (n - 1.0) + ldh + tdh + gdh * (n - 1.0);
        let second = lhd + thd + ghd * (n - 1.0) + 2.5 / n + ldh + tdh / n;
        let third = lhd + thd / n + 2.5 / n + ldh + tdh + gdh * (n - 1.0);
        let ms = kernel.max(first).max(second).max(third);
        assert!((seconds * 1e3 - ms).abs() < 1e-9, "{n} streams: {seconds} s, {ms} ms");
        times.push(seconds);
    }
    let best = times.iter().position(|t| times.iter().all(|other| t <= other)).unwrap() + 1;
    assert_eq!(details(&world, "offload", &titan(7))["stream_optimum"], best);
}

/// The order of the tasks, their queues and engines, as the pseudo-code has them.
#[test]
fn tasks_of_one_copy_engine_with_implicit_synchronisation() {
    let params = json!({ "device": 3, "in": 10, "out": 6, "kernel": 12, "streams": 2, "copy_engines": 1,
        "implicit_sync": true,
        "parameters": { "latency_in": 1, "per_byte_in": 2.0, "gap_in": 3, "latency_out": 4, "per_byte_out": 5.0,
        "gap_out": 6 } });
    let plan = plan(&world(), "offload", &params);
    let engines: Vec<_> = plan.engines().iter().map(|e| (e.name.as_str(), e.slots, e.scope)).collect();
    let device = EngineScope::Device(NodeId(3));
    assert_eq!(engines, [("copy", 1, device), ("compute", 1, device)]);
    let rows: Vec<_> = plan
        .iter()
        .map(|t| {
            assert_eq!(t.queue, Queue::Issued);
            let PlannedWork::Lasts(ps) = t.work else { panic!("{} carries", t.name) };
            let waits: Vec<u32> = t.waits.iter().map(|w| w.task).collect();
            (t.name, t.engine.unwrap(), t.class, t.lead_ps, t.gap_ps, ps, waits)
        })
        .collect();
    let expected = [
        ("h0", 0, 0, 1.0, 3.0, 10.0, vec![]),
        ("h1", 0, 0, 1.0, 3.0, 10.0, vec![]),
        ("k0", 1, 0, 0.0, 0.0, 6.0, vec![0]),
        ("k1", 1, 0, 0.0, 0.0, 6.0, vec![1]),
        ("d0", 0, 1, 4.0, 6.0, 15.0, vec![3]),
        ("d1", 0, 1, 4.0, 6.0, 15.0, vec![3]),
    ];
    assert_eq!(rows, expected);
    // h0 1-11, h1 14-24, k1 24-30, d0 34-49, d1 55-70.
    assert_eq!(time_of(&world(), "offload", &params), 70);
}

#[test]
fn engines_by_number_and_method() {
    let names = |method: &str, engines: u8| {
        let case = json!({ "device": 3, "kernel": 5, "method": method, "streams": 2, "copy_engines": engines });
        plan(&world(), "offload", &case).engines().iter().map(|e| e.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names("streams", 1), ["copy", "compute"]);
    // `copy` with two slots serves nobody: it keeps another operation from giving the device one copy engine.
    assert_eq!(names("streams", 2), ["copy", "copy-in", "compute", "send"]);
    assert_eq!(names("hybrid", 1), ["copy", "compute", "mapped-out"]);
    assert_eq!(names("hybrid", 2), ["copy", "copy-in", "compute", "mapped-out"]);
    assert_eq!(names("mapped", 1), ["compute"]);
}

#[test]
fn two_engines_with_implicit_synchronisation_are_planned_without_estimate() {
    let params = json!({ "device": 3, "in": 1000, "out": 1000, "kernel": 4000, "streams": 4, "copy_engines": 2,
        "implicit_sync": true, "parameters": { "per_byte_in": 1.0, "per_byte_out": 1.0 } });
    assert_eq!(estimates(&world(), "offload", &params).list, []);
    // k ends at 250 + 4000; then 1000 bytes out at 1 ps each.
    assert_eq!(time_of(&world(), "offload", &params), 5250);
}

/// Nobody issues a copy of nothing: a direction without bytes costs nothing, unless the formula is asked for as it is printed.
#[test]
fn directions_without_bytes_cost_nothing() {
    let mut params = json!({ "device": 3, "in": 1000, "streams": 4, "copy_engines": 1, "kernel": 0,
        "parameters": { "per_byte_in": 1.0, "latency_in": 7, "latency_out": 9, "gap_out": 11 } });
    equal(&world(), "offload", &params);
    assert_eq!(time_of(&world(), "offload", &params), 7 + 1000);
    params["empty_copies"] = json!(true);
    equal(&world(), "offload", &params);
    // 7 + 1000, turn round 9, three gaps of 11.
    assert_eq!(time_of(&world(), "offload", &params), 7 + 1000 + 9 + 33);
}

/// Each switch with its effect, from numbers small enough to follow: L 10 and 20 ps, g 1 and 2 ps, 1 ps per byte.
#[test]
fn switches_and_their_effects() {
    let base = |extra: &[(&str, Value)]| {
        let mut params = json!({ "device": 3, "in": 90, "out": 60, "kernel": 30, "streams": 3, "copy_engines": 1,
            "parameters": { "latency_in": 10, "gap_in": 1, "per_byte_in": 1.0, "latency_out": 20, "gap_out": 2,
            "per_byte_out": 1.0 } });
        for (key, value) in extra {
            params[*key] = value.clone();
        }
        params
    };
    let check = |extra: &[(&str, Value)], expected: u64, relation: Relation| {
        let params = base(extra);
        let (simulated, _, said) = holds(&world(), "offload", &params);
        assert_eq!((simulated, said), (expected, relation), "{params}");
    };
    let on = Value::Bool(true);
    // In: 10 + 90 + 2 · 1 = 102; out: 20 + 60 + 2 · 2 = 84.
    check(&[], 186, Relation::Equal);
    // Chunks are whole anyway.
    check(&[("whole_bytes", on.clone())], 186, Relation::Equal);
    // Every stream by itself: 3 · (10 + 30 + 10 + 20 + 20).
    check(&[("depth_first", on.clone())], 270, Relation::AtLeast);
    // In: 3 · (10 + 30) = 120; out: 3 · (20 + 20) = 120.
    check(&[("full_latency", on.clone())], 240, Relation::AtLeast);
    // 14 bytes in three chunks 5, 5, 4; in: 10 + 14 + 2; d0 after that.
    check(&[("whole_bytes", on.clone()), ("in", json!(14))], 10 + 14 + 2 + 84, Relation::Unstated);
    let sync = ("implicit_sync", on.clone());
    // The last kernel ends at 102 + 10.
    check(std::slice::from_ref(&sync), 196, Relation::Equal);
    // It starts at 102, its own copy out is the last: d0 122-142, d1 144-164, d2 166-186.
    check(&[sync.clone(), ("sync_released_at_start", on.clone())], 186, Relation::AtMost);
    // With one stream the copy still waits for its own kernel.
    check(&[sync.clone(), ("sync_released_at_start", on.clone()), ("streams", json!(1))], 210, Relation::Equal);
    // No effect without what they concern.
    check(&[("sync_released_at_start", on.clone())], 186, Relation::Equal);
    check(&[("depth_first", on.clone()), ("streams", json!(1))], 210, Relation::Equal);
    // Depth first, no later kernel is issued before a copy out.
    check(&[sync, ("depth_first", on)], 270, Relation::AtLeast);
}

/// L in the place of g moves nothing where both are equal: of both directions, and of one.
#[test]
fn a_latency_equal_to_the_gap_moves_nothing() {
    let said = |switch: &str, gap_in: u64| {
        let mut params = json!({ "device": 3, "in": 90, "out": 60, "kernel": 30, "streams": 3, "copy_engines": 1,
            "parameters": { "latency_in": 10, "gap_in": gap_in, "per_byte_in": 1.0, "latency_out": 20, "gap_out": 20,
            "per_byte_out": 1.0 } });
        params[switch] = json!(true);
        holds(&world(), "offload", &params).2
    };
    let full = [1, 10, 15].map(|gap_in| said("full_latency", gap_in));
    assert_eq!(full, [Relation::AtLeast, Relation::Equal, Relation::AtMost]);
    let depth = [1, 10, 15].map(|gap_in| said("depth_first", gap_in));
    assert_eq!(depth, [Relation::AtLeast, Relation::AtLeast, Relation::Unstated]);
}

#[test]
fn departures_are_named() {
    let mut params = titan(7);
    params["whole_bytes"] = json!(true);
    params["depth_first"] = json!(true);
    let because = last(&world(), "offload", &params).because;
    assert!(because.contains("whole_bytes: ") && because.contains("depth_first: "), "{because}");
}

/// Over the fabric: 10 GB/s is 100 ps per byte; two hops of 500 ps.
#[test]
fn over_the_fabric_alone_equals_the_formula_of_the_narrowest_link() {
    let world = World::small(1e10, 500);
    for (engines, sync, method) in
        [(1, false, "streams"), (1, true, "streams"), (2, false, "streams"), (1, true, "hybrid"), (1, false, "mapped")]
    {
        let params = json!({ "device": GPU_A, "host": CPU_A, "over": "fabric", "in": 64_000, "out": 32_000,
            "kernel": 3_000_000,
            "method": method, "streams": 16, "copy_engines": engines, "implicit_sync": sync,
            "parameters": { "latency_in": 9_420, "gap_in": 2_503, "latency_out": 9_023, "gap_out": 2_674 } });
        let (simulated, formula, relation) = holds(&world, "offload", &params);
        assert_eq!(relation, Relation::AtLeast);
        assert!((simulated as f64 - formula).abs() <= 100.0, "{simulated} {formula} {params}");
        let estimate = last(&world, "offload", &params);
        assert!(estimate.because.starts_with("+over: fabric"), "{}", estimate.because);
    }
}

#[test]
fn fabric_chunks_are_whole_and_zero_bytes_need_no_route() {
    let params = json!({ "device": GPU_A, "host": CPU_A, "over": "fabric", "in": 5, "kernel": 1, "streams": 3 });
    let plan = plan(&world(), "offload", &params);
    let bytes: Vec<u64> = plan
        .iter()
        .filter_map(|t| match t.work {
            PlannedWork::Carries { bytes, from, to, .. } => {
                assert_eq!((from, to), (NodeId(CPU_A), NodeId(GPU_A)));
                Some(bytes)
            }
            _ => None,
        })
        .collect();
    assert_eq!(bytes, [2, 2, 1]);
    assert_eq!(last(&world(), "offload", &params).relation, Relation::Unstated);
    let few = json!({ "device": GPU_A, "host": CPU_A, "over": "fabric", "in": 1, "kernel": 3, "streams": 3 });
    // One byte takes 100 ps, the other two chunks nothing; then three kernels of 1 ps.
    assert_eq!(simulated(&world(), &crate::common::plan(&world(), "offload", &few)), 103);
}

#[test]
fn refusals_name_the_key_and_the_remedy() {
    let world = world();
    let says = |extra: Value, begins: &str, remedy: &str| {
        let mut params = json!({ "device": 3, "in": 100 });
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let text = refusal(&world, "offload", &params);
        assert!(text.starts_with(begins) && text.contains(remedy), "{text}");
    };
    says(json!({}), "parameters: ", "preset");
    says(json!({ "preset": "pcie3-gtx-titan", "streams": 0 }), "streams: ", "1 or more");
    says(json!({ "preset": "pcie3-gtx-titan", "streams": "auto" }), "streams: ", "give a number");
    says(json!({ "preset": "pcie3-gtx-titan", "streams": 10_000_000_000_u64 }), "streams: ", "fewer");
    says(json!({ "preset": "pcie3-gtx-titan", "copy_engines": 3 }), "copy_engines: ", "1 or 2");
    says(json!({ "over": "fabric" }), "host: ", "name a cpu");
    says(json!({ "over": "fabric", "host": 3 }), "host: ", "name a cpu");
    says(json!({ "over": "fabric", "host": 99 }), "over: ", "add links");
    says(
        json!({ "over": "fabric", "host": 2, "parameters": { "per_byte_in": 1.0 } }),
        "parameters.per_byte_in: ",
        "remove",
    );
    says(json!({ "over": "fabric", "host": 2, "duplex": "pcie2-explicit-mapped" }), "duplex: ", "remove");
    says(json!({ "latency": 1 }), "the operation does not fit", "latency");
    says(json!({ "parameters": { "per_byte_in": -1.0 } }), "the operation does not fit", "at least 0");
    let long = json!({ "device": 3, "in": 9_007_199_254_740_992_u64, "parameters": { "per_byte_in": 1e300 } });
    assert!(crate::common::try_estimates(&world, "offload", &long).unwrap_err().to_string().contains("too long"));
}

const CATEGORIES: [(u8, bool, &[u32]); 3] = [(1, true, &[1, 2]), (1, false, &[3, 4]), (2, false, &[5])];

fn category(case: &Case, numbers: &[u32], n: f64) -> f64 {
    numbers.iter().map(|&number| case.equation(number, n)).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn simulation_equals_the_formula_of_the_category(case in case()) {
        let (world, n) = (world(), case.streams as f64);
        for (engines, sync, numbers) in CATEGORIES {
            let params = case.params("streams", engines, sync);
            equal(&world, "offload", &params);
            let list = estimates(&world, "offload", &params).list;
            let names: Vec<_> = list.iter().map(|e| e.formula.as_str()).collect();
            let expected: Vec<_> = numbers.iter().map(|n| format!("eq{n}")).chain(["category".to_owned()]).collect();
            prop_assert_eq!(names, expected);
            for (estimate, &number) in list.iter().zip(numbers) {
                prop_assert!(close(estimate.seconds, case.equation(number, n)));
                prop_assert_eq!(estimate.relation, Relation::Unstated);
            }
            prop_assert!(close(list.last().unwrap().seconds, category(&case, numbers, n)));
        }
    }

    #[test]
    fn hybrid_equals_equation_5_and_mapped_equation_6(case in case(), engines in 1..=2_u8, sync: bool) {
        let world = world();
        let (hybrid, mapped) = (case.params("hybrid", engines, sync), case.params("mapped", engines, sync));
        equal(&world, "offload", &hybrid);
        equal(&world, "offload", &mapped);
        prop_assert!(close(last(&world, "offload", &hybrid).seconds, case.equation(5, case.streams as f64)));
        let list = estimates(&world, "offload", &mapped).list;
        prop_assert_eq!(list.len(), 1);
        prop_assert_eq!(&list[0].formula, "eq6");
        prop_assert!(close(list[0].seconds, case.equation(6, 1.0)));
    }

    #[test]
    fn one_stream_is_explicit(mut case in case()) {
        case.streams = 1;
        let world = world();
        for (engines, sync, _) in CATEGORIES {
            let (streams, explicit) = (case.params("streams", engines, sync), case.params("explicit", engines, sync));
            prop_assert_eq!(plan(&world, "offload", &streams), plan(&world, "offload", &explicit));
            equal(&world, "offload", &explicit);
        }
    }

    #[test]
    fn switches_keep_what_they_claim(
        case in case(), engines in 1..=2_u8, sync: bool, hybrid: bool,
        whole: bool, depth: bool, full: bool, released: bool,
    ) {
        prop_assume!(engines == 1 || !sync || hybrid);
        let mut params = case.params(if hybrid { "hybrid" } else { "streams" }, engines, sync);
        let switches = [("whole_bytes", whole), ("depth_first", depth), ("full_latency", full),
            ("sync_released_at_start", released)];
        for (key, value) in switches {
            params[key] = value.into();
        }
        holds(&world(), "offload", &params);
    }

    #[test]
    fn over_the_fabric_nothing_is_faster_than_claimed(
        case in case(), engines in 1..=2_u8, sync: bool, latency in 0..10_000_u64, depth: bool, full: bool,
    ) {
        prop_assume!(engines == 1 || !sync);
        let world = World::small(3.7e9, latency);
        let mut params = case.params("streams", engines, sync);
        let parameters = params["parameters"].as_object_mut().unwrap();
        parameters.remove("per_byte_in");
        parameters.remove("per_byte_out");
        for (key, value) in [("over", json!("fabric")), ("host", json!(CPU_A)), ("device", json!(GPU_A)),
            ("depth_first", depth.into()), ("full_latency", full.into())] {
            params[key] = value;
        }
        for key in ["in", "out"] {
            params[key] = (params[key].as_u64().unwrap() / case.streams * case.streams).into();
        }
        let (_, _, relation) = holds(&world, "offload", &params);
        prop_assert!(depth || full || relation == Relation::AtLeast);
    }
}
