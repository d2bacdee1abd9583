//! Searches, sweeps, changes and tuned packets: their texts, JSON and pictures, of values that are written by hand.

use std::sync::atomic::{AtomicBool, AtomicU64};

use serde_json::{Map, Value, json};
use weir_optimize::parameters::{Axis, Grid, Outcome, Ran, Search, Shard, Tried};
use weir_optimize::search::{Method, Objective, SearchResult, Vary};
use weir_plugin_api::{SimDuration, SimTime};
use weir_report::page::Page;
use weir_report::{
    Change, Changed, ChangedLink, LeftOut, SearchArbiter, SearchReport, SearchSubject, SetValue, Solution,
    StoppedCandidates, TunedOperation, TunedSize, TunedUnder, Tuning, WhatIf, WhatIfBound, search_schema, text,
};

use crate::ran::accepted;

pub const MS: u64 = 1_000_000_000;

pub fn subject() -> SearchSubject {
    let params = json!({ "tau": 0.2 }).as_object().expect("a map").clone();
    let arbiter = SearchArbiter { name: "pcie-congestion".into(), version: "1".into(), sha256: None, params };
    SearchSubject { scenario: "s".into(), file: "f.yaml".into(), input_sha256: "0".repeat(64), arbiter }
}

pub fn report(result: SearchResult<Solution>) -> SearchReport {
    SearchReport {
        subject: subject(),
        result,
        simulated: None,
        payback: None,
        distribution: None,
        grid: None,
        bound_by: None,
        no_bound: None,
        stopped: None,
        baseline_stopped: None,
    }
}

/// Of orders: 8 ms as it is, 5 ms at best.
pub fn orders() -> SearchResult<Solution> {
    let order =
        vec![("gpu0".to_owned(), vec!["b".to_owned(), "2".to_owned()]), ("on".to_owned(), vec!["true".to_owned()])];
    let result = SearchResult::new(
        Vary::Order,
        Method::BranchAndBound,
        8.0 * MS as f64,
        5.0 * MS as f64,
        Solution::of_order(order),
    );
    SearchResult { candidates: Some(720), evaluated: 90, wall_s: Some(0.25), ..result }
}

/// Candidates of a grid with these makespans, ms; a makespan of 0 stops. Throughputs are 1 GB over these: so many ps a byte.
pub fn grid(axes: Vec<Axis>, makespans: &[u64], objective: Objective, baseline: u64) -> SearchReport {
    let grid = Grid::new(axes).expect("a grid");
    let value = |ms: u64| match objective {
        Objective::Makespan => None,
        Objective::Throughput => Some(ms as f64),
        _ => Some((ms * MS) as f64),
    };
    let own = Ran { makespan: (baseline * MS).try_into().expect("not 0"), value: value(baseline) };
    let search =
        Search { grid: &grid, input: "00", shard: Shard::ALL, objective, baseline: Some(own), checkpoint: None };
    let all: Vec<Vec<(String, String)>> = (0..grid.candidates()).map(|at| owned(&grid.values(at))).collect();
    let tried = |values: &[(&str, &str)]| -> Result<Tried, String> {
        let at = all.iter().position(|known| *known == owned(values)).expect("a candidate");
        Ok(match makespans[at % makespans.len()] {
            0 => Tried::Stopped("a deadlock of a and b".to_owned()),
            ms => Tried::Ran { makespan: ms * MS, value: value(ms) },
        })
    };
    let part = search.run(tried, &AtomicBool::new(false), &AtomicU64::new(0)).expect("it ends");
    let outcome = Outcome::new(part).expect("is whole");
    let distribution = outcome.distribution().cloned();
    let solution = Solution::of_parameters(owned(&outcome.solution().expect("a best one")));
    let best = outcome.best().expect("a best one");
    let timed = objective == Objective::Makespan;
    let of =
        |candidate_ms: f64| if objective.is_time() { candidate_ms * MS as f64 } else { 1e9 / (candidate_ms * 1e-3) };
    let best_ms = outcome.makespan(best).expect("it ran") as f64 / MS as f64;
    let stopped = outcome.stopped().len();
    let result = SearchResult {
        candidates: Some(grid.candidates().into()),
        evaluated: outcome.evaluated().into(),
        objective,
        proved_optimal: true,
        ..SearchResult::new(Vary::Parameters, Method::Exhaustive, of(baseline as f64), of(best_ms), solution)
    };
    let result = match &distribution {
        Some(all) => result.with_statistics(all),
        None => result,
    };
    let first = outcome.stopped().next().map(|(_, why)| why.to_owned());
    let stopped = first.map(|first| StoppedCandidates { candidates: stopped as u64, first });
    let simulated = (!timed).then_some((Some(baseline * MS), best_ms as u64 * MS));
    SearchReport { distribution, grid: Some(outcome), stopped, simulated, ..report(result) }
}

