//! Collectives of traces that are planned as the operation `collective` is, by the keys under `collectives`.

use std::collections::BTreeSet;

use crate::common::*;
use crate::program_files::content;
use crate::protobuf::{attribute, block, framed, number};
use proptest::prelude::*;
use serde_json::{Value, json};
use weir_plugin_api::{LinkKind, NodeKind, SimDuration};
use weir_sim_core::{FabricBuilder, LinkSpec};

/// A kind, its number in traces of Chakra, whether it has a root, whether a rank puts in all of the size, and its action in
/// traces of SimGrid.
type Kind = (&'static str, u64, bool, bool, &'static str);

const KINDS: [Kind; 8] = [
    ("all-reduce", 0, false, true, "allreduce"),
    ("reduce", 1, true, true, "reduce"),
    ("all-gather", 2, false, false, "allgather"),
    ("gather", 3, true, false, "gather"),
    ("scatter", 4, true, true, "scatter"),
    ("broadcast", 5, true, true, "bcast"),
    ("all-to-all", 6, false, true, "alltoall"),
    ("reduce-scatter", 7, false, true, "reducescatter"),
];

const ALGORITHMS: [&str; 9] = [
    "ring",
    "tree",
    "double-binary-tree",
    "recursive-doubling",
    "recursive-halving-doubling",
    "pairwise",
    "bruck",
    "direct",
    "nvls",
];

/// A node of a trace: id, type, what it waits for, µs, attributes that are numbers, and the process group.
pub fn node(id: u64, kind: u64, waits: &[u64], micros: u64, attributes: &[(&str, u64)], group: &str) -> Vec<u8> {
    let mut body = [number(1, id), number(3, kind), number(7, micros)].concat();
    waits.iter().for_each(|&wait| body.extend(number(5, wait)));
    body.extend(attributes.iter().flat_map(|&(name, value)| attribute(name, value)));
    if !group.is_empty() {
        body.extend(block(10, &[block(1, b"pg_name"), block(29, group.as_bytes())].concat()));
    }
    framed(body)
}

/// A computation of some µs, behind others.
pub fn computes(id: u64, waits: &[u64], micros: u64) -> Vec<u8> {
    node(id, 4, waits, micros, &[], "")
}

/// A collective by its number, behind others.
pub fn does(id: u64, waits: &[u64], comm: u64, bytes: u64) -> Vec<u8> {
    node(id, 7, waits, 0, &[("comm_type", comm), ("comm_size", bytes), ("comm_root", 0)], "")
}

pub fn trace(nodes: &[Vec<u8>]) -> Value {
    content(&[vec![0], nodes.concat()].concat())
}

/// A trace of each rank, on the devices 1, 2 …
pub fn chakra(traces: &[Value], collectives: &Value) -> Value {
    let ranks: Vec<usize> = (1..=traces.len()).collect();
    json!({ "file": named(json!(traces)), "format": "chakra", "ranks": ranks, "collectives": collectives })
}

/// One collective of all devices as a program in one of the formats: `size` as the operation counts it.
pub fn program(kind: Kind, devices: &[u32], root: usize, size: u64, is_chakra: bool) -> Value {
    let (_, comm, _, puts_in_all, action) = kind;
    let n = devices.len();
    let part = size / n as u64;
    let (format, files) = if is_chakra {
        let bytes = if puts_in_all { size } else { part };
        let one = [("comm_type", comm), ("comm_size", bytes), ("comm_root", root as u64)];
        ("chakra", vec![trace(&[node(5, 7, &[], 0, &one, "")]); n])
    } else {
        let words = match action {
            "allreduce" => format!("{size} 0"),
            "reduce" => format!("{size} 0 {root}"),
            "bcast" => format!("{size} {root}"),
            "gather" | "scatter" => format!("{part} {part} {root}"),
            "reducescatter" => format!("{}0", format!("{part} ").repeat(n)),
            _ => format!("{part} {part}"),
        };
        ("simgrid-ti", vec![json!((0..n).map(|rank| format!("{rank} {action} {words}\n")).collect::<String>())])
    };
    json!({ "file": named(json!(files)), "format": format, "ranks": devices })
}

/// The same as the operation.
pub fn collective(kind: Kind, devices: &[u32], root: usize, size: u64, options: &Value) -> Value {
    let mut params = options.clone();
    params["kind"] = json!(kind.0);
    params["size"] = json!(size);
    params["ranks"] = json!(devices);
    if kind.2 {
        params["root"] = json!(devices[root]);
    }
    params
}

