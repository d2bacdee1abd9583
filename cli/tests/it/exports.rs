//! Files that `weir run` writes beside its results: the timeline and the tables say what the JSON says.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{json_lines, run};
use serde_json::Value;
use tempfile::TempDir;

/// Scenarios with engines, queues, priorities, operations of models, laterals, barriers.
const SCENARIOS: [(&str, &str); 5] = [
    ("scenarios/pcie/four-transfers.yaml", "{name: pcie-congestion, tau: 0.2}"),
    ("scenarios/pcie/four-transfers.yaml", "fcfs"),
    ("scenarios/multilevel/gather-shared-network.yaml", "max-min"),
    ("scenarios/pcie/halo-3d-file-order.yaml", "pcie-congestion"),
    ("scenarios/offload/eight-gpus-t2.yaml", "max-min"),
];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The run with phases as JSON, and its timeline.
fn timeline(scenario: &str, arbiter: &str) -> (Value, Value) {
    timeline_with(scenario, arbiter, &[])
}

fn timeline_with(scenario: &str, arbiter: &str, more: &[&str]) -> (Value, Value) {
    let folder = TempDir::new().expect("a folder");
    let (file, target) = (root().join(scenario), folder.path().join("trace.json"));
    let words = [file.to_str(), Some("--arbiter"), Some(arbiter), Some("--timeline"), target.to_str()];
    let mut arguments = vec!["run", "--json", "--phases"];
    arguments.extend(words.into_iter().flatten());
    arguments.extend(more);
    let ended = run(&arguments);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let trace = std::fs::read_to_string(&target).expect("it was written");
    (json_lines(&ended.stdout).remove(0), serde_json::from_str(&trace).expect("it is JSON"))
}

