//! `collective`: what its details say, links faster than 1 B/ps, and what a plan over levels waits for.

use serde_json::{Value, json};
use weir_plugin_api::{Estimates, LinkKind, NodeId, NodeKind, Plan, PlannedWork, SimDuration, Surroundings};
use weir_sim_core::{FabricBuilder, LinkSpec};

use crate::common::{CPU_A, GPU_A, World, details, equal, last, model, operation, plan, refusal, time_of};

fn link(bandwidth: f64) -> LinkSpec {
    LinkSpec { up: bandwidth, down: bandwidth, latency: SimDuration(0), kind: LinkKind::NVLINK }
}

/// Two machines on a network, 1 B/ps inside and a tenth of that across, with one more link in the first machine between its
/// first and its third GPU. The network comes first, then a switch and its GPUs, twice.
fn machines(gpus: u32) -> (World, Vec<u32>) {
    let mut fabric = FabricBuilder::new();
    let network = fabric.root(NodeKind::Network).unwrap();
    let mut ranks = Vec::new();
    for _ in 0..2 {
        let switch = fabric.child(network, NodeKind::Switch, link(1e11)).unwrap();
        ranks.extend((0..gpus).map(|_| fabric.child(switch, NodeKind::Gpu, link(1e12)).unwrap().0));
    }
    if gpus > 2 {
        fabric.lateral(NodeId(ranks[0]), NodeId(ranks[2]), link(1e12)).unwrap();
    }
    (World::new(fabric.build()), ranks)
}

/// Three rounds of 4000 B at 4 B/ps, so that each rank receives 12,000 of 16,000 B in 3 ns: the bus bandwidth is that of a link.
#[test]
fn a_ring_of_fast_links_has_their_bandwidth() {
    let world = World::star(4, 4e12, 0);
    let params = json!({ "kind": "all-gather", "algorithm": "ring", "size": 16_000, "ranks": [1, 2, 3, 4] });
    assert_eq!(time_of(&world, "collective", &params), 3000);
    equal(&world, "collective", &params);
    let estimated = details(&world, "collective", &params)["estimated"].clone();
    let bandwidth = |key: &str| (estimated[key].as_f64().expect(key) / 1e9).round();
    assert_eq!((bandwidth("algbw"), bandwidth("busbw")), (5333.0, 4000.0));
}

/// Reduce-scatter within machines, all-reduce between them, all-gather within: who has its part of one begins the next, and
/// behind the last there is nothing to wait for.
#[test]
fn ranks_wait_between_the_phases_alone() {
    let (world, ranks) = machines(2);
    let params = json!({ "kind": "all-reduce", "size": 8000, "ranks": ranks, "levels": ["machine", "network"] });
    let plan = plan(&world, "collective", &params);
    let joins = plan.iter().filter(|task| matches!(task.work, PlannedWork::Nothing)).map(|task| task.name.to_owned());
    let of_phase = |phase: u32| (0..4).map(move |rank| format!("j{phase}.{rank}"));
    assert_eq!(joins.collect::<Vec<_>>(), of_phase(0).chain(of_phase(1)).collect::<Vec<_>>());
}

/// The link between the machines is crossed once each way, and no ring does better: a link inside that would be a shorter way
/// is no reason to look for another order.
#[test]
fn an_order_that_meets_the_bound_is_kept() {
    let (world, ranks) = machines(4);
    let params = json!({ "kind": "all-gather", "size": 8000, "ranks": ranks, "order": "topology" });
    let found = details(&world, "collective", &params)["order"].clone();
    assert_eq!(found, json!({ "search": "given", "ring_bandwidth": 1e11, "at_most": 1e11 }));
}

/// An instance that has planned 5000 B for links of 1 GB/s is asked about links of 2 GB/s: 2.5 µs.
#[test]
fn estimates_are_of_the_fabric_that_is_asked_about() {
    let (slow, fast) = (World::small(1e9, 0), World::small(2e9, 0));
    let params: Value = json!({ "device": GPU_A, "in": 5000, "over": "fabric", "host": CPU_A });
    let (mut model, operation) = (model("offload"), operation("offload", &params));
    let (mut plan, mut estimates) = (Plan::new(), Estimates::default());
    let view = slow.fabric.view();
    model.plan(&operation, &Surroundings { fabric: &view, routes: &slow }, &mut plan).unwrap();
    let view = fast.fabric.view();
    model.estimate(&operation, &Surroundings { fabric: &view, routes: &fast }, &mut estimates).unwrap();
    let seconds = estimates.list.last().expect("an estimate").seconds;
    assert_eq!((seconds * 1e12).round() as u64, 2_500_000);
}

