//! Text of `nvbandwidth` (versions 0.2 to 0.8) as the tests that its JSON would have: `Running NAME.`, a line that says what
//! the rows and columns are, the numbers of the columns, and a row for each number.

use weir_scenario::Diagnostic;

use super::nvbandwidth::{Contents, TestCase, TestCell};
use super::source::{LogLine, Source, Span};
use super::tag::untagged;

/// Whether a text is one of nvbandwidth.
pub(super) fn is_text(head: &str) -> bool {
    let test = |line: &str| line.trim_start().strip_prefix("Running ").is_some_and(|name| tested(name).is_some());
    head.contains("nvbandwidth Version") || head.lines().any(test)
}

/// The name of a test in what stands behind `Running`.
fn tested(text: &str) -> Option<&str> {
    let name = text.trim().trim_end_matches('.');
    let kinds = ["_ce", "_sm", "_copy", "_latency"];
    let word = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (word && kinds.iter().any(|kind| name.ends_with(kind))).then_some(name)
}

pub(super) fn contents(source: &Source<'_>) -> Result<Contents, Box<Diagnostic>> {
    let gpu = |line: LogLine<'_>| untagged(line.text).0.trim().strip_prefix("Device ").map(str::to_owned);
    Ok(Contents { bytes: None, cases: tests(source)?, gpus: source.lines().filter_map(gpu).collect() })
}

/// The tests of a text.
fn tests(source: &Source<'_>) -> Result<Vec<TestCase>, Box<Diagnostic>> {
    let mut tests = Tests::default();
    for line in source.lines() {
        tests.line(source, line)?;
    }
    tests.all.iter_mut().filter(|case| case.rows.is_empty() && case.unusable.is_none()).for_each(|case| {
        case.unusable = Some("it has no matrix: it may have been waived, or the log cut off".to_owned());
    });
    match tests.all.is_empty() {
        true => Err(source.error(
            Span::line(1),
            "the log has no test of nvbandwidth",
            "save the whole output of `nvbandwidth`: tests begin with `Running …`",
        )),
        false => Ok(tests.all),
    }
}

/// The tests so far.
#[derive(Default)]
struct Tests {
    all: Vec<TestCase>,
    /// Columns of the matrix that is being read; 0 outside of one.
    columns: usize,
    /// Rows of its test before it.
    before: usize,
}

impl Tests {
    fn line(&mut self, source: &Source<'_>, line: LogLine<'_>) -> Result<(), Box<Diagnostic>> {
        let text = untagged(line.text).0.trim();
        let is_first = self.all.is_empty();
        let mut begin = |name: &str, unusable: Option<&str>| {
            self.columns = 0;
            let (at, unusable) = (source.place_of(line, name), unusable.map(str::to_owned));
            self.all.push(TestCase { name: name.to_owned(), at, unusable, rows: Vec::new() });
        };
        match text.strip_prefix("Running ").and_then(tested) {
            Some(name) => begin(name, None),
            None if is_first && text.starts_with("memcpy ") => {
                let remedy =
                    "the line `Running …` with the name of its test is missing: save the whole output of `nvbandwidth`";
                begin(text, Some(remedy));
            }
            None => self.part(source, line, text)?,
        }
        Ok(())
    }

    /// A line of a test.
    fn part(&mut self, source: &Source<'_>, line: LogLine<'_>, text: &str) -> Result<(), Box<Diagnostic>> {
        let Some(case) = self.all.last_mut() else { return Ok(()) };
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |word: &&str| word.bytes().all(|b| b.is_ascii_digit());
        match words[..] {
            [] | ["SUM" | "ERROR:" | "Error:" | "Waived:", ..] => self.columns = 0,
            _ if self.columns == 0 && words.iter().all(number) => {
                if let Some((expected, found)) = words.iter().enumerate().find(|(at, word)| **word != at.to_string()) {
                    return Err(out_of_order(source, line, "column", expected, found));
                }
                (self.columns, self.before) = (words.len(), case.rows.len());
            }
            [first, ref cells @ ..] if self.columns > 0 && number(&first) => {
                let expected = case.rows.len() - self.before;
                if first != expected.to_string() {
                    return Err(out_of_order(source, line, "row", expected, first));
                }
                case.rows.push(row(source, line, cells, self.columns)?);
            }
            _ => {}
        }
        Ok(())
    }
}

/// nvbandwidth numbers rows and columns from 0 on.
fn out_of_order(source: &Source<'_>, line: LogLine<'_>, what: &str, expected: usize, found: &str) -> Box<Diagnostic> {
    let message = format!("a {what} `{found}` stands where {what} {expected} belongs");
    source.error(Span::line(line.number), message, "the log was changed: save the output of `nvbandwidth` again")
}

fn row(
    source: &Source<'_>,
    line: LogLine<'_>,
    cells: &[&str],
    columns: usize,
) -> Result<Vec<TestCell>, Box<Diagnostic>> {
    if cells.len() != columns {
        let message = format!("the row has {} cells, and the matrix {columns} columns", cells.len());
        return Err(source.error(Span::line(line.number), message, "complete the row: the log may have been cut off"));
    }
    Ok(cells.iter().map(|cell| TestCell { text: (*cell).to_owned(), at: source.place_of(line, cell) }).collect())
}
