//! What a plan must be before it becomes tasks. Nothing is repaired.

use std::hash::BuildHasher as _;

use rustc_hash::{FxBuildHasher, FxHashMap};
use weir_plugin_api::{EngineScope, HORIZON, NodeId, Plan, PlannedTask, PlannedWork};
use weir_sim_core::Routes;

use super::names::Outside;
use super::order;
use crate::brackets::NAME_BYTES;
use crate::topology::{Topology, is_inner};
use crate::units::BYTES_MOST;

/// What is wrong with a plan. The texts go on after "model `x` planned".
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub(super) enum PlanError {
    #[error("no task")]
    NoTask,
    #[error("a task without a name, number {0}")]
    NoName(usize),
    #[error("a task named `{0}`: names of tasks have at most {NAME_BYTES} bytes and no `/`")]
    Name(String),
    #[error("two tasks named `{0}`")]
    Twice(String),
    #[error("task `{task}` on engine {engine} of {engines}")]
    Engine { task: String, engine: u32, engines: usize },
    #[error("an engine without a name")]
    EngineName,
    #[error("an engine `{0}` with 0 slots")]
    NoSlot(String),
    #[error("an engine `{name}` of {before} slots and of {now}")]
    Slots { name: String, before: u32, now: u32 },
    #[error("two engines `{0}` of its own")]
    EngineTwice(String),
    #[error("an engine `{name}` of node {node}, which does not exist")]
    EngineNode { name: String, node: u32 },
    #[error("task `{task}` to wait for task {wait} of {tasks}")]
    Wait { task: String, wait: u32, tasks: usize },
    #[error("task `{task}` with a {what} of {value} ps: it must be finite, at least 0, at most 100 days")]
    Time { task: String, what: &'static str, value: f64 },
    #[error("task `{task}` to carry {bytes} bytes: at most 2^53 are allowed")]
    Bytes { task: String, bytes: u64 },
    #[error("task `{task}` with a limit of {limit} B/s: it must be above 0")]
    Limit { task: String, limit: f64 },
    #[error("task `{task}` to carry bytes between nodes {} and {}, which do not both exist", from.0, to.0)]
    Node { task: String, from: NodeId, to: NodeId },
    #[error("tasks that wait for each other: {}", cycle(.0))]
    Cycle(Vec<String>),
    #[error("task `{task}` to carry bytes over the links of a device without links")]
    Outside { task: String, node: NodeId },
    #[error("task `{task}` to carry bytes from or to a node that only forwards")]
    Forwards { task: String, node: NodeId },
    #[error("task `{task}` to carry bytes where there is no route")]
    NoRoute { task: String, from: NodeId, to: NodeId },
}

/// Tasks of a cycle that are named in its message.
const SHOWN: usize = 8;

fn cycle(names: &[String]) -> String {
    let listed: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let end = match names.len().saturating_sub(SHOWN) {
        0 => listed.first().cloned().unwrap_or_default(),
        more => format!("{more} more"),
    };
    format!("{} before {end}", listed.join(" before "))
}

/// Names of the tasks of a plan, in one text, with a table to find them in.
#[derive(Debug, Default)]
pub(crate) struct TaskNames {
    text: String,
    ends: Vec<u32>,
    /// Task by the hash of its name; on a collision the next free number.
    index: FxHashMap<u64, u32>,
}

impl TaskNames {
    /// Takes the names over, which must be distinct.
    fn of(plan: &Plan) -> Result<Self, PlanError> {
        let mut names = Self::default();
        names.ends.reserve(plan.len());
        names.index.reserve(plan.len());
        for (i, task) in plan.iter().enumerate() {
            if task.name.is_empty() {
                return Err(PlanError::NoName(i));
            }
            let long = names.text.len() + task.name.len() > u32::MAX as usize;
            if task.name.len() > NAME_BYTES || task.name.contains('/') || long {
                return Err(PlanError::Name(task.name.chars().take(NAME_BYTES).collect()));
            }
            let free = match names.row(task.name) {
                Ok(_) => return Err(PlanError::Twice(task.name.to_owned())),
                Err(free) => free,
            };
            names.index.insert(free, i as u32);
            names.text.push_str(task.name);
            names.ends.push(names.text.len() as u32);
        }
        Ok(names)
    }

    pub(crate) fn len(&self) -> u32 {
        self.ends.len() as u32
    }

    /// The name of task `i` of the plan.
    pub(crate) fn name(&self, i: u32) -> &str {
        let i = i as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.text[start..self.ends[i] as usize]
    }

    /// The task of a name.
    pub(crate) fn task(&self, name: &str) -> Option<u32> {
        self.row(name).ok()
    }

    /// Whether another plan names its tasks alike.
    pub(crate) fn same(&self, other: &Self) -> bool {
        (&self.text, &self.ends) == (&other.text, &other.ends)
    }

    /// The task of a name, or where in the table it would stand.
    fn row(&self, name: &str) -> Result<u32, u64> {
        let mut key = FxBuildHasher.hash_one(name);
        while let Some(&task) = self.index.get(&key) {
            if self.name(task) == name {
                return Ok(task);
            }
            key = key.wrapping_add(1);
        }
        Err(key)
    }
}

/// What plans refer to.
#[derive(Clone, Copy)]
pub(super) struct Devices<'a> {
    pub(super) topology: &'a Topology,
    pub(super) outside: &'a Outside,
}

