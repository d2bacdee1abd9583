//! All that is tried of a scenario: which changes, in which order, what they cost, and what is said where one cannot be tried.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use weir::optimize::Watch;
use weir::{ErrorKind, Input, Scenario, WhatIf, WhatIfOptions};
use weir_report::Change;

/// 10 MB out of g0 at 1 GB/s and 1 MB out of g1, and then 1 MB out of g2, each into a device of 4 GB/s; nothing out of g3.
const FOUR: &str = "weir: 1
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
        g1: { kind: gpu, link: short }
        g2: { kind: gpu, link: last }
        'to[0-2]': { kind: gpu, link: wide }
        g3: { kind: gpu, link: idle }
arbiter: max-min
workload:
  - transfer: { id: a, from: g0, to: to0, size: 10MB }
  - transfer: { id: b, from: g1, to: to1, size: 1MB }
  - transfer: { id: c, from: g2, to: to2, size: 1MB, after: [a, b] }
";

fn scenario(text: &str) -> Scenario {
    Scenario::opener().load(Input::text(text.to_owned(), "four.yaml", None)).expect("is right")
}

fn found(text: &str, options: &WhatIfOptions<'_>) -> WhatIf {
    scenario(text).what_if(0, options).expect("a result")
}

fn change<'a>(found: &'a WhatIf, of: &str, factor: Option<f64>) -> &'a Change {
    let of_this = |change: &&Change| change.of == of && change.factor == factor;
    found.changes.iter().find(of_this).unwrap_or_else(|| panic!("{of} {factor:?}: {:?}", found.changes))
}

/// What is tried, how many times as wide, whether that is enough, and the makespan in µs.
fn rows(found: &WhatIf) -> Vec<(String, Option<f64>, bool, u64)> {
    let us = |ps: u64| (ps + 500_000) / 1_000_000;
    found.changes.iter().map(|one| (one.of.clone(), one.factor, one.enough, us(one.makespan_ps))).collect()
}

/// 11 ms. The 10 MB take 9.091, 5 and 2.5 ms with a tenth more, twice and no limit, and 2.5 ms with four times as much, as wide as
/// what follows; the last 1 MB a tenth of each. By makespan, then the smaller change, then the order of the file.
#[test]
fn every_change_is_ranked() {
    let found = found(FOUR, &WhatIfOptions::default());
    let row = |of: &str, factor, enough, us| (format!("link_types.{of}"), factor, enough, us);
    let expected = [
        row("thin", Some(4.0), true, 3_500),
        row("thin", None, false, 3_500),
        row("thin", Some(2.0), false, 6_000),
        row("thin", Some(1.1), false, 10_091),
        row("last", Some(4.0), true, 10_250),
        row("last", None, false, 10_250),
        row("last", Some(2.0), false, 10_500),
        row("last", Some(1.1), false, 10_909),
        row("short", Some(1.1), false, 11_000),
        row("wide", Some(1.1), false, 11_000),
        row("short", Some(2.0), false, 11_000),
        row("wide", Some(2.0), false, 11_000),
        row("short", None, false, 11_000),
        row("wide", None, false, 11_000),
        ("gpu.engines.send".to_owned(), None, false, 11_000),
    ];
    assert_eq!(rows(&found), expected);
    assert_eq!((found.unused, found.complete), (vec!["link_types.idle".to_owned()], true));
    assert!(found.left_out.is_empty(), "{:?}", found.left_out);
}

/// A factor that is tried anyway may be enough: twice 1 GB/s where the next link has 2 GB/s.
#[test]
fn the_smallest_factor_that_is_enough_is_marked() {
    let found = found(&FOUR.replace("4GB/s", "2GB/s"), &WhatIfOptions::default());
    let thin = found.changes.iter().filter(|one| one.of == "link_types.thin");
    let thin: Vec<_> = thin.map(|one| (one.factor, one.enough)).collect();
    assert_eq!(thin, [(Some(2.0), true), (None, false), (Some(1.1), false)]);
}

/// c waits for both: the critical path leads over the one that ends last, wherever it stands in the file, and of two that end
/// together over the first.
#[test]
fn the_critical_path_leads_over_what_ends_last() {
    let held = |a: &str, b: &str| {
        let text = FOUR.replace("to: to0, size: 10MB", &format!("to: to0, size: {a}"));
        let found =
            found(&text.replace("to: to1, size: 1MB", &format!("to: to1, size: {b}")), &WhatIfOptions::default());
        change(&found, "link_types.wide", Some(2.0)).held_at.as_ref().map(|link| link.from.clone())
    };
    assert_eq!(held("10MB", "2MB").as_deref(), Some("g0"));
    assert_eq!(held("2MB", "10MB").as_deref(), Some("g1"));
    assert_eq!(held("10MB", "10MB").as_deref(), Some("g0"));
}