fn owned(values: &[(&str, &str)]) -> Vec<(String, String)> {
    values.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect()
}

pub fn numbers(path: &str, count: usize) -> Axis {
    Axis::list(path, (0..count).map(|i| i.to_string()))
}

pub fn grids() -> Vec<(&'static str, SearchReport)> {
    let makespans: Vec<u64> = (0..250).map(|i| 10 + (i * 7) % 250).collect();
    let long = Axis::list("file", ["a", "scenarios/topologies/a-file-with-a-long-name.yaml"]);
    let pairs = vec![numbers("size", 5), Axis::list("tau", ["0", "0.5", "a b"])];
    vec![
        ("few", grid(vec![numbers("size", 4)], &[9, 7, 0, 8], Objective::Makespan, 8)),
        ("line", grid(vec![numbers("size", 250)], &makespans, Objective::Makespan, 400)),
        ("two", grid(vec![long], &[3, 2], Objective::Makespan, 2)),
        ("pairs", grid(pairs, &[5, 4, 9, 2, 3], Objective::Makespan, 1)),
        ("plane", grid(vec![numbers("a", 10), numbers("b", 9)], &makespans, Objective::Makespan, 30)),
        ("seeds", grid(vec![numbers("workload[0].seed", 60)], &makespans, Objective::Makespan, 30)),
        ("ends", grid(vec![numbers("size", 3)], &[9, 7, 6], Objective::End, 12)),
        ("rates", grid(vec![numbers("size", 3)], &[9, 0, 6], Objective::Throughput, 12)),
    ]
}

#[test]
fn texts_of_grids() {
    for (name, report) in grids() {
        accepted(&format!("grid-{name}"), &text::search(&report));
    }
}

/// All of 40 candidates are listed, without statistics; of 41 every second one, and the best.
#[test]
fn candidates_of_grids_are_cut() {
    let makespans: Vec<u64> = (0..41).map(|i| 100 - i).collect();
    let text = |count: usize| text::search(&grid(vec![numbers("size", count)], &makespans, Objective::Makespan, 100));
    let rows = |text: &str| text.lines().filter(|line| line.contains(" ms   ") && line.starts_with("  ")).count();
    let (all, some) = (text(40), text(41));
    assert!(!all.contains("median") && !all.contains("candidates: --csv"), "{all}");
    assert!(some.contains("median") && some.contains("one in 2 and the best of 41 candidates: --csv"), "{some}");
    assert_eq!(rows(&all), 40, "{all}");
}

#[test]
fn pictures_of_grids() {
    for (name, report) in grids() {
        let mut line = Vec::new();
        report.write_full(None, &mut line).expect("writes to memory");
        let line = String::from_utf8(line).expect("is UTF-8");
        let mut page = Page::default();
        page.draw();
        page.add_saved("search.json", &line).expect("is as it was written");
        let pictures: Vec<String> =
            page.pictures().iter().map(|picture| format!("{}\n{}", picture.file, picture.svg)).collect();
        accepted(&format!("grid-{name}-pictures"), &pictures.join("\n"));
    }
}

