//! What a run says of itself: links, slowdowns, spreads, explanations, and pages.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use weir::{Input, Jitter, PageStep, RunOptions, Scenario, SimDuration, SimTime};

/// Two transfers of 10 MB into g2 at 1 GB/s: each takes 20 ms, alone 10.
const TWO: &str = "weir: 1
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { s: { kind: switch, children: { 'g[0-3]': { kind: gpu, link: x } } } }
arbiter: max-min
workload:
  - transfer: { id: a, from: g0, to: g2, size: 10MB }
  - transfer: { id: b, from: g1, to: g2, size: 10MB }
";

fn scenario(text: &str) -> Scenario {
    Scenario::opener().load(Input::text(text.to_owned(), "two.yaml", None)).expect("is right")
}

#[test]
fn links_and_slowdowns_are_those_of_the_run() {
    let run = scenario(TWO).run().expect("ends");
    assert!(run.complete() && !run.cancelled());
    assert_eq!(run.makespan(), SimTime(20_000_000_000));
    assert_eq!(run.transfer("a").and_then(|a| a.slowdown()), Some(2.0));
    let of =
        |from: &str, to: &str| run.links().into_iter().find(|link| link.from == from && link.to == to).expect("a link");
    for (from, to, bytes, part) in [("g0", "s", 10_000_000, 0.5), ("s", "g2", 20_000_000, 1.0), ("s", "g0", 0, 0.0)] {
        let link = of(from, to);
        assert_eq!((link.bytes, link.bandwidth), (bytes, 1e9), "{from} → {to}");
        assert!((link.utilisation - part).abs() < 1e-9, "{from} → {to}: {}", link.utilisation);
    }
    // A result lists links that carried bytes.
    let result: serde_json::Value = serde_json::from_str(&run.to_json().expect("a result")).expect("is JSON");
    let listed = result["links"].as_array().expect("a list").iter();
    let listed: Vec<_> = listed.map(|link| (link["from"].as_str(), link["to"].as_str())).collect();
    assert_eq!(listed, [("g0", "s"), ("g1", "s"), ("s", "g2")].map(|(from, to)| (Some(from), Some(to))));
    let early =
        scenario(TWO).run_with(&RunOptions { until: Some(SimTime(0)), ..RunOptions::default() }).expect("stops");
    assert!(!early.complete() && early.links().iter().all(|link| link.utilisation == 0.0));
}

/// Arbiters beside that of the scenario are the other built-in ones; an explanation names its steps.
#[test]
fn other_arbiters_are_the_built_in_ones() {
    let scenario = scenario(TWO);
    let others: Vec<String> = scenario.other_arbiters().into_iter().map(|spec| spec.name).collect();
    assert!(!others.contains(&"max-min".to_owned()), "{others:?}");
    for other in ["equal-share", "pcie-congestion", "strict-priority"] {
        assert!(others.contains(&other.to_owned()), "{others:?}");
    }
    let explained = scenario.explain().expect("ends");
    assert!(explained.contains("a          g0 → g2      0.5000   500.000 MB/s   s → g2       b\n"), "{explained}");
}

/// Delays lie above 0 and up to 100 days, seeds between 1 and 1000.
#[test]
fn jitter_has_its_limits() {
    let days = |days: u64| SimDuration(days * 86_400 * 1_000_000_000_000);
    for (most, seeds, fits) in [
        (SimDuration(0), 4, false),
        (SimDuration(1), 4, true),
        (days(100), 4, true),
        (SimDuration(days(100).0 + 1), 4, false),
        (days(1), 0, false),
        (days(1), 1000, true),
        (days(1), 1001, false),
    ] {
        assert_eq!(Jitter::new(most, seeds).is_ok(), fits, "{most:?}, {seeds} seeds");
    }
}

/// Starts up to 1 µs later, which share a link: no end is earlier, none more than 2 µs later. A run that did not end has no spread.
#[test]
fn a_spread_is_that_of_the_further_runs() {
    let jitter = Some(Jitter::new(SimDuration(1_000_000), 8).expect("fits"));
    let options = RunOptions { jitter, ..RunOptions::default() };
    let run = scenario(TWO).run_with(&options).expect("ends");
    let spread = run.spread().expect("it ended");
    let end = run.makespan().0;
    assert!(end < spread.makespan.min.0 && spread.makespan.max.0 < end + 2_000_000, "{:?}", spread.makespan);
    assert!(spread.makespan.min < spread.makespan.max);
    let early = RunOptions { until: Some(SimTime(1)), ..options };
    assert!(scenario(TWO).run_with(&early).expect("stops").spread().is_none());
    assert!(scenario(TWO).run().expect("ends").spread().is_none());
}

/// The steps of a page, and what it has.
fn page(count: usize, options: &RunOptions) -> (String, String) {
    let more: String =
        (0..count).map(|i| format!("  - transfer: {{ from: g{}, to: g2, size: {}kB }}\n", i % 2, i + 1)).collect();
    let text = format!("{}workload:\n{more}", TWO.split("workload:\n").next().expect("a head"));
    let (scenario, steps) = (scenario(&text), Mutex::new(String::new()));
    let mut page = weir_report::page::Page::default();
    let hear = |step: PageStep<'_>| {
        steps.lock().expect("no panic").push(if matches!(step, PageStep::Running) { 'r' } else { 'w' });
    };
    scenario.add_to_page(&mut page, &scenario.arbiters()[0], options, &hear).expect("fits");
    let mut written = Vec::new();
    page.write(&mut written).expect("is written");
    (steps.into_inner().expect("no panic"), String::from_utf8(written).expect("is UTF-8"))
}

/// Up to 300 transfers are run again for their phases at once; of more a run without them says whether they fit, here they do:
/// nothing is said to be left out. Of a run that is cancelled there are times alone.
#[test]
fn a_page_has_phases_where_these_fit() {
    let plain = RunOptions::default();
    let left_out = "culprits are not shown";
    for (count, steps) in [(300, "rrw"), (301, "rwrw")] {
        let (made, text) = page(count, &plain);
        assert_eq!(made, steps, "{count}");
        assert!(!text.contains(left_out), "{count}");
    }
    let cancelled = RunOptions { cancel: Some(Arc::new(AtomicBool::new(true))), ..RunOptions::default() };
    assert_eq!(page(301, &cancelled).0, "rw");
}
