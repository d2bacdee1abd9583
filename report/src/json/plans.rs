//! The plans of operations as they came to pass, engine by engine.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use weir_plugin_api::PS_PER_S;
use weir_sim_core::{EngineId, TaskId};

use super::list::{List, RowMaker};
use crate::Run;
use crate::served::engine_name;
use crate::timeline::{Lane, lanes};
use crate::units::seconds;
use weir_scenario::PlannedOperation;

/// The operations that models planned.
pub(crate) struct Plans<'a> {
    run: &'a Run<'a>,
}

impl<'a> Plans<'a> {
    /// `None` of a run in which no model planned anything.
    pub(crate) fn of(run: &'a Run<'a>) -> Option<List<Self>> {
        (!run.scenario.operations.is_empty()).then_some(List::Made(Self { run }))
    }

    fn engine(&self, operation: &'a PlannedOperation, lane: Lane) -> EngineRow<'a> {
        EngineRow {
            engine: (lane.engine != EngineId::NONE).then(|| engine_name(self.run.scenario, lane.engine)),
            busy_s: lane.busy(self.run) as f64 / PS_PER_S as f64,
            tasks: List::Made(Tasks { run: self.run, operation, tasks: lane.tasks }),
        }
    }
}

impl<'a> RowMaker for Plans<'a> {
    type ResultRow = PlanRow<'a>;

    fn rows(&self) -> impl Iterator<Item = PlanRow<'a>> {
        self.run.scenario.operations.iter().map(|operation| PlanRow {
            id: &operation.id,
            engines: lanes(self.run, operation).into_iter().map(|lane| self.engine(operation, lane)).collect(),
        })
    }
}

/// An operation.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Plan")]
pub(crate) struct PlanRow<'a> {
    id: &'a str,
    engines: Vec<EngineRow<'a>>,
}

/// What an operation did on one engine.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "PlanEngine")]
struct EngineRow<'a> {
    /// Null for tasks that need none.
    engine: Option<String>,
    /// Time in which the operation's own tasks were at work.
    busy_s: f64,
    tasks: List<Tasks<'a>>,
}

/// Tasks in the order of their starts.
struct Tasks<'a> {
    run: &'a Run<'a>,
    operation: &'a PlannedOperation,
    tasks: Vec<TaskId>,
}

impl<'a> RowMaker for Tasks<'a> {
    type ResultRow = TaskRow<'a>;

    fn rows(&self) -> impl Iterator<Item = TaskRow<'a>> {
        self.tasks.iter().map(|&task| {
            let times = self.run.outcome.tasks[task.index()];
            TaskRow {
                task: self.run.short_name(self.operation, task),
                ready_s: seconds(times.ready),
                start_s: seconds(times.start),
                end_s: seconds(times.end),
            }
        })
    }
}

/// One task; null for what has not happened.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "PlanTask")]
struct TaskRow<'a> {
    task: Cow<'a, str>,
    ready_s: Option<f64>,
    start_s: Option<f64>,
    end_s: Option<f64>,
}
