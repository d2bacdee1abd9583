//! What wider links would save: every figure by hand.

use weir::{Input, Scenario, WhatIf, WhatIfOptions};
use weir_report::{Change, ChangedLink};

/// 10 MB go out of g0 at 1 GB/s and 1 MB out of g2, and when both have come 1 MB out of g4: 10 ms and 1 ms. Nothing goes out of
/// g6.
const THREE: &str = "weir: 1
topology:
  link_types:
    thin: { bandwidth: 1GB/s }
    short: { bandwidth: 1GB/s }
    last: { bandwidth: 1GB/s }
    wide: { bandwidth: 4GB/s }
    idle: { bandwidth: 1GB/s }
  tree:
    s:
      kind: switch
      children:
        g0: { kind: gpu, link: thin }
        g2: { kind: gpu, link: short }
        g4: { kind: gpu, link: last }
        'to[0-2]': { kind: gpu, link: wide }
        g6: { kind: gpu, link: idle }
arbiter: max-min
workload:
  - transfer: { id: a, from: g0, to: to0, size: 10MB }
  - transfer: { id: b, from: g2, to: to1, size: 1MB }
  - transfer: { id: c, from: g4, to: to2, size: 1MB, after: [a, b] }
";

fn found(costs: &[(String, f64)]) -> WhatIf {
    let scenario = Scenario::opener().load(Input::text(THREE, "three.yaml", None)).expect("is right");
    scenario.what_if(0, &WhatIfOptions { costs, ..WhatIfOptions::default() }).expect("a result")
}

fn change<'a>(found: &'a WhatIf, of: &str, factor: Option<f64>) -> &'a Change {
    found.changes.iter().find(|change| change.of == of && change.factor == factor).expect(of)
}

fn link(from: &str, to: &str) -> ChangedLink {
    ChangedLink { from: from.into(), to: to.into() }
}

/// Twice as wide, the 10 MB take 5 ms; without limit 2.5 ms, as the link into the other GPU has 4 GB/s.
#[test]
fn a_wider_link_saves_what_its_bytes_take_less() {
    let found = found(&[]);
    assert_eq!((found.complete, found.makespan_ps), (true, 11_000_000_000));
    let twice = change(&found, "link_types.thin", Some(2.0));
    assert_eq!((twice.makespan_ps, twice.saved_s), (6_000_000_000, 0.005));
    assert_eq!(twice.links, [link("g0", "s")]);
    assert_eq!(change(&found, "link_types.thin", None).makespan_ps, 3_500_000_000);
    assert_eq!(found.changes[0].of, "link_types.thin");
    assert!(found.unused.iter().any(|of| of == "link_types.idle"), "{:?}", found.unused);
}

/// c waits for a, which ends long after b: the critical path leads over the link of a, where most of it is spent, whatever
/// becomes of the link of b. Once that of a has no limit, it is the one into the other GPU: 2.5 ms at 4 GB/s.
#[test]
fn what_holds_a_run_back_is_what_ends_last_of_all_that_is_waited_for() {
    let found = found(&[]);
    assert_eq!(change(&found, "link_types.short", Some(2.0)).held_at, Some(link("g0", "s")));
    assert_eq!(change(&found, "link_types.thin", None).held_at, Some(link("to0", "s")));
}

/// Twice the bandwidth costs the weight, here 2: 5 ms for 2.
#[test]
fn what_is_saved_is_held_against_its_cost() {
    let found = found(&[("thin".to_owned(), 2.0)]);
    let twice = change(&found, "link_types.thin", Some(2.0));
    assert_eq!((twice.cost, twice.saved_s_per_cost), (Some(2.0), Some(0.0025)));
}

