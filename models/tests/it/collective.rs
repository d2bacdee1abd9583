//! `collective`: every algorithm against its closed form, what it delivers, and what is refused.

use crate::common::{World, details, equal, estimates, holds, last, plan, refusal, time_of, try_alternatives};
use proptest::prelude::*;
use serde_json::{Value, json};
use weir_plugin_api::{LinkKind, NodeKind, PlannedWork, Relation, SimDuration};
use weir_sim_core::{FabricBuilder, LinkSpec};

/// Kinds and the algorithms that do them.
pub const ALL: [(&str, &[&str]); 9] = [
    (
        "all-reduce",
        &["ring", "tree", "nvls", "double-binary-tree", "recursive-doubling", "recursive-halving-doubling", "direct"],
    ),
    ("all-gather", &["ring", "nvls", "recursive-doubling", "bruck", "direct"]),
    ("reduce-scatter", &["ring", "nvls", "recursive-halving-doubling", "pairwise", "direct"]),
    ("broadcast", &["ring", "tree", "double-binary-tree", "direct"]),
    ("reduce", &["ring", "tree", "double-binary-tree", "direct"]),
    ("all-to-all", &["pairwise", "bruck", "direct"]),
    ("scatter", &["tree", "direct"]),
    ("gather", &["tree", "direct"]),
    ("send-recv-chain", &["direct"]),
];

fn params(kind: &str, algorithm: &str, n: u64, size: u64) -> Value {
    json!({ "kind": kind, "algorithm": algorithm, "size": size, "ranks": (1..=n).collect::<Vec<_>>() })
}

/// 2(n−1)/n · S/B + 2(n−1)·α, to the picosecond: 8 ranks, 8 MB, 1 GB/s, 2 · 500 ns.
#[test]
fn ring_all_reduce_to_the_picosecond() {
    let world = World::star(8, 1e9, 500_000);
    let params = params("all-reduce", "ring", 8, 8_000_000);
    assert_eq!(time_of(&world, "collective", &params), 14 * (1_000_000_000 + 1_000_000));
    equal(&world, "collective", &params);
    let details = details(&world, "collective", &params);
    assert_eq!((&details["steps"], &details["bus_factor"]), (&json!(14), &json!(1.75)));
}

/// The closed forms, worked out by hand for 8 ranks, 8000 bytes, 1 B/ps, α = 100 ps, γ = 0.5 ps.
#[test]
fn closed_forms_by_hand() {
    let cases = [
        ("all-reduce", "ring", 14 * 1100 + 7 * 500),
        ("all-gather", "ring", 7 * 1100),
        ("reduce-scatter", "ring", 7 * 1600),
        ("broadcast", "ring", 7 * 8100),
        ("reduce", "ring", 7 * 12_100),
        ("all-reduce", "tree", 6 * 8100 + 3 * 4000),
        ("broadcast", "tree", 3 * 8100),
        ("scatter", "tree", 300 + 7000),
        ("gather", "tree", 300 + 7000),
        ("all-gather", "recursive-doubling", 300 + 7000),
        ("all-reduce", "recursive-doubling", 3 * 12_100),
        ("all-reduce", "recursive-halving-doubling", 600 + 14_000 + 3500),
        ("reduce-scatter", "recursive-halving-doubling", 300 + 7000 + 3500),
        ("all-to-all", "pairwise", 7 * 1100),
        ("reduce-scatter", "pairwise", 7 * 1600),
        ("all-gather", "bruck", 300 + 7000),
        ("all-to-all", "bruck", 300 + 3 * 4000),
        ("all-to-all", "direct", 100 + 7000),
        ("all-gather", "direct", 100 + 7000),
        ("reduce-scatter", "direct", 100 + 7000 + 3500),
        ("scatter", "direct", 100 + 7000),
        ("broadcast", "direct", 100 + 56_000),
        ("reduce", "direct", 100 + 56_000 + 28_000),
        ("send-recv-chain", "direct", 100 + 8000),
        ("all-reduce", "nvls", 200 + 9000),
        ("all-gather", "nvls", 100 + 8000),
    ];
    let world = World::star(8, 1e12, 50);
    for (kind, algorithm, ps) in cases {
        let mut params = params(kind, algorithm, 8, 8000);
        params["reduce"] = json!(2e12);
        let formula = last(&world, "collective", &params);
        assert_eq!((formula.seconds * 1e12).round() as u64, ps, "{kind} by {algorithm}");
        equal(&world, "collective", &params);
        assert_eq!(time_of(&world, "collective", &params), ps, "{kind} by {algorithm}");
    }
}

