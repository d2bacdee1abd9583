//! Plans of models: what becomes of them, which are refused and how, and how a choice left open is decided.

use crate::common::models::{MACHINES, bad, good, one, refused, with_refusing};
use weir_plugin_api::{CallError, EngineScope, Queue, SimDuration};
use weir_scenario::{Choice, Scenario};
use weir_sim_core::{EngineId, TaskId, Work};

/// A script on line 6; its id stands at column 21.
fn script(plan: &str) -> String {
    one(&format!("script: {{ id: o, plan: {plan} }}"))
}

/// The place of the id of [`script`].
const AT: (u32, u32) = (6, 19);

#[test]
fn plans_become_tasks() {
    let scenario = good(&format!("{MACHINES}workload:\n  - script: {{ id: p, plan: pipeline, from: g0 }}\n"));
    let (graph, tasks) = (&scenario.tasks, scenario.tasks.tasks());
    // 10.4 ps are 10 whole ones, 10.5 are 11; a lead of 1.5 is 2, a gap of 2.4 is 2.
    let lasts = |ps| Work::Lasts(SimDuration(ps));
    assert_eq!([tasks[1].work, tasks[2].work, tasks[3].work], [lasts(10), lasts(11), Work::Nothing { counted: false }]);
    let copy = graph.service(TaskId(1));
    assert_eq!((copy.queue, copy.class), (Queue::Issued, 7));
    assert_eq!((copy.lead, copy.gap), (SimDuration(2), SimDuration(2)));
    assert_eq!(tasks[1].service, tasks[2].service);
    assert_eq!(graph.service(TaskId(3)).queue, Queue::Ready);
    let engine = |task: usize| &graph.engines()[tasks[task].engine.0 as usize];
    assert_eq!((&*engine(1).name, engine(1).slots), ("copy", 1));
    assert_eq!(engine(1).scope, EngineScope::Device(scenario.node("g0").unwrap()));
    assert_eq!((&*engine(3).name, engine(3).slots, engine(3).scope), ("own", 2, EngineScope::Operation));
    assert_eq!(tasks[0].engine, EngineId::NONE);
    // Tasks without waits wait for the release, which also issues; `k` waits for an end and for a start.
    assert_eq!(graph.successors(TaskId(0)), [TaskId(1), TaskId(2)]);
    assert_eq!(graph.issued_at(TaskId(0)), [TaskId(1), TaskId(2)]);
    assert_eq!((graph.successors(TaskId(1)), graph.start_successors(TaskId(2))), (&[TaskId(3)][..], &[TaskId(3)][..]));
    assert_eq!(graph.waits(TaskId(3)), 2);
}

#[test]
fn operations_share_the_engines_of_a_device() {
    let item = |id: &str| format!("  - script: {{ id: {id}, plan: pipeline, from: g0 }}\n");
    let scenario = good(&format!("{MACHINES}workload:\n{}{}", item("p"), item("q")));
    let engines: Vec<EngineId> = scenario.tasks.tasks().iter().map(|task| task.engine).collect();
    assert_eq!(engines[1], engines[5], "`copy` of g0");
    assert_ne!(engines[3], engines[7], "`own` of each operation");
    let text = format!(
        "{MACHINES}workload:\n  - compute: {{ device: g0, time: 1us }}\n  - script: {{ id: o, plan: compute-2, from: g0 }}\n"
    );
    let message = "script `o`: engine of `g0`: the engine `compute` has 1 slots, not 2";
    refused(&text, (7, 19), message, "same number of slots", false);
}

#[test]
fn bytes_are_carried_and_none_take_no_time() {
    let scenario = good(&one("script: { plan: limited, from: g0, to: c2 }"));
    let Work::Carries { bytes, class } = scenario.tasks.tasks()[1].work else { panic!("carries") };
    assert_eq!((bytes, scenario.tasks.classes().limit(class)), (7, 5e8));
    // g0 – m0 – n0 – n1 – m1 – c2.
    assert_eq!(scenario.routes.links(scenario.tasks.classes().route(class)).len(), 5);
    let nowhere = good(&one("script: { plan: nothing, from: g0, to: away }"));
    assert_eq!(nowhere.tasks.tasks()[1].work, Work::Lasts(SimDuration::ZERO));
    assert_eq!(nowhere.routes.len(), 0);
}

#[test]
fn what_is_too_much_may_be_the_scenarios_fault() {
    let much =
        |plan: &str, said: &str, help: &str| refused(&script(plan), AT, &format!("script `o`: {said}"), help, false);
    much("beyond", "the time of its task `a` is above 100 days", "check sizes, times and times per byte");
    much("bytes, from: g0, to: g1", "its task `a` carries 9007199254740993 bytes", "at most 2^53 bytes");
}

