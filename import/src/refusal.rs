//! Why a dump is not read.

use std::fmt;

/// A dump that is not read: what is wrong, the place where it is known, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// What is wrong, in one line without the file's name.
    pub message: String,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column in that line, in characters from 1.
    pub column: Option<u32>,
    /// What to give instead; `None` where the message says it.
    pub help: Option<String>,
}

impl Refusal {
    /// A refusal without a place.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), line: None, column: None, help: None }
    }

    /// The same with its line.
    pub(crate) fn at(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }

    /// The same with a line, where it has none.
    pub(crate) fn or_at(mut self, line: u32) -> Self {
        self.line = self.line.or(Some(line));
        self
    }

    /// The same with its column.
    pub(crate) fn column(mut self, column: u32) -> Self {
        self.column = Some(column);
        self
    }

    /// The same with a remedy.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            let column = self.column.map_or_else(String::new, |column| format!(", column {column}"));
            write!(f, "line {line}{column}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
