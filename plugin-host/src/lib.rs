//! Loads rate arbiters, port arbiters and models from shared libraries: finds, probes, opens, checks and wraps them.
//!
//! ```text
//! weir plugin add FILE ─► probe (child process) ─► PluginConfig (name, path, SHA-256 in the user's configuration)
//! weir run …           ─► PluginConfig ─► Library (dlopen, checks of every table) ─► Registry
//!                              └► an arbiter or port arbiter per run, a model per scenario ─► calls, seen by the Watchdog
//! ```
//!
//! Nothing here trusts a library further than it must: it is opened first in a child process, its tables are checked
//! before anything is called, an instance that panicked is never called again, and a call that does not return is named.
//! With [`Place::Child`] its code never runs in this process (`isolate`).
//! What an arbiter *answers* is checked by the simulation (of a port arbiter, by the packet engine), and what a plan means by
//! those who expand it, for built-in and loaded plugins alike. The only other thing that takes unsafe code is here, too: what
//! was so before `main`.
#![allow(unsafe_code)]

mod call;
mod check;
mod config;
#[cfg(unix)]
mod crash;
mod descriptors;
mod ending;
mod error;
mod failures;
mod host;
mod instance;
mod isolate;
mod library;
mod list_file;
mod load;
mod loaded;
mod loaded_model;
mod loaded_port;
mod model_table;
mod names;
mod port_table;
mod probe;
mod record;
mod rounding;
mod sinks;
mod stuck;
mod table;
mod table_parts;
mod watchdog;

pub use config::{PluginConfig, PluginRecord};
#[cfg(unix)]
pub use crash::name_crashes;
#[cfg(unix)]
pub use descriptors::keep_stdout;
pub use descriptors::{kept_stdout, stdout_was_closed};
pub use ending::{OwnEnd, end_at_once};
pub use error::{PluginError, TableError};
pub use failures::take_failures;
pub use host::cancel;
pub use isolate::{CHILD_COMMAND, OPEN_LIMIT, child_main};
pub use library::Library;
pub use load::{Place, Refusal, load_configured, load_file, load_unprobed};
pub use probe::{Probed, ProbedArbiter, ProbedModel, ProbedPort, probe, probe_within};
pub use stuck::StuckCall;
pub use table_parts::TableParts;
pub use watchdog::{CallsUnderWay, Watchdog};
