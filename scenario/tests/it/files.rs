//! Files beside the scenario: topologies and traces, what may be named, and what the command line adds.

use std::path::Path;

use crate::common::{T2, bad, good, on_t2, registry, transfers, write};
use weir_plugin_api::SimTime;
use weir_scenario::{Diagnostic, Input, LoadOptions, Scenario, load, rewrite};
use weir_sim_core::TaskId;

fn load_in(folder: &Path, file: &str) -> Result<Scenario, Vec<Diagnostic>> {
    load(&folder.join(file), &LoadOptions::default(), &registry())
}

/// A scenario on a topology file beside it with one trace.
fn with_trace(table: &str) -> Result<Scenario, Vec<Diagnostic>> {
    let folder = tempfile::tempdir().unwrap();
    let text = "weir: 1\ntopology: t2.yaml\nworkload:\n  - trace: { file: flows.csv }\n";
    write(folder.path(), &[("t2.yaml", T2), ("s.yaml", text), ("flows.csv", table)]);
    load_in(folder.path(), "s.yaml")
}

/// File name, line, column, message and help of the first finding.
#[track_caller]
fn first(found: Result<Scenario, Vec<Diagnostic>>) -> (String, u32, u32, String, String) {
    let found = found.map(|s| s.name).expect_err("must be refused").remove(0);
    let position = found.position.clone().unwrap_or_else(|| panic!("{found}"));
    let file = Path::new(&*position.file).file_name().unwrap().to_string_lossy().into_owned();
    (file, position.line, position.column, found.message, found.help.unwrap_or_default())
}

#[test]
fn traces() {
    let scenario = with_trace(
        "to,from,bytes,start_s,id,weight,priority,limit_Bps,after\r\n\
         gpu1,gpu0,100,0.25,,2,2147483647,1e9,\r\n\r\ngpu2,plx0/gpu0,200,1e-12,x,,,,flows:1\r\ngpu3, gpu0 ,300,,,,-2147483648,,x; flows:1\r\n",
    )
    .unwrap();
    assert_eq!(transfers(&scenario), ["flows:1 gpu0->gpu1 100", "x gpu0->gpu2 200", "flows:3 gpu0->gpu3 300"]);
    let tasks = scenario.tasks.tasks();
    assert_eq!(tasks.iter().map(|t| t.start).collect::<Vec<_>>(), [SimTime(250_000_000_000), SimTime(1), SimTime(0)]);
    let classes = scenario.tasks.classes().table();
    assert_eq!(classes.weight.as_slice(), [2.0, 1.0, 1.0]);
    assert_eq!(classes.priority.as_slice(), [i64::from(i32::MAX), 0, i64::from(i32::MIN)]);
    assert_eq!(classes.limit.as_slice(), [1e9, f64::INFINITY, f64::INFINITY]);
    assert_eq!(scenario.tasks.successors(TaskId(0)), [TaskId(1), TaskId(2)]);
    assert_eq!(scenario.tasks.successors(TaskId(1)), [TaskId(2)]);
    let lines: Vec<u32> = (0..3).map(|t| scenario.position(TaskId(t)).unwrap().line).collect();
    assert_eq!(lines, [2, 4, 5]);
    assert_eq!(scenario.task("x"), Some(TaskId(1)));
    assert_eq!(scenario.task("flows:2"), None);
    assert_eq!(scenario.task("flows:3"), Some(TaskId(2)));
}

