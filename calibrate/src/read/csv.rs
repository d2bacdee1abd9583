//! The plain table: `from,to,bytes,seconds,group`, one row per transfer; transfers of one group ran at once.
//!
//! A row without a number in `seconds` (empty, nan, inf, 0) measured nothing; its transfer counts among those of its group.
//! Lines that begin with `#` are comments. A row without a group ran alone. `id` names a transfer for `weir validate`;
//! `what` says what was measured, and only `copy` (the default) is a transfer over the links.

use std::collections::BTreeMap;

use csv::{ByteRecord, ReaderBuilder};
use weir_scenario::{Diagnostic, Position};

use super::number::{self, Cell, MOST_ROWS, NumberError};
use super::source::{Source, Span, error_at};
use crate::measurement::{Experiment, Log, Skipped, Transfer};

/// Columns with a meaning; a note names all others.
const READ: [&str; 7] = ["from", "to", "bytes", "seconds", "group", "id", "what"];

/// Names of columns in a first line that make it nearly a header; *assumed*, words of other logs are seldom two of them.
const NEAR: usize = 2;

/// A row as it stands, its numbers checked.
#[derive(Clone, PartialEq, Debug)]
pub struct MeasuredRow {
    /// The file and the line of the row.
    pub place: Position,
    /// The device that sends, as written: not yet a node of the machine.
    pub from: String,
    /// The device that receives, as written.
    pub to: String,
    /// Payload; `None` where the field is empty, as for an operation of a model.
    pub bytes: Option<u64>,
    /// Measured seconds; `None` where nothing was measured.
    pub seconds: Option<f64>,
    /// The group; empty for none.
    pub group: String,
    /// The id; empty for none.
    pub id: String,
    /// What was measured; empty for a copy.
    pub what: String,
}

/// A table as it was read.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MeasuredTable {
    /// Rows with a measured time, in file order.
    pub rows: Vec<MeasuredRow>,
    /// Rows that measured nothing.
    pub skipped: Vec<Skipped>,
    /// Columns that are not read.
    pub notes: Vec<String>,
}

/// Reads a table.
///
/// # Errors
/// What is wrong with the table: file, line, column and remedy. `ids` are needed where `from`, `to` and `bytes` are not.
pub fn measured_rows(file: &str, text: &str) -> Result<MeasuredTable, Box<Diagnostic>> {
    TableReader::open(file, text).and_then(TableReader::rows)
}

/// A table while it is read.
struct TableReader<'a> {
    file: &'a str,
    text: &'a str,
    reader: csv::Reader<&'a [u8]>,
    columns: BTreeMap<&'static str, usize>,
    notes: Vec<String>,
    /// Line breaks counted so far, and up to where.
    line: u32,
    counted: usize,
}

