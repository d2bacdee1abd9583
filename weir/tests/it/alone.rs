//! What operations and jobs take alone, and what runs record and warn of.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weir::{Input, Run, RunOptions, Scenario, SimTime};

const STAR: &str = "weir: 1
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree: { s: { kind: switch, children: { 'g[0-3]': { kind: gpu, link: x } } } }
arbiter: max-min
workload:
";
/// Three rounds of 1 MB at 1 GB/s: 3 ms.
const RING: &str = "collective: { id: ID, kind: all-gather, size: 4MB, ranks: 'g[0-3]', algorithm: ring }";

fn scenario(items: &[&str]) -> Scenario {
    let items: String = items.iter().map(|item| format!("  - {item}\n")).collect();
    Scenario::opener().load(Input::text(format!("{STAR}{items}"), "alone.yaml", None)).expect("is right")
}

fn ring(id: &str) -> String {
    RING.replace("ID", id)
}

/// Per operation and job: what it takes alone, ms.
fn alone(run: &Run) -> (Vec<Option<f64>>, Vec<Option<f64>>) {
    let result: serde_json::Value = serde_json::from_str(&run.to_json().expect("a result")).expect("is JSON");
    let ms = |row: &serde_json::Value| row["alone_s"].as_f64().map(|seconds| (seconds * 1e9).round() / 1e6);
    let rows = |what: &str| result[what].as_array().cloned().unwrap_or_default();
    (rows("operations").iter().map(|row| ms(&row["details"])).collect(), rows("jobs").iter().map(ms).collect())
}

/// Two rings share every link; beside a third that begins later, each still takes 3 ms alone.
#[test]
fn operations_are_run_without_the_others() {
    let late = ring("c").replace("ID", "c").replace("algorithm", "after: [a], algorithm");
    let scenario = scenario(&[&ring("a"), &ring("b"), &late]);
    let run = scenario.run().expect("ends");
    assert!(run.makespan() > SimTime(6_000_000_000));
    assert_eq!(alone(&run), (vec![Some(3.0); 3], vec![]));
    // By the way of large runs as well.
    assert_eq!(
        alone(&scenario.run_with(&RunOptions { phase_by_phase: true, ..RunOptions::default() }).expect("ends")).0,
        [Some(3.0); 3]
    );
}

/// Beside a transfer an operation is not the whole workload; with nothing beside it nobody runs it again.
#[test]
fn what_is_the_whole_workload_has_no_time_alone() {
    let transfer = "transfer: { id: t, from: g0, to: g1, size: 5MB }";
    let run = scenario(&[&ring("a"), transfer]).run().expect("ends");
    assert_eq!(alone(&run), (vec![Some(3.0)], vec![]));
    let transfer = run.transfer("t").expect("is there");
    assert_eq!(transfer.alone.map(|time| time.0), Some(5_000_000_000));
    assert_eq!(alone(&scenario(&[&ring("a")]).run().expect("ends")), (vec![None], vec![]));
}

/// Each device sends 1 MB to the three others, one after the other: 3 ms at least, and 3 ms without the second pattern.
#[test]
fn jobs_are_run_without_the_others() {
    let pattern = |id: &str| format!("pattern: {{ kind: all-to-all, id: {id}, size: 1MB, ranks: 'g[0-3]' }}");
    let two = scenario(&[&pattern("a"), &pattern("b")]).run().expect("ends");
    let (operations, jobs) = alone(&two);
    assert_eq!((operations.len(), jobs), (0, vec![Some(3.0); 2]));
    let mixed = scenario(&[&pattern("a"), &ring("b")]).run().expect("ends");
    assert_eq!(alone(&mixed), (vec![Some(3.0)], vec![Some(3.0)]));
}

