//! `order`: in which order a source sends. It decides among transfers that are ready at the same instant.

use rustc_hash::FxHashMap;
use weir_plugin_api::{EngineScope, NodeId};
use weir_sim_core::{EngineId, TaskGraph, TaskId, Work};

use super::attributes::ID_TEXT;
use super::group::Groups;
use crate::context::{Context, Problem, Read, Reported};
use crate::diagnostic::quoted;
use crate::format::{Definition, Shape};
use crate::source::Span;
use crate::topology::{Topology, sends};
use crate::yaml::{Data, Entry, Value};

pub(crate) static ORDER: Definition = Definition {
    name: "order",
    about: "Per device the ids of all transfers that it sends, in the order to send those that are ready at the same \
            instant.",
    shape: Shape::ByName(&Shape::Distinct(&Shape::Named(&ID_TEXT))),
};

/// What the names in an order mean.
#[derive(Clone, Copy)]
pub(super) struct Tasks<'a> {
    pub(super) topology: &'a Topology,
    pub(super) groups: &'a Groups,
}

/// The tasks of one source in the order to send, with the place of each in the file.
struct Order {
    device: NodeId,
    tasks: Vec<(TaskId, Span)>,
}

/// Names of a message at most.
const SHOWN: usize = 8;

/// Reads the orders and gives them to the graph; returns them by device.
pub(super) fn apply(
    context: &mut Context,
    tasks: &mut TaskGraph,
    all: Tasks<'_>,
    value: &Value,
) -> Read<Vec<(NodeId, Vec<TaskId>)>> {
    let Data::Mapping(entries) = &value.data else {
        let message = format!("`order` must be a map, not {}", value.describe());
        return Err(context.error(value.span, message, "write `order: { gpu0: [a, b] }`"));
    };
    let engines = Senders::of(tasks, all.groups);
    let mut known: FxHashMap<NodeId, Span> = FxHashMap::default();
    let orders = context.each(entries, |context, entry| {
        let device = device(context, all.topology, entry)?;
        if let Some(other) = known.insert(device, entry.key_span) {
            let message = format!("{} has an order already", quoted(&entry.key));
            let notes = vec![("first given at".to_owned(), other)];
            return Err(context.error_with_notes(entry.key_span, Problem::new(message, "keep one of the two"), notes));
        }
        Source { tasks, all, engines: &engines, device, name: &entry.key }.order(context, entry)
    })?;
    let plain = |order: &Order| (order.device, order.tasks.iter().map(|&(task, _)| task).collect());
    let read: Vec<(NodeId, Vec<TaskId>)> = orders.iter().map(plain).collect();
    if let Some(cycle) = contradiction(tasks, read.iter().map(|(_, order)| &**order)) {
        return Err(contradicts(context, all.groups, &orders, &cycle));
    }
    read.iter().for_each(|(_, order)| tasks.set_order(order));
    Ok(read)
}

/// A task that holds an engine, after what it is part of: itself, or an operation of a model, by its release.
type SentTask = (TaskId, TaskId);

/// What sends one transfer after another.
pub(crate) struct Senders {
    /// The devices with their engines, ascending.
    devices: Vec<(NodeId, EngineId)>,
    /// Per device what holds its engine, in file order.
    sent: Vec<Vec<SentTask>>,
}

impl Senders {
    /// All engines that devices send with. What is issued in advance keeps its place: it may not be ready when it comes.
    pub(crate) fn of(tasks: &TaskGraph, groups: &Groups) -> Self {
        let engines = tasks.engines().iter().enumerate().filter(|(_, engine)| sends(&engine.name));
        let of_device = engines.filter_map(|(i, engine)| match engine.scope {
            EngineScope::Device(device) => Some((device, EngineId(i as u32))),
            EngineScope::Operation => None,
        });
        let mut devices: Vec<(NodeId, EngineId)> = of_device.collect();
        devices.sort_unstable();
        let mut at = vec![None; tasks.engines().len()];
        devices.iter().enumerate().for_each(|(i, (_, engine))| at[engine.0 as usize] = Some(i));
        let mut sent = vec![Vec::new(); devices.len()];
        for (i, task) in tasks.tasks().iter().enumerate().filter(|(_, task)| task.engine != EngineId::NONE) {
            let id = TaskId(i as u32);
            if let Some(at) = at[task.engine.0 as usize].filter(|_| !tasks.queues_when_issued(id)) {
                sent[at].push((groups.whole(id), id));
            }
        }
        Self { devices, sent }
    }

