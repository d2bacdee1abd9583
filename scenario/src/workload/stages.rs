//! Stages: what a device sends before a barrier, and what it sends after it.
//!
//! **Definition.** What a device sends is before something else that it sends if a chain of waits lets the other be ready only
//! then. A stage ends where all that it sends up to there is before all that it sends later: an order that exchanges any of
//! the two contradicts a wait.
//! **Source.** Elementary: the finest decomposition of a partial order into an ordinal sum. Where i items have fewer than i
//! others before them, and all the rest have i or more, the i items are before the rest: of the rest, those that have none of
//! the rest before them have no others than the i, and all the rest comes after some of those.

use weir_sim_core::{TaskGraph, TaskId};

use super::group::Groups;

/// Waits that are followed at most, of 64 items at a time; *assumed*, some tenths of a second. Beyond, nothing is split: then
/// there are too many orders to try them all.
const MOST_WAITS: usize = 200_000_000;

/// Something that a device sends, whole: a transfer, or what an operation of a model sends from it.
struct Item {
    source: usize,
    tasks: Vec<TaskId>,
    /// How many items of the source are before it.
    earlier: usize,
}

/// What each source sends, split into its stages, in its order within each.
pub(crate) fn stages(tasks: &TaskGraph, groups: &Groups, sources: &[&[TaskId]]) -> Vec<Vec<Vec<TaskId>>> {
    let mut items: Vec<Item> =
        sources.iter().enumerate().flat_map(|(source, sent)| items(groups, source, sent)).collect();
    let count = tasks.tasks().len();
    let waits = count + (0..count).map(|at| tasks.waits(TaskId(at as u32)) as usize).sum::<usize>();
    if items.len().div_ceil(64).saturating_mul(waits) <= MOST_WAITS {
        count_earlier(tasks, &mut items);
    }
    let mut of_source: Vec<Vec<Item>> = sources.iter().map(|_| Vec::new()).collect();
    items.into_iter().for_each(|item| of_source[item.source].push(item));
    of_source.into_iter().map(split).collect()
}

fn items(groups: &Groups, source: usize, sent: &[TaskId]) -> Vec<Item> {
    let wholes = sent.chunk_by(|&a, &b| groups.whole(a) == groups.whole(b));
    wholes.map(|tasks| Item { source, tasks: tasks.to_vec(), earlier: 0 }).collect()
}

/// Counts what is before each item, for 64 items at a time: a bit of each goes along the waits.
fn count_earlier(tasks: &TaskGraph, items: &mut [Item]) {
    let order = tasks.along_waits();
    let mut own = vec![0_u64; tasks.tasks().len()];
    let mut before = own.clone();
    for first in (0..items.len()).step_by(64) {
        let last = items.len().min(first + 64);
        own.fill(0);
        for (at, item) in items[first..last].iter().enumerate() {
            item.tasks.iter().for_each(|task| own[task.index()] = 1 << at);
        }
        before.fill(0);
        for &task in &order {
            let all = before[task.index()] | own[task.index()];
            if all != 0 {
                tasks.later(task).for_each(|later| before[later.index()] |= all);
            }
        }
        let sources: Vec<usize> = items[first..last].iter().map(|item| item.source).collect();
        for (at, item) in items.iter_mut().enumerate() {
            let own = if (first..last).contains(&at) { 1 << (at - first) } else { 0 };
            let seen = item.tasks.iter().fold(0, |all, task| all | before[task.index()]);
            item.earlier += (seen & of_source(&sources, item.source) & !own).count_ones() as usize;
        }
    }
}

/// The bits of a source among those of 64 items, ascending by source.
fn of_source(sources: &[usize], source: usize) -> u64 {
    let (first, last) =
        (sources.partition_point(|&other| other < source), sources.partition_point(|&other| other <= source));
    if first == last { 0 } else { u64::MAX >> (64 - (last - first)) << first }
}

/// Splits what a source sends where all that has few before it is before all the rest.
fn split(items: Vec<Item>) -> Vec<Vec<TaskId>> {
    let mut counts: Vec<usize> = items.iter().map(|item| item.earlier).collect();
    counts.sort_unstable();
    let ends: Vec<usize> = (1..counts.len()).filter(|&at| counts[at - 1] < at && at <= counts[at]).collect();
    let mut stages = vec![Vec::new(); ends.len() + 1];
    for item in items {
        let stage = ends.partition_point(|&end| end <= item.earlier);
        stages[stage].extend(item.tasks);
    }
    stages
}

#[cfg(test)]
mod tests {
    use weir_plugin_api::SimTime;
    use weir_sim_core::{EngineId, ServiceId, Task, TaskGraphBuilder, Work};

    use super::*;

    fn counted(earlier: &[usize]) -> Vec<Vec<u32>> {
        let items = earlier.iter().enumerate();
        let items = items.map(|(at, &earlier)| Item { source: 0, tasks: vec![TaskId(at as u32)], earlier }).collect();
        split(items).iter().map(|stage| stage.iter().map(|task| task.0).collect()).collect()
    }

    #[test]
    fn a_stage_ends_where_all_of_it_is_before_the_rest() {
        // a and b, then c, then d and e; in the order of the file within each.
        assert_eq!(counted(&[0, 3, 2, 0, 3]), [vec![0, 3], vec![2], vec![1, 4]]);
        // A chain of two beside a third.
        assert_eq!(counted(&[0, 1, 0]), [[0, 1, 2]]);
        assert_eq!(counted(&[0, 0]), [[0, 1]]);
        assert_eq!(counted(&[1, 0]), [[1], [0]]);
    }

    /// 130 transfers of a chain, of which the last two both wait for the one before: more than are followed at a time, behind
    /// those of another source.
    #[test]
    fn more_than_64_are_followed() {
        let mut graph = TaskGraphBuilder::new();
        let nothing = Task {
            start: SimTime::ZERO,
            engine: EngineId::NONE,
            service: ServiceId::PLAIN,
            work: Work::Nothing { counted: true },
        };
        let tasks: Vec<TaskId> = (0..140).map(|_| graph.task(nothing)).collect();
        (11..139).for_each(|at| graph.wait(tasks[at], tasks[at - 1]));
        graph.wait(tasks[139], tasks[137]);
        let item = |at: usize| Item { source: usize::from(at >= 10), tasks: vec![tasks[at]], earlier: 0 };
        let mut items: Vec<Item> = (0..140).map(item).collect();
        count_earlier(&graph.build().expect("no cycle"), &mut items);
        let expected = |at: usize| if at < 10 { 0 } else { at.min(138) - 10 };
        assert!(items.iter().enumerate().all(|(at, item)| item.earlier == expected(at)));
        assert_eq!(
            split(items.split_off(10)).iter().map(Vec::len).collect::<Vec<_>>(),
            [vec![1; 128], vec![2]].concat()
        );
    }

    #[test]
    fn bits_of_a_source() {
        assert_eq!([0, 1, 2, 3].map(|source| of_source(&[0, 0, 2, 2, 2], source)), [0b11, 0, 0b11100, 0]);
        assert_eq!(of_source(&[7; 64], 7), u64::MAX);
    }
}
