//! Which tasks an engine served: who stood in an operation's way on the engines of its devices.

use std::cell::OnceCell;

use weir_plugin_api::{EngineScope, SimTime};
use weir_sim_core::{EngineId, TaskId};

use crate::Run;
use weir_scenario::{PlannedOperation, Scenario};

/// The tasks that each engine served, in the order of their starts; collected when first asked for, once per report.
pub(crate) struct Served<'a> {
    run: &'a Run<'a>,
    lists: OnceCell<Lists>,
}

/// Tasks by engine, as compressed rows.
struct Lists {
    offsets: Vec<usize>,
    tasks: Vec<TaskId>,
    /// Per entry of `tasks`: the latest `sent` of its row up to here. It never falls, so that it can be searched.
    latest: Vec<SimTime>,
}

impl<'a> Served<'a> {
    pub(crate) fn new(run: &'a Run<'a>) -> Self {
        Self { run, lists: OnceCell::new() }
    }

    /// The tasks that an engine has served, by (start, id).
    pub(crate) fn by(&self, engine: EngineId) -> &[TaskId] {
        let lists = self.lists();
        &lists.tasks[lists.row(engine)]
    }

    /// The tasks of others that an engine was busy with at some time between `from` and `to`, by their starts.
    pub(crate) fn others(
        &self,
        engine: EngineId,
        operation: &PlannedOperation,
        (from, to): (SimTime, SimTime),
    ) -> impl Iterator<Item = TaskId> {
        let lists = self.lists();
        let row = lists.row(engine);
        let first = row.start + lists.latest[row.clone()].partition_point(|&sent| sent <= from);
        let times = move |task: TaskId| self.run.outcome.tasks[task.index()];
        let started = lists.tasks[first..row.end].iter().copied().take_while(move |&task| times(task).start < to);
        let own = operation.tasks.clone();
        started.filter(move |&task| {
            let busy = times(task);
            !own.contains(&task.0) && busy.sent > from && busy.sent > busy.start
        })
    }

    /// The task that an engine of one slot served before another one.
    pub(crate) fn before(&self, task: TaskId) -> Option<TaskId> {
        let engine = self.run.scenario.tasks.tasks()[task.index()].engine;
        if engine == EngineId::NONE {
            return None;
        }
        let row = self.by(engine);
        let key = |task: TaskId| (self.run.outcome.tasks[task.index()].start, task);
        let at = row.partition_point(|&other| key(other) < key(task));
        at.checked_sub(1).map(|before| row[before])
    }

    fn lists(&self) -> &Lists {
        self.lists.get_or_init(|| Lists::new(self.run))
    }
}

impl Lists {
    fn new(run: &Run<'_>) -> Self {
        let (graph, times) = (&run.scenario.tasks, &run.outcome.tasks);
        let mut offsets = vec![0; graph.engines().len() + 1];
        let served = || {
            let all = graph.tasks().iter().zip(times).enumerate();
            all.filter(|(_, (task, times))| task.engine != EngineId::NONE && !times.start.is_never())
                .map(|(i, (task, _))| (task.engine.0 as usize, TaskId(i as u32)))
        };
        for (engine, _) in served() {
            offsets[engine + 1] += 1;
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let (mut tasks, mut next) = (vec![TaskId(0); offsets[offsets.len() - 1]], offsets.clone());
        for (engine, task) in served() {
            tasks[next[engine]] = task;
            next[engine] += 1;
        }
        let mut latest = Vec::with_capacity(tasks.len());
        for row in offsets.windows(2) {
            let row = &mut tasks[row[0]..row[1]];
            row.sort_unstable_by_key(|task| (times[task.index()].start, *task));
            let mut last = SimTime::ZERO;
            latest.extend(row.iter().map(|task| {
                last = last.max(times[task.index()].sent);
                last
            }));
        }
        Self { offsets, tasks, latest }
    }

    fn row(&self, engine: EngineId) -> std::ops::Range<usize> {
        self.offsets[engine.0 as usize]..self.offsets[engine.0 as usize + 1]
    }
}

/// An engine for a person: `gpu0/copy`, or the bare name of an operation's own.
pub(crate) fn engine_name(scenario: &Scenario, engine: EngineId) -> String {
    let engine = &scenario.tasks.engines()[engine.0 as usize];
    match engine.scope {
        EngineScope::Device(node) => format!("{}/{}", scenario.node_name(node), engine.name),
        EngineScope::Operation => engine.name.to_string(),
    }
}