    /// What holds the engine of a device; `None` when none does. It may have others whose copies keep their places.
    pub(crate) fn sent(&self, device: NodeId) -> Option<&[SentTask]> {
        let from = self.devices.partition_point(|&(other, _)| other < device);
        let own = self.devices[from..].iter().zip(&self.sent[from..]).take_while(|((other, _), _)| *other == device);
        own.map(|(_, sent)| &**sent).find(|sent| !sent.is_empty())
    }

    /// The devices with their engines and what holds them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NodeId, EngineId, &[SentTask])> {
        self.devices.iter().zip(&self.sent).map(|(&(device, engine), sent)| (device, engine, &**sent))
    }
}

fn device(context: &mut Context, topology: &Topology, entry: &Entry) -> Read<NodeId> {
    let node = topology.names.resolve(&entry.key);
    let node = node.map_err(|problem| context.problem(entry.key_span, "`order`", problem))?;
    match topology.not_an_end(node) {
        Some(problem) => Err(context.problem(entry.key_span, "`order`", problem)),
        None => Ok(node),
    }
}

/// A device whose order is read.
struct Source<'a> {
    tasks: &'a TaskGraph,
    all: Tasks<'a>,
    engines: &'a Senders,
    device: NodeId,
    /// As the user wrote it.
    name: &'a str,
}

impl Source<'_> {
    fn order(&self, context: &mut Context, entry: &Entry) -> Read<Order> {
        let Some(sent) = self.engines.sent(self.device) else { return Err(self.no_engine(context, entry.key_span)) };
        let items = context.list(&entry.value, &format!("the order of {}", quoted(self.name)))?;
        let mut listed: FxHashMap<TaskId, Span> = FxHashMap::default();
        let order = context.each(items, |context, item| {
            let whole = self.transfer(context, item, sent)?;
            if let Some(other) = listed.insert(whole, item.span) {
                let message = format!("{} is listed twice", quoted(&self.all.groups.name(whole)));
                let notes = vec![("first listed at".to_owned(), other)];
                return Err(context.error_with_notes(item.span, Problem::new(message, "keep one of the two"), notes));
            }
            Ok((whole, item.span))
        })?;
        self.complete(context, entry.value.span, sent, &listed)?;
        let tasks_of = |(whole, span): (TaskId, Span)| {
            let first = sent.partition_point(|&(other, _)| other < whole);
            sent[first..].iter().take_while(move |&&(other, _)| other == whole).map(move |&(_, task)| (task, span))
        };
        Ok(Order { device: self.device, tasks: order.into_iter().flat_map(tasks_of).collect() })
    }

    /// The transfer, or the operation, that an item names.
    fn transfer(&self, context: &mut Context, item: &Value, sent: &[SentTask]) -> Read<TaskId> {
        let groups = self.all.groups;
        let name = context.text(item, &format!("a transfer in the order of {}", quoted(self.name)))?;
        let found = groups.operation(name).map(|(release, _)| release).or_else(|| groups.task(name));
        if let Some(whole) = found
            && sent.binary_search_by_key(&whole, |&(whole, _)| whole).is_ok()
        {
            return Ok(whole);
        }
        let message = match found {
            Some(whole) => self.foreign(name, whole),
            None if groups.by_id(name).is_some() => format!("{} is not one transfer", quoted(name)),
            None => format!("no transfer has the id {}", quoted(name)),
        };
        let mut here: Vec<TaskId> = sent.iter().map(|&(whole, _)| whole).collect();
        here.dedup();
        let here: Vec<_> = here.into_iter().take(if context.full() { 0 } else { 1000 }).collect();
        let names: Vec<_> = here.iter().map(|&whole| groups.name(whole)).collect();
        let help = context.suggestion(name, names.iter().map(|n| &**n), &format!("transfers of {}", quoted(self.name)));
        Err(context.error(item.span, message, help))
    }

    /// Why something that has an id is no transfer of this source.
    fn foreign(&self, name: &str, found: TaskId) -> String {
        let groups = self.all.groups;
        let (name, here) = (quoted(name), quoted(self.name));
        let whole = groups.whole(found);
        if whole != found {
            return format!("{name} is a task of {}; name the whole", quoted(&groups.name(whole)));
        }
        let tasks = self.tasks.tasks();
        let operation = groups.operation(&groups.name(found)).map_or(0, |(_, count)| count as usize);
        let parts = &tasks[found.index()..=found.index() + operation];
        let other = self.engines.iter().find(|(_, engine, _)| parts.iter().any(|task| task.engine == *engine));
        let from = |device| quoted(self.all.topology.names.unique_name(device));
        match (other, tasks[found.index()].work) {
            (Some((device, ..)), _) => format!("{name} is sent by {}, not by {here}", from(device)),
            (None, Work::Carries { .. }) => format!("{name} is not sent by {here}"),
            _ => format!("{name} is no transfer that {here} sends"),
        }
    }

    /// Refuses an order that leaves something out.
    fn complete(
        &self,
        context: &mut Context,
        span: Span,
        sent: &[SentTask],
        listed: &FxHashMap<TaskId, Span>,
    ) -> Read<()> {
        let mut missing: Vec<TaskId> = sent.iter().map(|&(whole, _)| whole).collect();
        missing.dedup();
        missing.retain(|whole| !listed.contains_key(whole));
        if missing.is_empty() {
            return Ok(());
        }
        let more = missing.len().saturating_sub(SHOWN);
        let names: Vec<_> = missing.iter().take(SHOWN).map(|&whole| quoted(&self.all.groups.name(whole))).collect();
        let end = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("the order of {} lacks {}{end}", quoted(self.name), names.join(", "));
        Err(context.error(span, message, "list each transfer of the source once"))
    }

    /// Refuses a device that has no order.
    fn no_engine(&self, context: &mut Context, span: Span) -> Reported {
        let what = quoted(self.name);
        match self.all.topology.engines.send_slots(self.device) {
            None => {
                let message = format!("{what} sends everything at once: there is no order");
                context.error(span, message, "remove it, or give the device `engines: 1` in the topology")
            }
            Some(_) => context.error(span, format!("{what} sends no transfer"), "remove it"),
        }
    }
}

