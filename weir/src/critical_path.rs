//! The critical path of a run: from the task that ends last back, each time to the task that it waited for last. A run gets
//! shorter only if a task on it does.

use weir_plugin_api::SimTime;
use weir_sim_core::{Outcome, TaskGraph, TaskId};

/// The tasks on the critical path of a run that ended, from the last to the first. Of tasks that end or start together, the
/// first by id counts.
pub(crate) fn critical_path(outcome: &Outcome, tasks: &TaskGraph) -> Vec<TaskId> {
    let awaited = last_awaited(outcome, tasks);
    let mut path = Vec::new();
    let mut next = latest(outcome);
    // Tasks without a duration may wait for each other's start at one time: none stands twice on the path.
    while let Some(task) = next.filter(|_| path.len() < tasks.tasks().len()) {
        path.push(task);
        let behind = outcome.queued_behind[task.index()];
        next = [behind, awaited[task.index()]].into_iter().find(|&before| before != TaskId::NONE);
    }
    path
}

/// The task that ends last.
fn latest(outcome: &Outcome) -> Option<TaskId> {
    let ends = outcome.tasks.iter().map(|times| times.end);
    let last = ends.clone().filter(|end| !end.is_never()).max()?;
    ends.zip(0..).find(|&(end, _)| end == last).map(|(_, id)| TaskId(id))
}

/// Per task, the one that it waited for last, of those that it waits for the end or the start of.
fn last_awaited(outcome: &Outcome, tasks: &TaskGraph) -> Vec<TaskId> {
    let mut last = vec![(SimTime::ZERO, TaskId::NONE); tasks.tasks().len()];
    for (id, times) in (0..).map(TaskId).zip(&outcome.tasks) {
        let ends = tasks.successors(id).iter().map(|&next| (next, times.end));
        for (next, time) in ends.chain(tasks.start_successors(id).iter().map(|&next| (next, times.start))) {
            let (latest, awaited) = &mut last[next.index()];
            if *awaited == TaskId::NONE || time > *latest {
                (*latest, *awaited) = (time, id);
            }
        }
    }
    last.into_iter().map(|(_, awaited)| awaited).collect()
}
