//! How many candidates searches that simulate try, and what they have when they are ended.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weir::optimize::{Method, SearchOptions, SearchReport, Watch};
use weir::{Error, ErrorKind, Input, Scenario};

fn searched(text: &str, options: &SearchOptions<'_>) -> Result<SearchReport, Error> {
    let scenario = Scenario::opener().load(Input::text(text.to_owned(), "tried.yaml", None)).expect("is right");
    let plain = SearchOptions { timing: false, ..*options };
    Ok(scenario.optimize_with(0, &plain)?.report.expect("of one search"))
}

fn star(devices: &str, rest: &str) -> String {
    format!(
        "weir: 1\ntopology:\n  link_types: {{ x: {{ bandwidth: 10GB/s }} }}\n  \
         tree: {{ s: {{ kind: switch, children: {{ \"{devices}\": {{ kind: gpu, link: x }} }} }} }}\narbiter: max-min\n{rest}"
    )
}

/// Two orders of rank 0 on six placements of three ranks: 12 candidates.
const TWELVE: &str = "ranks: [g0, g1, g2]
workload:
  - transfer: { id: a, from: { rank: 0 }, to: { rank: 1 }, size: 10MB }
  - transfer: { id: b, from: { rank: 0 }, to: { rank: 2 }, size: 1MB }
  - transfer: { id: c, from: { rank: 1 }, to: { rank: 2 }, size: 4MB, after: [b] }
optimize: { vary: [order, placement]OBJECTIVE }
";

fn twelve(objective: &str) -> String {
    star("g[0-2]", &TWELVE.replace("OBJECTIVE", objective))
}

/// Where all candidates are no more than may be tried, all are.
#[test]
fn all_are_tried_where_so_many_may_be() {
    let of = |count| {
        let options = SearchOptions { candidates: Some(count), ..SearchOptions::default() };
        let report = searched(&twelve(""), &options).expect("a result");
        assert_eq!(report.simulated, None, "the makespan is what counts");
        let result = report.result;
        // Only g0 sends several.
        assert_eq!(result.solution.order.expect("an order").len(), 1);
        (result.method, result.evaluated)
    };
    assert_eq!(of(12), (Method::Exhaustive, 12));
    assert_eq!(of(13), (Method::Exhaustive, 12));
    let (method, evaluated) = of(11);
    assert_eq!(method, Method::LocalSearch);
    assert!(evaluated <= 11);
}

/// Raises a flag when the candidates begin, and keeps how many there may be at most.
#[derive(Default)]
struct EndsAtCandidates {
    ends: AtomicBool,
    most: Mutex<Vec<u64>>,
    done: AtomicU64,
}

impl Watch for EndsAtCandidates {
    fn begin(&self, _: &'static str, all: u64, _: u64) {
        self.most.lock().expect("no panic").push(all);
        self.ends.store(true, Ordering::Relaxed);
    }

    fn progress(&self, done: u64, _: Option<u64>) {
        self.done.fetch_max(done, Ordering::Relaxed);
    }
}

impl EndsAtCandidates {
    fn searched(&self, text: &str, method: Option<Method>) -> Result<SearchReport, Error> {
        self.ends.store(false, Ordering::Relaxed);
        searched(text, &SearchOptions { method, cancel: Some(&self.ends), watch: self, ..SearchOptions::default() })
    }
}

/// A part tells how many candidates it has: of three values the larger half, of 3! orders a third.
#[test]
fn parts_tell_how_many_candidates_they_have() {
    let sent: String = (1..4).map(|to| format!("  - transfer: {{ from: g0, to: g{to}, size: 1MB }}\n")).collect();
    let of = |optimize: &str, shards: u64| {
        let text = star("g[0-3]", &format!("workload:\n{sent}optimize: {{ {optimize} }}\n"));
        let scenario = Scenario::opener().load(Input::text(text, "parts.yaml", None)).expect("is right");
        let (watch, shard) = (EndsAtCandidates::default(), weir::optimize::Shard::new(1, shards).expect("one of them"));
        let options = SearchOptions {
            method: Some(Method::Exhaustive),
            shard: Some(shard),
            watch: &watch,
            ..SearchOptions::default()
        };
        scenario.optimize_with(0, &options).expect("a result").part.expect("a part");
        watch.most.into_inner().expect("no panic")
    };
    let sizes = "parameters: { \"workload[0].transfer.size\": [1MB, 2MB, 3MB] }";
    assert_eq!(of(&format!("vary: parameters, {sizes}"), 2), [2]);
    assert_eq!(of("vary: order", 3), [2]);
}

