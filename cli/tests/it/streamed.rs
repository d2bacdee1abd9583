//! `weir run --stream`: the same transfers, to the picosecond, as of a run that keeps them all.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::common::{json_lines, run, run_with_input};
use serde_json::Value;
use tempfile::TempDir;

/// A tree of gpus, which send one at a time, and hosts, which send all at once; every link has a latency.
const TREE: &str = "\
weir: 1
name: streamed
topology:
  link_types:
    x: { bandwidth: 1GB/s, latency: 700ns }
    wide: { bandwidth: 3GB/s, latency: 1us }
  tree:
    core:
      kind: switch
      children:
        \"leaf[0-2]\": { kind: switch, link: wide, children: { \"gpu[0-1]\": { kind: gpu, link: x }, host: { kind: host, link: wide } } }
";

/// A generator of numbers below 2^32 (Knuth, MMIX).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) % most
    }
}

/// A table of transfers, sorted by start: many start at once, some have ids, weights, priorities and limits.
fn table(rows: usize, seed: u64) -> String {
    let mut numbers = Numbers(seed);
    let mut start = 0;
    let mut out = "id,from,to,bytes,start_s,weight,priority,limit_Bps\n".to_owned();
    for row in 0..rows {
        let from = numbers.below(9);
        let to = (from + 1 + numbers.below(8)) % 9;
        let name = |node: u64| match node % 3 {
            2 => format!("leaf{}/host", node / 3),
            gpu => format!("leaf{}/gpu{gpu}", node / 3),
        };
        start += numbers.below(3) * numbers.below(400);
        let id = if numbers.below(3) > 0 { format!("t{seed}-{row}") } else { String::new() };
        let limit = if numbers.below(5) == 0 { "3e8" } else { "" };
        let (bytes, weight, priority) = (1 + numbers.below(2_000_000), 1 + numbers.below(3), numbers.below(3));
        let (from, to) = (name(from), name(to));
        let _ = writeln!(out, "{id},{from},{to},{bytes},{start}e-6,{weight},{priority},{limit}");
    }
    out
}

/// A folder with a scenario whose workload is these tables.
struct Case {
    folder: TempDir,
}

impl Case {
    fn new(tree: &str, tables: &[String]) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let mut text = format!("{tree}workload:\n");
        for (i, table) in tables.iter().enumerate() {
            std::fs::write(folder.path().join(format!("flows{i}.csv")), table).expect("the table is written");
            let _ = writeln!(text, "  - trace: {{ file: flows{i}.csv }}");
        }
        std::fs::write(folder.path().join("s.yaml"), text).expect("the scenario is written");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("a UTF-8 path").to_owned()
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("is written")
}

/// The fields of the rows of a CSV file by the names of its header; texts here have no commas but in names of causes.
fn rows(text: &str) -> Vec<Vec<String>> {
    let fields = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().map(fields).collect()
}

#[test]
fn json_lines_are_the_transfers_of_the_whole_run() {
    for (arbiter, count, how) in [
        ("max-min", 400, "fluid"),
        ("max-min", 1500, "fluid"),
        ("pcie-congestion", 300, "fluid"),
        ("fcfs", 300, "fluid"),
        ("strict-priority", 300, "fluid"),
        ("equal-share", 300, "fluid"),
        ("max-min", 100, "packet"),
    ] {
        let case = Case::new(TREE, &[table(count, 7), table(count / 2, 8)]);
        let scenario = case.text("s.yaml");
        let how = ["--arbiter", arbiter, "--fidelity", how];
        let whole = run(&[&["run", &scenario, "--json"], &how[..]].concat());
        let whole: Value = serde_json::from_str(&whole.stdout).expect("one object");
        let streamed = run(&[&["run", &scenario, "--stream", "-"], &how[..]].concat());
        assert_eq!((streamed.code, streamed.stderr.contains("error")), (0, false), "{}", streamed.stderr);
        let mut lines = json_lines(&streamed.stdout);
        let summary = lines.pop().expect("the last line");
        for key in ["fingerprint", "makespan_ps", "events", "links", "complete", "input_sha256"] {
            assert_eq!(summary[key], whole[key], "{how:?}: {key}");
        }
        assert_eq!(
            summary["streamed"],
            serde_json::json!({ "transfers": count + count / 2, "ended": count + count / 2 })
        );
        let mut expected = whole["transfers"].as_array().expect("a list").clone();
        // Stable: among those that end at the same time, file order.
        expected.sort_by_key(|transfer| transfer["end_ps"].as_u64());
        assert_eq!(lines, expected, "{how:?}");
    }
}

