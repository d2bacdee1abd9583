//! Cycles of waits.

use crate::tasks::{TaskGraph, TaskId};

/// A cycle of waits, if there is one: tasks left over by topological order, walked until one repeats.
pub(crate) fn find_cycle(graph: &TaskGraph) -> Option<Vec<TaskId>> {
    let (count, order) = (graph.tasks().len(), graph.along_waits());
    if order.len() == count {
        return None;
    }
    let mut left = vec![true; count];
    order.into_iter().for_each(|task| left[task.index()] = false);
    // Every task left waits for another one left; walking backwards must repeat.
    let mut before = vec![u32::MAX; count];
    for task in (0..count).filter(|&task| left[task]) {
        for next in graph.later(TaskId(task as u32)) {
            before[next.index()] = task as u32;
        }
    }
    let mut at = left.iter().position(|&left| left)?;
    let mut seen = vec![false; count];
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
