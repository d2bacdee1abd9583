//! Cycles of waits.

use crate::tasks::{TaskGraph, TaskId};

/// A cycle of waits, if there is one: tasks left over by topological order, walked until one repeats.
pub(crate) fn find_cycle(graph: &TaskGraph) -> Option<Vec<TaskId>> {
    let mut waits = graph.waits.clone();
    let mut ready: Vec<TaskId> = (0..waits.len() as u32).map(TaskId).filter(|t| waits[t.index()] == 0).collect();
    let mut done = 0;
    while let Some(task) = ready.pop() {
        done += 1;
        for next in followers(graph, task) {
            waits[next.index()] -= 1;
            if waits[next.index()] == 0 {
                ready.push(next);
            }
        }
    }
    if done == waits.len() {
        return None;
    }
    // Every task left waits for another one left; walking backwards must repeat.
    let mut before = vec![u32::MAX; waits.len()];
    for task in (0..waits.len()).filter(|&t| waits[t] > 0) {
        for next in followers(graph, TaskId(task as u32)) {
            before[next.index()] = task as u32;
        }
    }
    let mut at = waits.iter().position(|&w| w > 0)?;
    let mut seen = vec![false; waits.len()];
    while !seen[at] {
        seen[at] = true;
        at = before[at] as usize;
    }
    let (first, mut cycle) = (at, vec![TaskId(at as u32)]);
    at = before[at] as usize;
    while at != first {
        cycle.push(TaskId(at as u32));
        at = before[at] as usize;
    }
    cycle.reverse();
    Some(cycle)
}

fn followers(graph: &TaskGraph, task: TaskId) -> impl Iterator<Item = TaskId> + '_ {
    graph.successors(task).iter().chain(graph.start_successors(task)).copied()
}
