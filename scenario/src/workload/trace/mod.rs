//! `trace: { file: flows.csv }`: one transfer per row of a table, in the order of the rows.
//!
//! Rows are read one at a time; nothing is kept of a row but its task, unless it gives an id or waits for something.

pub(super) mod names;
mod survey;

use std::path::Path;

use weir_plugin_api::NodeId;
use weir_sim_core::TaskId;

use super::after::AFTER;
use super::attributes::{ID, PlacedId, read_id};
use super::expansion::Expansion;
use super::group::{Names, TaskKind};
use super::routing::rules::{Routing, Way};
use super::routing::{NIC, ROUTING, not_streamed};
use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::files::Files;
use crate::format::{KeyTable, Shape, required};
use crate::source::Span;
use crate::stream::row::{self, Columns, Devices, Field, Row, Wrong};
use crate::table::{LineReader, Rows};
use crate::yaml::Value;
use names::TraceNames;

pub(super) static TRACE: KeyTable = KeyTable::new(
    "trace",
    "A transfer for each row of a table.",
    &[
        required(
            "file",
            Shape::Path,
            "CSV with the columns from,to,bytes and optionally start_s,id,weight,priority,limit_Bps,after.",
        ),
        ID,
        AFTER,
        ROUTING,
        NIC,
    ],
);

/// What all rows of a trace have in common.
#[derive(Clone, Copy)]
struct TraceItem<'a> {
    id: &'a str,
    /// Where its file is named.
    span: Span,
    routing: Routing,
}

/// Bytes of a table at most, so that positions in it fit in 32 bits; *assumed*.
const TABLE_BYTES: u64 = 2 << 30;

impl Expansion<'_> {
    pub(super) fn trace(&mut self, context: &mut Context, files: &mut Files, value: &Value) -> Read<()> {
        let fields = context.fields(value, "a trace", &TRACE)?;
        let named = fields.require(context, "file")?;
        let text = context.text(named, "`file` of a trace")?;
        let id = match fields.get("id") {
            Some(value) => read_id(context, value)?,
            None => {
                let stem = Path::new(text).file_stem().unwrap_or_default().to_string_lossy();
                PlacedId { text: stem.into(), span: named.span }
            }
        };
        let routing = self.routing(context, &fields)?;
        let after = self.after(context, fields.get("after"))?;
        if self.stream.is_some() {
            if let Some(entry) = fields.entry("after") {
                let help = "write the time of each start into the rows, or run without --stream";
                return Err(context.error(
                    entry.key_span,
                    "a trace that waits (`after`, `repeat`, `sequence`) cannot be streamed",
                    help,
                ));
            }
            not_streamed(context, &fields, routing);
            return self.survey(context, files, &PlacedId { text: text.into(), span: named.span }, id);
        }
        let help = "split it into several traces, or run it with --stream";
        let (table, source) = files.open_table(context, named.span, text, TABLE_BYTES, help)?;
        let first = self.next();
        let mut rows = Rows::new(source, LineReader::new(table, files));
        let columns = row::header(context, &mut rows)?;
        let trace = TraceItem { id: &id.text, span: named.span, routing };
        let names = self.rows(context, &mut rows, &columns, trace)?;
        self.traffic.fixed(named.span);
        self.wait(first, self.next().0 - first.0, after);
        self.add(context, id, TaskKind::Transfer, first, Names::Trace(names))?;
        self.index_rows(context)
    }

    fn rows(
        &mut self,
        context: &mut Context,
        rows: &mut Rows<'_>,
        columns: &Columns,
        trace: TraceItem<'_>,
    ) -> Read<TraceNames> {
        let mut names = TraceNames::of(rows.source);
        let (mut devices, mut fine) = (Devices::default(), Ok(()));
        let mut i = 0;
        while rows.next(context)? {
            self.reserve(context, trace.span, 1)?;
            names.add_line(i, rows.line);
            i += 1;
            if let Err((field, problem)) = self.row(rows, columns, &mut devices, &mut names, (trace, i)) {
                fine = Err(context.error(rows.place(field), problem.message, problem.help));
                if context.full() {
                    break;
                }
            }
        }
        fine.map(|()| names)
    }

    /// Adds the transfer of the current row.
    fn row(
        &mut self,
        rows: &Rows<'_>,
        columns: &Columns,
        devices: &mut Devices,
        names: &mut TraceNames,
        (trace, number): (TraceItem<'_>, u32),
    ) -> Result<(), Wrong> {
        let row = Row::read(&rows.record, columns, |field| self.named(devices, field))?;
        let name = || if row.id.is_empty() { format!("{}:{number}", trace.id) } else { row.id.to_owned() };
        let way = Way { routing: trace.routing, via: &[], id: &name };
        let task = self.carry(row.ends, row.bytes, row.attributes, way).map_err(|problem| (row.to, problem))?;
        if columns.has_ids() {
            names.add_id(row.id);
        }
        if let Some((at, list)) = row.after {
            self.row_waits(task, (at, list), rows.place(at))?;
        }
        Ok(())
    }

    /// The device that a field names, looked up once for each text.
    pub(super) fn named(&self, devices: &mut Devices, (at, bytes): Field<'_>) -> Result<NodeId, Wrong> {
        if let Some(&node) = devices.get(bytes) {
            return Ok(node);
        }
        let node = row::read((at, bytes), |name| self.topology.names.resolve(name))?;
        match self.topology.not_an_end(node) {
            Some(problem) => Err((at, problem)),
            None => {
                devices.insert(bytes.into(), node);
                Ok(node)
            }
        }
    }

    /// `after`: ids separated by `;`.
    fn row_waits(&mut self, task: TaskId, field: Field<'_>, span: Span) -> Result<(), Wrong> {
        let names = row::read(field, |list| {
            let ids = list.split(';').map(str::trim).filter(|id| !id.is_empty());
            Ok(ids.map(|id| PlacedId { text: id.into(), span }).collect())
        })?;
        self.wait(task, 1, names);
        Ok(())
    }

    /// Refuses a row's id that another row has.
    fn index_rows(&mut self, context: &mut Context) -> Read<()> {
        let Err((second, first)) = self.groups.index_rows() else { return Ok(()) };
        let id = quoted(&self.groups.name(second));
        let place = |task: TaskId| self.groups.of(task).map(|g| g.place(task.0 - g.first)).unwrap_or_default();
        let file = |task: TaskId| context.sources.path(place(task).source);
        if place(first).line == place(second).line && file(first).is_some() && file(first) == file(second) {
            let message = format!("the id {id} is of a row that is read twice, as rows with ids cannot be");
            let help = "read the table once, outside of `repeat` and `for`, or take its columns `id` and `after` out";
            return Err(context.error(place(second), message, help));
        }
        let message = format!("the id {id} is given twice");
        let notes = vec![("first given at".to_owned(), place(first))];
        Err(context.error_with_notes(place(second), Problem::new(message, "give each row its own id"), notes))
    }
}
