//! A saved search or sweep that contradicts itself is refused; whatever was written is read.

use serde_json::{Value, json};
use weir_optimize::Distribution;
use weir_optimize::search::{Method, Objective, SearchResult, Vary};
use weir_report::page::Page;
use weir_report::{Ranks, SearchReport, Solution, StoppedCandidates};

use crate::ran;
use crate::saved::refused_by;
use crate::searches::{MS, grid, grids, numbers, orders, report};
use crate::tables;

pub fn read(result: &Value) -> Result<(), String> {
    Page::default().add_saved("saved.json", &result.to_string()).map_err(|error| error.to_string())
}

fn full(report: &SearchReport) -> Value {
    let mut line = Vec::new();
    report.write_full(None, &mut line).expect("writes to memory");
    serde_json::from_slice(&line).expect("is JSON")
}

/// What is said of a result with several changes.
fn said(mut result: Value, changes: &[(&str, Value)]) -> String {
    for (place, value) in changes {
        *result.pointer_mut(place).expect(place) = value.clone();
    }
    read(&result).expect_err("contradicts itself")
}

/// Of four candidates, 9, 7 and 8 ms; one stops.
fn few() -> Value {
    full(&grid(vec![numbers("size", 4)], &[9, 7, 0, 8], Objective::Makespan, 8))
}

#[test]
fn values_that_contradict_each_other_are_named() {
    refused_by(
        read,
        &few(),
        &[
            ("/best_s", json!(0.006), "best_s 0.006 and best_ps 7000000000, which differ"),
            ("/baseline_s", json!(1.0), "baseline_s 1 and baseline_ps 8000000000, which differ"),
            ("/worst_ps", json!(1), "worst_s 0.009 and worst_ps 1, which differ"),
            ("/best", json!(1.0), "best: the objective is `makespan`, whose values have other keys"),
            ("/baseline_stopped", json!("x"), "baseline_s: the baseline stops before its end, and has none"),
            ("/bound_s", json!(0.008), "bound_s: 0.008, but the best found is 0.007"),
            ("/bound_s", json!(0.006), "proved_optimal: true, but bound_s is 0.006 and the best found is 0.007"),
            ("/bound_by", json!("a"), "bound_by: `a`, but the search has no bound"),
            ("/median_s", json!(0.01), "percentile 75: 0.009, below median_s 0.01"),
            ("/median_s", json!(0.0081), "median: 0.0081, but by what it follows from 0.008"),
            ("/mean_s", json!(0.01), "worst_s: 0.009, below mean_s 0.01"),
            ("/mean_s", json!(0.0081), "mean: 0.0081, but by what it follows from 0.008"),
            ("/percentiles_s/25", json!(0.001), "percentile 25: 0.001, below percentile 5 0.007"),
            ("/percentiles_s/1", json!(0.001), "percentile 1: 0.001, below best_s 0.007"),
            ("/percentiles_s/99", json!(0.01), "worst_s: 0.009, below percentile 99 0.01"),
            ("/percentiles_s/50", json!(0.008), "percentiles: those of [1, 5, 25, 75, 95, 99] per cent"),
            ("/percentiles_s/75", json!(0.008), "percentile 75: 0.008, but by what it follows from 0.009"),
            ("/payback_exchanges", json!(3), "payback_exchanges: 3, but by wall_s and the makespans nothing is saved"),
            ("/solution", json!({}), "missing field `solution`"),
        ],
    );
}

#[test]
fn counts_and_candidates_that_contradict_each_other_are_named() {
    refused_by(
        read,
        &few(),
        &[
            ("/stopped/candidates", json!(0), "stopped.candidates: 0, but the first of them is named"),
            ("/stopped/candidates", json!(2), "evaluated: with those that stop 5 of 4 candidates"),
            ("/best_count", json!(0), "best_count: 0 of 3 candidates that were evaluated"),
            ("/best_count", json!(4), "best_count: 4 of 3 candidates that were evaluated"),
            ("/best_count", json!(2), "best_count: 2, but 1 of the rows are the best"),
            ("/evaluated", json!(2), "rows: 3, but 2 candidates were evaluated"),
            ("/candidates", json!(5), "complete: true, with 4 of 5 candidates"),
            ("/complete", json!(false), "complete: false, with 4 of 4 candidates"),
            ("/proved_optimal", json!(false), "proved_optimal: false, with complete: true"),
            ("/rows/0/candidate", json!(1), "rows[1].candidate: 1 after 1"),
            ("/rows/2/candidate", json!(9), "rows[2].candidate: 9 of 4, which are numbered from 0"),
            ("/rows/0/makespan_ps", json!(1), "rows[0]: makespan_s 0.009 and makespan_ps 1, which differ"),
            ("/rows/0/value", json!(1.0), "rows[0]: it has `value`, and the objective is `makespan`"),
            ("/rows/0/ratio", json!(1.0), "rows[0]: ratio 1, but 0.009 of the best 0.007 are 1.28"),
            ("/rows/0/best", json!(true), "rows[0]: its value 0.009 is not the best, 0.007"),
            ("/rows/1/best", json!(false), "rows: none of them is the best"),
            ("/rows/1/parameters/size", json!("7"), "rows[1].parameters: those of the best are not those of"),
            ("/solution/parameters/size", json!("7"), "rows[1].parameters: those of the best are not those of"),
            ("/curve_s/0", json!(0.0071), "curve_s: it ends at 0.0071, but best_s is 0.007"),
            ("/curve_s/1", json!(0.001), "curve_s[1]: 0.001 is below the one before it"),
            ("/curve_s/2", json!(0.01), "curve_s: it ends at 0.01, but worst_s is 0.009"),
            ("/histogram/from_s", json!(0.0), "histogram.from_s: 0, but best_s is 0.007"),
            ("/histogram/to_s", json!(1.0), "histogram.to_s: 1, but worst_s is 0.009"),
            ("/histogram/counts/0", json!(5), "histogram.counts: 7 in all of 3 that were evaluated"),
        ],
    );
    let better = [("/rows/0/makespan_s", json!(0.006)), ("/rows/0/makespan_ps", json!(6 * MS))];
    assert!(said(few(), &better).contains("rows[0]: its value 0.006 is better than the best, 0.007"));
    let other = full(&grid(vec![numbers("size", 3)], &[7, 7, 9], Objective::Makespan, 8));
    let twice = said(other.clone(), &[("/rows/1/best", json!(true))]);
    assert!(twice.contains("rows[1].best: an earlier row is the best"), "{twice}");
    let open = said(few(), &[("/complete", json!(false)), ("/rows", Value::Null)]);
    assert!(open.contains("missing field `rows`"), "{open}");
}

