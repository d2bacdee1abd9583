//! A run of operations that models planned. The outcome is written by hand, so that every number has one source.
//!
//! ```text
//! x: h0, h1 copied in, d0 copied out, on gpu0/copy      h0 1–4 s, h1 4.5–7.5 s, d0 9.5–11.5 s
//! b: a barrier
//! y: k0 on gpu0/copy, then m0 over the fabric           k0 20–21 s, m0 21–31 s, after k0 and the release
//! t: a plain transfer gpu1 → gpu0
//! ```
#![allow(dead_code, reason = "each test file uses a part")]

use serde_json::{Map, Value};
use weir_plugin_api::{
    Binding, CallError, Cause, Estimate, Grant, LinkId, PhaseView, Queue, RateArbiter, Relation, SimDuration, SimTime,
};
use weir_report::{Alone, ArbiterInfo, Detail, Run, results_schema, write_run};
use weir_scenario::{Choice, PlannedOperation, Scenario};
use weir_sim_core::{
    Bottleneck, EngineId, LinkTotals, Outcome, Service, ServiceId, Stop, Task, TaskGraphBuilder, TaskId, TaskTimes,
    Work,
};

pub const SECOND: u64 = 1_000_000_000_000;
/// Names and nodes; the tasks are written below. The first and the sixth are the releases of x and y.
const TEXT: &str = "
weir: 1
name: operations
topology:
  link_types: { x: { bandwidth: 100B/s } }
  tree: { rc: { kind: root-complex, children: { gpu0: { kind: gpu, link: x }, gpu1: { kind: gpu, link: x } } } }
workload:
  - barrier: { id: rx }
  - barrier: { id: x/h0 }
  - barrier: { id: x/h1 }
  - barrier: { id: x/d0 }
  - barrier: { id: b }
  - barrier: { id: ry }
  - barrier: { id: y/k0 }
  - barrier: { id: y/m0 }
  - barrier: { id: t }
";
/// The task x/d0.
pub const D0: usize = 3;

/// Nobody is asked about more than lone transfers.
struct Lone;

impl RateArbiter for Lone {
    fn allocate(&mut self, _: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        grant.rates[0] = 100.0;
        Ok(())
    }
}

pub fn estimate(formula: &str, seconds: f64, relation: Relation) -> Estimate {
    Estimate { formula: formula.to_owned(), seconds, relation, because: String::new() }
}

pub fn seconds(seconds: f64) -> SimDuration {
    SimDuration((seconds * SECOND as f64) as u64)
}

fn world() -> Scenario {
    let mut world = crate::common::loaded("o.yaml", TEXT);
    let [gpu0, gpu1] = ["gpu0", "gpu1"].map(|name| world.node(name).expect("a GPU"));
    let mut tasks = TaskGraphBuilder::new();
    let mut class = |from, to| {
        let route = world.routes.between(&world.fabric, from, to).expect("a route");
        tasks.classes().intern(route, f64::INFINITY, 1.0, 0)
    };
    let (out, back) = (class(gpu0, gpu1), class(gpu1, gpu0));
    let copy = tasks.engine(gpu0, "copy", 1).expect("one number of slots");
    let mut paced = |class, lead: f64, gap: f64| {
        tasks.service(Service { queue: Queue::Ready, class, lead: seconds(lead), gap: seconds(gap) })
    };
    let (copy_in, copy_out) = (paced(0, 1.0, 0.5), paced(1, 2.0, 0.5));
    let (none, plain) = (EngineId::NONE, ServiceId::PLAIN);
    let join = Work::Nothing { counted: false };
    let lasts = |time| Work::Lasts(seconds(time));
    for (engine, service, work) in [
        (none, plain, join),
        (copy, copy_in, lasts(3.0)),
        (copy, copy_in, lasts(3.0)),
        (copy, copy_out, lasts(2.0)),
        (none, plain, Work::Nothing { counted: true }),
        (none, plain, join),
        (copy, plain, lasts(1.0)),
        (none, plain, Work::Carries { bytes: 1000, class: out }),
        (none, plain, Work::Carries { bytes: 1000, class: back }),
    ] {
        tasks.task(Task { start: SimTime::ZERO, engine, service, work });
    }
    for (task, earlier) in [(1, 0), (2, 0), (3, 1), (6, 5), (7, 5), (7, 6)] {
        tasks.wait(TaskId(task), TaskId(earlier));
    }
    world.tasks = tasks.build().expect("no cycle");
    let ways = vec![("none".into(), seconds(12.0)), ("512KiB".into(), seconds(11.5))];
    let x = PlannedOperation {
        id: "x".into(),
        kind: "offload".into(),
        model: "copies".into(),
        version: "1.2.3".into(),
        sha256: None,
        release: TaskId(0),
        tasks: 1..4,
        estimates: vec![estimate("eq1", 5.0, Relation::Unstated), estimate("category", 11.5, Relation::Equal)],
        details: Map::new(),
        choice: None,
    };
    let y = PlannedOperation {
        id: "y".into(),
        kind: "put".into(),
        sha256: Some("ff".into()),
        release: TaskId(5),
        tasks: 6..8,
        estimates: Vec::new(),
        choice: Some(Choice {
            key: "packet".into(),
            under_load: false,
            alternatives: ways,
            chosen: 1,
            not_tried: Vec::new(),
        }),
        ..x.clone()
    };
    world.operations = vec![x, y];
    world
}