fn events<'a>(trace: &'a Value, ph: &'a str) -> impl Iterator<Item = &'a Value> {
    trace["traceEvents"].as_array().expect("a list").iter().filter(move |event| event["ph"] == ph)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Process → its name.
fn processes(trace: &Value) -> BTreeMap<u64, String> {
    let names = events(trace, "M").filter(|event| event["name"] == "process_name");
    let name = |event: &Value| event["args"]["name"].as_str().expect("a name").to_owned();
    names.map(|event| (event["pid"].as_u64().expect("a process"), name(event))).collect()
}

/// Slices that may overlap are told apart within their process.
fn slice_id(event: &Value) -> (Option<u64>, String) {
    (event["pid"].as_u64(), event["id2"]["local"].as_str().expect("an id of the process").to_owned())
}

/// The rules of the format: known kinds, sorted times, no negative durations, begins matched by ends, no overlap in a thread.
fn is_well_formed(trace: &Value) {
    let (mut last, mut open, mut busy) = (0.0, BTreeMap::new(), BTreeMap::new());
    let processes = processes(trace);
    for event in trace["traceEvents"].as_array().expect("a list") {
        assert!(processes.contains_key(&event["pid"].as_u64().expect("a process")) && event["tid"].is_u64());
        assert!(event["name"].as_str().is_some_and(|name| !name.is_empty()), "{event}");
        if event["ph"] == "M" {
            continue;
        }
        let at = number(&event["ts"]);
        assert!(at >= last, "sorted: {event}");
        last = at;
        match event["ph"].as_str().expect("a kind") {
            "b" => assert!(open.insert(slice_id(event), at).is_none()),
            "e" => {
                let begin = open.remove(&slice_id(event)).expect("it began in this process");
                assert!(at >= begin);
            }
            "X" => {
                assert!(number(&event["dur"]) >= 0.0);
                let thread = (event["pid"].as_u64(), event["tid"].as_u64());
                let free = busy.insert(thread, at + number(&event["dur"])).unwrap_or(0.0);
                assert!(free <= at + 1e-6, "overlaps in its thread: {event}");
            }
            "C" => assert!(event["args"].as_object().is_some_and(|values| values.values().all(|v| number(v) >= 0.0))),
            other => panic!("a kind that this writer does not know: {other}"),
        }
    }
    assert!(open.is_empty(), "all that began ends");
}

/// Bytes of slices, and the integral of the counter, are the bytes of the link; its busy time the time with a rate.
fn sums_are_those_of_the_result(result: &Value, trace: &Value) {
    let processes = processes(trace);
    for link in result["links"].as_array().expect("a list") {
        let name = format!("{} → {}", link["from"].as_str().unwrap(), link["to"].as_str().unwrap());
        let pid = processes.iter().find(|(_, n)| **n == name).map(|(&pid, _)| pid).expect("a process of the link");
        let own = |event: &&Value| event["pid"].as_u64() == Some(pid);
        let bytes: f64 = events(trace, "b").filter(own).map(|event| number(&event["args"]["bytes"])).sum();
        assert_eq!(bytes, number(&link["bytes"]), "{name}");
        let (mut integral, mut busy, mut last) = (0.0, 0.0, (0.0, 0.0));
        for event in events(trace, "C").filter(own).filter(|event| event["name"] == "rate") {
            let at = number(&event["ts"]) * 1e-6;
            integral += last.1 * (at - last.0);
            busy += if last.1 > 0.0 { at - last.0 } else { 0.0 };
            last = (at, number(&event["args"]["GB/s"]) * 1e9);
        }
        assert_eq!(last.1, 0.0, "{name} is idle in the end");
        assert!((integral - bytes).abs() <= 1e-6 * bytes + 1.0, "{name}: {integral}, not {bytes}");
        assert!((busy - number(&link["busy_s"])).abs() <= 1e-9 * busy, "{name}: {busy}");
    }
}

#[test]
fn timelines_are_well_formed_and_add_up() {
    for (scenario, arbiter) in SCENARIOS {
        let (result, trace) = timeline(scenario, arbiter);
        is_well_formed(&trace);
        sums_are_those_of_the_result(&result, &trace);
        assert_eq!(trace["otherData"]["makespan_ps"], result["makespan_ps"]);
        assert_eq!(trace["otherData"]["fingerprint"], result["fingerprint"]);
    }
}

/// A run that was stopped has what happened until then.
#[test]
fn timelines_of_stopped_runs_are_well_formed_and_add_up() {
    for (scenario, arbiter) in SCENARIOS {
        let (whole, _) = timeline(scenario, arbiter);
        let until = format!("{}ps", whole["makespan_ps"].as_u64().expect("a time") / 3);
        let (result, trace) = timeline_with(scenario, arbiter, &["--until", &until]);
        assert_eq!(result["complete"], false);
        is_well_formed(&trace);
        sums_are_those_of_the_result(&result, &trace);
    }
}

/// A slice says what the result says of its transfer: mean rate and the link that held it back.
#[test]
fn slices_say_rate_and_bottleneck() {
    let (result, trace) = timeline("scenarios/pcie/four-transfers.yaml", "{name: pcie-congestion, tau: 0.2}");
    for transfer in result["transfers"].as_array().expect("a list") {
        let mut slices = events(&trace, "b").filter(|event| event["name"] == transfer["id"]).peekable();
        assert!(slices.peek().is_some());
        for slice in slices {
            let (args, at) = (&slice["args"], &transfer["bottleneck"]);
            assert!((number(&args["mean GB/s"]) * 1e9 / number(&transfer["mean_Bps"]) - 1.0).abs() < 1e-12, "{slice}");
            let link = format!("{} → {}", at["from"].as_str().unwrap(), at["to"].as_str().unwrap());
            assert_eq!((&args["bottleneck"], &args["cause"]), (&Value::from(link), &transfer["cause"]));
        }
    }
}

/// Engines have threads: every transfer of a source with a queue stands in its thread, and its wait beside it.
#[test]
fn engines_show_tasks_and_waits() {
    let (result, trace) = timeline("scenarios/pcie/halo-3d-file-order.yaml", "pcie-congestion");
    let names: Vec<&str> = events(&trace, "X").filter_map(|event| event["name"].as_str()).collect();
    let transfers = result["transfers"].as_array().expect("a list");
    assert_eq!(names.len(), transfers.len());
    let waited = transfers.iter().filter(|t| number(&t["start_s"]) > number(&t["ready_s"])).count();
    let waits = events(&trace, "b").filter(|event| event["cat"] == "waiting").count();
    assert!(waits == waited && waits > 0, "{waits} of {waited}");
    // Nanoseconds are exact: the text of the number has all picoseconds.
    let last = transfers.iter().max_by_key(|t| t["end_ps"].as_u64()).expect("some");
    let slice = events(&trace, "X").find(|event| event["name"] == last["id"]).expect("its slice");
    assert!((number(&slice["args"]["end_ns"]) * 1000.0 - number(&last["end_ps"])).abs() < 1.0, "{slice} of {last}");
}

/// The number of a field of a row, by the name of its column.
fn table(folder: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(folder.join(name)).expect("the table is there");
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let head = lines.next().expect("a line of names");
    lines.map(|row| head.iter().cloned().zip(row).collect()).collect()
}

/// Rows of `transfers.csv` beside the same of the JSON.
fn same_transfers(transfers: &[BTreeMap<String, String>], all: &[Value]) {
    assert_eq!(transfers.len(), all.len());
    for (row, json) in transfers.iter().zip(all) {
        assert_eq!(row["id"], json["id"].as_str().expect("an id"));
        assert_eq!(row["end_ps"], json["end_ps"].to_string());
        assert_eq!((&row["mean_Bps"], &row["alone_s"]), (&json["mean_Bps"].to_string(), &json["alone_s"].to_string()));
        assert_eq!(row["cause"], json["cause"].as_str().expect("a cause"));
        for (column, value) in [
            ("waiting_s", &json["delay"]["waiting_s"]),
            ("blocked_s", &json["delay"]["blocked_s"]),
            ("cut_s", &json["delay"]["cut_s"]),
            ("own_limit_s", &json["delay"]["own_limit_s"]),
        ] {
            assert_eq!(row[column], value.to_string(), "{column}");
        }
        for (column, value) in [
            ("from", &json["from"]),
            ("to", &json["to"]),
            ("bottleneck_from", &json["bottleneck"]["from"]),
            ("bottleneck_to", &json["bottleneck"]["to"]),
        ] {
            assert_eq!(row[column], value.as_str().expect("a name"), "{column}");
        }
    }
}

#[test]
fn tables_say_what_the_json_says() {
    let folder = TempDir::new().expect("a folder");
    let (file, target) = (root().join("scenarios/pcie/four-transfers.yaml"), folder.path().join("tables"));
    let ended = run(&[
        "run",
        file.to_str().expect("UTF-8"),
        "--json",
        "--phases",
        "--arbiter",
        "max-min",
        "--arbiter",
        "fcfs",
        "--export-csv",
        target.to_str().expect("UTF-8"),
    ]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let results = json_lines(&ended.stdout);
    let all = |key: &str| -> Vec<Value> {
        results.iter().flat_map(|result| result[key].as_array().cloned().unwrap_or_default()).collect()
    };
    let transfers = table(&target, "transfers.csv");
    same_transfers(&transfers, &all("transfers"));
    let links = table(&target, "links.csv");
    assert_eq!(links.len(), all("links").len());
    for (row, json) in links.iter().zip(all("links")) {
        assert_eq!((&row["bytes"], &row["busy_s"]), (&json["bytes"].to_string(), &json["busy_s"].to_string()));
    }
    let rates: Vec<String> = all("phases")
        .iter()
        .flat_map(|phase| {
            phase["rates_Bps"].as_object().cloned().unwrap_or_default().into_iter().map(|(_, rate)| rate.to_string())
        })
        .collect();
    assert_eq!(table(&target, "phases.csv").iter().map(|row| row["rate_Bps"].clone()).collect::<Vec<_>>(), rates);
    let arbiters: Vec<&String> = transfers.iter().map(|row| &row["arbiter"]).collect();
    assert!(arbiters.iter().any(|name| *name == "max-min") && arbiters.iter().any(|name| *name == "fcfs"));
}

#[test]
fn targets_that_would_not_do_are_refused_before_the_run() {
    let folder = TempDir::new().expect("a folder");
    let file = root().join("scenarios/pcie/four-transfers.yaml");
    let (file, text) = (file.to_str().expect("UTF-8"), folder.path().join("text"));
    std::fs::write(&text, "").expect("written");
    let (text, trace) = (text.to_str().expect("UTF-8"), folder.path().join("t.json"));
    let trace = trace.to_str().expect("UTF-8");
    for (arguments, words) in [
        (vec!["run", file, file, "--timeline", trace], "--timeline takes one scenario"),
        (vec!["run", file, "--arbiter", "max-min", "--arbiter", "fcfs", "--timeline", trace], "one arbiter"),
        (vec!["run", file, "--timeline", file], "overwrite the input"),
        (vec!["run", file, "--timeline", "/"], "--timeline / is not a file"),
        (vec!["run", file, "--timeline", "-"], "name a file"),
        (vec!["run", file, "--timeline", trace, "--output", trace], "name one file"),
        (vec!["run", file, "--export-csv", text], "is not a folder"),
    ] {
        let ended = run(&arguments);
        assert!(ended.code == 2 && ended.stderr.contains(words) && ended.stdout.is_empty(), "{}", ended.stderr);
    }
    assert!(!Path::new(trace).exists());
}

/// No line is wider than the terminal, and without a locale there is nothing but ASCII in a drawing.
#[test]
fn drawings_fit_the_terminal() {
    let file = root().join("scenarios/pcie/halo-3d-file-order.yaml");
    for columns in [40, 61, 80, 200] {
        for (locale, ascii) in [("C", true), ("C.UTF-8", false)] {
            let drawn = |command: &str| {
                let mut weir = crate::common::weir();
                weir.args([command, file.to_str().expect("UTF-8"), "--plot"]);
                weir.env("COLUMNS", columns.to_string()).env("LC_ALL", locale);
                crate::common::ended(weir.output().expect("the command starts")).stdout
            };
            let (run, check) = (drawn("run"), drawn("check"));
            let (_, gantt) = run.rsplit_once("\n\n").expect("the drawing comes last");
            let tree: Vec<&str> = check.lines().skip(1).collect();
            assert!(gantt.lines().count() > 20 && tree.len() > 5, "{run}{check}");
            for line in gantt.lines().chain(tree) {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
                assert!(!ascii || line.is_ascii(), "{line}");
            }
        }
    }
}

/// A drawing for Graphviz and one in the terminal come from one command.
#[test]
fn graphviz_and_the_terminal_at_once() {
    let folder = TempDir::new().expect("a folder");
    let (file, dot) = (root().join("scenarios/pcie/hol-blocking.yaml"), folder.path().join("t.dot"));
    let (file, dot) = (file.to_str().expect("UTF-8"), dot.to_str().expect("UTF-8"));
    let both = run(&["check", file, "--plot", "--dot", dot]);
    assert_eq!(both.stdout, run(&["check", file, "--plot"]).stdout);
    assert_eq!(std::fs::read_to_string(dot).expect("it is there"), run(&["check", file, "--dot", "-"]).stdout);
}

/// A file that a scenario names is not written over, whatever is asked to be written.
#[test]
fn named_files_are_spared() {
    let folder = TempDir::new().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let trace = "from,to,bytes\nh0,h1,1000\n";
    std::fs::write(at("transfers.csv"), trace).expect("written");
    let (head, _) = crate::common::SHARED.split_once("workload:\n").expect("a workload");
    std::fs::write(at("s.yaml"), format!("{head}workload:\n  - trace: {{ file: transfers.csv }}\n")).expect("written");
    let (file, target, here) = (at("s.yaml"), at("transfers.csv"), folder.path().to_str().expect("UTF-8"));
    for arguments in [
        vec!["run", &file, "--output", &target],
        vec!["run", &file, "--timeline", &target],
        vec!["run", &file, "--export-csv", here],
        vec!["report", &file, "--output", &target],
        vec!["check", &file, "--dot", &target],
    ] {
        let ended = run(&arguments);
        assert!(
            ended.code == 2 && ended.stderr.contains("would overwrite the input"),
            "{arguments:?} {}",
            ended.stderr
        );
        assert_eq!(std::fs::read_to_string(&target).expect("it is there"), trace, "{arguments:?}");
    }
    assert_eq!(run(&["run", &file, "--export-csv", &at("tables")]).code, 0);
    let mut names = std::fs::read_dir(at("tables")).expect("a folder").map(|file| file.expect("a file").path());
    assert!(names.all(|name| weir_report::TABLES.contains(&name.file_stem().unwrap().to_str().unwrap())));
}

/// Only the tables that are named are written; phases are not even recorded for those without.
#[test]
fn tables_can_be_chosen() {
    let folder = TempDir::new().expect("a folder");
    let (file, tables) = (crate::common::scenario("pcie/four-transfers.yaml"), folder.path().join("tables"));
    let text = tables.to_str().expect("UTF-8");
    assert_eq!(run(&["run", &file, "--export-csv", text, "--export-only", "transfers,links"]).code, 0);
    let mut names: Vec<_> =
        std::fs::read_dir(&tables).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort();
    assert_eq!(names, ["links.csv", "transfers.csv"]);
    let none = run(&["run", &file, "--export-csv", text, "--export-only", "links,candidates"]);
    let said = "warning: --export-only candidates: there is no such table of these results; they have transfers, links, phases\n";
    assert!(none.code == 0 && none.stderr.ends_with(said), "{}", none.stderr);
    let wrong = run(&["run", &file, "--export-csv", text, "--export-only", "phrases"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("phases"), "{}", wrong.stderr);
    let alone = run(&["run", &file, "--export-only", "links"]);
    assert!(alone.code == 2 && alone.stderr.contains("--export-csv"), "{}", alone.stderr);
}

/// A page shows no explanations of so many, and they would be most of the result.
#[test]
fn full_results_of_many_transfers_have_no_explanations() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("many.yaml");
    let text = std::fs::read_to_string(crate::common::scenario("network/random-64-hosts.yaml")).expect("a scenario");
    let topology = crate::common::scenario("topologies/tree-64-hosts.yaml");
    let many = text.replace("count: 500", "count: 2001").replace("../topologies/tree-64-hosts.yaml", "tree.yaml");
    std::fs::copy(topology, folder.path().join("tree.yaml")).expect("copied");
    std::fs::write(&file, many).expect("written");
    let ended = run(&["run", file.to_str().expect("UTF-8"), "--json", "--full"]);
    let result = &json_lines(&ended.stdout)[0];
    assert!(result["phases"].is_array() && result.get("explain").is_none());
    assert!(ended.stderr.contains("--full has no explanations of more than 2000 transfers"), "{}", ended.stderr);
}

/// Several threads make the rows of so many.
#[test]
fn tables_of_many_transfers_say_what_the_json_says() {
    let folder = TempDir::new().expect("a folder");
    let (file, target) = (folder.path().join("many.yaml"), folder.path().join("tables"));
    let text = std::fs::read_to_string(crate::common::scenario("network/random-64-hosts.yaml")).expect("a scenario");
    let topology = crate::common::scenario("topologies/tree-64-hosts.yaml");
    let many = text.replace("count: 500", "count: 70000").replace("[100kB, 100MB]", "[1kB, 1MB]");
    let many = many.replace("../topologies/tree-64-hosts.yaml", "tree.yaml");
    std::fs::copy(topology, folder.path().join("tree.yaml")).expect("copied");
    std::fs::write(&file, many).expect("written");
    let [file, tables] = [&file, &target].map(|path| path.to_str().expect("UTF-8"));
    let only = ["--export-csv", tables, "--export-only", "transfers"];
    let ended = run(&[&["run", file, "--json", "--arbiter", "max-min"][..], &only].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let result = json_lines(&ended.stdout).remove(0);
    let all = result["transfers"].as_array().expect("a list");
    assert_eq!(all.len(), 70_000);
    same_transfers(&table(&target, "transfers.csv"), all);
}
