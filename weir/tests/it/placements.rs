//! Placements by costs, each by hand.

use weir::optimize::{SearchOptions, SearchReport};
use weir::{Error, Input, Scenario};

use crate::joint::{file, folder};

/// g0 and g1 below one switch, g2 at another: links of 1 µs, and 3 µs between the switches. One unit goes from rank 0 to rank 1.
fn text(link: &str, rest: &str) -> String {
    format!(
        "weir: 1
topology:
  link_types: {{ x: {{ {link} }} }}
  tree:
    r:
      kind: switch
      children:
        s: {{ kind: switch, link: x, children: {{ 'g[0-1]': {{ kind: gpu, link: x }} }} }}
        t: {{ kind: switch, link: x, children: {{ 'g[2-3]': {{ kind: gpu, link: x }} }} }}
arbiter: max-min
ranks: [g0, g2]
workload: [{{ transfer: {{ from: {{ rank: 0 }}, to: {{ rank: 1 }}, size: 4MB }} }}]
optimize: {{ vary: placement, {rest} }}
"
    )
}

fn searched(text: String) -> Result<SearchReport, Error> {
    let scenario = Scenario::opener().load(Input::text(text, "placed.yaml", Some(&folder()))).expect("is right");
    let plain = SearchOptions { timing: false, ..SearchOptions::default() };
    Ok(scenario.optimize_with(0, &plain)?.report.expect("of one search"))
}

const LATE: &str = "bandwidth: 1GB/s, latency: 1us";

/// Four links from g0 to g2, two from g0 to g1: half of the longest latency. 4 MB are one unit each way, so half of it.
#[test]
fn latencies_are_relative_to_the_longest() {
    let by = |objective: &str| {
        searched(text(LATE, &format!("objective: {objective}, devices: [g0, g2, g1, g3]"))).expect("a result").result
    };
    let latency = by("latency");
    assert_eq!((latency.baseline, latency.best), (0.5, 0.25), "{latency:?}");
    let bandwidth = by("bandwidth");
    assert_eq!(bandwidth.best, bandwidth.baseline, "all routes have 1 GB/s");
    // Without any latency there is nothing to compare by, unless by something else.
    let none = |objective: &str| {
        searched(text("bandwidth: 1GB/s", &format!("objective: {objective}, devices: [g0, g2, g1, g3]")))
    };
    assert!(none("latency").expect_err("no latencies").to_string().contains("latenc"));
    assert!(none("distance").is_ok() && none("bandwidth").is_ok());
}

/// Measured: 0.4 from g0 to g2 and back, the longest, and 0.1 from g1 to g3; the topology is not asked.
#[test]
fn measured_values_are_relative_to_the_worst() {
    let rows = [[0.0, 0.3, 0.4, 0.3], [0.3, 0.0, 0.3, 0.1], [0.4, 0.3, 0.0, 0.3], [0.3, 0.1, 0.3, 0.0]];
    let row = |at: usize| format!("g{at},{}\n", rows[at].map(|value| value.to_string()).join(","));
    let table = format!("device,g0,g1,g2,g3\n{}", (0..4).map(row).collect::<String>());
    file("pairs.csv", &table);
    let by = |objective: &str| {
        let rest = format!("objective: {objective}, matrix: pairs.csv, devices: [g0, g2, g1, g3]");
        searched(text("bandwidth: 1GB/s", &rest)).expect("a result").result
    };
    let latency = by("latency");
    assert!(latency.baseline == 0.5 && (latency.best - 0.125).abs() < 1e-12, "{latency:?}");
    let mut places = latency.solution.placement.expect("a placement");
    places.sort();
    assert_eq!(places, ["g1", "g3"]);
    // By bandwidth the largest is the best: what the baseline has.
    let bandwidth = by("bandwidth");
    assert_eq!(
        (bandwidth.best, bandwidth.solution.placement),
        (bandwidth.baseline, Some(vec!["g0".to_owned(), "g2".to_owned()]))
    );
}

/// Ranks of which nothing is sent have no places to search, whether placements are simulated or not.
#[test]
fn nothing_sent_between_ranks_is_nothing_to_place() {
    for objective in ["makespan", "distance"] {
        let text =
            text(LATE, &format!("objective: {objective}")).replace("{ rank: 0 }", "g0").replace("{ rank: 1 }", "g2");
        let error = searched(text).expect_err("nothing to place").to_string();
        assert!(error.contains("nothing is sent from rank to rank"), "{objective}: {error}");
    }
}
