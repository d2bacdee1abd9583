//! The messages of a workload, by what sends them one after another.

use std::collections::BTreeMap;

use weir_sim_core::api::{ClassId, NodeId};
use weir_sim_core::{EngineId, Fabric, Routes, Task, TaskGraph, TaskId, Work};

use super::error::{OrderError, TaskRefusal};
use super::limits::{MOST_MESSAGES, MOST_SOURCES};
use super::shapes::{ids, tails};

/// One transfer of the problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) task: TaskId,
    pub(crate) class: ClassId,
    pub(crate) bytes: u64,
    /// Latency of its route, ps.
    pub(crate) latency: u64,
    /// What follows its arrival, ps.
    pub(crate) tail: u64,
    /// It begins no sooner, ps: what it needs before may overlap the message before it.
    pub(crate) lead: u64,
    /// Time between the last byte of the message before it and its first, ps.
    pub(crate) gap: u64,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
}

/// What sends one message after another.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Its messages in expansion order.
    pub(crate) messages: Vec<Message>,
}

impl Source {
    /// The task whose place in the workload the k-th message sent takes.
    pub(crate) fn place(&self, k: usize) -> TaskId {
        self.messages[k].task
    }
}

/// The messages of a workload by source, in the order of the first of each.
pub(super) fn sources(fabric: &Fabric, routes: &Routes, tasks: &TaskGraph) -> Result<Vec<Source>, OrderError> {
    let tails = tails(tasks)?;
    let carries = |(id, task): (TaskId, &Task)| match task.work {
        Work::Carries { bytes, class } => Some((id, task.engine, bytes, class)),
        _ => None,
    };
    let messages = || ids(tasks).filter_map(carries);
    let mut on_engine: BTreeMap<EngineId, usize> = BTreeMap::new();
    messages().for_each(|(_, engine, ..)| *on_engine.entry(engine).or_default() += 1);
    let mut sources: Vec<Source> = Vec::new();
    let mut known: BTreeMap<EngineId, usize> = BTreeMap::new();
    for (id, engine, bytes, class) in messages() {
        let own = engine == EngineId::NONE || {
            let slots = tasks.engines()[engine.0 as usize].slots;
            let count = on_engine[&engine];
            if slots > 1 && (slots as usize) < count {
                return Err(OrderError::Task { task: id, why: TaskRefusal::Slots { slots, count } });
            }
            slots > 1
        };
        let message = Message { tail: tails[id.index()], ..message(fabric, routes, tasks, id, bytes, class) };
        if routes.known(message.from, message.to) != Some(tasks.classes().route(class)) {
            return Err(OrderError::Task { task: id, why: TaskRefusal::Routed });
        }
        match known.get(&engine).filter(|_| !own) {
            Some(&source) => {
                // Only the same class follows without its whole lead.
                let first = sources[source].place(0);
                if tasks.service(first).class != tasks.service(id).class {
                    return Err(OrderError::Task { task: id, why: TaskRefusal::Service });
                }
                sources[source].messages.push(message);
            }
            None => {
                known.insert(engine, sources.len());
                sources.push(Source { messages: vec![message] });
            }
        }
    }
    bounded(&sources)?;
    Ok(sources)
}

fn bounded(sources: &[Source]) -> Result<(), OrderError> {
    if sources.is_empty() {
        return Err(OrderError::Nothing);
    }
    if sources.len() > MOST_SOURCES {
        return Err(OrderError::Sources { count: sources.len() });
    }
    match sources.iter().find(|s| s.messages.len() > MOST_MESSAGES) {
        Some(s) => Err(OrderError::Messages { task: s.place(0), count: s.messages.len() }),
        None => Ok(()),
    }
}

fn message(fabric: &Fabric, routes: &Routes, tasks: &TaskGraph, id: TaskId, bytes: u64, class: ClassId) -> Message {
    let (route, service) = (tasks.classes().route(class), tasks.service(id));
    let links = routes.links(route);
    let (from, to) = (fabric.link(links[0]).from, fabric.link(links[links.len() - 1]).to);
    let (latency, lead, gap) = (routes.latency(route).0, service.lead.0, service.gap.0);
    Message { task: id, class, bytes, latency, tail: 0, lead, gap, from, to }
}

/// Whether no id of one source lies between two of another.
pub(super) fn grouped(sources: &[Source]) -> bool {
    let last = |s: &Source| s.place(s.messages.len() - 1);
    sources.windows(2).all(|pair| last(&pair[0]) < pair[1].place(0))
}
