//! Tables that `weir optimize` and `weir merge` write say what the JSON says.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::search::{Folder, result};
use crate::common::{json_lines, run, scenario};
use serde_json::Value;
use tempfile::TempDir;

type Row = BTreeMap<String, String>;

/// The rows of a table, by the names of the columns.
fn table(folder: &Path, name: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(folder.join(name)).expect("the table is there");
    let head = reader.headers().expect("a line of names").clone();
    let rows = reader.records().map(|row| row.expect("a row"));
    rows.map(|row| head.iter().map(str::to_owned).zip(row.iter().map(str::to_owned)).collect()).collect()
}

/// The search as JSON; its tables lie in `folder`, under known names.
fn searched(file: &str, folder: &Path, more: &[&str]) -> Value {
    let mut arguments = vec!["optimize", file, "--json", "--no-timing", "--export-csv"];
    arguments.push(folder.to_str().expect("UTF-8"));
    arguments.extend(more);
    let ended = run(&arguments);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    for file in std::fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        assert!(
            path.is_dir() || path.extension().is_none_or(|e| e != "csv") || weir_report::TABLES.contains(&name),
            "{name}"
        );
    }
    json_lines(&ended.stdout).remove(0)
}

fn number(value: &Value) -> String {
    value.to_string()
}

/// Whether a row has all fields of a row of `--csv`, which writes 1 for 1.0.
fn holds(row: &Row, plain: &Row) -> bool {
    let equal = |a: &str, b: &str| a == b || a.parse::<f64>().is_ok_and(|a| b.parse() == Ok(a));
    plain.iter().all(|(key, value)| equal(&row[key], value))
}

fn real(text: &str) -> f64 {
    text.parse().expect("a number")
}

#[test]
fn orders_have_all_makespans_and_the_best_queues() {
    let folder = TempDir::new().expect("a folder");
    let result = searched(&scenario("optimize/order-halo-2d-t2.yaml"), folder.path(), &["--full"]);
    let [search] = &table(folder.path(), "searches.csv")[..] else { panic!("one search") };
    for key in ["baseline_s", "baseline_ps", "best_s", "best_ps", "median_s", "mean_s", "worst_s", "evaluated"] {
        assert_eq!(search[key], number(&result[key]), "{key}");
    }
    assert_eq!((&*search["proved_optimal"], &*search["method"], &*search["best"]), ("true", "exhaustive", ""));
    let makespans = table(folder.path(), "makespans.csv");
    let counted: u64 = makespans.iter().map(|row| row["count"].parse::<u64>().expect("a count")).sum();
    assert_eq!(counted.to_string(), search["evaluated"]);
    assert_eq!(makespans[0]["makespan_ps"], search["best_ps"]);
    assert!(makespans.is_sorted_by(|a, b| real(&a["makespan_ps"]) < real(&b["makespan_ps"])));
    let mean: f64 = makespans.iter().map(|row| real(&row["makespan_s"]) * real(&row["count"])).sum::<f64>() / 20736.0;
    assert!((mean / real(&search["mean_s"]) - 1.0).abs() < 1e-12);
    let queues = result["solution"]["order"].as_object().expect("queues");
    let sent: Vec<(String, String, String)> = queues
        .iter()
        .flat_map(|(device, sent)| {
            let sent = sent.as_array().expect("transfers").iter().enumerate();
            sent.map(|(at, id)| (device.clone(), at.to_string(), id.as_str().expect("an id").to_owned()))
        })
        .collect();
    let rows = table(folder.path(), "solutions.csv");
    let listed = rows.iter().map(|row| (row["of"].clone(), row["number"].clone(), row["is"].clone()));
    assert_eq!(listed.collect::<Vec<_>>(), sent);
}

/// The table of a grid is that of `--csv`, whose it is before it; `weir merge` writes the same tables.
#[test]
fn grids_have_the_rows_of_csv_and_parts_make_the_same_tables() {
    let folder = TempDir::new().expect("a folder");
    let (file, at) = (scenario("optimize/packets.yaml"), |name: &str| folder.path().join(name));
    let text = |name: &str| at(name).to_str().expect("UTF-8").to_owned();
    let result = searched(&file, &at("whole"), &["--csv", &text("grid.plain")]);
    let (rows, plain) = (table(&at("whole"), "candidates.csv"), table(folder.path(), "grid.plain"));
    assert_eq!(rows.len(), plain.len());
    assert!(rows.len() > 3);
    for (row, plain) in rows.iter().zip(&plain) {
        assert!(holds(row, plain), "{row:?} {plain:?}");
        assert_eq!(row["scenario"], result["scenario"].as_str().expect("a name"));
    }
    let parameters = result["solution"]["parameters"].as_object().expect("values");
    for row in table(&at("whole"), "solutions.csv") {
        assert_eq!(row["is"], parameters[&row["of"]].as_str().expect("a text"));
    }
    for part in ["1/2", "2/2"] {
        let output = text(&part.replace('/', "-of-"));
        assert_eq!(run(&["optimize", &file, "--shard", part, "--output", &output]).code, 0);
    }
    let merged = run(&["merge", &text("1-of-2"), &text("2-of-2"), "--export-csv", &text("merged")]);
    assert_eq!((merged.code, merged.stderr.as_str()), (0, ""));
    for name in ["searches.csv", "solutions.csv", "candidates.csv"] {
        let read = |folder: &str| std::fs::read_to_string(at(folder).join(name)).expect("the table is there");
        assert_eq!(read("whole"), read("merged"), "{name}");
    }
}

