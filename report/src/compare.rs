//! Results side by side: the first column is the baseline, every other one is shown as a ratio to it.

mod saved;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;
use weir_scenario::PlannedOperation;

use saved::SavedRun;

use crate::json::{RunJson, write_line};
use crate::run::params_text;
use crate::{Detail, ResultKind, Run};

/// Why a saved result cannot be a column.
#[derive(Debug, thiserror::Error)]
pub enum ColumnError {
    /// It is not a line of `weir run --json`.
    #[error("{file}: result {number} is not one of `weir run --json`: {error}")]
    NotAResult {
        /// The file.
        file: String,
        /// Which of its results, from 1.
        number: usize,
        /// The reader's words.
        error: serde_json::Error,
    },
}

/// One result to compare.
#[derive(Debug)]
pub struct Column {
    /// The file it was run or read from.
    pub file: String,
    /// The name of the arbiter, without its parameters.
    pub arbiter: String,
    /// Its parameters, as `key value, other value`; empty without any.
    pub params: String,
    /// Whether every task ended.
    pub complete: bool,
    makespan_ps: u64,
    /// Per transfer: id, and the time from ready to end in ps where it ended.
    transfers: Vec<(String, Option<u64>)>,
    /// Per operation that a model planned: id, and the time from release to end in ps where it ended.
    operations: Vec<(String, Option<u64>)>,
    /// The whole result, where it was asked for.
    result: Option<Box<RawValue>>,
}

impl Column {
    /// The column of a run; `keep_result` for [`Comparison::write`], which repeats it.
    ///
    /// # Errors
    /// If its result cannot be written; only for parameters that are not JSON.
    pub fn of_run(run: &Run<'_>, keep_result: bool) -> serde_json::Result<Self> {
        let times = |task: weir_sim_core::TaskId| {
            let t = run.outcome.tasks[task.index()];
            (!t.end.is_never()).then(|| (t.end - t.ready).0)
        };
        let simulated = |operation: &PlannedOperation| run.simulated(operation).map(|span| span.0);
        let planned = run.scenario.operations.iter();
        let result = || serde_json::value::to_raw_value(&RunJson::new(run, Detail::default()));
        Ok(Self {
            file: run.scenario.file.to_owned(),
            arbiter: run.arbiter.name.to_owned(),
            params: run.arbiter.params_text(),
            complete: run.complete(),
            makespan_ps: run.outcome.makespan.0,
            transfers: run.transfers().map(|t| (run.scenario.task_name(t).into_owned(), times(t))).collect(),
            operations: planned.map(|operation| (operation.id.to_string(), simulated(operation))).collect(),
            result: keep_result.then(result).transpose()?,
        })
    }

    /// The column of one saved result.
    fn saved(file: &str, result: Box<RawValue>) -> serde_json::Result<Self> {
        let run = SavedRun::read(result.get())?;
        Ok(Self {
            file: format!("{file} ({})", run.file),
            params: params_text(&run.arbiter.params),
            complete: run.complete,
            makespan_ps: run.makespan_ps,
            transfers: run.transfer_times(),
            operations: run.operation_times(),
            arbiter: run.arbiter.name,
            result: Some(result),
        })
    }

    /// Whether a text is a saved result rather than a scenario.
    #[must_use]
    pub fn is_saved(text: &str) -> bool {
        crate::kind::is_saved(text)
    }

    /// The columns of a saved output of `weir run --json`.
    ///
    /// # Errors
    /// A value that is not a result.
    pub fn of_saved(file: &str, text: &str) -> Result<Vec<Self>, ColumnError> {
        let values = serde_json::Deserializer::from_str(text).into_iter::<Box<RawValue>>();
        let columns = values.enumerate().map(|(i, value)| {
            let column = value.and_then(|result| Self::saved(file, result));
            column.map_err(|error| ColumnError::NotAResult { file: file.to_owned(), number: i + 1, error })
        });
        columns.collect()
    }
}

