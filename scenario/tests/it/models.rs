//! The built-in models as scenarios write them: what they take, and how wrong input is refused.

use std::path::Path;

use weir_plugin_api::Registry;
use weir_scenario::{Choice, Diagnostic, Input, LoadOptions, Scenario, load};
use weir_sim_core::{RunOptions, Simulation};

fn registry() -> Registry {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).unwrap();
    weir_models::register(&mut registry).unwrap();
    registry
}

fn read_in(folder: Option<&Path>, operation: &str) -> Result<Scenario, Vec<Diagnostic>> {
    let text = format!("weir: 1\nworkload:\n  - {operation}\n");
    load(Input::text(text, "-", folder), &LoadOptions::default(), &registry())
}

/// The time of the only operation, in ps.
fn time(scenario: &Scenario) -> u64 {
    let Scenario { fabric, routes, tasks, .. } = scenario;
    let registry = registry();
    let entry = registry.get("max-min").unwrap();
    let mut arbiter = (entry.make)(&fabric.view(), "{}").unwrap();
    let outcome = Simulation { fabric, routes, tasks }.run(&mut *arbiter, entry.flags, RunOptions::default());
    outcome.unwrap().makespan.0
}

#[track_caller]
fn refused(operation: &str, message: &str, help: &str) {
    let found = read_in(None, operation).map(|s| s.name).expect_err("must be refused").remove(0);
    assert!(found.message.contains(message), "{found}");
    assert!(found.help.as_ref().is_some_and(|h| h.contains(help)), "{found}");
    assert!(!found.plugin, "{found}");
    let position = found.position.as_ref().expect("a position");
    assert_eq!(position.line, 3, "{found}");
}

#[test]
fn the_worked_example_of_shmem_plus() {
    // Aggarwal et al., PGAS 2010, section 5.1: 16 MiB in packets of 2 MiB, 68.45 ms.
    let put = "put: { id: p, from: node0/fpga0, to: node1/fpga0, size: 16MiB, packet: 2MiB, overlap: [[read, network], [write]], read: { table: [[2MiB, 3ms]] }, network: { table: [[2MiB, 1.45ms]] }, write: { table: [[2MiB, 8ms]] } }";
    let scenario = read_in(None, put).unwrap();
    assert_eq!(time(&scenario), 68_450_000_000);
    let operation = &scenario.operations[0];
    assert_eq!((&*operation.kind, &*operation.model), ("put", "put"));
    assert_eq!(operation.estimates.last().map(|e| (e.formula.as_str(), e.seconds)), Some(("eq15", 0.06845)));
}

#[test]
fn an_offload_in_one_stream() {
    // Equation (1) of van Werkhoven et al., CCGrid 2014, with round numbers: L + o + B·G, the kernel, L + o + B·G.
    let offload = "offload: { id: k, device: gpu0, in: 1MB, out: 500kB, kernel: 2ms, parameters: { latency_in: 10us, per_byte_in: 80ps, latency_out: 9us, per_byte_out: 100ps } }";
    assert_eq!(time(&read_in(None, offload).unwrap()), (10 + 80 + 2000 + 9 + 50) * 1_000_000);
}

