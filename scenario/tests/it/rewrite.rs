//! Scenarios written after changes: comments stay, and what is written reads as it should.

use std::path::{Path, PathBuf};

use crate::common::{T2, good, on_t2, registry, write};
use proptest::prelude::*;
use weir_plugin_api::Registry;
use weir_scenario::{Change, Diagnostic, Input, LinkChange, LoadOptions, Scenario, load, rewrite};
use weir_sim_core::Link;

const TEXT: &str = "\
# What is asked.

weir: 1
name: \"two\"  # a name
topology: t2.yaml # T2
# Who divides.
arbiter: pcie-congestion
workload: # all of it
  # the first
  - transfer: { id: a, from: gpu0, to: gpu1, size: 1MB } # near
  # the second
  - transfer:
      id: b
      from: gpu0
      to: gpu2 # far
      size: 2MB

# What may change.
# More of it.
optimize:
  vary: order
# The end.
";

fn changed(text: &str, options: &LoadOptions, changes: &[Change]) -> Result<String, Vec<Diagnostic>> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("t2.yaml", T2)]);
    rewrite(Input::text(text, "-", Some(folder.path())), options, changes)
}

#[track_caller]
fn done(text: &str, changes: &[Change]) -> String {
    changed(text, &LoadOptions::default(), changes).unwrap_or_else(|found| panic!("{}", found[0]))
}

fn set(path: &str, value: &str) -> Change {
    Change::Set(path.to_owned(), value.to_owned())
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn drops_optimize_and_keeps_the_rest() {
    let expected = TEXT.replace("# What may change.\n# More of it.\noptimize:\n  vary: order\n", "");
    assert_eq!(done(TEXT, &[]), expected);
    assert_eq!(done(&expected, &[]), expected);
    assert_eq!(done(&TEXT.replace('\n', "\r\n"), &[]), expected.replace('\n', "\r\n"));
}

#[test]
fn values_change_in_their_places() {
    let plain = done(TEXT, &[]);
    let changes =
        [set("workload[1].transfer.size", "4MB"), set("workload[0].transfer.to", "\"gpu[3]\""), set("name", "x, y")];
    let expected = plain.replace("2MB", "4MB").replace("to: gpu1", "to: \"gpu[3]\"").replace("\"two\"", "\"x, y\"");
    assert_eq!(done(TEXT, &changes), expected);
    let expected = plain.replace("arbiter: pcie-congestion", "arbiter: { name: pcie-congestion, tau: 0.3 }");
    assert_eq!(done(TEXT, &[set("arbiter.tau", "0.3")]), expected);
    let by_kind = TEXT.replace("arbiter: pcie-congestion", "arbiter: { default: pcie-congestion }");
    let expected = plain.replace("pcie-congestion", "{ default: { name: pcie-congestion, tau: 0.3 } }");
    assert_eq!(done(&by_kind, &[set("arbiter.default.tau", "0.3")]), expected);
}

#[test]
fn new_keys_are_written_anew_where_they_belong() {
    let written = done(TEXT, &[set("workload[1].transfer.weight", "2"), set("workload[1].transfer.after", "[a]")]);
    let workload = "\
workload: # all of it
  # the first
  - transfer: { id: a, from: gpu0, to: gpu1, size: 1MB } # near
  # the second
  - transfer: { id: b, from: gpu0, to: gpu2, size: 2MB, weight: 2, after: [a] }
";
    let plain = done(TEXT, &[]);
    let (head, tail) = (plain.split("workload:").next().unwrap(), "\n# The end.\n");
    assert_eq!(written, format!("{head}{workload}{tail}"));
}

#[test]
fn orders_and_ranks_stand_before_the_workload() {
    let order =
        Change::Order(vec![("gpu0".into(), texts(&["b", "a"])), ("rc/gpu1".into(), texts(&["x, y", "null", "a#1"]))]);
    let written = done(TEXT, &[order.clone(), Change::Ranks(texts(&["gpu3", "gpu0"]))]);
    let inserted = "order:\n  gpu0: [b, a]\n  rc/gpu1: [\"x, y\", \"null\", a#1]\nranks: [gpu3, gpu0]\nworkload: #";
    assert_eq!(written, done(TEXT, &[]).replace("workload: #", inserted));
    // The one in the file gives way.
    assert_eq!(done(&written, std::slice::from_ref(&order)), written);
    let shorter = done(&written, &[Change::Order(vec![("gpu0".into(), texts(&["a", "b"]))])]);
    assert_eq!(shorter, written.replace("gpu0: [b, a]\n  rc/gpu1: [\"x, y\", \"null\", a#1]", "gpu0: [a, b]"));
}

#[test]
fn edits_and_arbiters_of_the_command_line() {
    let options = LoadOptions {
        set: vec![("workload[0].transfer.size".into(), "3MB".into())],
        arbiters: vec!["max-min".into(), "{name: pcie-congestion, tau: 0.1}".into()],
        library: None,
        ..LoadOptions::default()
    };
    let written = changed(TEXT, &options, &[]).unwrap();
    assert!(written.contains("size: 3MB } # near"), "{written}");
    // In place, as a list on one line.
    let arbiters = "# Who divides.\narbiter: [max-min, { name: pcie-congestion, tau: 0.1 }]\n";
    assert!(written.contains(arbiters), "{written}");
    let options = LoadOptions { set: vec![("workload[7].transfer.size".into(), "3MB".into())], ..options };
    let found = changed(TEXT, &options, &[]).unwrap_err();
    assert!(found[0].message.contains("there is no item 7"), "{}", found[0]);
    let found = changed(TEXT, &LoadOptions::default(), &[set("name", "[")]).unwrap_err();
    assert!(found[0].message.contains("not valid YAML"), "{}", found[0]);
}

#[test]
fn the_topology_comes_in_place_when_asked_or_edited() {
    let inline = done(TEXT, &[Change::InlineTopology]);
    assert!(inline.contains("topology: # T2\n  name: cs-storm-t2\n  link_types:"), "{inline}");
    assert!(inline.starts_with("# What is asked.\n") && inline.contains("# Who divides.\narbiter"), "{inline}");
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("t2.yaml", T2)]);
    let load = |text: &str, folder| load(Input::text(text, "-", folder), &LoadOptions::default(), &registry()).unwrap();
    assert_eq!(contents(&load(&inline, None)), contents(&load(TEXT, Some(folder.path()))));
    let edited = done(TEXT, &[set("topology.link_types.pcie.bandwidth", "1GB/s")]);
    assert_eq!(edited, inline.replace("bandwidth: 11.6GB/s", "bandwidth: 1GB/s"));
    assert_eq!(done(&inline, &[Change::InlineTopology]), inline);
    let found = changed(&TEXT.replace("t2.yaml", "t3.yaml"), &LoadOptions::default(), &[Change::InlineTopology]);
    assert!(found.unwrap_err()[0].message.contains("`t3.yaml` cannot be read"));
    let found = changed(TEXT, &LoadOptions::default(), &[set("topology.link_types.pci.bandwidth", "1GB/s")]);
    assert!(found.unwrap_err()[0].message.contains("no `pci` here"));
}

