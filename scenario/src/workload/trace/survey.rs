//! The first of two passes over a trace that is streamed: every row is checked, and what a run must know beforehand is
//! noted: routes, classes, engines, how many and how large. No row is kept.

use weir_plugin_api::{EngineScope, SimTime};
use weir_sim_core::{ServiceId, Task};

use super::names::TraceNames;
use crate::context::{Context, Problem, Read};
use crate::files::Files;
use crate::stream::Surveyed;
use crate::stream::row::{self, Columns, Devices, Row, Wrong};
use crate::table::{LineReader, Rows};
use crate::workload::attributes::PlacedId;
use crate::workload::expansion::Expansion;
use crate::workload::group::{Names, TaskKind};
use crate::workload::routing::rules::{Routing, Way};

/// How far a survey has come.
struct Progress<'a> {
    columns: &'a Columns,
    devices: Devices,
    /// Start of the row before; `None` after one that was out of order: one complaint is enough.
    last: Option<SimTime>,
    /// Whether a row was refused because it cannot be streamed, which is said once, too.
    refused: bool,
    /// The file's name, for a command that sorts it.
    named: &'a str,
}

impl Expansion<'_> {
    /// Surveys a trace, whose file is named at a place.
    pub(super) fn survey(
        &mut self,
        context: &mut Context,
        files: &mut Files,
        file: &PlacedId,
        id: PlacedId,
    ) -> Read<()> {
        let (table, source) = files.open_table(context, file.span, &file.text, u64::MAX, "")?;
        let stamp = table.metadata().ok();
        let first = self.next();
        let mut rows = Rows::new(source, LineReader::new(table, files));
        let columns = row::header(context, &mut rows)?;
        let index = self.survey_rows(context, &mut rows, &columns, file)?;
        let names = TraceNames::of(source);
        if let Some(stream) = &mut self.stream {
            stream.add_trace(Surveyed { id: id.text.clone(), source, first, columns, index, stamp });
        }
        self.traffic.fixed(file.span);
        self.add(context, id, TaskKind::Transfer, first, Names::Trace(names))
    }

    /// Checks all rows; returns where every so many begin.
    fn survey_rows(
        &mut self,
        context: &mut Context,
        rows: &mut Rows<'_>,
        columns: &Columns,
        file: &PlacedId,
    ) -> Read<Vec<(u64, u32)>> {
        let devices = self.stream.as_mut().map(|stream| std::mem::take(&mut stream.devices)).unwrap_or_default();
        let mut progress = Progress { columns, devices, last: Some(SimTime::ZERO), refused: false, named: &file.text };
        let (mut index, mut fine, mut row) = (Vec::new(), Ok(()), 0_u32);
        while rows.next(context)? {
            self.reserve(context, file.span, 1)?;
            if row.is_multiple_of(Surveyed::STEP) {
                index.push((rows.offset, rows.line));
            }
            row += 1;
            if let Err((field, problem)) = self.survey_row(rows, &mut progress) {
                fine = Err(context.error(rows.place(field), problem.message, problem.help));
                if context.full() {
                    break;
                }
            }
        }
        if let Some(stream) = &mut self.stream {
            stream.devices = progress.devices;
        }
        fine.map(|()| index)
    }

    fn survey_row(&mut self, rows: &Rows<'_>, progress: &mut Progress<'_>) -> Result<(), Wrong> {
        let (columns, devices) = (progress.columns, &mut progress.devices);
        let row = Row::read(&rows.record, columns, |field| self.named(devices, field))?;
        let way = Way { routing: Routing::default(), via: &[], id: &String::new };
        let task = self.carrying(row.ends, row.bytes, row.attributes, way).map_err(|problem| (row.to, problem))?;
        if let Some(stream) = &mut self.stream {
            stream.note(row.ends.from, &task);
        }
        if let Some(wrong) = self.not_streamed(&row, &task).filter(|_| !std::mem::replace(&mut progress.refused, true))
        {
            return Err(wrong);
        }
        let start = row.attributes.start;
        let Some(last) = progress.last else { return Ok(()) };
        progress.last = (start >= last).then_some(start);
        if start < last {
            return Err((columns.start().unwrap_or(0), unsorted(progress, start, last)));
        }
        Ok(())
    }
}

impl Expansion<'_> {
    /// Why a row needs more than a stream keeps.
    fn not_streamed(&self, row: &Row<'_>, task: &Task) -> Option<Wrong> {
        let engine = self.builder.engines().get(task.engine.0 as usize);
        if let Some((at, _)) = row.after {
            return Some((at, Problem::new("a row that waits cannot be streamed", "run without --stream")));
        }
        if engine.is_some_and(|engine| engine.scope != EngineScope::Device(row.ends.from)) {
            let message = "a copy into a device whose copy engines the topology gives cannot be streamed";
            return Some((row.to, Problem::new(message, "run without --stream, or leave `copy` of its `engines` out")));
        }
        let message = "a source with an `overhead` cannot be streamed";
        let help = "run without --stream, or leave `overhead` out";
        (task.service != ServiceId::PLAIN).then(|| (row.to, Problem::new(message, help)))
    }
}

/// A row that starts before the one above it.
fn unsorted(progress: &Progress<'_>, start: SimTime, last: SimTime) -> Problem {
    let (start, last) = (start.seconds(), last.seconds());
    let message =
        format!("a streamed trace is sorted by start: {start} s is before {last} s, the start of the row above");
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    let file = if progress.named.chars().all(plain) { progress.named } else { "FILE" };
    let column = progress.columns.start().unwrap_or(0) + 1;
    let sort =
        format!("(head -n 1 {file}; tail -n +2 {file} | LC_ALL=C sort -s -t, -k{column},{column}g) > sorted.csv");
    Problem::new(message, format!("sort it, `{sort}`, or run without --stream"))
}
