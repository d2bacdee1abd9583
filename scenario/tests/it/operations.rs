//! Operations of models: what they may be given, and what they may name.

use crate::common::models::{MACHINES, good, one, read, refused, registry, with_refusing};
use crate::common::write;
use serde_json::{Value as Json, json};
use weir_plugin_api::{CallError, NodeId, SimDuration, SimTime};
use weir_scenario::{LoadOptions, Scenario, lint, load};
use weir_sim_core::{TaskId, Work};

/// What the model was given as parameters.
#[track_caller]
fn params(given: &str) -> Json {
    let scenario = good(&one(&format!("echo: {{ {given} }}")));
    scenario.operations[0].details["params"].clone()
}

fn node(scenario: &Scenario, name: &str) -> u32 {
    scenario.node(name).unwrap_or_else(|| panic!("{name}")).0
}

#[test]
fn quantities_arrive_as_numbers() {
    assert_eq!(
        params("bytes: 4KiB, time: 1.5us, per_byte: 83.18392ps, rate: 8Gb/s, on: true"),
        json!({ "bytes": 4096, "time": 1_500_000, "per_byte": 83.18392, "rate": 1e9, "on": true })
    );
    // 79.24734 ps = 0.00007924734 us: the same nearest number, not a product of rounded ones.
    assert_eq!(params("per_byte: 0.00007924734us")["per_byte"], json!(79.24734));
    assert_eq!(params("per_byte: 0ps, bytes: 0B"), json!({ "per_byte": 0.0, "bytes": 0 }));
    assert_eq!(params("packet: 2MiB, count: 3"), json!({ "packet": 2 << 20, "count": 3 }));
    assert_eq!(params("packet: auto, count: auto"), json!({ "packet": "auto", "count": "auto" }));
    assert_eq!(
        params("rows: [[512KiB, 1.17ms], [1MiB, 2ms]], groups: [[read], [write, read]]"),
        json!({ "rows": [[524_288, 1_170_000_000], [1_048_576, 2_000_000_000_u64]], "groups": [["read"], ["write", "read"]] })
    );
    assert_eq!(params("level: { fabric: true }"), json!({ "level": { "fabric": true } }));
    assert_eq!(
        params("level: { affine: { latency: 7us, per_byte: 1ns } }"),
        json!({ "level": { "affine": { "latency": 7_000_000, "per_byte": 1000.0 } } })
    );
    assert_eq!(params("level: { rule: linear, table: [[1B, 1ps]] }")["level"]["rule"], json!("linear"));
}

#[test]
fn devices_may_be_ranks() {
    let scenario = good(&format!(
        "{MACHINES}ranks: [g2, c1]\nworkload:\n  - echo: {{ device: {{ rank: 1 }}, nodes: [g0, {{ rank: 0 }}] }}\n"
    ));
    let given = &scenario.operations[0].details["params"];
    assert_eq!(given["device"], node(&scenario, "c1"));
    assert_eq!(given["nodes"], json!([node(&scenario, "g0"), node(&scenario, "g2")]));
    assert!(lint(&scenario).iter().all(|found| !found.message.contains("`ranks` has no effect")));
    assert_eq!(scenario.rank_traffic().fixed.unwrap().line, 7);
    // Without `ranks` they are the gpus: g0, g1, g2, two of the name x, lone.
    let usual = good(&one("echo: { device: { rank: 1 } }"));
    assert_eq!(usual.operations[0].details["params"]["device"], node(&usual, "g1"));
    refused(
        &one("echo: { device: { rank: 9 } }"),
        (6, 21),
        "`device` of an echo: there is no rank 9",
        "there are 6 ranks",
        false,
    );
    refused(&one("echo: { device: { rnk: 1 } }"), (6, 23), "unknown key `rnk`", "did you mean `rank`?", false);
}

