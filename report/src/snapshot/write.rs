//! A snapshot as text.

use std::fmt::Write as _;

use weir_plugin_api::SimDuration;

use super::rows::SnapshotRows;
use super::{HEAD, MARK, RunSnapshot, Snapshot};
use crate::duration;
use crate::text::Sheet;

/// The columns of a table after the first.
pub(super) const COLUMNS: [&str; 3] = ["start", "end", "reason"];
/// The last column of operations.
pub(super) const KIND: &str = "kind";

impl Snapshot {
    /// The text that is kept; the same for the same results.
    #[must_use]
    pub fn to_text(&self) -> String {
        let runs: String = self.runs.iter().map(|run| format!("\n{}", run.to_text())).collect();
        format!("{MARK}{HEAD}\ninput {}\n{runs}", self.input)
    }
}

impl RunSnapshot {
    fn to_text(&self) -> String {
        let Self { arbiter, fingerprint, makespan, transfers, operations } = self;
        let mut out = format!("arbiter {arbiter}\nfingerprint {fingerprint}\nmakespan {}\n", exact(*makespan));
        out.push_str(&table(transfers, "transfer", COLUMNS[2]));
        if operations.total > 0 {
            out.push_str(&table(operations, "operation", KIND));
        }
        out
    }
}

/// Picoseconds, and what they are in the unit that fits.
pub(super) fn exact(ps: u64) -> String {
    format!("{ps} ({})", duration(SimDuration(ps)))
}

/// The line above a table: `transfers 4`.
pub(super) fn heading(what: &str, total: usize, digests: Option<(u32, u32)>) -> String {
    let listed = SnapshotRows::listed_of(total);
    let of = |(times, reasons)| {
        format!(", the {listed} slowest listed; digests {times:08x} of times, {reasons:08x} of reasons")
    };
    format!("{what}s {total}{}", digests.map_or_else(String::new, of))
}

fn table(rows: &SnapshotRows, what: &str, reason: &str) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", heading(what, rows.total, rows.digests));
    if rows.total > 0 {
        let mut sheet =
            Sheet::new([what.to_owned(), format!(">{}", COLUMNS[0]), format!(">{}", COLUMNS[1]), reason.to_owned()]);
        for row in rows.listed() {
            sheet.row([row.id.clone(), row.start.to_string(), row.end.to_string(), row.reason.clone()]);
        }
        out.push_str(&sheet.unfitted());
    }
    out
}
