//! The texts that were read, and places in them.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::diagnostic::{Diagnostic, Excerpt, Position};

/// A place in one of the texts read: compact, because every value of a tree carries one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Span {
    /// Index into [`Sources`].
    pub(crate) source: u32,
    /// Line, from 1.
    pub(crate) line: u32,
    /// Column in characters, from 1.
    pub(crate) column: u32,
    /// Characters to underline, on this line only.
    pub(crate) width: u32,
}

impl Span {
    /// The source of the file that was asked for, which is read before all that it names.
    pub(crate) const OF_FILE: u32 = 0;
}

#[derive(Clone, Debug)]
struct Source {
    name: Arc<str>,
    text: Text,
}

#[derive(Clone, Debug)]
enum Text {
    Kept {
        text: Arc<str>,
        lines: OnceLock<Box<[usize]>>,
    },
    /// A large table: a line is read again when an error needs it.
    File(PathBuf),
}

/// Every text that was read, in order of reading.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources(Vec<Source>);

impl Sources {
    /// Registers a text; its index goes into [`Span::source`].
    pub(crate) fn add(&mut self, name: &str, text: &str) -> u32 {
        self.push(name, Text::Kept { text: text.into(), lines: OnceLock::new() })
    }

    /// Registers a file whose text is not kept.
    pub(crate) fn add_file(&mut self, name: &str, path: &Path) -> u32 {
        self.push(name, Text::File(path.to_path_buf()))
    }

    fn push(&mut self, name: &str, text: Text) -> u32 {
        self.0.push(Source { name: name.into(), text });
        (self.0.len() - 1) as u32
    }

    /// The text of a source that was kept.
    pub(crate) fn text(&self, source: u32) -> Arc<str> {
        match &self.0[source as usize].text {
            Text::Kept { text, .. } => Arc::clone(text),
            Text::File(_) => "".into(),
        }
    }

    /// Where a text lies that was not kept.
    pub(crate) fn path(&self, source: u32) -> Option<&Path> {
        match &self.0[source as usize].text {
            Text::Kept { .. } => None,
            Text::File(path) => Some(path),
        }
    }

    /// The place as a person reads it.
    pub(crate) fn position(&self, span: Span) -> Position {
        Position { file: Arc::clone(&self.0[span.source as usize].name), line: span.line, column: span.column }
    }

    /// Adds a place and its source line to a finding.
    pub(crate) fn at(&self, span: Span, diagnostic: Diagnostic) -> Diagnostic {
        Diagnostic { position: Some(self.position(span)), excerpt: self.excerpt(span), ..diagnostic }
    }

    /// The line of a place, with what to underline.
    fn excerpt(&self, span: Span) -> Option<Excerpt> {
        match &self.0[span.source as usize].text {
            Text::Kept { text, lines } => {
                let starts = lines.get_or_init(|| line_starts(text));
                Some(Excerpt::new(line(text, starts, span.line)?, span.column, span.width))
            }
            Text::File(path) => Some(Excerpt::new(&line_of_file(path, span.line)?, span.column, span.width)),
        }
    }
}

/// Every such line's start is kept, so that many findings in a large text need no walk each, nor much memory.
const STEP: usize = 64;

/// Where every [`STEP`]th line starts, made when the first finding needs it.
fn line_starts(text: &str) -> Box<[usize]> {
    let (mut starts, mut at, mut count) = (vec![0], 0, 0);
    while let Some(next) = next_line(text, at) {
        (at, count) = (next, count + 1);
        if count % STEP == 0 {
            starts.push(at);
        }
    }
    starts.into()
}

/// Where the line after the one that starts at `at` starts. Breaks are those of YAML: LF, CR LF and CR.
pub(crate) fn next_line(text: &str, at: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[at..];
    let end = bytes.iter().position(|b| matches!(b, b'\n' | b'\r'))?;
    Some(at + end + if bytes[end..].starts_with(b"\r\n") { 2 } else { 1 })
}

/// A line of a text, from 1.
fn line<'a>(text: &'a str, starts: &[usize], number: u32) -> Option<&'a str> {
    let index = number.max(1) as usize - 1;
    let mut at = *starts.get(index / STEP)?;
    for _ in 0..index % STEP {
        at = next_line(text, at)?;
    }
    let end = next_line(text, at).unwrap_or(text.len());
    Some(text[at..end].trim_end_matches(['\n', '\r']))
}

/// A line of a file, read up to a length that no excerpt exceeds.
fn line_of_file(path: &Path, number: u32) -> Option<String> {
    /// *Assumed*: lines of tables are short, and columns beyond this are cut.
    const LONGEST: usize = 1 << 16;
    let (mut line, mut last, mut found) = (1, 0, Vec::new());
    for byte in BufReader::new(File::open(path).ok()?).bytes() {
        let byte = byte.ok()?;
        let breaks = matches!(byte, b'\n' | b'\r') && !(byte == b'\n' && last == b'\r');
        line += u32::from(breaks);
        if line > number || found.len() >= LONGEST {
            break;
        }
        if line == number && !matches!(byte, b'\n' | b'\r') {
            found.push(byte);
        }
        last = byte;
    }
    Some(String::from_utf8_lossy(&found).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{STEP, line, line_starts};

    #[test]
    fn lines_end_as_in_yaml() {
        let text = "a\nb\r\nc\rd";
        let lines: Vec<_> = (1..=5).map(|n| line(text, &line_starts(text), n)).collect();
        assert_eq!(lines, [Some("a"), Some("b"), Some("c"), Some("d"), None]);
    }

    #[test]
    fn finds_lines_between_the_starts_kept() {
        let all: Vec<String> = (1..=3 * STEP + 2).map(|n| format!("line {n}")).collect();
        let text = all.join("\r\n");
        let starts = line_starts(&text);
        assert_eq!(starts.len(), 4);
        for (i, expected) in all.iter().enumerate() {
            assert_eq!(line(&text, &starts, i as u32 + 1), Some(&**expected));
        }
        assert_eq!(line(&text, &starts, all.len() as u32 + 1), None);
        assert_eq!(line(&text, &starts, u32::MAX), None);
    }
}
