//! Names and places of the rows of a trace.

use crate::source::Span;

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
    /// Of the rows of a text, none yet.
    pub(super) fn of(source: u32) -> Self {
        Self { source, ..Self::default() }
    }

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
    pub(super) fn add_line(&mut self, i: u32, line: u32) {
        if self.lines.is_empty() && line == i + 2 {
            return;
        }
        if self.lines.is_empty() {
            self.lines = (2..i + 2).collect();
        }
        self.lines.push(line);
    }

    /// Adds the id of the next row, if it gives one.
    pub(super) fn add_id(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len() as u32);
    }
}
