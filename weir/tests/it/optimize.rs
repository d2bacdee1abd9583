//! Searches as Rust programs ask for them: what the options decide, and parts as the whole.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weir::optimize::{
    Method, Objective, PartFile, PartOf, SearchOptions, SearchReport, Settings, SettingsError, Shard, SplitOption,
    Vary, merge,
};
use weir::{ErrorKind, Scenario};

use crate::joint::file;

/// 3! orders of one source. With `a` last, `b` and `c` go out in 20 ms beside `d`, and `a` in 10 ms more; else 40 ms.
const ORDER: &str = "
weir: 1
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { s: { kind: switch, children: { \"g[0-3]\": { kind: gpu, link: x } } } }
workload:
  - transfer: { id: a, from: g0, to: g2, size: 10MB }
  - transfer: { id: b, from: g0, to: g3, size: 10MB }
  - transfer: { id: c, from: g0, to: g1, size: 10MB }
  - transfer: { id: d, from: g1, to: g2, size: 20MB }
arbiter: max-min
";

const PLAIN: SearchOptions<'_> = SearchOptions {
    vary: None,
    method: None,
    objective: None,
    exact: false,
    budget: None,
    candidates: None,
    seed: 0,
    shard: None,
    timing: false,
    checkpoint: None,
    cancel: None,
    watch: &(),
};

/// A file with these lines about the search.
fn scenario(name: &str, search: &str) -> Scenario {
    Scenario::open(file(name, &format!("{ORDER}{search}"))).expect("is right")
}

fn report(scenario: &Scenario, options: &SearchOptions<'_>) -> SearchReport {
    scenario.optimize_with(0, options).expect("a result").report.expect("of one search")
}

fn order_of_g0(report: &SearchReport) -> Vec<String> {
    let order = report.result.solution.order.as_ref().expect("an order");
    assert_eq!(order.len(), 1, "the others send one transfer each: {order:?}");
    order.iter().find(|(device, _)| device == "g0").expect("it sends several").1.clone()
}

#[test]
fn an_arbiter_that_is_not_there_is_refused() {
    let scenario = scenario("arbiters.yaml", "optimize: { vary: order }");
    assert_eq!(scenario.arbiters().len(), 1);
    for arbiter in [1, 2] {
        let error = scenario.optimize_with(arbiter, &PLAIN).expect_err("there is one");
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::Input, "error: the scenario has no such arbiter")
        );
    }
    let found = report(&scenario, &PLAIN);
    assert_eq!((found.result.baseline, found.result.best), (40e9, 30e9));
    assert_eq!(order_of_g0(&found), ["b", "c", "a"]);
}

