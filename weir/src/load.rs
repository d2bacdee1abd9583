//! Scenarios from files and text, with errors as the command prints them.

use std::path::Path;

use weir_scenario::{Checked, LoadOptions, Scenario};

use crate::{Error, Registry};

/// Reads a scenario file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load(file: &Path, options: &LoadOptions, registry: &Registry) -> Result<Scenario, Error> {
    let loaded = weir_scenario::load(file, options, registry);
    loaded.map(logged).map_err(|findings| registry.error_of(&findings))
}

/// Reads a scenario from text. `name` stands for the file in messages, `-` for standard input; files that the scenario names
/// are looked for from `folder`.
///
/// # Errors
/// As [`load`].
pub fn load_text(
    text: Vec<u8>,
    name: &str,
    folder: &Path,
    options: &LoadOptions,
    registry: &Registry,
) -> Result<Scenario, Error> {
    let loaded = weir_scenario::load_text(text, name, Some(folder), options, registry);
    loaded.map(logged).map_err(|findings| registry.error_of(&findings))
}

/// Reads a scenario file, or a topology without a workload.
///
/// # Errors
/// As [`load`].
pub fn check(file: &Path, options: &LoadOptions, registry: &Registry) -> Result<Checked, Error> {
    let checked = weir_scenario::check(file, options, registry);
    checked.map_err(|findings| registry.error_of(&findings))
}

/// As [`check`], from text.
///
/// # Errors
/// As [`load`].
pub fn check_text(
    text: Vec<u8>,
    name: &str,
    folder: &Path,
    options: &LoadOptions,
    registry: &Registry,
) -> Result<Checked, Error> {
    let checked = weir_scenario::check_text(text, name, Some(folder), options, registry);
    checked.map_err(|findings| registry.error_of(&findings))
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
