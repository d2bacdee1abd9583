//! `put`: Table 3 and Table 5 of the text, packets, overlap, levels.

use crate::common::{
    CPU_A, CPU_B, FPGA_A, GPU_A, GPU_B, World, details, equal, holds, last, plan, refusal, time_of, try_alternatives,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use weir_plugin_api::{EngineScope, NodeId, PlannedWork, Queue, Relation};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn world() -> World {
    World::small(1e9, 0)
}

/// A put between the gpus with the step times of Table 3 (ms) at 512 KiB, 1 MiB and 2 MiB.
fn novo_g(size: u64, packet: Value) -> Value {
    let table = |times: [f64; 3]| {
        let rows: Vec<_> = [512 * KIB, MIB, 2 * MIB].iter().zip(times).map(|(&b, ms)| json!([b, ms * 1e9])).collect();
        json!({ "table": rows })
    };
    json!({ "from": GPU_A, "to": GPU_B, "size": size, "packet": packet,
            "read": table([1.17, 2.00, 3.00]), "network": table([0.37, 0.73, 1.45]), "write": table([3.01, 4.99,
            8.00]) })
}

/// Table 3, every row: D, N, T_comm in ms, B/W in MB/s. N = 1 rows of the first half take the step times of D.
#[test]
fn table_3() {
    let p2m = [
        (512 * KIB, 1, 4.55, 115.2),
        (MIB, 1, 7.72, 135.8),
        (2 * MIB, 1, 12.45, 168.4),
        (4 * MIB, 2, 20.45, 205.1),
        (8 * MIB, 4, 36.45, 230.1),
        (16 * MIB, 8, 68.45, 245.1),
        (32 * MIB, 16, 132.45, 253.3),
    ];
    let p512k = [
        (512 * KIB, 1, 4.55, 115.2),
        (MIB, 2, 7.56, 138.7),
        (2 * MIB, 4, 13.58, 154.4),
        (4 * MIB, 8, 25.62, 163.7),
        (8 * MIB, 16, 49.70, 168.8),
        (16 * MIB, 32, 97.86, 171.4),
        (32 * MIB, 64, 194.18, 172.8),
    ];
    for (packet, rows) in [(2 * MIB, p2m), (512 * KIB, p512k)] {
        for (size, n, ms, mb_per_s) in rows {
            let params = novo_g(size, json!(packet));
            equal(&world(), "put", &params);
            let details = details(&world(), "put", &params);
            let seconds = last(&world(), "put", &params).seconds;
            assert_eq!(details["packets"], n);
            assert_eq!(format!("{:.2}", seconds * 1e3), format!("{ms:.2}"));
            assert_eq!(format!("{:.1}", details["bandwidth"].as_f64().unwrap() / 1e6), format!("{mb_per_s:.1}"));
            // The simulated time to the picosecond: all times are whole.
            assert_eq!(time_of(&world(), "put", &params), (ms * 1e9_f64).round() as u64);
        }
    }
}

/// The worked example of section 5.1.
#[test]
fn worked_example() {
    let params = novo_g(16 * MIB, json!(2 * MIB));
    let estimate = last(&world(), "put", &params);
    assert_eq!((estimate.formula.as_str(), estimate.seconds, estimate.relation), ("eq15", 0.06845, Relation::Equal));
    let expected = json!({ "packets": 8, "packet": 2 * MIB, "steps": { "read": 0.003, "network": 0.00145,
        "write": 0.008 },
        "bandwidth": 16_777_216.0 / 0.06845 });
    assert_eq!(details(&world(), "put", &params), expected);
}

/// Table 5, Novo-G with the slower DMA engine: 512 KiB for 1 MiB, no packets for 2 MiB. From the step times of Table 3.
#[test]
fn table_5_choices() {
    for (size, labels, choice) in
        [(MIB, &["none", "512KiB"][..], "512KiB"), (2 * MIB, &["none", "1MiB", "512KiB"], "none")]
    {
        let mut params = novo_g(size, json!("auto"));
        params["packets"] = json!([512 * KIB, MIB, 2 * MIB, 8 * MIB, MIB]);
        let alternatives = try_alternatives(&world(), "put", &params).unwrap();
        assert_eq!(alternatives.iter().map(|a| a.label.as_str()).collect::<Vec<_>>(), labels);
        let time = |operation: &str| {
            let operation: Value = serde_json::from_str(operation).unwrap();
            assert_eq!(operation["id"], "x");
            time_of(&world(), "put", &operation["params"])
        };
        let best = alternatives.iter().min_by_key(|a| time(&a.operation)).unwrap();
        assert_eq!(best.label, choice);
        assert!(refusal(&world(), "put", &params).starts_with("packet: `auto`"));
    }
}

/// Tasks, waits and engines as the pseudo-code has them.
#[test]
fn tasks_of_a_put() {
    let mut params = novo_g(MIB, json!(512 * KIB));
    let rows = |params: &Value| {
        let plan = plan(&world(), "put", params);
        let engines: Vec<_> = plan.engines().iter().map(|e| (e.name.clone(), e.slots, e.scope)).collect();
        let device = |node| EngineScope::Device(NodeId(node));
        let nic = params.get("via").map_or(1, |via| via[0].as_u64().unwrap() as u32);
        let expected = [
            ("send".to_owned(), 1, device(GPU_A)),
            ("nic".to_owned(), 1, device(nic)),
            ("copy-in".to_owned(), 1, device(GPU_B)),
        ];
        assert_eq!(engines, expected);
        assert!(plan.iter().all(|t| t.queue == Queue::Ready));
        plan.iter()
            .map(|t| (t.name.to_owned(), t.engine.unwrap(), t.waits.iter().map(|w| w.task).collect::<Vec<_>>()))
            .collect::<Vec<_>>()
    };
    let row = |name: &str, engine: u32, waits: &[u32]| (name.to_owned(), engine, waits.to_vec());
    // Without `via` the nic belongs to the topmost node of the machine, the root complex 1.
    let paper = [
        row("r0", 0, &[]),
        row("n0", 1, &[0]),
        row("w0", 2, &[1]),
        row("r1", 0, &[1]),
        row("n1", 1, &[3]),
        row("w1", 2, &[4, 2]),
    ];
    assert_eq!(rows(&params), paper);
    params["overlap"] = json!([["read", "network"], ["write"]]);
    params["via"] = json!([CPU_A, CPU_B]);
    assert_eq!(rows(&params), paper);
    params["overlap"] = json!([["read"], ["network"], ["write"]]);
    let pipeline = [
        row("r0", 0, &[]),
        row("n0", 1, &[0]),
        row("w0", 2, &[1]),
        row("r1", 0, &[0]),
        row("n1", 1, &[3, 1]),
        row("w1", 2, &[4, 2]),
    ];
    assert_eq!(rows(&params), pipeline);
    params["from"] = json!(90);
    params.as_object_mut().unwrap().remove("via");
    let outside = plan(&world(), "put", &params);
    assert_eq!(outside.engines()[1].scope, EngineScope::Operation);
}

/// A packet that does not divide the size: the last one is shorter and takes its own time; (15) is an upper bound.
#[test]
fn a_short_last_packet() {
    let affine = |per_byte: f64| json!({ "affine": { "latency": 10, "per_byte": per_byte } });
    let params = json!({ "from": GPU_A, "to": GPU_B, "size": 250, "packet": 100,
        "read": affine(1.0), "network": affine(2.0), "write": affine(5.0) });
    // Packets of 100: 110 + 210, then writes of 510; the last: 50 bytes write 260. 320 + 510 + 510 + 260.
    let (simulated, formula, relation) = holds(&world(), "put", &params);
    assert_eq!((simulated, formula.round(), relation), (1600, 1850.0, Relation::AtMost));
    assert!(last(&world(), "put", &params).because.starts_with("-the last packet is shorter"));
    // A table in which less takes longer leaves no bound.
    let odd =
        json!({ "from": GPU_A, "to": GPU_B, "size": 250, "packet": 100, "read": { "table": [[50, 900], [100, 10]] } });
    let (simulated, _, relation) = holds(&world(), "put", &odd);
    assert_eq!((simulated, relation), (920, Relation::Unstated));
}

/// LogGP: o + (k − 1)·G + L + o, and g between messages of the nic.
#[test]
fn loggp_levels_and_their_gap() {
    let mut params = json!({ "from": GPU_A, "to": GPU_B, "size": 300, "packet": 100,
        "network": { "loggp": { "latency": 7, "overhead": 3, "gap": 11, "per_byte": 2.0 } } });
    // T = 3 + 198 + 7 + 3 = 211; 3 T + 2 g, of which (15) knows 3 T.
    let (simulated, formula, relation) = holds(&world(), "put", &params);
    assert_eq!((simulated, formula.round(), relation), (655, 633.0, Relation::AtLeast));
    assert!(last(&world(), "put", &params).because.starts_with("+loggp: "));
    // In a group whose other steps take longer than g it does not show.
    params["read"] = json!({ "affine": { "latency": 20, "per_byte": 0.0 } });
    let (simulated, formula, relation) = holds(&world(), "put", &params);
    assert_eq!((simulated, formula.round(), relation), (3 * 231, 3.0 * 231.0, Relation::AtLeast));
}

/// 1 GB/s is 1000 ps per byte; three hops of 40 ps between the cpus over the network, two to a device.
#[test]
fn levels_over_the_fabric() {
    let world = World::small(1e9, 40);
    let fabric = json!({ "fabric": true });
    let mut params = json!({ "from": FPGA_A, "to": GPU_B, "size": 400, "packet": 100, "via": [CPU_A, CPU_B],
        "read": fabric, "network": fabric, "write": fabric, "overlap": [["read"], ["network"], ["write"]] });
    let ends: Vec<_> = plan(&world, "put", &params)
        .iter()
        .take(3)
        .map(|t| match t.work {
            PlannedWork::Carries { from, to, bytes, limit } => (from.0, to.0, bytes, limit),
            other => panic!("{other:?}"),
        })
        .collect();
    let open = f64::INFINITY;
    assert_eq!(ends, [(FPGA_A, CPU_A, 100, open), (CPU_A, CPU_B, 100, open), (CPU_B, GPU_B, 100, open)]);
    let (simulated, formula, relation) = holds(&world, "put", &params);
    assert_eq!(relation, Relation::AtLeast);
    // Read and write 2 hops, network 4; the links from FPGA and cpu to the root complex are their own, so nothing is
    // shared.
    assert_eq!(formula.round(), 100_080.0 + 100_160.0 + 100_080.0 + 3.0 * 100_160.0);
    assert!((simulated as f64 - formula).abs() <= 24.0, "{simulated} {formula}");
    params["size"] = json!(350);
    assert_eq!(last(&world, "put", &params).relation, Relation::Unstated);
    params.as_object_mut().unwrap().remove("via");
    assert!(refusal(&world, "put", &params).starts_with("read.fabric: the cpus are not known"));
    params["via"] = json!([CPU_A, CPU_A]);
    assert!(refusal(&world, "put", &params).starts_with("network.fabric: both ends"));
    params["via"] = json!([CPU_A, 99]);
    assert!(refusal(&world, "put", &params).starts_with("network.fabric: the topology has no route"));
}

/// `over: fabric` stands for the levels that are not given, where both ends are not the same.
#[test]
fn all_levels_over_the_fabric() {
    let world = World::small(1e9, 40);
    let fabric = json!({ "fabric": true });
    let steps = |rest: Value| {
        let mut params = json!({ "from": FPGA_A, "to": GPU_B, "size": 400, "packet": 100, "via": [CPU_A, CPU_B] });
        params.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        plan(&world, "put", &params)
    };
    let each = json!({ "read": fabric, "network": fabric, "write": fabric });
    assert_eq!(steps(json!({ "over": "fabric" })), steps(each));
    let affine = json!({ "affine": { "latency": 0, "per_byte": 1000.0 } });
    let mixed = json!({ "read": fabric, "network": affine, "write": fabric });
    assert_eq!(steps(json!({ "over": "fabric", "network": affine })), steps(mixed));
    let near = json!({ "over": "fabric", "via": [CPU_A, CPU_A] });
    assert_eq!(steps(near), steps(json!({ "read": fabric, "write": fabric, "via": [CPU_A, CPU_A] })));
    let params = json!({ "from": FPGA_A, "to": GPU_B, "size": 400, "over": "fabric" });
    assert!(refusal(&world, "put", &params).starts_with("read.fabric: the cpus are not known"));
}

#[test]
fn tables_and_curves() {
    let time = |level: Value, size: u64| {
        let params = json!({ "from": GPU_A, "to": GPU_B, "size": size, "write": level });
        crate::common::try_plan(&world(), "put", &params)
            .map(|plan| crate::common::time(&world(), &plan))
            .map_err(|e| e.to_string())
    };
    let rows = json!([[100, 1000], [200, 1500], [400, 3500]]);
    let table = json!({ "table": rows });
    assert_eq!(time(table.clone(), 200), Ok(1500));
    let inside = time(table.clone(), 300).unwrap_err();
    assert!(
        inside.starts_with("write.table: there is no time for 300B (rows: 100B to 400B)")
            && inside.contains("`interpolate: linear`"),
        "{inside}"
    );
    let outside = time(table, 401).unwrap_err();
    assert!(outside.starts_with("write.table: ") && outside.contains("`extrapolate: linear`"), "{outside}");
    let linear = json!({ "table": rows, "interpolate": "linear", "extrapolate": "linear" });
    assert_eq!(time(linear.clone(), 300), Ok(2500));
    assert_eq!(time(linear.clone(), 500), Ok(4500));
    assert_eq!(time(linear.clone(), 60), Ok(800));
    assert_eq!(
        time(json!({ "table": [[100, 10], [200, 1000]], "extrapolate": "linear" }), 50).unwrap_err().split(':').next(),
        Some("write.table")
    );
    // Curves interpolate unless told otherwise.
    let curve = json!({ "curve": rows });
    assert_eq!(time(curve.clone(), 300), Ok(2500));
    assert!(time(curve, 99).unwrap_err().starts_with("write.curve: there is no time for 99B"));
    assert!(time(json!({ "curve": rows, "interpolate": "none" }), 300).is_err());
    for (rows, begins, says) in [
        (json!([]), "write.table: ", "no row"),
        (json!([[100, 1], [100, 2]]), "write.table[1]: ", "stands there twice"),
        (json!([[50, 1], [200, 1], [100, 2]]), "write.table[2]: ", "not in order"),
    ] {
        let text = time(json!({ "table": rows }), 100).unwrap_err();
        assert!(text.starts_with(begins) && text.contains(says), "{text}");
    }
    assert!(time(json!({ "table": [[1, 1]], "extrapolate": "linear" }), 1).unwrap_err().contains("two rows"));
    for level in [json!({}), json!({ "fabric": false }), json!({ "fabric": true, "table": [[1, 1]] })] {
        assert!(time(level, 1).unwrap_err().starts_with("write: give exactly one of"));
    }
    let affine = json!({ "affine": { "per_byte": 1.0 }, "interpolate": "linear" });
    assert!(time(affine, 1).unwrap_err().contains("remove them"));
}

#[test]
fn tuned_tables() {
    let time = |rows: Value, size: u64| {
        let params = json!({ "from": GPU_A, "to": GPU_B, "size": size, "packet": { "table": rows },
            "write": { "affine": { "latency": 10, "per_byte": 1.0 } } });
        crate::common::try_estimates(&world(), "put", &params).map_err(|e| e.to_string()).map(|e| {
            let details: Value = serde_json::from_str(&e.details).unwrap();
            (details["packets"].clone(), details["packet"].clone())
        })
    };
    let rows = json!([[100, null], [200, 50], [400, 400], [1000, 100]]);
    assert_eq!(time(rows.clone(), 100), Ok((json!(1), json!(null))));
    assert_eq!(time(rows.clone(), 199), Ok((json!(1), json!(null))));
    assert_eq!(time(rows.clone(), 399), Ok((json!(8), json!(50))));
    assert_eq!(time(rows.clone(), 400), Ok((json!(1), json!(null))));
    assert_eq!(time(rows.clone(), 1000), Ok((json!(10), json!(100))));
    for size in [99, 1001] {
        let text = time(rows.clone(), size).unwrap_err();
        assert!(text.starts_with("packet.table: ") && text.contains("weir tune"), "{text}");
    }
    for (rows, begins) in [
        (json!([]), "packet.table: "),
        (json!([[2, 1], [1, 1]]), "packet.table[1]: "),
        (json!([[1, 0]]), "packet.table[0]: "),
    ] {
        assert!(time(rows, 1).unwrap_err().starts_with(begins));
    }
}

#[test]
fn refusals_name_the_key_and_the_remedy() {
    let says = |extra: Value, begins: &str, remedy: &str| {
        let mut params = novo_g(MIB, json!("none"));
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let text = refusal(&world(), "put", &params);
        assert!(text.starts_with(begins) && text.contains(remedy), "{text}");
    };
    says(json!({ "to": GPU_A }), "to: ", "name two");
    says(json!({ "packet": 0 }), "packet: ", "none");
    says(json!({ "packet": 1, "size": 100_000_000 }), "packet: ", "larger than 1B");
    says(json!({ "via": [1] }), "via: ", "two cpus");
    says(json!({ "overlap": [["write"], ["read", "network"]] }), "overlap: ", "read, network, write");
    says(json!({ "overlap": [["read", "network"]] }), "overlap: ", "once each");
    let none = json!({ "from": GPU_A, "to": GPU_B, "size": 1 });
    assert!(refusal(&world(), "put", &none).contains("`read`, `network` or `write`"));
    let mut auto = novo_g(MIB, json!("auto"));
    assert!(try_alternatives(&world(), "put", &auto).unwrap_err().to_string().starts_with("packet: `auto` needs"));
    auto["packets"] = json!([0]);
    assert!(try_alternatives(&world(), "put", &auto).unwrap_err().to_string().starts_with("packets: "));
    assert!(try_alternatives(&world(), "put", &novo_g(MIB, json!("none"))).unwrap().is_empty());
}

/// Levels by affine laws or LogGP, one to three of them.
fn levels() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let affine =
        (0..2_000_000_u64, 0.0..50.0_f64).prop_map(|(l, g)| json!({ "affine": { "latency": l, "per_byte": g } }));
    let loggp = (0..1_000_000_u64, 0..1_000_000_u64, 0..9_000_000_u64, 0.0..50.0_f64)
        .prop_map(|(l, o, g, b)| json!({ "loggp": { "latency": l, "overhead": o, "gap": g, "per_byte": b } }));
    let level = prop_oneof![affine, loggp].boxed();
    let levels = proptest::collection::vec(level, 3);
    (levels, 1..8_u32).prop_map(|(levels, chosen)| {
        let named = ["read", "network", "write"].into_iter().zip(levels).enumerate();
        named.filter(|(i, _)| chosen >> i & 1 == 1).map(|(_, level)| level).collect()
    })
}

