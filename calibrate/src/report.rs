//! A fit with all that is said of it.

use weir_scenario::Machine;

use crate::fit::Fit;
use crate::measurement::{Experiment, Log};

/// A fit, what it was made from, and what to say of it.
#[derive(Clone, Copy)]
pub struct FitReport<'a> {
    /// The topology that the transfers ran on, with its values before the fit.
    pub machine: &'a Machine,
    /// The experiments of all logs.
    pub experiments: &'a [Experiment],
    /// What was read, a log for each file, in the order given.
    pub logs: &'a [Log],
    /// What came out of it.
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
