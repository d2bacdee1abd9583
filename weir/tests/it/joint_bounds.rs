//! What no candidate of a simulated search is better than, by hand: at 1 GB/s 10 kB take 10 µs, and bounds of some µs are
//! known to the picosecond.

use weir::optimize::{Method, SearchOptions, SearchReport};
use weir::{Input, Scenario};

const US: f64 = 1e6;
/// What each case has in common: one candidate, the baseline.
const ONE: SearchOptions<'_> = SearchOptions {
    vary: None,
    method: Some(Method::LocalSearch),
    objective: None,
    exact: false,
    budget: None,
    candidates: Some(1),
    seed: 0,
    shard: None,
    timing: false,
    checkpoint: None,
    cancel: None,
    watch: &(),
};

fn searched(text: &str) -> SearchReport {
    let scenario = Scenario::opener().load(Input::text(text.to_owned(), "bound.yaml", None)).expect("is right");
    scenario.optimize_with(0, &ONE).expect("a result").report.expect("of one search")
}

fn text(topology: &str, items: &[&str], optimize: &str) -> String {
    let items: String = items.iter().map(|item| format!("  - {item}\n")).collect();
    format!("weir: 1\narbiter: max-min\n{topology}workload:\n{items}optimize: {{ {optimize} }}\n")
}

/// Checks the baseline, the bound to the picosecond, and what sets it. What is found is the best where it is no more than the
/// bound, and only there; sums are rounded to picoseconds, and so their bounds are half of one lower.
fn check(text: &str, (best, bound): (f64, f64), by: &str) {
    let report = searched(text);
    let found = report.result.bound.expect("a bound");
    assert_eq!((report.result.best / US, report.bound_by.as_deref()), (best, Some(by)), "{text}");
    assert!(found <= bound * US && found > bound * US - 1.0, "{found} ps, not {bound} µs: {text}");
    assert_eq!(report.result.proved_optimal, best <= bound && found == bound * US, "{text}");
}

const STAR: &str = "topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { s: { kind: switch, children: { \"g[0-3]\": { kind: gpu, link: x } } } }
";

/// Two links of 1 µs behind 10 kB, twice: 24 µs, and 2 µs more where the engine of g0 sends 2 kB first.
#[test]
fn latencies_are_part_of_the_critical_path() {
    let late = STAR.replace("1GB/s", "1GB/s, latency: 1us");
    let items = [
        "transfer: { id: a, from: g0, to: g1, size: 10kB }",
        "transfer: { id: d, from: g0, to: g2, size: 2kB }",
        "transfer: { id: b, from: g1, to: g2, size: 10kB, after: [a] }",
    ];
    let [a, d, b] = items;
    check(&text(&late, &items, "vary: order"), (24.0, 24.0), "the critical path");
    check(&text(&late, &[d, a, b], "vary: order"), (26.0, 24.0), "the critical path");
}

/// An engine takes the times of what it sends over its slots. At a quarter of the bandwidth 10 kB take 40 µs.
#[test]
fn an_engine_is_busy_for_its_part_of_all_times() {
    let two = STAR.replace("kind: gpu", "kind: gpu, engines: 2");
    let four = [1, 2, 3, 1].map(|to| format!("transfer: {{ from: g0, to: g{to}, size: 10kB, limit: 0.25GB/s }}"));
    let four = four.each_ref().map(String::as_str);
    check(&text(&two, &four, "vary: order"), (80.0, 80.0), "the busiest engine");
    check(&text(STAR, &four, "vary: order"), (160.0, 160.0), "the busiest engine");
    // From 10 µs on 20 µs each, and then 10 µs out of another device.
    let items = [
        "compute: { id: k, device: g2, time: 10us }",
        "transfer: { id: a, from: g0, to: g1, size: 10kB, limit: 0.5GB/s, after: [k] }",
        "transfer: { id: b, from: g0, to: g2, size: 10kB, limit: 0.5GB/s, after: [k] }",
        "transfer: { id: c, from: g1, to: g2, size: 10kB, after: [a, b] }",
    ];
    check(&text(STAR, &items, "vary: order"), (60.0, 60.0), "the busiest engine");
}

