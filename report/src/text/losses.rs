//! Which transfers of a large run are listed, and what is said of those that waited for a send slot.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use weir_plugin_api::{SimDuration, SimTime};
use weir_sim_core::{Departure, EngineId, Stop, TaskId, TaskTimes};

use super::{LAST, ROWS};
use crate::served::engine_name;
use crate::{Run, duration};

/// The engine that plain transfers hold while they are sent (`docs/scenario-format.md`, Engines).
const SEND: &str = "/send";

/// The transfers that a table or a drawing has room for: all; or the [`LAST`] that lost most against being alone, the
/// first one first, before them what has not ended. Equals stand in file order.
pub(crate) fn listed(run: &Run<'_>, mut all: Vec<TaskId>) -> Vec<TaskId> {
    if all.len() <= ROWS {
        return all;
    }
    lost_most(run, &mut all, LAST);
    all
}

/// Keeps so many of these transfers, in that order.
pub(crate) fn lost_most(run: &Run<'_>, all: &mut Vec<TaskId>, most: usize) {
    let times = |task: TaskId| run.outcome.tasks[task.index()];
    // Without sorting all, or asking for the time alone of each: the user of an interrupted run does not want to wait.
    *all = if knows_losses(run) {
        let key = |task, lost| (Reverse(times(task).end.is_never()), Reverse(lost));
        first(all, most, |task| key(task, took(times(task))), |task| key(task, lost(run, task)))
    } else {
        let end = |task| Reverse(times(task).end);
        first(all, most, end, end)
    };
}

/// What [`listed`] has listed where that is not all.
pub(crate) fn listed_words(run: &Run<'_>) -> &'static str {
    if knows_losses(run) { "transfers that lost most" } else { "transfers that end last" }
}

/// Of an interrupted run no transfer's time alone is known.
fn knows_losses(run: &Run<'_>) -> bool {
    run.outcome.stop != Stop::Cancelled
}

/// The first ones by a key, equals by id, in that order. `soonest` is no later than the key, which is asked for only where that
/// may be among the first.
fn first<K: Ord>(all: &[TaskId], most: usize, soonest: impl Fn(TaskId) -> K, key: impl Fn(TaskId) -> K) -> Vec<TaskId> {
    let mut kept = BinaryHeap::with_capacity(most + 1);
    for &task in all {
        let is_late = |of: K| kept.len() == most && kept.peek().is_none_or(|last| (of, task) >= *last);
        if is_late(soonest(task)) {
            continue;
        }
        kept.push((key(task), task));
        if kept.len() > most {
            kept.pop();
        }
    }
    kept.into_sorted_vec().into_iter().map(|(_, task)| task).collect()
}

/// From ready to end; none of one that has not ended.
fn took(times: TaskTimes) -> SimDuration {
    if times.end.is_never() { SimDuration::ZERO } else { times.end - times.ready }
}

/// By how much longer than alone it took from ready to end; none where the arbiter has no answer for it alone.
fn lost(run: &Run<'_>, task: TaskId) -> SimDuration {
    match took(run.outcome.tasks[task.index()]) {
        SimDuration::ZERO => SimDuration::ZERO,
        took => run.time_alone(task).map_or(SimDuration::ZERO, |alone| SimDuration(took.0.saturating_sub(alone.0))),
    }
}

/// How many transfers waited for a send slot of their source, and which for longest; empty where none did.
pub(super) fn waiting(run: &Run<'_>, total: usize) -> String {
    if !knows_losses(run) {
        return String::new();
    }
    let (mut count, mut longest): (usize, Option<(SimDuration, Departure)>) = (0, None);
    // A name is looked at once per engine.
    let mut sends = FxHashMap::default();
    let mut is_sent =
        |engine| *sends.entry(engine).or_insert_with(|| engine_name(run.scenario, engine).ends_with(SEND));
    let tasks = run.scenario.tasks.tasks();
    let may_wait = run.transfers().filter(|task| tasks[task.index()].engine != EngineId::NONE);
    for transfer in may_wait.filter_map(|task| run.departure(task)) {
        let waited = transfer.waited();
        if waited == SimDuration::ZERO || !is_sent(transfer.engine) {
            continue;
        }
        count += 1;
        if longest.as_ref().is_none_or(|(most, _)| waited > *most) {
            longest = Some((waited, transfer));
        }
    }
    let Some((waited, transfer)) = longest else { return String::new() };
    let (id, engine) = (run.scenario.task_name(transfer.task), engine_name(run.scenario, transfer.engine));
    let so_far = if transfer.times.start == SimTime::NEVER { " so far" } else { "" };
    let most = format!("`{}` for {}{so_far} ({})", super::clean(&id), duration(waited), super::clean(&engine));
    format!("{count} of {total} transfers waited for a send slot of their source, longest {most}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The first ones are those of a whole sort, whatever the bounds tell beforehand.
        #[test]
        fn the_first_are_those_of_a_sort(
            keys in prop::collection::vec((0_u32..20, 0_u32..5), 0..40),
            most in 0_usize..12,
        ) {
            let all: Vec<TaskId> = (0..keys.len() as u32).map(TaskId).collect();
            let key = |task: TaskId| keys[task.index()].0;
            let soonest = |task: TaskId| keys[task.index()].0.saturating_sub(keys[task.index()].1);
            let mut sorted = all.clone();
            sorted.sort_by_key(|&task| (key(task), task));
            sorted.truncate(most);
            prop_assert_eq!(first(&all, most, soonest, key), sorted);
        }
    }
}
