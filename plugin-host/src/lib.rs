//! Loads rate arbiters from shared libraries: finds, probes, opens, checks and wraps them.
//!
//! ```text
//! weir plugin add FILE ─► probe (child process) ─► PluginConfig (name, path, SHA-256 in the user's configuration)
//! weir run …           ─► PluginConfig ─► Library (dlopen, checks of every table) ─► Registry
//!                                                      └► LoadedArbiter per run ─► calls, seen by the Watchdog
//! ```
//!
//! Nothing here trusts a library further than it must: it is opened first in a child process, its tables are checked
//! before anything is called, an instance that panicked is never called again, and a call that does not return is named.
//! What a plugin *answers* is checked by the simulation, for built-in and loaded arbiters alike.
#![allow(unsafe_code)]

mod call;
mod config;
mod error;
mod host;
mod library;
mod load;
mod loaded;
mod probe;
mod table;
mod watchdog;

pub use config::{CONFIG_DIR_VARIABLE, PluginConfig, PluginRecord, RecordedArbiter};
pub use error::{PluginError, TableError};
pub use host::cancel;
pub use library::Library;
pub use load::{Refusal, load_configured, load_file};
pub use loaded::LoadedArbiter;
pub use probe::{PROBE_COMMAND, PROBE_LIMIT, ProbedArbiter, probe, probe_main, probe_within};
pub use table::PluginArbiter;
pub use watchdog::{DEFAULT_LIMIT, LIMIT_VARIABLE, StuckCall, Watchdog};