/// What is found, how sure that is, and how far it is from the bound: 5 ms of 8 ms, with bounds of 4 ms and 0.5 ps.
#[test]
fn texts_of_searches() {
    let joint = Vary::of(&[Vary::Order, Vary::Parameters]).expect("two kinds");
    let bound = |bound: f64| SearchResult { bound: Some(bound), ..orders() };
    let rates =
        |best: f64, bound| SearchResult { objective: Objective::Throughput, baseline: 2e9, best, bound, ..orders() };
    let costs = |candidates, method| SearchResult {
        vary: Vary::Placement,
        method,
        candidates,
        objective: Objective::Distance,
        baseline: 52.0,
        best: 2.5,
        solution: Solution::of_placement(vec!["gpu1".into(), "gpu0".into()]),
        ..orders()
    };
    let by = |result, by: &str| SearchReport { bound_by: Some(by.into()), ..report(result) };
    let stopped = |candidates| Some(StoppedCandidates { candidates, first: "a deadlock".into() });
    let proved = |method| SearchResult { proved_optimal: true, method, ..orders() };
    let all = [
        report(proved(Method::BranchAndBound)),
        by(proved(Method::LocalSearch), "the busiest link, a → b"),
        by(proved(Method::BranchAndBound), "not said"),
        report(SearchResult { vary: joint, complete: false, ..orders() }),
        by(bound(4.0 * MS as f64), "the busiest link, a → b"),
        report(bound(0.5)),
        report(bound(0.0)),
        SearchReport { no_bound: Some("links change".into()), ..report(orders()) },
        by(rates(3e9, Some(4e9)), "a link"),
        report(rates(1e9, None)),
        report(SearchResult { best: 9.0 * MS as f64, ..orders() }),
        report(SearchResult { best: 8.0 * MS as f64, ..orders() }),
        report(SearchResult { best: 7.999 * MS as f64, ..orders() }),
        SearchReport {
            simulated: Some((Some(10 * MS), 4 * MS)),
            payback: Some(12),
            ..report(costs(Some(24), Method::Exhaustive))
        },
        SearchReport { simulated: Some((None, 4 * MS)), ..report(costs(None, Method::Bisection)) },
        SearchReport { stopped: stopped(1), ..report(SearchResult { candidates: Some(1), evaluated: 1, ..orders() }) },
        SearchReport { stopped: stopped(2), baseline_stopped: Some("a deadlock".into()), ..report(orders()) },
        SearchReport { stopped: stopped(2), ..report(SearchResult { vary: joint, ..orders() }) },
    ];
    let texts: Vec<String> = all.iter().map(text::search).collect();
    accepted("searches", &texts.join("\n---\n"));
}

