//! Tables for a person.

mod compare;
mod explain;
mod jobs;
mod layout;
mod losses;
mod markdown;
mod offloads;
mod operations;
mod ports;
mod run;
mod search;
mod sheet;
mod spread;
mod sweep;
mod timeline;
mod tuned;
mod what_if;

pub use compare::{compare, side_by_side};
pub use explain::explain;
pub use layout::Layout;
pub(crate) use losses::{listed, listed_words, lost_most};
pub use run::{run, streamed};
pub use search::{list, search, word};
pub use sheet::{Mark, Sheet};
pub use sweep::sweep;
pub use tuned::tuned;
pub use what_if::what_if;

/// Most rows of a table that is shown from its beginning; `--json` lists all.
pub const ROWS: usize = 40;
/// Transfers of a run that are shown where there are more than [`ROWS`].
const LAST: usize = 20;

/// The line below a table that was cut.
pub(crate) fn more(total: usize, what: &str) -> String {
    if total <= ROWS {
        return String::new();
    }
    format!("… {} more {what}: --json lists all\n", total - ROWS)
}

/// Text that came from a user's file as one line: what cannot be seen, or reorders or breaks the text, is escaped.
#[must_use]
pub fn clean(text: &str) -> String {
    weir_optimize::text::escaped(text).into_owned()
}

/// Lines whose columns or words count, such as a drawing or options of a command: in Markdown a block of code.
pub(crate) fn verbatim(lines: String) -> String {
    match Layout::current().markdown && !lines.is_empty() {
        true => markdown::fenced(&lines),
        false => lines,
    }
}

/// The first lines of a text: what was run.
pub(crate) fn title(run: &crate::Run<'_>) -> String {
    head(&run.scenario.name, &run.scenario.file, &run.arbiter.title())
}

/// The first lines of a result, for terminals or as Markdown: what was computed, from which file, and under what.
pub(crate) fn head(scenario: &str, file: &str, under: &str) -> String {
    let [scenario, file, under] = [scenario, file, under].map(clean);
    match Layout::current().markdown {
        false => format!("{scenario}\n{file}, {under}\n"),
        true => format!("### {}\n\n{}\n", markdown::escaped(&scenario), markdown::escaped(&format!("{file}, {under}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_move_the_cursor_or_break_a_row() {
        assert_eq!(clean("a\nb\u{1b}[31m\u{202e}é"), "a\\nb\\u{1b}[31m\\u{202e}é");
        assert_eq!(clean("a\u{200b}b\u{2028}\u{2067}\u{feff}"), "a\\u{200b}b\\u{2028}\\u{2067}\\u{feff}");
        let mut sheet = Sheet::new(["name", ">size"]);
        sheet.row(["a\nb".to_owned(), "1".to_owned()]);
        assert_eq!(sheet.finish().lines().count(), 3);
    }
}