#[test]
fn wrong_plans_are_refused() {
    let wrong = |plan: &str, said: &str| {
        let message = format!("script `o`: model `script` planned {said}");
        refused(&script(plan), AT, &message, "report it to its author", true);
    };
    wrong("empty", "no task");
    wrong("unnamed", "a task without a name, number 0");
    wrong("slash", "a task named `a/b`: names of tasks have at most 256 bytes and no `/`");
    wrong("twice", "two tasks named `a`");
    wrong(&"n".repeat(257), "a task named `nnn");
    wrong("nan", "task `a` with a time of NaN ps: it must be finite, at least 0, at most 100 days");
    wrong("negative", "task `a` with a time of -1 ps");
    wrong("lead", "task `a` with a lead of inf ps");
    wrong("wait", "task `a` to wait for task 1 of 1");
    wrong("cycle", "tasks that wait for each other: `b` before `c` before `b`");
    wrong("queue", "tasks that wait for each other: `first` before `second` before `first`");
    wrong("engine", "task `a` on engine 3 of 0");
    wrong("no-slot", "an engine `copy` with 0 slots");
    wrong("slots, from: g0", "an engine `copy` of 1 slots and of 2");
    wrong("own-twice, from: g0", "two engines `copy` of its own");
    wrong("no-node", "an engine `copy` of node 99, which does not exist");
    wrong("limit, from: g0, to: g1", "task `a` with a limit of NaN B/s");
    // The same device may be named twice alike.
    assert!(crate::common::models::read(script("no-such-script, from: g0")).is_ok());
}

#[test]
fn bytes_that_cannot_go_are_the_scenarios_fault() {
    let wrong = |ends: &str, message: &str, help: &str| {
        let message = format!("script `o`: its task `a` carries bytes{message}");
        // A device outside is warned of, which comes after the error.
        refused(&script(&format!("carry, {ends}")), AT, &message, help, false);
    };
    wrong("from: g0, to: away", " from or to `away`, a device without links", "add `away` to the topology");
    wrong("from: g0, to: s0", " from or to `s0`, which only forwards", "name a device");
    wrong("from: m0, to: g0", " from or to `m0`, which only forwards", "name a device");
    wrong("from: g0, to: g0", " from `g0` to itself", "two different devices");
    let help = "give times instead of the fabric, or join their trees by an item of `links`; only switches, root \
                complexes, networks and NICs forward";
    wrong("from: g0, to: lone", ", but `lone` cannot be reached from `g0`", help);
}

#[test]
fn refusals_of_a_model_point_at_their_key() {
    let text = one("script: { id: o, plan: refused, deep: { list: [2, 3] } }");
    refused(&text, (6, 55), "`deep.list.1` of script `o`: it is odd", "give even numbers", false);
    let text = one("script: { id: o, plan: refused, deep: {} }");
    refused(&text, (6, 43), "`deep.list.1` of script `o`: it is odd", "give even numbers", false);
    refused(&script("refused-absent"), (6, 13), "`from.x` of script `o`: missing", "give it", false);
    // `note` is no key of this operation: all of the text is the reason.
    refused(&script("refused-plain"), AT, "script `o`: note: not today", "change the operation", false);
}

