//! Reads a table and notes where its lines begin. (The CSV reader's own count is one behind after CR LF, and by one for
//! every empty line before a record.)

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};

use crate::files::Files;

/// A table that is read, digested, and whose lines are counted: breaks are LF, CR LF and CR.
pub(crate) struct LineReader<'a> {
    table: File,
    /// `None` where the table was digested before.
    files: Option<&'a mut Files>,
    /// Offset and number of the lines that are not empty, from the one last asked for on.
    starts: VecDeque<(u64, u32)>,
    offset: u64,
    line: u32,
    last: u8,
}

impl<'a> LineReader<'a> {
    /// At the beginning of a table.
    pub(crate) fn new(table: File, files: &'a mut Files) -> Self {
        Self { files: Some(files), ..Self::again(table, 1) }
    }

    /// Of a table that was digested before and stands where this line begins; offsets count from there.
    pub(crate) fn again(table: File, line: u32) -> Self {
        Self { table, files: None, starts: VecDeque::new(), offset: 0, line, last: b'\n' }
    }

    /// Offset and number of the first line with text that begins at or after an offset; offsets must not fall.
    pub(crate) fn line_from(&mut self, offset: u64) -> (u64, u32) {
        while self.starts.front().is_some_and(|&(start, _)| start < offset) {
            self.starts.pop_front();
        }
        self.starts.front().copied().unwrap_or((self.offset, self.line))
    }
}

impl Read for LineReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = loop {
            match self.table.read(buffer) {
                // The reader of rows would take a signal for a broken table.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        let bytes = &buffer[..length];
        if let Some(files) = &mut self.files {
            files.add_to_digest(bytes);
        }
        for &byte in bytes {
            let breaks = matches!(byte, b'\n' | b'\r');
            if breaks && !(byte == b'\n' && self.last == b'\r') {
                self.line = self.line.saturating_add(1);
            } else if !breaks && matches!(self.last, b'\n' | b'\r') {
                self.starts.push_back((self.offset, self.line));
            }
            self.last = byte;
            self.offset += 1;
        }
        Ok(length)
    }
}
