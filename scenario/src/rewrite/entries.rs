//! Changes of lists and maps that stand with a line for each part: only the parts that differ are written anew.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::source::{Span, next_line};
use crate::yaml::{Data, Entry, Value, flow, same, write_entries, write_items};

/// Bytes of a list or map that takes the place of a single value at most; *assumed*, what is easily read.
const IN_PLACE: usize = 80;

/// Items of a list that are looked through for one that has stayed; *assumed*.
const AHEAD: usize = 1000;

/// A text with the changes that have been found for it.
pub(super) struct Changes<'a> {
    text: &'a str,
    /// Where each line starts.
    lines: &'a [usize],
    /// Bytes and what takes their place.
    found: Vec<(Range<usize>, String)>,
}

/// What becomes of parts of a list or map: those of `old` make room for those of `new`.
struct Gap {
    old: Range<usize>,
    new: Range<usize>,
}

impl<'a> Changes<'a> {
    pub(super) fn new(text: &'a str, lines: &'a [usize]) -> Self {
        Self { text, lines, found: Vec::new() }
    }

    /// The lines of `within` with the changes.
    pub(super) fn written(mut self, within: Range<usize>) -> Option<String> {
        self.found.sort_by_key(|(place, _)| (place.start, place.end));
        let (mut out, mut at) = (String::new(), within.start);
        for (place, text) in self.found {
            // A value that aliases repeat has one place.
            if place.start < at || place.end > within.end {
                return None;
            }
            out.push_str(&self.text[at..place.start]);
            out.push_str(&text);
            at = place.end;
        }
        out.push_str(&self.text[at..within.end]);
        Some(out)
    }

    /// Single values in their places; `None` where more than single values differ.
    pub(super) fn values(&mut self, within: &Range<usize>, before: &Value, after: &Value) -> Option<()> {
        let mut changes = Vec::new();
        differences(before, after, &mut changes)?;
        for (span, text) in changes {
            let place = self.byte(span, 0)?..self.byte(span, span.width)?;
            if place.start < within.start || place.end > within.end {
                return None;
            }
            self.found.push((place, text));
        }
        Some(())
    }

    /// Parts of lists and maps, single values where that is all; `None` where neither is possible.
    pub(super) fn parts(&mut self, within: &Range<usize>, before: &Value, after: &Value) -> Option<()> {
        let kept = self.found.len();
        let found = self.values(within, before, after).or_else(|| {
            self.found.truncate(kept);
            match (&before.data, &after.data) {
                (Data::Mapping(before), Data::Mapping(after)) => self.map(within, before, after),
                (Data::Sequence(before), Data::Sequence(after)) => self.list(within, before, after),
                _ => None,
            }
        });
        if found.is_none() {
            self.found.truncate(kept);
        }
        found
    }

    fn map(&mut self, within: &Range<usize>, before: &[Entry], after: &[Entry]) -> Option<()> {
        let begins: Vec<usize> = before.iter().map(|e| self.line_of(e.key_span, "")).collect::<Option<_>>()?;
        let places = self.places(within, &begins)?;
        let indent = before.first()?.key_span.column as usize - 1;
        let written = |entries: &[Entry]| {
            let mut out = String::new();
            write_entries(entries, indent, &mut out);
            out
        };
        let places_of: BTreeMap<&str, usize> = before.iter().zip(0..).map(|(entry, at)| (&*entry.key, at)).collect();
        let new: BTreeMap<&str, &Entry> = after.iter().map(|entry| (&*entry.key, entry)).collect();
        let find = |at: usize, from| places_of.get(&*after[at].key).copied().filter(|&old| old >= from);
        for gap in gaps(before.len(), after.len(), find) {
            self.fill(&places, gap, |new| written(&after[new]));
        }
        let changed = before.iter().zip(&places).filter_map(|(entry, place)| {
            let new = *new.get(&*entry.key)?;
            (!same(&entry.value, &new.value)).then_some((entry, place, new))
        });
        for (entry, place, new) in changed {
            if self.parts(place, &entry.value, &new.value).is_none() {
                let text = self.commented(place, written(std::slice::from_ref(new)));
                self.found.push((place.clone(), text));
            }
        }
        Some(())
    }

    fn list(&mut self, within: &Range<usize>, before: &[Value], after: &[Value]) -> Option<()> {
        let begins: Vec<usize> = before.iter().map(|item| self.line_of(item.span, "-")).collect::<Option<_>>()?;
        let places = self.places(within, &begins)?;
        let line = &self.text[*begins.first()?..];
        let indent = line.len() - line.trim_start_matches(' ').len();
        let written = |items: &[Value]| {
            let mut out = String::new();
            write_items(items, indent, &mut out);
            out
        };
        let find = |at: usize, from: usize| {
            let ahead = from..before.len().min(from + AHEAD);
            // Lists of one length change item by item.
            if before.len() == after.len() {
                None
            } else {
                ahead.into_iter().find(|&old| same(&before[old], &after[at]))
            }
        };
        for gap in gaps(before.len(), after.len(), find) {
            if gap.old.len() != gap.new.len() {
                self.fill(&places, gap, |new| written(&after[new]));
                continue;
            }
            for (old, new) in gap.old.zip(gap.new) {
                if same(&before[old], &after[new]) {
                    continue;
                }
                if self.parts(&places[old], &before[old], &after[new]).is_none() {
                    let text = self.commented(&places[old], written(&after[new..=new]));
                    self.found.push((places[old].clone(), text));
                }
            }
        }
        Some(())
    }