#[test]
fn refusals_name_the_key_and_the_remedy() {
    let world = World::star(6, 1e9, 0);
    let says = |extra: Value, begins: &str, remedy: &str| {
        let mut params = params("all-reduce", "ring", 6, 600);
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        let text = refusal(&world, "collective", &params);
        assert!(text.starts_with(begins) && text.contains(remedy), "{text}");
    };
    says(json!({ "size": 0 }), "size: must not be 0", "give");
    says(json!({ "chunk": 0 }), "chunk: must not be 0", "leave it out");
    says(json!({ "channels": 0 }), "channels: must not be 0", "1 or more");
    says(json!({ "ranks": [1] }), "ranks: ", "at least two");
    says(json!({ "ranks": [1, 2, 1] }), "ranks: ", "twice");
    says(json!({ "ranks": [1, 2, 99] }), "ranks: ", "no route");
    says(json!({ "root": 1 }), "root: ", "remove it");
    says(json!({ "kind": "broadcast", "root": 0 }), "root: ", "not among");
    says(json!({ "algorithm": "bruck" }), "algorithm: ", "ring, tree, double-binary-tree, direct, nvls, or auto");
    says(json!({ "algorithm": "recursive-doubling" }), "algorithm: ", "power of two");
    says(json!({ "protocol": { "efficiency": 1.5 } }), "protocol.efficiency: ", "above 1");
    says(json!({ "size": 1_u64 << 50, "chunk": 1 }), "chunk: ", "larger chunks");
    says(json!({ "protocol": { "efficiency": 1e-300 } }), "protocol.efficiency: ", "larger");
    says(json!({ "reduce": 1e-300 }), "reduce: ", "more bytes per second");
    says(json!({ "levels": ["machine"] }), "levels: ", "[machine, network]");
    says(json!({ "levels": ["machine", "network"] }), "levels: ", "one machine");
    says(json!({ "channels": 10_000_000 }), "channels: ", "give fewer");
}

/// Four machines of four GPUs, three times faster inside. Nodes: 0 the network, then a switch and its GPUs, five times.
pub fn machines(count: u32, gpus: u32, inside: f64, across: f64, latency_ps: u64) -> (World, Vec<u32>) {
    let link = |bandwidth| LinkSpec {
        up: bandwidth,
        down: bandwidth,
        latency: SimDuration(latency_ps),
        kind: LinkKind::NVLINK,
    };
    let mut fabric = FabricBuilder::new();
    let network = fabric.root(NodeKind::Network).unwrap();
    let mut ranks = Vec::new();
    for _ in 0..count {
        let switch = fabric.child(network, NodeKind::Switch, link(across)).unwrap();
        ranks.extend((0..gpus).map(|_| fabric.child(switch, NodeKind::Gpu, link(inside)).unwrap().0));
    }
    (World::new(fabric.build()), ranks)
}

/// 4 machines of 2, 1 B/ps inside and 2 B/ps across, so that both rails have 1 B/ps, no latency but 100 ps of the
/// protocol.
#[test]
fn levels_are_the_sum_of_their_phases() {
    let (world, ranks) = machines(4, 2, 1e12, 2e12, 0);
    let cases = [
        // 4000 within, ring of 4 with 4000: 6 · 1000, 4000 back.
        ("all-reduce", 4100 + 6 * 1100 + 4100),
        ("all-gather", 3 * 1100 + 4100),
        ("reduce-scatter", 4100 + 3 * 1100),
        ("broadcast", 3 * 8100 + 8100),
        ("reduce", 8100 + 3 * 8100),
        // 4000 within; 3 · 2000 across, on both rails at once.
        ("all-to-all", 4100 + 6100),
        ("scatter", 6100 + 1100),
        ("gather", 1100 + 6100),
    ];
    for (kind, ps) in cases {
        let params = json!({ "kind": kind, "size": 8000, "ranks": ranks, "levels": ["machine", "network"], "protocol": { "latency": 100 } });
        let (simulated, formula, _) = holds(&world, "collective", &params);
        assert_eq!((simulated, formula.round() as u64), (ps, ps), "{kind}");
    }
}