fn has_gap(levels: &[(&str, Value)]) -> bool {
    levels.iter().any(|(_, level)| level["loggp"]["gap"].as_u64().is_some_and(|gap| gap > 0))
}

fn put(levels: &[(&str, Value)], size: u64, packet: Value, groups: u32) -> Value {
    let mut params = json!({ "from": GPU_A, "to": GPU_B, "size": size, "packet": packet });
    let mut overlap: Vec<Vec<&str>> = Vec::new();
    for (i, (name, level)) in levels.iter().enumerate() {
        params[*name] = level.clone();
        match overlap.last_mut() {
            Some(group) if groups >> i & 1 == 0 => group.push(name),
            _ => overlap.push(vec![name]),
        }
    }
    params["overlap"] = json!(overlap);
    params
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_packet_that_divides_equals_the_formula(
        levels in levels(), packet in 1..100_000_u64, n in 1..20_u64, groups in 0..8_u32,
    ) {
        let params = put(&levels, packet * n, json!(packet), groups);
        let (_, _, relation) = holds(&world(), "put", &params);
        // (15) has no gap between packets.
        let gaps = n > 1 && has_gap(&levels);
        prop_assert_eq!(relation, if gaps { Relation::AtLeast } else { Relation::Equal });
    }

    #[test]
    fn a_short_last_packet_is_at_most_the_formula(
        levels in levels(), packet in 2..100_000_u64, n in 1..15_u64, rest in 1..100_000_u64, groups in 0..8_u32,
    ) {
        let size = packet * n + 1 + rest % (packet - 1);
        let (_, _, relation) = holds(&world(), "put", &put(&levels, size, json!(packet), groups));
        prop_assert_eq!(relation, if has_gap(&levels) { Relation::Unstated } else { Relation::AtMost });
    }

    /// A finer partition into groups is never slower; one group is the sum of all packets' steps (but for gaps).
    #[test]
    fn finer_groups_are_never_slower(
        levels in levels(), packet in 1..100_000_u64, size in 1..1_000_000_u64, groups in 0..8_u32,
        split in 0..8_u32,
    ) {
        prop_assume!(size / packet < 30);
        let time = |groups| time_of(&world(), "put", &put(&levels, size, json!(packet), groups));
        let (coarse, fine) = (time(groups), time(groups | split));
        prop_assert!(fine <= coarse, "{} {}", fine, coarse);
        let plan = plan(&world(), "put", &put(&levels, size, json!(packet), 0));
        let sum: u64 = plan.iter().map(|t| match t.work { PlannedWork::Lasts(ps) => crate::common::whole(ps), _ => 0 }).sum();
        if plan.iter().all(|t| t.gap_ps == 0.0) {
            prop_assert_eq!(time(0), sum);
        } else {
            prop_assert!(time(0) >= sum);
        }
    }

    #[test]
    fn a_packet_of_the_size_or_more_is_no_packets(
        levels in levels(), size in 1..1_000_000_u64, more in 0..1000_u64, groups in 0..8_u32,
    ) {
        let none = plan(&world(), "put", &put(&levels, size, json!("none"), groups));
        prop_assert_eq!(&none, &plan(&world(), "put", &put(&levels, size, json!(size + more), groups)));
        prop_assert_eq!(none.len(), levels.len());
        equal(&world(), "put", &put(&levels, size, json!("none"), groups));
    }
}