/// What several tasks must have crossed counts before a task that waits for them: from 10 µs on 20 kB go into g2, and then
/// 10 kB out of it.
#[test]
fn what_waits_for_several_waits_for_their_link() {
    let items = [
        "compute: { id: k, device: g2, time: 10us }",
        "transfer: { id: a, from: g0, to: g2, size: 10kB, after: [k] }",
        "transfer: { id: d, from: g0, to: g1, size: 1kB }",
        "transfer: { id: b, from: g1, to: g2, size: 10kB, after: [k] }",
        "transfer: { id: c, from: g2, to: g0, size: 10kB, after: [a, b] }",
    ];
    let [k, a, d, b, c] = items;
    check(&text(STAR, &[k, d, a, b, c], "vary: order"), (40.0, 40.0), "the busiest engine");
}

/// 10 and 20 µs beside each other: 2 · 10 + 20, and the larger of 3 · 10 and 20.
#[test]
fn weighted_ends_are_those_of_the_critical_path() {
    let items = [
        "transfer: { id: a, from: g0, to: g1, size: 10kB }",
        "transfer: { id: b, from: g2, to: g3, size: 20kB }",
        "transfer: { from: g0, to: g2, size: 1kB }",
    ];
    let by = |objective: &str| text(STAR, &items, &format!("vary: order, objective: {{ {objective} }}"));
    check(&by("sum: { a: 2, b: 1 }"), (40.0, 40.0), "the critical path");
    check(&by("max: { a: 3, b: 1 }"), (30.0, 30.0), "the critical path");
}

/// The steps of an all-gather are tasks as others, 3 rounds of 10 kB. Where ranks are placed its plan may change: then there is
/// no bound.
#[test]
fn operations_have_a_bound_where_their_devices_are_known() {
    let items = [
        "collective: { id: c, kind: all-gather, size: 40kB, ranks: 'g[0-3]', algorithm: ring }",
        "transfer: { id: a, from: g0, to: g2, size: 10kB, after: [c] }",
        "transfer: { id: b, from: g0, to: g3, size: 10kB, after: [c] }",
    ];
    check(&text(STAR, &items, "vary: order"), (50.0, 50.0), "the busiest engine");
    let placed = format!("{STAR}ranks: [g0, g1]\n");
    let sent = "transfer: { from: { rank: 0 }, to: { rank: 1 }, size: 10kB }";
    let report = searched(&text(&placed, &[items[0], sent], "vary: placement, devices: 'g[0-3]'"));
    assert_eq!((report.result.bound, report.bound_by), (None, None));
}

/// Barriers take no time, whether a task waits for none or two of them.
#[test]
fn what_takes_no_time_adds_none() {
    let items = [
        "barrier: { id: b1 }",
        "barrier: { id: b2 }",
        "transfer: { id: a, from: g0, to: g1, size: 10kB, after: [b1, b2] }",
        "transfer: { id: b, from: g0, to: g2, size: 10kB, after: [b2, b1] }",
        "compute: { id: k, device: g3, time: 5us, after: [a, b] }",
    ];
    check(&text(STAR, &items, "vary: order"), (25.0, 25.0), "the busiest engine");
}

/// Spread over two ways of 1 GB/s, each half of the bytes: 20 kB take 10 µs on them, and on the sender's engine.
#[test]
fn a_transfer_over_several_ways_is_as_fast_as_all_of_them() {
    let spines = "topology:
  link_types: { x: { bandwidth: 4GB/s }, t: { bandwidth: 1GB/s } }
  tree:
    \"leaf[0-1]\": { kind: switch, children: { g: { kind: gpu, link: x } } }
    \"spine[0-1]\": { kind: switch }
  links:
    - { between: [leaf0, spine0], type: t }
    - { between: [leaf1, spine0], type: t }
    - { between: [leaf0, spine1], type: t }
    - { between: [leaf1, spine1], type: t }
";
    let spread = "transfer: { from: leaf0/g, to: leaf1/g, size: 10kB, routing: spread }";
    check(&text(spines, &[spread, spread], "vary: order"), (10.0, 10.0), "the busiest engine");
}

