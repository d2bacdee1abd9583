//! `order`: what it may list, what it does to a run, and what searches are told about sources and ranks.

use std::path::Path;

use crate::common::models::{MACHINES, registry};
use crate::common::{bad, first_bad, good, on_t2, read};
use weir_scenario::{Change, Input, LoadOptions, RankTraffic, Scenario, load, rewrite};
use weir_sim_core::{RunOptions, Simulation, TaskId, Work};

/// Three transfers from gpu0, on lines 6 to 8, one from gpu1, and an order on line 10.
fn with_order(order: &str) -> String {
    on_t2(&format!(
        "workload:\n  - transfer: {{ id: a, from: gpu0, to: gpu1, size: 1MB }}\n  - transfer: {{ id: b, from: gpu0, to: gpu2, size: 2MB }}\n  - transfer: {{ id: c, from: gpu0, to: gpu3, size: 3MB, after: [d] }}\n  - transfer: {{ id: d, from: gpu1, to: gpu3, size: 4MB }}\norder: {order}\n"
    ))
}

/// Place, message and remedy of what is wrong with an order.
#[track_caller]
fn refused(order: &str, place: (u32, u32), message: &str, help: &str) {
    let (line, column, said, remedy) = first_bad(with_order(order));
    assert!(said.contains(message), "message: {said}");
    assert!(remedy.contains(help), "remedy: {remedy} ({said})");
    assert_eq!((line, column), place, "{said}");
}

/// Ids by source.
fn sent(scenario: &Scenario) -> Vec<(String, Vec<String>)> {
    let names = |tasks: &[TaskId]| tasks.iter().map(|&task| scenario.order_name(task).into_owned()).collect();
    let sources = scenario.sources();
    sources.iter().map(|s| (scenario.node_name(s.device).to_owned(), names(&s.tasks))).collect()
}

fn lists(expected: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    let all = expected.iter().map(|(name, ids)| ((*name).to_owned(), ids.iter().map(|&id| id.to_owned()).collect()));
    all.collect()
}

#[test]
fn sources_come_in_the_order_of_their_first_transfers() {
    let scenario = good(&with_order("{}"));
    assert_eq!(sent(&scenario), lists(&[("gpu0", &["a", "b", "c"]), ("gpu1", &["d"])]));
    assert!(scenario.sources().iter().all(|source| source.slots == 1));
}

#[test]
fn an_order_replaces_that_of_the_file() {
    let scenario = good(&with_order("{ plx0/gpu0: [b, c, a] }"));
    assert_eq!(sent(&scenario), lists(&[("gpu0", &["b", "c", "a"]), ("gpu1", &["d"])]));
    // Of the graph nothing else changes.
    let plain = good(&with_order("{}"));
    let work = |scenario: &Scenario| scenario.tasks.tasks().iter().map(|task| task.work).collect::<Vec<Work>>();
    assert_eq!(work(&scenario), work(&plain));
    let set = LoadOptions { set: vec![("order.gpu0".into(), "[c, b, a]".into())], ..LoadOptions::default() };
    let scenario =
        load(Input::text(with_order("{ gpu0: [b, c, a] }"), "-", None), &set, &crate::common::registry()).unwrap();
    assert_eq!(sent(&scenario)[0].1, ["c", "b", "a"]);
}

#[test]
fn ids_of_patterns_and_repetitions() {
    let text = on_t2(
        "workload:\n  - pattern: { kind: halo, id: h, grid: [4, 2], size: 1MB }\n  - transfer: { id: r, from: gpu0, to: gpu1, size: 1B, repeat: 2 }\norder:\n  gpu0: [r#1, h.0-4, r#2, h.0-1]\n  gpu7: [h.7-3, h.7-6]\n",
    );
    let scenario = good(&text);
    let sources = sent(&scenario);
    assert_eq!(sources[0], ("gpu0".into(), ["r#1", "h.0-4", "r#2", "h.0-1"].map(String::from).to_vec()));
    assert_eq!(sources[7].1, ["h.7-3", "h.7-6"]);
    assert_eq!(sources[1].1, ["h.1-0", "h.1-2", "h.1-5"]);
}