impl Devices<'_> {
    fn nodes(&self) -> usize {
        self.topology.fabric.nodes().len()
    }

    /// Whether a node is one of the topology or outside.
    fn has(&self, node: NodeId) -> bool {
        node.index() < self.nodes() + self.outside.len()
    }
}

/// Checks a plan; routes that it uses are added to `routes`. Returns the names of its tasks.
pub(super) fn check(plan: &Plan, devices: Devices<'_>, routes: &mut Routes) -> Result<TaskNames, PlanError> {
    if plan.is_empty() {
        return Err(PlanError::NoTask);
    }
    let names = TaskNames::of(plan)?;
    let same = engines(plan, devices)?;
    for task in plan.iter() {
        self::task(plan, &task, devices, routes)?;
    }
    match order::cycle(plan, &same) {
        None => Ok(names),
        Some(cycle) => Err(PlanError::Cycle(cycle.into_iter().map(|i| names.name(i).to_owned()).collect())),
    }
}

/// Per engine the position of the first that is the same, also by the topology, with its slots.
fn engines(plan: &Plan, devices: Devices<'_>) -> Result<Vec<(u32, u32)>, PlanError> {
    let mut known: FxHashMap<(EngineScope, &str), u32> = FxHashMap::default();
    let mut merged: FxHashMap<(EngineScope, &str), u32> = FxHashMap::default();
    let mut same = Vec::with_capacity(plan.engines().len());
    for (i, engine) in plan.engines().iter().enumerate() {
        let name = || engine.name.clone();
        if engine.name.is_empty() {
            return Err(PlanError::EngineName);
        }
        if engine.slots == 0 {
            return Err(PlanError::NoSlot(name()));
        }
        if let EngineScope::Device(node) = engine.scope
            && !devices.has(node)
        {
            return Err(PlanError::EngineNode { name: name(), node: node.0 });
        }
        let first = *known.entry((engine.scope, &engine.name)).or_insert(i as u32);
        let before = plan.engines()[first as usize].slots;
        if first != i as u32 && engine.scope == EngineScope::Operation {
            return Err(PlanError::EngineTwice(name()));
        }
        if before != engine.slots {
            return Err(PlanError::Slots { name: name(), before, now: engine.slots });
        }
        same.push(match engine.scope {
            EngineScope::Operation => (first, engine.slots),
            EngineScope::Device(device) => {
                let engines = &devices.topology.engines;
                let key = (engine.scope, engines.name(device, &engine.name));
                (*merged.entry(key).or_insert(first), engines.slots(device, &engine.name, engine.slots))
            }
        });
    }
    Ok(same)
}

fn task(plan: &Plan, task: &PlannedTask<'_>, devices: Devices<'_>, routes: &mut Routes) -> Result<(), PlanError> {
    let name = || task.name.to_owned();
    if let Some(engine) = task.engine.filter(|&engine| engine as usize >= plan.engines().len()) {
        return Err(PlanError::Engine { task: name(), engine, engines: plan.engines().len() });
    }
    if let Some(wait) = task.waits.iter().find(|wait| wait.task as usize >= plan.len()) {
        return Err(PlanError::Wait { task: name(), wait: wait.task, tasks: plan.len() });
    }
    let lasts = if let PlannedWork::Lasts(ps) = task.work { ps } else { 0.0 };
    for (what, value) in [("lead", task.lead_ps), ("gap", task.gap_ps), ("time", lasts)] {
        if !(0.0..=HORIZON.0 as f64).contains(&value) {
            return Err(PlanError::Time { task: name(), what, value });
        }
    }
    match task.work {
        PlannedWork::Carries { from, to, bytes, limit } => carries(name, from, to, bytes, limit, devices, routes),
        _ => Ok(()),
    }
}

fn carries(
    task: impl Fn() -> String,
    from: NodeId,
    to: NodeId,
    bytes: u64,
    limit: f64,
    devices: Devices<'_>,
    routes: &mut Routes,
) -> Result<(), PlanError> {
    if bytes > BYTES_MOST {
        return Err(PlanError::Bytes { task: task(), bytes });
    }
    if limit.is_nan() || limit <= 0.0 {
        return Err(PlanError::Limit { task: task(), limit });
    }
    if !devices.has(from) || !devices.has(to) {
        return Err(PlanError::Node { task: task(), from, to });
    }
    if bytes == 0 {
        return Ok(());
    }
    for node in [from, to] {
        if node.index() >= devices.nodes() {
            return Err(PlanError::Outside { task: task(), node });
        }
        if is_inner(devices.topology.fabric.node(node).kind) {
            return Err(PlanError::Forwards { task: task(), node });
        }
    }
    let route = routes.between(&devices.topology.fabric, from, to);
    route.map(drop).ok_or_else(|| PlanError::NoRoute { task: task(), from, to })
}
