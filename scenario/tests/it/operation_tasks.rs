//! Tasks of operations of models: how they are named and waited for, transfers by a model, and what `check` finds.

use crate::common::models::{MACHINES, good, one, refused};
use serde_json::{Value as Json, json};
use weir_plugin_api::{NodeId, SimTime};
use weir_scenario::{Scenario, TaskKind, lint};
use weir_sim_core::{TaskId, Work};

fn node(scenario: &Scenario, name: &str) -> u32 {
    scenario.node(name).unwrap_or_else(|| panic!("{name}")).0
}

/// Names of the tasks that wait for the end of a task.
fn waiters(scenario: &Scenario, task: TaskId) -> Vec<String> {
    scenario.tasks.successors(task).iter().map(|&t| scenario.task_name(t).into_owned()).collect()
}

#[test]
fn tasks_have_names_and_are_waited_for() {
    let scenario = good(&format!(
        "{MACHINES}workload:\n  - barrier: {{ id: b, after: p }}\n  - script: {{ id: p, plan: pipeline, from: g0 }}\n  - compute: {{ id: c, device: g0, time: 1us, after: [p/h1] }}\n  - script: {{ id: q/x, plan: one, after: [p, c] }}\n  - barrier: {{ id: d, after: q/x/one }}\n"
    ));
    let names: Vec<_> = (0..8).map(|t| scenario.task_name(TaskId(t)).into_owned()).collect();
    assert_eq!(names, ["b", "p", "p/h0", "p/h1", "p/k", "c", "q/x", "q/x/one"]);
    assert_eq!(scenario.task("p/k"), Some(TaskId(4)));
    assert_eq!(scenario.task("q/x/one"), Some(TaskId(7)));
    assert_eq!((scenario.task("p"), scenario.task("p/z"), scenario.task("q/x")), (None, None, None));
    let kinds: Vec<_> = (1..5).map(|t| scenario.task_kind(TaskId(t))).collect();
    assert_eq!(kinds, [TaskKind::Join, TaskKind::Planned, TaskKind::Planned, TaskKind::Planned]);
    assert_eq!(scenario.position(TaskId(3)).unwrap().line, 7);
    // `after: p` waits for all of its tasks through one join; `after: p/h1` for that one.
    assert_eq!(waiters(&scenario, TaskId(1)), ["p/h0", "p/h1"]);
    assert_eq!(waiters(&scenario, TaskId(2)), ["p/k", "(join)"]);
    assert_eq!(waiters(&scenario, TaskId(3)), ["c", "(join)"]);
    assert_eq!(waiters(&scenario, TaskId(4)), ["(join)"]);
    assert_eq!(waiters(&scenario, TaskId(9)), ["b", "q/x"]);
    assert_eq!(waiters(&scenario, TaskId(6)), ["q/x/one"]);
    assert_eq!(waiters(&scenario, TaskId(7)), ["d"]);
}

#[test]
fn clashes_and_cycles_of_names() {
    let two = |first: &str, second: &str| format!("{MACHINES}workload:\n  - {first}\n  - {second}\n");
    let text = two("script: { id: p, plan: one }", "barrier: { id: p/one }");
    refused(&text, (7, 20), "the id `p/one` is given twice: `p` makes one of this name", "another id", false);
    refused(&two("echo: { id: p }", "echo: { id: p }"), (7, 17), "the id `p` is given twice", "its own id", false);
    let text = two("script: { id: p, plan: pipeline, from: g0, after: q }", "barrier: { id: q, after: p }");
    refused(&text, (6, 19), "a cycle in `after`: `p` before `q` before `p`", "remove", false);
    refused(
        &one("script: { id: p, plan: one, after: p/one }"),
        (6, 19),
        "a cycle in `after`: `p` before `p`",
        "remove",
        false,
    );
    refused(
        &one("script: { id: p, plan: one, after: p/two }"),
        (6, 40),
        "`after` names `p/two`",
        "known ids: p",
        false,
    );
}

