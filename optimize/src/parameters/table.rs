//! The candidates of a search in rows: for a person and as CSV.

use std::io::{self, Write};

use super::outcome::Outcome;
use crate::PS_PER_S;
use crate::text::csv_field;

/// A row for each candidate that was evaluated, by number.
#[derive(Clone, Copy, Debug)]
pub struct GridTable<'a> {
    outcome: &'a Outcome,
}

/// One candidate. As JSON: `candidate`, `parameters` (path → value as text), `makespan_s`, `makespan_ps`, `ratio`, `best`.
#[derive(Clone, PartialEq, Debug)]
pub struct GridRow<'a> {
    /// Its number in the grid, from 0.
    pub candidate: u64,
    /// Path and value of each axis.
    pub parameters: Vec<(&'a str, &'a str)>,
    /// Simulated time of the candidate, ps.
    pub makespan: u64,
    /// Its makespan divided by the best; at least 1.
    pub ratio: f64,
    /// Whether it is the best: one row is.
    pub best: bool,
}

impl Outcome {
    /// A row for each candidate that was evaluated.
    #[must_use]
    pub fn table(&self) -> GridTable<'_> {
        GridTable { outcome: self }
    }
}

impl GridRow<'_> {
    /// The makespan in seconds, as tables print it.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.makespan as f64 / PS_PER_S
    }
}

impl<'a> GridTable<'a> {
    /// The paths, which are the columns of values.
    pub fn paths(&self) -> impl Iterator<Item = &'a str> {
        self.outcome.grid().axes().iter().map(|axis| axis.path.as_str())
    }

    /// The rows, by number of the candidate.
    pub fn rows(&self) -> impl Iterator<Item = GridRow<'a>> {
        let outcome = self.outcome;
        let known = (0..).zip(outcome.makespans()).filter_map(|(number, makespan)| Some((makespan?, number)));
        known.filter_map(move |(makespan, number)| Self::row(outcome, makespan, number))
    }

    /// The `most` best rows, best first; among equals the lower number first.
    #[must_use]
    pub fn ranked(&self, most: usize) -> Vec<GridRow<'a>> {
        let outcome = self.outcome;
        let known = (0..).zip(outcome.makespans()).filter_map(|(number, makespan)| Some((makespan?, number)));
        let mut all: Vec<(u64, u64)> = known.collect();
        if most < all.len() {
            all.select_nth_unstable(most);
            all.truncate(most);
        }
        all.sort_unstable();
        all.into_iter().filter_map(|(makespan, number)| Self::row(outcome, makespan, number)).collect()
    }

    /// The row of a candidate; there is a best as soon as there is any.
    fn row(outcome: &'a Outcome, makespan: u64, candidate: u64) -> Option<GridRow<'a>> {
        let (least, best) = outcome.best()?;
        Some(GridRow {
            candidate,
            parameters: outcome.grid().values(candidate),
            makespan,
            ratio: makespan as f64 / least as f64,
            best: candidate == best,
        })
    }

    /// Writes `candidate`, a column per path, `makespan_s`, `makespan_ps`, `ratio`, `best` (`true` or `false`) as CSV
    /// (RFC 4180, lines ending in `\n`), rows by number.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "candidate")?;
        for path in self.paths() {
            write!(out, ",{}", csv_field(path))?;
        }
        writeln!(out, ",makespan_s,makespan_ps,ratio,best")?;
        for row in self.rows() {
            write!(out, "{}", row.candidate)?;
            for (_, value) in &row.parameters {
                write!(out, ",{}", csv_field(value))?;
            }
            writeln!(out, ",{},{},{},{}", row.seconds(), row.makespan, row.ratio, row.best)?;
        }
        Ok(())
    }
}