#[test]
fn the_model_is_given_key_id_and_parameters() {
    let scenario = good(&one("echo: { id: e, start: 3ns, on: false }"));
    let operation = &scenario.operations[0];
    assert_eq!(
        Json::Object(operation.details.clone()),
        json!({ "operation": "echo", "id": "e", "params": { "on": false } })
    );
    assert_eq!((&*operation.id, &*operation.kind), ("e", "echo"));
    assert_eq!((&*operation.model, &*operation.version, &operation.sha256), ("echo", "1.2.3", &None));
    assert_eq!((operation.estimates[0].formula.as_str(), operation.estimates[0].seconds), ("eq1", 2.5e-12));
    assert_eq!(operation.choice, None);
    assert_eq!((operation.release, operation.tasks.clone()), (TaskId(0), 1..2));
    let tasks = scenario.tasks.tasks();
    assert_eq!((tasks[0].start, tasks[0].work), (SimTime(3000), Work::Nothing { counted: false }));
    // 2.5 ps: halves up.
    assert_eq!(tasks[1].work, Work::Lasts(SimDuration(3)));
}

#[test]
fn wrong_parameters() {
    let wrong = |given: &str, column: u32, message: &str, help: &str| {
        refused(&one(&format!("echo: {{ {given} }}")), (6, column), message, help, false);
    };
    wrong("byts: 4KiB", 13, "unknown key `byts` in an echo", "did you mean `bytes`?");
    wrong("strat: 1s", 13, "unknown key `strat` in an echo", "did you mean `start`?");
    wrong("bytes: 4096", 20, "`bytes` of an echo: `4096` has no unit", "300MB");
    wrong("some: 0B", 19, "`some` of an echo: `0B` is zero bytes", "at least 1B");
    wrong("time: -1us", 19, "`time` of an echo: `-1us` is negative", "not negative");
    wrong("per_byte: 5", 23, "has no unit", "a time per byte is written like `83.18392ps`");
    wrong("per_byte: 5sp", 23, "unknown unit `sp`", "did you mean `ps`?");
    wrong("per_byte: 101d", 23, "beyond the horizon", "100 days");
    wrong("packet: 2mb", 21, "`packet` of an echo: `2mb` has the unknown unit `mb`", "`MB`");
    wrong("packet: nome", 21, "`nome` is not one of the values allowed", "did you mean `none`?");
    wrong("packet: { tabel: x }", 23, "`packet` of an echo has no parameter `tabel`", "did you mean `table`?");
    wrong("packet: [1B]", 21, "`packet` of an echo cannot be a list", "or a quantity with its unit (bytes)");
    wrong("count: 0", 20, "`count` of an echo: `0` is out of range", "at least 1");
    wrong("count: atuo", 20, "`atuo` is not one of the values allowed", "did you mean `auto`?");
    wrong("rows: []", 19, "`rows` of an echo: a list of 0 items", "at least 1");
    wrong("rows: [[1B]]", 20, "`rows` of an echo: a list of 1 item", "give 2");
    wrong("rows: [[1B, 2B]]", 25, "unknown unit `B`", "ps ns us");
    wrong("groups: [[raed]]", 23, "`raed` is not one of the values allowed", "did you mean `read`?");
    wrong(
        "level: fabric",
        20,
        "`level` of an echo cannot be the text `fabric`",
        "a map with `table`, `rule`, or a map",
    );
    wrong("level: {}", 20, "`level` of an echo is an empty map", "a map with `fabric`");
    wrong("level: { tabel: [] }", 22, "`level` of an echo has no parameter `tabel`", "did you mean `table`?");
    wrong("level: { fabric: true, affine: {} }", 36, "`level` of an echo has no parameter `affine`", "fabric");
    wrong(
        "level: { affine: { latency: 1s } }",
        30,
        "`affine` of `level` of an echo needs the parameter `per_byte`",
        "add",
    );
    wrong("curve: [[1B, 1ps]]", 20, "`curve` of an echo cannot be a list", "the path of a CSV file");
    wrong("device: [g0]", 21, "`device` of an echo cannot be a list", "the name of a device");
    wrong("device: x", 21, "`device` of an echo: more than one node fits `x`", "`m1/x` or `m2/x`");
    wrong("nodes: [g0, x]", 25, "more than one node fits `x`", "`m1/x` or `m2/x`");
    wrong("nodes: \"a[0-4]\"", 20, "`nodes` of an echo: a list of 5 items", "at most 4");
    wrong("nodes: \"a[0-9999999]\"", 20, "too many names", "fewer");
    wrong("nodes: \"a[\"", 20, "an unmatched bracket", "gpu[0-7]");
    wrong("device: \"\"", 21, "not a name", "1 to 256");
    wrong("device: \"s/g[0-1]\"", 21, "`s/g[0-1]` is not one device", "give one operation for each");
    refused(
        &one("echoo: {}"),
        (6, 5),
        "unknown operation `echoo`",
        "did you mean `echo`? (known operations: transfer,",
        false,
    );
    refused(
        &one("echo: 5"),
        (6, 11),
        "an echo must be a map, not the text `5`",
        "id, start, after, under, bytes",
        false,
    );
}