/// Single links are tried where bytes cross them. One that the file writes together with others has no value to set; twice as
/// wide it is all the same: with 1 GB/s into to0, a takes 10 ms before and 5 ms after.
#[test]
fn single_links_are_tried_alone() {
    let text = FOUR.replace("thin: { bandwidth: 1GB/s }", "thin: { bandwidth: 4GB/s }");
    let text = text.replace("wide: { bandwidth: 4GB/s }", "wide: { bandwidth: 1GB/s }");
    let costs = [("thin".to_owned(), 2.0)];
    let found = found(&text, &WhatIfOptions { links: true, costs: &costs, ..WhatIfOptions::default() });
    let twice = change(&found, "to0 → s", Some(2.0));
    assert_eq!((twice.makespan_ps, twice.set.len()), (6_000_000_000, 0));
    assert_eq!(change(&found, "to0 → s", Some(1.1)).makespan_ps.div_ceil(1_000_000), 10_091);
    // A third of a type of three that has no weight of its own, and so 1.
    assert!(twice.cost.is_some_and(|cost| (cost - 1.0 / 3.0).abs() < 1e-12), "{:?}", twice.cost);
    assert_eq!(change(&found, "link_types.wide", Some(2.0)).cost, Some(1.0));
    assert_eq!(change(&found, "link_types.thin", Some(1.1)).cost, Some(0.2));
    assert_eq!(change(&found, "link_types.thin", None).cost, None);
    assert!(found.changes.iter().all(|one| one.of != "g3 → s"), "{:?}", rows(&found));
    assert_eq!(found.unused, ["link_types.idle"]);
    let set = &change(&found, "g0 → s", Some(2.0)).set;
    assert!(set.len() == 1 && set[0].path.contains(".g0."), "{set:?}");
}

/// A latency is halved: of 2 · 1 µs behind each of a and c, half is left. A memory is one more thing to widen, which links do
/// not contain.
#[test]
fn latencies_and_memories_are_changed() {
    let late = found(&FOUR.replace("4GB/s }", "4GB/s, latency: 1us }"), &WhatIfOptions::default());
    let half: Vec<&Change> = late.changes.iter().filter(|one| one.factor == Some(0.5)).collect();
    assert_eq!(half.iter().map(|one| one.makespan_ps).collect::<Vec<_>>(), [11_001_000_000]);
    let text = FOUR.replace("s:\n      kind: switch\n", "s:\n      kind: switch\n      memory: { bandwidth: 2GB/s }\n");
    let found = found(&text, &WhatIfOptions::default());
    let links = |of: &str| -> Vec<(String, String)> {
        change(&found, of, Some(2.0)).links.iter().map(|link| (link.from.clone(), link.to.clone())).collect()
    };
    assert_eq!(links("link_types.thin"), [("g0".to_owned(), "s".to_owned())]);
    let memory = found.changes.iter().find(|one| one.links.iter().any(|link| link.from == link.to)).expect("a memory");
    assert_eq!(memory.links.len(), 1, "{memory:?}");
}

/// One engine more is tried of kinds of devices that send: two transfers of 10 ms out of g0 side by side take as long over its
/// link, at half of its bandwidth each 10 ms instead of 20.
#[test]
fn one_engine_more_is_tried_where_one_is_used() {
    let text = "weir: 1
topology:
  link_types: { x: { bandwidth: 2GB/s } }
  tree: { s: { kind: switch, children: { 'g[0-1]': { kind: gpu, link: x }, 'f[0-1]': { kind: fpga, link: x } } } }
arbiter: max-min
workload:
  - transfer: { from: g0, to: g1, size: 10MB, limit: 1GB/s }
  - transfer: { from: g0, to: f1, size: 10MB, limit: 1GB/s }
";
    let found = found(text, &WhatIfOptions::default());
    assert_eq!(found.makespan_ps, 20_000_000_000);
    let of = |one: &Change| (one.of.clone(), one.makespan_ps);
    let engines: Vec<_> = found.changes.iter().filter(|one| !one.of.starts_with("link_types")).map(of).collect();
    assert_eq!(engines, [("gpu.engines.send".to_owned(), 10_000_000_000)]);
    // Channels of a collective have engines of their own, which no device has.
    let (head, _) = text.split_once("  - transfer").expect("two transfers");
    let ring = "collective: { kind: all-gather, size: 4MB, ranks: 'g[0-1]', algorithm: ring, channels: 2 }";
    let found = self::found(&format!("{head}  - {ring}\n"), &WhatIfOptions::default());
    let kinds: Vec<&str> = found.changes.iter().map(|one| &*one.of).filter(|of| of.contains("engines")).collect();
    assert!(kinds.iter().all(|of| of.starts_with("gpu.")), "{kinds:?}");
}