#[test]
fn failures_of_a_model_are_its_own() {
    refused(&script("failed"), AT, "model `script` failed at script `o`: out of luck", "report it", true);
    // A model that panicked is not called again: one message, however many operations it has.
    let items = "  - script: { id: o, plan: panicked }\n".to_owned() + "  - script: { id: p, plan: one }\n";
    let found = bad(&format!("{MACHINES}workload:\n{items}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].plugin && found[0].message.contains("the plugin panicked: at the disco"), "{}", found[0]);
    for (plan, said) in [
        ("estimate-nan", "estimated NaN s by `eq1`"),
        ("estimate-negative", "estimated -1 s by `eq1`"),
        ("estimate-unnamed", "gave an estimate without the name of its formula"),
        ("details", "gave details that are not a JSON object"),
    ] {
        refused(&script(plan), AT, &format!("script `o`: model `script` {said}"), "report it to its author", true);
    }
}

#[test]
fn routes_are_known_to_models() {
    // g0 – m0 – n0 – n1 – m1 – g2: the narrowest link has 1 GB/s, only the one between the machines a latency, 3 ns.
    let info = "Some(RouteInfo { bandwidth: 1000000000.0, latency_ps: 3000.0, links: 5 })";
    refused(&script("route, from: g0, to: g2"), AT, info, "change", false);
    for ends in ["from: g0, to: g0", "from: g0, to: lone", "from: g0, to: away"] {
        refused(&script(&format!("route, {ends}")), AT, "script `o`: None None", "change", false);
    }
    // Asking leaves nothing behind.
    let found = good(&script("one"));
    assert!(found.routes.is_empty());
}

fn choice(scenario: &Scenario) -> &Choice {
    scenario.operations[0].choice.as_ref().expect("a choice")
}

#[test]
fn the_fastest_alternative_is_taken() {
    let scenario = good(&one("choose: { pick: auto, times: [5ns, 3ns, 4ns] }"));
    let found = choice(&scenario);
    assert_eq!((&*found.key, found.chosen), ("pick", 1));
    let times: Vec<_> = found.alternatives.iter().map(|(label, time)| (&**label, time.0)).collect();
    assert_eq!(times, [("5000 ps", 5000), ("3000 ps", 3000), ("4000 ps", 4000)]);
    assert_eq!(scenario.tasks.tasks()[1].work, Work::Lasts(SimDuration(3000)));
    // The estimate is that of the alternative taken.
    assert_eq!(scenario.operations[0].details["pick"], "3000");
    let decided = good(&one("choose: { pick: \"7\" }"));
    assert_eq!(decided.operations[0].choice, None);
}

#[test]
fn of_equal_alternatives_the_first_is_taken() {
    let scenario = good(&one("choose: { pick: auto, times: [4ns, 3ns, 3ns, 3ns] }"));
    assert_eq!(choice(&scenario).chosen, 1);
    // What rounding may make, and a bit more.
    for (first, last, chosen) in
        [("3000ps", "2900ps", 0), ("3000ps", "2899ps", 1), ("10s", "9999999us", 0), ("10s", "9999998999999ps", 1)]
    {
        let scenario = good(&one(&format!("choose: {{ pick: auto, times: [{first}, {last}] }}")));
        assert_eq!(choice(&scenario).chosen, chosen, "{last}");
    }
}

#[test]
fn alternatives_run_alone_under_the_first_arbiter() {
    // The arbiter of these tests gives 1 B/s: 2 B take 2 s, and 3 ns of latency come after. Neither `start` nor what
    // else the scenario does counts.
    let text = format!(
        "{MACHINES}arbiter: [{{ name: pcie-congestion, tau: 0.1 }}, max-min]\nworkload:\n  - transfer: {{ id: a, from: g0, to: g2, size: 5B }}\n  - choose: {{ pick: auto, times: [2ns, 1ns], from: g0, to: g2, carries: 2B, start: 9ns, after: a }}\n"
    );
    let scenario = good(&text);
    let alone: Vec<u64> = choice(&scenario).alternatives.iter().map(|(_, time)| time.0).collect();
    assert_eq!(alone, [2_000_000_000_000 + 3000 + 2000, 2_000_000_000_000 + 3000 + 1000]);
    // A trial leaves no tasks, engines or routes behind: the transfer, the release, two planned tasks.
    assert_eq!((scenario.tasks.tasks().len(), scenario.routes.len()), (4, 1));
}

#[test]
fn alternatives_need_an_arbiter_that_works() {
    let with = |error: fn() -> CallError| {
        let registry = with_refusing("broken", "{}", error);
        let text = format!("{MACHINES}arbiter: broken\nworkload:\n  - choose: {{ id: o, pick: auto, times: [5ns] }}\n");
        let options = weir_scenario::LoadOptions::default();
        weir_scenario::load(weir_scenario::Input::text(text, "-", None), &options, &registry)
            .map(|s| s.name)
            .unwrap_err()
            .remove(0)
    };
    let found = with(|| CallError::Refused("no trees".to_owned()));
    assert!(found.message.contains("choose `o` cannot be tried under arbiter `broken`: no trees"), "{found}");
    assert!(!found.plugin);
    assert!(with(|| CallError::Failed("broken".to_owned())).plugin);
}

#[test]
fn a_long_plan_is_read_in_linear_time() {
    // 10^5 packets in three steps each; the scan of all names for every name that this is meant to catch takes minutes.
    let mut registry = weir_plugin_api::Registry::new();
    weir_arbiters::register(&mut registry).unwrap();
    weir_models::register(&mut registry).unwrap();
    let level = "{ affine: { latency: 1us, per_byte: 1ps } }";
    let text = format!(
        "weir: 1\nworkload:\n  - put: {{ id: p, from: a, to: b, size: 100kB, packet: 1B, overlap: [[read], [network], [write]], read: {level}, network: {level}, write: {level} }}\n"
    );
    let options = weir_scenario::LoadOptions::default();
    let scenario = weir_scenario::load(weir_scenario::Input::text(text, "-", None), &options, &registry).unwrap();
    let tasks = scenario.operations[0].tasks.clone();
    assert_eq!(tasks.len(), 300_000);
    let last = scenario.task_name(TaskId(tasks.end - 1)).into_owned();
    assert_eq!(scenario.task(&last), Some(TaskId(tasks.end - 1)));
}
