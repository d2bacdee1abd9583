//! Saved results: what weir writes is read by every command that takes it, what was edited by none.

use serde_json::Value;
use weir_report::Column;
use weir_report::page::Page;

use crate::common::search::{Folder, GRID};
use crate::common::{json_lines, run, scenarios};

/// Two transfers share a port: 30 ms in all.
const SHARED: &str = "\
weir: 1
name: shared port
topology:
  link_types: { x: { bandwidth: 1GB/s } }
  tree:
    rc: { kind: root-complex, children: { \"g[0-2]\": { kind: gpu, link: x } } }
arbiter: max-min
workload:
  - transfer: { id: p, from: g0, to: g2, size: 10MB }
  - transfer: { id: q, from: g1, to: g2, size: 20MB }
";

/// The whole library: short and full, under every policy, stopped after half of the makespan.
#[test]
fn what_weir_writes_is_read() {
    for file in scenarios() {
        let file = file.to_str().expect("a UTF-8 path");
        let written = |arguments: &[&str]| {
            let ended = run(&[arguments, &[file, "--json"]].concat());
            assert_eq!(ended.code, 0, "{file} {arguments:?}: {}", ended.stderr);
            ended.stdout
        };
        let result = written(&["run"]);
        let half = json_lines(&result)[0]["makespan_ps"].as_u64().expect("a number") / 2;
        let until = format!("{}ps", half.max(1));
        for text in [result, written(&["run", "--full"]), written(&["run", "--until", &until])] {
            Column::of_saved(file, &text).unwrap_or_else(|error| panic!("{error}"));
            Page::default().add_saved(file, &text).unwrap_or_else(|error| panic!("{error}"));
        }
        let compared = written(&["compare"]);
        Page::default().add_saved(file, &compared).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// A run has its operations in common with what it saved, though they are read from two places.
#[test]
fn a_run_is_related_to_its_saved_result() {
    let folder = Folder::new();
    let text = SHARED.replace("  - transfer: { id: q, from: g1, to: g2, size: 20MB }\n", "").replace(
        "transfer: { id: p, from: g0, to: g2, size: 10MB }",
        "collective: { id: r, kind: all-reduce, size: 3MB, ranks: \"g[0-2]\" }",
    );
    let file = folder.write("o.yaml", &text);
    let result = folder.write("o.json", &run(&["run", &file, "--json"]).stdout);
    let ended = run(&["compare", &file, &result, "--arbiter", "max-min"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

/// Stopped while the last packet is on the wire, all bytes have been sent, and the transfer has not.
#[test]
fn a_run_that_stopped_within_a_last_packet_is_read() {
    let folder = Folder::new();
    let file = folder.write("s.yaml", SHARED);
    let run = |more: &[&str]| run(&[&["run", &*file, "--fidelity", "packet", "--json"], more].concat()).stdout;
    let sent = json_lines(&run(&[]))[0]["transfers"][0]["sent_s"].as_f64().expect("it was sent");
    let until = format!("{}ps", (sent * 1e12).round() as u64 - 1);
    let stopped = run(&["--full", "--until", &until]);
    let transfer = &json_lines(&stopped)[0]["transfers"][0];
    assert_eq!((&transfer["sent_bytes"], &transfer["end_ps"]), (&Value::from(10_000_000), &Value::Null));
    Column::of_saved("s.json", &stopped).expect("is as it was written");
}

/// The last byte is there a latency of 2 ms after it was sent: what the mean rate says of that must fit.
#[test]
fn a_rate_that_leaves_no_time_for_latency_is_refused() {
    let folder = Folder::new();
    let file = folder.write("s.yaml", &SHARED.replace("bandwidth: 1GB/s", "bandwidth: 1GB/s, latency: 1ms"));
    let good = run(&["run", &file, "--full", "--json"]).stdout;
    let mean = json_lines(&good)[0]["transfers"][0]["mean_Bps"].as_f64().expect("a rate");
    assert!((mean - 5e8).abs() < 1.0, "{mean}");
    Column::of_saved("s.json", &good).expect("is as it was written");
    let edited = good.replacen(&format!("\"mean_Bps\":{mean:?}"), "\"mean_Bps\":510000000.0", 1);
    assert_ne!(edited, good);
    let said = Column::of_saved("s.json", &edited).expect_err("sent too early").to_string();
    assert!(said.contains("`p` sends 10000000 B until") && said.contains("and ends at"), "{said}");
}

/// Of 16 routes the first four have one byte more, and all four go over one link.
#[test]
fn bytes_of_many_routes_are_whole() {
    let folder = Folder::new();
    let file = folder.write(
        "s.yaml",
        "weir: 1
topology:
  link_types: { x: { bandwidth: 10GB/s } }
  tree: { 'h[0-127]': { kind: host } }
  networks: { net: { fat-tree: { k: 8 }, ends: 'h[0-127]', types: { end: x, edge: x, core: x } } }
arbiter: max-min
workload: [{ transfer: { id: a, from: h0, to: h127, size: 1000004B, routing: spread } }]
",
    );
    let ended = run(&["run", &file, "--full", "--json"]);
    let row = &json_lines(&ended.stdout)[0]["transfers"][0];
    assert_eq!(row["shares"].as_array().map(|shares| shares.iter().any(|share| *share == 0.0625)), Some(true), "{row}");
    Column::of_saved("s.json", &ended.stdout).expect("is as it was written");
}

#[test]
fn edited_results_are_refused_by_every_command_that_reads_them() {
    let folder = Folder::new();
    let good = run(&["run", &folder.write("s.yaml", SHARED), "--json"]).stdout;
    let makespan = json_lines(&good)[0]["makespan_ps"].as_u64().expect("a number");
    let later = (makespan + 1).to_string();
    for (from, to, what) in [
        (
            "\"weir\":1",
            "\"weir\":2",
            "edited.json:1: weir: this version of weir reads results of format 1, not 2: save it again",
        ),
        (&format!("\"makespan_ps\":{makespan}"), &format!("\"makespan_ps\":{later}"), "makespan_ps: "),
        ("\"start_s\":0.0", "\"start_s\":9.0", "edited.json:1: transfers[0]: `p` has end_s 0.02 before start_s 9"),
        (
            "\"bytes\":",
            "\"bytes\":1,\"bytes\":",
            "edited.json:1: transfers[0]: the key `bytes` occurs twice: save it again",
        ),
        ("\"ready_s\":0.0", "\"ready_s\":-1.0", "edited.json:1: transfers[0].ready_s: -1 is below 0"),
        ("\"id\":\"q\"", "\"id\":\"p\"", "edited.json:1: transfers[1].id: p occurs twice"),
        ("\"mean_Bps\":", "\"mean_Bps\":-", "edited.json:1: transfers[0]: `p` has mean_Bps -500000000"),
        ("\"bytes\":10000000", "\"bytes\":20000000", "edited.json:1: transfers[0]: `p` sends 20000000 B until 0.04 s"),
        (
            "\"alone_s\":0.01",
            "\"alone_s\":7.0",
            "edited.json:1: transfers[0]: `p` took 0.02 s, but alone_s and the parts",
        ),
        ("\"cut_s\":0.01", "\"cut_s\":0.5", "edited.json:1: transfers[0]: `p` took 0.02 s, but alone_s and the parts"),
        ("\"by\":\"q\"", "\"by\":\"r\"", "edited.json:1: transfers[0]: cause_detail.by: the run has no transfer `r`"),
        ("\"busy_s\":0.02", "\"busy_s\":99.0", "edited.json:1: links[0]: `g0` → `rc` is busy for 99 s of 0.03 s"),
        ("\"peak_Bps\":500000000.0", "\"peak_Bps\":1.0", "edited.json:1: links[0]: `g0` → `rc` carried 10000000 B"),
        ("\"fingerprint\":\"", "\"fingerprint\":\"z", "edited.json:1: fingerprint: `z"),
        ("\"complete\":true", "\"complete\":false", "edited.json:1: complete: false, with no stopped_ps"),
        (
            "\"events\":",
            "\"events\":1,\"hops\":",
            "edited.json:1: events: 1, but transfers alone started and ended 4 times",
        ),
        ("\"input_sha256\":\"", "\"input_sha256\":\"z", "edited.json:1: input_sha256: `z"),
    ] {
        refused(&folder, &good, from, to, what);
    }
}

#[test]
fn edited_results_in_full_are_refused_too() {
    let folder = Folder::new();
    let good = run(&["run", &folder.write("s.yaml", SHARED), "--full", "--json"]).stdout;
    for (from, to, what) in [
        ("\"route\":[", "\"route\":[9,", "edited.json:1: transfers[0]: `p` has link 9 on its route, and the run has 6"),
        (
            "\"route\":[0,5]",
            "\"route\":[5,0]",
            "edited.json:1: transfers[0]: `p` has a route that goes from `g0` on over `rc`",
        ),
        (
            "\"route\":[0,5]",
            "\"route\":[0]",
            "edited.json:1: transfers[0]: `p` has a route that ends at `rc`, not at `g2`",
        ),
        (
            "\"route\":[0,5]",
            "\"route\":[0,5],\"shares\":[1.0]",
            "edited.json:1: transfers[0]: `p` has `shares` that are no parts",
        ),
        (
            "\"to\":\"rc\",\"bytes\":10000000",
            "\"to\":\"rc\",\"bytes\":9999990",
            "edited.json:1: links[0]: `g0` → `rc` carried 9999990 B, and transfers sent 10000000 B",
        ),
        ("\"rates_Bps\":{\"p\":", "\"rates_Bps\":{\"p\":-", "edited.json:1: phases[0]: `p` has rate -500000000"),
        ("\"rates_Bps\":{\"p\":", "\"rates_Bps\":{\"p\":9", "edited.json:1: phases[0]: rates of"),
        ("\"rates_Bps\":{\"p\":", "\"rates_Bps\":{\"r\":", "edited.json:1: phases[0]: the run has no transfer `r`"),
        (
            "\"rates_Bps\":{\"p\":500000000.0",
            "\"rates_Bps\":{\"p\":400000000.0",
            "edited.json:1: transfers[0]: `p` has 10000000 bytes, and `phases` send 8000000",
        ),
        (
            "\"bottleneck\":{\"from\":\"rc\"",
            "\"bottleneck\":{\"from\":\"rd\"",
            "edited.json:1: transfers[0]: `p` has the bottleneck `rd` → `g2`, which is no link",
        ),
        ("\"kind\":\"gpu\"", "\"kind\":\"cow\"", "edited.json:1: nodes[1]: `g0` is a `cow`, which is no kind of node"),
        (
            "\"direction\":\"up\"",
            "\"direction\":\"left\"",
            "edited.json:1: links[0]: `g0` → `rc`: direction `left` is none of",
        ),
        ("\"name\":\"g0\"", "\"name\":\"g9\"", "edited.json:1: links[0]: `g0` → `rc`: the run has no node `g0`"),
        ("\"links\":[{\"id\":0", "\"links\":[{\"id\":7", "edited.json:1: links[0]: `g0` → `rc`: its id is 7, not 0"),
    ] {
        refused(&folder, &good, from, to, what);
    }
}

/// An object of any content takes many times its text in memory.
#[test]
fn large_objects_of_any_content_are_refused() {
    let folder = Folder::new();
    let good = run(&["run", &folder.write("s.yaml", SHARED), "--json"]).stdout;
    let large = format!("\"params\":{{\"x\":[{}1]}}", "1,".repeat(600_000));
    refused(&folder, &good, "\"params\":{}", &large, "arbiter.params: an object of more than 1 MiB");
    let version = format!("{{\"weir\":[{}1]", "1,".repeat(600_000));
    refused(&folder, &good, "{\"weir\":1", &version, "reads results of format 1, not [1,1,");
}

/// A result with one text put for another is refused by all that read results, with the same words.
fn refused(folder: &Folder, good: &str, from: &str, to: &str, what: &str) {
    let edited = good.replacen(from, to, 1);
    assert_ne!(edited, good, "{from}");
    let file = folder.write("edited.json", &edited);
    let said = ["compare", "report"].map(|command| {
        let page = folder.path("page.html");
        let output = if command == "report" { &["-o", &*page][..] } else { &[] };
        let ended = run(&[&[command, &*file], output].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{command} {what}");
        ended.stderr
    });
    assert!(said[0].contains(what) && said[0].contains("save it again"), "{what}: {}", said[0]);
    assert_eq!(said[0], said[1], "the same reader");
}

#[test]
fn a_result_is_no_scenario() {
    let folder = Folder::new();
    let file = folder.write("s.yaml", SHARED);
    let result = folder.write("result.json", &run(&["run", &file, "--json"]).stdout);
    let expected = "result.json is a saved result of `weir run --json`, not a scenario: ";
    let measured = folder.write("measured.csv", "id,seconds\np,1\n");
    for arguments in [
        &["run", &*result][..],
        &["check", &result],
        &["explain", &result],
        &["optimize", &result],
        &["validate", &result, "--measured", &measured],
    ] {
        let ended = run(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ended.stderr.contains(expected), "{arguments:?}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{arguments:?}: {}", ended.stderr);
    }
}

/// What was written without `--json` under the name of a result.
#[test]
fn text_with_the_name_of_a_result_says_how_to_save_one() {
    let folder = Folder::new();
    let file = folder.write("s.yaml", SHARED);
    let text = folder.write("result.json", &run(&["run", &file]).stdout);
    let expected = "result.json is text, not JSON: to save a result, add --json beside --output\n";
    for command in ["compare", "report", "run"] {
        let ended = run(&[command, &text]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{command}");
        assert!(ended.stderr.ends_with(expected), "{command}: {}", ended.stderr);
    }
    // Damaged JSON is told as such.
    let damaged = folder.write("damaged.json", "[1, 2");
    assert!(!run(&["compare", &damaged]).stderr.contains("is text"));
}

/// Searches and sweeps have no transfers; their keys and times are checked all the same.
#[test]
fn results_of_searches_have_no_key_twice() {
    let folder = Folder::new();
    let grid = folder.write("grid.yaml", GRID);
    let text = run(&["optimize", &grid, "--json", "--full", "--no-timing"]).stdout;
    Page::default().add_saved("grid.json", &text).expect("is as it was written");
    let found: Value = json_lines(&text).remove(0);
    let evaluated = format!("\"evaluated\":{}", found["evaluated"]);
    let twice = text.replacen(&evaluated, &format!("{evaluated},\"evaluated\":1"), 1);
    let error = Page::default().add_saved("grid.json", &twice).expect_err("a key twice").to_string();
    assert_eq!(error, "grid.json:1: the key `evaluated` occurs twice: save it again");
}
