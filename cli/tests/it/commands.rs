//! What each command prints and how it exits.

use crate::common::{SHARED, json_lines, run, run_with_input, scenario, weir};
use tempfile::TempDir;

pub(crate) fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

pub(crate) fn write(folder: &TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("the file is written");
    path.to_str().expect("a UTF-8 path").to_owned()
}

#[test]
fn run_prints_when_each_transfer_ends_and_why() {
    let ended = run(&["run", &scenario("pcie/four-transfers.yaml")]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.contains("makespan 66.502 ms ("), "{}", ended.stdout);
    for row in ["a          gpu0 → gpu2", "b          gpu1 → gpu4", "c          gpu3 → gpu2", "d          gpu6 → gpu4"]
    {
        assert!(ended.stdout.contains(row), "{row} in {}", ended.stdout);
    }
    assert!(ended.stdout.contains("head-of-line blocked behind b"), "{}", ended.stdout);
}

#[test]
fn standard_input_is_a_scenario() {
    let ended = run_with_input(&["run", "-", "--json"], SHARED.as_bytes());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let results = json_lines(&ended.stdout);
    assert_eq!(results.len(), 1);
    assert_eq!((&results[0]["file"], &results[0]["arbiter"]["name"]), (&"-".into(), &"max-min".into()));
    // Both at 0.5 GB/s until p ends at 20 ms; then q has the link, 10 MB left: 30 ms.
    let ends: Vec<_> = results[0]["transfers"].as_array().expect("a list").iter().map(|t| &t["end_ps"]).collect();
    assert_eq!(ends, [20_000_000_000_u64, 30_000_000_000]);
    // q alone: 20 ms.
    assert_eq!(results[0]["transfers"][1]["alone_s"], 0.02);
}

#[test]
fn every_file_and_arbiter_is_run_and_the_largest_code_counts() {
    let folder = folder();
    let good = write(&folder, "good.yaml", SHARED);
    let bad = write(&folder, "bad.yaml", "weir: 1\n");
    let ended = run(&["run", &bad, &good, "/nowhere.yaml", "--json", "--arbiter", "fcfs", "--arbiter", "equal-share"]);
    assert_eq!(ended.code, 2);
    let names: Vec<_> = json_lines(&ended.stdout).iter().map(|r| r["arbiter"]["name"].clone()).collect();
    assert_eq!(names, ["fcfs", "equal-share"]);
    assert!(ended.stderr.contains("bad.yaml") && ended.stderr.contains("/nowhere.yaml"), "{}", ended.stderr);
}

#[test]
fn until_stops_early_and_says_so() {
    let ended = run_with_input(&["run", "-", "--json", "--until", "25ms"], SHARED.as_bytes());
    assert_eq!(ended.code, 0);
    let result = &json_lines(&ended.stdout)[0];
    assert_eq!((&result["complete"], &result["stopped_ps"]), (&false.into(), &25_000_000_000_u64.into()));
    let q = &result["transfers"][1];
    assert_eq!((&q["end_s"], &q["sent_bytes"]), (&().into(), &15_000_000.into()));
    let ended = run_with_input(&["run", "-", "--until", "25ms"], SHARED.as_bytes());
    assert!(ended.stdout.contains("stopped at 25.000 ms (25000000000 ps) (--until): 1 of 2"), "{}", ended.stdout);
    for (wrong, reason) in [("25", "has no unit"), ("-5ms", "is negative")] {
        let ended = run(&["run", "-", "--until", wrong]);
        assert_eq!(ended.code, 2);
        assert!(ended.stderr.contains("--until") && ended.stderr.contains(reason), "{}", ended.stderr);
    }
}

