//! The rows of a snapshot: when each transfer and each operation started and ended, and why.

use std::cmp::Reverse;

use weir_optimize::text::is_unseen;
use weir_scenario::PlannedOperation;
use weir_sim_core::TaskId;

use crate::Run;
use crate::cause::{cause_text, place_text};

/// Rows up to which all are written (*assumed*: a person may still review them).
const ALL: usize = 1000;
/// Of more, as many are written, those that took longest (*assumed*: a screen).
const SLOWEST: usize = 20;
/// What stands for a reason that is not known.
const NO_REASON: &str = "–";

/// One transfer or operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SnapshotRow {
    pub(super) id: String,
    pub(super) start: u64,
    pub(super) end: u64,
    /// Of a transfer the place that held it back and the cause, of an operation its kind.
    pub(super) reason: String,
}

impl SnapshotRow {
    pub(super) fn of_transfer(run: &Run<'_>, task: TaskId) -> Self {
        let times = run.outcome.tasks[task.index()];
        let reason = match (place_text(run, task), cause_text(run, task)) {
            (Some(place), Some(cause)) => format!("{place}, {cause}"),
            (_, cause) => cause.unwrap_or_else(|| NO_REASON.to_owned()),
        };
        Self::new(&run.scenario.task_name(task), (times.start.0, times.end.0), &reason)
    }

    /// A computation or a barrier.
    pub(super) fn of_task(run: &Run<'_>, task: TaskId, kind: &str) -> Self {
        let times = run.outcome.tasks[task.index()];
        Self::new(&run.scenario.task_name(task), (times.ready.0, times.end.0), kind)
    }

    pub(super) fn of_planned(run: &Run<'_>, planned: &PlannedOperation) -> Self {
        Self::new(&planned.id, (run.released(planned).0, run.ended(planned).0), &planned.kind)
    }

    pub(super) fn new(id: &str, (start, end): (u64, u64), reason: &str) -> Self {
        Self { id: escaped_cell(id), start, end, reason: escaped_cell(reason) }
    }
}

/// The rows of one table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SnapshotRows {
    /// Rows of the run.
    pub(super) total: usize,
    /// All of them; of a text that was read those that it lists.
    pub(super) rows: Vec<SnapshotRow>,
    /// Of the times and of the reasons of all rows, where not all are listed.
    pub(super) digests: Option<(u32, u32)>,
}

impl SnapshotRows {
    pub(super) fn new(rows: Vec<SnapshotRow>) -> Self {
        let digests = (rows.len() > ALL).then(|| (times_digest(&rows), reasons_digest(&rows)));
        Self { total: rows.len(), rows, digests }
    }

    /// The rows that are written, in the order of the scenario.
    pub(super) fn listed(&self) -> Vec<&SnapshotRow> {
        if self.rows.len() <= ALL {
            return self.rows.iter().collect();
        }
        let mut slowest: Vec<(usize, &SnapshotRow)> = self.rows.iter().enumerate().collect();
        slowest.sort_by_key(|&(i, row)| (Reverse(row.end.saturating_sub(row.start)), i));
        slowest.truncate(SLOWEST);
        slowest.sort_by_key(|&(i, _)| i);
        slowest.into_iter().map(|(_, row)| row).collect()
    }

    /// How many rows of so many are written.
    pub(super) fn listed_of(total: usize) -> usize {
        if total <= ALL { total } else { SLOWEST }
    }
}

fn times_digest(rows: &[SnapshotRow]) -> u32 {
    digest(rows.iter().map(|row| format!("{} {} {}\n", row.id, row.start, row.end)))
}

fn reasons_digest(rows: &[SnapshotRow]) -> u32 {
    digest(rows.iter().map(|row| format!("{}  {}\n", row.id, row.reason)))
}

fn digest(lines: impl Iterator<Item = String>) -> u32 {
    lines.fold(weir_digest::sum(&[]), |sum, line| weir_digest::sum_from(sum, line.as_bytes()))
}

/// A text as a cell of a table whose columns are two spaces apart: different texts stay different.
pub(super) fn escaped_cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // One space between two other characters is a space; any other would be taken for the gap between columns.
        let gap = c == ' ' && (out.is_empty() || out.ends_with(' ') || rest.peek().is_none());
        match c {
            '\\' => out.push_str("\\\\"),
            ' ' if gap => out.push_str("\\u{20}"),
            c if is_unseen(c) || (c.is_whitespace() && c != ' ') => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    if out.is_empty() { "\\u{}".to_owned() } else { out }
}