#[test]
fn wrong_traces_name_file_line_and_column() {
    let refused = |table: &str, place: (u32, u32), message: &str, help: &str| {
        let (file, line, column, said, remedy) = first(with_trace(table));
        assert_eq!(file, "flows.csv", "{said}");
        assert!(said.contains(message), "{said}");
        assert!(remedy.contains(help), "{remedy}");
        assert_eq!((line, column), place, "{said}");
    };
    refused("", (1, 1), "the table is empty", "from,to,bytes");
    refused("gpu0,gpu1,5\n", (1, 1), "no column of a trace is named `gpu0`", "the first line names the columns");
    refused("from,to,byte\n", (1, 9), "no column of a trace is named `byte`", "did you mean `bytes`?");
    refused("from,to\n", (1, 1), "lacks the column `bytes`", "from,to,bytes");
    refused("from,to,bytes,to\n", (1, 15), "`to` is given twice", "one of the two");
    refused("from,to,bytes\ngpu0,gpu1,5\ngpu0,gpv1,5\n", (3, 6), "no node is named `gpv1`", "did you mean");
    refused("from,to,bytes\ngpu0,gpu0,5\n", (2, 6), "the same node, `gpu0`", "two different");
    refused("from,to,bytes\ngpu0,plx0,5\n", (2, 6), "`plx0` is a switch", "device");
    refused("from,to,bytes\r\n\r\ngpu0,gpu1,5\r\ngpu0,gpu1,0\r\n", (4, 11), "zero bytes", "at least 1");
    refused("from,to,bytes\ngpu0,gpu1,5kB\n", (2, 11), "not a whole number", "whole number");
    refused("from,to,bytes\ngpu0,gpu1,-5\n", (2, 11), "negative", "not negative");
    refused("from,to,bytes\ngpu0,gpu1\n", (2, 1), "the row has 2 fields, the header 3", "one field");
    refused("from,to,bytes,start_s\ngpu0,gpu1,5,inf\n", (2, 13), "not a finite number", "finite");
    refused("from,to,bytes,start_s\ngpu0,gpu1,5,1e7\n", (2, 13), "horizon", "100 days");
    refused("from,to,bytes,weight\ngpu0,gpu1,5,1e308\n", (2, 13), "too large", "from 1e-9 to 1e9");
    refused("from,to,bytes,limit_Bps\ngpu0,gpu1,5,1e-300\n", (2, 13), "too small", "from 0.001 B/s to 1e18 B/s");
    refused("from,to,bytes,after\ngpu0,gpu1,5,y\n", (2, 13), "`after` names `y`", "known ids: flows");
    refused("from,to,bytes,id\ngpu0,gpu1,5,y\ngpu0,gpu1,5,z\ngpu0,gpu1,5,y\n", (4, 1), "`y` is given twice", "own id");
    refused("from,to,bytes,id\ngpu0,gpu1,5,flows:2\ngpu0,gpu1,5,\n", (2, 1), "`flows:2` is given twice", "another id");
    refused("from,to,bytes,after\ngpu0,gpu1,5,flows:2\ngpu0,gpu1,5,flows:1\n", (2, 1), "a cycle in `after`", "remove");
}

#[test]
fn errors_in_traces_show_the_row() {
    let found = with_trace("from,to,bytes\ngpu0,gpu1,5\ngpu0,gpv1,5\n").map(|s| s.name).unwrap_err();
    let text = found[0].to_string();
    assert!(text.contains("\n3 | gpu0,gpv1,5\n  |      ^^^^\nhelp: "), "{text}");
}

