//! Registration and schemas.

use crate::common::{World, model, named, operation};
use serde_json::{Value, json};
use weir_models::register;
use weir_plugin_api::{Origin, Plan, Registry, Surroundings};

fn registry() -> Registry {
    let mut registry = Registry::new();
    register(&mut registry).unwrap();
    registry
}

#[test]
fn each_is_registered_once_and_has_examples() {
    let mut registry = registry();
    let examples = examples();
    for model in registry.models() {
        let taken = |taken: bool| examples.iter().any(|(key, _, t)| model.operations[..] == [*key] && *t == taken);
        assert!(taken(true) && taken(false), "give {} maps that it takes and refuses", model.name);
    }
    assert!(registry.models().all(|m| m.origin == Origin::BuiltIn && (m.make)().is_ok()));
    assert!(register(&mut registry).unwrap_err().to_string().contains("offload"));
}

/// A trace whose collectives are planned.
fn planned(collectives: Value) -> Value {
    let text = "0 allreduce 80 0\n1 allreduce 80 0\n";
    json!({ "file": named(json!([text])), "format": "simgrid-ti", "ranks": [3, 7], "collectives": collectives })
}

/// Maps under each key, and whether schema and model take them.
fn examples() -> Vec<(&'static str, Value, bool)> {
    let level = json!({ "table": [[100, 5]] });
    vec![
        ("offload", json!({ "device": 3 }), true),
        (
            "offload",
            json!({ "device": 3, "in": 100, "out": 9, "kernel": 7, "streams": 3, "method": "hybrid",
                "preset": "pcie3-gtx-titan",
            "parameters": { "latency_in": 1, "per_byte_out": 0.5 }, "copy_engines": 1, "implicit_sync": true,
            "host": 2, "depth_first": true,
            "bounds": { "flops": 1e9, "peak_flops": 1e12, "memory_bandwidth": 1e11, "operational_intensity": 0.5,
            "pcie_bandwidth": 1e10 } }),
            true,
        ),
        ("offload", json!({ "device": 3, "in": 5, "over": "fabric", "host": 2 }), true),
        ("offload", json!({ "device": 3, "in": 5, "duplex": "pcie2-explicit-explicit" }), true),
        ("offload", json!({}), false),
        ("offload", json!({ "device": "gpu0" }), false),
        ("offload", json!({ "device": 3, "streams": 0 }), false),
        ("offload", json!({ "device": 3, "streams": "many" }), false),
        ("offload", json!({ "device": 3, "method": "magic" }), false),
        ("offload", json!({ "device": 3, "copy_engines": 3 }), false),
        ("offload", json!({ "device": 3, "kernel": -1 }), false),
        ("offload", json!({ "device": 3, "in": 0.5 }), false),
        ("offload", json!({ "device": 3, "preset": "pcie9" }), false),
        ("offload", json!({ "device": 3, "parameters": { "latency": 1 } }), false),
        ("offload", json!({ "device": 3, "bounds": { "flops": 1 } }), false),
        ("put", json!({ "from": 3, "to": 7, "size": 100, "read": level }), true),
        (
            "put",
            json!({ "from": 3, "to": 7, "size": 100, "packet": "none", "packets": [5], "overlap": [["read"],
                ["write"]], "via": [2, 6],
            "read": { "curve": [[1, 0.5], [200, 2.25]], "interpolate": "linear" },
            "write": { "affine": { "latency": 1, "per_byte": 0.1 } } }),
            true,
        ),
        (
            "put",
            json!({ "from": 3, "to": 7, "size": 100, "packet": { "table": [[1, null], [200, 5]] },
            "network": { "loggp": { "latency": 1, "overhead": 1, "gap": 1, "per_byte": 0.1 } } }),
            true,
        ),
        (
            "put",
            json!({ "from": 3, "to": 7, "size": 100, "packet": 50, "via": [2, 6], "read": { "fabric": true } }),
            true,
        ),
        ("put", json!({ "from": 3, "to": 7, "size": 100, "packet": "some", "read": level }), false),
        ("put", json!({ "from": 3, "to": 7, "size": 100, "packet": { "file": [] }, "read": level }), false),
        ("put", json!({ "from": 3, "to": 7, "size": 100, "overlap": [["reed"]], "read": level }), false),
        ("put", json!({ "from": 3, "to": 7, "size": 100, "read": { "table": [[100]] } }), false),
        ("put", json!({ "from": 3, "to": 7, "size": 100, "read": { "table": [[100, 5, 6]] } }), false),
        ("put", json!({ "from": 3, "to": 7, "size": 100, "read": { "affine": { "latency": 1 } } }), false),
        ("put", json!({ "from": 3, "to": 7, "read": level }), false),
        (
            "gather",
            json!({ "root": 2, "nodes": [2, 6], "size_per_device": 100, "approach": 2, "rounds": "free",
                "read": level, "network": level }),
            true,
        ),
        (
            "gather",
            json!({ "root": 2, "nodes": [2], "size_per_device": 100, "approach": 1, "read": { "fabric": true },
                "devices": [3] }),
            true,
        ),
        ("gather", json!({ "root": 2, "nodes": 2, "size_per_device": 100, "approach": 2, "read": level }), false),
        ("gather", json!({ "root": 2, "nodes": [2], "size_per_device": 100, "approach": 0, "read": level }), false),
        (
            "gather",
            json!({ "root": 2, "nodes": [2], "size_per_device": 100, "approach": 2, "rounds": "often", "read": level }),
            false,
        ),
        ("gather", json!({ "root": 2, "nodes": [2], "size_per_device": 100, "approach": 2 }), false),
        (
            "program",
            json!({ "file": named(json!(["num_ranks 1\nrank 0 {\na: calc 5\n}\n"])), "format": "goal", "ranks": [3] }),
            true,
        ),
        (
            "program",
            json!({ "file": named(json!(["0 compute 5"])), "format": "simgrid-ti", "flop_rate": 1e9,
            "message": { "over": "fabric", "latency": 1, "overhead": 2, "gap": 3, "per_byte": 0.5,
            "overhead_per_byte": 0.25, "eager": 9 }, "ranks": [2] }),
            true,
        ),
        ("program", planned(json!({})), true),
        (
            "program",
            planned(json!({ "algorithm": "tree", "channels": 2, "chunk": 9, "reduce": 1e9, "order": "topology",
                "protocol": { "latency": 5 },
            "kinds": { "reduce": { "reduce": 1e8 }, "all-reduce": { "algorithm": "ring", "protocol": { "efficiency": 0.5 } } } })),
            true,
        ),
        ("program", planned(json!({ "kind": "all-reduce" })), false),
        ("program", planned(json!({ "channels": 0 })), false),
        ("program", planned(json!({ "algorithm": "magic" })), false),
        ("program", planned(json!({ "kinds": { "all-reduce": { "size": 5 } } })), false),
        ("program", planned(json!({ "kinds": { "send-recv-chain": {} } })), false),
        ("program", json!({ "file": named(json!(["0 compute 5"])), "format": "tape" }), false),
        ("program", json!({ "format": "goal" }), false),
        ("collective", json!({ "kind": "all-reduce", "size": 100, "ranks": [3, 7] }), true),
        (
            "collective",
            json!({ "kind": "broadcast", "size": 100, "ranks": [3, 7, 2], "root": 7, "algorithm": "tree", "channels": 2,
                "chunk": 10, "reduce": 1e9, "protocol": { "latency": 5, "efficiency": 0.5 } }),
            true,
        ),
        ("collective", json!({ "kind": "all-reduce", "size": 100 }), false),
        ("collective", json!({ "kind": "all", "size": 100, "ranks": [3, 7] }), false),
        ("collective", json!({ "kind": "all-reduce", "size": 100, "ranks": [3, 7], "channels": 0 }), false),
        (
            "collective",
            json!({ "kind": "all-reduce", "size": 100, "ranks": [3, 7], "protocol": { "efficiency": 1.5 } }),
            false,
        ),
        ("transfer", json!({ "latency": 1, "overhead": 2, "gap": 3, "per_byte": 0.25 }), true),
        ("transfer", json!({ "over": "fabric" }), true),
        ("transfer", json!({ "per_byte": "1ps" }), false),
        ("transfer", json!({ "name": "loggp", "per_byte": 1.0 }), false),
    ]
}

