//! Tables for a person.

mod compare;
mod explain;
mod operations;
mod ports;
mod run;
mod search;
mod spread;
mod sweep;
mod timeline;
mod tuned;
mod what_if;

use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};

pub use compare::compare;
pub use explain::explain;
pub(crate) use run::listed;
pub use run::{run, streamed};
pub use search::{list, search, word};
pub use sweep::sweep;
pub use tuned::tuned;
pub use what_if::what_if;

/// Most rows of a table that is shown from its beginning; `--json` lists all.
pub const ROWS: usize = 40;
/// Transfers of a run that are shown where there are more than [`ROWS`].
const LAST: usize = 20;

/// Columns flush left or right, two spaces between, a rule below the header.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A table under construction: the first row is the header, columns named in `right` are flush right.
pub struct Sheet {
    table: Table,
    right: Vec<bool>,
}

impl Sheet {
    /// A table with these columns; `>` before a name makes the column flush right.
    pub fn new<S: AsRef<str>>(header: impl IntoIterator<Item = S>) -> Self {
        let names: Vec<String> = header.into_iter().map(|name| name.as_ref().to_owned()).collect();
        let right: Vec<bool> = names.iter().map(|name| name.starts_with('>')).collect();
        let mut sheet = Self { table: Table::new(), right };
        sheet.table.load_style(STYLE);
        let header = names.iter().map(|name| name.trim_start_matches('>').to_owned());
        let cells = sheet.cells(header);
        sheet.table.set_header(cells);
        sheet
    }

    /// Adds a row; its texts are made safe for a terminal.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = self.cells(cells.into_iter().map(|cell| clean(&cell)));
        self.table.add_row(cells);
    }

    fn cells(&self, texts: impl IntoIterator<Item = String>) -> Vec<Cell> {
        let align = |right: &bool| if *right { CellAlignment::Right } else { CellAlignment::Left };
        texts.into_iter().zip(&self.right).map(|(text, right)| Cell::new(text).set_alignment(align(right))).collect()
    }

    /// The table as lines, each ending in a newline, without trailing spaces.
    #[must_use]
    pub fn finish(mut self) -> String {
        for column in self.table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        let lines = self.table.lines().map(|line| format!("{}\n", line.trim_end()));
        lines.collect()
    }
}

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

/// The first lines of a text: what was run.
pub(crate) fn title(run: &crate::Run<'_>) -> String {
    let of = clean(&run.scenario.file);
    format!("{}\n{of}, {}\n", clean(&run.scenario.name), clean(&run.arbiter.title()))
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