/// What the formula of a tree takes otherwise is named: chunks, uneven branches, and additions only where bytes are added.
#[test]
fn departures_of_trees_are_named() {
    let because = |kind: &str, algorithm: &str, n: u32, more: Value| {
        let world = World::star(n, 1e12, 0);
        let mut params =
            json!({ "kind": kind, "algorithm": algorithm, "size": 8000, "ranks": (1..=n).collect::<Vec<_>>() });
        params.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        last(&world, "collective", &params).because
    };
    let cut = || json!({ "chunk": 1000, "reduce": 5e11 });
    let said = because("reduce", "tree", 2, cut());
    assert!(said.contains("chunk: the formula passes whole messages on") && said.contains("reduce: "), "{said}");
    assert!(!said.contains("branches"), "{said}");
    let said = because("broadcast", "tree", 4, cut());
    assert!(said.contains("chunk: ") && !said.contains("reduce: "), "{said}");
    assert!(because("broadcast", "tree", 3, json!({})).contains("all branches of the tree as long as the longest"));
    assert_eq!(because("broadcast", "tree", 4, json!({})), "");
    assert!(because("all-reduce", "double-binary-tree", 2, json!({})).contains("both trees in turn"));
}

/// Two binary trees at one switch, links of 1 B/ps: half of the bytes has half of every link, whether it comes from two
/// children or goes to them. So a broadcast in chunks takes as long as a reduction whose additions take no time, and none takes
/// longer than its formula, 2h(α + cβ) + (S − 2c)β for each way.
#[test]
fn two_trees_take_no_longer_down_than_up() {
    let time = |kind: &str, n: u64, chunk: u64| {
        let world = World::star(n as u32, 1e12, 500);
        let (size, ranks) = (80_000, (1..=n).collect::<Vec<_>>());
        let params =
            json!({ "kind": kind, "algorithm": "double-binary-tree", "size": size, "ranks": ranks, "chunk": chunk });
        let (in_trees, above, ways) = if kind == "all-reduce" { (n, 0, 2) } else { (n - 1, 1, 1) };
        let h = u64::from(above + in_trees.next_power_of_two().ilog2());
        let formula = ways * (2 * h * (1000 + chunk) + size - 2 * chunk);
        assert_eq!((last(&world, "collective", &params).seconds * 1e12).round() as u64, formula, "{kind} of {n}");
        let time = time_of(&world, "collective", &params);
        assert!(time <= formula, "{kind} of {n} ranks in chunks of {chunk}: {time} ps, {formula} ps by the formula");
        time
    };
    for n in 2..=17 {
        for chunk in [1000, 4000] {
            time("all-reduce", n, chunk);
            assert_eq!(time("broadcast", n, chunk), time("reduce", n, chunk), "{n} ranks in chunks of {chunk}");
        }
        ["all-reduce", "broadcast", "reduce"].iter().for_each(|kind| _ = time(kind, n, 40_000));
    }
}

/// Eight ranks, 8000 B: the switch moves 1000 B up from each and 8000 B down for an all-gather, and the other way round for a
/// reduce-scatter. The plan has 8000 B both ways: as long as the way of all bytes is not the wider one that is the same time.
#[test]
fn a_switch_that_adds_needs_no_wider_links_one_way() {
    let world = |up: f64, down: f64| {
        let mut fabric = FabricBuilder::new();
        let switch = fabric.root(NodeKind::Switch).unwrap();
        (0..8).for_each(|_| _ = fabric.child(switch, NodeKind::Gpu, LinkSpec { up, down, ..link(up) }).unwrap());
        World::new(fabric.build())
    };
    let params =
        |kind: &str| json!({ "kind": kind, "algorithm": "nvls", "size": 8000, "ranks": (1..=8).collect::<Vec<_>>() });
    let time = |kind: &str, up: f64, down: f64| {
        equal(&world(up, down), "collective", &params(kind));
        time_of(&world(up, down), "collective", &params(kind))
    };
    for (up, down) in [(1e12, 1e12), (4e12, 1e12)] {
        assert_eq!(time("all-gather", up, down), 8000);
        assert_eq!(time("reduce-scatter", down, up), 8000);
    }
    assert_eq!([time("all-reduce", 4e12, 1e12), time("all-reduce", 1e12, 4e12)], [9000; 2]);
    for (kind, up, down, wider) in [
        ("all-gather", 1e12, 4e12, "from the switch than to"),
        ("reduce-scatter", 4e12, 1e12, "to the switch than from"),
    ] {
        let said = refusal(&world(up, down), "collective", &params(kind));
        assert!(said.starts_with(&format!("algorithm: {kind} by `nvls`")) && said.contains(wider), "{said}");
    }
    let warnings = |kind: &str| details(&world(1e12, 1e12), "collective", &params(kind))["warnings"].clone();
    for kind in ["all-gather", "reduce-scatter"] {
        assert!(warnings(kind)[0].as_str().is_some_and(|text| text.contains("as upper bounds")), "{kind}");
    }
    assert_eq!(warnings("all-reduce"), Value::Null);
}

/// Links that join two ranks are no route where what stands between them does not forward.
#[test]
fn a_route_needs_nodes_that_forward() {
    let mut fabric = FabricBuilder::new();
    let host = fabric.root(NodeKind::Host).unwrap();
    let ranks: Vec<u32> = (0..2).map(|_| fabric.child(host, NodeKind::Gpu, link(1e12)).unwrap().0).collect();
    let params = json!({ "kind": "all-gather", "size": 8000, "ranks": ranks });
    let said = refusal(&World::new(fabric.build()), "collective", &params);
    assert!(said.contains("no route") && said.ends_with("networks and NICs forward"), "{said}");
}
