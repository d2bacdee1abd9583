//! Results of runs: one JSON object per run, tables for a person, comparisons.
//!
//! ```text
//! Outcome + Subject (names) ──► Run ──► json::write      one compact object per line
//!                                   ├─► text::run        makespan, transfers, busiest links
//!                                   ├─► text::explain    the arbiter's steps, phase by phase
//!                                   └─► Column ──► Comparison ──► text::compare, JSON
//! ```

mod alone;
mod cause;
mod compare;
mod explain;
mod json;
mod percentiles;
mod subject;
pub mod text;
mod units;

pub use alone::{Alone, AloneError};
pub use cause::{bottleneck_link, cause_text};
pub use compare::{Column, ColumnError, CompareRow, Comparison};
pub use explain::write_explanation;
pub use json::{Detail, results_schema, write_run};
pub use percentiles::{LARGE, Percentiles};
pub use subject::{ArbiterInfo, Run, Subject};
pub use units::{bytes, duration, instant, rate};