#[test]
fn refuses_what_is_no_order() {
    refused("[a]", (10, 8), "`order` must be a map, not a list", "order: { gpu0: [a, b] }");
    refused("{ gpu9: [a] }", (10, 10), "`order`: no node is named `gpu9`", "did you mean `gpu0`?");
    refused("{ plx0: [a] }", (10, 10), "`plx0` is a switch", "name a device");
    refused("{ gpu2: [] }", (10, 10), "`gpu2` sends no transfer", "remove");
    refused("{ gpu0: a }", (10, 16), "the order of `gpu0` must be a list", "[…]");
    refused("{ gpu0: [a, [b], c] }", (10, 20), "must be one value, not a list", "single");
    refused(
        "{ gpu0: [a, b, x] }",
        (10, 23),
        "no transfer has the id `x`",
        "did you mean `a`? (known transfers of `gpu0`",
    );
    refused(
        "{ gpu0: [a, b, d] }",
        (10, 23),
        "`d` is sent by `gpu1`, not by `gpu0`",
        "known transfers of `gpu0`: a, b, c",
    );
    refused("{ gpu0: [a, b] }", (10, 16), "the order of `gpu0` lacks `c`", "each transfer of the source once");
    refused("{ gpu0: [] }", (10, 16), "lacks `a`, `b`, `c`", "each transfer of the source once");
    refused("{ gpu0: [a, b, c, a] }", (10, 26), "`a` is listed twice", "keep one");
    refused("{ gpu0: [a, b, c], rc/gpu0: [a, b, c] }", (10, 27), "`rc/gpu0` has an order already", "keep one");
    let found = bad(with_order("{ gpu0: [a, b, c, a] }")).remove(0);
    assert_eq!((found.notes[0].1.line, found.notes[0].1.column), (10, 17));
    // Each source is looked at.
    assert_eq!(bad(with_order("{ gpu0: [a], gpu1: [a] }")).len(), 2);
}

#[test]
fn refuses_what_is_no_transfer() {
    let text = |order: &str| {
        on_t2(&format!(
            "workload:\n  - barrier: {{ id: b }}\n  - compute: {{ id: k, device: gpu0, time: 1s }}\n  - pattern: {{ kind: scatter, size: 1B }}\norder: {{ gpu0: [{order}] }}\n"
        ))
    };
    let said = |order: &str| {
        let (line, column, said, _) = first_bad(text(order));
        assert_eq!((line, column), (9, 17), "{said}");
        said
    };
    assert_eq!(said("b"), "`b` is no transfer that `gpu0` sends");
    assert_eq!(said("k"), "`k` is no transfer that `gpu0` sends");
    assert_eq!(said("scatter"), "`scatter` is not one transfer");
}

#[test]
fn a_source_without_limit_has_no_order() {
    let text = "weir: 1\ntopology:\n  link_types: { l: { bandwidth: 1GB/s } }\n  tree: { s: { kind: switch, children: { a: { kind: host, link: l }, b: { kind: gpu, link: l, engines: 2 } } } }\nworkload:\n  - transfer: { id: x, from: a, to: b, size: 1B }\n  - transfer: { id: y, from: b, to: a, size: 1B }\norder: { a: [x] }\n";
    let (line, column, said, help) = first_bad(text);
    assert_eq!((line, column), (8, 10));
    assert!(said.contains("`a` sends everything at once: there is no order"), "{said}");
    assert!(help.contains("engines: 1"), "{help}");
    let (_, _, said, _) = first_bad(text.replace("a: [x]", "b: [x]"));
    assert_eq!(said, "`x` is not sent by `b`");
    let scenario = good(&text.replace("a: [x]", "b: [y]"));
    assert_eq!(sent(&scenario), lists(&[("b", &["y"])]));
    assert_eq!(scenario.sources()[0].slots, 2);
}

