//! Scenarios from files and text, with errors as the command prints them.

use weir_scenario::{Checked, Input, LoadOptions, Scenario};

use crate::{Error, Registry};

/// Reads a scenario.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load<'a>(input: impl Into<Input<'a>>, options: &LoadOptions, registry: &Registry) -> Result<Scenario, Error> {
    let loaded = weir_scenario::load(input, options, registry);
    loaded.map(logged).map_err(|findings| registry.error_of(&findings))
}

/// Reads a scenario, or a topology without a workload.
///
/// # Errors
/// As [`load`].
pub fn check<'a>(input: impl Into<Input<'a>>, options: &LoadOptions, registry: &Registry) -> Result<Checked, Error> {
    weir_scenario::check(input, options, registry).map_err(|findings| registry.error_of(&findings))
}

fn logged(scenario: Scenario) -> Scenario {
    tracing::info!(
        file = scenario.file,
        nodes = scenario.fabric.nodes().len(),
        tasks = scenario.stream.as_ref().map_or(scenario.tasks.tasks().len(), |stream| stream.census().transfers()),
        routes = scenario.routes.len(),
        "read a scenario"
    );
    scenario
}
