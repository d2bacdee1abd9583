//! The text of a changed tree, made of the text before.
//!
//! Three ways, the first whose text reads as the tree does is taken: single values, and parts of lists and maps, changed in
//! their places; keys of the outermost map written anew where they changed; everything written anew.

use crate::context::Context;
use crate::diagnostic::Diagnostic;
use crate::source::next_line;
use crate::yaml::{self, Data, Entry, Value, same, write_block};

use super::entries::Changes;

/// Writes a tree; `before` is the tree of `text`.
pub(crate) fn write(text: &str, before: &Value, after: &Value) -> Result<String, Vec<Diagnostic>> {
    if let Some(sections) = Sections::of(text, before) {
        for in_place in [true, false] {
            let written = sections.write(after, in_place);
            if reads_as(&written, after).is_ok() {
                return Ok(written);
            }
        }
    }
    let written = anew(text, after);
    reads_as(&written, after).map(|()| written)
}

/// Writes a tree of which a key has a text of its own, lines with spaces before them, in place of a single value.
///
/// # Errors
/// The text does not read as the tree does.
pub(crate) fn write_with(
    text: &str,
    before: &Value,
    after: &Value,
    key: &str,
    own: &str,
) -> Result<String, Vec<Diagnostic>> {
    let sections = Sections::of(text, before).map(|sections| Sections { replacement: Some((key, own)), ..sections });
    let written = sections.map_or_else(String::new, |sections| sections.write(after, true));
    reads_as(&written, after).map(|()| written)
}

/// Whether a text reads as a tree does.
fn reads_as(text: &str, tree: &Value) -> Result<(), Vec<Diagnostic>> {
    let mut context = Context::default();
    let source = context.sources.add("the scenario to be written", text);
    match yaml::parse(&mut context, source) {
        Ok(read) if same(&read, tree) => Ok(()),
        Ok(_) => {
            let error = Diagnostic::error("the scenario to be written would not read as it should");
            Err(vec![error.with_help("report it, with the scenario and the changes")])
        }
        Err(_) => Err(context.finish()),
    }
}

/// The comments at the beginning of a text, and a tree.
fn anew(text: &str, tree: &Value) -> String {
    let mut at = 0;
    while is_between(&text[at..]) {
        let Some(next) = next_line(text, at) else { break };
        at = next;
    }
    let mut out = text[..at].to_owned();
    entries(tree).iter().for_each(|entry| write_block(entry, &mut out));
    out
}

/// Whether a text begins with a blank line, or with a comment that belongs to no value.
fn is_between(rest: &str) -> bool {
    rest.starts_with('#') || rest.trim_start_matches(' ').starts_with(['\n', '\r'])
}

fn entries(value: &Value) -> &[Entry] {
    if let Data::Mapping(entries) = &value.data { entries } else { &[] }
}

/// A text in parts: one for each key of its outermost map.
struct Sections<'a> {
    text: &'a str,
    before: &'a [Entry],
    /// Where each line starts.
    lines: Vec<usize>,
    /// Per key: where the comments above it begin, where it begins and where it ends.
    parts: Vec<(usize, usize, usize)>,
    /// A key whose text is given.
    replacement: Option<(&'a str, &'a str)>,
}

impl<'a> Sections<'a> {
    /// The parts of a text; `None` unless every key begins a line.
    fn of(text: &'a str, tree: &'a Value) -> Option<Self> {
        let before = entries(tree);
        let lines: Vec<usize> = std::iter::successors(Some(0), |&at| next_line(text, at)).collect();
        let mut begins = Vec::new();
        for entry in before {
            let begin = *lines.get((entry.key_span.line as usize).checked_sub(1)?)?;
            if entry.key_span.column != 1 || begins.last().is_some_and(|&last| begin <= last) {
                return None;
            }
            begins.push(begin);
        }
        let mut sections = Self { text, before, lines, parts: Vec::new(), replacement: None };
        let mut head = 0;
        for (i, &begin) in begins.iter().enumerate() {
            let limit = begins.get(i + 1).copied().unwrap_or(text.len());
            let end = sections.end(begin, limit);
            sections.parts.push((head, begin, end));
            head = end;
        }
        Some(sections)
    }

