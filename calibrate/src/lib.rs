//! Fits a topology to measured transfers, and compares simulated with measured times.
//!
//! ```text
//! logs ─► read ─► experiments ─► fit ─► values, errors, rows ─► text, JSON, the topology with the fitted values
//! ```

mod advice;
pub mod cuts;
mod drift;
pub mod fit;
mod json;
pub mod measurement;
pub mod picture;
mod proposals;
pub mod read;
mod report;
mod text;
pub mod validate;
mod write;

pub use advice::{Made, warnings};
pub use fit::{Fit, FitError, FitOptions, fit};
pub use json::json;
pub use measurement::{Experiment, Log, MeasuredEnd, MeasuredTime, Skipped, Transfer};
pub use read::{Collective, LogKind, ReadOptions, read_log};
pub use report::FitReport;
pub use text::{percent, size, text};
pub use write::write_topology;
