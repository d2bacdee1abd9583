//! The text of a log, its lines, and messages about places in it.

use weir_plugin_api::NodeId;
use weir_scenario::{Diagnostic, Excerpt, Machine, Position};

use super::devices::nearest_cpu;
use super::number::NumberError;
use super::options::ReadOptions;
use crate::measurement::{Log, Skipped};

/// The cells of a matrix that a tool has not measured.
#[derive(Default)]
pub(crate) struct Unmeasured {
    first: Option<Position>,
    cells: usize,
}

impl Unmeasured {
    /// Adds one that is `N/A`.
    pub(crate) fn add(&mut self, place: Position) {
        self.first.get_or_insert(place);
        self.cells += 1;
    }

    /// Says how many there are.
    pub(crate) fn note(self, source: &Source<'_>, log: &mut Log, matrix: &str) {
        let Some(first) = self.first else { return };
        let cells = if self.cells == 1 { "a cell".to_owned() } else { format!("{} cells", self.cells) };
        let why = "N/A: not measured, as between devices that do not reach each other's memory";
        source.skip(log, first, format!("{matrix}, {cells}"), why);
    }
}

/// A line of a text.
#[derive(Clone, Copy)]
pub(crate) struct LogLine<'a> {
    /// From 1.
    pub(crate) number: u32,
    pub(crate) text: &'a str,
}

/// A part of a line that a message points at; line and column from 1.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) width: u32,
}

impl Span {
    /// The beginning of a line.
    pub(crate) fn line(line: u32) -> Self {
        Self { line, column: 1, width: 1 }
    }
}

/// An error at a part of a text, with the line and a remedy.
pub(crate) fn error_at(file: &str, text: &str, span: Span, message: String, help: &str) -> Box<Diagnostic> {
    let line = text.lines().nth(span.line.saturating_sub(1) as usize).unwrap_or("");
    Box::new(Diagnostic {
        position: Some(Position { file: file.into(), line: span.line, column: span.column }),
        excerpt: Some(Excerpt::new(line, span.column, span.width)),
        ..Diagnostic::error(message).with_help(help)
    })
}

/// A text with its name, and what the numbers in it mean.
#[derive(Clone)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    pub(crate) machine: &'a Machine,
    pub(crate) options: &'a ReadOptions,
    pub(crate) devices: Vec<NodeId>,
    /// By what in the log the devices are known, for a person; `None` where nothing in it says them.
    pub(crate) known_by: Option<&'static str>,
    pub(crate) host: Option<NodeId>,
}

impl Source<'_> {
    /// The same with devices that something in the log says.
    pub(crate) fn with_devices(&self, devices: Vec<NodeId>, by: &'static str) -> Self {
        Self { devices, known_by: Some(by), ..self.clone() }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = LogLine<'_>> {
        (1..).zip(self.text.lines()).map(|(number, text)| LogLine { number, text })
    }

    /// A place by line and column, from 1.
    pub(crate) fn place(&self, line: u32, column: u32) -> Position {
        Position { file: self.file.into(), line, column }
    }

    pub(crate) fn error(&self, span: Span, message: impl Into<String>, help: &str) -> Box<Diagnostic> {
        error_at(self.file, self.text, span, message.into(), help)
    }

    /// The place of a field of a line.
    pub(crate) fn place_of(&self, line: LogLine<'_>, field: &str) -> Position {
        let byte = (field.as_ptr() as usize).saturating_sub(line.text.as_ptr() as usize);
        let before = line.text.get(..byte).unwrap_or("");
        self.place(line.number, before.chars().count() as u32 + 1)
    }

    /// An error at a field of a line.
    pub(crate) fn wrong(&self, line: LogLine<'_>, field: &str, error: NumberError) -> Box<Diagnostic> {
        let Position { line, column, .. } = self.place_of(line, field);
        self.error(Span { line, column, width: field.chars().count() as u32 }, error.message, error.help)
    }

    /// Refuses a matrix without the rows of some of its columns.
    pub(crate) fn all_rows(&self, head: u32, missing: &[String]) -> Result<(), Box<Diagnostic>> {
        let message = match missing {
            [] => return Ok(()),
            [one] => format!("the matrix has a column {one} and no row {one}"),
            _ => format!("the matrix has columns and no rows {}", missing.join(", ")),
        };
        let help = "complete the matrix, or remove it: the log may have been cut off";
        Err(self.error(Span::line(head), message, help))
    }

    /// Notes a part of the log that is not used.
    pub(crate) fn skip(&self, log: &mut Log, place: Position, what: impl Into<String>, why: impl Into<String>) {
        log.skipped.push(Skipped { place, what: what.into(), why: why.into() });
    }

    /// The device of a number in the log.
    pub(crate) fn device(&self, number: usize) -> Option<NodeId> {
        self.devices.get(number).copied()
    }

    /// The host memory of a device: what `--host` says, else the cpu with the fewest links to it, among equals the
    /// first.
    pub(crate) fn host_of(&self, device: NodeId) -> Option<NodeId> {
        self.host.or_else(|| nearest_cpu(self.machine, device))
    }
}
