//! Results as tables, for other programs.
//!
//! | table | a row for each |
//! |---|---|
//! | `transfers`, `links`, `phases` | transfer, link that carried bytes, transfer and phase, of runs |
//! | `operations` | operation that is no plain transfer, of runs that have some |
//! | `searches` | search |
//! | `solutions` | transfer in its place of the best order, rank, or parameter |
//! | `makespans` | makespan that candidates have, with how many have it, where all are known |
//! | `candidates`, `points`, `totals` | candidate of a grid, point of a sweep, sum over the first axis of a sweep |
//!
//! Columns are named by quantity and unit as in the JSON. Every row says whose it is (`scenario`, `arbiter`), so that runs
//! and searches share a table.

mod columns;
mod csv;
mod dictionary;
#[cfg(feature = "parquet")]
mod parquet;
mod runs;
mod searches;
mod texts;
mod values;

pub use self::csv::write_csv;
pub use self::dictionary::Dictionary;
#[cfg(feature = "parquet")]
pub use self::parquet::write_parquet;
pub use self::texts::Texts;
pub use self::values::{Known, Values};

use std::borrow::Cow;

use crate::{Run, SearchReport, SweepReport};

/// The names of all tables.
pub const TABLES: [&str; 10] = [
    "transfers",
    "links",
    "phases",
    "operations",
    "searches",
    "solutions",
    "makespans",
    "candidates",
    "points",
    "totals",
];

/// The values of a column; what is not known has none.
#[derive(Clone, PartialEq, Debug)]
pub enum ColumnValues {
    /// Texts.
    Text(Texts),
    /// Texts that many rows have in common, such as the names of nodes.
    Name(Dictionary),
    /// Whole numbers.
    Whole(Values<u64>),
    /// Real numbers.
    Real(Values<f64>),
    /// Yes or no.
    Flag(Values<bool>),
}

/// A name and a value for each row of the table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableColumn {
    /// The quantity with its unit, as in the JSON: `end_ps`.
    pub name: Cow<'static, str>,
    /// Its values, one per row.
    pub values: ColumnValues,
}

/// Rows of one kind, column by column.
#[derive(Clone, PartialEq, Debug)]
pub struct ExportTable {
    /// Its name, such as `transfers`.
    pub name: &'static str,
    /// Its columns, all equally long.
    pub columns: Vec<TableColumn>,
}

impl ExportTable {
    /// How many rows it has; 0 without columns.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// Adds the rows of a table with the same columns.
    fn append(&mut self, other: &Self) {
        for (column, more) in self.columns.iter_mut().zip(&other.columns) {
            match (&mut column.values, &more.values) {
                (ColumnValues::Text(all), ColumnValues::Text(more)) => all.append(more),
                (ColumnValues::Name(all), ColumnValues::Name(more)) => all.append(more),
                (ColumnValues::Whole(all), ColumnValues::Whole(more)) => all.append(more),
                (ColumnValues::Real(all), ColumnValues::Real(more)) => all.append(more),
                (ColumnValues::Flag(all), ColumnValues::Flag(more)) => all.append(more),
                _ => unreachable!("tables of one name have the same columns"),
            }
        }
    }
}

impl ColumnValues {
    /// How many rows the column has, values or not.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Name(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Real(values) => values.len(),
            Self::Flag(values) => values.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for so many more rows.
    fn reserve(&mut self, rows: usize) {
        match self {
            Self::Text(values) => values.reserve(rows),
            Self::Name(values) => values.reserve(rows),
            Self::Whole(values) => values.reserve(rows),
            Self::Real(values) => values.reserve(rows),
            Self::Flag(values) => values.reserve(rows),
        }
    }
}

/// One of the tables of a run: `transfers`, `links`, `phases` or `operations`.
#[must_use]
pub fn run_table(run: &Run<'_>, name: &str) -> Option<ExportTable> {
    let joined = |mut all: ExportTable, more: ExportTable| {
        all.append(&more);
        all
    };
    run_table_parts(run, name)?.into_iter().reduce(joined)
}

/// As [`run_table`], in the parts in which it was made, one behind the other; one at least.
#[must_use]
pub fn run_table_parts(run: &Run<'_>, name: &str) -> Option<Vec<ExportTable>> {
    match name {
        "transfers" => Some(runs::transfers(run)),
        "links" => Some(vec![runs::links(run)]),
        "phases" => Some(vec![runs::phases(run)]),
        "operations" => Some(vec![runs::operations(run)]),
        _ => None,
    }
}

/// Tables of several results, collected one by one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tables {
    all: Vec<ExportTable>,
    /// Names of tables that are not made.
    left_out: Vec<&'static str>,
    /// Names of all tables that the results have, those that are not made included.
    names: Vec<&'static str>,
}

impl Tables {
    /// Adds a run: transfers, links that carried bytes, the rates of its phases where they were recorded, and the operations
    /// where it has some.
    pub fn add(&mut self, run: &Run<'_>) {
        let wanted = TABLES.into_iter().filter(|name| !self.left_out.contains(name));
        let tables: Vec<_> = wanted.filter_map(|name| run_table(run, name)).collect();
        self.name(["transfers", "links", "phases"]);
        self.name((!run.scenario.operations.is_empty()).then_some("operations"));
        self.join(tables.into_iter().filter(|table| table.name != "operations" || table.rows() > 0));
    }

    /// Makes tables of these names no more.
    pub fn leave_out(&mut self, names: impl IntoIterator<Item = &'static str>) {
        self.left_out.extend(names);
    }

    /// Adds a search: what was found, and all makespans and candidates where they are known.
    pub fn add_search(&mut self, search: &SearchReport) {
        self.join(searches::of_search(search));
    }

    /// Adds a sweep: its points, and their sums.
    pub fn add_sweep(&mut self, sweep: &SweepReport) {
        self.join(searches::of_sweep(sweep));
    }

    fn join(&mut self, tables: impl IntoIterator<Item = ExportTable>) {
        for table in tables {
            self.name([table.name]);
            if self.left_out.contains(&table.name) {
                continue;
            }
            match self.all.iter_mut().find(|known| known.name == table.name) {
                Some(known) => known.append(&table),
                None => self.all.push(table),
            }
        }
    }

    fn name(&mut self, names: impl IntoIterator<Item = &'static str>) {
        for name in names {
            if !self.names.contains(&name) {
                self.names.push(name);
            }
        }
    }

    /// The names of all tables that the results have, those that are left out included; none before the first result.
    #[must_use]
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// The tables; none before the first result.
    #[must_use]
    pub fn all(&self) -> &[ExportTable] {
        &self.all
    }
}
