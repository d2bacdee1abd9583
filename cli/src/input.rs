//! Scenarios from files and standard input.

use std::io::Read;
use std::path::Path;

use weir_scenario::{Checked, Diagnostic, LoadOptions, Scenario};

use crate::args::ScenarioArgs;
use crate::failure::{Exit, Failure, message};
use crate::plugins::Arbiters;

/// Most bytes of a scenario on standard input: one more than the format allows, so that the reader can refuse.
const MOST: u64 = (16 << 20) + 1;

/// Reads a scenario and shows its warnings.
pub(crate) fn load(file: &Path, args: &ScenarioArgs, arbiters: &Arbiters) -> Result<Scenario, Failure> {
    Ok(shown(read(file, args, arbiters)?, file))
}

/// As [`load`], of a scenario that was read from standard input already.
pub(crate) fn load_bytes(text: Vec<u8>, args: &ScenarioArgs, arbiters: &Arbiters) -> Result<Scenario, Failure> {
    let options = options(args, &[]);
    let loaded = weir_scenario::load_text(text, "-", Some(Path::new(".")), &options, &arbiters.registry);
    Ok(shown(loaded.map_err(|diagnostics| wrong(&diagnostics, arbiters))?, Path::new("-")))
}

/// As [`load`], of a scenario whose transfers are to be streamed.
pub(crate) fn load_streamed(file: &Path, args: &ScenarioArgs, arbiters: &Arbiters) -> Result<Scenario, Failure> {
    let options = LoadOptions { stream: true, ..options(args, &[]) };
    Ok(shown(loaded(file, &options, arbiters)?, file))
}

/// Shows the warnings of a scenario.
fn shown(scenario: Scenario, file: &Path) -> Scenario {
    for warning in &scenario.warnings {
        message(&warning.to_string());
    }
    tracing::info!(
        file = %file.display(),
        nodes = scenario.fabric.nodes().len(),
        tasks = scenario.stream.as_ref().map_or(scenario.tasks.tasks().len(), |stream| stream.census().transfers()),
        routes = scenario.routes.len(),
        "read a scenario"
    );
    scenario
}

/// Reads a scenario; its warnings are left to the caller.
pub(crate) fn read(file: &Path, args: &ScenarioArgs, arbiters: &Arbiters) -> Result<Scenario, Failure> {
    read_with(file, args, &[], arbiters)
}

/// As [`read`], with edits after those of the command line.
pub(crate) fn read_with(
    file: &Path,
    args: &ScenarioArgs,
    edits: &[(String, String)],
    arbiters: &Arbiters,
) -> Result<Scenario, Failure> {
    loaded(file, &options(args, edits), arbiters)
}

fn loaded(file: &Path, options: &LoadOptions, arbiters: &Arbiters) -> Result<Scenario, Failure> {
    let loaded = if is_stdin(file) {
        weir_scenario::load_text(stdin()?, "-", Some(Path::new(".")), options, &arbiters.registry)
    } else {
        weir_scenario::load(file, options, &arbiters.registry)
    };
    loaded.map_err(|diagnostics| wrong(&diagnostics, arbiters))
}

/// Reads a scenario or a topology; warnings are left to the caller.
pub(crate) fn read_any(file: &Path, args: &ScenarioArgs, arbiters: &Arbiters) -> Result<Checked, Failure> {
    let options = options(args, &[]);
    let checked = if is_stdin(file) {
        weir_scenario::check_text(stdin()?, "-", Some(Path::new(".")), &options, &arbiters.registry)
    } else {
        weir_scenario::check(file, &options, &arbiters.registry)
    };
    checked.map_err(|diagnostics| wrong(&diagnostics, arbiters))
}

/// What the command line, and further edits, make of a file.
pub(crate) fn options(args: &ScenarioArgs, edits: &[(String, String)]) -> LoadOptions {
    let set = [&args.set, edits].concat();
    LoadOptions { library: args.library.clone(), set, arbiters: args.arbiters.clone(), stream: false }
}

/// Whether a file stands for standard input.
pub(crate) fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// The files that a scenario names.
pub(crate) fn named(scenario: &Scenario) -> Vec<&Path> {
    scenario.files.iter().map(|file| file.path.as_path()).collect()
}

fn stdin() -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let read = std::io::stdin().lock().take(MOST).read_to_end(&mut text);
    read.map_err(|error| Failure::usage(format!("standard input cannot be read: {error}")))?;
    Ok(text)
}

/// What is wrong with a scenario, as a failure of the command.
pub(crate) fn wrong(diagnostics: &[Diagnostic], arbiters: &Arbiters) -> Failure {
    let mentioned = |name: &str| diagnostics.iter().any(|d| d.message.contains(&format!("`{name}`")));
    if let Some(error) = arbiters.refusal_of(mentioned) {
        return crate::plugins::refused(error);
    }
    let texts: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    let exit = if diagnostics.iter().any(|d| d.plugin) { Exit::Plugin } else { Exit::Usage };
    Failure::diagnosed(exit, texts.join("\n\n"))
}
