//! Results as tables, one row per transfer, link, or transfer and phase, for other programs.
//!
//! Columns are named by quantity and unit as in the JSON. Every row says whose it is (`scenario`, `arbiter`), so that runs
//! share a table.

mod csv;
#[cfg(feature = "parquet")]
mod parquet;
mod rows;

pub use self::csv::write_csv;
#[cfg(feature = "parquet")]
pub use self::parquet::write_parquet;

use crate::Run;

/// The values of a column; what is not known has none.
#[derive(Clone, PartialEq, Debug)]
pub enum Values {
    /// Texts.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Whole(Vec<Option<u64>>),
    /// Real numbers.
    Real(Vec<Option<f64>>),
}

/// One column.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its values, one per row.
    pub values: Values,
}

/// One table.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Its name: `transfers`, `links`, `phases`.
    pub name: &'static str,
    /// Its columns, all equally long.
    pub columns: Vec<Column>,
}

impl Table {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// Adds the rows of a table with the same columns.
    fn append(&mut self, other: Self) {
        for (column, more) in self.columns.iter_mut().zip(other.columns) {
            match (&mut column.values, more.values) {
                (Values::Text(all), Values::Text(more)) => all.extend(more),
                (Values::Whole(all), Values::Whole(more)) => all.extend(more),
                (Values::Real(all), Values::Real(more)) => all.extend(more),
                _ => unreachable!("tables of one name have the same columns"),
            }
        }
    }
}

impl Values {
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Real(values) => values.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The tables of runs, collected one by one: transfers, links that carried bytes, and the rates of phases.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tables {
    all: Vec<Table>,
}

impl Tables {
    /// Adds a run; its phases where they were recorded.
    pub fn add(&mut self, run: &Run<'_>) {
        let tables = [rows::transfers(run), rows::links(run), rows::phases(run)];
        if self.all.is_empty() {
            self.all.extend(tables);
            return;
        }
        self.all.iter_mut().zip(tables).for_each(|(all, table)| all.append(table));
    }

    /// The tables; none before the first run.
    #[must_use]
    pub fn all(&self) -> &[Table] {
        &self.all
    }
}