/// The schema knows what goes together: a baseline that stopped has no value.
#[test]
fn the_schema_of_a_search_tells_what_goes_together() {
    let validator = jsonschema::validator_for(&search_schema()).expect("the schema is one");
    let line = |report: &SearchReport| -> Value {
        let mut out = Vec::new();
        report.write(&mut out).expect("writes to memory");
        serde_json::from_slice(&out).expect("is JSON")
    };
    let stopped = line(&SearchReport { baseline_stopped: Some("a deadlock".into()), ..report(orders()) });
    let good = line(&report(orders()));
    let rates = SearchResult { objective: Objective::Throughput, baseline: 0.0, ..orders() };
    let mut rates = line(&SearchReport { baseline_stopped: Some("a deadlock".into()), ..report(rates) });
    assert!(validator.is_valid(&rates));
    rates["baseline"] = json!(1.0);
    assert!(!validator.is_valid(&rates), "baseline of one that stopped");
    assert!(validator.is_valid(&good) && validator.is_valid(&stopped));
    for (key, value) in [("baseline", json!(1.0)), ("baseline_s", json!(1.0)), ("baseline_ps", json!(1))] {
        let mut edited = stopped.clone();
        edited[key] = value;
        assert!(!validator.is_valid(&edited), "{key} of a baseline that stopped");
    }
    for key in ["baseline_s", "baseline_ps", "best_s", "best_ps", "solution", "vary", "method"] {
        let mut edited = good.clone();
        edited.as_object_mut().expect("an object").remove(key);
        assert!(!validator.is_valid(&edited), "without {key}");
    }
    for (key, value) in [
        ("bound", json!(1.0)),
        ("best", json!(1.0)),
        ("rows", json!([])),
        ("payback_exchanges", json!(2)),
        ("method", json!("auto")),
        ("vary", json!("placement")),
        ("vary", json!(["order"])),
        ("objective", json!("distance")),
        ("percentiles_s", json!({ "1": 1.0 })),
        ("percentiles_s", json!({ "1": 1.0, "5": 1.0, "25": 1.0, "75": 1.0, "95": 1.0, "99": 1.0, "50": 1.0 })),
        ("vary", json!(["order", "order"])),
    ] {
        let mut edited = good.clone();
        edited[key] = value.clone();
        assert!(!validator.is_valid(&edited), "{key} {value}");
    }
    let joint = Vary::of(&[Vary::Order, Vary::Parameters]).expect("two kinds");
    let solution = Solution { parameters: Some(vec![("a".into(), "1".into())]), ..orders().solution };
    let joint = line(&report(SearchResult { vary: joint, solution, ..orders() }));
    assert!(validator.is_valid(&joint), "{joint}");
    let with = |key: &str, value: Value| {
        let mut edited = joint.clone();
        edited[key] = value;
        validator.is_valid(&edited)
    };
    assert!(!with("rows", json!([])) && !with("solution", json!({ "order": {} })) && with("evaluated", json!(7)));
    for (name, report) in grids() {
        let line = line(&report);
        let errors: Vec<String> = validator.iter_errors(&line).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
}

pub fn under() -> TunedUnder {
    TunedUnder { name: "max-min".into(), params: Map::new() }
}

/// Of 100 ms this change saves so many.
pub fn change(of: &str, what: Changed, factor: Option<f64>, saved_ms: f64) -> Change {
    let makespan_ps = ((100.0 - saved_ms) * MS as f64) as u64;
    Change {
        of: of.to_owned(),
        what,
        factor,
        enough: false,
        set: Vec::new(),
        links: Vec::new(),
        held_at: None,
        makespan_s: makespan_ps as f64 / 1e12,
        makespan_ps,
        saved_s: saved_ms / 1e3,
        saved_percent: saved_ms,
        cost: None,
        saved_s_per_cost: None,
    }
}

pub fn bound(saved_ms: f64, [computing_s, limited_s, transfers_s, waiting_s]: [f64; 4]) -> Option<WhatIfBound> {
    let makespan_ps = ((100.0 - saved_ms) * MS as f64) as u64;
    let (makespan_s, saved_s) = (makespan_ps as f64 / 1e12, saved_ms / 1e3);
    Some(WhatIfBound {
        makespan_s,
        makespan_ps,
        saved_s,
        saved_percent: saved_ms,
        computing_s,
        limited_s,
        transfers_s,
        waiting_s,
    })
}

/// 1e-10 of the makespan, 10 ns, count as nothing; what saves nothing by any factor is named once.
#[test]
fn texts_of_changes() {
    let set = |values: &[(&str, &str)]| {
        values.iter().map(|(path, value)| SetValue { path: (*path).into(), value: (*value).into() }).collect()
    };
    let link = |from: &str, to: &str| Some(ChangedLink { from: from.into(), to: to.into() });
    let mut result = WhatIf::new("s", "f.yaml", "00", under(), SimTime(100 * MS));
    result.changes = vec![
        Change {
            set: set(&[("link_types.x.bandwidth", "20GB/s")]),
            held_at: link("a", "b"),
            enough: true,
            cost: Some(1.5),
            saved_s_per_cost: Some(0.02),
            ..change("link_types.x", Changed::Bandwidth, Some(2.0), 30.0)
        },
        Change {
            set: set(&[("a", "1"), ("b", "2")]),
            held_at: link("cpu", "cpu"),
            ..change("cpu memory", Changed::Memory, None, 20.0)
        },
        Change { set: set(&[("a", "1"), ("b", "2"), ("c", "3")]), ..change("gpus", Changed::Engines, None, 10.0) },
        change("a – b", Changed::Link, Some(2.0), 5.0),
        change("a – b", Changed::Link, Some(4.0), 6.0),
        change("link_types.y", Changed::Latency, None, 0.0),
        change("link_types.y", Changed::Bandwidth, Some(2.0), 0.0),
        change("link_types.z", Changed::Bandwidth, Some(2.0), 0.0),
        change("link_types.z", Changed::Bandwidth, Some(4.0), -1.0),
    ];
    result.bound = bound(40.0, [0.01, 0.0, 0.03, 0.02]);
    result.unused = vec!["link_types.w".into()];
    result.left_out = vec![LeftOut { of: "gpu".into(), why: "too many".into() }];
    result.complete = false;
    let mut csv = Vec::new();
    result.write_csv(&mut csv).expect("writes to memory");
    let mut texts = vec![text::what_if(&result), String::from_utf8(csv).expect("is UTF-8")];
    let mut nothing = WhatIf::new("s", "f.yaml", "00", under(), SimTime(100 * MS));
    texts.push(text::what_if(&nothing));
    nothing.bound = bound(0.0, [0.1, 0.0, 0.0, 0.0]);
    nothing.unused = (0..45).map(|i| format!("link_types.t{i}")).collect();
    texts.push(text::what_if(&nothing));
    accepted("what-if", &texts.join("\n---\n"));
    // Where something was tried, or left out, or not all was, there was something to change.
    let says = |result: &WhatIf| text::what_if(result).contains("nothing to change");
    nothing.complete = true;
    assert!(says(&nothing));
    (nothing.changes, nothing.complete) = (Vec::new(), false);
    assert!(!says(&nothing));
    (nothing.changes, nothing.complete) = (vec![change("a – b", Changed::Link, Some(2.0), 5.0)], true);
    assert!(!says(&nothing));
    (nothing.changes, nothing.left_out) = (Vec::new(), vec![LeftOut { of: "gpu".into(), why: "too many".into() }]);
    assert!(!says(&nothing));
    assert_eq!(weir_report::saved(SimTime(100 * MS), SimTime(60 * MS)), (0.04, 40.0));
    assert_eq!(weir_report::saved(SimTime(0), SimTime(0)), (0.0, 0.0));
}

#[test]
fn texts_of_tuned_packets() {
    let size = |bytes, packet, ms: u64, without: Option<u64>| {
        TunedSize::new(bytes, packet, SimDuration(ms * MS), without.map(|ms| SimDuration(ms * MS)))
    };
    let sizes = vec![
        size(1 << 20, Some(1 << 18), 2, Some(3)),
        size(1 << 21, None, 4, Some(4)),
        size(3000, Some(1000), 1, None),
    ];
    let mut tuning = Tuning::new("s", "f.yaml", "00", under());
    tuning.operations = vec![TunedOperation { id: "p".into(), sizes }];
    let alone = text::tuned(&tuning);
    let mut out = Vec::new();
    tuning.write(&mut out).expect("writes to memory");
    tuning.under_load = true;
    let loaded = text::tuned(&tuning);
    accepted("tuned", &format!("{alone}\n{loaded}\n{}", String::from_utf8(out).expect("is UTF-8")));
}
