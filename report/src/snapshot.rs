//! Accepted results of a scenario, as a small text that a person reviews: what `weir test` compares its runs with.
//!
//! ```text
//! Run per arbiter ─► Snapshot ─► to_text ─► snapshots/… ─► of_text ─► Snapshot ┐
//! Run per arbiter ─► Snapshot ─────────────────────────────────────────────────┴─► difference ─► text
//! ```
//!
//! A run has a row for each transfer and each operation. Of more than 1,000, the 20 that took longest are written, with
//! digests of all: what changes elsewhere is noticed, and not named.

mod differ;
mod read;
mod rows;
#[cfg(test)]
mod tests;
mod write;

use crate::Run;
use crate::operations::{Operation, operations};
pub use differ::{RunDifference, SnapshotDifference, Tolerance};
pub use read::SnapshotError;
use rows::{SnapshotRow, SnapshotRows, escaped_cell};

/// The first line of a snapshot, by which weir knows its own files.
const MARK: &str = "weir snapshot ";
/// The version of the form, and what a reader needs to know.
const HEAD: &str = "1: accepted results, written by `weir test --accept`; times in ps";

/// The results of a scenario: of each arbiter one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// SHA-256 of all files that were read.
    input: String,
    runs: Vec<RunSnapshot>,
}

/// What is kept of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunSnapshot {
    /// The arbiter with its parameters.
    arbiter: String,
    /// The digest of all events.
    fingerprint: String,
    makespan: u64,
    transfers: SnapshotRows,
    operations: SnapshotRows,
}

impl Snapshot {
    /// Of the runs of one scenario, whose input has this SHA-256.
    #[must_use]
    pub fn new(input_sha256: &str, runs: Vec<RunSnapshot>) -> Self {
        Self { input: input_sha256.to_owned(), runs }
    }

    /// Whether a text is one that weir wrote as a snapshot, of this version or another.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        text.starts_with(MARK)
    }
}

impl RunSnapshot {
    /// Of a run that is complete.
    #[must_use]
    pub fn of(run: &Run<'_>) -> Self {
        let transfers = run.transfers().map(|task| SnapshotRow::of_transfer(run, task));
        let operations = operations(run).map(|operation| match operation {
            Operation::Own(task, kind) => SnapshotRow::of_task(run, task, kind),
            Operation::Planned(planned) => SnapshotRow::of_planned(run, planned),
        });
        Self {
            arbiter: escaped_cell(&run.arbiter.title()),
            fingerprint: run.fingerprint(),
            makespan: run.outcome.makespan.0,
            transfers: SnapshotRows::new(transfers.collect()),
            operations: SnapshotRows::new(operations.collect()),
        }
    }
}