/// Two machines of four GPUs each on a network that is slower than their switches. GPUs are nodes 2 to 5 and 7 to 10.
pub fn machines() -> World {
    let link = |bandwidth: f64, latency: u64| LinkSpec {
        up: bandwidth,
        down: bandwidth,
        latency: SimDuration(latency),
        kind: LinkKind::NVLINK,
    };
    let mut fabric = FabricBuilder::new();
    let network = fabric.root(NodeKind::Network).unwrap();
    for _ in 0..2 {
        let switch = fabric.child(network, NodeKind::Switch, link(3e9, 700_000)).unwrap();
        for _ in 0..4 {
            fabric.child(switch, NodeKind::Gpu, link(1e10, 300_000)).unwrap();
        }
    }
    World::new(fabric.build())
}

fn options() -> impl Strategy<Value = Value> {
    let keys = (
        prop::option::of(1..4_u64),
        prop::option::of(1..5_000_u64),
        prop::option::of(1e8..1e11_f64),
        prop::option::of((0..3_000_000_u64, 0.3..1.0_f64)),
        prop::option::of(prop::sample::select(vec!["ranks", "topology"])),
        prop::bool::weighted(0.2),
    );
    (prop::option::weighted(0.9, prop::sample::select(&ALGORITHMS[..])), keys).prop_map(|(algorithm, keys)| {
        let (channels, chunk, reduce, protocol, order, levels) = keys;
        let mut options = json!({});
        let mut put = |key: &str, value: Option<Value>| value.into_iter().for_each(|value| options[key] = value);
        put("algorithm", algorithm.map(|word| json!(word)));
        put("channels", channels.map(|count| json!(count)));
        put("chunk", chunk.map(|bytes| json!(bytes)));
        put("reduce", reduce.map(|rate| json!(rate)));
        put("protocol", protocol.map(|(latency, efficiency)| json!({ "latency": latency, "efficiency": efficiency })));
        put("order", order.map(|word| json!(word)));
        put("levels", levels.then(|| json!(["machine", "network"])));
        options
    })
}

/// That a program takes as long as the operation, to the picosecond, or is refused for the same reason. Task names are unique.
pub fn agree(world: &World, program: &Value, operation: &Value) -> Result<(), TestCaseError> {
    match (try_plan(world, "program", program), try_plan(world, "collective", operation)) {
        (Ok(own), Ok(wanted)) => {
            prop_assert_eq!(run(world, &own, "max-min").makespan, run(world, &wanted, "max-min").makespan);
            let names: BTreeSet<&str> = own.iter().map(|task| task.name).collect();
            prop_assert_eq!(names.len(), own.len());
            let carried = |plan: &weir_plugin_api::Plan| {
                plan.iter().filter(|t| matches!(t.work, weir_plugin_api::PlannedWork::Carries { .. })).count()
            };
            prop_assert_eq!(carried(&own), carried(&wanted));
        }
        (Err(own), Err(wanted)) => {
            let (own, wanted) = (own.to_string(), wanted.to_string());
            let (_, reason) = wanted.split_once(": ").unwrap_or(("", &wanted));
            prop_assert!(own.ends_with(reason), "{own}\nby the operation: {wanted}");
        }
        (own, wanted) => prop_assert!(false, "{:?}, by the operation {:?}", own.err(), wanted.err()),
    }
    Ok(())
}

/// Every kind by every algorithm among two to eight ranks: 8 · 9 · 7 collectives in both formats.
#[test]
fn every_algorithm_takes_as_long_as_in_the_operation() {
    let mut planned = 0;
    for n in 2..=8_u32 {
        let (world, devices) = (World::star(n, 1e9, 500_000), (1..=n).rev().collect::<Vec<u32>>());
        for (kind, algorithm) in KINDS.into_iter().flat_map(|kind| ALGORITHMS.map(|word| (kind, word))) {
            let (size, root) = (840_u64 * 11, n as usize / 2);
            for is_chakra in [true, false] {
                let mut own = program(kind, &devices, root, size, is_chakra);
                own["collectives"] = json!({ "algorithm": algorithm });
                let operation = collective(kind, &devices, root, size, &json!({ "algorithm": algorithm }));
                agree(&world, &own, &operation).unwrap_or_else(|error| panic!("{own}: {error}"));
                planned += u32::from(try_plan(&world, "program", &own).is_ok());
            }
        }
    }
    // The kinds of each algorithm, direct 8 of them: 5 + 5 + 3 + 2 + 2 + 2 + 2 + 8 + 3 at the powers of two, less 4 elsewhere.
    assert_eq!(planned, 2 * (3 * 32 + 4 * 28));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// All keys have the same effect as in the operation, within a machine and across.
    #[test]
    fn every_key_has_the_effect_that_it_has_in_the_operation(
        options in options(),
        kind in prop::sample::select(&KINDS[..]),
        devices in prop::sample::subsequence(vec![2_u32, 3, 4, 5, 7, 8, 9, 10], 2..=8).prop_shuffle(),
        parts in 1..3_000_u64,
        root in 0..8_usize,
        is_chakra in any::<bool>(),
        of_kind in any::<bool>(),
    ) {
        let (world, root) = (machines(), root % devices.len());
        let size = parts * devices.len() as u64;
        let mut own = program(kind, &devices, root, size, is_chakra);
        own["collectives"] = if of_kind { json!({ "kinds": { kind.0: &options } }) } else { options.clone() };
        agree(&world, &own, &collective(kind, &devices, root, size, &options))?;
    }
}

