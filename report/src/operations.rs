//! The operations of a workload that are not plain transfers: what models planned, computations, barriers.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};
use weir_plugin_api::{Estimate, SimDuration, SimTime};
use weir_sim_core::{TaskId, Work};

use crate::Run;

/// An operation that a model turned into tasks.
#[derive(Clone, Debug)]
pub struct Planned<'a> {
    /// Its id. Its tasks are named `<id>/<task>`.
    pub id: &'a str,
    /// The key it stands under: `offload`, `put`, `gather`, `transfer`.
    pub kind: &'a str,
    /// Who planned it.
    pub model: ModelInfo<'a>,
    /// The join whose end is its release.
    pub release: TaskId,
    /// Its tasks.
    pub tasks: Range<u32>,
    /// Its closed forms; the simulated time is held against the last one.
    pub estimates: &'a [Estimate],
    /// What its model adds to results.
    pub details: &'a Map<String, Value>,
    /// What was left open and chosen by simulation.
    pub choice: Option<Choice<'a>>,
}

/// The model of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModelInfo<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
    /// SHA-256 of the library it was loaded from; `None` when built in.
    pub sha256: Option<&'a str>,
}

/// What an operation left open (`auto`), and how it was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice<'a> {
    /// The key that said `auto`; empty where the alternatives differ in several.
    pub key: &'a str,
    /// The ways to do the operation, with the time of each alone.
    pub alternatives: &'a [(Box<str>, SimDuration)],
    /// The position of the one that was planned.
    pub chosen: usize,
}

impl<'a> Choice<'a> {
    /// What was chosen: `512KiB`.
    #[must_use]
    pub fn label(&self) -> Option<&'a str> {
        self.alternatives.get(self.chosen).map(|(label, _)| &**label)
    }
}

impl Planned<'_> {
    /// Its tasks, in the order of the plan.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = TaskId> + use<> {
        self.tasks.clone().map(TaskId)
    }

    /// Whether a task is one of its own.
    #[must_use]
    pub fn owns(&self, task: TaskId) -> bool {
        self.tasks.contains(&task.0)
    }

    /// When all it waits for has ended; [`SimTime::NEVER`] if that did not happen.
    #[must_use]
    pub fn released(&self, run: &Run<'_>) -> SimTime {
        run.outcome.tasks[self.release.index()].end
    }

    /// The end of its last task; [`SimTime::NEVER`] until all have ended.
    #[must_use]
    pub fn ended(&self, run: &Run<'_>) -> SimTime {
        let ends = self.tasks().map(|task| run.outcome.tasks[task.index()].end);
        ends.max().unwrap_or_else(|| self.released(run))
    }

    /// From release to end; `None` until it has ended.
    #[must_use]
    pub fn simulated(&self, run: &Run<'_>) -> Option<SimDuration> {
        let end = self.ended(run);
        (!end.is_never()).then(|| end - self.released(run))
    }

    /// The name of one of its tasks without the operation's.
    pub(crate) fn short<'r>(&self, run: &Run<'r>, task: TaskId) -> Cow<'r, str> {
        let below = |name: &str| name.strip_prefix(self.id).is_some_and(|rest| rest.starts_with('/'));
        match run.subject.task_name(task) {
            Cow::Borrowed(name) if below(name) => Cow::Borrowed(&name[self.id.len() + 1..]),
            Cow::Owned(name) if below(&name) => Cow::Owned(name[self.id.len() + 1..].to_owned()),
            name => name,
        }
    }
}

/// An operation that is not a plain transfer.
pub(crate) enum Operation<'a> {
    /// A computation or barrier of the workload, and its kind.
    Own(TaskId, &'static str),
    /// What a model planned.
    Planned(&'a Planned<'a>),
}

/// The operations in file order. Nothing is kept for them: a million barriers pass one by one.
pub(crate) fn operations<'a>(run: &Run<'a>) -> impl Iterator<Item = Operation<'a>> + use<'a> {
    let (tasks, planned) = (run.subject.tasks().tasks(), run.subject.planned());
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
pub(crate) fn owner<'a>(run: &Run<'a>, task: TaskId) -> Option<&'a Planned<'a>> {
    let planned = run.subject.planned();
    let after = planned.partition_point(|operation| operation.tasks.start <= task.0);
    planned[..after].iter().rev().find(|operation| !operation.tasks.is_empty()).filter(|operation| operation.owns(task))
}

/// The id under which the user knows what a task belongs to.
pub(crate) fn owner_name<'a>(run: &Run<'a>, task: TaskId) -> Cow<'a, str> {
    owner(run, task).map_or_else(|| run.subject.task_name(task), |operation| Cow::Borrowed(operation.id))
}