/// Of the three links of type `wide` two carry bytes: one of them costs a third of the type, whatever the others carry.
#[test]
fn a_single_link_costs_an_equal_part_of_its_type() {
    let text = THREE.replace("to: to2", "to: to1");
    let scenario = Scenario::opener().load(Input::text(text, "three.yaml", None)).expect("is right");
    let costs = [("wide".to_owned(), 6.0)];
    let options = WhatIfOptions { links: true, costs: &costs, ..WhatIfOptions::default() };
    let found = scenario.what_if(0, &options).expect("a result");
    let single =
        |change: &&Change| change.links.len() == 1 && change.links[0].from == "to0" && change.factor == Some(2.0);
    let cost = found.changes.iter().find(single).and_then(|change| change.cost);
    assert_eq!(cost, Some(2.0), "{:?}", found.changes.iter().map(|c| (&c.of, &c.links, c.cost)).collect::<Vec<_>>());
}

/// Three messages of one GPU, 3 µs of overhead each, over two links of 600 ns: its engine turns to the next one when the last byte
/// has left, so that the latency of the last one alone is on the critical path.
#[test]
fn latencies_that_nobody_waits_for_are_not_what_is_left() {
    let text = "weir: 1
topology:
  link_types: { g: { bandwidth: 10GB/s, latency: 600ns } }
  tree: { rc: { kind: root-complex, children: { 'gpu[0-1]': { kind: gpu, link: g, overhead: 3us } } } }
arbiter: max-min
workload:
  - { repeat: 1, for: { i: [0..2] }, parallel: [{ transfer: { id: 't{i}', from: gpu0, to: gpu1, size: 1B } }] }
";
    let scenario = Scenario::opener().load(Input::text(text, "three.yaml", None)).expect("is right");
    let left = scenario.what_if(0, &WhatIfOptions::default()).expect("a result").bound.expect("links may be wider");
    let near = |seconds: f64, ns: f64| assert!((seconds * 1e9 - ns).abs() < 1.0, "{seconds}, not {ns} ns");
    near(left.waiting_s, 9000.0);
    near(left.transfers_s, 1200.0);
}

/// 200 MB each way share 16 GB/s of the link: 25 ms, a tenth more 22.727 ms, twice 12.5 ms. 16 lanes of generation 3 are 8 GT/s each.
#[test]
fn both_spellings_of_a_generation_save_the_same() {
    let with = |bandwidth: &str, links: bool| {
        let text = format!(
            "weir: 1
topology:
  link_types: {{ p: {{ {bandwidth}, shared: 16GB/s }}, q: {{ bandwidth: 50GB/s }} }}
  tree: {{ rc: {{ kind: root-complex, children: {{ gpu0: {{ kind: gpu, link: p }}, gpu1: {{ kind: gpu, link: q }} }} }} }}
arbiter: max-min
workload:
  - transfer: {{ id: a, from: gpu0, to: gpu1, size: 200MB }}
  - transfer: {{ id: b, from: gpu1, to: gpu0, size: 200MB }}
"
        );
        let scenario = Scenario::opener().load(Input::text(text, "shared.yaml", None)).expect("is right");
        scenario.what_if(0, &WhatIfOptions { links, ..WhatIfOptions::default() }).expect("a result")
    };
    let (generation, bandwidth) = (with("generation: 3, width: 16", true), with("bandwidth: 8GT/s x16", true));
    let makespans = |found: &WhatIf| -> Vec<(String, u64)> {
        found.changes.iter().map(|change| (change.title(), change.makespan_ps)).collect()
    };
    assert_eq!(makespans(&generation), makespans(&bandwidth));
    assert_eq!(generation.bound.as_ref().map(|b| b.makespan_ps), bandwidth.bound.as_ref().map(|b| b.makespan_ps));
    for of in ["link_types.p", "gpu0 → rc"] {
        assert_eq!(change(&generation, of, Some(1.1)).makespan_ps.div_ceil(1_000_000), 22_728);
        assert_eq!(change(&generation, of, Some(2.0)).makespan_ps, 12_500_000_000);
        assert!(!change(&generation, of, Some(2.0)).set.is_empty(), "{of} stands alone");
    }
    assert!(with("generation: 3, width: 16", false).changes.iter().all(|change| change.of != "gpu0 → rc"));
}
