//! Searches that simulate each candidate: objectives, bounds, what is refused and what stops.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir::Scenario;
use weir::optimize::{Method, SearchOptions, SearchReport, Vary, Watch};

/// A folder for these tests' files: other crates' tests write to the one above.
pub(crate) fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("weir");
    std::fs::create_dir_all(&folder).expect("the folder is there");
    folder
}

/// A file of this text; tests that run side by side may write one alike.
pub(crate) fn file(name: &str, text: &str) -> PathBuf {
    let mut whole = tempfile::NamedTempFile::new_in(folder()).expect("a file beside it");
    whole.write_all(text.as_bytes()).expect("the file is written");
    let file = folder().join(name);
    whole.persist(&file).expect("it has its name");
    file
}

pub(crate) fn found(file: &Path, options: &SearchOptions<'_>) -> SearchReport {
    let scenario = Scenario::open(file).expect("is right");
    let plain = SearchOptions { timing: false, ..*options };
    scenario.optimize_with(0, &plain).expect("a result").report.expect("of one search")
}

/// Two halos of four devices with a barrier between: 2! orders of each device before and after it, not 4!. The first takes
/// 2 · 10 ms on each link and engine, the second 2 · 20: no order is below the sum.
#[test]
fn a_barrier_splits_orders_and_adds_up_in_the_bound() {
    let halo = |id: &str, size: u32, after: &str| -> String {
        let to = |i: usize| [(i + 1) % 4, (i + 3) % 4].map(|to| (i, to));
        let transfer = |(i, to): (usize, usize)| {
            format!("  - transfer: {{ id: {id}.{i}-{to}, from: g{i}, to: g{to}, size: {size}MB, after: [{after}] }}\n")
        };
        (0..4).flat_map(to).map(transfer).collect()
    };
    let names = |i: usize| format!("a.{i}-{}, a.{i}-{}", (i + 1) % 4, (i + 3) % 4);
    let barrier = format!("  - barrier: {{ id: b, after: [{}] }}\n", (0..4).map(names).collect::<Vec<_>>().join(", "));
    let text = format!(
        "weir: 1\ntopology:\n  link_types: {{ x: {{ bandwidth: 1GB/s }} }}\n  \
         tree: {{ s: {{ kind: switch, children: {{ \"g[0-3]\": {{ kind: gpu, link: x }} }} }} }}\narbiter: max-min\nworkload:\n\
         {}{barrier}{}optimize: {{ vary: order }}\n",
        halo("a", 10, ""),
        halo("c", 20, "b")
    );
    let file = file("halos.yaml", &text);
    let whole = found(&file, &SearchOptions { method: Some(Method::Exhaustive), ..SearchOptions::default() }).result;
    assert_eq!((whole.candidates, whole.evaluated), (Some(256), 256));
    assert_eq!(whole.best, 60e9);
    let local = SearchOptions { method: Some(Method::LocalSearch), candidates: Some(500), ..SearchOptions::default() };
    let found = found(&file, &local);
    assert_eq!((found.result.candidates, found.result.best), (Some(256), 60e9));
    assert!(found.result.proved_optimal && found.result.evaluated < 256, "by the bound: {found:?}");
}