pub fn at(seconds: f64) -> SimTime {
    SimTime((seconds * SECOND as f64) as u64)
}

pub fn times(ready: f64, start: f64, end: f64) -> TaskTimes {
    TaskTimes { ready: at(ready), start: at(start), sent: at(end), end: at(end) }
}

fn outcome(world: &Scenario) -> Outcome {
    let free = Bottleneck {
        binding: Binding::new(LinkId(0), Cause::FullRate, u32::MAX),
        time: seconds(10.0),
        blocked: SimDuration::ZERO,
    };
    Outcome {
        stop: Stop::Finished,
        now: at(31.0),
        makespan: at(31.0),
        events: 10,
        fingerprint: 1,
        tasks: vec![
            times(0.0, 0.0, 0.0),
            times(0.0, 1.0, 4.0),
            times(0.0, 4.5, 7.5),
            times(4.0, 9.5, 11.5),
            times(0.0, 0.0, 0.0),
            times(20.0, 20.0, 20.0),
            times(20.0, 20.0, 21.0),
            times(21.0, 21.0, 31.0),
            times(0.0, 0.0, 10.0),
        ],
        sent_bytes: vec![1000; 9],
        bottlenecks: vec![free; 9],
        queued_behind: vec![TaskId::NONE; 9],
        held: Vec::new(),
        links: vec![LinkTotals::default(); world.fabric.links().len()],
        phases: None,
        arbitrations: 1,
        remarks: Vec::new(),
        incremental: false,
        link_changes: Vec::new(),
        link_steps: Vec::new(),
        reroutes: Vec::new(),
        packets: None,
    }
}

/// Reports a run of the world after `change`.
pub fn reported<T>(change: impl FnOnce(&mut Scenario, &mut Outcome), report: impl FnOnce(&Run<'_>) -> T) -> T {
    let mut world = world();
    let mut outcome = outcome(&world);
    change(&mut world, &mut outcome);
    let empty = Map::new();
    report(&Run {
        scenario: &world,
        arbiter: ArbiterInfo {
            name: "lone",
            version: "1.0",
            sha256: None,
            params: &empty,
            legend: &[],
            regions: None,
            packets: None,
        },
        outcome: &outcome,
        alone: &Alone::new(&world.fabric, &world.tasks, &world.routes, Box::new(Lone)),
        spread: None,
    })
}

pub fn result(change: impl FnOnce(&mut Scenario, &mut Outcome)) -> Value {
    let line = reported(change, |run| {
        let mut out = Vec::new();
        write_run(run, Detail::default(), &mut out).expect("writes to memory");
        String::from_utf8(out).expect("is UTF-8")
    });
    let value: Value = serde_json::from_str(&line).expect("is JSON");
    let validator = jsonschema::validator_for(&results_schema()).expect("the schema is one");
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| format!("{e} at {}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}");
    value
}

/// x ends 1 s later than its formula says.
pub fn late(outcome: &mut Outcome) {
    outcome.tasks[D0] = times(4.0, 10.5, 12.5);
}
