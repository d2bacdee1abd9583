//! Results side by side: the first column is the baseline, every other one is shown as a ratio to it.

mod deviation;
mod likeness;
mod partings;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde::Serialize;
use serde_json::value::RawValue;
use weir_plugin_api::{PS_PER_S, SimDuration};
use weir_scenario::PlannedOperation;
use weir_sim_core::{TaskId, Work};

use crate::json::{OperationRow, RunJson, TransferRow, write_line};
use crate::run::params_text;
use crate::saved::{self, SavedError};
use crate::text::ROWS;
use crate::{Detail, ResultKind, Run};
pub use deviation::Deviation;
use likeness::Likeness;
use partings::HeldBack;
pub use partings::{Parting, PartingSide};
use rows::{ById, RowsById, Subject};
pub use rows::{CompareRow, Timed};

/// One result to compare.
#[derive(Debug)]
pub struct Column {
    /// The file it was run or read from.
    pub file: String,
    /// The name of the arbiter, without its parameters.
    pub arbiter: String,
    /// Its parameters, as `key value, other value`; empty without any.
    pub params: String,
    /// What was changed for this column alone, such as `link_types.upi.bandwidth=41.6GB/s`; `None` for the baseline.
    pub with: Option<String>,
    /// Whether every task ended.
    pub complete: bool,
    /// What the arbiter said of its answers, a sentence each.
    pub remarks: Vec<String>,
    /// Whether it is a run of packets.
    is_packets: bool,
    /// Of the transfers that are printed: what held each back longest.
    held: BTreeMap<String, HeldBack>,
    /// How its spread was measured, where it was.
    pub measured: Option<MeasuredBy>,
    makespan: Timed,
    /// Per transfer: id, and the time from ready to end where it ended.
    transfers: Vec<(String, Timed)>,
    /// Per operation that a model planned: id, and the time from release to end where it ended.
    operations: Vec<(String, Timed)>,
    /// The whole result, where it was asked for.
    result: Option<Box<RawValue>>,
}

/// How a spread was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeasuredBy {
    /// A transfer started later by less than this.
    pub jitter: SimDuration,
    /// Number of runs.
    pub seeds: u32,
}

impl Column {
    /// The column of a run; with `keep` its result, in this detail, for [`Comparison::write`], which repeats it.
    ///
    /// # Errors
    /// If its result cannot be written; only for parameters that are not JSON.
    pub fn of_run(run: &Run<'_>, keep: Option<Detail>) -> serde_json::Result<Self> {
        let held = |task| Some((run.scenario.task_name(task).into_owned(), HeldBack::of(run, task)?));
        let planned = run.scenario.operations.iter();
        let result = |detail| serde_json::value::to_raw_value(&RunJson::new(run, detail));
        Ok(Self {
            file: run.scenario.file.to_owned(),
            arbiter: run.arbiter.name.to_owned(),
            params: run.arbiter.params_text(),
            with: None,
            complete: run.complete(),
            remarks: run.remarks(),
            is_packets: run.outcome.packets.is_some(),
            held: run.transfers().take(ROWS).filter_map(held).collect(),
            measured: run.spread.map(|spread| MeasuredBy { jitter: spread.jitter, seeds: spread.seeds }),
            makespan: timed(run.complete().then_some(run.outcome.makespan.0), run.spread.map(|s| s.makespan.width())),
            transfers: run.transfers().map(|t| (run.scenario.task_name(t).into_owned(), transfer(run, t))).collect(),
            operations: planned.map(|planned| (planned.id.to_string(), operation(run, planned))).collect(),
            result: keep.map(result).transpose()?,
        })
    }