#[test]
fn csv_has_what_json_has_and_stdout_the_summary() {
    let case = Case::new(TREE, &[table(200, 3)]);
    let (scenario, target) = (case.text("s.yaml"), case.text("out.csv"));
    let streamed = run(&["run", &scenario, "--stream", &target]);
    assert_eq!(streamed.code, 0, "{}", streamed.stderr);
    assert!(streamed.stdout.contains("makespan") && streamed.stdout.contains("busiest links"), "{}", streamed.stdout);
    assert!(streamed.stdout.contains(&format!("200 transfers: {target}")), "{}", streamed.stdout);
    let json = json_lines(&run(&["run", &scenario, "--stream", "-"]).stdout);
    let csv = rows(&read(&case.path("out.csv")));
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    assert_eq!(csv.len(), 201);
    for (row, transfer) in csv[1..].iter().zip(&json) {
        for (name, field) in csv[0].iter().zip(row) {
            let expected = match name.as_str() {
                "sent_bytes" => &transfer["bytes"],
                "bottleneck_from" => &transfer["bottleneck"]["from"],
                "bottleneck_to" => &transfer["bottleneck"]["to"],
                name => &transfer[name],
            };
            assert_eq!(*field, text(expected), "{name}");
        }
    }
}

#[test]
fn a_run_that_stops_says_so_in_every_form() {
    for fidelity in ["fluid", "packet"] {
        stopped(fidelity);
    }
}

fn stopped(fidelity: &str) {
    let case = Case::new(TREE, &[table(300, 5)]);
    let (scenario, csv, jsonl) = (case.text("s.yaml"), case.text("o.csv"), case.text("o.jsonl"));
    let stopped = run(&["run", &scenario, "--fidelity", fidelity, "--stream", &csv, "--until", "2ms"]);
    assert_eq!(stopped.code, 0);
    assert!(stopped.stdout.contains("(--until)") && stopped.stdout.contains("of 300 transfers have ended"));
    let rows = rows(&read(&case.path("o.csv")));
    assert_eq!(rows.last().map(|row| row[6].as_str()), Some(""), "the last row has no end");
    let summary =
        run(&["run", &scenario, "--fidelity", fidelity, "--stream", &jsonl, "--until", "2ms", "--json"]).stdout;
    let lines = json_lines(&read(&case.path("o.jsonl")));
    assert_eq!(lines.last(), json_lines(&summary).last());
    let last = lines.last().expect("a last line");
    assert_eq!(last["complete"], false);
    let ended = lines.iter().filter(|line| line["end_ps"].is_u64()).count();
    assert_eq!(last["streamed"], serde_json::json!({ "transfers": 300, "ended": ended }));
}

