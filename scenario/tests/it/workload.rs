//! Transfers, ranks, waits, engines and names of the workload.

use crate::common::{first_bad, good, on_t2, transfers};
use weir_plugin_api::{ClassId, EngineScope, SimDuration, SimTime};
use weir_scenario::{Scenario, TaskKind};
use weir_sim_core::{EngineId, TaskId, Work};

/// Names of the tasks that wait for a task, joins shown by what waits for them.
fn waiters(scenario: &Scenario, name: &str) -> Vec<String> {
    let task = scenario.task(name).unwrap_or_else(|| panic!("{name}"));
    scenario.tasks.successors(task).iter().map(|&t| scenario.task_name(t).into_owned()).collect()
}

#[test]
fn attributes_of_a_transfer() {
    let scenario = good(&on_t2(
        "workload:\n  - transfer: { id: a, from: gpu0, to: gpu1, size: 4MiB, start: 1.5us, weight: 2.5, priority: -3, limit: 8Gb/s }\n",
    ));
    let task = scenario.tasks.tasks()[0];
    assert_eq!(task.start, SimTime(1_500_000));
    let Work::Carries { bytes, class } = task.work else { panic!() };
    assert_eq!((bytes, class), (4 << 20, ClassId(0)));
    let classes = scenario.tasks.classes().table();
    assert_eq!((classes.limit[0], classes.weight[0], classes.priority[0]), (1e9, 2.5, -3));
}

#[test]
fn repetitions_follow_each_other() {
    let scenario = good(&on_t2(
        "workload:\n  - transfer: { id: a, from: gpu0, to: gpu1, size: 1B, repeat: 3 }\n  - barrier: { id: b, after: a }\n  - transfer: { id: c, from: gpu2, to: gpu1, size: 1B, after: [a#2] }\n",
    ));
    assert_eq!(transfers(&scenario), ["a#1 gpu0->gpu1 1", "a#2 gpu0->gpu1 1", "a#3 gpu0->gpu1 1", "c gpu2->gpu1 1"]);
    assert_eq!(waiters(&scenario, "a#1"), ["a#2"]);
    assert_eq!(waiters(&scenario, "a#2"), ["a#3", "c"]);
    assert_eq!(waiters(&scenario, "a#3"), ["b"]);
    assert_eq!(scenario.tasks.tasks().len(), 5);
    assert_eq!(scenario.task("a"), None);
    assert_eq!(scenario.task("a#4"), None);
    assert_eq!(scenario.task("a#03"), None);
}

#[test]
fn groups_are_waited_for_through_one_join() {
    let scenario = good(&on_t2(
        "workload:\n  - pattern: { id: q, kind: all-to-all, size: 1B, after: [p, b] }\n  - pattern: { id: p, kind: all-to-all, size: 1B }\n  - barrier: { id: b, after: [] }\n  - barrier: { id: c, after: [p, q] }\n",
    ));
    // 56 + 56 transfers, two barriers, a join of p, one of q, and one that the 56 transfers of q wait for.
    assert_eq!(scenario.tasks.tasks().len(), 56 + 56 + 2 + 3);
    let edges: usize =
        (0..scenario.tasks.tasks().len() as u32).map(|t| scenario.tasks.successors(TaskId(t)).len()).sum();
    assert_eq!(edges, 56 + 1 + 1 + 56 + 56 + 1 + 1);
    let kinds = |kind| (0..117).filter(|&t| scenario.task_kind(TaskId(t)) == kind).count();
    assert_eq!((kinds(TaskKind::Transfer), kinds(TaskKind::Barrier), kinds(TaskKind::Join)), (112, 2, 3));
    assert!(scenario.tasks.tasks()[114..].iter().all(|t| t.work == Work::Nothing { counted: false }));
    assert_eq!(scenario.position(TaskId(114)), None);
}

#[test]
fn compute_and_barrier() {
    let scenario = good(&on_t2(
        "workload:\n  - compute: { id: k, device: gpu3, time: 2.5ms }\n  - compute: { id: l, device: gpu3, time: 1ps, after: k }\n  - barrier: { id: b, after: [k, l] }\n",
    ));
    let tasks = scenario.tasks.tasks();
    assert_eq!(tasks[0].work, Work::Lasts(SimDuration(2_500_000_000)));
    assert_eq!(tasks[2].work, Work::Nothing { counted: true });
    assert_eq!(tasks[0].engine, tasks[1].engine);
    let engine = &scenario.tasks.engines()[tasks[0].engine.0 as usize];
    let EngineScope::Device(device) = engine.scope else { panic!("not of a device") };
    assert_eq!((&*engine.name, engine.slots, scenario.node_name(device)), ("compute", 1, "gpu3"));
    assert_eq!(scenario.ends(TaskId(0)), None);
    assert_eq!(scenario.task_kind(TaskId(1)), TaskKind::Compute);
}

