//! What is wrong, where, and what to do about it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use weir_optimize::text::escaped;

/// A place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    /// The file as the user named it; `<stdin>` for standard input.
    pub file: Arc<str>,
    /// The line, counted from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", escaped(&self.file), self.line, self.column)
    }
}

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The scenario runs, but may not mean what its author thinks.
    Warning,
    /// The scenario cannot run.
    Error,
}

/// The source line of a diagnostic with what to underline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt {
    line: String,
    start: usize,
    width: usize,
}

impl Excerpt {
    /// Characters of a line that are shown at most; longer lines are cut around the place. *Assumed*: a terminal's width.
    const SHOWN: usize = 110;

    /// The part of `line` around `column` (from 1), with `width` characters to underline.
    #[must_use]
    pub fn new(line: &str, column: u32, width: u32) -> Self {
        let column = (column.max(1) - 1) as usize;
        // Long lines: start a third of the window before the place.
        let skip = if column < Self::SHOWN * 2 / 3 { 0 } else { column - Self::SHOWN / 3 };
        let mut rest = line.chars();
        if skip > 0 {
            // Unlike `skip`, this passes over many bytes at once.
            rest.nth(skip - 1);
        }
        let mut part: String = rest.by_ref().take(Self::SHOWN).collect();
        let (mut start, length) = (column - skip, part.chars().count());
        let width = (width.max(1) as usize).min(length.saturating_sub(start).max(1));
        if skip > 0 {
            part.insert(0, '…');
            start += 1;
        }
        if rest.next().is_some() {
            part.push('…');
        }
        // Tabs and escaped characters would move the carets.
        let part = part.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Self { line: part, start, width }
    }
}

/// One finding about a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Names the object and says what is wrong with it.
    pub message: String,
    /// Where; `None` for findings about the whole input.
    pub position: Option<Position>,
    /// The source line with the part that is meant; `None` where the text is not at hand.
    pub excerpt: Option<Excerpt>,
    /// Other places that belong to it.
    pub notes: Vec<(String, Position)>,
    /// What to do about it; `None` where the message says it.
    pub help: Option<String>,
    /// Whether a plugin failed, rather than the scenario being wrong.
    pub plugin: bool,
    /// Whether reading was asked to end, rather than the scenario being wrong: see `LoadOptions::cancel`.
    pub cancelled: bool,
    /// The name of an arbiter, a model or an operation that the registry lacks.
    pub unknown: Option<String>,
}

impl Diagnostic {
    /// An error about the whole input.
    #[must_use]
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            position: None,
            excerpt: None,
            notes: Vec::new(),
            help: None,
            plugin: false,
            cancelled: false,
            unknown: None,
        }
    }

    /// A warning about the whole input.
    #[must_use]
    pub fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(message) }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{word}: {}", escaped(&self.message))?;
        let digits = self.position.as_ref().map_or(1, |p| p.line.to_string().len());
        if let Some(position) = &self.position {
            write!(f, "\n{:digits$}--> {position}", "")?;
        }
        if let (Some(position), Some(excerpt)) = (&self.position, &self.excerpt) {
            write!(f, "\n{:digits$} |", "")?;
            write!(f, "\n{} | {}", position.line, excerpt.line.trim_end())?;
            write!(f, "\n{:digits$} | {:start$}{:^>width$}", "", "", "", start = excerpt.start, width = excerpt.width)?;
        }
        for (note, position) in &self.notes {
            write!(f, "\n{:digits$} = {}: {position}", "", escaped(note))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {}", escaped(help))?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// A piece of the user's text in a message: in backticks, cut when it is long.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text))
}

/// A text, cut when it is long.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    /// Characters; *assumed*: it stands inside a sentence.
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: &str, column: u32, width: u32) -> Diagnostic {
        Diagnostic {
            position: Some(Position { file: "x.yaml".into(), line: 12, column }),
            excerpt: Some(Excerpt::new(line, column, width)),
            ..Diagnostic::error("wrong").with_help("write it right")
        }
    }

    #[test]
    fn points_at_the_place() {
        let text = at("size: 3mb", 7, 3).to_string();
        assert_eq!(text, "error: wrong\n  --> x.yaml:12:7\n   |\n12 | size: 3mb\n   |       ^^^\nhelp: write it right");
    }

    #[test]
    fn cuts_long_lines_around_the_place() {
        let line = format!("{}HERE{}", "a".repeat(5000), "b".repeat(5000));
        let text = at(&line, 5001, 4).to_string();
        let lines: Vec<_> = text.lines().collect();
        let part: Vec<char> = lines[3].chars().collect();
        let carets = lines[4].chars().collect::<Vec<_>>();
        let under: String = (0..carets.len()).filter(|&i| carets[i] == '^').map(|i| part[i]).collect();
        assert_eq!(under, "HERE");
        assert!(part.len() < 130);
    }

    #[test]
    fn escapes_control_characters() {
        let text = Diagnostic::error("bad \u{1b}[31m\u{202e}").to_string();
        assert_eq!(text, "error: bad \\u{1b}[31m\\u{202e}");
    }
}
