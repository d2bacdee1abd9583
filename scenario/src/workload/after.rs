//! `after`: what waits for what. Names may be used before they are defined; a group of many tasks is waited for through
//! one join, so that two groups of n cost 2 n edges, not n².

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use weir_plugin_api::SimTime;
use weir_sim_core::{EngineId, ServiceId, Task, TaskId, Work};

use super::attributes::{ID_TEXT, PlacedId};
use super::expansion::{Expansion, Waiting};
use super::group::{Groups, Names};
use crate::context::{Context, Problem, Read, Reported};
use crate::diagnostic::quoted;
use crate::format::{Definition, Key, Shape, optional};
use crate::source::Span;
use crate::yaml::{Data, Value};

pub(super) const AFTER: Key = optional("after", Shape::Named(&IDS), "");

static IDS: Definition = Definition {
    name: "after",
    about: "One id or a list of ids, of any items of the workload, that must have ended.",
    shape: Shape::OneOrMore(0, &Shape::Named(&ID_TEXT)),
};

/// Operations of a cycle that are named in its message.
const SHOWN: usize = 8;

impl Expansion<'_> {
    /// Reads `after`: one id or a list of them.
    pub(super) fn after(&self, context: &mut Context, value: Option<&Value>) -> Read<Vec<PlacedId>> {
        let items = match value.map(|v| &v.data) {
            None => return Ok(Vec::new()),
            Some(Data::Sequence(items)) => items.as_slice(),
            Some(_) => value.map_or(&[][..], std::slice::from_ref),
        };
        context.each(items, |context, item| {
            Ok(PlacedId { text: context.text(item, "an id in `after`")?.into(), span: item.span })
        })
    }

    /// Notes that `count` tasks from `first` on wait for these names; [`Self::resolve_waits`] looks the names up.
    pub(super) fn wait(&mut self, first: TaskId, count: u32, names: Vec<PlacedId>) {
        if count > 0 && !names.is_empty() {
            self.waiting.push(Waiting { first, count, names });
        }
    }

    /// Turns the names into edges, after the last operation.
    pub(super) fn resolve_waits(&mut self, context: &mut Context) -> Read<()> {
        let before = context.errors();
        self.check_generated(context)?;
        let waiting = std::mem::take(&mut self.waiting);
        let mut joins: FxHashMap<u32, TaskId> = FxHashMap::default();
        // Names are often waited for by many rows; looking one up may cost a scan of a pattern.
        let mut known: FxHashMap<&str, Option<TaskId>> = FxHashMap::default();
        for wait in &waiting {
            let Waiting { first, count, .. } = *wait;
            // Many tasks that wait for many things do so through one join, too.
            let gate = (count > 1 && wait.names.len() > 1).then(|| self.join());
            for PlacedId { text: name, span } in &wait.names {
                let earlier = match known.get(&**name) {
                    Some(&earlier) => earlier,
                    None => {
                        let earlier = self.earlier(context, &mut joins, name, *span).unwrap_or(None);
                        if context.full() {
                            return Err(Reported);
                        }
                        known.insert(name, earlier);
                        earlier
                    }
                };
                let Some(earlier) = earlier else { continue };
                match gate {
                    Some(gate) => self.builder.wait(gate, earlier),
                    None => (0..count).for_each(|i| self.builder.wait(TaskId(first.0 + i), earlier)),
                }
            }
            if let Some(gate) = gate {
                (0..count).for_each(|i| self.builder.wait(TaskId(first.0 + i), gate));
            }
        }
        if context.errors() > before { Err(Reported) } else { Ok(()) }
    }

    /// The task whose end is the end of all that a name means; `None` for an operation without tasks.
    fn earlier(
        &mut self,
        context: &mut Context,
        joins: &mut FxHashMap<u32, TaskId>,
        name: &str,
        span: Span,
    ) -> Read<Option<TaskId>> {
        if let Some((first, count)) = self.groups.tasks_of(name) {
            return Ok(Some(self.end_of(joins, first.0, count)));
        }
        let Some(group) = self.groups.by_id(name) else {
            if let Some(task) = self.groups.named(name) {
                return Ok(Some(task));
            }
            let help = context.suggestion(name, self.groups.ids(), "ids");
            return Err(context.error(span, format!("`after` names {}, but nothing has this id", quoted(name)), help));
        };
        let (first, count) = (group.first, group.count);
        match (&group.names, count) {
            (_, 0) => Ok(None),
            // Each repetition follows the one before: the last ends last.
            (Names::Own | Names::Repeat, _) | (_, 1) => Ok(Some(TaskId(first + count - 1))),
            _ => Ok(Some(self.end_of(joins, first, count))),
        }
    }

    /// The task that ends when all of a group have: the only one, or a join.
    fn end_of(&mut self, joins: &mut FxHashMap<u32, TaskId>, first: u32, count: u32) -> TaskId {
        if count == 1 {
            return TaskId(first);
        }
        if let Some(&join) = joins.get(&first) {
            return join;
        }
        let join = self.join();
        (first..first + count).for_each(|task| self.builder.wait(join, TaskId(task)));
        joins.insert(first, join);
        join
    }

    /// A join that is not the user's.
    fn join(&mut self) -> TaskId {
        let work = Work::Nothing { counted: false };
        self.builder.task(Task { start: SimTime::ZERO, engine: EngineId::NONE, service: ServiceId::PLAIN, work })
    }

    /// Refuses ids that another operation's tasks have, by generation or in a trace.
    fn check_generated(&mut self, context: &mut Context) -> Read<()> {
        let before = context.errors();
        for (id, at, task) in self.groups.clashes() {
            let Some(other) = self.groups.of(task) else { continue };
            let message = format!("the id {} is given twice: `{}` makes one of this name", quoted(&id), other.id);
            let place = ("the other".to_owned(), other.place(task.0 - other.first));
            let _ = context.error_with_notes(at, Problem::new(message, "give another id"), vec![place]);
            if context.full() {
                break;
            }
        }
        if context.errors() > before { Err(Reported) } else { Ok(()) }
    }
}

