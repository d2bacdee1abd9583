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

/// Ten of the transfers that wait are named, and how many more there are.
#[test]
fn transfers_that_wait_are_counted() {
    let of = |count: usize| {
        let sent: String =
            (0..count).map(|i| format!("  - transfer: {{ id: t{i}, from: h, to: g0, size: 1MB }}\n")).collect();
        let text = format!(
            "weir: 1
topology:
  link_types: {{ x: {{ bandwidth: 1GB/s }} }}
  tree: {{ s: {{ kind: switch, children: {{ h: {{ kind: host, link: x }}, g0: {{ kind: gpu, link: x }} }} }} }}
events: [{{ at: 1us, link: [g0, s], bandwidth: down }}]
workload:
{sent}"
        );
        let scenario = Scenario::opener().load(Input::text(text, "down.yaml", None)).expect("is right");
        scenario.run().map(|run| run.makespan()).expect_err("nothing goes on").to_string()
    };
    let (ten, twelve) = (of(10), of(12));
    assert!(ten.contains("t8, t9 (10 in all)"), "{ten}");
    assert!(twelve.contains("t8, t9 and 2 more (12 in all)"), "{twelve}");
}