#[test]
fn an_arbiter_that_refuses_a_route_names_the_transfer_and_the_place() {
    let ended = run(&["run", &scenario("network/cluster-ring.yaml"), "--arbiter", "pcie-congestion"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.starts_with("error: arbiter `pcie-congestion` refuses transfer `"), "{}", ended.stderr);
    assert!(ended.stderr.contains("cluster-ring.yaml:") && ended.stderr.contains("max-min"), "{}", ended.stderr);
}

#[test]
fn ignored_attributes_are_named_once() {
    let text = SHARED.replace("size: 10MB", "size: 10MB, priority: 3, weight: 2");
    let ended = run_with_input(&["run", "-", "--json", "--arbiter", "max-min"], text.as_bytes());
    assert_eq!(ended.stderr, "warning: -: arbiter `max-min` ignores the transfers' priority\n");
    let ended = run_with_input(&["run", "-", "--json", "--arbiter", "strict-priority"], text.as_bytes());
    assert_eq!(ended.stderr, "");
    // Of packets it is the ports that choose.
    let ended = run_with_input(&["run", "-", "--json", "--fidelity", "packet"], text.as_bytes());
    let expected = "warning: -: port arbiter `round-robin` ignores the transfers' weight\n\
                    warning: -: port arbiter `round-robin` ignores the transfers' priority\n";
    assert_eq!(ended.stderr, expected);
}

#[test]
fn empty_and_negative_values_of_options_are_refused_as_values() {
    for (command, option, value, reason) in [
        ("run", "--arbiter", "", "error: `--arbiter` is empty\n"),
        ("run", "--fidelity", "", "error: `--fidelity` is empty\n"),
        ("optimize", "--seed", "-1", "error: invalid value '-1' for '--seed <"),
    ] {
        let ended = run_with_input(&[command, "-", option, value], SHARED.as_bytes());
        assert_eq!(ended.code, 2);
        assert!(ended.stderr.starts_with(reason), "{}", ended.stderr);
    }
}

#[test]
fn set_changes_the_scenario() {
    let ended = run_with_input(&["run", "-", "--json", "--set", "workload[1].transfer.size=40MB"], SHARED.as_bytes());
    assert_eq!(json_lines(&ended.stdout)[0]["makespan_ps"], 50_000_000_000_u64);
}

#[test]
fn compare_shows_ratios_and_can_fail() {
    let folder = folder();
    let file = write(&folder, "s.yaml", SHARED);
    let ended = run(&["compare", &file, "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let value = &json_lines(&ended.stdout)[0];
    let names: Vec<_> =
        value["results"].as_array().expect("a list").iter().map(|r| r["arbiter"]["name"].clone()).collect();
    assert!(names[0] == "max-min" && names[1..].is_sorted_by_key(|name| name.as_str()), "the scenario's own, then all");
    // fcfs: p 10 ms, then q 20 ms: 30 ms as under max-min.
    let fcfs = names.iter().position(|name| name == "fcfs").expect("it is built in");
    assert_eq!(value["ratios"]["transfers"]["p"][fcfs], 0.5);
    assert_eq!(value["ratios"]["makespan"][fcfs], 1.0);
    let saved = folder.path().join("old.json");
    let saved = saved.to_str().expect("a UTF-8 path");
    assert_eq!(run(&["run", &file, "--json", "-o", saved]).code, 0);
    let same = ["compare", saved, &file, "--arbiter", "max-min", "--fail-if", "slower:0%"];
    assert_eq!(run(&same).code, 0);
    let slower = [&same[..], &["--set", "workload[1].transfer.size=21MB"]].concat();
    let ended = run(&slower);
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    assert!(ended.stderr.contains("is more than 0 % slower"), "{}", ended.stderr);
    let lenient: Vec<&str> = slower.iter().map(|a| if *a == "slower:0%" { "slower:4%" } else { a }).collect();
    assert_eq!(run(&lenient).code, 0, "31 ms is 3.3 % above 30 ms");
}

#[test]
fn compare_names_the_arbiters_that_refuse() {
    let ended = run(&["compare", &scenario("network/cluster-ring.yaml")]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("note: without `pcie-congestion`: "), "{}", ended.stderr);
    assert!(!ended.stdout.contains("pcie-congestion"), "{}", ended.stdout);
}

#[test]
fn check_sums_up_and_strict_fails_on_warnings() {
    let ended = run(&["check", "--strict", &scenario("pcie/four-transfers.yaml")]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.contains("ok: 15 nodes, 28 links, 4 transfers on 4 routes"), "{}", ended.stdout);
    let unused = SHARED.replace("{ x: ", "{ y: { bandwidth: 2GB/s }, x: ");
    let ended = run_with_input(&["check", "-"], unused.as_bytes());
    assert_eq!(ended.code, 0);
    assert!(ended.stderr.starts_with("warning: ") && ended.stderr.contains("`y`"), "{}", ended.stderr);
    assert_eq!(run_with_input(&["check", "--strict", "-"], unused.as_bytes()).code, 2);
}

#[test]
fn strict_fails_on_attributes_that_the_arbiter_ignores() {
    let text = SHARED.replace("size: 10MB", "size: 10MB, priority: 3");
    let ended = run_with_input(&["check", "-"], text.as_bytes());
    assert_eq!((ended.code, ended.stderr.lines().count()), (0, 1), "{}", ended.stderr);
    let ended = run_with_input(&["check", "--strict", "-"], text.as_bytes());
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    let expected = "warning: -: arbiter `max-min` ignores the transfers' priority\n\
                    error: -: 1 warning; --strict treats warnings as errors\n";
    assert_eq!(ended.stderr, expected);
    let heeded = ["check", "--strict", "-", "--arbiter", "strict-priority"];
    assert_eq!(run_with_input(&heeded, text.as_bytes()).code, 0);
}

#[test]
fn compare_goes_on_after_a_broken_saved_file() {
    let folder = folder();
    let broken = write(&folder, "broken.json", r#"{"fingerprint": "0", "makespan_ps": 1}"#);
    let file = write(&folder, "s.yaml", SHARED);
    let ended = run(&["compare", &broken, &file, "--arbiter", "max-min", "--json"]);
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.starts_with("error: ") && ended.stderr.contains("broken.json:1: this is not a result of weir"),
        "{}",
        ended.stderr
    );
    assert_eq!(json_lines(&ended.stdout)[0]["results"].as_array().map(Vec::len), Some(1));
}

#[test]
fn explain_prints_table_one() {
    let ended = run(&["explain", &scenario("pcie/four-transfers.yaml")]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    // Martinasso et al., SC16, Table I: 0→2 falls from 1/2 to 3/10 in the last step.
    let row = ended.stdout.lines().find(|line| line.starts_with("a ")).expect("a row for a");
    assert!(row.contains("0.5000") && row.contains("0.3000") && row.contains("3.480 GB/s"), "{row}");
    assert!(ended.stdout.contains("phase 1 of 2, 0 s to 36.946 ms"), "{}", ended.stdout);
    let ended = run(&["explain", "--json", &scenario("pcie/four-transfers.yaml")]);
    let first = &json_lines(&ended.stdout)[0]["phases"][0]["transfers"][0];
    assert_eq!(first["id"], "a");
    let steps = first["steps"].as_array().expect("a list");
    assert_eq!(steps.last().expect("steps")["rate_Bps"].as_f64().map(f64::round), Some(3.48e9));
}

#[test]
fn init_writes_a_scenario_that_runs_and_overwrites_nothing() {
    let folder = folder();
    let file = folder.path().join("new.yaml");
    let file = file.to_str().expect("a UTF-8 path");
    assert_eq!(run(&["init", file]).code, 0);
    assert!(std::fs::read_to_string(file).expect("is there").contains(", max-min, "));
    let check = run(&["check", "--strict", file]);
    assert_eq!((check.code, check.stderr.as_str()), (0, ""));
    assert_eq!(run(&["run", file]).code, 0);
    std::fs::write(file, "mine").expect("the file is written");
    let again = run(&["init", file]);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    assert_eq!(std::fs::read_to_string(file).expect("is there"), "mine");
}

#[test]
fn manual_pages_are_made_for_each_command() {
    let folder = folder();
    let pages = folder.path().join("man1");
    let ended = run(&["man", pages.to_str().expect("a UTF-8 path")]);
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, "", ""));
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).expect("the page is there");
    assert!(page("weir.1").contains("weir\\-run(1)"), "{}", page("weir.1"));
    assert!(page("weir-run.1").contains("Stop at this simulated time"), "{}", page("weir-run.1"));
    assert!(!pages.join("weir-man.1").exists(), "it is for those who package weir");
}

#[test]
fn logs_say_more_with_each_v() {
    let logged = |v: &str| {
        let ended = run(&["run", &scenario("pcie/four-transfers.yaml"), v]);
        assert_eq!(ended.code, 0);
        ended.stderr
    };
    let (info, debug, trace) = (logged("-v"), logged("-vv"), logged("-vvv"));
    assert!(info.contains("read a scenario") && !info.contains("read a file"), "{info}");
    for step in ["read a file", "expanded the workload", "made an arbiter", "cs-storm-t2.yaml", "time.busy="] {
        assert!(debug.contains(step), "{step} in {debug}");
    }
    assert!(trace.contains("arbitration{time_ps=0 transfers=0 1 2 3}") && !debug.contains("arbitration{"), "{trace}");
}

#[test]
fn searches_log_their_result_and_their_way_there() {
    let file = scenario("optimize/packets.yaml");
    let logged = |v: &str| run(&["optimize", &file, v]).stderr;
    let (info, debug) = (logged("-v"), logged("-vv"));
    assert!(info.contains("search{vary=\"parameters\"") && info.contains("found the best"), "{info}");
    assert!(!info.contains("better candidate"), "{info}");
    assert!(debug.contains("found a better candidate"), "{debug}");
}

#[test]
fn filters_that_cannot_be_used_get_a_warning() {
    for (variable, filter) in [("WEIR_LOG", "nonsense"), ("WEIR_LOG", "debug,nonsense"), ("RUST_LOG", "a=b=c")] {
        let ended = weir().args(["run", &scenario("pcie/four-transfers.yaml")]).env(variable, filter).output();
        let stderr = String::from_utf8(ended.expect("the command starts").stderr).expect("is UTF-8");
        assert!(stderr.starts_with(&format!("warning: {variable}={filter} is not used: ")), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn completions_are_made_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ended = run(&["completions", shell]);
        assert!(ended.code == 0 && ended.stdout.contains("weir") && ended.stdout.contains("explain"), "{shell}");
    }
}

#[test]
fn wrong_usage_exits_with_two() {
    for arguments in
        [&["run"][..], &["frobnicate"], &["run", "x.yaml", "--phases"], &["compare", "x.yaml", "--fail-if", "2%"]]
    {
        let ended = run(arguments);
        assert_eq!(ended.code, 2, "{arguments:?}");
        assert!(ended.stderr.starts_with("error: "), "{}", ended.stderr);
    }
}

#[test]
fn plugins_that_are_not_libraries_are_refused_in_one_line() {
    let folder = folder();
    let text = write(&folder, "text.so", "not a library");
    let file = write(&folder, "s.yaml", SHARED);
    for plugin in [text.as_str(), "/nowhere.so", folder.path().to_str().expect("a UTF-8 path")] {
        for arguments in [&["run", &file, "--plugin", plugin][..], &["plugin", "add", plugin]] {
            let ended = run(arguments);
            assert_eq!((ended.code, ended.stdout.as_str()), (4, ""), "{arguments:?}");
            assert!(ended.stderr.starts_with("error: ") && ended.stderr.lines().count() == 1, "{}", ended.stderr);
        }
    }
    let ended = run(&["plugin", "list"]);
    assert!(ended.stdout.contains("pcie-congestion") && ended.stdout.contains("built in"), "{}", ended.stdout);
    assert_eq!(run(&["plugin", "remove", "nobody"]).code, 4);
}
