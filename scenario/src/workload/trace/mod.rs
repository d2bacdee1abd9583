//! `trace: { file: flows.csv }`: one transfer per row of a table, in the order of the rows.
//!
//! Rows are read one at a time; nothing is kept of a row but its task, unless it gives an id or waits for something.

pub(crate) mod row;
mod survey;

use std::path::Path;

use weir_sim_core::TaskId;

use super::Expansion;
use super::group::Names;
use super::item::given_id;
use crate::context::{Context, Problem, Read};
use crate::diagnostic::quoted;
use crate::files::Files;
use crate::scenario::TaskKind;
use crate::source::Span;
use crate::table::{LineReader, Rows};
use crate::yaml::Value;
use row::{Columns, Devices};

/// Names and places of the rows of a trace.
#[derive(Debug, Default)]
pub(crate) struct TraceNames {
    source: u32,
    /// Ids that rows give, one after the other; empty when there is no such column.
    text: String,
    /// Per row: end of its id in `text`; empty when there is no such column.
    ends: Vec<u32>,
    /// Per row: its line; empty while row i stands on line i + 2.
    lines: Vec<u32>,
}

impl TraceNames {
    /// The id that row `i` (from 0) gives.
    pub(crate) fn explicit(&self, i: u32) -> Option<&str> {
        let i = i as usize;
        let end = *self.ends.get(i)? as usize;
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        Some(&self.text[start..end]).filter(|name| !name.is_empty())
    }

    /// Where row `i` stands.
    pub(crate) fn place(&self, i: u32) -> Span {
        let line = self.lines.get(i as usize).copied().unwrap_or(i + 2);
        Span { source: self.source, line, column: 1, width: 1 }
    }

    /// Adds the place of row `i`; keeps lines only where one deviates from "one row a line".
    fn add_line(&mut self, i: u32, line: u32) {
        if self.lines.is_empty() && line == i + 2 {
            return;
        }
        if self.lines.is_empty() {
            self.lines = (2..i + 2).collect();
        }
        self.lines.push(line);
    }

    /// Adds the id of the next row, if it gives one.
    fn add_id(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len() as u32);
    }
}

/// Bytes of a table at most, so that positions in it fit in 32 bits; *assumed*.
const TABLE_BYTES: u64 = 2 << 30;

impl Expansion<'_> {
    /// Expands a trace.
    pub(super) fn trace(&mut self, context: &mut Context, files: &mut Files, value: &Value) -> Read<()> {
        let fields = context.fields(value, "a trace", &["file", "id"])?;
        let named = fields.require(context, "file")?;
        let text = context.text(named, "`file` of a trace")?;
        let id = match fields.get("id") {
            Some(value) => given_id(context, value)?,
            None => (Path::new(text).file_stem().unwrap_or_default().to_string_lossy().into(), named.span),
        };
        if self.stream.is_some() {
            return self.survey(context, files, (text, named.span), id);
        }
        let help = "split it into several traces, or run it with --stream";
        let (table, source) = files.open_table(context, named.span, text, TABLE_BYTES, help)?;
        let first = self.next();
        let mut rows = Rows::new(source, LineReader::new(table, files));
        let columns = row::header(context, &mut rows)?;
        let names = self.rows(context, &mut rows, &columns, named.span)?;
        self.traffic.fixed(named.span);
        self.add(context, id, TaskKind::Transfer, first, Names::Trace(names))?;
        self.index_rows(context)
    }

    fn rows(&mut self, context: &mut Context, rows: &mut Rows<'_>, columns: &Columns, span: Span) -> Read<TraceNames> {
        let mut names = TraceNames { source: rows.source, ..TraceNames::default() };
        let (mut devices, mut fine) = (Devices::default(), Ok(()));
        let mut i = 0;
        while rows.next(context)? {
            self.reserve(context, span, 1)?;
            names.add_line(i, rows.line);
            i += 1;
            if let Err((field, problem)) = self.row(rows, columns, &mut devices, &mut names) {
                fine = Err(context.error(rows.place(field), problem.message, problem.help));
                if context.full() {
                    break;
                }
            }
        }
        fine.map(|()| names)
    }

    /// Refuses a row's id that another row has.
    fn index_rows(&mut self, context: &mut Context) -> Read<()> {
        let Err((second, first)) = self.groups.index_rows() else { return Ok(()) };
        let message = format!("the id {} is given twice", quoted(&self.groups.name(second)));
        let place = |task: TaskId| self.groups.of(task).map(|g| g.place(task.0 - g.first)).unwrap_or_default();
        let notes = vec![("first given at".to_owned(), place(first))];
        Err(context.error_with_notes(place(second), Problem::new(message, "give each row its own id"), notes))
    }
}
