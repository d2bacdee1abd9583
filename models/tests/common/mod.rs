//! A small host: operations as JSON, plans as task graphs, and a slow twin that evaluates plans of fixed times.
#![allow(dead_code)] // each test binary uses a part of it

pub mod offload;
pub mod twin;

use std::cell::RefCell;
use std::sync::Arc;

use serde_json::{Value, json};
use weir_plugin_api::{
    Alternative, CallError, Estimate, Estimates, LinkKind, Model, NodeId, NodeKind, PS_PER_S, Plan, PlannedWork, Queue,
    Registry, Relation, RouteInfo, RouteLookup, SharedLinks, SimDuration, SimTime, Surroundings,
};
use weir_sim_core::{
    Division, Engine, EngineId, Fabric, FabricBuilder, LinkSpec, Outcome, RegionPolicy, Routes, RunOptions, Service,
    Simulation, Task, TaskGraph, TaskGraphBuilder, TaskId, Work, region_arbiter,
};

/// A fabric and its routes.
pub struct World {
    pub fabric: Fabric,
    routes: RefCell<Routes>,
}

impl World {
    pub fn new(fabric: Fabric) -> Self {
        Self { fabric, routes: RefCell::new(Routes::new()) }
    }

    /// Two machines on a network, all links alike. Nodes: 0 the network; 1 and 5 the root complexes; 2, 3, 4 and 6,
    /// 7, 8 a cpu, a gpu and an fpga below them.
    pub fn small(bandwidth: f64, latency_ps: u64) -> Self {
        let link = LinkSpec { up: bandwidth, down: bandwidth, latency: SimDuration(latency_ps), kind: LinkKind::PCIE };
        let mut fabric = FabricBuilder::new();
        let network = fabric.root(NodeKind::Network).unwrap();
        for _ in 0..2 {
            let board = fabric.child(network, NodeKind::RootComplex, link).unwrap();
            for kind in [NodeKind::Cpu, NodeKind::Gpu, NodeKind::Fpga] {
                fabric.child(board, kind, link).unwrap();
            }
        }
        Self::new(fabric.build())
    }
}

impl World {
    /// n GPUs, nodes 1 to n, below one switch, all links alike.
    pub fn star(n: u32, bandwidth: f64, latency_ps: u64) -> Self {
        let link =
            LinkSpec { up: bandwidth, down: bandwidth, latency: SimDuration(latency_ps), kind: LinkKind::NVLINK };
        let mut fabric = FabricBuilder::new();
        let switch = fabric.root(NodeKind::Switch).unwrap();
        for _ in 0..n {
            fabric.child(switch, NodeKind::Gpu, link).unwrap();
        }
        Self::new(fabric.build())
    }
}

/// Nodes of [`World::small`].
pub const BOARD_A: u32 = 1;
pub const CPU_A: u32 = 2;
pub const GPU_A: u32 = 3;
pub const FPGA_A: u32 = 4;
pub const CPU_B: u32 = 6;
pub const GPU_B: u32 = 7;

impl RouteLookup for World {
    fn route(&self, from: NodeId, to: NodeId) -> Option<RouteInfo> {
        let count = self.fabric.nodes().len() as u32;
        if from.0 >= count || to.0 >= count {
            return None;
        }
        let mut routes = self.routes.borrow_mut();
        let route = routes.between(&self.fabric, from, to)?;
        let links = routes.links(route);
        let bandwidth = links.iter().map(|&l| self.fabric.link(l).bandwidth).fold(f64::INFINITY, f64::min);
        Some(RouteInfo { bandwidth, latency_ps: routes.latency(route).0 as f64, links: links.len() as u32 })
    }

    fn shared(&self, number: usize) -> Option<SharedLinks<'_>> {
        let shared = self.fabric.shared().get(number)?;
        Some(SharedLinks { bandwidth: shared.bandwidth, links: &shared.links, node: shared.node })
    }
}

/// The model that serves a key, fresh.
pub fn model(key: &str) -> Box<dyn Model> {
    let mut registry = Registry::new();
    weir_models::register(&mut registry).expect("an empty registry takes all");
    let serves = registry.models().find(|model| model.operations.iter().any(|served| served == key));
    (serves.unwrap_or_else(|| panic!("no model serves {key}")).make)().expect("a model")
}

/// An operation as the host writes it.
pub fn operation(key: &str, params: &Value) -> String {
    json!({ "operation": key, "id": "x", "params": params }).to_string()
}