/// Bounds by hand, on a switch with three devices at 1 GB/s: 1 MB takes 1 ms on each link.
#[test]
fn bounds_of_programs_by_hand() {
    let text = |items: &[&str], objective: &str| {
        let items: String = items.iter().map(|item| format!("  - {item}\n")).collect();
        format!(
            "weir: 1\ntopology:\n  link_types: {{ x: {{ bandwidth: 1GB/s }} }}\n  \
             tree: {{ s: {{ kind: switch, children: {{ \"g[0-2]\": {{ kind: gpu, link: x }} }} }} }}\narbiter: max-min\n\
             workload:\n{items}optimize: {{ vary: order{objective} }}\n"
        )
    };
    let late = [
        "compute: { id: k, device: g2, time: 10ms }",
        "transfer: { id: a, from: g0, to: g2, size: 10MB, after: [k] }",
        "transfer: { id: b, from: g1, to: g2, size: 20MB, after: [k] }",
        "transfer: { id: c, from: g0, to: g1, size: 1MB }",
    ];
    let behind_engine = [
        "transfer: { id: a, from: g0, to: g1, size: 10MB, limit: 0.5GB/s }",
        "transfer: { id: b, from: g0, to: g2, size: 10MB, limit: 0.5GB/s }",
        "transfer: { id: c, from: g1, to: g2, size: 10MB, after: [a, b] }",
    ];
    let behind_link = [
        "transfer: { id: a, from: g0, to: g2, size: 10MB }",
        "transfer: { id: d, from: g0, to: g1, size: 1MB }",
        "transfer: { id: b, from: g1, to: g2, size: 20MB }",
        "transfer: { id: c, from: g2, to: g0, size: 10MB, after: [a, b] }",
    ];
    for (items, objective, by, ms) in [
        // 30 MB arrive at g2 once 10 ms are over.
        (&late[..], "", "the busiest link, s → g2", 40.0),
        // 40 ms of sending, and then that of g1; the link out of g0 is busy for 20 ms.
        (&behind_engine, "", "the busiest engine", 50.0),
        // Into g2 go 30 MB, and then 10 MB back; no device sends for more than 20 ms before.
        (&behind_link, "", "the busiest engine", 40.0),
        (&behind_link, ", objective: { max: { a: 5, b: 1 } }", "the critical path", 50.0),
        (&behind_link, ", objective: { sum: { a: 5, b: 1 } }", "the critical path", 70.0),
    ] {
        let file = file("bounds.yaml", &text(items, objective));
        let local =
            SearchOptions { method: Some(Method::LocalSearch), candidates: Some(1), ..SearchOptions::default() };
        let report = found(&file, &local);
        let bound = report.result.bound.expect("a bound") / 1e9;
        assert!((bound / ms - 1.0).abs() < 1e-8, "{by}: {bound} ms, not {ms}");
        assert_eq!(report.bound_by.as_deref(), Some(by), "{ms}");
    }
}