#[test]
fn engines_by_kind_and_by_attribute() {
    let link = "link: { bandwidth: 1GB/s }";
    let text = format!(
        "weir: 1\ntopology:\n  tree:\n    s:\n      kind: switch\n      children:\n        c: {{ kind: cpu, {link} }}\n        n: {{ kind: nic, {link} }}\n        g: {{ kind: gpu, {link}, engines: 2 }}\n        f: {{ kind: fpga, {link} }}\n        h: {{ kind: host, {link}, engines: 4 }}\nworkload:\n{}",
        ["c", "n", "g", "f", "h"]
            .map(|d| format!(
                "  - transfer: {{ id: {d}, from: {d}, to: {}, size: 1B }}\n",
                if d == "c" { "n" } else { "c" }
            ))
            .concat()
    );
    let scenario = good(&text);
    let slots: Vec<Option<u32>> = scenario
        .tasks
        .tasks()
        .iter()
        .map(|t| (t.engine != EngineId::NONE).then(|| scenario.tasks.engines()[t.engine.0 as usize].slots))
        .collect();
    assert_eq!(slots, [None, None, Some(2), Some(1), Some(4)]);
}

#[test]
fn ranks_of_the_scenario() {
    let scenario = good(&on_t2(
        "ranks: [gpu7, \"gpu[2-3]\"]\nworkload:\n  - transfer: { from: { rank: 0 }, to: { rank: 2 }, size: 1B }\n  - pattern: { kind: ring, size: 1B }\n",
    ));
    assert_eq!(
        transfers(&scenario),
        ["workload[0] gpu7->gpu3 1", "ring.0-1 gpu7->gpu2 1", "ring.1-2 gpu2->gpu3 1", "ring.2-0 gpu3->gpu7 1"]
    );
    let (line, column, message, help) =
        first_bad(on_t2("workload:\n  - transfer: { from: { rank: 8 }, to: gpu0, size: 1B }\n"));
    assert_eq!((line, column), (6, 23));
    assert!(message.contains("there is no rank 8") && help.contains("8 ranks"));
}

#[test]
fn ids_are_unique() {
    let refused = |workload: &str, place: (u32, u32), message: &str| {
        let (line, column, said, help) = first_bad(on_t2(&format!("workload:\n{workload}")));
        assert!(said.contains(message), "{said}");
        assert!(help.contains("id"), "{help}");
        assert_eq!((line, column), place, "{said}");
    };
    refused("  - barrier: { id: b }\n  - barrier: { id: b }\n", (7, 20), "`b` is given twice");
    refused(
        "  - pattern: { kind: ring, size: 1B }\n  - pattern: { kind: ring, size: 1B }\n",
        (7, 14),
        "`ring` is given twice",
    );
    refused(
        "  - pattern: { kind: ring, size: 1B }\n  - barrier: { id: ring.0-1 }\n",
        (7, 20),
        "`ring.0-1` is given twice: `ring` makes one",
    );
    refused(
        "  - transfer: { id: t, from: gpu0, to: gpu1, size: 1B, repeat: 2 }\n  - barrier: { id: t#2 }\n",
        (7, 20),
        "`t#2` is given twice: `t` makes one",
    );
    good(&on_t2(
        "workload:\n  - transfer: { id: t, from: gpu0, to: gpu1, size: 1B, repeat: 2 }\n  - barrier: { id: t#3 }\n",
    ));
}

#[test]
fn text_stays_text() {
    let scenario = good(&on_t2(
        "workload:\n  - barrier: { id: 007 }\n  - barrier: { id: no }\n  - barrier: { id: 1_000, after: [007, no] }\n  - barrier: { id: \"null\" }\n",
    ));
    let names: Vec<_> = (0..4).map(|t| scenario.task_name(TaskId(t)).into_owned()).collect();
    assert_eq!(names, ["007", "no", "1_000", "null"]);
}
