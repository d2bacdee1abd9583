//! The arbiters and models of a run: the built-in ones, those of `--plugin`, and those the user has added.

use std::path::{Path, PathBuf};

use weir_plugin_api::Registry;
use weir_plugin_host::{PROBE_COMMAND, PluginConfig, PluginError, Refusal, StuckCall, Watchdog};

use crate::args::ScenarioArgs;
use crate::failure::{Exit, Failure, message};
use crate::output;

/// The arbiters and models that scenarios may use, and what watches them.
pub(crate) struct Arbiters {
    /// By name.
    pub(crate) registry: Registry,
    /// Added plugins that could not be loaded.
    refusals: Vec<Refusal>,
    /// Ends the program when a plugin's call does not return; `None` when nothing is loaded.
    _watchdog: Option<Watchdog>,
}

/// The file to probe, when this process is the child that opens a library first.
pub(crate) fn probe_argument() -> Option<PathBuf> {
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()?.to_str() == Some(PROBE_COMMAND)).then(|| arguments.next().map(PathBuf::from))?
}

/// The built-in arbiters and models.
pub(crate) fn builtin() -> Result<Registry, Failure> {
    let mut registry = Registry::new();
    weir_arbiters::register(&mut registry).map_err(|error| Failure::new(Exit::Plugin, error))?;
    weir_models::register(&mut registry).map_err(|error| Failure::new(Exit::Plugin, error))?;
    Ok(registry)
}

/// The path of this program, which probes libraries in a child process.
pub(crate) fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::new(Exit::Plugin, format!("the path of this program is not known ({error})")))
}

/// Everything that a run of these arguments may use.
pub(crate) fn arbiters(args: &ScenarioArgs) -> Result<Arbiters, Failure> {
    let mut registry = builtin()?;
    let config = if args.no_plugins { None } else { user_config() };
    let any = !args.plugins.is_empty() || config.as_ref().is_some_and(|config| !config.records().is_empty());
    let watchdog = if any { Some(watch()?) } else { None };
    for file in &args.plugins {
        load(file, &mut registry)?;
    }
    let refusals = config.map_or_else(Vec::new, |config| weir_plugin_host::load_configured(&config, &mut registry));
    Ok(Arbiters { registry, refusals, _watchdog: watchdog })
}

/// The user's list. One that cannot be read stops nothing: most runs need no plugin.
fn user_config() -> Option<PluginConfig> {
    match PluginConfig::of_user() {
        Ok(config) => Some(config),
        Err(PluginError::NoConfigFolder { .. }) => None,
        Err(error) => {
            message(&format!("warning: {error}"));
            None
        }
    }
}

fn load(file: &Path, registry: &mut Registry) -> Result<(), Failure> {
    let library = weir_plugin_host::load_file(file, &program()?, registry).map_err(|error| refused(&error))?;
    tracing::info!(path = %library.path.display(), sha256 = %library.sha256, "loaded a plugin");
    Ok(())
}

/// A plugin error as a failure of the command.
pub(crate) fn refused(error: &PluginError) -> Failure {
    Failure::new(Exit::Plugin, error)
}

/// Starts the watchdog: a call that does not return ends the program, with the results already finished in place.
pub(crate) fn watch() -> Result<Watchdog, Failure> {
    let limit = Watchdog::limit_from_env().map_err(|error| refused(&error))?;
    let report = |stuck: &StuckCall| {
        message(&format!("error: {stuck}; the current run has failed"));
        output::settle();
        std::process::exit(Exit::Plugin as i32);
    };
    Watchdog::start(limit, report)
        .map_err(|error| Failure::new(Exit::Plugin, format!("plugins cannot be watched: {error}; use --no-plugins")))
}

impl Arbiters {
    /// Why a name that a scenario uses is not there: it was added, but its library is refused now.
    pub(crate) fn refusal_of(&self, mentioned: impl Fn(&str) -> bool) -> Option<&PluginError> {
        let named = |refusal: &&Refusal| refusal.names.iter().any(|name| mentioned(name));
        self.refusals.iter().find(named).map(|refusal| &refusal.error)
    }
}