#[test]
fn what_cannot_stay_is_written_anew() {
    // JSON, and aliases of a value that changes.
    let json =
        "# JSON\n{\"weir\": 1, \"topology\": \"t2.yaml\", \"workload\": [], \"optimize\": {\"vary\": \"order\"}}\n";
    assert_eq!(done(json, &[]), "# JSON\nweir: 1\ntopology: \"t2.yaml\"\nworkload: []\n");
    let aliases = "weir: 1\ntopology: t2.yaml\nworkload:\n  - transfer: &t { from: gpu0, to: gpu1, size: &s 1MB }\n  - transfer: { from: gpu1, to: gpu2, size: *s }\n";
    let written = done(aliases, &[set("workload[0].transfer.size", "2MB")]);
    assert!(written.contains("to: gpu1, size: 2MB }\n") && written.contains("to: gpu2, size: 1MB }\n"), "{written}");
    let dropped = "weir: 1\noptimize: { vary: &n order }\nname: *n\ntopology: t2.yaml\nworkload: []\n";
    assert_eq!(done(dropped, &[]), "weir: 1\nname: order\ntopology: t2.yaml\nworkload: []\n");
    let scalar = "weir: 1\nname: |\n  two\n  # lines\ntopology: t2.yaml\nworkload: []";
    assert_eq!(done(scalar, &[]), scalar.to_owned());
    assert_eq!(done(scalar, &[set("name", "one")]), "weir: 1\nname: one\ntopology: t2.yaml\nworkload: []");
    let end = "---\nweir: 1\ntopology: t2.yaml\noptimize: { vary: order }\nworkload: []\n...\n";
    assert_eq!(done(end, &[]), "---\nweir: 1\ntopology: t2.yaml\nworkload: []\n...\n");
}

