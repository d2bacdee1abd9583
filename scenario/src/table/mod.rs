//! Rows of a CSV file with their places.

mod lines;
mod origins;

use csv::{ByteRecord, ReaderBuilder};

use crate::context::{Context, Read};
use crate::source::Span;
pub(crate) use lines::LineReader;
pub(crate) use origins::Origins;

/// The rows of a table with their places.
pub(crate) struct Rows<'a> {
    /// The table among the texts read.
    pub(crate) source: u32,
    reader: csv::Reader<LineReader<'a>>,
    /// The row last read.
    pub(crate) record: ByteRecord,
    pub(crate) line: u32,
    /// Where that line begins, bytes from where reading began.
    pub(crate) offset: u64,
}

impl<'a> Rows<'a> {
    /// At the beginning of a table.
    pub(crate) fn new(source: u32, table: LineReader<'a>) -> Self {
        // Rows of another width get a message of their own, with their place.
        let reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(table);
        Self { source, reader, record: ByteRecord::new(), line: 1, offset: 0 }
    }

    /// Reads the next row into `record`; false at the end.
    pub(crate) fn next(&mut self, context: &mut Context) -> Read<bool> {
        self.advance().map_err(|error| {
            context.error(self.place(0), format!("the table cannot be read: {error}"), "check the file")
        })
    }

    /// As [`Self::next`], with the reader's own error.
    pub(crate) fn advance(&mut self) -> Result<bool, csv::Error> {
        let more = self.reader.read_byte_record(&mut self.record)?;
        if let Some(position) = self.record.position().filter(|_| more) {
            (self.offset, self.line) = self.reader.get_mut().line_from(position.byte());
        }
        Ok(more)
    }

    /// The place of a field of the record; its column is exact as long as no field before it is quoted.
    pub(crate) fn place(&self, field: usize) -> Span {
        let width = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().count() as u32;
        let before: u32 = self.record.iter().take(field).map(|bytes| width(bytes) + 1).sum();
        let own = self.record.get(field).map_or(1, width).max(1);
        Span { source: self.source, line: self.line, column: before + 1, width: own }
    }
}