/// What refuses, and what stands in the message.
fn refused(case: &Case, arguments: &[&str], parts: &[&str]) {
    let scenario = case.text("s.yaml");
    let target = case.text("out.csv");
    let all: Vec<&str> = ["run", &scenario, "--stream", &target].iter().chain(arguments).copied().collect();
    let ended = run(&all);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    for part in parts {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    let left =
        std::fs::read_dir(case.folder.path()).expect("is readable").map(|entry| entry.expect("an entry").file_name());
    let left: Vec<_> = left.filter(|name| name == "out.csv" || name.to_string_lossy().starts_with(".weir")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn refusals_say_what_is_in_the_way_and_what_to_do() {
    let row = |text: &str| format!("from,to,bytes,start_s,after\n{text}");
    let first = "leaf0/gpu0,leaf1/gpu0,1000,1e-3,\n";
    let case = |rows: &str| Case::new(TREE, &[row(rows)]);
    let unsorted = case(&format!("{first}leaf0/gpu1,leaf1/gpu0,1000,5e-4,\n{first}leaf0/gpu1,leaf1/gpu0,1000,4e-4,\n"));
    refused(&unsorted, &[], &["flows0.csv:3:28", "sorted by start", "sort -s -t, -k4,4g) > sorted.csv"]);
    let waits = case(&format!("{first}leaf0/gpu1,leaf1/gpu0,1000,2e-3,flows0:1\n"));
    refused(&waits, &[], &["flows0.csv:3:33", "waits"]);
    let wrong = case(&format!("{first}leaf0/gpu1,leaf1/gpu0,none,2e-3,\n"));
    refused(&wrong, &[], &["flows0.csv:3:23", "none"]);
    let fine = case(first);
    refused(&fine, &["--arbiter", "fcfs", "--arbiter", "max-min"], &["has 2 arbiters", "--arbiter"]);
    refused(&fine, &["--output", "x"], &["cannot be used with"]);
    refused(&fine, &[&fine.text("s.yaml")], &["takes one scenario"]);
    let scenario = fine.path("s.yaml");
    let text = read(&scenario) + "  - compute: { device: leaf0/gpu0, time: 1ms }\n";
    std::fs::write(&scenario, text).expect("is written");
    refused(&fine, &[], &["s.yaml:", "`compute` cannot be streamed: workload[1] is not a trace"]);
}

#[test]
fn targets_are_checked_before_anything_is_read() {
    let case = Case::new(TREE, &[table(10, 1)]);
    let scenario = case.text("s.yaml");
    for (target, part) in [
        ("out.txt", "ends in .csv or .jsonl"),
        (&*case.text("flows0.csv"), "would overwrite the input"),
        (&*case.text("none/out.csv"), "there is no folder"),
    ] {
        let ended = run(&["run", &scenario, "--stream", target]);
        assert_eq!(ended.code, 2);
        assert!(ended.stderr.contains(part), "{}", ended.stderr);
    }
    assert_eq!(read(&case.path("flows0.csv")), table(10, 1));
}

#[test]
fn a_scenario_may_come_from_stdin_and_ids_may_be_quoted() {
    let table = "id,from,to,bytes\n\"a, \"\"b\"\"\",leaf0/host,leaf1/host,3000\n\n\n\"two\nlines\",leaf0/host,leaf2/host,3000\n";
    let case = Case::new(TREE, &[table.to_owned()]);
    let scenario = read(&case.path("s.yaml")).replace("flows0.csv", &case.text("flows0.csv"));
    let ended = run_with_input(&["run", "-", "--library", &case.text("."), "--stream", "-"], scenario.as_bytes());
    let lines = json_lines(&ended.stdout);
    assert_eq!((ended.code, lines.len()), (0, 3), "{}", ended.stderr);
    assert_eq!((&lines[0]["id"], &lines[1]["id"]), (&"a, \"b\"".into(), &"two\nlines".into()));
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_what_has_ended_and_what_has_not() {
    // 20,000 transfers at once through one link under an arbiter that is asked for all of them, again and again.
    let row = |i: usize| format!("leaf{}/host,leaf{}/host,{}\n", i % 2, i % 2 + 1, 1_000_000 + 977 * i);
    let table = (0..20_000).map(row).fold("from,to,bytes\n".to_owned(), |all, row| all + &row);
    let case = Case::new(TREE, &[table]);
    let target = case.text("out.csv");
    let scenario = case.text("s.yaml");
    let mut command = crate::common::weir();
    command.args(["run", &scenario, "--arbiter", "input-fifo", "--stream", &target]);
    let (mut child, _log) = crate::common::started(&mut command);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(!case.path("out.csv").exists(), "nothing half-written");
    assert!(child.try_wait().expect("can be asked").is_none(), "the run is too short for this test");
    crate::common::interrupt(&child);
    let ended = crate::common::ended(child.wait_with_output().expect("the command ends"));
    assert_eq!(ended.code, 130);
    assert!(ended.stdout.contains("(interrupted)"), "{}", ended.stdout);
    let rows = rows(&read(&case.path("out.csv")));
    assert_eq!(rows.len(), 20_001, "all have come");
    assert_eq!(rows.last().map(|row| row[6].as_str()), Some(""), "the last row has no end");
}

/// The lowest links get an eighth of 4 GB/s, beside links of 10^17 B/s: of so small a level the integers of a stream are too coarse.
#[test]
fn rates_too_small_for_integers_are_refused() {
    let wide = "{ kind: gpu, link: { bandwidth: 1e8GB/s } }";
    let below = |name: &str, children: &str| format!("{name}: {{ kind: switch, link: l, children: {{ {children} }} }}");
    let lowest = below("c", &format!("\"w[0-1]\": {wide}"));
    let tree = below("a", &format!("u: {wide}, {}", below("b", &format!("v: {wide}, {lowest}"))));
    let tree = format!(
        "weir: 1\nname: tiny\narbiter: pcie-congestion\ntopology:\n  link_types: {{ l: {{ bandwidth: 4GB/s }} }}\n  \
         tree: {{ s: {{ kind: switch, children: {{ \"d[0-3]\": {wide}, {tree} }} }} }}\n"
    );
    let ways = [("w0", 0), ("w1", 1), ("v", 2), ("u", 3)].map(|(from, to)| format!("{from},d{to},1000000000,0\n"));
    // As many as are worth integers.
    let others = (0..1000).map(|at| format!("d{},d{},1000000000,0\n", at % 4, (at + 1) % 4)).collect::<String>();
    let case = Case::new(&tree, &[format!("from,to,bytes,start_s\n{}{others}", ways.concat())]);
    let scenario = case.text("s.yaml");
    let whole = run(&["run", &scenario]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    let streamed = run(&["run", &scenario, "--stream", "-"]);
    let words = ["s.yaml: under arbiter `pcie-congestion`, at 0 s", "some rates are too small", "without `--stream`"];
    assert_eq!(
        (streamed.code, words.map(|words| streamed.stderr.contains(words))),
        (3, [true; 3]),
        "{}",
        streamed.stderr
    );
}
