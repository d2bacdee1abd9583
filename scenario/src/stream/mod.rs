//! Traces that are read while they are simulated.
//!
//! ```text
//! first pass (workload/trace/survey) ──► TraceStream: routes, classes, engines, counts ──► simulation
//! second pass: a row of each trace ──► TraceArrivals, by (start, row) ─────────────────────────┘
//! ```
//!
//! What stays in memory: routes, classes and device names, each once, and per [`Surveyed::STEP`] rows where they begin, so that the
//! name of a transfer that has left can be read again.

pub(crate) mod arrivals;
mod names;
pub(crate) mod row;

use std::fs::{File, Metadata};
use std::io::{Seek as _, SeekFrom};
use std::sync::{Mutex, MutexGuard, PoisonError};

use weir_plugin_api::NodeId;
use weir_sim_core::{Census, EngineId, Task, TaskId, Work};

use crate::source::{Sources, Span};
use crate::table::{LineReader, Rows};
use names::Names;
use row::{Columns, Devices};

/// The traces of a scenario, surveyed: enough to read them again row by row.
#[derive(Debug, Default)]
pub struct TraceStream {
    traces: Vec<Surveyed>,
    /// Devices by the text that names them in rows.
    pub(crate) devices: Devices,
    /// Per node: the engine of its transfers.
    engines: Vec<EngineId>,
    census: Census,
    /// Per class: its first transfer.
    firsts: Vec<TaskId>,
    names: Mutex<Names>,
}

#[derive(Debug)]
pub(crate) struct Surveyed {
    /// Its id, of which the names of its rows are made.
    pub(crate) id: Box<str>,
    /// The table among the texts read.
    pub(crate) source: u32,
    /// The id of its first row; those of the others follow.
    pub(crate) first: TaskId,
    pub(crate) columns: Columns,
    /// Where every [`Self::STEP`]th row begins: byte and line.
    pub(crate) index: Vec<(u64, u32)>,
    /// What the file was like, to notice a change.
    pub(crate) stamp: Option<Metadata>,
}

impl Surveyed {
    /// Rows from one entry of the index to the next; *assumed*: 16 bytes of index for some 50 kB of table.
    pub(crate) const STEP: u32 = 1024;

    /// The name of a row without an id of its own.
    fn numbered(&self, task: TaskId) -> String {
        format!("{}:{}", self.id, task.0 - self.first.0 + 1)
    }

    /// The row of a transfer, read again; `None` where that fails.
    fn row(&self, sources: &Sources, task: TaskId) -> Option<Rows<'static>> {
        let row = task.0 - self.first.0;
        let mut rows = self.open(sources, (row / Self::STEP) as usize).ok()??;
        for _ in 0..=row % Self::STEP {
            rows.advance().ok().filter(|more| *more)?;
        }
        Some(rows)
    }

    /// The rows from an entry of the index on; `None` where there are none.
    fn open(&self, sources: &Sources, entry: usize) -> std::io::Result<Option<Rows<'static>>> {
        let (Some(path), Some(&(offset, line))) = (sources.path(self.source), self.index.get(entry)) else {
            return Ok(None);
        };
        let mut table = File::open(path)?;
        table.seek(SeekFrom::Start(offset))?;
        Ok(Some(Rows::new(self.source, LineReader::again(table, line))))
    }

    /// Whether the file is not what it was when it was surveyed.
    fn has_changed(&self, sources: &Sources) -> bool {
        let now = sources.path(self.source).and_then(|path| path.metadata().ok());
        let same = |a: &Metadata, b: &Metadata| a.len() == b.len() && a.modified().ok() == b.modified().ok();
        !matches!((&self.stamp, &now), (Some(before), Some(now)) if same(before, now))
    }
}

impl TraceStream {
    /// What a run must know of all transfers beforehand.
    #[must_use]
    pub fn census(&self) -> &Census {
        &self.census
    }

    /// The first transfer of each class, by class.
    #[must_use]
    pub fn firsts(&self) -> &[TaskId] {
        &self.firsts
    }

    /// A transfer has left: its name is kept only for as long as others are likely to be held back by it.
    pub fn left(&self, task: TaskId) {
        self.names().left(task);
    }

    /// The number of the next row.
    pub(crate) fn next_row(&self) -> u32 {
        self.census.transfers() as u32
    }

    /// Notes the transfer of a row that a node sends.
    pub(crate) fn note(&mut self, from: NodeId, task: &Task) {
        let Work::Carries { bytes, class } = task.work else { return };
        if self.engines.len() <= from.index() {
            self.engines.resize(from.index() + 1, EngineId::NONE);
        }
        self.engines[from.index()] = task.engine;
        if class.index() == self.firsts.len() {
            self.firsts.push(TaskId(self.next_row()));
        }
        self.census.add(class, task.engine, bytes);
    }

    pub(crate) fn add_trace(&mut self, trace: Surveyed) {
        self.traces.push(trace);
    }

    /// The name of a transfer.
    pub(crate) fn name(&self, sources: &Sources, task: TaskId) -> String {
        let Some(trace) = self.trace(task) else { return "(none)".to_owned() };
        if !trace.columns.has_ids() {
            return trace.numbered(task);
        }
        if let Some(name) = self.names().get(task) {
            return name.to_owned();
        }
        let rows = trace.row(sources, task);
        let id = rows.as_ref().and_then(|rows| trace.columns.id(&rows.record));
        id.map_or_else(|| trace.numbered(task), str::to_owned)
    }

    pub(crate) fn place(&self, sources: &Sources, task: TaskId) -> Option<Span> {
        Some(self.trace(task)?.row(sources, task)?.place(0))
    }

    /// The trace of a transfer.
    fn trace(&self, task: TaskId) -> Option<&Surveyed> {
        if task.0 >= self.next_row() {
            return None;
        }
        let after = self.traces.partition_point(|trace| trace.first <= task);
        self.traces.get(after.checked_sub(1)?)
    }

    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