/// With as many channels as GPUs each GPU's own link to the network carries a ring: here 4 of 2 GPUs, whose links all
/// have 1 B/ps.
#[test]
fn channels_leave_a_machine_by_all_its_ranks() {
    let link = LinkSpec { up: 1e12, down: 1e12, latency: SimDuration(0), kind: LinkKind::NVLINK };
    let mut fabric = FabricBuilder::new();
    let network = fabric.root(NodeKind::Network).unwrap();
    let mut ranks = Vec::new();
    for _ in 0..4 {
        let switch = fabric.child(network, NodeKind::Switch, LinkSpec { up: 2e12, down: 2e12, ..link }).unwrap();
        ranks.extend((0..2).map(|_| fabric.child(switch, NodeKind::Gpu, link).unwrap().0));
    }
    let world = World::new(fabric.build());
    let mut params = json!({ "kind": "all-gather", "size": 16_000, "ranks": ranks, "channels": 2 });
    let senders = |params: &Value| {
        let crosses = |from: u32, to: u32| (from - 2) / 3 != (to - 2) / 3;
        let plan = plan(&world, "collective", params);
        let mut senders: Vec<u32> = plan
            .iter()
            .filter_map(|task| match task.work {
                PlannedWork::Carries { from, to, .. } if crosses(from.0, to.0) => Some(from.0),
                _ => None,
            })
            .collect();
        senders.sort_unstable();
        senders.dedup();
        senders.len()
    };
    assert_eq!(senders(&params), 8);
    let (simulated, formula, _) = holds(&world, "collective", &params);
    assert_eq!((simulated, formula.round() as u64), (14_000, 14_000));
    params["channels"] = json!(1);
    assert_eq!(senders(&params), 4);
}

/// The bound holds for every algorithm, and some algorithm comes near it.
#[test]
fn the_bound_by_the_busiest_cut() {
    let (world, ranks) = machines(2, 4, 1e12, 1e12, 0);
    // 4 of 8 ranks behind a link of 1 B/ps.
    let bounds = [
        // By the cut 8000; by all ranks 2 · 7 · 8000 / 8.
        ("all-reduce", 14_000),
        ("all-gather", 7000),
        ("reduce-scatter", 7000),
        ("broadcast", 8000),
        ("reduce", 8000),
        // 4 · 4 / 8 · 8000.
        ("all-to-all", 16_000),
        ("scatter", 7000),
        ("gather", 7000),
        ("send-recv-chain", 8000),
    ];
    for (kind, algorithms) in ALL {
        for algorithm in algorithms.iter().filter(|word| **word != "nvls") {
            let params = json!({ "kind": kind, "algorithm": algorithm, "size": 8000, "ranks": ranks });
            let bound = estimates(&world, "collective", &params).list[0].clone();
            assert_eq!((bound.formula.as_str(), bound.relation), ("bound", Relation::AtLeast));
            let ps = (bound.seconds * 1e12).round() as u64;
            assert_eq!(Some(&(kind, ps)), bounds.iter().find(|(of, _)| *of == kind), "{algorithm}");
            assert!(time_of(&world, "collective", &params) >= ps, "{kind} by {algorithm}");
        }
    }
}

