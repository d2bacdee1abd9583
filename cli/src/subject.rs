//! A scenario as reports see it.

use std::borrow::Cow;

use weir_plugin_api::NodeId;
use weir_report::Subject;
use weir_scenarios::Scenario;
use weir_sim_core::{Fabric, Routes, TaskGraph, TaskId};

/// A scenario with its names.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a>(pub(crate) &'a Scenario);

impl Subject for Named<'_> {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn file(&self) -> &str {
        &self.0.file
    }

    fn input_sha256(&self) -> &str {
        &self.0.input_sha256
    }

    fn fabric(&self) -> &Fabric {
        &self.0.fabric
    }

    fn routes(&self) -> &Routes {
        &self.0.routes
    }

    fn tasks(&self) -> &TaskGraph {
        &self.0.tasks
    }

    fn task_name(&self, task: TaskId) -> Cow<'_, str> {
        self.0.task_name(task)
    }

    fn node_name(&self, node: NodeId) -> &str {
        self.0.node_name(node)
    }

    fn generator(&self) -> Option<&str> {
        self.0.generator.as_deref()
    }
}