#[test]
fn an_all_reduce_in_a_ring() {
    // 2(n − 1)/n · S/B + 2(n − 1)·α with 4 ranks, 4 MB, 1 GB/s, α = 2 · 1 us of the links and 3 us of the protocol.
    let text = "weir: 1
topology:
  link_types: { l: { bandwidth: 1GB/s, latency: 1us } }
  tree: { s: { kind: switch, children: { \"gpu[0-3]\": { kind: gpu, link: l } } } }
workload:
  - collective: { id: r, kind: all-reduce, size: 4MB, ranks: \"gpu[0-3]\", protocol: { latency: 3us } }
";
    let scenario = load(Input::text(text, "-", None), &LoadOptions::default(), &registry()).unwrap();
    assert_eq!(time(&scenario), 6 * (1_000_000_000 + 5_000_000));
    let operation = &scenario.operations[0];
    assert_eq!(operation.estimates.iter().map(|e| e.formula.as_str()).collect::<Vec<_>>(), ["bound", "ring"]);
    assert_eq!(operation.details["bus_factor"], 1.5);
}

/// A ring has 2 · 2 · 3 messages, of 9 GB each in 3·10^6 chunks: too many tasks. It would be the fastest.
#[test]
fn alternatives_that_are_refused_are_named() {
    let auto = |size: &str| {
        let text = format!(
            "weir: 1
topology:
  link_types: {{ l: {{ bandwidth: 1GB/s, latency: 1us }} }}
  tree: {{ s: {{ kind: switch, children: {{ \"gpu[0-2]\": {{ kind: gpu, link: l }} }} }} }}
workload:
  - collective: {{ id: r, kind: all-reduce, size: {size}, ranks: \"gpu[0-2]\", algorithm: auto, chunk: 1kB }}
"
        );
        let scenario = load(Input::text(text, "-", None), &LoadOptions::default(), &registry()).unwrap();
        scenario.operations[0].choice.clone().unwrap()
    };
    let (small, large) = (auto("30kB"), auto("9GB"));
    let labels = |choice: &Choice| choice.not_tried.iter().map(|way| way.label.to_string()).collect::<Vec<_>>();
    assert_eq!(
        (small.label(), labels(&small)),
        (Some("ring"), vec!["recursive-doubling".into(), "recursive-halving-doubling".into()])
    );
    assert!(small.not_tried.iter().all(|way| way.reason.contains("needs a power of two of ranks, not 3")));
    assert_eq!(labels(&large)[0], "ring");
    assert!(large.not_tried[0].reason.contains("tasks, more than 10000000)"), "{}", large.not_tried[0].reason);
    assert_eq!(large.label(), Some("direct"));
}

#[test]
fn wrong_collectives() {
    refused("collective: { id: x, kind: all-reduce, size: 1MB, ranks: a }", "at least two", "name more");
    refused("collective: { id: x, kind: all-reduce, size: 0B, ranks: \"a[0-1]\" }", "must not be 0", "give the bytes");
    refused(
        "collective: { id: x, kind: all-reduce, size: 1B, ranks: \"a[0-1]\", chunk: 0B }",
        "must not be 0",
        "leave",
    );
    refused("collective: { id: x, kind: sum, size: 1B, ranks: \"a[0-1]\" }", "`sum`", "all-reduce");
    let text = "weir: 1
topology: { tree: { s: { kind: switch } } }
workload:
  - pattern: { kind: all-reduce, id: x, size: 1B }
";
    let found = load(Input::text(text, "-", None), &LoadOptions::default(), &registry()).map(|s| s.name);
    let help = found.expect_err("no pattern").remove(0).help;
    assert!(help.as_ref().is_some_and(|help| help.contains("collective: { kind: all-reduce")), "{help:?}");
}

#[test]
fn wrong_offloads() {
    let offload = |rest: &str| format!("offload: {{ id: k, device: g, kernel: 1ms, {rest} }}");
    refused(&offload("in: 1MB, streams: 0, preset: pcie3-gtx-titan"), "`streams` of an offload: `0`", "at least 1");
    refused(&offload("in: 1MB, streams: atuo"), "`atuo` is not one of the values", "did you mean `auto`?");
    refused(
        &offload("in: 1MB, preset: pcie3-gtx-tita"),
        "`pcie3-gtx-tita` is not one of",
        "did you mean `pcie3-gtx-titan`?",
    );
    refused(&offload("kernle: 1ms"), "unknown key `kernle` in an offload", "did you mean `kernel`?");
    refused(&offload("copy_engines: 3"), "`copy_engines` of an offload: `3` is out of range", "at most 2");
    refused(
        &offload("parameters: { gap_in: -1us }"),
        "`gap_in` of `parameters` of an offload: `-1us` is negative",
        "not negative",
    );
    refused("offload: { id: k, kernel: 1ms }", "an offload needs the parameter `device`", "add");
}

#[test]
fn wrong_puts() {
    let put = |size: &str, read: &str| format!("put: {{ id: p, from: a, to: b, size: {size}, read: {read} }}");
    let pairs = "[[512KiB, 1ms], [2MiB, 3ms]]";
    refused(&put("1MiB", &format!("{{ table: {pairs} }}")), "`read.table` of put `p`", "interpolate");
    refused(
        &put("4MiB", &format!("{{ table: {pairs}, interpolate: linear }}")),
        "`read.table` of put `p`",
        "extrapolate",
    );
    refused(&put("1MiB", "{ table: [] }"), "`read.table` of put `p`", "");
    refused(&put("1MiB", "{ table: [[2MiB, 1ms], [1MiB, 3ms]] }"), "`read.table` of put `p`", "");
    refused(&put("1MiB", "{ table: [[1MiB, 1ms], [1MiB, 3ms]] }"), "`read.table` of put `p`", "");
    refused(
        &put("1MiB", "{ table: [[1MiB, -1ms]] }"),
        "`table` of `read` of a put: `-1ms` is negative",
        "not negative",
    );
    refused(&put("1MiB", "{ fabric: true }"), "put `p`", "");
    refused(&put("1MiB", "{}"), "`read` of put `p`", "");
    refused("put: { id: p, from: a, to: b, size: 1MiB, packet: 2mb }", "unknown unit `mb`", "`MB`");
}

#[test]
fn curves_from_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.csv"), "bytes,seconds\n1024,1e-6\n3072,3e-6\n").unwrap();
    std::fs::write(folder.path().join("falls.csv"), "bytes,seconds\n3072,3e-6\n1024,1e-6\n").unwrap();
    std::fs::write(folder.path().join("tuned.csv"), "bytes,packet\n1,none\n2048,1024\n").unwrap();
    let put =
        |rest: &str| read_in(Some(folder.path()), &format!("put: {{ id: p, from: a, to: b, size: 2KiB, {rest} }}"));
    // On the line between 1 us and 3 us.
    assert_eq!(time(&put("read: { curve: c.csv }").unwrap()), 2_000_000);
    // From 2048 bytes on packets of 1024: two of 1 us.
    assert_eq!(time(&put("packet: { table: tuned.csv }, read: { curve: c.csv }").unwrap()), 2_000_000);
    let found = put("read: { curve: falls.csv }").map(|s| s.name).unwrap_err().remove(0);
    assert!(found.message.contains("`read.curve` of put `p`"), "{found}");
    // A row that is wrong is shown where it stands, as one in the scenario is.
    std::fs::write(folder.path().join("again.csv"), "bytes,packet\n\n1,none\n1,1024\n").unwrap();
    for (rest, place) in [
        ("read: { curve: falls.csv }", "falls.csv:3:1"),
        ("packet: { table: again.csv }, read: { curve: c.csv }", "again.csv:4:1"),
        ("read: { table: [[2KiB, 1us], [1KiB, 2us]] }", "<stdin>:3:76"),
    ] {
        let found = put(rest).map(|s| s.name).unwrap_err().remove(0);
        let position = found.position.as_ref().expect("a place").to_string();
        assert!(position.ends_with(place), "{found}");
        assert!(found.message.contains("order"), "{found}");
    }
}
