//! Reads the text of a snapshot strictly: a line that weir would not have written is refused with its number.

use std::collections::BTreeSet;
use std::iter::{Enumerate, Peekable};
use std::str::Lines;

use thiserror::Error;

use super::rows::{SnapshotRow, SnapshotRows};
use super::write::{COLUMNS, KIND, exact, heading};
use super::{HEAD, MARK, RunSnapshot, Snapshot};

/// What is wrong with the text of a snapshot.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{what}")]
pub struct SnapshotError {
    /// The line, counted from 1.
    pub line: usize,
    what: String,
}

type Read<T> = Result<T, SnapshotError>;

impl Snapshot {
    /// Reads the text of a snapshot. Lines may end as on Windows, and the columns of tables need not be aligned.
    ///
    /// # Errors
    /// A line that is not of the form, or contradicts another one.
    pub fn of_text(text: &str) -> Read<Self> {
        let mut lines = SnapshotLines { lines: text.lines().enumerate().peekable(), at: 0 };
        let version = lines.keyed(MARK.trim_end(), "the head of a snapshot")?;
        if version != HEAD {
            return Err(lines.wrong("another version of weir wrote this snapshot"));
        }
        let input = lines.digits("input", 64)?;
        let (mut runs, mut seen): (Vec<RunSnapshot>, _) = (Vec::new(), BTreeSet::new());
        while lines.more() {
            let run = run(&mut lines, &mut seen)?;
            runs.push(run);
        }
        if runs.is_empty() {
            Err(lines.wrong("the snapshot ends before its first `arbiter`"))
        } else {
            Ok(Self { input, runs })
        }
    }
}

fn run(lines: &mut SnapshotLines<'_>, seen: &mut BTreeSet<String>) -> Read<RunSnapshot> {
    let arbiter = lines.keyed("arbiter", "`arbiter` and a name")?.to_owned();
    if !seen.insert(arbiter.clone()) {
        return Err(lines.wrong(&format!("arbiter `{arbiter}` stands here twice")));
    }
    let fingerprint = lines.digits("fingerprint", 16)?;
    let text = lines.keyed("makespan", "`makespan`, picoseconds, and the same in a unit")?;
    let makespan = number(text.split(' ').next().unwrap_or_default()).filter(|&ps| exact(ps) == text);
    let makespan =
        makespan.ok_or_else(|| lines.wrong(&format!("`{text}` is no time and the same time in another unit")))?;
    let transfers = table(lines, ("transfer", COLUMNS[2]), makespan)?;
    let none = SnapshotRows::new(Vec::new());
    let has_operations = lines.peek().is_some_and(|line| line.starts_with("operations "));
    let operations = if has_operations { table(lines, ("operation", KIND), makespan)? } else { none };
    Ok(RunSnapshot { arbiter, fingerprint, makespan, transfers, operations })
}

/// A table of what a run has, `transfer` or `operation`, with the name of its last column.
fn table(lines: &mut SnapshotLines<'_>, (what, last): (&str, &str), makespan: u64) -> Read<SnapshotRows> {
    let expected = format!("`{what}s` and how many");
    let text = lines.keyed(&format!("{what}s"), &expected)?;
    let fits = |&(total, digests): &_| format!("{what}s {text}") == heading(what, total, digests);
    let listed = |total| SnapshotRows::listed_of(total);
    let (total, digests) = counts(text)
        .filter(fits)
        .filter(|&(total, digests)| digests.is_some() == (listed(total) < total))
        .ok_or_else(|| lines.expected(&expected))?;
    let mut rows = Vec::new();
    if total > 0 {
        let header = [what, COLUMNS[0], COLUMNS[1], last];
        lines.line_where(&format!("the header `{}`", header.join("  ")), |line| cells(line) == header)?;
        lines.line_where("a rule of `─`", |line| line.chars().all(|c| c == '─'))?;
        let mut seen = BTreeSet::new();
        while rows.len() < listed(total) {
            let row = row(lines, makespan)?;
            if !seen.insert(row.id.clone()) {
                return Err(lines.wrong(&format!("{what} `{}` stands here twice", row.id)));
            }
            rows.push(row);
        }
    }
    Ok(SnapshotRows { total, rows, digests })
}

