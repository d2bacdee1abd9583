//! `loggp`: one message, several of one source, the fabric, limits.

use crate::common::{CPU_A, GPU_A, World, holds, try_plan_text};
use proptest::prelude::*;
use serde_json::{Value, json};
use weir_models::Loggp;
use weir_plugin_api::{
    EngineScope, Estimate, Estimates, Model, NodeId, PS_PER_S, Plan, PlannedWork, Relation, Surroundings,
};

fn message(bytes: u64, params: Value) -> Value {
    json!({ "operation": "transfer", "id": "a", "params": params,
            "transfer": { "from": GPU_A, "to": CPU_A, "bytes": bytes, "limit": null, "slots": null } })
}

fn planned(world: &World, operation: &Value) -> Plan {
    try_plan_text(world, "transfer", &operation.to_string()).unwrap_or_else(|error| panic!("{error}"))
}

fn estimated(world: &World, operation: &Value) -> Result<Estimate, String> {
    let (view, mut out) = (world.fabric.view(), Estimates::default());
    let surroundings = Surroundings { fabric: &view, routes: world };
    Loggp::default().estimate(&operation.to_string(), &surroundings, &mut out).map_err(|e| e.to_string())?;
    Ok(out.list.pop().unwrap())
}

#[test]
fn a_message_is_sent_and_arrives() {
    let world = World::small(1e9, 0);
    let mut operation = message(101, json!({ "latency": 7, "overhead": 3, "gap": 50, "per_byte": 2.0 }));
    operation["transfer"]["slots"] = json!(4);
    let plan = planned(&world, &operation);
    let engine = &plan.engines()[0];
    assert_eq!((engine.name.as_str(), engine.slots, engine.scope), ("send", 4, EngineScope::Device(NodeId(GPU_A))));
    let send = plan.get(0);
    assert_eq!((send.lead_ps, send.gap_ps, send.work), (3.0, 50.0, PlannedWork::Lasts(200.0)));
    let arrival = plan.get(1);
    assert_eq!((arrival.engine, arrival.work), (None, PlannedWork::Lasts(10.0)));
    assert_eq!(crate::common::time(&world, &plan), 213);
    let estimate = estimated(&world, &operation).unwrap();
    assert_eq!((estimate.formula.as_str(), estimate.relation, estimate.seconds), ("loggp", Relation::Equal, 213e-12));
    operation["transfer"]["slots"] = json!(null);
    assert_eq!(planned(&world, &operation).engines()[0].slots, 1);
}

/// 1 GB/s, two hops of 40 ps: o + k · 1000 ps + 80 ps + L + o. No bytes cross no link: o + L + o.
#[test]
fn over_the_fabric() {
    let world = World::small(1e9, 40);
    let mut operation = message(100, json!({ "latency": 7, "overhead": 3, "over": "fabric" }));
    let check = |operation: &Value, expected: u64| {
        let estimate = estimated(&world, operation).unwrap();
        assert_eq!((estimate.seconds * PS_PER_S as f64).round() as u64, expected);
        assert_eq!(crate::common::time(&world, &planned(&world, operation)), expected);
        assert_eq!(estimate.relation, Relation::AtLeast);
        assert!(estimate.because.starts_with("+over: fabric"));
    };
    check(&operation, 3 + 100_000 + 80 + 7 + 3);
    operation["transfer"]["limit"] = json!(5e8);
    check(&operation, 3 + 200_000 + 80 + 7 + 3);
    operation["transfer"]["bytes"] = json!(0);
    check(&operation, 3 + 7 + 3);
    operation["transfer"]["bytes"] = json!(1);
    operation["transfer"]["to"] = json!(99);
    assert!(estimated(&world, &operation).unwrap_err().starts_with("over: the topology has no route"));
}

#[test]
fn a_limit_bounds_the_rate_of_the_formula_too() {
    let world = World::small(1e9, 0);
    let mut operation = message(1001, json!({ "per_byte": 2.0 }));
    operation["transfer"]["limit"] = json!(1e11); // 10 ps per byte
    assert_eq!(crate::common::time(&world, &planned(&world, &operation)), 10_000);
    operation["transfer"]["limit"] = json!(1e12);
    assert_eq!(crate::common::time(&world, &planned(&world, &operation)), 2_000);
}

#[test]
fn refusals_name_the_remedy() {
    let world = World::small(1e9, 0);
    let says = |operation: &Value, text: &str| {
        let planned = try_plan_text(&world, "transfer", &operation.to_string()).unwrap_err().to_string();
        assert_eq!(Err(planned.clone()), estimated(&world, operation));
        assert!(planned.contains(text), "{planned}");
    };
    says(&message(1, json!({})), "per_byte: it is missing");
    says(&message(1, json!({ "per_byte": 1.0, "over": "fabric" })), "per_byte: with");
    says(&message(1, json!({ "per_bite": 1.0 })), "per_bite");
    says(&json!({ "operation": "transfer", "id": "a", "params": { "per_byte": 1.0 } }), "plain transfers");
    let mut slots = message(1, json!({ "per_byte": 1.0 }));
    slots["transfer"]["slots"] = json!(0);
    says(&slots, "above 0");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn alone_it_equals_the_formula(
        bytes in 0..1_000_000_000_u64, l in 0..9_000_000_u64, o in 0..9_000_000_u64, g in 0..9_000_000_u64,
        per_byte in 0.0..900.0_f64,
    ) {
        let world = World::small(1e9, 0);
        let operation = message(bytes, json!({ "latency": l, "overhead": o, "gap": g, "per_byte": per_byte }));
        let plan = planned(&world, &operation);
        let estimate = estimated(&world, &operation).unwrap();
        let expected = o as f64 + bytes.saturating_sub(1) as f64 * per_byte + l as f64 + o as f64;
        prop_assert!((estimate.seconds * 1e12 - expected).abs() <= 1e-9 * expected);
        let simulated = crate::common::time(&world, &plan) as f64;
        prop_assert!((simulated - expected).abs() <= crate::common::tolerance(estimate.seconds, &crate::common::run(&world, &plan, "max-min")));
        // As one level of a put it takes the same time.
        let level = json!({ "loggp": { "latency": l, "overhead": o, "gap": g, "per_byte": per_byte } });
        let (put, _, _) = holds(&world, "put", &json!({ "from": 1, "to": 2, "size": bytes, "write": level }));
        prop_assert!((put as f64 - simulated).abs() <= 4.0);
    }
}