    /// The column of one saved result.
    fn saved(file: &str, result: &RawValue) -> Result<Self, String> {
        match saved::kind(result.get())? {
            ResultKind::Run => {}
            other => return Err(format!("`{}` wrote it: give results of `weir run --json`", other.command())),
        }
        let run: RunJson<'_> = saved::read_whole(ResultKind::Run, result.get())?;
        let (transfers, operations) = (run.transfers.at_hand().iter(), run.operations.at_hand().iter());
        let spread = run.spread.as_ref();
        let held = |t: &TransferRow<'_>| Some((t.id.to_string(), HeldBack::saved(t)?));
        let planned = operations.filter(|operation| operation.details.contains_key("model"));
        let transfer = |t: &TransferRow<'_>| Timed {
            subject: Some(Subject::transfer(&t.from, &t.to, t.bytes)),
            ..since(t.ready_s, t.end_ps, t.time_spread_s)
        };
        let operation = |o: &OperationRow<'_>| Timed {
            subject: Some(Subject::operation(&o.kind)),
            ..since(o.start_s, o.end_ps, o.time_spread_s)
        };
        Ok(Self {
            file: format!("{file} ({})", run.file),
            arbiter: run.arbiter.name.to_string(),
            params: params_text(&run.arbiter.params),
            with: None,
            complete: run.complete,
            remarks: run.remarks,
            is_packets: run.hops.is_some(),
            held: run.transfers.at_hand().iter().take(ROWS).filter_map(held).collect(),
            measured: spread.map(|spread| MeasuredBy { jitter: SimDuration(ps(spread.jitter_s)), seeds: spread.seeds }),
            makespan: Timed {
                time: run.complete.then_some(run.makespan_ps),
                spread: spread.map(|spread| ps(spread.makespan_s.max).saturating_sub(ps(spread.makespan_s.min))),
                subject: None,
            },
            transfers: transfers.map(|t| (t.id.to_string(), transfer(t))).collect(),
            operations: planned.map(|o| (o.id.to_string(), operation(o))).collect(),
            result: Some(result.to_owned()),
        })
    }

    /// The same for a scenario that was changed so.
    #[must_use]
    pub fn changed(self, with: Option<&str>) -> Self {
        Self { with: with.map(str::to_owned), ..self }
    }

    /// What it is of, for messages: file, changes and arbiter.
    #[must_use]
    pub fn title(&self) -> String {
        let with = self.with.as_ref().map_or_else(String::new, |with| format!(" with `{with}`"));
        format!("{}{with} under `{}`", self.file, self.arbiter)
    }

    /// The columns of a saved output of `weir run --json`.
    ///
    /// # Errors
    /// A value that is not a result.
    pub fn of_saved(file: &str, text: &str) -> Result<Vec<Self>, SavedError> {
        let mut columns = Vec::new();
        saved::each(file, text, |value| Self::saved(file, value).map(|column| columns.push(column)))?;
        Ok(columns)
    }
}

/// From ready to end of a transfer.
fn transfer(run: &Run<'_>, task: TaskId) -> Timed {
    let times = run.outcome.tasks[task.index()];
    let time = (!times.end.is_never()).then(|| (times.end - times.ready).0);
    let subject = run.carried(task).and_then(|carried| {
        let Work::Carries { bytes, .. } = run.scenario.tasks.tasks()[task.index()].work else { return None };
        let name = |node| run.scenario.node_name(node);
        Some(Subject::transfer(name(carried.from), name(carried.to), bytes))
    });
    Timed { subject, ..timed(time, run.spread.and_then(|spread| Some(spread.transfer(task)?.time))) }
}

/// From release to end of an operation.
fn operation(run: &Run<'_>, planned: &PlannedOperation) -> Timed {
    let time = run.simulated(planned).map(|span| span.0);
    let subject = Some(Subject::operation(&planned.kind));
    Timed { subject, ..timed(time, run.spread.and_then(|spread| Some(spread.operation(planned)?.time))) }
}

fn timed(time: Option<u64>, spread: Option<SimDuration>) -> Timed {
    Timed { time, spread: spread.map(|spread| spread.0), subject: None }
}

fn since(start_s: Option<f64>, end_ps: Option<u64>, spread_s: Option<f64>) -> Timed {
    let time = start_s.zip(end_ps).map(|(start, end)| end.saturating_sub(ps(start)));
    Timed { time, spread: spread_s.map(ps), subject: None }
}

/// Seconds carry whole picoseconds exactly enough below two hours; the ends are exact always.
fn ps(seconds: f64) -> u64 {
    (seconds * PS_PER_S as f64).round() as u64
}

/// Results side by side.
pub struct Comparison {
    columns: Vec<Column>,
    operations: RowsById,
    transfers: RowsById,
}