/// 30, 20 and 10 MB at 1 GB/s, one after another: the shortest first gives 10 + 30 + 60 ms, as Smith's rule says.
#[test]
fn objectives_of_items() {
    let text = "\
weir: 1
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { s: { kind: switch, children: { \"g[0-3]\": { kind: gpu, link: x } } } }
arbiter: max-min
workload:
  - transfer: { id: a, from: g0, to: g1, size: 30MB }
  - transfer: { id: b, from: g0, to: g2, size: 20MB }
  - transfer: { id: c, from: g0, to: g3, size: 10MB }
optimize: { vary: order, objective: OBJECTIVE }
";
    let best = |name: &str, objective: &str| {
        let file = file(&format!("goal-{name}.yaml"), &text.replace("OBJECTIVE", objective));
        let report = found(&file, &SearchOptions::default());
        assert_eq!(report.simulated, Some((Some(60_000_000_000), 60_000_000_000)), "the last ends as before");
        let order = report.result.solution.order.expect("an order").remove(0).1;
        (report.result.baseline, report.result.best, order.join(" "))
    };
    let ms = 1e9;
    assert_eq!(best("sum", "{ sum: [a, b, c] }"), (140.0 * ms, 100.0 * ms, "c b a".to_owned()));
    // 3 · 30 beside 20 and 10: by weight over length a, then c and b with 0.1 each, the first of the file first.
    assert_eq!(best("weights", "{ sum: { a: 6, b: 2, c: 1 } }").1, (6.0 * 30.0 + 2.0 * 50.0 + 60.0) * ms);
    assert_eq!(best("end", "{ end: [b, c] }"), (60.0 * ms, 30.0 * ms, "b c a".to_owned()));
    assert_eq!(best("max", "{ max: { a: 1, b: 1, c: 6 } }"), (360.0 * ms, 60.0 * ms, "c a b".to_owned()));
    assert_eq!(best("throughput", "{ throughput: c }").1, 1e9);
}

#[test]
fn what_varies_is_named_once() {
    assert_eq!(Vary::of(&[]), None);
    assert_eq!(Vary::of(&[Vary::Order, Vary::Order]), None);
    assert_eq!(Vary::of(&[Vary::Placement]), Some(Vary::Placement));
    let two = Vary::of(&[Vary::Parameters, Vary::Order]).expect("two kinds");
    assert_eq!(two, Vary::of(&[Vary::Order, Vary::Parameters]).expect("in any order"));
    assert_eq!((two.word(), two.has(Vary::Placement)), ("[order, parameters]", false));
}

/// Three devices at a switch, 10 GB/s each.
fn three(rest: &str) -> String {
    format!(
        "weir: 1\ntopology:\n  link_types: {{ x: {{ bandwidth: 10GB/s }} }}\n  \
         tree: {{ s: {{ kind: switch, children: {{ \"g[0-2]\": {{ kind: gpu, link: x }} }} }} }}\narbiter: max-min\n{rest}"
    )
}

/// A computation of 100 ms has no part in a throughput: 200 MB in 10 ms are more than in 20 ms, one after the other.
#[test]
fn a_computation_bounds_no_throughput() {
    let text = three(
        "workload:
  - transfer: { id: a, from: g0, to: g2, size: 100MB }
  - transfer: { id: b, from: g1, to: g0, size: 100MB, after: [a] }
  - compute: { id: c, device: g0, time: 100ms }
optimize:
  vary: parameters
  objective: throughput
  parameters:
    workload[1].transfer.after: [[a], []]
",
    );
    let file = file("throughput.yaml", &text);
    let local = |count| SearchOptions {
        method: Some(Method::LocalSearch),
        candidates: Some(count),
        ..SearchOptions::default()
    };
    let [one, all] = [1, 40].map(|count| found(&file, &local(count)).result);
    assert_eq!((one.best, one.proved_optimal), (10e9, false));
    assert_eq!((all.best, all.proved_optimal), (20e9, true));
}

/// Events that a value brings may widen links, so nothing is known of what no candidate is better than.
#[test]
fn events_among_the_values_leave_no_bound() {
    let wide = |node: &str| format!("{{ at: 0s, link: [{node}, s], bandwidth: 100GB/s }}");
    let text = three(&format!(
        "events: []
workload:
  - transfer: {{ id: a, from: g0, to: g2, size: 100MB }}
  - transfer: {{ id: b, from: g0, to: g1, size: 100MB }}
optimize:
  vary: [order, parameters]
  parameters: {{ events: [[], [{}]] }}
",
        ["g0", "g1", "g2"].map(wide).join(", ")
    ));
    let file = file("wider.yaml", &text);
    let local = |count| SearchOptions {
        method: Some(Method::LocalSearch),
        candidates: Some(count),
        ..SearchOptions::default()
    };
    let [one, all] = [1, 40].map(|count| found(&file, &local(count)).result);
    assert_eq!((one.best, one.bound, one.proved_optimal), (20e9, None, false));
    // All four candidates are known then, which proves it.
    assert_eq!((all.best, all.bound, all.proved_optimal, all.evaluated), (2e9, Some(2e9), true, 4));
}

/// A place that a transfer does not allow is no candidate: rank 0 sends to g2, so it is not there.
#[test]
fn places_that_transfers_do_not_allow_do_not_count() {
    let text = three(
        "ranks: [g0, g1]
workload:
  - transfer: { id: a, from: { rank: 0 }, to: { rank: 1 }, size: 100MB }
  - transfer: { id: b, from: { rank: 0 }, to: g2, size: 10MB }
optimize: { vary: placement, objective: makespan, devices: [g0, g1, g2] }
",
    );
    let result = found(&file("fixed.yaml", &text), &SearchOptions::default()).result;
    // Of 6 placements the 2 with rank 0 on g2 are none; 11 ms is what rank 0 sends.
    assert_eq!((result.best, result.candidates, result.proved_optimal), (11e9, Some(4), true));
}

/// A link that fails under a transfer of 100 MB at 10 GB/s, which takes 10 ms, but not under one of 10 MB: candidates that stop
/// count and are named, by a grid as by local search.
#[test]
fn candidates_that_stop_are_counted_by_every_search() {
    let text = |optimize: &str| {
        three(&format!(
            "on_failure: fail
events: [{{ at: 5ms, link: [g0, s], bandwidth: down }}]
workload:
  - transfer: {{ id: a, from: g0, to: g2, size: 10MB }}
optimize:
  {optimize}
  parameters:
    workload[0].transfer.size: [100MB, 10MB, 90MB, 20MB]
"
        ))
    };
    let file = file("stops.yaml", &text("vary: parameters"));
    let local = SearchOptions { method: Some(Method::LocalSearch), candidates: Some(100), ..SearchOptions::default() };
    for options in [SearchOptions::default(), local] {
        let report = found(&file, &options);
        let (result, stopped) = (&report.result, report.stopped.as_ref().expect("two stop"));
        assert_eq!((result.best, result.candidates, result.evaluated, result.proved_optimal), (1e9, Some(4), 2, true));
        assert_eq!(stopped.candidates, 2);
        assert!(stopped.first.starts_with("workload[0].transfer.size=100MB: "), "{}", stopped.first);
        assert!(stopped.first.contains("g0 → s is down under transfer `a`"), "{}", stopped.first);
    }
    let none = text("vary: parameters").replace("[100MB, 10MB, 90MB, 20MB]", "[100MB, 90MB]");
    let file = self::file("all-stop.yaml", &none);
    for options in [SearchOptions::default(), local] {
        let error = Scenario::open(&file).expect("is right").optimize_with(0, &options).expect_err("nothing ends");
        assert!(error.to_string().contains("no candidate runs to its end"), "{error}");
    }
}

/// The baseline stops; other candidates do not: a grid, local search over it, and all placements go on.
#[test]
fn a_baseline_that_stops_is_no_end_of_a_search() {
    let stops = |size: &str, optimize: &str| {
        three(&format!(
            "on_failure: fail
ranks: [g0, g1]
events: [{{ at: 5ms, link: [g0, s], bandwidth: down }}]
workload:
  - transfer: {{ id: a, from: {{ rank: 0 }}, to: {{ rank: 1 }}, size: {size} }}
optimize:
  {optimize}
"
        ))
    };
    let sizes = "vary: parameters
  parameters: { \"workload[0].transfer.size\": [100MB, 10MB] }";
    let places = "vary: placement
  devices: [g0, g1, g2]";
    let local = SearchOptions { method: Some(Method::LocalSearch), candidates: Some(100), ..SearchOptions::default() };
    for (name, size, optimize, options, best) in [
        ("stops-grid.yaml", "100MB", sizes, SearchOptions::default(), 1e9),
        ("stops-local.yaml", "100MB", sizes, local, 1e9),
        ("stops-places.yaml", "100MB", places, SearchOptions::default(), 10e9),
    ] {
        let report = found(&file(name, &stops(size, optimize)), &options);
        assert_eq!((report.result.best, report.baseline()), (best, None), "{name}");
        let why = report.baseline_stopped.as_deref().unwrap_or_default();
        assert!(why.contains("is down under transfer `a`"), "{name}: {why}");
        assert_eq!(report.makespans(), Some((None, best as u64)), "{name}");
        let text = weir_report::text::search(&report);
        assert!(text.contains("; baseline: stopped: ") && text.contains(why), "{text}");
        let mut json = Vec::new();
        report.write(&mut json).expect("is written");
        let json = String::from_utf8(json).expect("is UTF-8");
        assert!(json.contains("\"baseline_stopped\":") && !json.contains("\"baseline_s\""), "{json}");
    }
    let all = stops("100MB", "vary: placement\n  devices: [g0, g1]");
    let error = Scenario::open(file("stops-all.yaml", &all)).expect("is right").optimize().expect_err("nothing ends");
    assert!(error.to_string().contains("no candidate runs to its end"), "{error}");
}

/// Raises a flag when the candidates begin: a signal that comes then.
struct EndsAtCandidates(AtomicBool);

impl Watch for EndsAtCandidates {
    fn begin(&self, _: &'static str, _: u64, _: u64) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What is simulated first is the baseline: a search that is ended before another candidate has that.
#[test]
fn a_search_that_is_ended_at_once_has_the_baseline() {
    let text = three(
        "ranks: [g0, g1, g2]
workload:
  - transfer: { id: a, from: { rank: 0 }, to: { rank: 1 }, size: 100MB }
  - transfer: { id: b, from: { rank: 0 }, to: { rank: 2 }, size: 10MB }
optimize: { vary: [order, placement] }
",
    );
    let watch = EndsAtCandidates(AtomicBool::new(false));
    for method in [Method::Exhaustive, Method::LocalSearch] {
        watch.0.store(false, Ordering::Relaxed);
        let options =
            SearchOptions { method: Some(method), cancel: Some(&watch.0), watch: &watch, ..SearchOptions::default() };
        let result = found(&file("ended.yaml", &text), &options).result;
        assert_eq!((result.best, result.baseline, result.evaluated, result.complete), (11e9, 11e9, 1, false));
    }
}

/// 2,000 points of 240 transfers take longer to read than the bound may take: the search has candidates all the same.
#[test]
fn the_bound_takes_a_part_of_the_budget() {
    let text = "weir: 1
topology:
  link_types: { x: { bandwidth: 10GB/s } }
  tree: { s: { kind: switch, children: { \"g[0-15]\": { kind: gpu, link: x } } } }
arbiter: max-min
workload:
  - pattern: { kind: all-to-all, id: x, size: 1MB }
  - compute: { id: k, device: g0, time: 2ms, after: [x] }
optimize:
  vary: [order, parameters]
  parameters: { \"workload[0].pattern.size\": { from: 1MB, to: 2000MB, step: 1MB } }
";
    let options = SearchOptions { budget: Some(Duration::from_millis(200)), ..SearchOptions::default() };
    let begin = Instant::now();
    let report = found(&file("budget.yaml", text), &options);
    assert!(!report.result.complete && begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    assert!(report.result.bound.is_none() && report.no_bound.is_some(), "{:?}", report.result.bound);
    let text = weir_report::text::search(&report);
    assert!(text.contains("there is no lower bound: its part of the time was over"), "{text}");
}

/// A grid by another time than the makespan has the statistics of all candidates.
#[test]
fn every_time_has_percentiles() {
    let text = three(
        "workload:
  - transfer: { id: a, from: g0, to: g2, size: 100MB }
  - transfer: { id: b, from: g1, to: g2, size: 10MB }
optimize:
  vary: parameters
  objective: { end: [b] }
  parameters: { \"workload[1].transfer.size\": [10MB, 20MB, 30MB] }
",
    );
    // Two share the link into g2: b ends after twice its size at 10 GB/s.
    let report = found(&file("ends.yaml", &text), &SearchOptions::default());
    let result = &report.result;
    assert_eq!((result.best, result.median, result.worst), (2e9, Some(4e9), Some(6e9)));
    assert!(result.percentiles.is_some() && report.distribution.is_some());
    // 110 MB into g2 in any case.
    assert_eq!(report.simulated, Some((Some(11_000_000_000), 11_000_000_000)));
}

/// A joint search does not begin where a value cannot be read, however late it would come to it.
#[test]
fn values_are_checked_before_a_search() {
    let text = three(
        "workload:
  - transfer: { id: a, from: g0, to: g2, size: 10MB }
  - transfer: { id: b, from: g0, to: g1, size: 10MB }
optimize:
  vary: [order, parameters]
  parameters:
    workload[0].transfer.size: [10MB, 20MB, 30MB, much]
    workload[1].transfer.size: { from: 1MB, to: 90MB, step: 1MB }
",
    );
    let scenario = Scenario::open(file("late.yaml", &text)).expect("is right");
    let local = SearchOptions { method: Some(Method::LocalSearch), candidates: Some(1), ..SearchOptions::default() };
    let error = scenario.optimize_with(0, &local).expect_err("a value is wrong").to_string();
    assert!(error.contains("`workload[0].transfer.size` cannot be much"), "{error}");
}
