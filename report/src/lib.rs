//! Turns outcomes of runs and searches into JSON, text, tables, drawings and an HTML page.
//!
//! ```text
//! Scenario + Outcome ─────────► Run ──► json::write      one compact object per line
//!                                   ├─► text::run        makespan, operations, transfers, busiest links
//!                                   ├─► text::explain    plans of operations, steps of the arbiter or grants of ports
//!                                   ├─► RunSnapshot ──► Snapshot, its text, differences
//!                                   └─► Column ──► Comparison ──► text::compare, JSON
//! Departure + Scenario ──────────► Lines                 a line of CSV or JSON for each transfer of a stream
//! Run, or a saved line of JSON ────► page::Page           one HTML file
//! result of a search ──► SearchReport ──► text::search, JSON
//! results of a sweep ──► SweepReport ──► text::sweep, JSON
//! changes that were run ──► WhatIf ──► text::what_if, JSON, CSV
//! ```

mod alone;
mod bandwidths;
mod cause;
mod changes;
mod compare;
mod computations;
mod delay;
mod difference;
pub mod draw;
mod jobs;
mod json;
mod kind;
mod link;
mod operations;
pub mod page;
mod pairs;
mod percentiles;
mod pictures;
mod ports;
mod reasons;
mod run;
mod saved;
mod schemas;
mod search;
mod served;
mod snapshot;
mod spread;
mod steps;
mod stream;
mod sweep;
mod tables;
pub mod text;
mod timeline;
mod trace;
mod tuned;
mod units;
mod validation;
mod what_if;
mod widening;

pub use alone::{Alone, AloneError, RunPart};
pub use cause::{CauseKind, TransferCause, bottleneck_link, cause_text, place_text};
pub use compare::{Column, CompareRow, Comparison, Deviation, MeasuredBy, Parting, PartingSide, Timed};
pub use delay::Delay;
pub use json::{
    Detail, json_text, results_schema, search_schema, write_explanation, write_json, write_run, write_streamed,
};
pub use kind::{ResultKind, is_saved, saved_kind};
pub use operations::end_of;
pub use pairs::Pairs;
pub use percentiles::{LARGE, Percentiles};
pub use pictures::Ranks;
pub use run::{ArbiterInfo, Run, titled};
pub use saved::SavedError;
pub use search::{SearchArbiter, SearchReport, SearchSubject, Solution, StoppedCandidates};
pub use snapshot::{RunDifference, RunSnapshot, Snapshot, SnapshotDifference, SnapshotError, Tolerance};
pub use spread::{EndSpread, OwnSpread, Spread};
pub use stream::{Lines, Streamed};
pub use sweep::SweepReport;
#[cfg(feature = "parquet")]
pub use tables::write_parquet;
pub use tables::{
    ColumnValues, Dictionary, ExportTable, Known, TABLES, TableColumn, Tables, Texts, Values, run_table,
    run_table_parts, write_csv,
};
pub use trace::{LinkPattern, TraceFilter, write_trace};
pub use tuned::{Tried, TunedOperation, TunedSize, TunedUnder, Tuning};
pub use units::{binary_bytes, bytes, duration, instant, rate, rate_unit};
pub use validation::{ErrorBin, ErrorHistogram, NotExplained, ValidatedTransfer, Validation};
pub use what_if::{Change, Changed, ChangedLink, LeftOut, SAME_MAKESPAN, SetValue, WhatIf, WhatIfBound, saved};
pub use widening::Widening;