/// A run that did not end says nothing of parts, and one that was cancelled nothing of transfers.
#[test]
fn runs_that_do_not_end_have_no_times_of_parts() {
    let transfer = "transfer: { id: t, from: g0, to: g1, size: 5MB }";
    let scenario = scenario(&[&ring("a"), &ring("b"), transfer]);
    let early = RunOptions { until: Some(SimTime(1_000_000_000)), ..RunOptions::default() };
    let run = scenario.run_with(&early).expect("stops");
    assert_eq!(alone(&run), (vec![None; 2], vec![]));
    assert!(run.transfer("t").is_some_and(|transfer| transfer.alone.is_some()));
    let cancelled = RunOptions { cancel: Some(Arc::new(AtomicBool::new(true))), ..RunOptions::default() };
    let run = scenario.run_with(&cancelled).expect("stops");
    assert!(run.cancelled() && run.transfer("t").is_some_and(|transfer| transfer.alone.is_none()));
    // Cancelled while the report is made.
    let cancel = Arc::new(AtomicBool::new(false));
    let run = scenario.run_with(&RunOptions { cancel: Some(cancel.clone()), ..RunOptions::default() }).expect("ends");
    cancel.store(true, Ordering::Relaxed);
    assert_eq!(alone(&run).0, [None, None]);
}

/// More classes of transfers than links: seven weights on six links.
#[test]
fn classes_may_be_more_than_links() {
    let weights: Vec<String> =
        (1..=12).map(|weight| format!("transfer: {{ from: g0, to: g1, size: 1MB, weight: {weight} }}")).collect();
    let rings = ring("a");
    let items: Vec<&str> = weights.iter().map(String::as_str).chain([&*rings]).collect();
    assert_eq!(alone(&scenario(&items).run().expect("ends")).0, [Some(3.0)]);
}

/// Above 1024 operations none is run again, and the text says so.
#[test]
fn very_many_parts_are_left_out() {
    let one = "collective: { kind: broadcast, size: 1kB, ranks: [g0, g1], algorithm: ring }";
    let run = scenario(&[one; 1025]).run().expect("ends");
    assert_eq!(alone(&run).0, [None; 1025]);
    assert!(run.to_text().expect("a text").contains("slowdown: left out"));
    let run = scenario(&[one; 2]).run().expect("ends");
    assert!(!run.to_text().expect("a text").contains("left out"));
}

/// A warning names what the transfers have and the arbiter does not read, and nothing else.
#[test]
fn what_an_arbiter_ignores_is_named() {
    let of = |arbiter: &str, what: &str| {
        let item = format!("transfer: {{ from: g0, to: g1, size: 1MB{what} }}");
        let scenario = scenario(&[&item]);
        let other = STAR.replace("max-min", arbiter);
        let text = format!("{other}  - {item}\n");
        let other = Scenario::opener().load(Input::text(text, "ignores.yaml", None)).expect("is right");
        let warnings = other.warnings_under(&other.arbiters()[0]).expect("an arbiter");
        assert_eq!(scenario.arbiters().len(), 1);
        warnings
    };
    for arbiter in ["equal-share", "strict-priority", "max-min"] {
        assert_eq!(of(arbiter, ""), [""; 0], "{arbiter}");
    }
    let both = ", weight: 2, priority: 1";
    let ignored = |arbiter: &str| {
        of(arbiter, both).iter().map(|words| words.rsplit(' ').next().expect("a word").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ignored("equal-share"), ["weight", "priority"]);
    assert_eq!(ignored("max-min"), ["priority"]);
}

/// Steps of the arbiter belong to phases, which are recorded with them.
#[test]
fn explanations_record_phases() {
    let scenario = scenario(&["transfer: { from: g0, to: g1, size: 1MB }"]);
    let with = |options: RunOptions| scenario.run_with(&options).expect("ends");
    assert!(with(RunOptions { explanations: true, ..RunOptions::default() }).has_phases());
    assert!(with(RunOptions { phases: true, ..RunOptions::default() }).has_phases());
    assert!(!with(RunOptions::default()).has_phases());
}
