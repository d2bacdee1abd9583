//! What models planned, as reports read it.

use std::ops::Range;

use serde_json::{Map, Value as Json};
use weir_plugin_api::{Estimate, SimDuration};
use weir_sim_core::TaskId;

/// An operation that a model planned: one under a key of its own, or a transfer with `model` (each repetition).
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedOperation {
    /// Its id; of a repetition with its number, `id#2`.
    pub id: Box<str>,
    /// The key that it stands under: `offload`, `transfer`, ….
    pub kind: Box<str>,
    /// The name of the model that planned it.
    pub model: Box<str>,
    /// The version of that model, for results.
    pub version: Box<str>,
    /// SHA-256 of the library that the model was loaded from; `None` for a built-in one.
    pub sha256: Option<Box<str>>,
    /// The join at which it may begin: `start` has come, all of `after` has ended.
    pub release: TaskId,
    /// Its tasks, without the release.
    pub tasks: Range<u32>,
    /// What closed forms say, in the model's order; the last one is that of the operation itself.
    pub estimates: Vec<Estimate>,
    /// What else the model says of it.
    pub details: Map<String, Json>,
    /// How what the scenario leaves open was chosen.
    pub choice: Option<Choice>,
}

impl PlannedOperation {
    /// Its tasks, in the order of the plan.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = TaskId> + use<> {
        self.tasks.clone().map(TaskId)
    }

    /// Whether a task is one of its own.
    #[must_use]
    pub fn owns(&self, task: TaskId) -> bool {
        self.tasks.contains(&task.0)
    }
}

/// How an operation that leaves something open was planned: the fastest alternative, the first among equals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The parameter that was left open, such as `packet`; empty where it is not one.
    pub key: Box<str>,
    /// Whether the alternatives were tried under the scenario's other traffic (`under: load`), not alone.
    pub under_load: bool,
    /// What there was to choose, the model's preferred ones first, with the time of the operation from release to end.
    pub alternatives: Vec<(Box<str>, SimDuration)>,
    /// Which one was taken.
    pub chosen: usize,
    /// What there was to choose besides, but the model refuses.
    pub not_tried: Vec<NotTried>,
}

/// An alternative that was not tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotTried {
    /// Its place among all that the model gave.
    pub at: usize,
    /// The value that it would set: `ring`.
    pub label: Box<str>,
    /// Why the model refuses to plan it.
    pub reason: Box<str>,
}

impl Choice {
    /// What was chosen: `512KiB`.
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.alternatives.get(self.chosen).map(|(label, _)| &**label)
    }
}
