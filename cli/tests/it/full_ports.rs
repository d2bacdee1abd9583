//! Ports that many transfers or inputs fill by a hair too much: no policy overfills them, in either way.

use weir::{RunOptions, Scenario};

/// `many` transfers of 1 MB over a link of 10 GB/s, each limited to its part, rounded up.
fn limited(many: u64) -> String {
    let limit = 10_000_000_000_u64.div_ceil(many);
    format!(
        "weir: 1\ntopology:\n  link_types: {{ p: {{ bandwidth: 10GB/s }} }}\n  tree: {{ rc: {{ kind: switch, children: {{ a: {{ kind: host, link: p }}, \
         b: {{ kind: host, link: p }} }} }} }}\nworkload:\n  - parallel: [{{ transfer: {{ from: a, to: b, size: 1MB, limit: {limit}B/s }} }}]\n    \
         for: {{ i: [0..{}] }}\n",
        many - 1
    )
}

/// From each of `inputs` hosts, whose links have their part of 10 GB/s, rounded up, so many transfers.
fn merging(inputs: u64, each: u64) -> String {
    let bandwidth = 10_000_000_000_u64.div_ceil(inputs);
    format!(
        "weir: 1\ntopology:\n  link_types: {{ p: {{ bandwidth: 10GB/s }}, q: {{ bandwidth: {bandwidth}B/s }} }}\n  tree: {{ rc: {{ kind: switch, \
         children: {{ \"a[0-{}]\": {{ kind: host, link: q }}, b: {{ kind: host, link: p }} }} }} }}\nworkload:\n  \
         - parallel: [{{ transfer: {{ from: \"a{{i mod {inputs}}}\", to: b, size: 1MB }} }}]\n    for: {{ i: [0..{}] }}\n",
        inputs - 1,
        inputs * each - 1
    )
}

#[test]
fn no_policy_overfills_a_port_by_what_it_takes_for_rounding() {
    for yaml in [limited(3), limited(96), limited(701), merging(3, 1), merging(96, 1), merging(7, 3)] {
        ends_in_time(&yaml, false);
    }
    for yaml in [limited(1060), merging(3, 400), merging(96, 11)] {
        ends_in_time(&yaml, true);
        ends_in_time(&yaml, false);
    }
}

/// All of it together has 10 GB/s, and no more than the check of every answer allows.
fn ends_in_time(yaml: &str, phase_by_phase: bool) {
    for arbiter in ["pcie-congestion", "max-min", "equal-share", "input-fifo", "{ default: pcie-congestion }"] {
        let scenario = Scenario::opener().arbiter(arbiter).read(yaml, ".").expect("it reads");
        let run = scenario.run_with(&RunOptions { phase_by_phase, ..RunOptions::default() });
        let run = run.unwrap_or_else(|error| panic!("{arbiter}: {error}\n{yaml}"));
        let least = 1e6 * run.transfers().expect("they are kept").len() as f64 / 10e9;
        let took = run.makespan().seconds();
        assert!((least * (1.0 - 3e-9)..least * 1.001).contains(&took), "{arbiter}: {took} of {least}\n{yaml}");
    }
}
