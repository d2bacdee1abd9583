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
    let ends = |result: &Value| {
        let transfers = result["transfers"].as_array().expect("a list").iter();
        transfers.map(|transfer| transfer["end_ps"].as_f64().expect("it has ended")).collect()
    };
    [ends(&results[0]), ends(&results[1])]
}

/// Pairs, Table II, scatters, and on T1 the gather and the all-to-all of the congestion paper: every end within 1 %.
#[test]
fn formulas_and_packets_agree_where_nothing_splits() {
    for name in [
        "pair-downstream",
        "pair-root-complex",
        "pair-upstream",
        "four-transfers",
        "scatter-t1",
        "scatter-t2",
        "gather-t1",
        "all-to-all-t1",
    ] {
        let [fluid, packets] = both(&format!("pcie/{name}.yaml"));
        assert!(!fluid.is_empty() && fluid.len() == packets.len(), "{name}");
        for (fluid, packets) in fluid.iter().zip(&packets) {
            assert!((packets / fluid - 1.0).abs() < 0.01, "{name}: {packets} and {fluid}");
        }
    }
}

/// A tree of switches with seven devices that serve all their copies at once, and random copies between them.
fn random_tree(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    let mut below = |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
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
