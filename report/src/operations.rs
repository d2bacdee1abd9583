//! The operations of a workload that are not plain transfers: what models planned, computations, barriers.

use std::borrow::Cow;

use weir_plugin_api::{SimDuration, SimTime};
use weir_scenario::PlannedOperation;
use weir_sim_core::{Outcome, TaskId, Work};

use crate::Run;

impl Run<'_> {
    /// When all that an operation waits for has ended; [`SimTime::NEVER`] if that did not happen.
    #[must_use]
    pub fn released(&self, operation: &PlannedOperation) -> SimTime {
        self.outcome.tasks[operation.release.index()].end
    }

    /// The end of an operation's last task; [`SimTime::NEVER`] until all have ended.
    #[must_use]
    pub fn ended(&self, operation: &PlannedOperation) -> SimTime {
        end_of(operation, self.outcome)
    }

    /// From release to end of an operation; `None` until it has ended.
    #[must_use]
    pub fn simulated(&self, operation: &PlannedOperation) -> Option<SimDuration> {
        let end = self.ended(operation);
        (!end.is_never()).then(|| end - self.released(operation))
    }
}

impl Run<'_> {
    /// From release to end of an operation when nothing else of the workload runs, under the same arbiter; `None` where that
    /// is not known, or nothing else is there.
    #[must_use]
    pub fn operation_alone(&self, operation: &PlannedOperation) -> Option<SimDuration> {
        self.alone.operation(operation)
    }

    /// The simulated time of an operation over [`Self::operation_alone`].
    pub(crate) fn operation_slowdown(&self, operation: &PlannedOperation) -> Option<f64> {
        let (time, alone) = (self.simulated(operation)?, self.operation_alone(operation)?);
        (alone.0 > 0).then(|| time.seconds() / alone.seconds())
    }
}

impl<'a> Run<'a> {
    /// The name of a task of an operation, without the operation's.
    pub(crate) fn short_name(&self, operation: &PlannedOperation, task: TaskId) -> Cow<'a, str> {
        let id = &*operation.id;
        let below = |name: &str| name.strip_prefix(id).is_some_and(|rest| rest.starts_with('/'));
        match self.scenario.task_name(task) {
            Cow::Borrowed(name) if below(name) => Cow::Borrowed(&name[id.len() + 1..]),
            Cow::Owned(name) if below(&name) => Cow::Owned(name[id.len() + 1..].to_owned()),
            name => name,
        }
    }
}

/// The end of an operation's last task; [`SimTime::NEVER`] until all have ended.
#[must_use]
pub fn end_of(operation: &PlannedOperation, outcome: &Outcome) -> SimTime {
    let end = |task: TaskId| outcome.tasks[task.index()].end;
    operation.tasks().map(end).max().unwrap_or_else(|| end(operation.release))
}

/// An operation that is not a plain transfer.
pub(crate) enum Operation<'a> {
    /// A computation or barrier of the workload, and its kind.
    Own(TaskId, &'static str),
    /// What a model planned.
    Planned(&'a PlannedOperation),
}

/// The operations in file order. Nothing is kept for them: a million barriers pass one by one.
pub(crate) fn operations<'a>(run: &Run<'a>) -> impl Iterator<Item = Operation<'a>> + use<'a> {
    let (tasks, planned) = (run.scenario.tasks.tasks(), &*run.scenario.operations);
    let (mut at, mut next) = (0_usize, 0);
    std::iter::from_fn(move || {
        loop {
            if let Some(operation) = planned.get(next)
                && operation.tasks.start as usize <= at
            {
                next += 1;
                at = at.max(operation.tasks.end as usize);
                return Some(Operation::Planned(operation));
            }
            let task = TaskId(at as u32);
            let work = tasks.get(at)?.work;
            at += 1;
            match work {
                Work::Lasts(_) => return Some(Operation::Own(task, "compute")),
                Work::Nothing { counted: true } => return Some(Operation::Own(task, "barrier")),
                Work::Nothing { counted: false } | Work::Carries { .. } => {}
            }
        }
    })
}

/// The operation, if one was planned, to which a task belongs.
pub(crate) fn owner<'a>(run: &Run<'a>, task: TaskId) -> Option<&'a PlannedOperation> {
    let planned = &run.scenario.operations;
    let after = planned.partition_point(|operation| operation.tasks.start <= task.0);
    planned[..after].iter().rev().find(|operation| !operation.tasks.is_empty()).filter(|operation| operation.owns(task))
}

/// The id under which the user knows what a task belongs to.
pub(crate) fn owner_name<'a>(run: &Run<'a>, task: TaskId) -> Cow<'a, str> {
    owner(run, task).map_or_else(|| run.scenario.task_name(task), |operation| Cow::Borrowed(&*operation.id))
}
