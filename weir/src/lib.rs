//! Simulates data transfers over hierarchical links: when each ends, which link limits it, and why.
//!
//! ```
//! let run = weir::Scenario::open("../scenarios/pcie/four-transfers.yaml")?.run()?;
//! println!("{} s", run.makespan().seconds());
//! # Ok::<(), weir::Error>(())
//! ```
//!
//! The command `weir` and other front ends stand on this crate: nothing is read, run or reported by a second mechanism.

mod error;
pub mod job;
pub mod load;
pub mod names;
mod registry;
mod result;
mod scenario;

pub use error::{Error, ErrorKind};
pub use registry::Registry;
pub use result::RunResult;
pub use scenario::{Opener, Scenario};
pub use weir_plugin_api::{SimDuration, SimTime};
