//! Runs by what changes beside runs phase by phase: the same picosecond at every end, also where transfers queue, so that one
//! picosecond would change who comes next.

use weir::{Input, RunOptions, Scenario, SimTime};

/// A scenario with 3,000 transfers among 16 devices below four switches, of two sizes, over links whose shares are no whole
/// numbers; `engines` at once from a device and to it.
fn crowded(seed: u32, within: &str, engines: u32) -> String {
    let node = format!("{{ kind: gpu, link: l, engines: {engines} }}");
    format!(
        "weir: 1
topology:
  link_types: {{ l: {{ bandwidth: 11.6GB/s }}, m: {{ bandwidth: 25GB/s }} }}
  tree: {{ s: {{ kind: switch, children: {{ 't[0-3]': {{ kind: switch, link: m, children: {{ 'g[0-3]': {node} }} }} }} }} }}
arbiter: [max-min, strict-priority, equal-share, fcfs, pcie-congestion]
workload:
  - pattern: {{ kind: random, id: large, count: 2000, seed: {seed}, size: 3.7MB, within: {within} }}
  - pattern: {{ kind: random, id: small, count: 1000, seed: {seed}, size: 777777B, within: {within} }}
"
    )
}

/// Ends, and whether they came incrementally.
fn ends(scenario: &Scenario, policy: usize, phase_by_phase: bool) -> (Vec<SimTime>, bool) {
    let options = RunOptions { phase_by_phase, ..RunOptions::default() };
    let run = scenario.run_under(&scenario.arbiters()[policy], &options).expect("ends");
    let of = |run: &weir_report::Run<'_>| {
        (run.outcome.tasks.iter().map(|times| times.end).collect(), run.outcome.incremental)
    };
    run.report(of).expect("a report")
}

#[test]
fn both_ways_end_transfers_at_the_same_picosecond() {
    for (seed, within, engines) in [(1, "100ms", 1), (2, "1s", 1), (3, "10ms", 4), (4, "300ms", 1000)] {
        let text = crowded(seed, within, engines);
        let scenario = Scenario::opener().load(Input::text(&*text, "crowded.yaml", None)).expect("is right");
        for policy in 0..5 {
            let (changes, incremental) = ends(&scenario, policy, false);
            let (phases, _) = ends(&scenario, policy, true);
            let differ = changes.iter().zip(&phases).filter(|(one, other)| one != other).count();
            assert_eq!((incremental, changes.len(), differ), (true, 3000, 0), "{seed}, policy {policy}");
        }
    }
}

/// Each link up halves what comes from below, so that an eighth of 4 GB/s is left of a byte from the lowest. Beside links of 10^17
/// B/s a unit is 2^-4 B/s: shares of the links are as exact as results need it, and that rate is not.
#[test]
fn rates_too_small_for_integers_go_phase_by_phase() {
    let wide = "{ kind: gpu, link: { bandwidth: 1e8GB/s } }";
    let below = |name: &str, children: &str| format!("{name}: {{ kind: switch, link: l, children: {{ {children} }} }}");
    let lowest = below("c", &format!("'w[0-1]': {wide}"));
    let tree = below("a", &format!("u: {wide}, {}", below("b", &format!("v: {wide}, {lowest}"))));
    let text = format!(
        "weir: 1
topology:
  link_types: {{ l: {{ bandwidth: 4GB/s }} }}
  tree: {{ s: {{ kind: switch, children: {{ 'd[0-3]': {wide}, {tree} }} }} }}
arbiter: pcie-congestion
workload:
  - transfer: {{ from: w0, to: d0, size: 1GB }}
  - transfer: {{ from: w1, to: d1, size: 1GB }}
  - transfer: {{ from: v, to: d2, size: 1GB }}
  - transfer: {{ from: u, to: d3, size: 1GB }}
  - pattern: {{ kind: random, ranks: 'd[0-3]', count: 1000, seed: 1, size: 1GB }}
"
    );
    let scenario = Scenario::opener().load(Input::text(&*text, "tiny.yaml", None)).expect("is right");
    let (changes, incremental) = ends(&scenario, 0, false);
    assert_eq!((incremental, &changes), (false, &ends(&scenario, 0, true).0));
}