#[test]
fn transfers_by_a_model() {
    let scenario = good(&one(
        "transfer: { id: a, from: g0, to: { rank: 2 }, size: 3kB, limit: 8Gb/s, weight: 2, priority: 4, start: 1us, model: { name: courier, latency: 5ns } }",
    ));
    let operation = &scenario.operations[0];
    assert_eq!((&*operation.kind, &*operation.model, &*operation.id), ("transfer", "courier", "a"));
    let (from, to) = (node(&scenario, "g0"), node(&scenario, "g2"));
    assert_eq!(
        Json::Object(operation.details.clone()),
        json!({ "operation": "transfer", "id": "a",
            "transfer": { "from": from, "to": to, "bytes": 3000, "limit": 1e9, "slots": 1 },
            "params": { "latency": 5000 } })
    );
    let Work::Carries { bytes, class } = scenario.tasks.tasks()[1].work else { panic!("carries") };
    let classes = scenario.tasks.classes().table();
    let c = class.index();
    assert_eq!((bytes, classes.limit[c], classes.weight[c], classes.priority[c]), (3000, 1e9, 2.0, 4));
    assert_eq!(scenario.ends(TaskId(1)), Some((NodeId(from), NodeId(to))));
    assert_eq!(scenario.tasks.tasks()[0].start, SimTime(1_000_000));
    // A cpu sends any number at once; a name alone needs no map.
    let scenario = good(&one("transfer: { from: c0, to: g0, size: 1B, model: courier }"));
    let details = &scenario.operations[0].details;
    assert_eq!((&details["transfer"]["slots"], &details["transfer"]["limit"]), (&Json::Null, &Json::Null));
    assert_eq!(details["params"], json!({}));
}

#[test]
fn repeated_transfers_by_a_model() {
    let scenario = good(&format!(
        "{MACHINES}workload:\n  - transfer: {{ id: a, from: g0, to: g1, size: 1B, repeat: 3, model: courier }}\n  - barrier: {{ id: b, after: a }}\n  - barrier: {{ id: c, after: a#2 }}\n  - barrier: {{ id: d, after: a#1/carry }}\n"
    ));
    let names: Vec<_> = (0..9).map(|t| scenario.task_name(TaskId(t)).into_owned()).collect();
    assert_eq!(
        names,
        ["a#1", "a#1/carry", "a#1/arrive", "a#2", "a#2/carry", "a#2/arrive", "a#3", "a#3/carry", "a#3/arrive"]
    );
    let operations: Vec<_> = scenario.operations.iter().map(|o| (&*o.id, o.release, o.tasks.clone())).collect();
    assert_eq!(operations, [("a#1", TaskId(0), 1..3), ("a#2", TaskId(3), 4..6), ("a#3", TaskId(6), 7..9)]);
    assert_eq!(waiters(&scenario, TaskId(2)), ["a#1/arrive", "a#2"][1..].to_vec());
    assert_eq!(waiters(&scenario, TaskId(1)), ["a#1/arrive", "a#2", "d"]);
    // All of the second repetition, and all of the last one, through a join each.
    assert_eq!(waiters(&scenario, TaskId(5)), ["a#3", "(join)"]);
    assert_eq!(waiters(&scenario, TaskId(8)), ["(join)"]);
    let joined: Vec<_> = (12..14).map(|join| waiters(&scenario, TaskId(join))).collect();
    assert_eq!(joined, [["b"], ["c"]]);
    assert_eq!((scenario.task("a#2"), scenario.task("a#3/arrive")), (None, Some(TaskId(8))));
    let clash = format!(
        "{MACHINES}workload:\n  - transfer: {{ id: a, from: g0, to: g1, size: 1B, repeat: 3, model: courier }}\n  - barrier: {{ id: a#2 }}\n"
    );
    refused(&clash, (7, 20), "the id `a#2` is given twice", "another id", false);
    let many = "transfer: { from: g0, to: g1, size: 1B, repeat: 5000001, model: courier }";
    refused(&one(many), (6, 15), "more than 10000000 transfers and tasks of models", "fewer", false);
}