/// 1 B takes 1 ms and 2 B at half of the rate 4 ms, one after the other: 3 B in 5 ms, and no order is better.
#[test]
fn a_throughput_counts_every_byte() {
    let slow = STAR.replace("1GB/s", "1kB/s");
    let items = [
        "transfer: { id: a, from: g0, to: g1, size: 1B }",
        "transfer: { id: b, from: g0, to: g2, size: 2B, limit: 0.5kB/s }",
    ];
    let result = searched(&text(&slow, &items, "vary: order, objective: throughput")).result;
    let bound = result.bound.expect("a bound");
    assert!((result.best / 600.0 - 1.0).abs() < 1e-9 && (bound / 600.0 - 1.0).abs() < 1e-8, "{bound} B/s");
    assert!(result.proved_optimal, "{result:?}");
}

/// Of values that may make a time 0 there is none below which no candidate is.
#[test]
fn a_time_that_may_be_none_has_no_bound() {
    let of = |values: &str| {
        let optimize = format!(
            "vary: parameters, objective: {{ end: [k] }}, parameters: {{ \"workload[0].compute.time\": {values} }}"
        );
        searched(&text(STAR, &["compute: { id: k, device: g0, time: 10us }"], &optimize)).result
    };
    let some = of("[10us, 20us, 5us]");
    assert_eq!((some.best, some.bound, some.proved_optimal), (10.0 * US, Some(5.0 * US), false));
    let none = of("[10us, 20us, 0us]");
    assert_eq!((none.best, none.bound, none.proved_optimal), (10.0 * US, None, false));
}