#[test]
fn arbiters_name_no_devices() {
    let schema =
        r#"{"properties":{"d":{"x-weir-node":true},"t":{"x-weir-table":["bytes"]},"n":{"x-weir-nodes":true}}}"#;
    let registry = with_refusing("naming", schema, || CallError::Refused("never made".to_owned()));
    for given in ["d: g0", "t: a.csv", "n: [g0]"] {
        let text = format!("{MACHINES}arbiter: {{ name: naming, {given} }}\nworkload: [barrier: {{}}]\n");
        let found =
            weir_scenario::load(weir_scenario::Input::text(text, "-", None), &LoadOptions::default(), &registry)
                .map(|s| s.name);
        let found = found.unwrap_err().remove(0);
        assert!(found.message.contains("only operations of models name devices"), "{found}");
    }
}

#[test]
fn names_become_ids() {
    let scenario = good(&one("echo: { device: g1, other: m1/x, nodes: [\"g[0-1]\", c2], host: m0 }"));
    let given = &scenario.operations[0].details["params"];
    let id = |name: &str| node(&scenario, name);
    assert_eq!(given["device"], id("g1"));
    assert_eq!(given["other"], id("m1/x"));
    assert_eq!(given["nodes"], json!([id("g0"), id("g1"), id("c2")]));
    // A root complex only forwards; it may be named as long as nothing is sent from it.
    assert_eq!(given["host"], id("m0"));
    assert!(scenario.warnings.is_empty());
}

#[test]
fn the_nearest_host_is_filled_in() {
    let scenario = good(&one("echo: { device: g1, other: g2, nodes: [g2, c1, n1] }"));
    let given = &scenario.operations[0].details["params"];
    let id = |name: &str| node(&scenario, name);
    // g1 – s0 – m0 – c0 and c1 are equally far: the first in the file. c1 is its own.
    assert_eq!(given["host"], id("c0"));
    assert_eq!(given["via"], json!([id("c0"), id("c2")]));
    assert_eq!(given["hosts"], json!([id("c2"), id("c1"), id("c2")]));
    // `lone` reaches no host; what is given is kept; without `other` there is no `via`.
    let given = params("device: lone, other: g0");
    assert!(given.get("host").is_none() && given.get("via").is_none(), "{given}");
    assert_eq!(params("device: g0, host: c2")["host"], id("c2"));
    assert!(params("device: g0").get("via").is_none());
    assert!(params("nodes: [g0, away]").get("hosts").is_none());
}