    /// Puts the new parts of a gap where the first old one stands, or after the part before.
    fn fill(&mut self, places: &[Range<usize>], gap: Gap, written: impl Fn(Range<usize>) -> String) {
        let mut text = written(gap.new);
        match gap.old.is_empty() {
            true => {
                let at = gap.old.start.checked_sub(1).map_or(places[0].start, |last| places[last].end);
                if !self.text[..at].ends_with(['\n', '\r']) {
                    text.insert(0, '\n');
                }
                self.found.push((at..at, text));
            }
            false => {
                for old in gap.old {
                    self.found.push((places[old].clone(), std::mem::take(&mut text)));
                }
            }
        }
    }

    /// A line that takes the place of one, with the comment at the end of that one.
    fn commented(&self, place: &Range<usize>, line: String) -> String {
        let old = self.text[place.clone()].trim_end();
        let comment = old.rsplit_once('}').map_or("", |(_, rest)| rest.trim());
        let single = |text: &str| !text.trim_end().contains(['\n', '\r']);
        match comment.starts_with('#') && single(old) && single(&line) {
            true => format!("{} {comment}\n", line.trim_end()),
            false => line,
        }
    }

    /// From the line of each part to before the comments above the next one; `None` unless they ascend.
    fn places(&self, within: &Range<usize>, begins: &[usize]) -> Option<Vec<Range<usize>>> {
        let inside = begins.iter().all(|begin| within.contains(begin)) && begins.is_sorted_by(|a, b| a < b);
        let end = |i: usize| begins.get(i + 1).map_or(within.end, |&next| self.above(begins[i], next));
        inside.then(|| begins.iter().enumerate().map(|(i, &begin)| begin..end(i)).collect())
    }

    /// Where the blank lines and comments above `next` begin.
    fn above(&self, begin: usize, next: usize) -> usize {
        let lines = self.lines[..self.lines.partition_point(|&line| line < next)].iter().rev();
        let between = |line: usize| {
            let end = next_line(self.text, line).unwrap_or(self.text.len());
            let text = self.text[line..end].trim();
            text.is_empty() || text.starts_with('#')
        };
        lines.take_while(|&&line| line > begin && between(line)).last().copied().unwrap_or(next)
    }

    /// Where the line of a part starts, when nothing but `mark` and spaces stand before the part.
    fn line_of(&self, span: Span, mark: &str) -> Option<usize> {
        let (line, at) = (self.line(span)?, self.byte(span, 0)?);
        (self.text[line..at].trim_matches(' ') == mark).then_some(line)
    }

    fn line(&self, span: Span) -> Option<usize> {
        self.lines.get((span.line as usize).checked_sub(1)?).copied()
    }

    /// The byte some characters into a place.
    fn byte(&self, span: Span, characters: u32) -> Option<usize> {
        let line = self.line(span)?;
        let all = self.text[line..].char_indices().map(|(at, _)| line + at).chain([self.text.len()]);
        all.take((span.column.checked_sub(1)? + characters) as usize + 1).last()
    }
}

/// The parts that are not matched, in order; `find` gives the old part of a new one, from one on.
fn gaps(old: usize, new: usize, find: impl Fn(usize, usize) -> Option<usize>) -> Vec<Gap> {
    let (mut gaps, mut last) = (Vec::new(), (0, 0));
    let mut add = |gap: Gap| {
        if !gap.old.is_empty() || !gap.new.is_empty() {
            gaps.push(gap);
        }
    };
    for at in 0..new {
        if let Some(found) = find(at, last.0) {
            add(Gap { old: last.0..found, new: last.1..at });
            last = (found + 1, at + 1);
        }
    }
    add(Gap { old: last.0..old, new: last.1..new });
    gaps
}

/// The single values that differ, with what they become; `None` where more than single values do.
fn differences(before: &Value, after: &Value, changes: &mut Vec<(Span, String)>) -> Option<()> {
    if same(before, after) {
        return Some(());
    }
    match (&before.data, &after.data) {
        (Data::Scalar(scalar), _) if !scalar.is_null() => {
            let written = flow(after);
            let short = matches!(after.data, Data::Scalar(_)) || written.len() <= IN_PLACE;
            short.then(|| changes.push((before.span, written)))
        }
        (Data::Sequence(a), Data::Sequence(b)) if a.len() == b.len() => {
            a.iter().zip(b).try_for_each(|(a, b)| differences(a, b, changes))
        }
        (Data::Mapping(a), Data::Mapping(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .try_for_each(|(a, b)| if a.key == b.key { differences(&a.value, &b.value, changes) } else { None }),
        _ => None,
    }
}