/// Of a throughput the largest is the best, and has the largest bound; of ends, values stand beside makespans.
#[test]
fn other_objectives_are_compared_by_their_own() {
    let rates = full(&grid(vec![numbers("size", 3)], &[9, 0, 6], Objective::Throughput, 12));
    let best = rates["best"].as_f64().expect("a rate");
    let mut bounded = rates.clone();
    bounded["bound"] = json!(best);
    assert_eq!(read(&bounded), Ok(()));
    refused_by(
        read,
        &rates,
        &[
            ("/bound", json!(best / 2.0), "bound: "),
            ("/bound", json!(best * 2.0), "proved_optimal: true, but bound is "),
            ("/bound_s", json!(1.0), "bound_s: the objective is `throughput`, whose values have other keys"),
            ("/rows/0/ratio", json!(1.0), "rows[0]: ratio 1, but "),
            ("/rows/1/value", json!(best * 2.0), "rows[1]: its value "),
            ("/best_ps", json!(1), "best_s 0.006 and best_ps 1, which differ"),
        ],
    );
    let ends = full(&grid(vec![numbers("size", 3)], &[9, 7, 6], Objective::End, 12));
    let mut lacks = ends["rows"][0].clone();
    lacks.as_object_mut().expect("an object").remove("value");
    refused_by(
        read,
        &ends,
        &[
            ("/worst", json!(0.0095), "worst: 0.0095, but by what it follows from 0.009"),
            ("/percentiles/75", json!(0.0085), "percentile 75: 0.0085, but by what it follows from 0.009"),
            ("/rows/0", lacks, "rows[0]: it lacks `value`, and the objective is `end`"),
        ],
    );
}

/// An annealing counts what it tries again, a search that was cut off knows no bound, or has not reached it.
#[test]
fn what_is_written_is_read() {
    let stopped = |candidates| Some(StoppedCandidates { candidates, first: "a deadlock".into() });
    let joint = Vary::of(&[Vary::Order, Vary::Parameters]).expect("two kinds");
    let both = Solution { parameters: Some(vec![("a".into(), "1".into())]), ..orders().solution };
    let all: Distribution = [5, 6, 6, 8].map(|ms| ms * MS).into_iter().collect();
    let known = SearchResult { candidates: Some(4), evaluated: 4, method: Method::Exhaustive, ..orders() };
    let part: Distribution = [6, 8].map(|ms| ms * MS).into_iter().collect();
    let cut = SearchResult { evaluated: 2, complete: false, bound: Some(4.0 * MS as f64), ..known.clone() };
    let rates = SearchResult { objective: Objective::Throughput, baseline: 0.0, best: 2e9, ..orders() };
    let whole = known.with_statistics(&all);
    for search in [
        report(orders()),
        report(SearchResult { candidates: Some(6), evaluated: 90, method: Method::Anneal, ..orders() }),
        report(SearchResult { candidates: None, complete: false, bound: Some(0.5), ..orders() }),
        report(SearchResult { proved_optimal: true, bound: Some(5.0 * MS as f64 * (1.0 - 1e-9)), ..orders() }),
        report(SearchResult { best: 9.0 * MS as f64, ..orders() }),
        report(SearchResult { vary: joint, solution: both, ..orders() }),
        SearchReport { distribution: Some(all), ..report(whole) },
        SearchReport { distribution: Some(part.clone()), ..report(cut.with_statistics(&part)) },
        SearchReport { stopped: stopped(2), baseline_stopped: Some("a deadlock".into()), ..report(orders()) },
        SearchReport { baseline_stopped: Some("a deadlock".into()), ..report(rates) },
        SearchReport { no_bound: Some("links change".into()), ..report(orders()) },
    ] {
        assert_eq!(read(&full(&search)), Ok(()), "{search:?}");
    }
    for (name, search) in grids() {
        assert_eq!(read(&full(&search)), Ok(()), "{name}");
    }
    let bounded = full(&SearchReport {
        no_bound: Some("links change".into()),
        ..report(SearchResult { bound: Some(0.5), ..orders() })
    });
    assert!(read(&bounded).expect_err("has a bound").contains("no_bound: `links change`, but bound_s is "));
}

