//! The candidates of a search in rows: for a person and as CSV.

use std::cmp::Ordering;
use std::io::{self, Write};

use super::outcome::{Known, Outcome};
use crate::PS_PER_S;
use crate::problem::Objective;
use crate::text::csv_field;

/// A row for each candidate that was evaluated, by number.
#[derive(Clone, Copy, Debug)]
pub struct GridTable<'a> {
    outcome: &'a Outcome,
}

/// One candidate. As JSON: `candidate`, `parameters` (path → value as text), `value`, `makespan_s`, `makespan_ps`, `ratio`, `best`.
#[derive(Clone, PartialEq, Debug)]
pub struct GridRow<'a> {
    /// Its number in the grid, from 0.
    pub candidate: u64,
    /// Path and value of each axis.
    pub parameters: Vec<(&'a str, &'a str)>,
    /// By another objective than the makespan: its value, seconds or of a throughput bytes per second.
    pub value: Option<f64>,
    /// Simulated time of the candidate, ps.
    pub makespan: u64,
    /// How many times as bad as the best it is by the objective; at least 1.
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
        outcome.known().filter_map(move |known| Self::row(outcome, known))
    }

    /// The `most` best rows, best first; among equals the lower number first.
    #[must_use]
    pub fn ranked(&self, most: usize) -> Vec<GridRow<'a>> {
        self.first(most, Known::order)
    }

    /// The `most` worst rows, worst first; among equals the higher number first.
    #[must_use]
    pub fn worst(&self, most: usize) -> Vec<GridRow<'a>> {
        self.first(most, |a, b| Known::order(b, a))
    }

    fn first(&self, most: usize, order: impl Fn(&Known, &Known) -> Ordering) -> Vec<GridRow<'a>> {
        let mut all: Vec<Known> = self.outcome.known().collect();
        if most < all.len() {
            all.select_nth_unstable_by(most, &order);
            all.truncate(most);
        }
        all.sort_unstable_by(&order);
        all.into_iter().filter_map(|known| Self::row(self.outcome, known)).collect()
    }

    /// The row of a candidate; there is a best as soon as there is any.
    fn row(outcome: &'a Outcome, known: Known) -> Option<GridRow<'a>> {
        let Known { number, makespan, value } = known;
        let (best, objective) = (outcome.best()?, outcome.objective());
        let unit = if objective.is_time() { PS_PER_S } else { 1.0 };
        Some(GridRow {
            candidate: number,
            parameters: outcome.grid().values(number),
            value: (objective != Objective::Makespan).then(|| objective.natural(value) / unit),
            makespan,
            ratio: value / outcome.value(best)?,
            best: number == best,
        })
    }

    /// By what candidates are compared.
    #[must_use]
    pub fn objective(&self) -> Objective {
        self.outcome.objective()
    }

    /// Writes `candidate`, a column per path, by another objective than the makespan `value`, then `makespan_s`, `makespan_ps`,
    /// `ratio`, `best` (`true` or `false`) as CSV (RFC 4180, lines ending in `\n`), rows by number. Values that are times are in
    /// seconds.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "candidate")?;
        for path in self.paths() {
            write!(out, ",{}", csv_field(path))?;
        }
        let value = if self.objective() == Objective::Makespan { "" } else { ",value" };
        writeln!(out, "{value},makespan_s,makespan_ps,ratio,best")?;
        for row in self.rows() {
            write!(out, "{}", row.candidate)?;
            for (_, value) in &row.parameters {
                write!(out, ",{}", csv_field(value))?;
            }
            if let Some(value) = row.value {
                write!(out, ",{value}")?;
            }
            writeln!(out, ",{},{},{},{}", row.seconds(), row.makespan, row.ratio, row.best)?;
        }
        Ok(())
    }
}
