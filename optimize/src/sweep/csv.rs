//! The points of a sweep as CSV.

use std::io::{self, Write};

use super::points::{Sweep, gain};
use crate::PS_PER_S;
use crate::text::csv_field;

impl<S> Sweep<S> {
    /// Writes `point`, a column per path, `baseline_s`, `baseline_ps`, `best_s`, `best_ps`, `bound_s`, `proved_optimal`,
    /// `gain_percent` as CSV (RFC 4180, lines ending in `\n`): a row per point whose search has ended. A bound that is
    /// not known is empty.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "point")?;
        for axis in self.grid.axes() {
            write!(out, ",{}", csv_field(&axis.path))?;
        }
        writeln!(out, ",baseline_s,baseline_ps,best_s,best_ps,bound_s,proved_optimal,gain_percent")?;
        for (point, search) in self.points() {
            write!(out, "{point}")?;
            for (_, value) in self.grid.values(point) {
                write!(out, ",{}", csv_field(value))?;
            }
            for ps in [search.baseline, search.best] {
                write!(out, ",{},{}", ps / PS_PER_S, ps as u64)?;
            }
            let bound = search.bound.map_or_else(String::new, |bound| (bound / PS_PER_S).to_string());
            let gain = 100.0 * gain(search.baseline, search.best);
            writeln!(out, ",{bound},{},{gain}", search.proved_optimal)?;
        }
        Ok(())
    }
}
