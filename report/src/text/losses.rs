//! Which transfers of a large run are listed, and what is said of those that waited for a send slot.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use weir_plugin_api::{SimDuration, SimTime};
use weir_sim_core::{Departure, EngineId, Stop, TaskId};

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
    let end = |task: &TaskId| run.outcome.tasks[task.index()].end;
    // Without sorting all: the user of an interrupted run does not want to wait.
    *all = if knows_losses(run) {
        first(all, most, |task| (Reverse(end(task).is_never()), Reverse(lost(run, *task))))
    } else {
        first(all, most, |task| Reverse(end(task)))
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

/// The first ones by a key, equals by id, in that order.
fn first<K: Ord>(all: &[TaskId], most: usize, key: impl Fn(&TaskId) -> K) -> Vec<TaskId> {
    let mut keyed: Vec<(K, TaskId)> = all.iter().map(|task| (key(task), *task)).collect();
    if keyed.len() > most {
        keyed.select_nth_unstable(most);
        keyed.truncate(most);
    }
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, task)| task).collect()
}

/// By how much longer than alone it took from ready to end; none where the arbiter has no answer for it alone.
fn lost(run: &Run<'_>, task: TaskId) -> SimDuration {
    let times = run.outcome.tasks[task.index()];
    if times.end.is_never() {
        return SimDuration::ZERO;
    }
    let took = times.end - times.ready;
    run.time_alone(task).map_or(SimDuration::ZERO, |alone| SimDuration(took.0.saturating_sub(alone.0)))
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
    for transfer in run.transfers().filter_map(|task| run.departure(task)) {
        let waited = transfer.waited();
        if waited == SimDuration::ZERO || transfer.engine == EngineId::NONE || !is_sent(transfer.engine) {
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