impl<'a> TableReader<'a> {
    fn open(file: &'a str, text: &'a str) -> Result<Self, Box<Diagnostic>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let reader =
            ReaderBuilder::new().has_headers(false).flexible(true).comment(Some(b'#')).from_reader(text.as_bytes());
        let (columns, notes) = (BTreeMap::new(), Vec::new());
        let mut table = Self { file, text, reader, columns, notes, line: 1, counted: 0 };
        table.header()?;
        Ok(table)
    }

    fn header(&mut self) -> Result<(), Box<Diagnostic>> {
        let help = "write the header `from,to,bytes,seconds,group` in the first line";
        let Some((record, line)) = self.next()? else {
            return Err(self.error(Span::line(1), "the table is empty".to_owned(), help));
        };
        let mut ignored = Vec::new();
        for (at, field) in record.iter().enumerate() {
            let name = String::from_utf8_lossy(field).trim().to_owned();
            match READ.iter().find(|known| **known == name) {
                Some(known) if self.columns.insert(known, at).is_some() => {
                    let message = format!("the column `{known}` appears twice");
                    return Err(self.error(span(line, &record, at), message, "remove one of the two"));
                }
                Some(_) => {}
                None => ignored.push(format!("`{}`", number::excerpt(&name))),
            }
        }
        if !self.columns.contains_key("seconds") {
            return Err(self.error(Span::line(line), "the table has no column `seconds`".to_owned(), help));
        }
        if !ignored.is_empty() {
            self.notes.push(format!("{}: not read: the column {}", self.file, ignored.join(", ")));
        }
        Ok(())
    }

    /// The next record with the number of its line.
    fn next(&mut self) -> Result<Option<(ByteRecord, u32)>, Box<Diagnostic>> {
        let mut record = ByteRecord::new();
        let line = self.line;
        let more = loop {
            let more = self.reader.read_byte_record(&mut record).map_err(|e| {
                self.error(Span::line(line), format!("the table cannot be read: {e}"), "check the file")
            })?;
            // The reader leaves out lines without anything, not those of spaces.
            if !more || record.len() > 1 || record.iter().any(|field| !field.trim_ascii().is_empty()) {
                break more;
            }
        };
        if !more {
            return Ok(None);
        }
        // The reader counts from before blank lines and comments above a record.
        let mut at = record.position().map_or(0, |p| p.byte() as usize);
        loop {
            let rest = &self.text[at..];
            match rest.find('\n') {
                Some(end) if rest.starts_with('#') || rest[..end].trim().is_empty() => at += end + 1,
                _ => break,
            }
        }
        self.line += self.text[self.counted..at].matches('\n').count() as u32;
        self.counted = at;
        Ok(Some((record, self.line)))
    }

    fn rows(mut self) -> Result<MeasuredTable, Box<Diagnostic>> {
        let (mut rows, mut skipped) = (Vec::new(), Vec::new());
        while let Some((record, line)) = self.next()? {
            if rows.len() == MOST_ROWS {
                let message = format!("the table has more than {MOST_ROWS} rows");
                return Err(self.error(Span::line(line), message, "give fewer rows"));
            }
            rows.push(self.row(&record, line, &mut skipped)?);
        }
        Ok(MeasuredTable { rows, skipped, notes: self.notes })
    }

    fn row(&self, record: &ByteRecord, line: u32, skipped: &mut Vec<Skipped>) -> Result<MeasuredRow, Box<Diagnostic>> {
        let text = |name: &str| self.field(record, line, name);
        let at = |name: &str| span(line, record, self.columns.get(name).copied().unwrap_or(0));
        let wrong = |name: &str, error: NumberError| self.error(at(name), error.message, error.help);
        let seconds = match number::cell(&text("seconds")?, "`seconds`") {
            Cell::Value(value) => number::seconds(value, "`seconds`").map(Some),
            Cell::Wrong(problem) => Err(problem),
            Cell::Nothing(why) => {
                let what = [text("id")?, format!("{} → {}", text("from")?, text("to")?)];
                let what = what.iter().find(|what| !what.is_empty()).map_or_else(String::new, |w| number::excerpt(w));
                skipped.push(Skipped { place: self.place(line, at("seconds").column), what, why });
                Ok(None)
            }
        };
        let bytes = match text("bytes")? {
            empty if empty.is_empty() => None,
            text => Some(number::bytes(&text, "`bytes`").map_err(|problem| wrong("bytes", problem))?),
        };
        Ok(MeasuredRow {
            place: self.place(line, 1),
            from: text("from")?,
            to: text("to")?,
            bytes,
            seconds: seconds.map_err(|problem| wrong("seconds", problem))?,
            group: text("group")?,
            id: text("id")?,
            what: text("what")?,
        })
    }

    /// The text of a column; empty where the table has no such column.
    fn field(&self, record: &ByteRecord, line: u32, name: &str) -> Result<String, Box<Diagnostic>> {
        let Some(&at) = self.columns.get(name) else { return Ok(String::new()) };
        let field = record.get(at).ok_or_else(|| {
            let message = format!("the row ends before the column `{name}`");
            self.error(Span::line(line), message, "complete the row: it may have been cut off")
        })?;
        Ok(String::from_utf8_lossy(field).trim().to_owned())
    }

    fn place(&self, line: u32, column: u32) -> Position {
        Position { file: self.file.into(), line, column }
    }

    fn error(&self, span: Span, message: String, help: &str) -> Box<Diagnostic> {
        error_at(self.file, self.text, span, message, help)
    }
}