/// The baseline is the order that the file gives, wherever a search begins.
#[test]
fn an_order_of_the_file_is_the_baseline() {
    for (order, baseline) in [("a, b, c", 40e9), ("b, c, a", 30e9), ("c, b, a", 30e9)] {
        let scenario = scenario("given.yaml", &format!("order: {{ g0: [{order}] }}\noptimize: {{ vary: order }}"));
        let found = report(&scenario, &PLAIN);
        assert_eq!((found.result.baseline, found.result.best), (baseline, 30e9), "{order}");
    }
    // Where every source has another order, too: k begins when a has come, after 10 or 20 ms.
    let text = "weir: 1
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { s: { kind: switch, children: { \"g[0-2]\": { kind: gpu, link: x } } } }
arbiter: max-min
workload:
  - transfer: { id: a, from: g0, to: g1, size: 10MB }
  - transfer: { id: b, from: g0, to: g2, size: 10MB }
  - compute: { id: k, device: g1, time: 10ms, after: [a] }
order: { g0: [b, a] }
optimize: { vary: order }
";
    let only = Scenario::opener().load(weir::Input::text(text, "only.yaml", None)).expect("is right");
    let found = report(&only, &PLAIN).result;
    assert_eq!((found.baseline, found.best), (30e9, 20e9));
    let named = scenario("given-annealed.yaml", "order: { g0: [c, a, b] }\noptimize: { vary: order, method: anneal }");
    let found = report(&named, &PLAIN).result;
    assert_eq!((found.baseline, found.best), (40e9, 30e9));
}

/// Links that change are simulated, but not by a method or with an option that only the fast search has.
#[test]
fn orders_beside_events_are_simulated_unless_the_fast_search_is_asked_for() {
    let event = "events: [{ at: 0s, link: [g0, s], bandwidth: 2GB/s }]\noptimize: { vary: order }";
    let changing = scenario("changing.yaml", event);
    assert!(changing.optimize_with(0, &PLAIN).is_ok());
    for options in [
        SearchOptions { method: Some(Method::Anneal), ..PLAIN },
        SearchOptions { exact: true, ..PLAIN },
        SearchOptions { shard: Some(Shard::ALL), method: Some(Method::Exhaustive), ..PLAIN },
    ] {
        let error = changing.optimize_with(0, &options).expect_err("not covered").to_string();
        assert!(error.contains("does not know of links that change"), "{error}");
    }
}

/// Unless something else is said, results tell their time, and an optimum is one within 1e-9.
#[test]
fn defaults_are_those_that_are_documented() {
    let SearchOptions { vary, method, objective, exact, budget, shard, timing, checkpoint, cancel, .. } =
        SearchOptions::default();
    assert!((vary, method, objective, budget, shard) == (None, None, None, None, None));
    assert!(!exact && timing && checkpoint.is_none() && cancel.is_none());
    let scenario = scenario("defaults.yaml", "optimize: { vary: order }");
    let found = scenario.optimize().expect("a result").report.expect("of one search");
    assert!(found.result.wall_s.is_some_and(|seconds| seconds > 0.0) && found.result.complete);
    assert_eq!(report(&scenario, &PLAIN).result.wall_s, None);
}

fn settings(scenario: &Scenario, options: SearchOptions<'_>) -> Result<Settings, SettingsError> {
    Settings::new(&options, scenario)
}

#[test]
fn what_does_not_fit_what_varies_is_refused() {
    let unsaid = scenario("unsaid.yaml", "");
    assert!(matches!(settings(&unsaid, PLAIN), Err(SettingsError::NothingVaries { .. })));
    let of = |vary| SearchOptions { vary: Some(vary), ..PLAIN };
    assert_eq!(settings(&unsaid, of(Vary::Parameters)).unwrap_err(), SettingsError::NoParameters);
    for vary in [Vary::Order, Vary::Placement] {
        let chosen = settings(&unsaid, of(vary)).expect("the options say it");
        assert_eq!((chosen.vary, chosen.sweep), (vary, false));
    }

    let bisection = SearchOptions { method: Some(Method::Bisection), ..of(Vary::Order) };
    let refused = SettingsError::NoSuchMethod { vary: Vary::Order, method: Method::Bisection };
    assert_eq!(settings(&unsaid, bisection).unwrap_err(), refused);
    let placed = SearchOptions { vary: Some(Vary::Placement), ..bisection };
    assert!(settings(&unsaid, SearchOptions { objective: Some(Objective::Distance), ..placed }).is_ok());
    // By the makespan each placement is simulated.
    let simulates = |method| SettingsError::MethodSimulates { method };
    assert_eq!(settings(&unsaid, placed).unwrap_err(), simulates(Method::Bisection));
    for method in [Method::Anneal, Method::BranchAndBound] {
        let by_throughput =
            SearchOptions { objective: Some(Objective::Throughput), method: Some(method), ..of(Vary::Order) };
        assert_eq!(settings(&unsaid, by_throughput).unwrap_err(), simulates(method));
    }
    let counted = SearchOptions { candidates: Some(9), method: Some(Method::Exhaustive), ..of(Vary::Order) };
    assert_eq!(settings(&unsaid, counted).unwrap_err(), SettingsError::VisitsAll);

    let by = |vary, objective| SearchOptions { objective: Some(objective), ..of(vary) };
    let refused = SettingsError::ForPlacement { objective: Objective::Distance };
    assert_eq!(settings(&unsaid, by(Vary::Order, Objective::Distance)).unwrap_err(), refused);
    for fits in [
        by(Vary::Order, Objective::Makespan),
        by(Vary::Placement, Objective::Distance),
        by(Vary::Placement, Objective::Makespan),
    ] {
        assert!(settings(&unsaid, fits).is_ok());
    }

    let exact = |vary| SearchOptions { exact: true, ..of(vary) };
    assert!(settings(&unsaid, exact(Vary::Order)).is_ok());
    let refused = SettingsError::ExactIsForOrders { vary: Vary::Placement };
    assert_eq!(settings(&unsaid, exact(Vary::Placement)).unwrap_err(), refused);

    let part = |vary| SearchOptions { shard: Some(Shard::ALL), ..of(vary) };
    assert!(settings(&unsaid, part(Vary::Order)).is_ok());
    let refused = SettingsError::NotForPlacement { option: SplitOption::Shard };
    assert_eq!(settings(&unsaid, part(Vary::Placement)).unwrap_err(), refused);
}

/// What the file says of one kind of search holds for that kind alone.
#[test]
fn the_file_speaks_of_its_own_kind_of_search() {
    let tree = scenario("tree.yaml", "optimize: { vary: order, method: branch-and-bound }");
    assert_eq!(report(&tree, &PLAIN).result.method, Method::BranchAndBound);
    assert!(settings(&tree, SearchOptions { vary: Some(Vary::Placement), ..PLAIN }).is_ok());

    let size = "optimize: { vary: VARY, parameters: { \"workload[0].transfer.size\": [10MB, 5MB] } }";
    let grid = scenario("grid.yaml", &size.replace("VARY", "parameters"));
    let chosen = settings(&grid, PLAIN).expect("the file says it");
    assert_eq!((chosen.vary, chosen.sweep), (Vary::Parameters, false));
    let order = settings(&grid, SearchOptions { vary: Some(Vary::Order), ..PLAIN }).expect("the options say it");
    assert!(!order.sweep, "the values are those of another search");

    let sweep = scenario("sweep.yaml", &size.replace("VARY", "order"));
    assert!(settings(&sweep, PLAIN).expect("the file says it").sweep);
    let found = sweep.optimize_with(0, &PLAIN).expect("a result").sweep.expect("a search at each point");
    assert_eq!(found.sweep.finished(), 2);
    let part = SearchOptions { shard: Some(Shard::ALL), ..PLAIN };
    assert_eq!(settings(&sweep, part).unwrap_err(), SettingsError::OneSearch { option: SplitOption::Shard });
}

fn parts(scenario: &Scenario, vary: Vary, shards: u64) -> Vec<PartFile> {
    let part = |index| {
        let shard = Some(Shard::new(index, shards).expect("one of them"));
        let options = SearchOptions { vary: Some(vary), shard, ..PLAIN };
        scenario.optimize_with(0, &options).expect("a result").part.expect("of a shard")
    };
    (1..=shards).map(part).collect()
}

#[test]
fn parts_of_one_search_are_its_result_whichever_holds_the_best() {
    let size = "optimize: { vary: parameters, parameters: { \"workload[0].transfer.size\": [10MB, 5MB] } }";
    let scenario = scenario("parts.yaml", size);
    let options = SearchOptions { vary: Some(Vary::Order), method: Some(Method::Exhaustive), ..PLAIN };
    let whole = report(&scenario, &options);
    assert!(whole.result.proved_optimal && whole.result.evaluated == 6);
    let orders = parts(&scenario, Vary::Order, 3);
    for turned in 0..3 {
        let mut orders = orders.clone();
        orders.rotate_left(turned);
        assert_eq!(merge(orders).expect("all parts"), whole);
    }

    // Of the same scenario, but another kind.
    let grid = parts(&scenario, Vary::Parameters, 1).remove(0);
    let (subject, of_grid) = grid.clone().contents();
    assert!(matches!(of_grid, PartOf::Parameters(_)));
    let (of_orders, _) = orders[0].clone().contents();
    assert_eq!(of_orders.differs(&subject), None);
    let error = merge(vec![orders[0].clone(), grid.clone()]).expect_err("they are of two searches");
    assert!(error.to_string().contains("another kind: some over orders, some over parameters"), "{error}");
    assert_eq!(merge(vec![grid]).expect("one part").result.best, 30e9);
}

/// Reading tries alternatives, which ends as runs do.
#[test]
fn reading_is_cancelled() {
    let text = "weir: 1
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { s: { kind: switch, children: { \"g[0-1]\": { kind: gpu, link: x } } } }
workload:
  - offload: { id: k, device: g0, host: g1, in: 16MB, out: 16MB, kernel: 2ms, streams: auto, over: fabric }
";
    let read = |cancelled: bool| {
        let options =
            weir::LoadOptions { cancel: Some(Arc::new(AtomicBool::new(cancelled))), ..weir::LoadOptions::default() };
        weir::Opener::from(options).read(text, Path::new("."))
    };
    assert!(read(false).is_ok());
    let error = read(true).expect_err("it was cancelled");
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(error.to_string().contains("interrupted while the alternatives of offload `k` were tried"), "{error}");
}

/// g0 and g1 hang at the root, g2 three levels below: any two part there, at level 3 − 0 − 1 = 2, whichever of them may be chosen.
/// 2 MB one way are half a unit.
#[test]
fn distances_are_on_one_scale_wherever_the_ranks_run() {
    for (ranks, devices) in [("g0, g1", "g0, g2"), ("g0, g2", "g0, g1")] {
        for (costs, cost) in [("", 3.0), (", level_costs: [1, 2, 5]", 5.0)] {
            let text = format!(
                "weir: 1
topology:
  link_types: {{ x: {{ bandwidth: 10GB/s }} }}
  tree:
    rc:
      kind: root-complex
      children:
        'g[0-1]': {{ kind: gpu, link: x }}
        s: {{ kind: switch, link: x, children: {{ t: {{ kind: switch, link: x, children: {{ g2: {{ kind: gpu, link: x }} }} }} }} }}
ranks: [{ranks}]
workload: [{{ transfer: {{ from: {{ rank: 0 }}, to: {{ rank: 1 }}, size: 2MB }} }}]
optimize: {{ vary: placement, objective: distance, devices: [{devices}]{costs} }}
"
            );
            let scenario = Scenario::opener().load(weir::Input::text(text, "far.yaml", None)).expect("is right");
            let found = report(&scenario, &PLAIN).result;
            assert_eq!((found.baseline, found.best), (cost / 2.0, cost / 2.0), "{ranks}{costs}");
        }
    }
}
