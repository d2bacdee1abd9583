//! A fit with all that is said of it.

use serde_json::{Map, Value};
use weir_scenario::Machine;

use crate::fit::Fit;
use crate::measurement::{Experiment, Log};

/// A fit, what it was made from, and what to say of it.
#[derive(Clone, Copy)]
pub struct FitReport<'a> {
    /// The topology.
    pub machine: &'a Machine,
    /// The name of the arbiter.
    pub arbiter: &'a str,
    /// The arbiter's parameters in the scenario.
    pub params: &'a Map<String, Value>,
    /// The experiments of all logs.
    pub experiments: &'a [Experiment],
    /// The logs.
    pub logs: &'a [Log],
    /// The fit.
    pub fit: &'a Fit,
    /// Warnings for a person.
    pub warnings: &'a [String],
}

impl FitReport<'_> {
    /// What is noted of the logs and of the fit.
    pub(crate) fn notes(&self) -> impl Iterator<Item = &String> {
        self.logs.iter().flat_map(|log| &log.notes).chain(&self.fit.notes)
    }
}