#[test]
fn files_outside_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let scenario = |topology: &str| format!("weir: 1\ntopology: {topology}\nworkload: []\n");
    let absolute = root.join("outside.yaml");
    write(
        root,
        &[
            ("outside.yaml", T2),
            ("in/t2.yaml", T2),
            ("in/up.yaml", &scenario("../outside.yaml")),
            ("in/abs.yaml", &scenario(absolute.to_str().unwrap())),
            ("in/gone.yaml", &scenario("../no-such-file.yaml")),
            ("in/none.yaml", &scenario("t3.yaml")),
            ("in/folder.yaml", &scenario(".")),
            ("in/fine.yaml", &scenario("../in/t2.yaml")),
        ],
    );
    let inside = root.join("in");
    // No message tells a file outside that is there from one that is not.
    for file in ["up.yaml", "abs.yaml", "gone.yaml"] {
        let (_, line, column, message, help) = first(load_in(&inside, file));
        assert_eq!((line, column), (2, 11));
        assert!(message.contains("lies outside") && help.contains("--library DIR"), "{message} {help}");
    }
    assert!(first(load_in(&inside, "none.yaml")).3.contains("`t3.yaml` cannot be read"));
    assert!(first(load_in(&inside, "folder.yaml")).3.contains("not a file"));
    assert!(load_in(&inside, "fine.yaml").is_ok());
    let options = LoadOptions { library: Some(root.to_path_buf()), ..LoadOptions::default() };
    assert!(load(&inside.join("up.yaml"), &options, &registry()).is_ok());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&absolute, inside.join("link.yaml")).unwrap();
        write(root, &[("in/sym.yaml", &scenario("link.yaml"))]);
        assert!(first(load_in(&inside, "sym.yaml")).3.contains("lies outside"));
    }
    // A folder whose name begins as that of the library is another folder.
    write(
        root,
        &[("in/weir-library", ""), ("in-secret/t2.yaml", T2), ("in/near.yaml", &scenario("../in-secret/t2.yaml"))],
    );
    assert!(first(load_in(&inside, "near.yaml")).3.contains("lies outside"));
    let only_in = LoadOptions { library: Some(inside.clone()), ..LoadOptions::default() };
    assert!(load(&inside.join("near.yaml"), &only_in, &registry()).is_err());
    std::fs::remove_file(inside.join("weir-library")).unwrap();
    write(root, &[("weir-library", "")]);
    assert!(load_in(&inside, "up.yaml").is_ok());
    let missing = load_in(&inside, "absent.yaml").map(|s| s.name).unwrap_err();
    assert!(missing[0].message.contains("absent.yaml` cannot be read"), "{}", missing[0]);
}

#[test]
fn errors_in_a_topology_file_name_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = "weir: 1\ntopology: t2.yaml\nworkload: []\n";
    write(folder.path(), &[("t2.yaml", &T2.replace("link: pcie, children", "lnik: pcie, children")), ("s.yaml", text)]);
    let (file, line, column, message, _) = first(load_in(folder.path(), "s.yaml"));
    assert_eq!((file.as_str(), line, column), ("t2.yaml", 13, 33));
    assert_eq!(message, "unknown key `lnik` in node `k80a`");
}

#[test]
fn standard_input_has_no_folder() {
    let found = bad("weir: 1\ntopology: t2.yaml\nworkload: []\n");
    assert!(found[0].message.contains("no folder"));
    assert_eq!(found[0].position.as_ref().unwrap().to_string(), "<stdin>:2:11");
}

fn with_options(text: &str, set: &[(&str, &str)], arbiters: &[&str]) -> Result<Scenario, Vec<Diagnostic>> {
    let options = LoadOptions {
        library: None,
        set: set.iter().map(|&(p, v)| (p.to_owned(), v.to_owned())).collect(),
        arbiters: arbiters.iter().map(|&a| a.to_owned()).collect(),
        ..LoadOptions::default()
    };
    load(Input::text(text, "-", None), &options, &registry())
}

#[test]
fn set_edits_values() {
    let text = on_t2("arbiter: pcie-congestion\nworkload:\n  - transfer: { id: a, from: gpu0, to: gpu1, size: 1B }\n");
    let set = [
        ("workload[0].transfer.size", "4MB"),
        ("workload[0].transfer.weight", "3"),
        ("arbiter.tau", "0.1"),
        ("name", "other"),
        ("topology.tree.rc.children.plx0.children.k80a.children.\"gpu[0-1]\".engines", "2"),
    ];
    let scenario = with_options(&text, &set, &[]).unwrap();
    assert_eq!(transfers(&scenario), ["a gpu0->gpu1 4000000"]);
    assert_eq!(scenario.tasks.classes().table().weight[0], 3.0);
    assert_eq!(scenario.arbiters[0].params["tau"], 0.1);
    assert_eq!(scenario.name, "other");
    assert_eq!(scenario.tasks.engines()[0].slots, 2);
}