#[test]
fn tables_become_rows() {
    let folder = tempfile::tempdir().unwrap();
    let load_with = |operation: &str| {
        let text = format!("weir: 1\nworkload:\n  - echo: {{ {operation} }}\n");
        write(folder.path(), &[("s.yaml", &text)]);
        load(&folder.path().join("s.yaml"), &LoadOptions::default(), &registry())
    };
    write(
        folder.path(),
        &[
            ("in/curve.csv", "seconds, bytes\r\n0.00124,131072\r\n 1e-3 ,1\r\n"),
            ("tuned.csv", "bytes,packet\n1024,\n2048,none\n4096,1024\n"),
            ("empty.csv", "bytes,seconds\n"),
            ("none.csv", ""),
            ("lacks.csv", "bytes\n1\n"),
            ("other.csv", "bytes,secnds\n1,2\n"),
            ("twice.csv", "bytes,bytes\n1,2\n"),
            ("bad.csv", "bytes,seconds\n1,1e-3\n1kB,-2\n3\n4,x\n"),
            ("blank.csv", "bytes,seconds\n1,1e-3\n,2e-3\n"),
            ("none-of-it.csv", "bytes,seconds\nnone,2e-3\n"),
            ("no-time.csv", "bytes,seconds\n1,\n"),
            ("dash.csv", "bytes,seconds\n-,1\n"),
            ("from-nothing.csv", "bytes,packet\n,1024\n"),
        ],
    );
    let scenario = load_with("curve: in/curve.csv, packet: { table: tuned.csv }").unwrap();
    let first = scenario.input_sha256.clone();
    let given = &scenario.operations[0].details["params"];
    assert_eq!(given["curve"], json!([[131_072, 1_240_000_000.0], [1, 1e9]]));
    assert_eq!(given["packet"]["table"], json!([[1024, null], [2048, null], [4096, 1024]]));
    // The table counts in the digest of the input.
    write(folder.path(), &[("in/curve.csv", "seconds, bytes\r\n0.00124,131072\r\n 1e-3 ,2\r\n")]);
    assert_ne!(load_with("curve: in/curve.csv, packet: { table: tuned.csv }").unwrap().input_sha256, first);
    let wrong = |file: &str, place: (u32, u32), message: &str, help: &str| {
        let found = load_with(&format!("curve: {file}")).map(|s| s.name).unwrap_err().remove(0);
        let position = found.position.clone().unwrap();
        assert!(position.file.ends_with(file), "{found}");
        assert_eq!((position.line, position.column), place, "{found}");
        assert!(found.message.contains(message) && found.help.as_ref().unwrap().contains(help), "{found}");
    };
    wrong("empty.csv", (1, 1), "the table `empty.csv` has no rows", "add some");
    wrong("none.csv", (1, 1), "the table is empty", "bytes,seconds");
    wrong("lacks.csv", (1, 1), "lacks the column `seconds`", "bytes,seconds");
    wrong("other.csv", (1, 7), "no column of this table is named `secnds`", "did you mean `seconds`?");
    wrong("twice.csv", (1, 7), "`bytes` is given twice", "one of the two");
    wrong("bad.csv", (3, 1), "`1kB` is not a whole number", "whole number");
    wrong("blank.csv", (3, 1), "the column `bytes` is empty", "write a whole number");
    wrong("none-of-it.csv", (2, 1), "`none` is not a whole number", "whole number");
    wrong("no-time.csv", (2, 3), "the column `seconds` is empty", "write a value");
    wrong("dash.csv", (2, 1), "`-` is not a whole number", "whole number");
    let tuned = load_with("packet: { table: from-nothing.csv }").map(|s| s.name).unwrap_err().remove(0);
    assert!(tuned.to_string().contains("the column `bytes` is empty") && tuned.to_string().contains(":2:1"), "{tuned}");
    let found = load_with("curve: bad.csv").map(|s| s.name).unwrap_err();
    let lines: Vec<(u32, String)> =
        found.iter().map(|d| (d.position.as_ref().unwrap().line, d.message.clone())).collect();
    assert_eq!(
        lines,
        [
            (3, "`1kB` is not a whole number".to_owned()),
            (4, "the row has 1 fields, the header 2".to_owned()),
            (5, "`x` is not a number".to_owned())
        ]
    );
    let found = load_with("curve: ../out.csv").map(|s| s.name).unwrap_err().remove(0);
    assert_eq!(found.position.unwrap().line, 3);
    let large = std::fs::File::create(folder.path().join("large.csv")).unwrap();
    large.set_len((16 << 20) + 1).unwrap();
    let found = load_with("curve: large.csv").map(|s| s.name).unwrap_err().remove(0);
    assert!(found.message.contains("larger than 16 MiB"), "{found}");
}

#[test]
fn lists_are_bounded_in_all() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (1..=90_000).map(|i| format!("{i},{i}\n")).collect();
    let items = |n: usize| "  - echo: { curve: c.csv }\n".repeat(n);
    write(
        folder.path(),
        &[("c.csv", &format!("bytes,seconds\n{rows}")), ("d.csv", &format!("bytes,seconds\n{rows}{rows}"))],
    );
    let found = |text: &str| {
        let loaded = weir_scenario::load(
            weir_scenario::Input::text(text, "-", Some(folder.path())),
            &LoadOptions::default(),
            &registry(),
        );
        loaded.map(|s| s.name).unwrap_err().remove(0)
    };
    // Eleven times 90 000 rows and 10^4 names are a million, and no more is taken.
    let last = found(&format!("weir: 1\nworkload:\n{}", items(12)));
    assert!(last.message.contains("too many rows"), "{last}");
    let last = found(&format!("weir: 1\nworkload:\n{}  - echo: {{ nodes: \"n[0-10000]\" }}\n", items(11)));
    assert!(last.message.contains("too many names"), "{last}");
    let long = found("weir: 1\nworkload:\n  - echo: { curve: d.csv }\n");
    assert!(long.message.contains("more than 100000 rows"), "{long}");
    assert_eq!(long.position.unwrap().line, 100_002);
}

