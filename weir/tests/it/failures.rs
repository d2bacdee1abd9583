//! What is said of runs that do not end.

use weir::{Input, Scenario};

/// Two hops of 60 days each: no size and no bandwidth is at fault.
#[test]
fn latencies_alone_can_lead_beyond_the_horizon() {
    let text = "weir: 1
topology:
  link_types: { far: { bandwidth: 1GB/s, latency: 60d } }
  tree: { s: { kind: switch, children: { 'g[0-1]': { kind: gpu, link: far } } } }
workload:
  - transfer: { from: g0, to: g1, size: 1B }
";
    let scenario = Scenario::opener().load(Input::text(text, "far.yaml", None)).expect("is right");
    let error = scenario.run().map(|run| run.makespan()).expect_err("ends after the horizon").to_string();
    assert!(error.contains("check sizes, bandwidths and latencies"), "{error}");
}