/// Parts are whole bytes: with few of them some ranks have fewer than the mean.
#[test]
fn the_bound_holds_for_a_few_bytes() {
    let (world, ranks) = machines(2, 4, 1e12, 1e9, 0);
    for size in [1, 3, 7, 11, 13] {
        for (kind, algorithms) in ALL {
            for algorithm in algorithms.iter().filter(|word| **word != "nvls") {
                let params = json!({ "kind": kind, "algorithm": algorithm, "size": size, "ranks": ranks });
                let all = estimates(&world, "collective", &params).list;
                // Where no whole byte must cross a cut, there is none.
                let bound = all.iter().find(|one| one.formula == "bound").map_or(0.0, |bound| bound.seconds * 1e12);
                let time = time_of(&world, "collective", &params) as f64;
                assert!(time + 0.5 >= bound, "{size} B of {kind} by {algorithm}: {time} ps, bound {bound} ps");
            }
        }
    }
}

/// The details say where the cut is: at the switch of the first machine, below which the root is. Its link is the narrowest: S
/// of a broadcast goes out, of a reduce in, and half of S of a gather.
#[test]
fn the_bound_says_where_it_is() {
    let (world, ranks) = machines(2, 4, 1e12, 5e11, 0);
    let at = |kind: &str| {
        let params = json!({ "kind": kind, "algorithm": "direct", "size": 8000, "ranks": ranks });
        details(&world, "collective", &params)["bound"]["cut_at"].clone()
    };
    let switch = ranks[0] - 1;
    for (kind, is_inwards) in [("broadcast", false), ("reduce", true), ("gather", true), ("send-recv-chain", false)] {
        // The other machine's cut is as long for each of them; of equals the first one stands here.
        let place = json!({ "node": switch, "is_machine": false, "is_inwards": is_inwards });
        assert_eq!(at(kind), place, "{kind}");
    }
}

/// What GPUs share beside the tree belongs to their machine: two of 2 GPUs with an NVSwitch, and a card of 1 B/ps each.
#[test]
fn machines_are_cuts_of_their_own() {
    let link = |bandwidth| LinkSpec { up: bandwidth, down: bandwidth, latency: SimDuration(0), kind: LinkKind::PCIE };
    let mut fabric = FabricBuilder::new();
    let network = fabric.root(NodeKind::Network).unwrap();
    let mut ranks = Vec::new();
    for _ in 0..2 {
        let board = fabric.root(NodeKind::RootComplex).unwrap();
        let card = fabric.child(board, NodeKind::Nic, link(1e13)).unwrap();
        let gpus = [0, 1].map(|_| fabric.child(board, NodeKind::Gpu, link(1e13)).unwrap());
        let nvswitch = fabric.root(NodeKind::Switch).unwrap();
        fabric.lateral(card, network, link(1e12)).unwrap();
        for gpu in gpus {
            fabric.lateral(gpu, nvswitch, link(1e13)).unwrap();
            ranks.push(gpu.0);
        }
    }
    let world = World::new(fabric.build());
    let mut params = json!({ "kind": "all-reduce", "size": 8000, "ranks": ranks });
    let bound = |params: &Value| (estimates(&world, "collective", params).list[0].seconds * 1e12).round() as u64;
    assert_eq!(bound(&params), 8000);
    let details = details(&world, "collective", &params);
    // As much as both cards together need for twice the bytes.
    assert_eq!(details["bound"]["cut_bandwidth"], json!(1e12));
    assert_eq!(details["bound"]["cut_at"], json!({ "node": 1, "is_machine": true, "is_inwards": false }));
    // Both rails go over the one card of a machine.
    params["levels"] = json!(["machine", "network"]);
    assert_eq!(holds(&world, "collective", &params).0, 400 + 8000 + 400);
}

#[test]
fn the_order_of_the_topology_crosses_each_cut_once() {
    let (world, ranks) = machines(4, 4, 3e12, 1e12, 0);
    let mixed: Vec<u32> = (0..16).map(|place| ranks[place * 5 % 16]).collect();
    let mut params = json!({ "kind": "all-gather", "size": 160_000, "ranks": mixed });
    let given = time_of(&world, "collective", &params);
    params["order"] = json!("topology");
    let found = details(&world, "collective", &params)["order"].clone();
    assert_eq!(found, json!({ "search": "tree", "ring_bandwidth": 1e12, "at_most": 1e12 }));
    assert_eq!(time_of(&world, "collective", &params), 150_000);
    assert!(given > 500_000, "{given}");
}

