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
//! [`compare`]. The best order, placement or parameters: [`Scenario::optimize`]. What the command line prints: [`Run::to_json`], [`Run::to_text`], [`Run::explanation`].
//!
//! Times are whole picoseconds ([`SimTime`], [`SimDuration`]), bandwidths and rates bytes per second, sizes bytes.
//!
//! The command `weir` stands on this crate: nothing is read, run or reported by a second mechanism. What only it needs is in
//! [`job`], [`load`] and [`optimize`], whose types borrow from the scenario.

mod comparison;
mod error;
pub mod job;
pub mod load;
pub mod optimize;
mod options;
mod registry;
mod run;
mod scenario;
mod sweep;

pub use comparison::{Comparison, compare};
pub use error::{Error, ErrorKind};
pub use options::RunOptions;
pub use registry::Registry;
pub use run::{Link, Run, Transfer};
pub use scenario::{Opener, Scenario};
pub use sweep::SweepPoint;
pub use weir_plugin_api::{Cause, SimDuration, SimTime};