/// What the schema takes the model plans, and what it does not the model refuses with a text.
#[test]
fn schemas_agree_with_the_models() {
    let (registry, world) = (registry(), World::small(1e9, 0));
    let view = world.fabric.view();
    let surroundings = Surroundings { fabric: &view, routes: &world };
    for (key, params, taken) in examples() {
        let entry = registry.models().find(|m| m.operations.iter().any(|k| k == key)).unwrap();
        let validator = jsonschema::validator_for(&serde_json::from_str(&entry.schema).unwrap()).unwrap();
        assert_eq!(validator.is_valid(&json!({ key: params })), taken, "schema of {key}: {params}");
        let mut operation: Value = serde_json::from_str(&operation(key, &params)).unwrap();
        operation["transfer"] = json!({ "from": 2, "to": 3, "bytes": 9, "limit": null, "slots": 1 });
        let planned = model(key).plan(&operation.to_string(), &surroundings, &mut Plan::new());
        assert_eq!(planned.is_ok(), taken, "model of {key}: {params}: {planned:?}");
    }
}

/// Every keyword that the host reads stands where it belongs.
#[test]
fn keywords_of_the_host() {
    let registry = registry();
    let at = |name: &str, pointer: &str| {
        let schema: Value = serde_json::from_str(&registry.model(name).unwrap().schema).unwrap();
        schema.pointer(pointer).cloned().unwrap_or_else(|| panic!("{name} has no {pointer}"))
    };
    let offload = "/properties/offload/properties";
    assert_eq!(at("offload", &format!("{offload}/device/x-weir-node")), true);
    assert_eq!(at("offload", &format!("{offload}/host/x-weir-nearest")), "device");
    assert_eq!(at("offload", &format!("{offload}/in/x-weir-quantity")), "bytes");
    assert_eq!(at("offload", &format!("{offload}/kernel/x-weir-quantity")), "time");
    assert_eq!(at("offload", "/$defs/Parameters/properties/per_byte_in/x-weir-quantity"), "time-per-byte");
    assert_eq!(at("offload", "/$defs/Bounds/properties/memory_bandwidth/x-weir-quantity"), "bandwidth");
    assert_eq!(at("offload", &format!("{offload}/method/enum")), json!(["explicit", "streams", "mapped", "hybrid"]));
    let put = "/properties/put/properties";
    assert_eq!(at("put", &format!("{put}/via/x-weir-nodes")), true);
    assert_eq!(at("put", &format!("{put}/via/x-weir-nearest")), json!(["from", "to"]));
    assert_eq!(at("put", "/$defs/LevelParams/properties/curve/x-weir-table"), json!(["bytes", "seconds"]));
    assert_eq!(at("put", "/$defs/LevelParams/properties/table/items/prefixItems/0/x-weir-quantity"), "bytes");
    assert_eq!(at("put", &format!("{put}/packet/anyOf/0/properties/table/x-weir-table")), json!(["bytes", "packet"]));
    assert_eq!(at("gather", "/properties/gather/properties/nodes/x-weir-nodes"), true);
    assert_eq!(at("loggp", "/properties/transfer/properties/per_byte/x-weir-quantity"), "time-per-byte");
}

/// Texts that no host gives are refused, not fatal.
#[test]
fn broken_operations_are_refused() {
    let world = World::small(1e9, 0);
    for key in ["offload", "put", "gather", "program", "collective", "transfer"] {
        for text in ["", "[]", "null", "{}", r#"{"params": 3}"#, r#"{"params": {"streams": "auto", "device": 1e9}}"#] {
            let planned = crate::common::try_plan_text(&world, key, text).unwrap_err().to_string();
            assert!(planned.contains("does not fit the model"), "{planned}");
            let (view, mut out) = (world.fabric.view(), Vec::new());
            let surroundings = Surroundings { fabric: &view, routes: &world };
            let _ = model(key).alternatives(text, &surroundings, &mut out);
            assert!(out.is_empty());
        }
    }
}
