//! Some tasks of a graph as a graph of their own: how long would they take without the others?

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::tasks::{Follows, Places, TaskGraph, TaskId, Work};

impl TaskGraph {
    /// Consecutive tasks with the waits and the order among them, under ids from 0 on; behind them the joins through which they
    /// wait for each other. Waits for others are left out. Starts, engines and classes stay as they are.
    ///
    /// # Panics
    /// On tasks of another graph.
    #[must_use]
    pub fn part(&self, tasks: Range<u32>) -> Self {
        let old: Vec<TaskId> = tasks.clone().map(TaskId).chain(self.joins_among(&tasks)).collect();
        let new: FxHashMap<TaskId, TaskId> =
            old[tasks.len()..].iter().copied().zip((tasks.len() as u32..).map(TaskId)).collect();
        let id = |task: &TaskId| match tasks.contains(&task.0) {
            true => Some(TaskId(task.0 - tasks.start)),
            false => new.get(task).copied(),
        };
        let inside = |follows: &Follows| {
            let of = |(earlier, old): (u32, &TaskId)| {
                let later = follows.of(*old).iter().filter_map(id);
                later.map(|later| (TaskId(earlier), later)).collect::<Vec<_>>()
            };
            Follows::new((0..).zip(&old).flat_map(of).collect(), old.len())
        };
        let (after_end, after_start) = (inside(&self.after_end), inside(&self.after_start));
        let mut waits = vec![0; old.len()];
        after_end.tasks.iter().chain(&after_start.tasks).for_each(|task| waits[task.index()] += 1);
        Self {
            issued: inside(&self.issued),
            tasks: old.iter().map(|task| self.tasks[task.index()]).collect(),
            engines: self.engines.clone(),
            services: self.services.clone(),
            classes: self.classes.clone(),
            waits,
            after_end,
            after_start,
            places: self.places_of(&old),
        }
    }

    /// Joins outside of a range that wait for a task of it, and that another task of it waits for.
    fn joins_among(&self, tasks: &Range<u32>) -> Vec<TaskId> {
        let is_join = |task: &TaskId| {
            !tasks.contains(&task.0) && matches!(self.tasks[task.index()].work, Work::Nothing { counted: false })
        };
        // Whether they lead back; found in the order of waits.
        let mut found: FxHashMap<TaskId, bool> = FxHashMap::default();
        let mut joins: Vec<TaskId> = Vec::new();
        let mut look = |later: &[TaskId], joins: &mut Vec<TaskId>| {
            let new = later.iter().filter(|task| is_join(task) && found.insert(**task, false).is_none());
            joins.extend(new);
        };
        tasks.clone().for_each(|task| look(self.after_end.of(TaskId(task)), &mut joins));
        let mut next = 0;
        while let Some(&join) = joins.get(next) {
            look(self.after_end.of(join), &mut joins);
            next += 1;
        }
        loop {
            let before = found.values().filter(|leads| **leads).count();
            for join in joins.iter().rev() {
                let leads = |task: &TaskId| tasks.contains(&task.0) || found.get(task) == Some(&true);
                if self.after_end.of(*join).iter().any(leads) {
                    found.insert(*join, true);
                }
            }
            if found.values().filter(|leads| **leads).count() == before {
                break;
            }
        }
        joins.retain(|join| found[join]);
        joins
    }

    /// The order among some tasks, where one was set.
    fn places_of(&self, tasks: &[TaskId]) -> Places {
        let mut places = Places::default();
        if self.places.is_set() {
            let mut order: Vec<TaskId> = (0..tasks.len() as u32).map(TaskId).collect();
            order.sort_by_key(|task| self.places.placed(tasks[task.index()]));
            places.set(tasks.len(), &order);
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineId, ServiceId, Task, TaskGraphBuilder};
    use weir_plugin_api::{SimDuration, SimTime};

    const LASTS: Work = Work::Lasts(SimDuration(5));
    const JOIN: Work = Work::Nothing { counted: false };

    /// Tasks with their starts, and which waits for the end of which.
    fn graph(tasks: &[(u64, Work)], waits: &[(u32, u32)]) -> TaskGraphBuilder {
        let mut builder = TaskGraphBuilder::new();
        for &(start, work) in tasks {
            builder.task(Task { start: SimTime(start), engine: EngineId::NONE, service: ServiceId::PLAIN, work });
        }
        waits.iter().for_each(|&(later, earlier)| builder.wait(TaskId(later), TaskId(earlier)));
        builder
    }

    /// Of four in a row the middle two: what is before them is not waited for.
    #[test]
    fn waits_are_those_among_its_tasks() {
        let mut builder = graph(&[0, 7, 9, 0].map(|start| (start, LASTS)), &[(1, 0), (2, 1)]);
        builder.wait_start(TaskId(2), TaskId(0));
        builder.wait_start(TaskId(3), TaskId(2));
        let part = builder.build().expect("no cycle").part(1..3);
        assert_eq!(part.tasks().iter().map(|task| task.start.0).collect::<Vec<_>>(), [7, 9]);
        assert_eq!([part.waits(TaskId(0)), part.waits(TaskId(1))], [0, 1]);
        assert_eq!(part.successors(TaskId(0)), [TaskId(1)]);
        assert!(part.start_successors(TaskId(0)).is_empty() && part.successors(TaskId(1)).is_empty());
    }

    /// 1 waits for 0 through two joins, 3 and 2. Another task is behind 0 through 4, and before 1 through 5.
    #[test]
    fn tasks_wait_for_each_other_through_joins_elsewhere() {
        let tasks = [LASTS, LASTS, JOIN, JOIN, JOIN, JOIN, LASTS].map(|work| (0, work));
        let waits = [(3, 0), (2, 3), (1, 2), (4, 0), (6, 4), (5, 6), (1, 5)];
        let part = graph(&tasks, &waits).build().expect("no cycle").part(0..2);
        assert_eq!(part.tasks().len(), 4);
        assert_eq!(part.successors(TaskId(0)), [TaskId(2)]);
        assert_eq!((part.successors(TaskId(2)), part.successors(TaskId(3))), (&[TaskId(3)][..], &[TaskId(1)][..]));
        assert_eq!([0, 1, 2, 3].map(|task| part.waits(TaskId(task))), [0, 1, 1, 1]);
    }

    #[test]
    fn a_part_keeps_the_order_among_its_tasks() {
        let mut graph = graph(&[(0, LASTS); 4], &[]).build().expect("no cycle");
        graph.set_order(&[TaskId(3), TaskId(1), TaskId(2), TaskId(0)]);
        let part = graph.part(1..4);
        assert_eq!([0, 1, 2].map(|task| part.places.placed(TaskId(task)).0), [1, 2, 0]);
    }
}
