//! Simulates data transfers over hierarchical links: when each ends, which link limits it, and why.
//!
//! A [`Scenario`] is read from a YAML file; a [`Run`] is what happened when it ran under one of its arbiters.
//!
//! ```
//! let run = weir::Scenario::open("../scenarios/pcie/four-transfers.yaml")?.run()?;
//! assert_eq!(run.makespan().0, 66_502_463_055); // picoseconds
//! let a = run.transfer("a").expect("the scenario has it");
//! assert_eq!(a.cause.as_deref(), Some("head-of-line blocked behind b"));
//! println!("{} ends at {} s", a.id, a.end.expect("the run is complete").seconds());
//! # Ok::<(), weir::Error>(())
//! ```
//!
//! Another arbiter, other values, arbiters and models of your own: [`Scenario::opener`]. Several runs side by side:
//! [`compare`]. The best order, placement or parameters: [`Scenario::optimize`]. What wider links would save:
//! [`Scenario::what_if`]. What the command line prints:
//! [`Run::to_json`], [`Run::to_text`], [`Run::explanation`].
//!
//! Times are whole picoseconds ([`SimTime`], [`SimDuration`]), bandwidths and rates bytes per second, sizes bytes.
//!
//! The command `weir` stands on these types: nothing is checked, run, compared or searched by a second mechanism.

mod calibration;
mod comparison;
mod critical_path;
mod error;
mod imported;
mod machine_arbiters;
mod opener;
pub mod optimize;
mod options;
mod page;
mod prepared;
mod registry;
mod replay;
mod run;
mod scenario;
mod spread;
mod validation;
mod what_if;
mod widening;

pub use calibration::{measured_logs, unfitted};
pub use comparison::{Comparison, compare};
pub use error::{Error, ErrorKind};
pub use imported::{ImportedTopology, import_topology};
pub use machine_arbiters::MachineArbiters;
pub use opener::{Opened, Opener};
pub use options::RunOptions;
pub use page::PageStep;
#[doc(hidden)]
pub use prepared::StreamedRun;
pub use registry::Registry;
#[doc(hidden)]
pub use replay::Replay;
pub use run::{Link, Run, Transfer};
pub use scenario::Scenario;
pub use spread::Jitter;
pub use validation::{Since, Validation, measured};
pub use weir_models::{ProgramCounts, ProgramFile, Unmatched, program_file};
pub use weir_plugin_api::{SimDuration, SimTime};
pub use weir_plugin_host::{Library, Place, PluginConfig};
pub use weir_report::{CauseKind as Cause, Delay, EndSpread, OwnSpread, Spread, WhatIf, Widening};
pub use weir_scenario::{ArbiterSpec, Diagnostic, Input, LoadOptions, Position, TopologyAlone};
pub use what_if::WhatIfOptions;

/// Its Rust code is compiled by the tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide.md")]
struct Guide;