#[test]
fn placements_have_ranks_and_both_objectives() {
    let folder = TempDir::new().expect("a folder");
    let file = scenario("mapping/helios-stencil.yaml");
    let result = searched(&file, folder.path(), &["--vary", "placement", "--objective", "distance"]);
    let [search] = &table(folder.path(), "searches.csv")[..] else { panic!("one search") };
    for key in ["baseline", "best", "baseline_s", "best_ps"] {
        assert_eq!(search[key], number(&result[key]), "{key}");
    }
    assert_eq!(search["worst_s"], "");
    let devices: Vec<String> = table(folder.path(), "solutions.csv").iter().map(|row| row["is"].clone()).collect();
    let placed = result["solution"]["placement"].as_array().expect("devices").iter();
    assert_eq!(devices, placed.map(|device| device.as_str().expect("a name").to_owned()).collect::<Vec<_>>());
}

#[test]
fn sweeps_have_points_and_totals() {
    let folder = TempDir::new().expect("a folder");
    let (file, csv) = (scenario("optimize/weather-step.yaml"), folder.path().join("points.plain"));
    let result = searched(&file, folder.path(), &["--csv", csv.to_str().expect("UTF-8")]);
    let (rows, plain) = (table(folder.path(), "points.csv"), table(folder.path(), "points.plain"));
    assert_eq!(rows.len(), plain.len());
    for (row, plain) in rows.iter().zip(&plain) {
        assert!(holds(row, plain), "{row:?} {plain:?}");
    }
    let (totals, listed) = (table(folder.path(), "totals.csv"), result["totals"].as_array().expect("totals"));
    assert_eq!(totals.len(), listed.len());
    for (row, listed) in totals.iter().zip(listed) {
        for key in ["points", "baseline_ps", "best_s", "best_ps", "gain_percent"] {
            assert_eq!(row[key], number(&listed[key]), "{key}");
        }
    }
}

/// Tables of a part would not be those of the search, and a folder must be one.
#[test]
fn what_would_not_do_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let (file, text) = (scenario("optimize/packets.yaml"), folder.path().join("text"));
    std::fs::write(&text, "").expect("written");
    let text = text.to_str().expect("UTF-8");
    for (more, words) in [
        (vec!["--shard", "1/2", "--export-csv", "x"], "cannot be used with"),
        (vec!["--export-csv", text], "is not a folder"),
    ] {
        let ended = run(&[&["optimize", &file][..], &more].concat());
        assert!(ended.code == 2 && ended.stderr.contains(words), "{}", ended.stderr);
    }
}

/// `a` shares the link of `h0` with `b`: with 500 kB, `b` leaves it alone after 100 µs; with more it does not until `a` ends. Two
/// links take 1 µs each.
#[test]
fn rows_of_a_grid_have_the_objective_and_the_makespan() {
    let folder = Folder::new();
    let text = "weir: 1
topology:
  link_types: { x: { bandwidth: 10GB/s, latency: 1us } }
  tree: { sw: { kind: switch, children: { 'h[0-2]': { kind: host, link: x } } } }
arbiter: max-min
workload:
  - transfer: { id: a, from: h0, to: h1, size: 1MB }
  - transfer: { id: b, from: h0, to: h2, size: 3MB }
optimize:
  vary: parameters
  objective: OBJECTIVE
  parameters: { 'workload[1].transfer.size': [2MB, 500kB, 1MB] }
";
    let table = folder.path("table.csv");
    let rows = |objective: &str| {
        let file = folder.write("by.yaml", &text.replace("OBJECTIVE", objective));
        let json = result(&[&file, "--csv", &table]);
        let head = std::fs::read_to_string(&table).expect("written").lines().next().map(str::to_owned);
        let rows = json["rows"].as_array().expect("a list").clone();
        let of = |row: &serde_json::Value| (row["value"].as_f64().expect("a number"), row["makespan_ps"].as_u64());
        (head, rows.iter().map(of).collect::<Vec<_>>(), rows.iter().position(|row| row["best"] == true), json)
    };
    let makespans = [302_000_000, 152_000_000, 202_000_000].map(Some);
    let (head, ends, best, json) = rows("{ end: [a] }");
    let columns = "candidate,workload[1].transfer.size,value,makespan_s,makespan_ps,ratio,best";
    assert_eq!((head.as_deref(), best), (Some(columns), Some(1)));
    assert_eq!(ends.iter().map(|end| end.1).collect::<Vec<_>>(), makespans);
    for (end, expected) in ends.iter().zip([202e-6, 152e-6, 202e-6]) {
        assert!((end.0 - expected).abs() < 1e-12, "{json}");
    }
    // The baseline ends later, and `a` when it does with 2 MB.
    assert_eq!((&json["baseline_ps"], &json["best_ps"]), (&402_000_000.into(), &152_000_000.into()));
    let (_, rates, best, _) = rows("throughput");
    assert_eq!(best, Some(0));
    for (rate, expected) in rates.iter().zip([3e6 / 302e-6, 1.5e6 / 152e-6, 2e6 / 202e-6]) {
        assert!((rate.0 / expected - 1.0).abs() < 1e-12, "{} {expected}", rate.0);
    }
}
