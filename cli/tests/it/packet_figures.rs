//! Figures of packets.md, section 6, that need the whole command: fluid runs beside runs of packets.

use serde_json::Value;

use crate::common::{self, json_lines, weir};
use crate::packets::ended;

/// The results of a scenario of the library by rates, without the measured loss of the root complex, and packet by packet.
fn both(name: &str) -> [Vec<f64>; 2] {
    let file = common::library().join(name);
    let mut command = weir();
    command.arg("run").arg(file).args(["--json", "--fidelity", "fluid,packet", "--set", "arbiter.tau=0"]);
    let ended = common::ended(command.output().expect("the command starts"));
    let results = json_lines(&ended.stdout);
    assert_eq!(results.len(), 2, "{name}: {}", ended.stderr);
    [all_ends(&results[0]), all_ends(&results[1])]
}

fn all_ends(result: &Value) -> Vec<f64> {
    let transfers = result["transfers"].as_array().expect("a list").iter();
    transfers.map(|transfer| transfer["end_ps"].as_f64().expect("it has ended")).collect()
}

/// Patterns of the library on which the formula and packets agree.
const AGREEING: [&str; 8] = [
    "pair-downstream",
    "pair-root-complex",
    "pair-upstream",
    "four-transfers",
    "scatter-t1",
    "scatter-t2",
    "gather-t1",
    "all-to-all-t1",
];

/// Pairs, Table II, scatters, and on T1 the gather and the all-to-all of the congestion paper: every end within 1 %.
#[test]
fn formulas_and_packets_agree_where_nothing_splits() {
    for name in AGREEING {
        let [fluid, packets] = both(&format!("pcie/{name}.yaml"));
        assert!(!fluid.is_empty() && fluid.len() == packets.len(), "{name}");
        for (fluid, packets) in fluid.iter().zip(&packets) {
            assert!((packets / fluid - 1.0).abs() < 0.01, "{name}: {packets} and {fluid}");
        }
    }
}

/// Random numbers below the one that is asked for.
fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    move |end| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    }
}

/// Ends of transfers, run by run.
type Ends = Vec<Vec<f64>>;

/// The patterns of section 6 without the halo exchanges, with 20 random graphs: ends by the formula without its loss, by
/// `max-min`, by packets with the oldest first upwards, and by packets with round robin.
fn patterns() -> Vec<Ends> {
    const WAYS: [&str; 10] = [
        "--arbiter",
        "{name: pcie-congestion, tau: 0}",
        "--arbiter",
        "max-min",
        "--fidelity",
        "fluid",
        "--fidelity",
        "{packet: {port_arbiter: {up: oldest-first, down: round-robin}}}",
        "--fidelity",
        "packet",
    ];
    let files = AGREEING.into_iter().chain(["gather-t2", "all-to-all-t2"]);
    let of_files = files.map(|name| {
        let file = common::library().join(format!("pcie/{name}.yaml"));
        let mut command = weir();
        let arguments = command.arg("run").arg(file).arg("--json").args(WAYS);
        common::ended(arguments.output().expect("the command starts"))
    });
    let arguments = [&["run", "s.yaml", "--json"], &WAYS[..]].concat();
    let of_graphs = (0..20).map(|seed| ended(&random_graph(seed), &arguments));
    let ends = |ended: common::Ended| json_lines(&ended.stdout).iter().map(all_ends).collect::<Ends>();
    of_files.chain(of_graphs).map(ends).collect()
}

/// Transfers within 5 % of the formula, of 230. The prototype of section 6 had 95 % where ports serve the oldest upwards, 89 %
/// with round robin alone and 84 % by `max-min`, on random graphs of its own; on these it is 98, 92 and 85 %.
#[test]
fn shares_of_transfers_within_five_per_cent_of_the_formula() {
    let patterns = patterns();
    for (way, expected) in [(2, 226_i32), (3, 211), (1, 196)] {
        let ratios =
            patterns.iter().flat_map(|ends| ends[way].iter().zip(&ends[0]).map(|(own, formula)| own / formula));
        let (within, all) =
            ratios.fold((0, 0), |(within, all), r| (within + i32::from((r - 1.0).abs() < 0.05), all + 1));
        assert!(all == 230 && (within - expected).abs() <= 2, "{way}: {within} of {all}");
    }
}

/// The first of the formula ends 71 % before `max-min` says; packets agree with the formula.
#[test]
fn a_gather_is_off_by_71_per_cent_under_max_min() {
    let file = common::library().join("pcie/gather-t1.yaml");
    let mut command = weir();
    command.arg("run").arg(file).args(["--json", "--fidelity", "fluid,packet", "--arbiter", "max-min"]);
    let ended = common::ended(command.output().expect("the command starts"));
    let [rates, packets] = [0, 1].map(|at| all_ends(&json_lines(&ended.stdout)[at]));
    let off = rates.iter().zip(&packets).map(|(rates, packets)| 1.0 - packets / rates).fold(0.0, f64::max);
    assert!((off - 0.714).abs() < 0.002, "{off}");
}