impl Comparison {
    /// Puts columns side by side; operations and transfers are matched by id. The transfers of operations that models
    /// planned are left out: the operations stand for them.
    #[must_use]
    pub fn new(mut columns: Vec<Column>) -> Self {
        let count = columns.len();
        let (mut operations, mut transfers) = (RowsById::default(), RowsById::default());
        for (at, column) in columns.iter_mut().enumerate() {
            let (planned, mut carried) =
                (std::mem::take(&mut column.operations), std::mem::take(&mut column.transfers));
            let ids: BTreeSet<&str> = planned.iter().map(|(id, _)| &**id).collect();
            carried.retain(|(id, _)| !is_part(&ids, id));
            operations.add(planned, at, count);
            transfers.add(carried, at, count);
        }
        Self { columns, operations, transfers }
    }

    /// The columns, the baseline first.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The operations that models planned: id and times from release to end.
    pub fn operations(&self) -> impl ExactSizeIterator<Item = (&str, &CompareRow)> {
        self.operations.iter()
    }

    /// The transfers that are not part of an operation: id and completion times.
    pub fn transfers(&self) -> impl ExactSizeIterator<Item = (&str, &CompareRow)> {
        self.transfers.iter()
    }

    /// The makespans; missing where a run is not complete.
    #[must_use]
    pub fn makespan(&self) -> CompareRow {
        CompareRow { times: self.columns.iter().map(|c| c.makespan).collect() }
    }

    /// The columns of other files most of whose rows are unlike those of the first: alike are transfers of one id with equal
    /// ends or an equal size, or of another id with both, and operations of one kind. Default ids are the same in every
    /// scenario.
    #[must_use]
    pub fn unrelated(&self) -> Vec<&Column> {
        let Some(first) = self.columns.first() else { return Vec::new() };
        let mut rows = vec![Likeness::default(); self.columns.len()];
        let subject = |timed: &Timed| timed.subject.filter(|_| timed.time.is_some());
        for (_, row) in self.operations().chain(self.transfers()) {
            let own = row.times.first().and_then(subject);
            for (known, timed) in rows.iter_mut().zip(&row.times) {
                known.add(own, subject(timed));
            }
        }
        let columns = self.columns.iter().zip(rows).filter(|(column, _)| column.file != first.file);
        columns.filter_map(|(column, rows)| rows.differ().then_some(column)).collect()
    }

    /// Writes the comparison as one JSON line.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, out: impl Write) -> std::io::Result<()> {
        let json = CompareJson {
            weir: 1,
            kind: ResultKind::Comparison,
            version: env!("CARGO_PKG_VERSION"),
            results: self.columns.iter().filter_map(|c| c.result.as_deref()).collect(),
            with: self.columns.iter().any(|column| column.with.is_some()).then(|| self.with()),
            ratios: self.by_row(CompareRow::ratios),
            within_spread: self
                .columns
                .iter()
                .any(|column| column.measured.is_some())
                .then(|| self.by_row(CompareRow::within_spread)),
            partings: self.has_both_fidelities().then(|| self.partings()),
        };
        write_line(&json, out)
    }

    /// Per column, what was changed for it.
    fn with(&self) -> Vec<Option<&str>> {
        self.columns.iter().map(|column| column.with.as_deref()).collect()
    }

    fn by_row<T: Serialize>(&self, of: fn(&CompareRow) -> Vec<T>) -> RowsJson<'_, T> {
        RowsJson {
            makespan: of(&self.makespan()),
            operations: (self.operations().len() > 0).then_some(ById(&self.operations, of)),
            transfers: ById(&self.transfers, of),
        }
    }
}

#[derive(Serialize)]
struct CompareJson<'a> {
    weir: u32,
    kind: ResultKind,
    version: &'a str,
    results: Vec<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    with: Option<Vec<Option<&'a str>>>,
    ratios: RowsJson<'a, Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    within_spread: Option<RowsJson<'a, Option<bool>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partings: Option<Vec<Parting<'a>>>,
}

/// What is said of each row, a value for each column.
#[derive(Serialize)]
#[serde(bound = "T: Serialize")]
struct RowsJson<'a, T> {
    makespan: Vec<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<ById<'a, T>>,
    transfers: ById<'a, T>,
}

/// Whether a task's name is `<operation>/<task>` for one of these operations.
fn is_part(operations: &BTreeSet<&str>, id: &str) -> bool {
    !operations.is_empty() && id.match_indices('/').any(|(at, _)| operations.contains(&id[..at]))
}