/// What needs several machines: phases, rings that leave them by another rank on each channel, orders, NCCL's rings.
#[test]
fn levels_and_orders_are_those_of_the_operation() {
    let (world, devices) = (machines(), [2_u32, 7, 3, 8, 4, 9, 5, 10]);
    let by_machine = [2_u32, 3, 4, 5, 7, 8, 9, 10];
    let graph = "<graphs version=\"1\"><graph id=\"0\" pattern=\"4\" nchannels=\"2\">\
                 <channel><gpu dev=\"0\"/><gpu dev=\"2\"/><gpu dev=\"1\"/><gpu dev=\"3\"/></channel>\
                 <channel><gpu dev=\"3\"/><gpu dev=\"0\"/><gpu dev=\"1\"/><gpu dev=\"2\"/></channel></graph></graphs>";
    let graph = json!({ "order": { "graph": named(json!([graph])) } });
    for (devices, options) in [
        (devices, json!({ "levels": ["machine", "network"], "chunk": 500, "channels": 2, "reduce": 1e9 })),
        (devices, json!({ "order": "topology" })),
        (by_machine, json!({ "channels": 3, "protocol": { "latency": 900_000, "efficiency": 0.5 } })),
        (by_machine, graph),
    ] {
        for (kind, is_chakra) in KINDS.into_iter().flat_map(|kind| [(kind, true), (kind, false)]) {
            let has_ring = !matches!(kind.0, "gather" | "scatter" | "all-to-all");
            if options["order"].is_object() && !has_ring {
                continue;
            }
            let mut own = program(kind, &devices, 3, 24_000, is_chakra);
            own["collectives"] = options.clone();
            let operation = collective(kind, &devices, 3, 24_000, &options);
            assert_eq!(time_of(&world, "program", &own), time_of(&world, "collective", &operation), "{own}");
        }
    }
}

/// Two ranks at a switch, 1 GB/s, 1 µs from one to the other.
pub fn pair() -> World {
    World::star(2, 1e9, 500_000)
}

const STEP: fn(u64) -> u64 = |bytes| 1_000 * bytes + 1_000_000;
const US: u64 = 1_000_000;

/// Rank 1 begins 100 µs later. In a ring of two, round 1 waits for what round 0 has brought, so that both rounds come after that.
/// Of a broadcast the bytes are there by then, and the root is done before.
#[test]
fn a_rank_sends_once_it_has_begun() {
    let late = |comm: u64| {
        let early = trace(&[does(5, &[], comm, 200), computes(6, &[5], 30)]);
        let late = trace(&[computes(4, &[], 100), does(5, &[4], comm, 200)]);
        time_of(&pair(), "program", &chakra(&[early, late], &json!({})))
    };
    assert_eq!(late(0), 100 * US + 2 * STEP(100) + 30 * US);
    assert_eq!(late(5), 100 * US);
    // A reduction to rank 0 is what rank 1 sends.
    assert_eq!(late(1), 100 * US + STEP(200) + 30 * US);
}

/// What is received is added once the rank takes part: rank 1 gets its 200 B at 1.2 µs, begins at 100 µs, and adds for 2 µs.
#[test]
fn a_rank_adds_once_it_has_begun() {
    let root = ("comm_root", 1);
    let reduces = |id, waits: &[u64]| node(id, 7, waits, 0, &[("comm_type", 1), ("comm_size", 200), root], "");
    let traces = [trace(&[reduces(5, &[])]), trace(&[computes(4, &[], 100), reduces(5, &[4])])];
    assert_eq!(time_of(&pair(), "program", &chakra(&traces, &json!({ "reduce": 1e8 }))), 102 * US);
}