fn ask<T>(world: &World, f: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    let view = world.fabric.view();
    f(&Surroundings { fabric: &view, routes: world })
}

pub fn try_plan_text(world: &World, key: &str, operation: &str) -> Result<Plan, CallError> {
    let mut plan = Plan::new();
    ask(world, |surroundings| model(key).plan(operation, surroundings, &mut plan)).map(|()| plan)
}

pub fn try_plan(world: &World, key: &str, params: &Value) -> Result<Plan, CallError> {
    try_plan_text(world, key, &operation(key, params))
}

pub fn plan(world: &World, key: &str, params: &Value) -> Plan {
    try_plan(world, key, params).unwrap_or_else(|error| panic!("{error}: {params}"))
}

pub fn try_estimates(world: &World, key: &str, params: &Value) -> Result<Estimates, CallError> {
    let mut estimates = Estimates::default();
    let operation = operation(key, params);
    ask(world, |surroundings| model(key).estimate(&operation, surroundings, &mut estimates)).map(|()| estimates)
}

pub fn estimates(world: &World, key: &str, params: &Value) -> Estimates {
    try_estimates(world, key, params).unwrap_or_else(|error| panic!("{error}: {params}"))
}

/// The estimate of the operation itself.
pub fn last(world: &World, key: &str, params: &Value) -> Estimate {
    estimates(world, key, params).list.pop().expect("an estimate")
}

pub fn details(world: &World, key: &str, params: &Value) -> Value {
    serde_json::from_str(&estimates(world, key, params).details).expect("details are JSON")
}

pub fn try_alternatives(world: &World, key: &str, params: &Value) -> Result<Vec<Alternative>, CallError> {
    let (mut out, operation) = (Vec::new(), operation(key, params));
    ask(world, |surroundings| model(key).alternatives(&operation, surroundings, &mut out)).map(|()| out)
}

/// The refusal's text, whether planning or estimating.
pub fn refusal(world: &World, key: &str, params: &Value) -> String {
    let planned = try_plan(world, key, params).expect_err("a refusal");
    let estimated = try_estimates(world, key, params).expect_err("a refusal");
    assert_eq!(planned, estimated);
    match planned {
        CallError::Refused(text) => text,
        other => panic!("{other}"),
    }
}

/// Nearest ps, halves up.
pub fn whole(ps: f64) -> u64 {
    assert!(ps.is_finite() && ps >= 0.0, "{ps} ps in a plan");
    (ps + 0.5).floor() as u64
}

/// A plan as a task graph: a release that issues all, then the tasks in order.
pub fn graph(world: &World, plan: &Plan) -> TaskGraph {
    let mut builder = TaskGraphBuilder::new();
    let nothing = Work::Nothing { counted: false };
    let plain = weir_sim_core::ServiceId::PLAIN;
    let release = builder.task(Task { start: SimTime::ZERO, engine: EngineId::NONE, service: plain, work: nothing });
    let engines: Vec<EngineId> = plan
        .engines()
        .iter()
        .map(|e| builder.own_engine(Engine { scope: e.scope, name: e.name.as_str().into(), slots: e.slots }))
        .collect();
    for task in plan.iter() {
        let (lead, gap) = (SimDuration(whole(task.lead_ps)), SimDuration(whole(task.gap_ps)));
        let service = builder.service(Service { queue: task.queue, class: task.class, lead, gap });
        let engine = task.engine.map_or(EngineId::NONE, |e| engines[e as usize]);
        let work = work(world, &mut builder, task.work);
        let id = builder.task(Task { start: SimTime::ZERO, engine, service, work });
        builder.wait(id, release);
        if task.queue == Queue::Issued && engine != EngineId::NONE {
            builder.issue(id, release);
        }
        for wait in task.waits {
            let earlier = TaskId(wait.task + 1);
            match wait.moment {
                weir_plugin_api::Moment::End => builder.wait(id, earlier),
                weir_plugin_api::Moment::Start => builder.wait_start(id, earlier),
            }
        }
    }
    builder.build().expect("no cycle of waits")
}

fn work(world: &World, builder: &mut TaskGraphBuilder, work: PlannedWork) -> Work {
    match work {
        PlannedWork::Nothing => Work::Nothing { counted: false },
        PlannedWork::Lasts(ps) => Work::Lasts(SimDuration(whole(ps))),
        PlannedWork::Carries { from, to, bytes, limit } => {
            let route = world.routes.borrow_mut().between(&world.fabric, from, to).expect("a route");
            Work::Carries { bytes, class: builder.classes().intern(route, limit, 1.0, 0) }
        }
    }
}