#[test]
fn an_order_may_not_contradict_the_waits() {
    let text = |after: &str, order: &str| {
        on_t2(&format!(
            "workload:\n  - transfer: {{ id: a, from: gpu0, to: gpu1, size: 1B }}\n  - transfer: {{ id: b, from: gpu0, to: gpu1, size: 1B, after: [{after}] }}\n  - transfer: {{ id: x, from: gpu2, to: gpu1, size: 1B, after: [a] }}\n  - transfer: {{ id: y, from: gpu2, to: gpu1, size: 1B }}\norder: {order}\n"
        ))
    };
    good(&text("a", "{ gpu0: [a, b] }"));
    let (line, column, said, help) = first_bad(text("a", "{ gpu0: [b, a] }"));
    assert_eq!((line, column, said.as_str()), (10, 17, "`order` contradicts `after`: `b` before `a` before `b`"));
    assert!(help.contains("after those that it waits for"), "{help}");
    // By way of another source, and of two orders.
    let (_, _, said, _) = first_bad(text("x", "{ gpu0: [b, a] }"));
    assert_eq!(said, "`order` contradicts `after`: `b` before `a` before `x` before `b`");
    good(&text("y", "{ gpu0: [b, a] }"));
    let (_, _, said, _) = first_bad(text("y", "{ gpu0: [b, a], gpu2: [x, y] }"));
    assert_eq!(said, "`order` contradicts `after`: `b` before `a` before `x` before `y` before `b`");
}

#[test]
fn operations_of_models_are_listed_by_their_names() {
    let text = |order: &str| {
        format!(
            "{MACHINES}workload:\n  - transfer: {{ id: m, from: g0, to: g1, size: 1MB, model: {{ name: courier }} }}\n  - transfer: {{ id: p, from: g0, to: g1, size: 1MB }}\n  - transfer: {{ id: n, from: g0, to: g1, size: 1MB, repeat: 2, model: {{ name: courier }} }}\norder: {{ g0: [{order}] }}\n"
        )
    };
    let load = |order: &str| load(Input::text(text(order), "-", None), &LoadOptions::default(), &registry());
    let scenario = load("n#1, p, n#2, m").unwrap_or_else(|found| panic!("{}", found[0]));
    assert_eq!(sent(&scenario), lists(&[("g0", &["n#1", "p", "n#2", "m"])]));
    let said = |order: &str| load(order).map(|s| s.name).unwrap_err().remove(0).message;
    assert_eq!(said("n, p, m"), "`n` is not one transfer");
    assert_eq!(said("m/carry, p, n#1, n#2"), "`m/carry` is a task of `m`; name the whole");
    assert_eq!(said("n#2, p, n#1, m"), "`order` contradicts `after`: `n#2` before `p` before `n#1` before `n#2`");
    assert_eq!(said("p, n#1, n#2"), "the order of `g0` lacks `m`");
}

#[test]
fn ranks_and_what_goes_between_them() {
    let traffic = |workload: &str| {
        let scenario = good(&on_t2(&format!("workload:\n{workload}")));
        (scenario.rank_traffic(), scenario.ranks.as_ref().map(Vec::len))
    };
    let (all, ranks) = traffic(
        "  - pattern: { kind: halo, grid: [2, 2], weights: [1, 3], size: 2MB }\n  - transfer: { from: { rank: 3 }, to: { rank: 0 }, size: 5MB, repeat: 2 }\n  - barrier: {}\n",
    );
    let mb = |from, to, mb: u64| (from, to, mb * 1_000_000);
    let halo = [mb(0, 1, 2), mb(0, 2, 6), mb(1, 0, 2), mb(1, 3, 6), mb(2, 3, 2), mb(2, 0, 6), mb(3, 2, 2), mb(3, 1, 6)];
    assert_eq!(all.messages, [&halo[..], &[mb(3, 0, 5), mb(3, 0, 5)]].concat());
    assert_eq!((all.unit, all.fixed, ranks), (Some(2_000_000), None, Some(8)));

    let (none, ranks) = traffic("  - transfer: { from: gpu0, to: gpu1, size: 5MB }\n");
    assert_eq!((none.messages.len(), none.unit, ranks), (0, None, None));
    assert_eq!(none.fixed.unwrap().line, 6);
    let ring = "  - pattern: { kind: ring, size: 7B }\n";
    for fixed in [
        "  - transfer: { from: { rank: 0 }, to: gpu1, size: 5B }\n",
        "  - pattern: { kind: ring, id: other, size: 1B, ranks: \"gpu[0-1]\" }\n",
    ] {
        let (RankTraffic { messages, unit, fixed, .. }, _) = traffic(&format!("{ring}{fixed}"));
        assert_eq!((messages.len(), unit, fixed.unwrap().line), (8, Some(7), 7));
    }
    let scenario = good(&on_t2("ranks: [gpu3, gpu1]\nworkload: [{ barrier: {} }]\n"));
    assert_eq!(scenario.ranks.as_ref().unwrap()[0], scenario.node("gpu3").unwrap());
}