#[test]
fn wrong_edits_are_refused() {
    let text = on_t2("arbiter: pcie-congestion\nworkload:\n  - transfer: { id: a, from: gpu0, to: gpu1, size: 1B }\n");
    let refused = |set: (&str, &str), place: &str, message: &str, help: &str| {
        let found = with_options(&text, &[set], &[]).map(|s| s.name).unwrap_err();
        assert_eq!(found[0].position.as_ref().unwrap().to_string(), place, "{}", found[0]);
        assert!(found[0].message.contains(message), "{}", found[0]);
        assert!(found[0].help.as_ref().unwrap().contains(help), "{}", found[0]);
    };
    refused(("wrkload[0].transfer.size", "1B"), "--set:1:1", "no `wrkload` here", "did you mean `workload`?");
    refused(("workload[0].transfer.sise", "1B"), "--set:1:21", "unknown key `sise`", "did you mean `size`?");
    refused(("workload[1].transfer.size", "1B"), "--set:1:9", "there is no item 1", "1 items");
    refused(("workload.transfer", "1B"), "--set:1:9", "is not a key here", "[0]");
    refused(("name[0]", "1B"), "--set:1:5", "no item 0 here", "key");
    refused(("arbiter.tua", "0.1"), "--set:1:8", "no parameter `tua`", "did you mean `tau`?");
    refused(("arbiter.tau", "0.5"), "--set arbiter.tau:1:1", "out of range", "below 0.5");
    refused(("workload[0].transfer.size", "4mb"), "--set workload[0].transfer.size:1:1", "unknown unit", "MB");
    refused(("workload[+0].transfer.size", "1B"), "--set:1:9", "not a path", "workload[0]");
    refused(("a..b", "1"), "--set:1:3", "not a path", "quotes");
    refused(("name", ""), "--set:1:5", "no value", "path=value");
}

#[test]
fn edits_reach_into_the_topology_file() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("t2.yaml", T2), ("s.yaml", "weir: 1\ntopology: t2.yaml\nworkload: []\n")]);
    let set = vec![("topology.link_types.pcie.bandwidth".to_owned(), "1GB/s".to_owned())];
    let options = LoadOptions { set, ..LoadOptions::default() };
    let scenario = load(&folder.path().join("s.yaml"), &options, &registry()).unwrap();
    assert!(scenario.fabric.bandwidths().iter().all(|&b| b == 1e9));
}