    /// Where the lines of a key end: before the blank lines and comments above the next one.
    fn end(&self, begin: usize, limit: usize) -> usize {
        let after = self.lines.partition_point(|&line| line < limit);
        let above =
            self.lines[..after].iter().rev().take_while(|&&line| line > begin && is_between(&self.text[line..]));
        above.last().copied().unwrap_or(limit)
    }

    fn write(&self, after: &Value, in_place: bool) -> String {
        let mut out = String::new();
        let mut copied = 0;
        for entry in entries(after) {
            let Some(at) = self.before.iter().position(|e| e.key == entry.key) else {
                new_line(&mut out);
                write_block(entry, &mut out);
                continue;
            };
            let (head, begin, end) = self.parts[at];
            // Comments above keys that are no more, but for those right above them.
            self.skipped(copied..at, &mut out);
            copied = copied.max(at + 1);
            new_line(&mut out);
            out.push_str(&self.text[head..begin]);
            if same(&self.before[at].value, &entry.value) {
                out.push_str(&self.text[begin..end]);
                continue;
            }
            if let Some((_, replacement)) = self.replacement.filter(|(key, _)| **key == *entry.key) {
                let (line, rest) = self.text[begin..end].split_once('#').unwrap_or((&self.text[begin..end], ""));
                let comment = rest.lines().next().filter(|_| !line.contains(['\n', '\r', '"', '\'']));
                let comment = comment.filter(|_| !rest.is_empty()).map_or_else(String::new, |c| format!(" #{c}"));
                out.push_str(&format!("{}:{comment}\n{replacement}", entry.key));
                continue;
            }
            let spliced = if in_place { self.spliced(begin..end, &self.before[at].value, &entry.value) } else { None };
            match spliced {
                Some(text) => out.push_str(&text),
                None => write_block(entry, &mut out),
            }
        }
        self.skipped(copied..self.parts.len(), &mut out);
        let end = self.parts.last().map_or(0, |&(_, _, end)| end);
        if end < self.text.len() {
            new_line(&mut out);
            out.push_str(&self.text[end..]);
        }
        out
    }

    /// The text of a key with less than all of it written anew, where that is possible.
    fn spliced(&self, part: std::ops::Range<usize>, before: &Value, after: &Value) -> Option<String> {
        let mut changes = Changes::new(self.text, &self.lines);
        changes.parts(&part, before, after)?;
        changes.written(part)
    }

    /// Keeps what stands above keys that are left out, up to the last blank line.
    fn skipped(&self, parts: std::ops::Range<usize>, out: &mut String) {
        for at in parts {
            let (head, begin, _) = self.parts[at];
            let lines = self.lines[..self.lines.partition_point(|&line| line < begin)].iter().rev();
            let comments = lines.take_while(|&&line| line >= head && self.text[line..].starts_with('#'));
            // The first comment of a file is about the file.
            let kept = if at == 0 { begin } else { comments.last().copied().unwrap_or(begin) };
            new_line(out);
            out.push_str(&self.text[head..kept]);
        }
    }
}

fn new_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with(['\n', '\r']) {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    fn files(below: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(below).unwrap().map(|e| e.unwrap().path());
        let files = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
        files.filter(|path| path.extension().is_some_and(|e| e == "yaml")).collect()
    }

    /// Every file of the library, written anew in whole, reads the same.
    #[test]
    fn the_library_can_be_written_anew() {
        let files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios"));
        assert!(files.len() > 10);
        for path in files {
            let text = std::fs::read_to_string(&path).unwrap();
            let mut context = Context::default();
            let source = context.sources.add("x", &text);
            let tree = yaml::parse(&mut context, source).unwrap();
            let written = anew(&text, &tree);
            assert_eq!(reads_as(&written, &tree), Ok(()), "{}:\n{written}", path.display());
            assert_eq!(written.starts_with('#'), text.starts_with('#'));
        }
    }
}
