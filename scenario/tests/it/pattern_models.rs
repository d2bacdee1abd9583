//! Patterns whose messages go by a model: the same as the transfers written out one by one.

use crate::common::models::{good as good_model, refused};
use crate::common::on_t2;
use weir_plugin_api::Registry;
use weir_scenario::{Input, LoadOptions, RankTraffic, Scenario, load};
use weir_sim_core::{Outcome, RunOptions, Simulation, TaskId, Work};

const LOGGP: &str = "{ name: loggp, latency: 1us, overhead: 5us, gap: 3us, over: fabric }";

/// One pattern of each kind, some with two messages between the same ranks.
const PATTERNS: [&str; 10] = [
    "kind: halo, grid: [4, 2], size: 40kB",
    "kind: halo, grid: [2, 2, 2], axis_order: [2, 0, 1], weights: [1, 3, 2], size: 64KiB, start: 7us",
    "kind: torus, grid: [2, 3], wrap2: twice, size: 100kB",
    "kind: hypercube, dimensions: 3, size: 1MB",
    "kind: ring, size: 254kB",
    "kind: all-to-all, size: 3kB",
    "kind: scatter, root: 2, size: 1B",
    "kind: gather, ranks: [gpu3, gpu1, gpu7], size: 80kB",
    "kind: graph, edges: [[0, 1, 2], [2, 1], [1, 0, 1]], unit: 10kB",
    "kind: random, count: 60, seed: 7, size: [1kB, 1MB], within: 200us",
];

fn good(text: &str) -> Scenario {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).unwrap();
    weir_models::register(&mut registry).unwrap();
    let read = load(Input::text(text, "-", None), &LoadOptions::default(), &registry);
    read.unwrap_or_else(|found| panic!("{}", found.iter().map(|d| format!("{d}\n")).collect::<String>()))
}

fn run(scenario: &Scenario) -> Outcome {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).unwrap();
    let entry = registry.get("pcie-congestion").unwrap();
    let Scenario { fabric, routes, tasks, .. } = scenario;
    let mut arbiter = (entry.make)(&fabric.view(), "{}").unwrap();
    Simulation { fabric, routes, tasks }.run(&mut *arbiter, entry.flags, RunOptions::default()).unwrap()
}

fn names(scenario: &Scenario) -> Vec<String> {
    (0..scenario.tasks.tasks().len() as u32).map(|i| scenario.task_name(TaskId(i)).into_owned()).collect()
}

/// The transfers of a pattern without a model, written out with one, between ranks where `ranks` are the scenario's.
fn written_out(pattern: &str, after: &str) -> String {
    let plain = good(&on_t2(&format!("workload:\n  - pattern: {{ id: p, {pattern} }}\n")));
    let mut text = String::new();
    for (i, task) in plain.tasks.tasks().iter().enumerate() {
        let Work::Carries { bytes, .. } = task.work else { panic!("a join without a wait") };
        let id = TaskId(i as u32);
        let name = plain.task_name(id).into_owned();
        let pair = name.strip_prefix("p.").unwrap().split('#').next().unwrap();
        let (from, to) = pair.split_once('-').unwrap();
        let ends = match pattern.contains("ranks") {
            true => {
                let (from, to) = plain.ends(id).unwrap();
                format!("from: {}, to: {}", plain.node_name(from), plain.node_name(to))
            }
            false => format!("from: {{ rank: {from} }}, to: {{ rank: {to} }}"),
        };
        let start = task.start.0;
        text.push_str(&format!(
            "  - transfer: {{ id: \"{name}\", {ends}, size: {bytes}B, start: {start}ps, {after}model: {LOGGP} }}\n"
        ));
    }
    text
}

#[test]
fn a_pattern_with_a_model_is_its_transfers_written_out() {
    for pattern in PATTERNS {
        let first = "workload:\n  - transfer: { id: w, from: gpu0, to: gpu5, size: 9kB }\n";
        let after = "after: [w, v], ";
        let last = "  - transfer: { id: v, from: gpu6, to: gpu5, size: 1kB }\n";
        let pattern_of = format!("  - pattern: {{ id: p, {pattern}, {after}model: {LOGGP} }}\n");
        let made = good(&on_t2(&format!("{first}{pattern_of}{last}")));
        let written = good(&on_t2(&format!("{first}{}{last}", written_out(pattern, after))));
        assert_eq!(format!("{:?}", made.tasks), format!("{:?}", written.tasks), "{pattern}");
        assert_eq!(names(&made), names(&written), "{pattern}");
        assert_eq!(made.operations, written.operations, "{pattern}");
        assert!(made.operations.len() > 1 && made.operations.iter().all(|o| &*o.kind == "transfer"), "{pattern}");
        let (of_made, of_written) = (run(&made), run(&written));
        assert_eq!(of_made.makespan, of_written.makespan, "{pattern}");
        let (RankTraffic { messages, .. }, other) = (made.rank_traffic(), written.rank_traffic());
        assert_eq!(messages, other.messages, "{pattern}");
        assert_eq!(made.generator.is_some(), pattern.contains("random"));
    }
}

#[test]
fn every_name_leads_back_to_its_task() {
    for pattern in PATTERNS {
        let scenario = good(&on_t2(&format!("workload:\n  - pattern: {{ id: p, {pattern}, model: {LOGGP} }}\n")));
        for (i, name) in names(&scenario).iter().enumerate() {
            // A name without a task means the whole.
            let task = Some(TaskId(i as u32)).filter(|_| name.contains('/'));
            assert_eq!(scenario.task(name), task, "{name}");
            assert_eq!(scenario.item(TaskId(i as u32)), Some(0), "{name}");
        }
    }
}