/// Six GPUs joined to a ring by links of their own, in another order than they are named.
#[test]
fn the_order_finds_a_ring_of_lateral_links() {
    for count in [6, 12] {
        let link =
            |bandwidth| LinkSpec { up: bandwidth, down: bandwidth, latency: SimDuration(0), kind: LinkKind::NVLINK };
        let mut fabric = FabricBuilder::new();
        let switch = fabric.root(NodeKind::Switch).unwrap();
        let gpus: Vec<_> = (0..count).map(|_| fabric.child(switch, NodeKind::Gpu, link(1e11)).unwrap()).collect();
        let place = |i: usize| gpus[i * 5 % count];
        let step = if count == 12 { 5 } else { 1 };
        for i in 0..count {
            let order = |i: usize| if step == 1 { gpus[[0, 3, 1, 5, 2, 4][i % count]] } else { place(i % count) };
            fabric.lateral(order(i), order(i + 1), link(1e12)).unwrap();
        }
        let world = World::new(fabric.build());
        let ranks: Vec<u32> = gpus.iter().map(|gpu| gpu.0).collect();
        let params = json!({ "kind": "all-gather", "size": 12_000, "ranks": ranks, "order": "topology" });
        let found = details(&world, "collective", &params)["order"].clone();
        assert_eq!(found["ring_bandwidth"], json!(1e12), "{found}");
        assert_eq!(found["search"], "exact");
    }
}

#[test]
fn auto_tries_what_does_the_kind() {
    let labels = |n: u64, kind: &str| {
        let alternatives =
            try_alternatives(&World::star(16, 1e9, 0), "collective", &params(kind, "auto", n, 1600)).unwrap();
        alternatives.into_iter().map(|way| way.label).collect::<Vec<_>>().join(" ")
    };
    // Whether it fits the number of ranks is found out when it is planned.
    let all = "ring tree double-binary-tree recursive-doubling recursive-halving-doubling direct";
    assert_eq!([6, 8].map(|ranks| labels(ranks, "all-reduce")), [all; 2]);
    assert_eq!(labels(8, "all-to-all"), "pairwise bruck direct");
    assert_eq!(labels(8, "send-recv-chain"), "direct");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn simulation_is_as_the_formula_says(
        n in 2..17_u64, parts in 1..3000_u64, odd in prop_oneof![Just(0), 0..16_u64], channels in 1..4_u64,
        chunk in prop_oneof![Just(None), (1..3000_u64).prop_map(Some)],
        (latency, lead) in (0..400_000_u64, 0..300_000_u64),
        reduce in prop_oneof![Just(None), (1e9..1e11_f64).prop_map(Some)],
        efficiency in prop_oneof![Just(1.0), Just(0.9375), 0.3..1.0_f64],
    ) {
        let world = World::star(n as u32, 1e10, latency);
        for (kind, algorithms) in ALL {
            for algorithm in algorithms {
                if algorithm.starts_with("recursive") && !n.is_power_of_two() {
                    continue;
                }
                let mut params = params(kind, algorithm, n, parts * n * channels + odd);
                params["channels"] = json!(channels);
                params["protocol"] = json!({ "latency": lead, "efficiency": efficiency });
                if let Some(chunk) = chunk {
                    params["chunk"] = json!(chunk);
                }
                if let Some(reduce) = reduce {
                    params["reduce"] = json!(reduce);
                }
                let (_, _, relation) = holds(&world, "collective", &params);
                let is_pipelined = *algorithm == "ring" || algorithm.ends_with("tree");
                if odd == 0 && !(is_pipelined && chunk.is_some()) && (n.is_power_of_two() || !algorithm.ends_with("tree"))
                    && *algorithm != "double-binary-tree"
                {
                    prop_assert_eq!(relation, Relation::Equal, "{} by {}: {:?}", kind, algorithm, last(&world, "collective", &params).because);
                }
            }
        }
    }
}
