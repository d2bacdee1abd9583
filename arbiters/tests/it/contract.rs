//! Registration, parameters and schemas, admission.

use crate::common::{Phase, Transfer, make, names, try_make};
use weir_arbiters::{PcieCongestionParams, register};
use weir_plugin_api::{CallError, Flags, NodeKind, Registry};
use weir_sim_core::FabricBuilder;

fn refusal(name: &str, params: &str) -> String {
    let (fabric, _) = crate::common::t2(1e9);
    match try_make(name, &fabric.view(), params) {
        Err(CallError::Refused(text)) => text,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{params} was taken"),
    }
}

#[test]
fn they_are_registered_once_and_are_pure() {
    let mut registry = Registry::new();
    register(&mut registry).unwrap();
    assert!(registry.iter().all(|e| e.flags.contains(Flags::PURE) && !e.flags.contains(Flags::WHOLE_SET)));
    let readers = registry.iter().filter(|e| e.flags.contains(Flags::READS_ARRIVAL));
    assert_eq!(readers.map(|e| e.name.as_str()).collect::<Vec<_>>(), ["fcfs"]);
    assert!(register(&mut registry).unwrap_err().to_string().contains("pcie-congestion"));
}

#[test]
fn bad_parameters_are_refused_by_name() {
    for tau in ["0.5", "-0.1", "1", "1e300"] {
        let text = refusal("pcie-congestion", &format!(r#"{{"tau": {tau}}}"#));
        assert!(text.contains("tau") && text.contains("0.5"), "{text}");
    }
    for name in names() {
        assert!(refusal(name, r#"{"tua": 0.1}"#).contains("tua"));
        assert!(refusal(name, "[1]").contains(name));
        assert!(refusal(name, "").contains(name));
    }
    assert!(refusal("pcie-congestion", r#"{"hol": 1}"#).contains("boolean"));
}

#[test]
fn schemas_agree_with_the_constructors() {
    let (fabric, _) = crate::common::t2(1e9);
    let mut registry = Registry::new();
    register(&mut registry).unwrap();
    let candidates = [
        "{}",
        r#"{"tau": 0}"#,
        r#"{"tau": 0.499}"#,
        r#"{"tau": 0.5}"#,
        r#"{"tau": -1}"#,
        r#"{"tau": "0.2"}"#,
        r#"{"hol": false}"#,
        r#"{"root_penalty": true}"#,
        r#"{"root_penalty": 0.1}"#,
        r#"{"root_penalty": 0.5}"#,
        r#"{"hol": 0}"#,
        r#"{"other": 1}"#,
        "[]",
    ];
    for entry in registry.iter() {
        let schema = serde_json::from_str(&entry.params_schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        for params in candidates {
            let valid = validator.is_valid(&serde_json::from_str(params).unwrap());
            let taken = (entry.make)(&fabric.view(), params).is_ok();
            assert_eq!(valid, taken, "{} with {params}", entry.name);
        }
    }
    let schema: serde_json::Value =
        serde_json::from_str(&registry.get("pcie-congestion").unwrap().params_schema).unwrap();
    let tau = &schema["properties"]["tau"];
    assert_eq!(tau["minimum"].as_f64(), Some(0.0));
    assert_eq!(tau["exclusiveMaximum"].as_f64(), Some(0.5));
    assert_eq!(tau["default"].as_f64(), Some(PcieCongestionParams::default().tau));
    assert_eq!(schema["properties"]["hol"]["default"], true);
}

/// What the flags say is what reaches the rates; every limit does.
#[test]
fn attributes_are_read_as_the_flags_say() {
    let mut registry = Registry::new();
    register(&mut registry).unwrap();
    let (fabric, gpus) = crate::common::t2(1e9);
    let plain = [Transfer::new(gpus[0], gpus[1]), Transfer::new(gpus[2], gpus[1])];
    for name in names() {
        let entry = registry.get(name).unwrap();
        let (weight, priority) = (entry.ignores(Flags::READS_WEIGHT), entry.ignores(Flags::READS_PRIORITY));
        for (attribute, ignored) in [("weight", weight), ("priority", priority), ("limit", false)] {
            let mut changed = plain;
            match attribute {
                "weight" => changed[1].weight = 2.0,
                "priority" => changed[1].priority = 2,
                _ => changed[0].limit = 1e8,
            }
            let mut arbiter = make(name, &fabric, "{}");
            let before = crate::common::rates(&mut *arbiter, &Phase::new(&fabric, &plain));
            let after = crate::common::rates(&mut *arbiter, &Phase::new(&fabric, &changed));
            assert_eq!(before == after, ignored, "{name} {attribute}");
        }
    }
}

#[test]
fn routes_that_climb_again_are_refused() {
    let mut b = FabricBuilder::new();
    let full = crate::common::link(1e9, 1e9);
    let root = b.root(NodeKind::Switch).unwrap();
    let mut machines = Vec::new();
    for _ in 0..3 {
        let bridge = b.child(root, NodeKind::RootComplex, full).unwrap();
        let gpu = b.child(bridge, NodeKind::Gpu, full).unwrap();
        let nic = b.child(bridge, NodeKind::Nic, full).unwrap();
        machines.push((bridge, gpu, nic));
    }
    // NICs joined in a chain; bridges of the last two joined directly.
    b.lateral(machines[0].2, machines[1].2, full).unwrap();
    b.lateral(machines[1].0, machines[2].0, full).unwrap();
    let fabric = b.build();
    let mut arbiter = make("pcie-congestion", &fabric, "{}");
    let mut text = |from, to| {
        let phase = Phase::new(&fabric, &[Transfer::new(from, to)]);
        arbiter.admit(phase.links(0)).err().map(|e| e.to_string())
    };
    assert_eq!(text(machines[1].1, machines[2].1), None, "one lateral link between bridges");
    assert_eq!(text(machines[0].1, machines[2].1), None, "over the root");
    for (from, to) in [(machines[0].1, machines[1].2), (machines[0].2, machines[1].1)] {
        let refused = text(from, to).expect("through the NICs, in or out of the tree's order");
        assert!(refused.contains("is defined inside one tree"), "{refused}");
    }
    for name in ["max-min", "equal-share", "strict-priority", "fcfs", "input-fifo"] {
        let phase = Phase::new(&fabric, &[Transfer::new(machines[0].1, machines[1].2)]);
        assert!(make(name, &fabric, "{}").admit(phase.links(0)).is_ok());
    }
}