#[test]
fn refuses_what_is_no_scenario() {
    for (text, message) in [
        ("", "the file is empty"),
        ("[1]", "a scenario must be a map"),
        ("weir: 1\nlink_types: {}\ntree: {}\n", "a topology, not a scenario"),
        ("a: [", "not valid YAML"),
    ] {
        let found = changed(text, &LoadOptions::default(), &[]).unwrap_err();
        assert!(found[0].message.contains(message), "{}", found[0]);
    }
    let found = rewrite(Path::new("no/such/file.yaml"), &LoadOptions::default(), &[]).unwrap_err();
    assert!(found[0].message.contains("cannot be read"), "{}", found[0]);
    // 64 levels in the file of the topology are 65 in the scenario.
    let deep = format!("tree: {}1{}\n", "{ a: ".repeat(63), " }".repeat(63));
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("t.yaml", &deep)]);
    let text = "weir: 1\ntopology: t.yaml\nworkload: []\n";
    let options = LoadOptions::default();
    let found = rewrite(Input::text(text, "-", Some(folder.path())), &options, &[Change::InlineTopology]).unwrap_err();
    assert!(found[0].message.contains("nested deeper than 64"), "{}", found[0]);
}

/// What of a scenario decides a run, but for the names of files.
fn contents(scenario: &Scenario) -> String {
    let names: Vec<_> = (0..scenario.fabric.nodes().len())
        .map(|i| scenario.node_name(weir_plugin_api::NodeId::from_index(i)))
        .collect();
    let tasks: Vec<_> =
        (0..scenario.tasks.tasks().len() as u32).map(|i| scenario.task_name(weir_sim_core::TaskId(i))).collect();
    let arbiters: Vec<_> = scenario.arbiters.iter().map(|a| (&a.name, &a.params)).collect();
    format!(
        "{:?}\n{:?}\n{:?}\n{names:?}\n{tasks:?}\n{arbiters:?}\n{:?}\n{}",
        scenario.tasks, scenario.fabric, scenario.routes, scenario.operations, scenario.name
    )
}

fn library(below: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(below).unwrap().map(|e| e.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { library(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|e| e == "yaml")).collect()
}

#[test]
fn every_scenario_of_the_library_runs_the_same_when_written() {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).unwrap();
    weir_packets::arbiter::register(&mut registry).unwrap();
    weir_models::register(&mut registry).unwrap();
    let options = LoadOptions::default();
    let mut seen = 0;
    for path in library(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios")) {
        let text = std::fs::read_to_string(&path).unwrap();
        if !text.contains("\nworkload:") {
            continue;
        }
        let scenario = load(&path, &options, &registry).unwrap_or_else(|found| panic!("{}", found[0]));
        if scenario.optimize.is_none() {
            assert_eq!(rewrite(&path, &options, &[]).unwrap(), text);
        }
        for changes in [&[][..], &[Change::InlineTopology]] {
            let written = rewrite(&path, &options, changes).unwrap();
            let name = path.display().to_string();
            let again = load(Input::text(written, &name, path.parent()), &options, &registry);
            let again = again.unwrap_or_else(|found| panic!("{}", found[0]));
            assert_eq!(contents(&again), contents(&scenario), "{name}");
        }
        seen += 1;
    }
    assert!(seen > 10);
}

#[test]
fn named_files_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let text = "weir: 1\ntopology: in/t2.yaml\nworkload:\n  - barrier: {}\n  - trace: { file: x.csv }\n  - trace: { id: y, file: ./x.csv }\n";
    write(folder.path(), &[("in/t2.yaml", T2), ("x.csv", "from,to,bytes\ngpu0,gpu1,5\n"), ("s.yaml", text)]);
    let scenario = load(&folder.path().join("s.yaml"), &LoadOptions::default(), &registry()).unwrap();
    let found: Vec<_> = scenario.files.iter().map(|file| (file.key.as_str(), file.named.as_str())).collect();
    let expected =
        [("topology", "in/t2.yaml"), ("workload[1].trace.file", "x.csv"), ("workload[2].trace.file", "./x.csv")];
    assert_eq!(found, expected);
    assert_eq!(scenario.files[2].path, folder.path().canonicalize().unwrap().join("x.csv"));
    assert!(good(&on_t2("workload: [{ barrier: {} }]\n")).files.is_empty());
}