/// One row of a comparison: an operation, a transfer, or the makespan.
#[derive(Clone, PartialEq, Debug)]
pub struct CompareRow {
    /// Per column: the time in ps.
    pub times: Vec<Option<u64>>,
}

impl CompareRow {
    /// Per column: the ratio to the first; `None` where either is missing or the first is 0.
    #[must_use]
    pub fn ratios(&self) -> Vec<Option<f64>> {
        let first = self.times.first().copied().flatten().filter(|&t| t > 0);
        self.times.iter().map(|time| Some((*time)? as f64 / first? as f64)).collect()
    }
}

/// Rows by id, in order of first appearance.
#[derive(Default)]
struct RowsById {
    ids: Vec<String>,
    rows: Vec<CompareRow>,
    index: BTreeMap<String, usize>,
}

impl RowsById {
    /// Adds the times of column `at` of `count`.
    fn add(&mut self, times: Vec<(String, Option<u64>)>, at: usize, count: usize) {
        for (id, time) in times {
            let row = *self.index.entry(id).or_insert_with_key(|id| {
                self.ids.push(id.clone());
                self.rows.push(CompareRow { times: vec![None; count] });
                self.rows.len() - 1
            });
            self.rows[row].times[at] = time;
        }
    }

    fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &CompareRow)> {
        self.ids.iter().map(String::as_str).zip(&self.rows)
    }
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
        CompareRow { times: self.columns.iter().map(|c| c.complete.then_some(c.makespan_ps)).collect() }
    }

    /// The columns whose makespan is more than `percent` above the baseline's.
    #[must_use]
    pub fn slower(&self, percent: f64) -> Vec<&Column> {
        let limit = 1.0 + percent / 100.0;
        let ratios = self.makespan().ratios();
        self.columns.iter().zip(ratios).filter(|(_, ratio)| ratio.is_some_and(|r| r > limit)).map(|(c, _)| c).collect()
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
            ratios: RatiosJson {
                makespan: self.makespan().ratios(),
                operations: (self.operations().len() > 0).then_some(RowRatios(&self.operations)),
                transfers: RowRatios(&self.transfers),
            },
        };
        write_line(&json, out)
    }
}

#[derive(Serialize)]
struct CompareJson<'a> {
    weir: u32,
    kind: ResultKind,
    version: &'a str,
    results: Vec<&'a RawValue>,
    ratios: RatiosJson<'a>,
}

#[derive(Serialize)]
struct RatiosJson<'a> {
    makespan: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<RowRatios<'a>>,
    transfers: RowRatios<'a>,
}

struct RowRatios<'a>(&'a RowsById);

impl Serialize for RowRatios<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.ids.len()))?;
        for (id, row) in self.0.iter() {
            map.serialize_entry(id, &row.ratios())?;
        }
        map.end()
    }
}