/// Ranks may go to g2 and g3, out of which go 2 GB/s: 20 kB take no less than 10 µs there, whatever comes in.
#[test]
fn a_rank_sends_no_faster_than_the_widest_device() {
    for (up, down) in [(2, 1), (1, 2)] {
        let wide = format!(
            "topology:
  link_types: {{ x: {{ bandwidth: 1GB/s }}, y: {{ up: {up}GB/s, down: {down}GB/s }} }}
  tree: {{ s: {{ kind: switch, children: {{ \"g[0-1]\": {{ kind: gpu, link: x }}, \"g[2-3]\": {{ kind: gpu, link: y }} }} }} }}
ranks: [g0, g1]
"
        );
        let items = ["transfer: { id: a, from: { rank: 0 }, to: { rank: 1 }, size: 20kB }"];
        let optimize = "vary: placement, objective: { end: [a] }, devices: [g0, g1, g2, g3]";
        check(&text(&wide, &items, optimize), (20.0, 10.0), "the critical path");
    }
}

/// Each rank sends twice 10 kB at half of the bandwidth, 40 µs. What one engine sends stays together where every device that
/// may be chosen sends and nothing else is sent; else all that is known is the 20 µs of each. Of other slots the most count.
#[test]
fn what_a_rank_sends_is_sent_by_one_engine_wherever_it_is() {
    let twice = |from: usize, to: usize| {
        ["a", "b"].map(|id| {
            let ends = format!("from: {{ rank: {from} }}, to: {{ rank: {to} }}");
            format!("transfer: {{ id: {id}{from}, {ends}, size: 10kB, limit: 0.5GB/s }}")
        })
    };
    let of = |ranks: &str, devices: &str, more: &[&str], slots: &str| {
        let topology = STAR.replace("\"g[0-3]\"", &format!("g3: {{ kind: gpu, link: x{slots} }}, \"g[0-2]\""));
        let all = [twice(0, 1), twice(1, 0)].concat();
        let end = if more.iter().any(|item| item.contains("id: c")) { ", c" } else { "" };
        let items: Vec<&str> = all.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let optimize = format!("vary: placement, objective: {{ end: [a0, b0, a1, b1{end}] }}, devices: [{devices}]");
        text(&format!("{topology}ranks: [{ranks}]\n"), &items, &optimize)
    };
    check(&of("g0, g1", "g0, g1", &[], ""), (40.0, 40.0), "the busiest engine");
    check(&of("g0, g1", "g0, g1, g2", &[], ""), (40.0, 20.0), "the critical path");
    let fixed = ["transfer: { from: g2, to: g3, size: 1B }"];
    check(&of("g0, g1", "g0, g1", &fixed, ""), (40.0, 20.0), "the critical path");
    let third = ["transfer: { id: c, from: { rank: 0 }, to: { rank: 1 }, size: 10kB, limit: 0.25GB/s }"];
    // On g3, of two slots, 80 µs of rank 0 may take 40 µs.
    check(&of("g0, g3", "g0, g3", &third, ", engines: 2"), (80.0, 40.0), "the busiest engine");
}

/// Two of four ranks below each switch, whichever: they send 4 · 5 kB to the others. Up or down at 1 GB/s that takes 20 µs.
#[test]
fn what_must_cross_the_links_above_a_switch_takes_its_time() {
    for (up, down) in [(1, 2), (2, 1)] {
        let topology = format!(
            "topology:
  link_types: {{ x: {{ bandwidth: 10GB/s }}, t: {{ up: {up}GB/s, down: {down}GB/s }} }}
  tree:
    r:
      kind: switch
      children:
        s: {{ kind: switch, link: t, children: {{ \"g[0-1]\": {{ kind: gpu, link: x }} }} }}
        t: {{ kind: switch, link: t, children: {{ \"g[2-3]\": {{ kind: gpu, link: x }} }} }}
ranks: \"g[0-3]\"
"
        );
        let report = searched(&text(
            &topology,
            &["pattern: { kind: all-to-all, id: p, size: 5kB }"],
            "vary: placement, objective: makespan",
        ));
        assert_eq!(report.bound_by.as_deref(), Some("the busiest links, those above t"), "{report:?}");
        assert_eq!(report.result.bound, Some(20.0 * US), "{report:?}");
    }
}

/// Each of four ranks sends 5 kB to another, and nobody to rank 3. Three are below the switch: into it go at least the 5 kB of
/// the fourth, 5 µs over its lower direction, and out of it nothing.
#[test]
fn what_must_cross_goes_one_way() {
    let topology = "topology:
  link_types: { x: { bandwidth: 10GB/s }, t: { up: 10GB/s, down: 1GB/s } }
  tree:
    r:
      kind: switch
      children:
        s: { kind: switch, link: t, children: { \"g[0-2]\": { kind: gpu, link: x } } }
        g3: { kind: gpu, link: x }
ranks: \"g[0-3]\"
";
    let items = [(0, 1), (1, 0), (2, 0), (3, 0)];
    let items =
        items.map(|(from, to)| format!("transfer: {{ from: {{ rank: {from} }}, to: {{ rank: {to} }}, size: 5kB }}"));
    let report = searched(&text(topology, &items.each_ref().map(String::as_str), "vary: placement"));
    assert_eq!(report.bound_by.as_deref(), Some("the busiest links, those above s"), "{report:?}");
    assert_eq!(report.result.bound, Some(5.0 * US), "{report:?}");
}

/// Two ranks may both be below one switch: nothing must cross the link above, and 20 kB take 2 µs.
#[test]
fn what_may_stay_below_a_switch_need_not_cross_its_link() {
    let topology = "topology:
  link_types: { x: { bandwidth: 10GB/s }, t: { bandwidth: 1GB/s } }
  tree:
    r:
      kind: switch
      children:
        s: { kind: switch, link: t, children: { \"g[0-1]\": { kind: gpu, link: x } } }
        t: { kind: switch, link: t, children: { \"g[2-3]\": { kind: gpu, link: x } } }
ranks: [g0, g2]
";
    let items = [
        "transfer: { from: { rank: 0 }, to: { rank: 1 }, size: 20kB }",
        "transfer: { from: { rank: 1 }, to: { rank: 0 }, size: 20kB }",
    ];
    check(&text(topology, &items, "vary: placement, devices: 'g[0-3]'"), (20.0, 2.0), "the critical path");
}
