//! Tables for a person.

mod compare;
mod explain;
mod run;

use comfy_table::{Cell, CellAlignment, LineStyle, Table, TableStyle};

pub use compare::compare;
pub use explain::explain;
pub use run::run;

/// Most rows of a table; `--json` lists all.
pub const ROWS: usize = 40;

/// Columns flush left or right, two spaces between, a rule below the header.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A table under construction: the first row is the header, columns named in `right` are flush right.
pub(crate) struct Sheet {
    table: Table,
    right: Vec<bool>,
}

impl Sheet {
    /// A table with these columns; `>` before a name makes the column flush right.
    pub(crate) fn new<S: AsRef<str>>(header: impl IntoIterator<Item = S>) -> Self {
        let names: Vec<String> = header.into_iter().map(|name| name.as_ref().to_owned()).collect();
        let right: Vec<bool> = names.iter().map(|name| name.starts_with('>')).collect();
        let mut sheet = Self { table: Table::new(), right };
        sheet.table.load_style(STYLE);
        let header = names.iter().map(|name| name.trim_start_matches('>').to_owned());
        let cells = sheet.cells(header);
        sheet.table.set_header(cells);
        sheet
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = self.cells(cells);
        self.table.add_row(cells);
    }

    fn cells(&self, texts: impl IntoIterator<Item = String>) -> Vec<Cell> {
        let align = |right: &bool| if *right { CellAlignment::Right } else { CellAlignment::Left };
        texts.into_iter().zip(&self.right).map(|(text, right)| Cell::new(text).set_alignment(align(right))).collect()
    }

    /// The table as lines, each ending in a newline, without trailing spaces.
    pub(crate) fn finish(mut self) -> String {
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
