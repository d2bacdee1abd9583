//! `objective`: what a search minimises, and of which items.

use weir_optimize::search::Objective;
use weir_sim_core::TaskId;

use super::{ScenarioParts, one_of};
use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::format::{KeyTable, Shape, optional};
use crate::source::Span;
use crate::units;
use crate::workload::{Groups, ID_TEXT, Workload};
use crate::yaml::{Data, Entry, Value};

/// Items of an objective; *assumed*, more are better named by what they belong to.
const MOST_ITEMS: usize = 100_000;

/// A word, or a map with the items.
pub(super) const OBJECTIVE: Shape = Shape::Either(&[Shape::Choice(words), Shape::Map(&OF_ITEMS)]);

/// One id, or a list of ids.
const IDS: Shape = Shape::OneOrMore(1, &Shape::Named(&ID_TEXT));
/// The same, or ids with weights.
const WEIGHTED: Shape = Shape::Either(&[IDS, Shape::SomeByName(1, MOST_ITEMS, &Shape::Named(&units::WEIGHT))]);

static OF_ITEMS: KeyTable = KeyTable::new(
    "objective",
    "What becomes small or large, of items of the workload.",
    &[
        optional("end", IDS, "The latest end of these."),
        optional(
            "sum",
            WEIGHTED,
            "The sum of weights times ends: a map of ids with their weights, or ids of weight 1.",
        ),
        optional("max", WEIGHTED, "The largest weight times end: a map of ids with their weights, or ids of weight 1."),
        optional(
            "throughput",
            IDS,
            "The bytes that these carry over the time from their first start to their last end.",
        ),
    ],
)
.in_one_of(&[&["end"], &["sum"], &["max"], &["throughput"]]);

/// An item of the workload that an objective is about.
#[derive(Clone, PartialEq, Debug)]
pub struct ObjectiveItem {
    /// Its first task.
    pub first: TaskId,
    /// Its tasks, consecutive ids; at least one.
    pub count: u32,
    /// What its end counts; 1 where none is given.
    pub weight: f64,
}

fn words() -> Vec<serde_json::Value> {
    alone().map(|objective| objective.word().into()).collect()
}

/// The objectives that need no items.
fn alone() -> impl Iterator<Item = Objective> {
    Objective::ALL.into_iter().filter(|objective| !objective.needs_items())
}

pub(super) fn read(
    context: &mut Context,
    value: &Value,
    scenario: ScenarioParts<'_>,
) -> Read<(Objective, Vec<ObjectiveItem>)> {
    let Data::Mapping(entries) = &value.data else {
        let objective = context.parse(value, "`objective` of `optimize`", |text| {
            let known = one_of(&Objective::ALL, Objective::word)(text)?;
            if known.needs_items() {
                let help = format!("name them, as in `{{ {text}: [a, b] }}`");
                return Err(Problem::new(format!("{} of which items is not said", quoted(text)), help));
            }
            Ok(known)
        });
        return Ok((objective?, Vec::new()));
    };
    context.fields(value, "`objective`", &OF_ITEMS)?;
    let [entry] = &entries[..] else {
        let help = "write one of them, as in `{ end: [a, b] }`";
        return Err(context.error(value.span, format!("`objective` has {} keys", entries.len()), help));
    };
    let objective = one_of(&Objective::ALL, Objective::word)(&entry.key)
        .map_err(|problem| context.problem(entry.key_span, "`objective`", problem))?;
    let items = items(context, objective, entry, scenario)?;
    if objective == Objective::Throughput && scenario.workload.is_some_and(|workload| !carries(workload, &items)) {
        let help = "name transfers, or write `objective: throughput` for all";
        return Err(context.error(entry.value.span, "what is named carries no bytes", help));
    }
    Ok((objective, items))
}

/// Whether any of the items carries bytes.
fn carries(workload: &Workload, items: &[ObjectiveItem]) -> bool {
    let counts = counted(items, workload.tasks.tasks().len());
    workload.tasks.transfers().any(|(task, _)| counts[task.index()])
}

/// Which of so many tasks are of one of the items; all where there are none. In linear time, however the items overlap.
#[must_use]
pub fn counted(items: &[ObjectiveItem], tasks: usize) -> Vec<bool> {
    if items.is_empty() {
        return vec![true; tasks];
    }
    let mut changes = vec![0_i64; tasks + 1];
    for item in items {
        let first = item.first.index().min(tasks);
        changes[first] += 1;
        changes[(first + item.count as usize).min(tasks)] -= 1;
    }
    let mut open = 0;
    let mut is_open = |change: &i64| {
        open += change;
        open > 0
    };
    changes[..tasks].iter().map(&mut is_open).collect()
}

fn items(
    context: &mut Context,
    objective: Objective,
    entry: &Entry,
    scenario: ScenarioParts<'_>,
) -> Read<Vec<ObjectiveItem>> {
    let what = format!("`{}` of `objective`", entry.key);
    let groups = scenario.workload.map(|workload| &workload.groups);
    let weighted = matches!(objective, Objective::Sum | Objective::Max);
    let mut found = match &entry.value.data {
        Data::Mapping(weights) if weighted => context.each(weights, |context, entry| {
            let weight = context.parse(&entry.value, &format!("the weight of {}", quoted(&entry.key)), units::weight);
            let item = item(context, groups, &entry.key, entry.key_span)?;
            Ok(ObjectiveItem { weight: weight?, ..item })
        }),
        Data::Sequence(names) => context.each(names, |context, name| {
            let text = context.text(name, &format!("an id of {what}"))?;
            item(context, groups, text, name.span)
        }),
        _ => {
            let text = context.text(&entry.value, &what)?;
            item(context, groups, text, entry.value.span).map(|item| vec![item])
        }
    }?;
    if found.is_empty() {
        return Err(context.error(entry.value.span, format!("{what} names nothing"), "name items of the workload"));
    }
    // Of a workload that was not read, nothing is known.
    found.retain(|item| item.count > 0);
    Ok(found)
}

/// The item of an id; one without tasks where the workload is wrong itself.
fn item(context: &mut Context, groups: Option<&Groups>, name: &str, span: Span) -> Read<ObjectiveItem> {
    let nothing = ObjectiveItem { first: TaskId::NONE, count: 0, weight: 1.0 };
    let Some(groups) = groups else { return Ok(nothing) };
    match groups.range(name) {
        Some((_, 0)) => {
            let help = "name an item that does something";
            Err(context.error(span, format!("{} has no tasks, so it never ends", quoted(name)), help))
        }
        Some((first, count)) => Ok(ObjectiveItem { first, count, ..nothing }),
        None => {
            let help = context.suggestion(name, groups.ids(), "ids");
            Err(context.error(span, format!("`objective` names {}, but nothing has this id", quoted(name)), help))
        }
    }
}

impl ObjectiveItem {
    /// Its tasks.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> + use<> {
        (self.first.0..self.first.0 + self.count).map(TaskId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beside the slow twin: each task against each item.
    #[test]
    fn counted_tasks_are_those_of_the_items() {
        let item = |first: u32, count: u32| ObjectiveItem { first: TaskId(first), count, weight: 1.0 };
        let cases = [vec![], vec![item(0, 3)], vec![item(2, 4), item(3, 1), item(5, 3), item(9, 1)], vec![item(8, 9)]];
        for items in cases {
            let slow = |task: u32| {
                items.is_empty() || items.iter().any(|item| (item.first.0..item.first.0 + item.count).contains(&task))
            };
            assert_eq!(counted(&items, 10), (0..10).map(slow).collect::<Vec<_>>(), "{items:?}");
        }
    }
}