#[test]
fn others_wait_for_the_pattern_a_message_or_a_task() {
    let pattern =
        format!("  - pattern: {{ kind: graph, id: p, edges: [[0, 1], [0, 1]], unit: 1MB, model: {LOGGP} }}\n");
    let end = |after: &str| {
        let wait = format!("  - compute: {{ id: c, device: gpu7, time: 1s, after: \"{after}\" }}\n");
        run(&good(&on_t2(&format!("workload:\n{pattern}{wait}")))).makespan.0 - 1_000_000_000_000
    };
    // 1 MB at 11.6 GB/s, 86 206 896.55 ps rounded up; o before, L + o after; the second leaves g or o after the first.
    let (o, l, bytes) = (5_000_000, 1_000_000, 86_206_897);
    let first = o + bytes + l + o;
    assert_eq!(end("p.0-1"), first);
    assert_eq!(end("p.0-1/send"), o + bytes);
    // Its o overlaps the message before; g does not.
    assert_eq!(end("p.0-1#2"), first + bytes + 3_000_000);
    assert_eq!(end("p"), end("p.0-1#2").max(end("p.1-0#2")));
}

#[test]
fn an_order_names_messages() {
    let text = |order: &str| {
        let pattern = format!("  - pattern: {{ kind: halo, id: h, grid: [4, 2], size: 40kB, model: {LOGGP} }}\n");
        on_t2(&format!("workload:\n{pattern}order: {{ gpu1: [{order}] }}\n"))
    };
    let (file, other) = (good(&text("h.1-0, h.1-2, h.1-5")), good(&text("h.1-5, h.1-0, h.1-2")));
    assert_ne!(run(&file).makespan, run(&other).makespan);
    let source = &other.sources()[1];
    let named: Vec<_> = source.tasks.iter().map(|&task| other.order_name(task).into_owned()).collect();
    assert_eq!(named, ["h.1-5", "h.1-0", "h.1-2"]);
}

#[test]
fn models_are_refused_as_those_of_transfers() {
    let wrong = |model: &str, place: u32, message: &str, help: &str| {
        let text = on_t2(&format!("workload:\n  - pattern: {{ kind: ring, size: 1kB, model: {model} }}\n"));
        refused(&text, (6, place), message, help, false);
    };
    wrong("courir", 46, "no model is named `courir`", "did you mean `courier`?");
    wrong("echo", 46, "model `echo` does not serve transfers", "known models of transfers: courier");
    wrong("{ latency: 1us }", 46, "`model` of a transfer needs the key `name`", "write `model: { name: loggp, … }`");
    wrong("{ name: courier, latncy: 1us }", 63, "model `courier` has no parameter `latncy`", "did you mean `latency`?");
    wrong("{ name: courier, latency: 1 }", 72, "`latency` of model `courier`: `1` has no unit", "2.5ms");
    let text = on_t2("workload:\n  - pattern: { kind: ring, size: 1kB, modle: courier }\n");
    refused(&text, (6, 39), "unknown key `modle`", "did you mean `model`?", false);
}

#[test]
fn what_one_message_cannot_do_is_said_of_it() {
    let on = |pattern: &str| on_t2(&format!("workload:\n  - pattern: {{ {pattern}, model: courier }}\n"));
    let twice = on("kind: ring, size: 1kB, ranks: [gpu0, gpu0]");
    refused(&twice, (6, 14), "from rank 0 to rank 1: source and destination", "two different nodes", false);
    let far = "weir: 1\ntopology: { tree: { a: &g { kind: gpu }, b: *g } }\nworkload:\n  - pattern: { kind: ring, id: r, size: 1kB, model: courier }\n";
    refused(far, (4, 32), "transfer `r.0-1`: its task `carry` carries bytes, but `b` cannot", "`links`", false);
    // Refused before anything is planned.
    let many = on("kind: random, count: 10000001, seed: 1, size: 1kB");
    refused(&many, (6, 14), "more than 10000000 transfers", "fewer", false);
}

#[test]
fn ids_of_messages_are_taken() {
    let text =
        on_t2("workload:\n  - pattern: { kind: ring, id: r, size: 1kB, model: courier }\n  - barrier: { id: r.0-1 }\n");
    refused(&text, (7, 20), "the id `r.0-1` is given twice: `r` makes one of this name", "another id", false);
    let task = text.replace("id: r.0-1 }", "id: r.0-1/carry }");
    refused(&task, (7, 20), "the id `r.0-1/carry` is given twice", "another id", false);
}

#[test]
fn a_cycle_names_the_message() {
    let text = on_t2(
        "workload:\n  - pattern: { kind: ring, id: r, size: 1kB, after: b, model: courier }\n  - barrier: { id: b, after: r.2-3 }\n",
    );
    refused(&text, (6, 32), "a cycle in `after`: `r.2-3` before `b` before `r.2-3`", "remove one", false);
}

#[test]
fn a_pattern_of_nothing_has_no_operation() {
    let scenario = good_model(&on_t2(
        "workload:\n  - pattern: { kind: halo, id: h, grid: [1], ranks: [gpu0], size: 1kB, model: courier }\n  - barrier: { id: b, after: h }\n",
    ));
    assert!(scenario.operations.is_empty());
    assert_eq!(names(&scenario), ["b"]);
}