/// The line of a header that is nearly one of this table: in other letters, with other separators, or with some of the names.
pub(super) fn near_header(text: &str) -> Option<u32> {
    let (line, header) = (1..).zip(text.lines()).find(|(_, l)| !l.trim().is_empty() && !l.starts_with('#'))?;
    let names: Vec<String> =
        header.split([',', ';', '\t', '|']).map(|name| name.trim().trim_matches('"').to_lowercase()).collect();
    let known = |needed: &&&str| names.iter().any(|name| name == *needed);
    (READ.iter().filter(known).count() >= NEAR).then_some(line)
}

/// Where a field stands, exact as long as no field before it is quoted.
fn span(line: u32, record: &ByteRecord, field: usize) -> Span {
    let width = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().count() as u32;
    let before: u32 = record.iter().take(field).map(|bytes| width(bytes) + 1).sum();
    Span { line, column: before + 1, width: record.get(field).map_or(1, width).max(1) }
}

/// Reads the table as experiments: one per group, in the order of their first rows.
pub(super) fn read(source: &Source<'_>) -> Result<Log, Box<Diagnostic>> {
    let MeasuredTable { rows, skipped, notes } = measured_rows(source.file, source.text)?;
    let mut log = Log { notes, skipped, ..Log::default() };
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        let Some(transfer) = transfer(source, &row, &mut log)? else { continue };
        let at = if row.group.is_empty() {
            log.experiments.push(Experiment::plain(format!("line {}", row.place.line)));
            log.experiments.len() - 1
        } else {
            *groups.entry(row.group.clone()).or_insert_with(|| {
                log.experiments.push(Experiment::plain(row.group.clone()));
                log.experiments.len() - 1
            })
        };
        let experiment = std::mem::replace(&mut log.experiments[at], Experiment::plain(""));
        log.experiments[at] = match row.seconds {
            Some(seconds) => experiment.with(transfer, seconds, row.place),
            // It ran beside the others all the same.
            None => experiment.beside(transfer),
        };
    }
    log.experiments.retain(|experiment| !experiment.rows.is_empty());
    Ok(log)
}

/// The transfer of a row; `None` where it is skipped.
fn transfer(source: &Source<'_>, row: &MeasuredRow, log: &mut Log) -> Result<Option<Transfer>, Box<Diagnostic>> {
    if !(row.what.is_empty() || row.what == "copy") {
        let why = "no plain copy over the links; `weir validate` compares it, by its id, with an operation of a model";
        let what = format!("`{}`", number::excerpt(&row.what));
        log.skipped.push(Skipped { place: row.place.clone(), what, why: why.to_owned() });
        return Ok(None);
    }
    let at = |name: &str, message: String, help: &str| {
        let line = source.text.lines().nth(row.place.line.saturating_sub(1) as usize).unwrap_or("");
        let before = line.find(name).map_or(0, |byte| line[..byte].chars().count() as u32);
        let width = name.chars().count().max(1) as u32;
        source.error(Span { line: row.place.line, column: before + 1, width }, message, help)
    };
    let Some(bytes) = row.bytes else {
        return Err(at("", "the row has no `bytes`".to_owned(), "write how many bytes were copied"));
    };
    let device = |name: &str, column: &str| {
        let found = source.machine.device(name);
        found.map_err(|(message, help)| at(name, format!("`{column}`: {message}"), &help))
    };
    let (from, to) = (device(&row.from, "from")?, device(&row.to, "to")?);
    if from == to {
        return Err(at(
            &row.from,
            format!("`{}` is source and destination", row.from),
            "give rows between two devices only",
        ));
    }
    Ok(Some(Transfer { from, to, bytes }))
}