/// `4`, or `5000, the 20 slowest listed; digests 0123abcd of times, 89abcdef of reasons`.
fn counts(text: &str) -> Option<(usize, Option<(u32, u32)>)> {
    let Some((total, rest)) = text.split_once(", ") else { return Some((usize::try_from(number(text)?).ok()?, None)) };
    let (_, digests) = rest.split_once("digests ")?;
    let (times, reasons) = digests.split_once(" of times, ")?;
    let hex = |digits: &str| u32::from_str_radix(digits, 16).ok();
    let digests = (hex(times)?, hex(reasons.strip_suffix(" of reasons")?)?);
    Some((usize::try_from(number(total)?).ok()?, Some(digests)))
}

fn row(lines: &mut SnapshotLines<'_>, makespan: u64) -> Read<SnapshotRow> {
    let line = lines.next("a row of the table")?;
    let [id, start, end, reason] = cells(line)[..] else {
        return Err(lines.wrong("this row does not have four columns, two spaces apart"));
    };
    let time = |text| number(text).ok_or_else(|| lines.wrong(&format!("`{text}` is not a time in whole picoseconds")));
    let (start, end) = (time(start)?, time(end)?);
    if end < start || end > makespan {
        return Err(lines.wrong(&format!("end {end} is not between start {start} and makespan {makespan}")));
    }
    Ok(SnapshotRow { id: id.to_owned(), start, end, reason: reason.to_owned() })
}

/// The columns of a row.
fn cells(line: &str) -> Vec<&str> {
    line.split("  ").map(|cell| cell.trim_matches(' ')).filter(|cell| !cell.is_empty()).collect()
}

/// A number as weir writes it: without a sign, without a 0 before others.
fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

/// The lines of a snapshot, one after the other.
struct SnapshotLines<'a> {
    lines: Peekable<Enumerate<Lines<'a>>>,
    /// The number of the line read last.
    at: usize,
}

impl<'a> SnapshotLines<'a> {
    /// The next line, without spaces at its end.
    fn peek(&mut self) -> Option<&'a str> {
        self.lines.peek().map(|(_, line)| line.trim_end())
    }

    /// Passes over empty lines; whether another one follows.
    fn more(&mut self) -> bool {
        while self.lines.next_if(|(_, line)| line.trim_end().is_empty()).is_some() {}
        self.lines.peek().is_some()
    }

    fn next(&mut self, expected: &str) -> Read<&'a str> {
        let Some((i, line)) = self.lines.next() else {
            self.at += 1;
            return Err(self.wrong(&format!("the snapshot ends before {expected}")));
        };
        self.at = i + 1;
        Ok(line.trim_end())
    }

    /// What follows `key` and a space.
    fn keyed(&mut self, key: &str, expected: &str) -> Read<&'a str> {
        let line = self.next(expected)?;
        line.strip_prefix(key).and_then(|rest| rest.strip_prefix(' ')).ok_or_else(|| self.expected(expected))
    }

    /// So many hexadecimal digits after `key`.
    fn digits(&mut self, key: &str, count: usize) -> Read<String> {
        let expected = format!("`{key}` and {count} hexadecimal digits");
        let text = self.keyed(key, &expected)?;
        let is_digits = text.len() == count && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if is_digits { Ok(text.to_owned()) } else { Err(self.expected(&expected)) }
    }

    fn line_where(&mut self, expected: &str, fits: impl FnOnce(&str) -> bool) -> Read<()> {
        let line = self.next(expected)?;
        if fits(line) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn expected(&self, expected: &str) -> SnapshotError {
        self.wrong(&format!("{expected} should stand here"))
    }

    fn wrong(&self, what: &str) -> SnapshotError {
        SnapshotError { line: self.at.max(1), what: what.to_owned() }
    }
}