/// A tree of switches with seven devices that serve all their copies at once, and random copies between them.
fn random_tree(seed: u64) -> String {
    let mut below = random(seed);
    let device =
        |n: u64| format!("g{n}: {{ kind: gpu, link: l, engines: 16, interleave: {{ name: random, seed: {n} }} }}");
    let switches = 2 + below(2);
    let mut ports: Vec<Vec<String>> = vec![Vec::new(); switches as usize];
    (0..7).for_each(|n| ports[(if n < switches { n } else { below(switches) }) as usize].push(device(n)));
    let switch = |(at, devices): (usize, &Vec<String>)| {
        format!("s{at}: {{ kind: switch, link: l, children: {{ {} }} }}", devices.join(", "))
    };
    let switches: Vec<_> = ports.iter().enumerate().map(switch).collect();
    let copies: Vec<_> = (0..8 + below(10))
        .map(|_| {
            let from = below(7);
            format!("  - transfer: {{ from: g{from}, to: g{}, size: 2MB }}\n", (from + 1 + below(6)) % 7)
        })
        .collect();
    format!(
        "weir: 1
fidelity: [fluid, {{ packet: {{ buffer: {}B }} }}]
topology:
  link_types: {{ l: {{ bandwidth: 10GB/s, latency: 100ns, packet: {{ credit_return: 1ns }} }} }}
  tree: {{ rc: {{ kind: root-complex, children: {{ {} }} }} }}
arbiter: input-fifo
workload:
{}",
        280 * (8 + below(9)),
        switches.join(", "),
        copies.concat()
    )
}

/// `input-fifo` is the same rule by mean values: totals within 5 % in nine of ten.
#[test]
fn input_fifo_and_packets_agree_on_random_trees() {
    let mut off = Vec::new();
    for seed in 0..20 {
        let ended = ended(&random_tree(seed), &["run", "s.yaml", "--json"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let results = json_lines(&ended.stdout);
        let [fluid, packets] = [0, 1].map(|at| results[at]["makespan_ps"].as_f64().expect("a number"));
        if (packets / fluid - 1.0).abs() > 0.05 {
            off.push((seed, packets / fluid));
        }
    }
    assert!(off.len() <= 2, "{off:?}");
}

/// Four messages of 10 MB between random GPUs of T2, all at once.
fn random_graph(seed: u64) -> String {
    let mut below = random(seed);
    let message = |from: u64, to: u64| format!("  - transfer: {{ from: gpu{from}, to: gpu{to}, size: 10MB }}\n");
    let messages: String = (0..4)
        .map(|_| {
            let from = below(8);
            message(from, (from + 1 + below(7)) % 8)
        })
        .collect();
    let board = |n: u64| {
        let gpus = [2 * n, 2 * n + 1].map(|gpu| format!("gpu{gpu}: {{ kind: gpu, link: pcie }}")).join(", ");
        format!("k80-{n}: {{ kind: switch, link: pcie, children: {{ {gpus} }} }}")
    };
    let switch = |n: u64| {
        let boards = [2 * n, 2 * n + 1].map(board).join(", ");
        format!("plx{n}: {{ kind: switch, link: pcie, children: {{ {boards} }} }}")
    };
    format!(
        "weir: 1
fidelity: [fluid, packet]
topology:
  link_types: {{ pcie: {{ bandwidth: 11.6GB/s }} }}
  tree: {{ rc: {{ kind: root-complex, children: {{ {} }} }} }}
arbiter: {{ name: pcie-congestion, tau: 0 }}
workload:
{messages}",
        [0, 1].map(switch).join(", ")
    )
}

/// Few messages between random GPUs: 18 of 20 graphs within 0.1 %, all makespans within 3 %. With more of them the two part
/// (docs/packets.md).
#[test]
fn formulas_and_packets_agree_on_random_graphs() {
    let mut off = Vec::new();
    for seed in 0..20 {
        let ended = ended(&random_graph(seed), &["run", "s.yaml", "--json"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let results = json_lines(&ended.stdout);
        let [fluid, packets] = [0, 1].map(|at| all_ends(&results[at]));
        let ratios: Vec<f64> = fluid.iter().zip(packets).map(|(f, p)| p / f - 1.0).collect();
        let makespans = [0, 1].map(|at| results[at]["makespan_ps"].as_f64().expect("a number"));
        assert!((makespans[1] / makespans[0] - 1.0).abs() < 0.03, "{seed}: {makespans:?}");
        if ratios.iter().any(|ratio| ratio.abs() > 1e-3) {
            off.push((seed, ratios));
        }
    }
    assert!(off.len() <= 2, "{off:?}");
}
