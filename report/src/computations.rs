//! Computations on one device that did not wait for each other, as processors of a program belong to its ranks.
//!
//! **Definition.** A program computes on the devices that its model lists under `computes_on`, from its release to its end.
//! Two programs, or a program and what the engine `compute` of a device served, are named where these times overlap there.

use std::collections::{BTreeMap, BTreeSet};

use weir_plugin_api::{EngineScope, NodeId, SimTime};
use weir_scenario::PlannedOperation;
use weir_sim_core::{EngineId, TaskId};

use crate::Run;
use crate::operations::owner_name;

/// The key of the details under which a model lists the nodes on which its own processors compute.
const COMPUTES_ON: &str = "computes_on";
/// The engine of a device that serves computations of the workload.
const COMPUTE: &str = "compute";
/// Pairs named in sentences, at most.
const NAMED: usize = 3;

/// What computes on a node, and when.
struct Computation {
    from: SimTime,
    until: SimTime,
    by: Who,
}

/// Who computes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    /// A program, by its number among the operations.
    Program(usize),
    /// A task on the engine of the device.
    Task(TaskId),
}

impl Run<'_> {
    /// Which computations ran beside each other on one device: a sentence for each of the first pairs, without a full stop.
    pub(crate) fn computation_sentences(&self) -> Vec<String> {
        let mut pairs: BTreeMap<(String, String), BTreeSet<NodeId>> = BTreeMap::new();
        for (node, mut all) in self.computations() {
            all.sort_by_key(|one| (one.from, one.by));
            for (a, b) in overlapping(&all) {
                // More than these are not told apart; the devices of those that are known are still collected.
                let pair = (self.computes(a), self.computes(b));
                if pair.0 != pair.1 && (pairs.len() <= NAMED || pairs.contains_key(&pair)) {
                    pairs.entry(pair).or_default().insert(node);
                }
            }
        }
        let more = (pairs.len() > NAMED).then(|| "more operations run so beside each other".to_owned());
        let sentence = |((a, b), nodes): (&(String, String), &BTreeSet<NodeId>)| self.both_compute(a, b, nodes);
        pairs.iter().take(NAMED).map(sentence).chain(more).collect()
    }

    fn both_compute(&self, a: &str, b: &str, nodes: &BTreeSet<NodeId>) -> String {
        let first = nodes.first().map_or("", |&node| self.scenario.node_name(node));
        let more = match nodes.len() {
            0 | 1 => String::new(),
            2 => " and 1 more device".to_owned(),
            all => format!(" and {} more devices", all - 1),
        };
        format!(
            "{a} and {b} run at the same time and both compute on {first}{more}, where neither waits for the other: ranks of \
             programs have processors of their own; write computations as `compute` to let them share the device's time"
        )
    }

    fn computes(&self, who: Who) -> String {
        match who {
            Who::Program(number) => format!("`{}`", self.scenario.operations[number].id),
            Who::Task(task) => format!("`{}`", owner_name(self, task)),
        }
    }

    /// What computes on each node on which a program does.
    fn computations(&self) -> BTreeMap<NodeId, Vec<Computation>> {
        let mut all: BTreeMap<NodeId, Vec<Computation>> = BTreeMap::new();
        for (number, operation) in self.scenario.operations.iter().enumerate() {
            let (from, until) = (self.released(operation), self.ended(operation));
            for node in nodes(operation).filter(|_| !from.is_never()) {
                all.entry(node).or_default().push(Computation { from, until, by: Who::Program(number) });
            }
        }
        if all.is_empty() {
            return all;
        }
        let (tasks, times) = (self.scenario.tasks.tasks(), &self.outcome.tasks);
        for (i, (task, times)) in tasks.iter().zip(times).enumerate() {
            let node = self.computing_node(task.engine).filter(|_| times.start < times.end);
            if let Some(list) = node.and_then(|node| all.get_mut(&node)) {
                let by = Who::Task(TaskId(i as u32));
                list.push(Computation { from: times.start, until: times.end, by });
            }
        }
        all
    }

    /// The node of an engine that serves its computations.
    fn computing_node(&self, engine: EngineId) -> Option<NodeId> {
        if engine == EngineId::NONE {
            return None;
        }
        let engine = &self.scenario.tasks.engines()[engine.0 as usize];
        match engine.scope {
            EngineScope::Device(node) if &*engine.name == COMPUTE => Some(node),
            _ => None,
        }
    }
}

/// The nodes on which an operation computes.
fn nodes(operation: &PlannedOperation) -> impl Iterator<Item = NodeId> {
    let listed = operation.details.get(COMPUTES_ON).and_then(serde_json::Value::as_array);
    let numbers = listed.into_iter().flatten().filter_map(serde_json::Value::as_u64);
    numbers.filter_map(|number| u32::try_from(number).ok().map(NodeId))
}

/// Programs with what runs beside them, of computations by their begins. Two tasks of an engine wait for each other.
fn overlapping(all: &[Computation]) -> Vec<(Who, Who)> {
    let (mut active, mut pairs): (Vec<&Computation>, BTreeSet<(Who, Who)>) = (Vec::new(), BTreeSet::new());
    for one in all {
        active.retain(|before| before.until > one.from);
        for before in &active {
            if matches!(before.by, Who::Program(_)) || matches!(one.by, Who::Program(_)) {
                pairs.insert((before.by.min(one.by), before.by.max(one.by)));
            }
        }
        if pairs.len() > MOST {
            break;
        }
        active.push(one);
    }
    pairs.into_iter().collect()
}

/// Pairs of a node that are looked at; *assumed*, more than are named, where tasks of one operation are many.
const MOST: usize = 1000;
