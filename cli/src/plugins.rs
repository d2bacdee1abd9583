//! The arbiters and models of a run: the built-in ones, those of `--plugin`, and those the user has added.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use weir::{Error, ErrorKind, Registry};
use weir_plugin_host::{CHILD_COMMAND, Place, PluginConfig, PluginError, StuckCall, Watchdog};

use crate::args::PluginFlags;
use crate::failure::{Exit, message};
use crate::pending;

/// The arbiters and models that scenarios may use, and what watches them.
pub(crate) struct Arbiters {
    pub(crate) registry: Arc<Registry>,
    /// Ends the program when a plugin's call does not return; `None` when nothing is loaded.
    _watchdog: Option<Watchdog>,
}

/// The library, when this process is the child that opens it for another one.
pub(crate) fn child_argument(arguments: &[OsString]) -> Option<PathBuf> {
    let [_, command, file, ..] = arguments else { return None };
    (command.to_str() == Some(CHILD_COMMAND)).then(|| file.into())
}

/// The program that opens libraries in child processes, where it is not the one that runs.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Names the program that opens libraries in child processes.
pub(crate) fn open_with(program: Option<PathBuf>) {
    program.map(|program| PROGRAM.set(program));
}

/// The path of the program that opens libraries in child processes.
pub(crate) fn program() -> Result<PathBuf, Error> {
    if let Some(program) = PROGRAM.get() {
        return Ok(program.clone());
    }
    std::env::current_exe()
        .map_err(|error| Error::new(ErrorKind::Plugin, format!("the path of this program is not known ({error})")))
}

/// Everything that a run of these arguments may use: the built-in arbiters and models, those of the libraries named and,
/// unless these are left out, those that the user has added.
pub(crate) fn arbiters(args: &PluginFlags) -> Result<Arbiters, Error> {
    let mut registry = Registry::built_in()?;
    let config = if args.no_plugins { None } else { user_config() };
    let any = !args.plugins.is_empty() || config.as_ref().is_some_and(|config| !config.records().is_empty());
    let watchdog = if any { Some(watch()?) } else { None };
    let place = if args.isolate { Place::Child } else { Place::Process };
    for file in &args.plugins {
        registry.load_probed(file, &program()?, place)?;
    }
    if let Some(config) = config {
        let children = if args.isolate { Some(program()?) } else { None };
        registry.load_configured(&config, children.as_deref());
    }
    Ok(Arbiters { registry: Arc::new(registry), _watchdog: watchdog })
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

/// What plugins print goes to stderr; one that crashes or calls `exit` is named.
#[cfg(unix)]
fn contain() -> Result<(), Error> {
    weir_plugin_host::name_crashes(Exit::Plugin as i32, pending::rescue);
    weir_plugin_host::keep_stdout()
        .map_err(|error| Error::new(ErrorKind::Plugin, format!("stdout cannot be kept from plugins: {error}")))
}

/// Starts the watchdog: a call that does not return ends the program, with the results already finished in place.
pub(crate) fn watch() -> Result<Watchdog, Error> {
    let limit = Watchdog::limit_from_env().map_err(Error::from)?;
    #[cfg(unix)]
    contain()?;
    let report = |stuck: &StuckCall| {
        message(&format!("error: {stuck}; the current run has failed"));
        pending::rescue();
        weir_plugin_host::end_at_once(Exit::Plugin as i32);
    };
    Watchdog::start(limit, report)
        .map_err(|error| Error::new(ErrorKind::Plugin, format!("plugins cannot be watched: {error}; use --no-plugins")))
}
