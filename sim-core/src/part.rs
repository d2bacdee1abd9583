//! Some tasks of a graph as a graph of their own: how long would they take without the others?

use std::ops::Range;

use weir_plugin_api::SimTime;

use crate::tasks::{Follows, Places, Task, TaskGraph, TaskId};

impl TaskGraph {
    /// Consecutive tasks with the waits among them, under ids from 0 on. Waits for others are left out, and starts count from
    /// that of the first. Engines and classes stay as they are.
    ///
    /// # Panics
    /// On tasks of another graph.
    #[must_use]
    pub fn part(&self, tasks: Range<u32>) -> Self {
        let first = self.tasks[tasks.start as usize].start;
        let since_first = |task: &Task| Task { start: SimTime(task.start.0.saturating_sub(first.0)), ..*task };
        let own: Vec<Task> = self.tasks[tasks.start as usize..tasks.end as usize].iter().map(since_first).collect();
        let inside = |follows: &Follows| {
            let id = |task: TaskId| TaskId(task.0 - tasks.start);
            let later = |earlier: u32| {
                let all = follows.of(TaskId(earlier)).iter().filter(|task| tasks.contains(&task.0));
                all.map(move |&task| (id(TaskId(earlier)), id(task)))
            };
            Follows::new(tasks.clone().flat_map(later).collect(), own.len())
        };
        let (after_end, after_start) = (inside(&self.after_end), inside(&self.after_start));
        let mut waits = vec![0; own.len()];
        after_end.tasks.iter().chain(&after_start.tasks).for_each(|task| waits[task.index()] += 1);
        Self {
            issued: inside(&self.issued),
            tasks: own,
            engines: self.engines.clone(),
            services: self.services.clone(),
            classes: self.classes.clone(),
            waits,
            after_end,
            after_start,
            places: Places::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineId, ServiceId, TaskGraphBuilder, Work};
    use weir_plugin_api::SimDuration;

    /// Of four in a row the middle two: what is before them is not waited for, and starts count from the first.
    #[test]
    fn waits_and_starts_are_those_among_its_tasks() {
        let mut builder = TaskGraphBuilder::new();
        for start in [0, 7, 9, 0] {
            let (engine, service) = (EngineId::NONE, ServiceId::PLAIN);
            builder.task(Task { start: SimTime(start), engine, service, work: Work::Lasts(SimDuration(5)) });
        }
        builder.wait(TaskId(1), TaskId(0));
        builder.wait(TaskId(2), TaskId(1));
        builder.wait_start(TaskId(2), TaskId(0));
        builder.wait_start(TaskId(3), TaskId(2));
        let part = builder.build().expect("no cycle").part(1..3);
        assert_eq!(part.tasks().iter().map(|task| task.start.0).collect::<Vec<_>>(), [0, 2]);
        assert_eq!([part.waits(TaskId(0)), part.waits(TaskId(1))], [0, 1]);
        assert_eq!(part.successors(TaskId(0)), [TaskId(1)]);
        assert!(part.start_successors(TaskId(0)).is_empty() && part.successors(TaskId(1)).is_empty());
    }
}