/// A weight is a number above 0, of something that is changed.
#[test]
fn weights_are_above_0() {
    let with = |name: &str, weight: f64| {
        let costs = [(name.to_owned(), weight)];
        scenario(FOUR)
            .what_if(0, &WhatIfOptions { costs: &costs, ..WhatIfOptions::default() })
            .map(|found| found.complete)
    };
    assert!(with("thin", 0.5).expect("a weight"));
    for weight in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        assert!(with("thin", weight).expect_err("no weight").to_string().contains("must be a number above 0"));
    }
    assert!(with("thick", 1.0).expect_err("no name").to_string().contains("`thick`"));
    let none = scenario(FOUR).what_if(1, &WhatIfOptions::default()).expect_err("one arbiter");
    assert!(none.to_string().contains("no such arbiter"), "{none}");
}

/// What cannot be that wide is left out, each with its factor; the others are tried.
#[test]
fn what_cannot_be_tried_is_named() {
    let found = found(
        &FOUR.replace("wide: { bandwidth: 4GB/s }", "wide: { bandwidth: 0.95e9GB/s }"),
        &WhatIfOptions::default(),
    );
    let left: Vec<&str> = found.left_out.iter().map(|left| &*left.of).collect();
    assert_eq!(left, ["link_types.wide × 1.1", "link_types.wide × 2"]);
    assert!(found.complete, "{:?}", found.left_out);
}

/// Hears of targets, and raises a flag as they begin where there is one.
#[derive(Default)]
struct Heard {
    cancel: Option<Arc<AtomicBool>>,
    makespans: Mutex<Vec<Option<u64>>>,
}

impl Watch for Heard {
    fn begin(&self, _: &'static str, _: u64, _: u64) {
        self.cancel.iter().for_each(|cancel| cancel.store(true, Ordering::Relaxed));
    }

    fn progress(&self, _: u64, makespan: Option<u64>) {
        self.makespans.lock().expect("no panic").push(makespan);
    }
}

/// Of each target the shortest makespan is reported; of one without bytes none.
#[test]
fn the_best_of_each_target_is_reported() {
    let heard = Heard::default();
    found(FOUR, &WhatIfOptions { watch: &heard, ..WhatIfOptions::default() });
    let mut all = heard.makespans.into_inner().expect("no panic");
    all.sort_unstable();
    let ms = |ms: f64| Some((ms * 1e9) as u64);
    assert_eq!(all, [None, ms(3.5), ms(10.25), ms(11.0), ms(11.0), ms(11.0)]);
}

/// One that is ended has what it tried so far, and says that it is not whole; before the first run there is nothing.
#[test]
fn one_that_is_ended_is_not_complete() {
    let cancel = Arc::new(AtomicBool::new(false));
    let heard = Heard { cancel: Some(cancel.clone()), ..Heard::default() };
    let options = WhatIfOptions { cancel: Some(&cancel), watch: &heard, ..WhatIfOptions::default() };
    let ended = found(FOUR, &options);
    assert!(!ended.complete && ended.changes.is_empty() && ended.bound.is_none(), "{:?}", rows(&ended));
    let error = scenario(FOUR).what_if(0, &options).expect_err("nothing is known");
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    // Without link types there are single links alone, and no bound.
    let text = "weir: 1
topology: { tree: { s: { kind: switch, children: { 'g[0-1]': { kind: gpu, link: { bandwidth: 1GB/s } } } } } }
workload: [{ transfer: { from: g0, to: g1, size: 1MB } }]
";
    cancel.store(false, Ordering::Relaxed);
    let ended = found(text, &WhatIfOptions { links: true, ..options });
    assert!(!ended.complete && ended.changes.is_empty(), "{:?}", rows(&ended));
    let whole = found(text, &WhatIfOptions { links: true, ..WhatIfOptions::default() });
    assert!(whole.complete && !whole.changes.is_empty());
}