/// What is known of a search that is ended before a second candidate: the baseline, without a proof, and no makespan beside
/// another objective.
#[test]
fn a_search_that_is_ended_at_once_proves_nothing() {
    for objective in ["", ", objective: { end: [b] }"] {
        let report =
            EndsAtCandidates::default().searched(&twelve(objective), Some(Method::Exhaustive)).expect("a result");
        let result = &report.result;
        assert!(result.best == result.baseline && result.evaluated == 1);
        assert!(!result.proved_optimal && !result.complete, "{result:?}");
        assert_eq!(report.simulated, None);
    }
}

/// A baseline that stops is no result.
#[test]
fn a_search_that_is_ended_at_once_without_a_baseline_has_nothing() {
    let stops = "on_failure: fail
events: [{ at: 5ms, link: [g0, s], bandwidth: down }]
workload:
  - transfer: { id: a, from: g0, to: g1, size: 100MB }
optimize: { vary: parameters, method: local-search, parameters: { \"workload[0].transfer.size\": [100MB, 10MB] } }
";
    let error = EndsAtCandidates::default().searched(&star("g[0-1]", stops), None).expect_err("nothing ends");
    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
}

/// 8! orders times 10 values: 10,000 candidates are tried for each kind that varies. The caller ends it, which the first
/// quarter, of values alone, hears of as well.
#[test]
fn each_kind_that_varies_has_its_candidates() {
    let sent: String = (0..8)
        .map(|i| {
            format!(
                "  - transfer: {{ id: t{i}, from: {{ rank: 0 }}, to: {{ rank: {} }}, size: {}MB }}\n",
                1 + i % 2,
                i + 1
            )
        })
        .collect();
    for (vary, most) in [("order, parameters", 20_000), ("order, placement, parameters", 30_000)] {
        let text = format!(
            "ranks: [g0, g1, g2]\nworkload:\n{sent}optimize:\n  vary: [{vary}]\n  \
             parameters: {{ \"workload[0].transfer.size\": {{ from: 1MB, to: 90MB, step: 1MB }} }}\n"
        );
        let watch = EndsAtCandidates::default();
        let result = watch.searched(&star("g[0-2]", &text), None).expect("the baseline").result;
        assert_eq!((result.method, result.complete), (Method::LocalSearch, false));
        assert_eq!(*watch.most.lock().expect("no panic"), [most], "{vary}");
        assert!(watch.done.load(Ordering::Relaxed) < 1_000, "{:?}", watch.done);
    }
}

/// Of eight candidates that may be tried a quarter goes into values alone, where these vary beside orders; else all of them
/// are of the one search.
#[test]
fn a_quarter_of_the_candidates_is_of_values_alone() {
    let sent: String = (0..5)
        .map(|i| format!("  - transfer: {{ id: t{i}, from: g0, to: g{}, size: {}MB }}\n", 1 + i % 2, i + 1))
        .collect::<String>()
        + "  - transfer: { id: u, from: g1, to: g2, size: 9MB, after: [t2] }\n";
    let of = |vary: &str| {
        let values = "{ from: 1MB, to: 90MB, step: 1MB }";
        let parameters = match vary.contains("parameters") {
            true => format!(", parameters: {{ \"workload[0].transfer.size\": {values} }}"),
            false => String::new(),
        };
        let optimize = format!("optimize: {{ vary: {vary}, method: local-search{parameters} }}\n");
        let options = SearchOptions { candidates: Some(8), ..SearchOptions::default() };
        let result =
            searched(&star("g[0-2]", &format!("workload:\n{sent}{optimize}")), &options).expect("a result").result;
        assert!(!result.proved_optimal && result.complete, "{result:?}");
        result.evaluated
    };
    assert_eq!((of("order"), of("[order, parameters]")), (8, 6));
}

/// A hundred hops of packets count as a task. 24 transfers of 3907 packets over two links make 187,536 hops: ten million tasks
/// are those of 5333 such runs. Hops that repeat themselves are not simulated, and do not count; where packets are queued at
/// random, none does. Twelve of 391 packets have 9384 hops: 1296 orders of that are all tried.
#[test]
fn hops_of_packets_count_by_the_hundred() {
    let random = ", engines: 3, interleave: { name: random, seed: 7 }";
    for (devices, size, queued, method, most) in [
        (4, "100kB", random, Method::Exhaustive, 1_296),
        (8, "1MB", random, Method::LocalSearch, 5_333),
        (16, "1MB", "", Method::LocalSearch, 10_000),
    ] {
        let sent = |from: usize| {
            let to = |by: usize| {
                format!("  - transfer: {{ from: g{from}, to: g{}, size: {size} }}\n", (from + by) % devices)
            };
            (1..4).map(to).collect::<String>()
        };
        let sent: String = (0..devices).map(sent).collect();
        let rest = format!("fidelity: packet\nworkload:\n{sent}optimize: {{ vary: order }}\n");
        let text = star(&format!("g[0-{}]", devices - 1), &rest).replace("link: x }", &format!("link: x{queued} }}"));
        let watch = EndsAtCandidates::default();
        let result = watch.searched(&text, None).expect("the baseline").result;
        assert_eq!((result.method, &*watch.most.lock().expect("no panic")), (method, &vec![most]), "{devices}");
    }
}

/// An item that becomes several tasks ends with the last of them, three rounds of 1 ms. A throughput is from the first start on:
/// 100 MB in 10 ms, whatever was before.
#[test]
fn objectives_are_of_whole_items() {
    let of = |item: &str, objective: &str, path: &str, values: &str| {
        let text = format!(
            "workload:\n  - {item}\noptimize: {{ vary: parameters, method: local-search, objective: {objective}, \
             parameters: {{ \"{path}\": {values} }} }}\n"
        );
        searched(&star("g[0-3]", &text), &SearchOptions::default()).expect("a result").result.baseline
    };
    let ring = "collective: { id: c, kind: all-gather, size: 40MB, ranks: 'g[0-3]', algorithm: ring }";
    assert_eq!(of(ring, "{ end: [c] }", "workload[0].collective.size", "[40MB, 80MB]"), 3e9);
    let late = "transfer: { from: g0, to: g1, size: 100MB, start: 5ms }";
    assert_eq!(of(late, "throughput", "workload[0].transfer.start", "[5ms, 6ms]"), 1e10);
}

/// Devices that send one transfer each have no order.
#[test]
fn one_transfer_each_is_no_order() {
    let text = "workload:
  - transfer: { from: g0, to: g1, size: 1MB }
  - transfer: { from: g1, to: g0, size: 1MB }
optimize: { vary: order, method: local-search }
";
    let error = searched(&star("g[0-1]", text), &SearchOptions::default()).expect_err("no order").to_string();
    assert!(error.contains("no device sends several transfers"), "{error}");
}

/// A time of none is nothing to compare, nor is a throughput of no bytes.
#[test]
fn a_baseline_of_no_time_or_no_bytes_is_refused() {
    let of = |objective: &str| {
        let text = format!(
            "workload:\n  - barrier: {{ id: b }}\n  - compute: {{ id: k, device: g0, time: 1ms }}\noptimize: {{ vary: parameters, \
             method: local-search, objective: {objective}, parameters: {{ \"workload[1].compute.time\": [1ms, 2ms] }} }}\n"
        );
        searched(&star("g[0-1]", &text), &SearchOptions::default()).expect_err("no value").to_string()
    };
    assert!(of("{ end: [b] }").contains("takes no time"), "{}", of("{ end: [b] }"));
    assert!(of("throughput").contains("nothing is transferred"), "{}", of("throughput"));
}

/// Each of eight ranks sends 100 kB to both neighbours at 10 GB/s: no order and no placement takes less than 20 µs. As they are,
/// two send to one at a time, half as fast. The fast search for orders knows a best one, with which the search begins and ends.
#[test]
fn orders_begin_with_those_of_the_fast_search() {
    let sent = |from: usize| {
        let ends = if from % 4 < 2 { [from + 1, from + 7] } else { [from + 7, from + 1] };
        let one = |to: usize| {
            format!("  - transfer: {{ from: {{ rank: {from} }}, to: {{ rank: {} }}, size: 100kB }}\n", to % 8)
        };
        ends.map(one).concat()
    };
    let sent: String = (0..8).map(sent).collect();
    let of = |candidates: Option<u64>| {
        let text = format!("ranks: \"g[0-7]\"\nworkload:\n{sent}optimize: {{ vary: [order, placement] }}\n");
        let options = SearchOptions { candidates, ..SearchOptions::default() };
        searched(&star("g[0-7]", &text), &options).expect("a result").result
    };
    let found = of(None);
    assert!((found.baseline, found.best, found.proved_optimal) == (4e7, 2e7, true), "{found:?}");
    // Where candidates are counted, orders begin as they are.
    let counted = of(Some(20_000));
    assert!(counted.best == 2e7 && found.evaluated < counted.evaluated, "{} of {}", found.evaluated, counted.evaluated);
    assert!(of(Some(2)).best > 2e7);
}