/// Names the operations of a cycle of waits; of an operation of a model the whole, not its tasks.
pub(super) fn cycle_error(context: &mut Context, groups: &Groups, cycle: &[TaskId]) -> Reported {
    let known: Vec<TaskId> = cycle.iter().copied().filter(|&task| groups.of(task).is_some()).collect();
    // Begin with the first in the file, so that the message does not depend on how the cycle was found.
    let begin = known.iter().enumerate().min_by_key(|&(_, task)| *task).map_or(0, |(i, _)| i);
    let order = known[begin..].iter().chain(&known[..begin]).copied();
    let mut order: Vec<(Cow<'_, str>, Span)> = order.filter_map(|task| name_and_place(groups, task)).collect();
    order.dedup();
    if order.len() > 1 && order.first() == order.last() {
        order.pop();
    }
    let more = order.len().saturating_sub(SHOWN);
    order.truncate(SHOWN);
    let names: Vec<String> = order.iter().map(|(name, _)| quoted(name)).collect();
    let end = if more > 0 { format!("{more} more") } else { names.first().cloned().unwrap_or_default() };
    let message = format!("a cycle in `after`: {} before {end}", names.join(" before "));
    let first = order.first().map(|&(_, place)| place).unwrap_or_default();
    let problem = Problem::new(message, "remove one of these waits");
    let notes: Vec<_> = order.iter().skip(1).map(|(name, place)| (quoted(name), *place)).collect();
    context.error_with_notes(first, problem, notes)
}

/// Name and place of a task of a cycle.
fn name_and_place(groups: &Groups, task: TaskId) -> Option<(Cow<'_, str>, Span)> {
    let group = groups.of(task)?;
    match &group.names {
        Names::Planned { .. } => Some((Cow::Borrowed(&*group.id), group.span)),
        Names::PlannedPattern(..) => Some((groups.name(groups.whole(task)), group.span)),
        _ => Some((groups.name(task), group.place(task.0 - group.first))),
    }
}
