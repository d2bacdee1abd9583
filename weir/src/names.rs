//! A scenario as reports see it: names beside dense ids.

use std::borrow::Cow;

use weir_plugin_api::NodeId;
use weir_report::{Choice, ModelInfo, Planned, Subject};
use weir_scenario::{PlannedOperation, Scenario};
use weir_sim_core::{Fabric, Routes, TaskGraph, TaskId};

/// A scenario with its names.
pub struct Named<'a> {
    scenario: &'a Scenario,
    planned: Vec<Planned<'a>>,
}

impl<'a> Named<'a> {
    /// The names of a scenario.
    #[must_use]
    pub fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, planned: scenario.operations.iter().map(planned).collect() }
    }
}

fn planned(operation: &PlannedOperation) -> Planned<'_> {
    let choice = operation.choice.as_ref();
    Planned {
        id: &operation.id,
        kind: &operation.kind,
        model: ModelInfo { name: &operation.model, version: &operation.version, sha256: operation.sha256.as_deref() },
        release: operation.release,
        tasks: operation.tasks.clone(),
        estimates: &operation.estimates,
        details: &operation.details,
        choice: choice.map(|c| Choice { key: &c.key, alternatives: &c.alternatives, chosen: c.chosen }),
    }
}

impl Subject for Named<'_> {
    fn name(&self) -> &str {
        &self.scenario.name
    }

    fn file(&self) -> &str {
        &self.scenario.file
    }

    fn input_sha256(&self) -> &str {
        &self.scenario.input_sha256
    }

    fn fabric(&self) -> &Fabric {
        &self.scenario.fabric
    }

    fn routes(&self) -> &Routes {
        &self.scenario.routes
    }

    fn tasks(&self) -> &TaskGraph {
        &self.scenario.tasks
    }

    fn task_name(&self, task: TaskId) -> Cow<'_, str> {
        self.scenario.task_name(task)
    }

    fn node_name(&self, node: NodeId) -> &str {
        self.scenario.node_name(node)
    }

    fn planned(&self) -> &[Planned<'_>] {
        &self.planned
    }

    fn generator(&self) -> Option<&str> {
        self.scenario.generator.as_deref()
    }
}