/// What is written with edits loads as the file loads with the same edits.
#[test]
fn edits_are_the_same_written_or_not() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("t2.yaml", T2)]);
    let load = |text: &str, options: &LoadOptions| {
        let scenario = load(Input::text(text, "-", Some(folder.path())), options, &registry());
        contents(&scenario.unwrap_or_else(|found| panic!("{}", found[0])))
    };
    let plain = load(TEXT, &LoadOptions::default());
    for (path, value) in [
        ("workload[0].transfer.size", "5MB"),
        ("workload[0].transfer.to", "plx1/gpu7"),
        ("workload[1].transfer.after", "[a]"),
        ("workload[1]", "pattern: { kind: ring, ranks: \"gpu[0-3]\", size: 1kB }"),
        ("workload", "[{ transfer: { from: gpu0, to: gpu1, size: 1B } }]"),
        ("topology.link_types.pcie", "{ up: 1GB/s, down: 2GB/s }"),
        (
            "topology",
            "{ tree: { s: { kind: switch, children: { \"gpu[0-2]\": { kind: gpu, link: { bandwidth: 1B/s } } } } } }",
        ),
        ("arbiter.tau", "0.25"),
        ("arbiter", "[max-min, pcie-congestion]"),
        ("order", "{ gpu0: [b, a] }"),
        ("name", "'# : no comment'"),
    ] {
        let options = LoadOptions { set: vec![(path.into(), value.into())], ..LoadOptions::default() };
        let written = changed(TEXT, &options, &[]).unwrap_or_else(|found| panic!("{}", found[0]));
        let expected = load(TEXT, &options);
        assert_eq!(load(&written, &LoadOptions::default()), expected, "{path}\n{written}");
        assert_ne!(expected, plain, "{path}");
    }
}

/// Names with brackets and with `repeat`, nodes below such nodes, and links beside the tree in all shapes.
const LINKED: &str = "\
weir: 1
name: linked
topology:
  link_types: { own: { bandwidth: 1GB/s }, other: { bandwidth: 3GB/s } }
  tree:
    \"rc[0-1]\":
      kind: root-complex
      children:
        plx: { kind: switch, link: own, children: { \"gpu[0-2]\": { kind: gpu, link: own } } }
        nic: { kind: nic, repeat: 2, link: { bandwidth: 1GB/s } }
    net: { kind: network, children: { store: { kind: nic, link: own } } }
  links:
    - { between: [rc0, rc1], type: own }
    - { between: [\"rc[0-1]/nic[0-1]\", net], type: own }
    - { between: [\"rc0/plx/gpu[0-2]\", \"rc1/plx/gpu[0-2]\"], type: { bandwidth: 1GB/s } }
workload: []
";

/// Pairs of links: two roots with six nodes below each, the network's store, and the items of `links`.
const PAIRS: usize = 2 * 6 + 1 + 1 + 4 + 3;

fn relinked(of: &[Option<u32>]) -> Change {
    Change::Links(LinkChange { types: texts(&["{ bandwidth: 2GB/s }", "other"]), of: of.to_vec() })
}

proptest! {
    /// Whatever links get other types: those have them, all others are as before, and no node has another name or number.
    #[test]
    fn links_get_other_types_one_by_one(of in prop::collection::vec(prop::option::weighted(0.3, 0..2_u32), PAIRS)) {
        let before = good(LINKED);
        let text = done(LINKED, &[relinked(&of)]);
        let after = good(&text);
        prop_assert_eq!([&before, &after].map(|scenario| scenario.fabric.links().len()), [2 * PAIRS; 2]);
        for (at, (new, old)) in after.fabric.links().iter().zip(before.fabric.links()).enumerate() {
            let ends = |scenario: &Scenario, link: &Link| [link.from, link.to].map(|node| scenario.node_name(node).to_owned());
            prop_assert_eq!(ends(&after, new), ends(&before, old), "{}", text);
            let bandwidth = of[at / 2].map_or(1e9, |new| [2e9, 3e9][new as usize]);
            prop_assert_eq!(new.bandwidth, bandwidth, "link {}: {}", at, &text);
        }
    }
}

#[test]
fn each_link_is_named_whose_type_may_change() {
    let found = changed(LINKED, &LoadOptions::default(), &[relinked(&[Some(0)])]).unwrap_err();
    assert!(found[0].to_string().contains("1 links are given types, of 21 pairs of links"), "{}", found[0]);
    assert_eq!(done(LINKED, &[relinked(&[None])]), LINKED);
}