#[test]
fn wrong_models_of_transfers() {
    let wrong = |model: &str, column: u32, message: &str, help: &str| {
        let text = one(&format!("transfer: {{ from: g0, to: g1, size: 1B, model: {model} }}"));
        refused(&text, (6, column), message, help, false);
    };
    wrong("courir", 52, "no model is named `courir`", "did you mean `courier`?");
    wrong("echo", 52, "model `echo` does not serve transfers", "known models of transfers: courier");
    wrong("{ latency: 1us }", 52, "needs the key `name`", "name: loggp");
    wrong("{ name: courier, latncy: 1us }", 69, "model `courier` has no parameter `latncy`", "did you mean `latency`?");
    wrong("{ name: courier, latency: 1 }", 78, "`latency` of model `courier`: `1` has no unit", "2.5ms");
    refused(
        &one("transfer: { from: g0, to: g0, size: 1B, model: courier }"),
        (6, 31),
        "the same node",
        "two different",
        false,
    );
    refused(
        &one("transfer: { from: g0, to: away, size: 1B, model: courier }"),
        (6, 31),
        "no node is named `away`",
        "known nodes",
        false,
    );
    refused(
        &one("transfer: { from: s0, to: g0, size: 1B, model: courier }"),
        (6, 23),
        "`s0` is a switch",
        "gpu, fpga",
        false,
    );
}

#[test]
fn findings_about_what_is_shared() {
    let messages = |items: &str| {
        let scenario = good(&format!("{MACHINES}workload:\n{items}"));
        lint(&scenario).into_iter().map(|d| d.message).collect::<Vec<_>>()
    };
    let alone = "no two transfers share a link or an engine";
    let transfer = |from: &str, to: &str| format!("  - transfer: {{ from: {from}, to: {to}, size: 1B }}\n");
    let none: [&str; 0] = [];
    // Fixed times share nothing, and one operation's own transfers are no two to arbitrate.
    assert_eq!(messages("  - script: { plan: pipeline, from: g0 }\n  - script: { plan: pipeline, from: g1 }\n"), none);
    assert_eq!(messages("  - script: { plan: carry, from: g0, to: g1 }\n"), none);
    let apart = format!("{}{}", transfer("g0", "g1"), "  - script: { plan: carry, from: m1/x, to: g2 }\n");
    assert_eq!(messages(&apart), [alone]);
    // A model that holds the device's `send` engine for a fixed time shares it.
    let limit = "  - script: { plan: limited, from: g0, to: g1 }\n";
    assert_eq!(messages(&format!("{limit}{limit}")), none);
    let courier = "  - transfer: { from: g0, to: g1, size: 1B, model: courier }\n";
    assert_eq!(messages(&format!("{courier}{}", transfer("g0", "c0"))), none);
}

#[test]
fn engines_are_used_by_models_of_transfers() {
    let text = |item: &str| {
        format!(
            "weir: 1\ntopology:\n  tree: {{ s: {{ kind: switch, children: {{ a: {{ kind: gpu, link: {{ bandwidth: 1GB/s }}, engines: 2 }}, b: {{ kind: gpu, link: {{ bandwidth: 1GB/s }} }} }} }} }}\nworkload:\n  - {item}\n"
        )
    };
    let found = |item: &str| lint(&good(&text(item))).into_iter().map(|d| d.message).collect::<Vec<_>>();
    assert_eq!(found("transfer: { from: a, to: b, size: 1B, model: courier }"), [] as [&str; 0]);
    let idle = "`engines` has no effect: nothing queues for an engine of `a`";
    assert_eq!(found("script: { plan: carry, from: a, to: b }"), [idle]);
}
