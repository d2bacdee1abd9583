//! `vary: order` with `parameters`: each point is what a search of it alone finds, and totals are sums of points.

use crate::common::{json_lines, run};
use serde_json::Value;
use tempfile::TempDir;

/// Two sizes, one of them twice, of two transfers.
const FILE: &str = "tests/optimize/sweep.yaml";

fn sweep(extra: &[&str]) -> String {
    let ended = run(&[&["optimize", FILE, "--no-timing"], extra].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{extra:?}");
    ended.stdout
}

fn result(extra: &[&str]) -> Value {
    json_lines(&sweep(&[&["--json"], extra].concat())).remove(0)
}

/// A search with the values of a point alone.
fn alone(point: &Value, extra: &[&str]) -> Value {
    let set =
        |(path, value): (&String, &Value)| ["--set".to_owned(), format!("{path}={}", value.as_str().expect("text"))];
    let values: Vec<String> = point["parameters"].as_object().expect("a map").iter().flat_map(set).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let arguments = ["optimize", FILE, "--json", "--set", "optimize={ vary: order }"];
    let ended = run(&[&arguments, &values[..], extra].concat());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{point}");
    json_lines(&ended.stdout).remove(0)
}

#[test]
fn every_point_is_a_search_of_its_own() {
    let found = result(&[]);
    assert_eq!((&found["vary"], &found["searches"]), (&"order".into(), &4.into()));
    assert_eq!((&found["complete"], &found["proved_optimal"]), (&true.into(), &true.into()));
    let points = found["points"].as_array().expect("a list");
    assert_eq!(points.len(), 6);
    for point in points {
        let alone = alone(point, &[]);
        for key in ["baseline_ps", "best_ps", "candidates"] {
            assert_eq!(point[key], alone[key], "{key} of {point}");
        }
        let (baseline, best) = (point["baseline_ps"].as_f64(), point["best_ps"].as_f64());
        let gain = 100.0 * (baseline.expect("a number") / best.expect("a number") - 1.0);
        assert_eq!(point["gain_percent"], gain);
        assert_eq!(point["parameters"]["workload[0].transfer.size"].as_str().map(str::len), Some(4));
    }
    assert_eq!((&points[4]["best_ps"], &points[4]["solution"]), (&points[0]["best_ps"], &points[0]["solution"]));
    let sum =
        |key: &str, of: usize| points.iter().skip(of).step_by(2).map(|p| p[key].as_u64().expect("ps")).sum::<u64>();
    for (i, total) in found["totals"].as_array().expect("a list").iter().enumerate() {
        assert_eq!(total["baseline_ps"], sum("baseline_ps", i));
        assert_eq!((&total["best_ps"], &total["points"]), (&sum("best_ps", i).into(), &3.into()));
        assert_eq!(total["parameters"]["workload[3].transfer.size"], ["10MB", "20MB"][i]);
    }
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let one = sweep(&["--json", "--threads", "1"]);
    assert_eq!(sweep(&["--json", "--threads", "3"]), one);
}

#[test]
fn methods_find_the_same() {
    let best = |method: &str| {
        let found = result(&["--method", method]);
        assert_eq!(found["points"][0]["method"], method);
        found["points"].as_array().expect("a list").iter().map(|p| p["best_ps"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(best("exhaustive"), best("branch-and-bound"));
}

#[test]
fn points_go_to_a_file_and_one_alone_is_written() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a UTF-8 path").to_owned();
    let csv = path("points.csv");
    sweep(&["--csv", &csv]);
    let rows = std::fs::read_to_string(&csv).expect("is there");
    assert_eq!(rows.lines().count(), 7);
    assert!(rows.starts_with("point,workload[0].transfer.size,workload[3].transfer.size,baseline_s,"), "{rows}");
    // What the refusals below say.
    let written = path("best.yaml");
    let point = result(&[])["points"][3].clone();
    let best = alone(&point, &["--write", &written])["best_ps"].clone();
    let ended = run(&["run", &written, "--json"]);
    assert_eq!(json_lines(&ended.stdout)[0]["makespan_ps"], best, "{}", ended.stderr);
}

#[test]
fn options_of_one_search_are_refused() {
    for option in [["--write", "x.yaml"], ["--shard", "1/2"], ["--checkpoint", "x.part"]] {
        let ended = run(&[&["optimize", FILE][..], &option].concat());
        assert_eq!(ended.code, 2, "{option:?}");
        let message = format!("{} is for one search, and `parameters` asks for one at each point", option[0]);
        assert!(ended.stderr.contains(&message), "{}", ended.stderr);
        assert!(ended.stderr.contains("--set 'optimize={ vary: order }'"), "{}", ended.stderr);
    }
}

#[test]
fn a_point_that_cannot_be_read_is_named() {
    let set = "optimize.parameters={ \"workload[0].transfer.size\": [1MB, 10mb] }";
    let ended = run(&["optimize", FILE, "--set", set]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert!(ended.stderr.contains("(workload[0].transfer.size=10mb)"), "{}", ended.stderr);
    assert!(ended.stderr.contains("unknown unit `mb`"), "{}", ended.stderr);
}

#[test]
fn another_kind_of_search_does_not_sweep() {
    let ended = run(&["optimize", FILE, "--vary", "parameters", "--set", "workload[0].transfer.size=1MB"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("has the value `10MB` twice"), "{}", ended.stderr);
}