/// Ranks on nodes of the topology, whose search is paid back after 0.25 s / 6 ms.
#[test]
fn placements_are_on_nodes() {
    let scenario = ran::read("shared");
    let placement = SearchResult {
        vary: Vary::Placement,
        method: Method::Bisection,
        objective: Objective::Distance,
        baseline: 52.0,
        best: 2.5,
        solution: Solution::of_placement(vec!["gpu1".into(), "gpu0".into()]),
        ..orders()
    };
    let times = Some((Some(10 * MS), 4 * MS));
    let found = SearchReport { simulated: times, payback: Some(42), ..report(placement) };
    let mut line = Vec::new();
    let ranks = Ranks { scenario: &scenario, devices: vec!["gpu0", "gpu1"] };
    found.write_full(Some(&ranks), &mut line).expect("writes to memory");
    refused_by(
        read,
        &serde_json::from_slice(&line).expect("is JSON"),
        &[
            ("/payback_exchanges", json!(12), "payback_exchanges: 12, but by wall_s and the makespans it is after 42"),
            ("/best_s", json!(0.005), "best_s 0.005 and best_ps 4000000000, which differ"),
            ("/solution/placement/0", json!("z"), "solution.placement[0]: there is no node `z`"),
            ("/baseline_placement/1", json!("z"), "baseline_placement[1]: there is no node `z`"),
            ("/nodes/1/id", json!(0), "nodes[1].id: 0 occurs twice"),
            ("/nodes/1/parent", json!(2), "nodes[1].parent: 2 is not an earlier node"),
            ("/nodes/1/kind", json!("cow"), "nodes[1]: `cpu` is a `cow`"),
            ("/links/0/to", json!("z"), "links[0]: "),
        ],
    );
}

/// 4 and 6 s at best, each with two values of tau.
#[test]
fn sweeps_that_contradict_themselves_are_named() {
    let good = tables::json(&tables::sweep(&["4e12", "6e12"]));
    refused_by(
        read,
        &good,
        &[
            ("/axes", json!([]), "axes: "),
            ("/points/1/point", json!(0), "points[1].point: 0 after 0"),
            ("/points/3/point", json!(9), "points[3].point: 9 of 4, which are numbered from 0"),
            ("/points/0/parameters/tau", json!("7"), "points[0]: parameters: not those of point 0 of the axes"),
            ("/points/0/baseline_s", json!(1.0), "points[0]: baseline_s 1 and baseline_ps 6000000000000, which differ"),
            ("/points/0/best_ps", json!(1), "points[0]: best_s 4 and best_ps 1, which differ"),
            ("/points/0/bound_s", json!(5.0), "points[0]: bound_s: 5, but the best found is 4"),
            ("/points/0/gain_percent", json!(1.0), "points[0]: gain_percent: 1, but by what it follows from 50"),
            (
                "/points/0/proved_optimal",
                json!(false),
                "totals[0]: complete: true and proved_optimal: true, but 1 of 2",
            ),
            ("/totals", json!([]), "totals: 0 of 2 combinations"),
            (
                "/totals/0/points",
                json!(1),
                "totals[0]: points 1, baseline_ps 15000000000000 and best_ps 10000000000000",
            ),
            ("/totals/0/best_ps", json!(1), "totals[0]: points 2, baseline_ps 15000000000000 and best_ps 1, but of 2"),
            ("/totals/1/best_s", json!(1.0), "totals[1]: its seconds are not its picoseconds"),
            ("/totals/1/complete", json!(false), "totals[1]: complete: false and proved_optimal: true, but 0 of 2"),
            ("/totals/1/gain_percent", json!(1.0), "totals[1]: gain_percent: 1, but by what it follows from 50"),
            ("/totals/1/parameters/tau", json!("7"), "totals[1]: parameters: not those of this combination"),
            ("/complete", json!(false), "complete: false, with 4 of 4 points"),
            ("/searches", json!(0), "searches: 0, of 4 points"),
            ("/searches", json!(5), "searches: 5, of 4 points"),
            ("/proved_optimal", json!(false), "proved_optimal: false, but of its points that is true"),
        ],
    );
    for sizes in [&["4e12", "4e12"][..], &["4e12", "10"], &["4e12", "2"], &["2"]] {
        assert_eq!(read(&tables::json(&tables::sweep(sizes))), Ok(()), "{sizes:?}");
    }
}
