//! Runs by what changes beside runs phase by phase: the same picosecond at every end, also where transfers queue, so that one
//! picosecond would change who comes next.

use weir::{Input, RunOptions, Scenario};

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

#[test]
fn both_ways_end_transfers_at_the_same_picosecond() {
    for (seed, within, engines) in [(1, "100ms", 1), (2, "1s", 1), (3, "10ms", 4), (4, "300ms", 1000)] {
        let text = crowded(seed, within, engines);
        let scenario = Scenario::opener().load(Input::text(&*text, "crowded.yaml", None)).expect("is right");
        for (number, policy) in scenario.arbiters().iter().enumerate() {
            let [changes, phases] = [false, true].map(|phase_by_phase| {
                let options = RunOptions { phase_by_phase, ..RunOptions::default() };
                let run = scenario.run_under(policy, &options).expect("ends");
                run.report(|run| {
                    assert_eq!(run.outcome.incremental, !phase_by_phase);
                    run.outcome.tasks.iter().map(|times| times.end).collect::<Vec<_>>()
                })
                .expect("a report")
            });
            let differ = changes.iter().zip(&phases).filter(|(one, other)| one != other).count();
            assert_eq!((changes.len(), differ), (3000, 0), "{seed}, policy {number}");
        }
    }
}