/// One collective behind the other, at each rank; the second one by its own algorithm. A tree of four has two steps.
#[test]
fn kinds_have_keys_of_their_own() {
    let file = trace(&[does(5, &[], 5, 100), does(6, &[5], 2, 100), computes(7, &[6], 3)]);
    let world = World::star(4, 1e9, 500_000);
    let time = |collectives: Value| time_of(&world, "program", &chakra(&vec![file.clone(); 4], &collectives));
    // Chain and ring have three steps each. Ranks 0 and 1 begin the ring before the others: its first two rounds wait for the
    // end of the chain at rank 3 all the same.
    let both =
        time(json!({ "kinds": { "broadcast": { "algorithm": "tree" }, "all-gather": { "algorithm": "ring" } } }));
    let tree = time(json!({ "algorithm": "ring", "kinds": { "broadcast": { "algorithm": "tree" } } }));
    assert_eq!(both, 2 * STEP(100) + 3 * STEP(100) + 3 * US);
    assert_eq!(both, tree);
    // What a kind does not say is that of all: 5 µs before each step of both.
    let slow = json!({ "protocol": { "latency": 5 * US }, "kinds": { "broadcast": { "algorithm": "tree" } } });
    assert_eq!(time(slow), both + 5 * 5 * US);
}

/// Collectives of two groups at once, among ranks that stand between those of the other group.
#[test]
fn groups_do_their_collectives_side_by_side() {
    let of_group =
        |name: &str| trace(&[node(5, 7, &[], 0, &[("comm_type", 0), ("comm_size", 100), ("comm_root", 0)], name)]);
    let mut params = chakra(&["a", "b", "a", "b"].map(of_group), &json!({ "algorithm": "recursive-doubling" }));
    params["groups"] = json!([{ "name": "a", "ranks": [0, 2] }, { "name": "b", "ranks": [3, 1] }]);
    assert_eq!(time_of(&World::star(4, 1e9, 500_000), "program", &params), STEP(100));
    let counts = details(&World::star(4, 1e9, 500_000), "program", &params);
    assert_eq!((&counts["messages"], &counts["bytes"]), (&json!(4), &json!(400)));
}

/// Two collectives that do not wait for each other share the link, not its lanes, and add side by side: both have their 100 B at
/// 1.2 µs, and 1 µs later the sum.
#[test]
fn collectives_of_one_group_do_not_wait_for_each_other() {
    let file = trace(&[does(5, &[], 5, 100), does(6, &[], 5, 100)]);
    assert_eq!(time_of(&pair(), "program", &chakra(&[file.clone(), file], &json!({}))), STEP(200));
    let file = trace(&[does(5, &[], 1, 100), does(6, &[], 1, 100)]);
    assert_eq!(time_of(&pair(), "program", &chakra(&[file.clone(), file], &json!({ "reduce": 1e8 }))), STEP(200) + US);
}

/// Barriers, collectives without bytes and those with unequal parts stay messages.
#[test]
fn what_is_no_operation_stays_messages() {
    let files = |nodes: &[Vec<u8>]| vec![trace(nodes); 2];
    for nodes in [vec![does(5, &[], 9, 0)], vec![does(5, &[], 0, 0)]] {
        let planned = chakra(&files(&nodes), &json!({ "algorithm": "tree" }));
        let mut default = planned.clone();
        default.as_object_mut().unwrap().remove("collectives");
        assert_eq!(plan(&pair(), "program", &planned), plan(&pair(), "program", &default));
    }
    let text = "0 reducescatter 30 40 0\n1 reducescatter 30 40 0\n0 alltoallv 9 0 5 9 0 5\n1 alltoallv 9 5 0 9 5 0\n";
    let unequal = json!({ "file": named(json!([text])), "format": "simgrid-ti", "ranks": [1, 2] });
    let mut planned = unequal.clone();
    planned["collectives"] = json!({ "algorithm": "pairwise" });
    assert_eq!(plan(&pair(), "program", &planned), plan(&pair(), "program", &unequal));
}

/// `message` is for sends and receives. Here a message of 100 B with its overheads comes before a broadcast of as much, in SimGrid
/// from any rank: 2 µs, the way, 2 µs; the flop of a reduction come behind.
#[test]
fn messages_cost_what_they_did_beside_planned_collectives() {
    for from in ["0", "-1"] {
        let text = format!(
            "0 send 1 0 100\n0 bcast 100 0\n1 recv {from} 0 100\n1 bcast 100 0\n0 allreduce 200 5e3\n1 allreduce 200 5e3\n"
        );
        let params = json!({ "file": named(json!([text])), "format": "simgrid-ti", "ranks": [1, 2], "flop_rate": 1e9,
            "message": { "overhead": 2 * US }, "collectives": {} });
        // Eager: rank 0 broadcasts at 2 µs, when its message goes, too: both have 0.2 µs on the same link. Rank 1 receives at 5.2 µs
        // and begins its part then; the ring is two steps of 100 B.
        assert_eq!(time_of(&pair(), "program", &params), (5_200_000 + 2 * STEP(100)) + 5 * US);
        // With additions beside the flop: 100 B at 1 B/ps, of the first step.
        let mut adds = params;
        adds["collectives"] = json!({ "reduce": 1e12 });
        assert_eq!(time_of(&pair(), "program", &adds), (5_200_000 + 2 * STEP(100)) + 100 + 5 * US);
    }
}