/// Whether a task's name is `<operation>/<task>` for one of these operations.
fn is_part(operations: &BTreeSet<&str>, id: &str) -> bool {
    !operations.is_empty() && id.match_indices('/').any(|(at, _)| operations.contains(&id[..at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(makespan: u64, ends: &[(&str, u64)]) -> String {
        let transfers: Vec<_> =
            ends.iter().map(|(id, end)| format!(r#"{{"id":"{id}","ready_s":0.000001,"end_ps":{end}}}"#)).collect();
        format!(
            r#"{{"weir":1,"kind":"run","file":"s.yaml","arbiter":{{"name":"max-min"}},"complete":true,"fingerprint":"0","makespan_ps":{makespan},"transfers":[{}]}}"#,
            transfers.join(",")
        )
    }

    #[test]
    fn ratios_are_of_completion_times_matched_by_id() {
        let text = format!(
            "{}\n{}\n",
            saved(3_000_000, &[("a", 3_000_000), ("b", 2_000_000)]),
            saved(5_000_000, &[("b", 5_000_000), ("c", 2_000_000)])
        );
        assert!(Column::is_saved(&text));
        let comparison = Comparison::new(Column::of_saved("old.json", &text).expect("reads"));
        let rows: Vec<_> = comparison.transfers().map(|(id, row)| (id, row.ratios())).collect();
        let expected = [("a", vec![Some(1.0), None]), ("b", vec![Some(1.0), Some(4.0)]), ("c", vec![None, None])];
        assert_eq!(rows, expected);
        assert_eq!(comparison.makespan().ratios(), [Some(1.0), Some(5.0 / 3.0)]);
        assert_eq!(comparison.slower(66.0).len(), 1);
        assert_eq!(comparison.slower(67.0).len(), 0);
    }

    #[test]
    fn the_json_repeats_the_saved_results_unchanged() {
        let line = saved(7, &[("a", 1_000_007)]);
        let comparison = Comparison::new(Column::of_saved("old.json", &line).expect("reads"));
        let mut out = Vec::new();
        comparison.write(&mut out).expect("writes");
        let text = String::from_utf8(out).expect("is UTF-8");
        assert!(text.contains(&format!(r#""results":[{line}]"#)), "{text}");
        assert!(text.ends_with("\"ratios\":{\"makespan\":[1.0],\"transfers\":{\"a\":[1.0]}}}\n"), "{text}");
    }

    #[test]
    fn operations_stand_for_their_transfers() {
        // x of the first result takes 3 µs from its release at 1 µs, of the second 6 µs; the barrier has no model.
        let with = |end: u64| {
            let x =
                format!(r#"{{"id":"x","kind":"put","start_s":0.000001,"end_ps":{end},"details":{{"model":{{}}}}}}"#);
            let barrier = r#"{"id":"b","kind":"barrier","start_s":0.0,"end_ps":0,"details":{}}"#;
            let line = saved(end, &[("x/m0", end), ("xy/m0", end), ("t", end)]);
            format!(r#"{},"operations":[{x},{barrier}]}}"#, line.strip_suffix('}').expect("an object"))
        };
        let text = format!("{}\n{}\n", with(4_000_000), with(7_000_000));
        let comparison = Comparison::new(Column::of_saved("old.json", &text).expect("reads"));
        let operations: Vec<_> = comparison.operations().map(|(id, row)| (id, row.times.clone())).collect();
        assert_eq!(operations, [("x", vec![Some(3_000_000), Some(6_000_000)])]);
        assert_eq!(comparison.transfers().map(|(id, _)| id).collect::<Vec<_>>(), ["xy/m0", "t"]);
        let mut out = Vec::new();
        comparison.write(&mut out).expect("writes");
        let text = String::from_utf8(out).expect("is UTF-8");
        assert!(text.contains(r#""operations":{"x":[1.0,2.0]},"transfers":{"xy/m0":"#), "{text}");
    }

    #[test]
    fn a_scenario_written_as_json_is_not_a_saved_result() {
        assert!(!Column::is_saved(r#"{"weir":1,"name":"x","tree":{},"workload":[]}"#));
        assert!(!Column::is_saved("weir: 1\n"));
        let error = Column::of_saved("x.json", r#"{"weir":1,"kind":"search"}"#).expect_err("lacks fields").to_string();
        assert!(error.starts_with("x.json: result 1 is not one of `weir run --json`"), "{error}");
        let right = saved(7, &[("a", 1_000_007)]);
        for (from, to, part) in [
            (r#""weir":1"#, r#""weir":2"#, "reads results of format 1, not 2"),
            ("0.000001", "-0.5", "transfers[0].ready_s: -0.5 is below 0"),
        ] {
            let error = Column::of_saved("x.json", &right.replace(from, to)).expect_err(part).to_string();
            assert!(error.starts_with("x.json: result 1") && error.contains(part), "{error}");
        }
    }
}