#[test]
fn long_orders_are_read_quickly() {
    let count = 20_000;
    let ids: Vec<String> = (1..=count).map(|i| format!("p:{i}")).collect();
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..count).map(|_| "gpu0,gpu1,5\n").collect();
    crate::common::write(folder.path(), &[("p.csv", &format!("from,to,bytes\n{rows}"))]);
    let reversed: Vec<&str> = ids.iter().rev().map(String::as_str).collect();
    let text =
        on_t2(&format!("workload: [{{ trace: {{ file: p.csv }} }}]\norder: {{ gpu0: [{}] }}\n", reversed.join(", ")));
    let scenario =
        load(Input::text(text, "-", Some(folder.path())), &LoadOptions::default(), &crate::common::registry()).unwrap();
    assert_eq!(sent(&scenario)[0].1, reversed);
    // Thousands of wrong ids cost no search each.
    let wrong: String = (0..count).map(|i| format!("q{i}, ")).collect();
    assert!(read(with_order(&format!("{{ gpu0: [{wrong}] }}"))).is_err());
}

/// When everything has ended, in picoseconds, under the scenario's first arbiter.
fn makespan(scenario: &Scenario, registry: &weir_plugin_api::Registry) -> u64 {
    let Scenario { fabric, routes, tasks, arbiters, .. } = scenario;
    let entry = registry.get(&arbiters[0].name).unwrap();
    let params = serde_json::to_string(&arbiters[0].params).unwrap();
    let mut arbiter = (entry.make)(&fabric.view(), &params).unwrap();
    for task in tasks.tasks() {
        if let Work::Carries { class, .. } = task.work {
            arbiter.admit(routes.links(tasks.classes().route(class))).unwrap();
        }
    }
    let simulation = Simulation { fabric, routes, tasks };
    simulation.run(&mut *arbiter, entry.flags, RunOptions::default()).unwrap().makespan.0
}

/// The 2-D halo of the library in file order, given the order of the file in which the transfers of the same names stand
/// in the fastest order, takes as long as that one; written to a file and read again, too.
#[test]
fn a_saved_order_runs_as_the_file_it_came_from() {
    let mut registry = weir_plugin_api::Registry::new();
    weir_arbiters::register(&mut registry).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/pcie");
    let options = LoadOptions::default();
    let file = |name: &str| load(&folder.join(name), &options, &registry).unwrap();
    let (slow, fast) = (file("halo-2d-file-order.yaml"), file("halo-2d-fastest.yaml"));
    assert!(makespan(&slow, &registry) > makespan(&fast, &registry));
    let text = rewrite(&folder.join("halo-2d-file-order.yaml"), &options, &[Change::Order(sent(&fast))]).unwrap();
    let written = load(Input::text(text, "-", Some(&folder)), &options, &registry).unwrap();
    assert_eq!(sent(&written), sent(&fast));
    assert_eq!(makespan(&written, &registry), makespan(&fast, &registry));
}