#[test]
fn many_operations_are_read_in_linear_time() {
    // Names of devices outside are looked up, and the schema read, once each: 2·10^4 operations take far less than a
    // second; a scan of all names for each would take minutes.
    let items: String = (0..20_000).map(|i| format!("  - echo: {{ device: out{i}, other: out{} }}\n", i / 2)).collect();
    let scenario = good(&format!("{MACHINES}workload:\n{items}"));
    assert_eq!(scenario.operations.len(), 20_000);
    assert_eq!(scenario.warnings.len(), 21);
}

#[test]
fn devices_outside_are_warned_of_once() {
    let text = format!(
        "{MACHINES}workload:\n  - echo: {{ id: a, device: g7, other: far }}\n  - echo: {{ id: b, device: far, nodes: \"m0/g[0-1]\" }}\n"
    );
    let scenario = good(&text);
    let messages: Vec<_> =
        scenario.warnings.iter().map(|w| (w.message.as_str(), w.position.clone().unwrap().line)).collect();
    let said = |name: &str| format!("`{name}` is not in the topology; it is taken as a device without links");
    assert_eq!(messages, [(said("g7").as_str(), 6), (said("far").as_str(), 6)]);
    assert!(scenario.warnings[0].help.as_ref().unwrap().contains("did you mean `g0`?"), "{}", scenario.warnings[0]);
    let nodes = scenario.fabric.nodes().len() as u32;
    let given = |i: usize| &scenario.operations[i].details["params"];
    assert_eq!((&given(0)["device"], &given(0)["other"]), (&json!(nodes), &json!(nodes + 1)));
    assert_eq!(given(1)["device"], nodes + 1);
    assert_eq!((scenario.node_name(NodeId(nodes)), scenario.node_name(NodeId(nodes + 1))), ("g7", "far"));
    assert_eq!(scenario.node("far"), Some(NodeId(nodes + 1)));
    assert_eq!(scenario.node_name(NodeId(0)), "m0");
}

#[test]
fn many_devices_outside_give_few_warnings() {
    let items: String = (0..50).map(|i| format!("  - echo: {{ id: e{i}, device: out{i} }}\n")).collect();
    let warnings = good(&format!("{MACHINES}workload:\n{items}")).warnings;
    assert_eq!(warnings.len(), 21);
    assert_eq!(warnings[20].message, "30 more warnings");
}

#[test]
fn no_topology_is_needed_where_nothing_travels() {
    let scenario = good(
        "weir: 1\nworkload:\n  - echo: { device: gpu0, nodes: \"n[0-1]\" }\n  - script: { plan: pipeline, from: gpu0 }\n",
    );
    assert!(scenario.warnings.is_empty() && scenario.fabric.nodes().is_empty());
    assert_eq!(scenario.operations[0].details["params"], json!({ "device": 0, "nodes": [1, 2] }));
    assert_eq!(scenario.node_name(NodeId(2)), "n1");
    assert!(lint(&scenario).is_empty());
    for text in [
        "weir: 1\nworkload:\n  - echo: {}\n  - compute: { device: a, time: 1us }\n",
        "weir: 1\nworkload:\n  - barrier: {}\n",
        "weir: 1\nworkload: []\n",
        "weir: 1\nworkload:\n  - transfer: { from: a, to: b, size: 1B, model: courier }\n",
        "weir: 1\nworkload:\n  - nothing: {}\n",
    ] {
        refused(text, (1, 1), "the scenario needs the key `topology`", "topology", false);
    }
}

#[test]
fn edits_reach_operations() {
    let set = vec![("workload[0].echo.bytes".to_owned(), "2kB".to_owned())];
    let options = LoadOptions { set, ..LoadOptions::default() };
    let text = one("echo: { bytes: 1kB }");
    let scenario = weir_scenario::load(weir_scenario::Input::text(text, "-", None), &options, &registry()).unwrap();
    assert_eq!(scenario.operations[0].details["params"]["bytes"], 2000);
    assert!(read(one("echo: { bytes: 1kB }")).is_ok());
}
