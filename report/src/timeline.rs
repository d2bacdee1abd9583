//! The plan of an operation as it came to pass: per engine the tasks in the order of their starts, and per task what
//! its start had to wait for.

use std::collections::BTreeMap;

use weir_plugin_api::SimTime;
use weir_sim_core::{EngineId, TaskId, Work};

use crate::served::Served;
use crate::{Run, duration};
use weir_scenario::PlannedOperation;

/// What an operation did on one engine.
pub(crate) struct Lane {
    /// The engine, or [`EngineId::NONE`] for tasks that need none.
    pub(crate) engine: EngineId,
    /// Its tasks there, by (start, id).
    pub(crate) tasks: Vec<TaskId>,
}

impl Lane {
    /// Sum of the times in which its tasks were at work, up to where the run stopped, ps.
    pub(crate) fn busy(&self, run: &Run<'_>) -> u64 {
        let busy = self.tasks.iter().map(|&task| work_span(run, task)).map(|(start, end)| (end - start).0);
        busy.fold(0, u64::saturating_add)
    }
}

/// Begin and end of a task's work, up to where the run stopped; empty for what has not begun.
pub(crate) fn work_span(run: &Run<'_>, task: TaskId) -> (SimTime, SimTime) {
    let (times, now) = (run.outcome.tasks[task.index()], run.outcome.now);
    (times.start.min(now), times.sent.min(now))
}

/// The engines of an operation in the order of their first use by the plan; at last the tasks that need none and take
/// time.
pub(crate) fn lanes(run: &Run<'_>, operation: &PlannedOperation) -> Vec<Lane> {
    let graph = &run.scenario.tasks;
    let (mut lanes, mut index): (Vec<Lane>, _) = (Vec::new(), BTreeMap::new());
    for task in operation.tasks() {
        let engine = graph.tasks()[task.index()].engine;
        if engine == EngineId::NONE && !takes_time(run, task) {
            continue;
        }
        let at = *index.entry(engine).or_insert_with(|| {
            lanes.push(Lane { engine, tasks: Vec::new() });
            lanes.len() - 1
        });
        lanes[at].tasks.push(task);
    }
    for lane in &mut lanes {
        lane.tasks.sort_by_key(|&task| by_start(run, task));
    }
    // Stable: the others stay in the order of their first use.
    lanes.sort_by_key(|lane| lane.engine == EngineId::NONE);
    lanes
}

/// Whether a task is more than a join.
pub(crate) fn takes_time(run: &Run<'_>, task: TaskId) -> bool {
    match run.scenario.tasks.tasks()[task.index()].work {
        Work::Nothing { .. } => false,
        Work::Lasts(span) => span.0 > 0,
        Work::Carries { .. } => true,
    }
}

/// The key of the order of tasks in time.
pub(crate) fn by_start(run: &Run<'_>, task: TaskId) -> (SimTime, TaskId) {
    (run.outcome.tasks[task.index()].start, task)
}

/// What made the tasks of an operation ready, and what their starts had to wait for.
pub(crate) struct Starts<'a, 'r> {
    run: &'r Run<'r>,
    served: &'a Served<'r>,
    operation: &'a PlannedOperation,
    /// Per task of the operation: the wait that was over last, and whether it was for a start.
    last: Vec<Option<(TaskId, bool)>>,
}

impl<'a, 'r> Starts<'a, 'r> {
    pub(crate) fn new(run: &'r Run<'r>, served: &'a Served<'r>, operation: &'a PlannedOperation) -> Self {
        let mut starts = Self { run, served, operation, last: vec![None; operation.tasks.len()] };
        let graph = &run.scenario.tasks;
        for earlier in std::iter::once(operation.release).chain(operation.tasks()) {
            for &task in graph.successors(earlier) {
                starts.note(task, earlier, false);
            }
            for &task in graph.start_successors(earlier) {
                starts.note(task, earlier, true);
            }
        }
        starts
    }

    /// A wait of `task`: the one that was over last is kept, the first of equals.
    fn note(&mut self, task: TaskId, earlier: TaskId, start: bool) {
        if !self.operation.owns(task) {
            return;
        }
        let over = |(task, start): (TaskId, bool)| {
            let times = self.run.outcome.tasks[task.index()];
            if start { times.start } else { times.end }
        };
        let last = &mut self.last[(task.0 - self.operation.tasks.start) as usize];
        if last.is_none_or(|known| over(known) < over((earlier, start))) {
            *last = Some((earlier, start));
        }
    }

    /// What determined the start of a task, for a person: `h0 + lead`, `h1's end + gap`, `turn-around after h1`.
    pub(crate) fn reason(&self, task: TaskId) -> String {
        let (times, service) = (self.run.outcome.tasks[task.index()], self.run.scenario.tasks.service(task));
        if times.start.is_never() {
            return if times.ready.is_never() { format!("waits for {}", self.wait(task)) } else { "queues".to_owned() };
        }
        let lead = if service.lead.0 > 0 { " + lead" } else { "" };
        if times.start == times.ready.after(service.lead) {
            return format!("{}{lead}", self.wait(task));
        }
        let Some(before) = self.served.before(task) else { return "its engine".to_owned() };
        let name = self.name(before);
        let before_class = self.run.scenario.tasks.service(before).class;
        if before_class != service.class && service.lead.0 > 0 {
            return format!("turn-around after {name}");
        }
        let gap = if before_class == service.class && service.gap.0 > 0 { " + gap" } else { "" };
        format!("end of {name}{gap}")
    }

    /// What made a task ready.
    fn wait(&self, task: TaskId) -> String {
        match self.last[(task.0 - self.operation.tasks.start) as usize] {
            Some((earlier, true)) => format!("start of {}", self.name(earlier)),
            Some((earlier, false)) => self.name(earlier),
            None => "release".to_owned(),
        }
    }

    fn name(&self, task: TaskId) -> String {
        match task {
            _ if task == self.operation.release => "release".to_owned(),
            _ if self.operation.owns(task) => self.run.short_name(self.operation, task).into_owned(),
            _ => self.run.scenario.task_name(task).into_owned(),
        }
    }
}

/// What a task does: its time, or its bytes.
pub(crate) fn work_text(run: &Run<'_>, task: TaskId) -> String {
    match run.scenario.tasks.tasks()[task.index()].work {
        Work::Nothing { .. } => "–".to_owned(),
        Work::Lasts(span) => duration(span),
        Work::Carries { bytes, .. } => crate::bytes(bytes),
    }
}