/// Runs a plan alone under an arbiter.
pub fn run(world: &World, plan: &Plan, arbiter: &str) -> Outcome {
    let graph = graph(world, plan);
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).unwrap();
    let entry = registry.get(arbiter).expect("the arbiter");
    let (view, shares) = (world.fabric.view(), !world.fabric.shared().is_empty());
    // What links share is the business of the composition of regions.
    let division = Arc::new(Division::of(&world.fabric, &vec![0; world.fabric.links().len()]));
    let (name, make) = (arbiter.into(), entry.make.clone());
    let policy = [RegionPolicy { name, make, flags: entry.flags, params: "{}".into() }];
    let flags = if shares { RegionPolicy::flags_of_all(&policy, &division) } else { entry.flags };
    let made = if shares { region_arbiter(&view, division, &policy) } else { (entry.make)(&view, "{}") };
    let routes = world.routes.borrow();
    let simulation = Simulation { fabric: &world.fabric, routes: &routes, tasks: &graph };
    simulation.run(&mut *made.unwrap(), flags, RunOptions::default()).expect("the run ends")
}

/// The simulated time of a plan that runs alone, ps.
pub fn simulated(world: &World, plan: &Plan) -> u64 {
    run(world, plan, "max-min").makespan.0
}

/// The same by the engine and, where all times are fixed, by the twin, which must agree on every task.
pub fn time(world: &World, plan: &Plan) -> u64 {
    let outcome = run(world, plan, "max-min");
    if plan.iter().any(|task| matches!(task.work, PlannedWork::Carries { .. })) {
        return outcome.makespan.0;
    }
    let twin = twin::evaluate(plan);
    for (i, (at, task)) in twin.iter().zip(plan.iter()).enumerate() {
        let times = &outcome.tasks[i + 1];
        assert_eq!((times.start.0, times.end.0), (at.start, at.end), "{} by the engine and by the twin", task.name);
    }
    twin.iter().map(|at| at.end).max().unwrap_or(0)
}

/// The simulated time of an operation, ps.
pub fn time_of(world: &World, key: &str, params: &Value) -> u64 {
    time(world, &plan(world, key, params))
}

/// 1e-9 relative or 1 ps per instant at which a task starts or ends, whichever is larger.
pub fn tolerance(seconds: f64, outcome: &Outcome) -> f64 {
    let mut instants: Vec<SimTime> = outcome.tasks.iter().flat_map(|times| [times.start, times.end]).collect();
    instants.sort_unstable();
    instants.dedup();
    (seconds * PS_PER_S as f64 * 1e-9).max(instants.len() as f64)
}

/// Asserts what the last estimate claims of the simulated time; returns both in ps.
pub fn holds(world: &World, key: &str, params: &Value) -> (u64, f64, Relation) {
    let (plan, estimate) = (plan(world, key, params), last(world, key, params));
    let (simulated, formula) = (time(world, &plan), estimate.seconds * PS_PER_S as f64);
    let (over, allowed) = (simulated as f64 - formula, tolerance(estimate.seconds, &run(world, &plan, "max-min")));
    let said =
        format!("{:?} {}: {simulated} ps simulated, {formula} by {}", estimate.relation, params, estimate.formula);
    assert_eq!(estimate.because.is_empty(), estimate.relation == Relation::Equal, "{said}: {}", estimate.because);
    match estimate.relation {
        Relation::Equal => assert!(over.abs() <= allowed, "{said}"),
        Relation::AtMost => assert!(over <= allowed, "{said}"),
        Relation::AtLeast => assert!(-over <= allowed, "{said}"),
        Relation::Unstated => {}
    }
    (simulated, formula, estimate.relation)
}

/// The same, and that the relation is equality.
pub fn equal(world: &World, key: &str, params: &Value) {
    let (_, _, relation) = holds(world, key, params);
    assert_eq!(relation, Relation::Equal, "{params}");
}

/// Files as they arrive: texts, or contents as objects, with names.
pub fn named(contents: Value) -> Value {
    let Value::Array(contents) = contents else { panic!("a list of files") };
    let named = contents.into_iter().enumerate().map(|(i, content)| {
        let mut file = match content {
            Value::String(text) => json!({ "text": text }),
            other => other,
        };
        file["name"] = format!("file{i}").into();
        file
    });
    named.collect()
}