/// Nested machines: files are looked up where they are named, and other nodes of the same file stay as they are.
#[test]
fn edits_reach_into_files_of_machines() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = "weir: 1\ntopology: sub/rack.yaml\nworkload: []\n";
    let rack = "weir: 1\nmachines: { box: { file: box.yaml } }\n\
                tree: { a: { machine: box }, b: { machine: { file: box.yaml } } }\n";
    let board = "weir: 1\nlink_types: { l: { bandwidth: 2GB/s } }\n\
                 tree: { s: { kind: switch, children: { gpu: { kind: gpu, link: l } } } }\n";
    let inner = "weir: 1\ntree: { board: { machine: { file: board.yaml } } }\n";
    write(
        folder.path(),
        &[("s.yaml", scenario), ("sub/rack.yaml", rack), ("sub/box.yaml", inner), ("sub/board.yaml", board)],
    );
    let file = folder.path().join("s.yaml");
    let with = |path: &str, value: &str| {
        let options = LoadOptions { set: vec![(path.to_owned(), value.to_owned())], ..LoadOptions::default() };
        let text = rewrite(&file, &options, &[]).map(|text| good(&text).fabric.bandwidths().to_vec());
        load(&file, &options, &registry()).map(|s| (s.fabric.bandwidths().to_vec(), text.unwrap(), s.read_files.len()))
    };
    let path = "topology.machines.box.tree.board.machine.link_types.l.bandwidth";
    let (loaded, written, read) = with(path, "1GB/s").unwrap();
    assert_eq!((&loaded[..], read), (&[1e9, 1e9, 2e9, 2e9][..], 5));
    assert_eq!(written, loaded, "the same when it is written");
    let path = "topology.tree.b.machine.tree.board.machine.link_types.l.bandwidth";
    assert_eq!(with(path, "1GB/s").unwrap().0, [2e9, 2e9, 1e9, 1e9]);
    let set = vec![("topology.machines.box.file".to_owned(), "sub/board.yaml".to_owned())];
    let other = load(&file, &LoadOptions { set, ..LoadOptions::default() }, &registry()).unwrap();
    assert!(other.node("a/s/gpu").is_some() && other.node("b/board/s/gpu").is_some());
    let found = with("topology.machines.box.link_types.l.bandwidth", "1GB/s").unwrap_err();
    assert_eq!(found[0].position.as_ref().unwrap().to_string(), "--set:1:22", "{}", found[0]);
    assert!(found[0].message.contains("no `link_types` here"), "{}", found[0]);
}

#[test]
fn arbiters_of_the_command_line_replace_the_files() {
    let text = on_t2("arbiter: [max-min, { name: pcie-congestion, tau: 0.3 }]\nworkload: []\n");
    let names = |s: &Scenario| s.arbiters.iter().map(|a| a.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&good(&text)), ["max-min", "pcie-congestion"]);
    let scenario = with_options(&text, &[], &["{name: pcie-congestion, tau: 0.2}"]).unwrap();
    assert_eq!(names(&scenario), ["pcie-congestion"]);
    assert_eq!(scenario.arbiters[0].params["tau"], 0.2);
    assert!(scenario.arbiters[0].position.is_none());
    let found = with_options(&text, &[], &["{name: pcie-congestion, tau: x}"]).map(|s| s.name).unwrap_err();
    assert_eq!(found[0].position.as_ref().unwrap().to_string(), "--arbiter:1:30");
}

#[test]
fn edits_of_replaced_arbiters_are_refused() {
    let text = on_t2("arbiter: pcie-congestion\nworkload: []\n");
    for (path, value) in [("arbiter.tau", "0.4"), ("arbiter", "max-min"), ("arbiter[0].tau", "0.4")] {
        let found = with_options(&text, &[(path, value)], &["pcie-congestion"]).map(|s| s.name).unwrap_err();
        assert_eq!(found.len(), 1, "{path}");
        assert_eq!(found[0].position.as_ref().unwrap().to_string(), "--set:1:1");
        assert!(found[0].message.starts_with(&format!("`{path}` has no effect")), "{}", found[0]);
        assert!(found[0].help.as_ref().unwrap().contains("--arbiter '{name: NAME, PARAMETER: VALUE}'"));
    }
    assert_eq!(with_options(&text, &[("name", "other")], &["pcie-congestion"]).unwrap().name, "other");
}

#[test]
fn replaced_arbiters_are_checked() {
    for (arbiter, message) in [
        ("max-mni", "no arbiter is named `max-mni`"),
        ("{ name: pcie-congestion, tua: 0.1 }", "no parameter `tua`"),
        ("[]", "the list of arbiters is empty"),
    ] {
        let text = on_t2(&format!("arbiter: {arbiter}\nworkload:\n  - barrier: {{}}\n"));
        let found = with_options(&text, &[], &["max-min"]).map(|s| s.name).unwrap_err();
        assert_eq!(found.len(), 1, "{arbiter}");
        assert!(found[0].message.contains(message), "{}", found[0]);
        assert_eq!(found[0].position.as_ref().unwrap().line, 5);
    }
}
