//! Pieces of JSON: exact decimals are written as they are, which no number type would do.

use std::fmt::{Display, Write as _};

use crate::json::json_text;

/// The members of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Args(String);

impl Args {
    fn key(mut self, key: &str) -> Self {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push_str(&quoted(key));
        self.0.push(':');
        self
    }

    pub(super) fn text(self, key: &str, value: &str) -> Self {
        let mut args = self.key(key);
        args.0.push_str(&quoted(value));
        args
    }

    /// A number, in the digits in which it is shown.
    pub(super) fn number(self, key: &str, value: impl Display) -> Self {
        let mut args = self.key(key);
        let _ = write!(args.0, "{value}");
        args
    }

    pub(super) fn finish(self) -> String {
        if self.0.is_empty() { "{}".to_owned() } else { self.0 + "}" }
    }
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    json_text(&text)
}

/// Thousandths as a decimal: picoseconds in nanoseconds.
pub(super) fn thousandths(value: u64) -> String {
    format!("{}.{:03}", value / 1_000, value % 1_000)
}

/// Millionths as a decimal: picoseconds in microseconds.
pub(super) fn millionths(value: u64) -> String {
    format!("{}.{:06}", value / 1_000_000, value % 1_000_000)
}
