//! The plans of operations as they came to pass, engine by engine.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use weir_plugin_api::PS_PER_S;
use weir_sim_core::{EngineId, TaskId};

use super::lists::{seconds, stream};
use crate::Run;
use crate::served::engine_name;
use crate::timeline::{Lane, lanes};
use weir_scenario::PlannedOperation;

/// The operations that models planned.
pub(crate) struct Plans<'a> {
    pub(crate) run: &'a Run<'a>,
}
stream!(Plans);

impl Plans<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.run.scenario.operations.is_empty()
    }

    fn rows(&self) -> impl Iterator<Item = PlanRow<'_>> {
        self.run.scenario.operations.iter().map(|operation| PlanRow {
            id: &operation.id,
            engines: lanes(self.run, operation).into_iter().map(|lane| self.engine(operation, lane)).collect(),
        })
    }

    fn engine<'p>(&'p self, operation: &'p PlannedOperation, lane: Lane) -> EngineRow<'p> {
        EngineRow {
            engine: (lane.engine != EngineId::NONE).then(|| engine_name(self.run, lane.engine)),
            busy_s: lane.busy(self.run) as f64 / PS_PER_S as f64,
            tasks: Tasks { run: self.run, operation, tasks: lane.tasks },
        }
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
    #[schemars(with = "Vec<TaskRow>")]
    tasks: Tasks<'a>,
}

/// Tasks in the order of their starts.
struct Tasks<'a> {
    run: &'a Run<'a>,
    operation: &'a PlannedOperation,
    tasks: Vec<TaskId>,
}
stream!(Tasks);

impl Tasks<'_> {
    fn rows(&self) -> impl Iterator<Item = TaskRow<'_>> {
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