/// A cycle of waits and orders, if any: then some order cannot be followed.
pub(crate) fn contradiction<'a>(
    tasks: &TaskGraph,
    orders: impl Iterator<Item = &'a [TaskId]> + Clone,
) -> Option<Vec<TaskId>> {
    let pairs = orders.clone().flat_map(|order| order.windows(2).map(|pair| (pair[0], pair[1])));
    let next: FxHashMap<TaskId, TaskId> = pairs.collect();
    // 0: not seen; 1: on the way here; 2: leads to no cycle.
    let mut seen = vec![0_u8; tasks.tasks().len()];
    for start in orders.filter_map(|order| order.first().copied()) {
        if seen[start.index()] != 0 {
            continue;
        }
        let mut way = vec![(start, 0)];
        seen[start.index()] = 1;
        while let Some((task, child)) = way.last_mut() {
            let (ends, starts) = (tasks.successors(*task), tasks.start_successors(*task));
            let later = match *child {
                i if i < ends.len() => Some(ends[i]),
                i if i < ends.len() + starts.len() => Some(starts[i - ends.len()]),
                i if i == ends.len() + starts.len() => next.get(task).copied(),
                _ => None,
            };
            *child += 1;
            let Some(later) = later else {
                seen[task.index()] = 2;
                way.pop();
                continue;
            };
            match seen[later.index()] {
                0 => {
                    seen[later.index()] = 1;
                    way.push((later, 0));
                }
                1 => {
                    let begin = way.iter().position(|&(task, _)| task == later).unwrap_or(0);
                    return Some(way[begin..].iter().map(|&(task, _)| task).collect());
                }
                _ => {}
            }
        }
    }
    None
}

/// Names what an order and the waits put before each other.
fn contradicts(context: &mut Context, groups: &Groups, orders: &[Order], cycle: &[TaskId]) -> Reported {
    let places: FxHashMap<TaskId, Span> = orders.iter().flat_map(|order| order.tasks.iter().copied()).collect();
    let listed = |task: &TaskId| places.get(task).copied();
    // Begin with what stands first in the file, so that the message does not depend on how the cycle was found.
    let place = |task: &TaskId| listed(task).map(|span| (span.line, span.column));
    let begin = (0..cycle.len()).filter(|&i| place(&cycle[i]).is_some()).min_by_key(|&i| place(&cycle[i])).unwrap_or(0);
    let all = cycle[begin..].iter().chain(&cycle[..begin]);
    let mut wholes: Vec<TaskId> = all.map(|&task| groups.whole(task)).collect();
    wholes.retain(|&whole| groups.of(whole).is_some());
    wholes.dedup();
    if wholes.len() > 1 && wholes.first() == wholes.last() {
        wholes.pop();
    }
    let more = wholes.len().saturating_sub(SHOWN);
    let names: Vec<String> = wholes.iter().take(SHOWN).map(|&whole| quoted(&groups.name(whole))).collect();
    let end = if more > 0 { format!("{more} more") } else { names.first().cloned().unwrap_or_default() };
    let message = format!("`order` contradicts `after`: {} before {end}", names.join(" before "));
    let span = cycle.get(begin).and_then(listed).unwrap_or_default();
    context.error(span, message, "list a transfer after those that it waits for")
}
