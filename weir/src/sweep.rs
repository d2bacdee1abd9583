//! A scenario with one value after the other: the smallest of all searches.

use std::path::Path;

use weir_plugin_api::SimTime;

use crate::{Error, Opener, RunOptions};

/// A scenario with one of several values. Made by [`Opener::sweep`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SweepPoint {
    /// The value as YAML text.
    pub value: String,
    /// The makespan with it.
    pub makespan: SimTime,
}

impl Opener {
    /// Reads and runs a scenario with each of these values at a path, under its first arbiter. Searches over send orders,
    /// placements and grids are with the command `weir optimize` so far.
    ///
    /// ```
    /// let taus = ["0.1", "0.2", "0.4"];
    /// let points = weir::Scenario::opener().sweep("../scenarios/pcie/four-transfers.yaml", "arbiter.tau", &taus)?;
    /// let best = points.iter().min_by_key(|point| point.makespan).expect("there are three");
    /// println!("tau {}: {} s", best.value, best.makespan.seconds());
    /// # Ok::<(), weir::Error>(())
    /// ```
    ///
    /// # Errors
    /// A scenario cannot be read or run with one of the values.
    pub fn sweep(&self, file: impl AsRef<Path>, path: &str, values: &[&str]) -> Result<Vec<SweepPoint>, Error> {
        let point = |value: &&str| {
            let scenario = self.clone().set(path, *value).open(file.as_ref())?;
            // Without the incremental side: results are compared to the picosecond.
            let outcome = scenario.job(0)?.outcome(RunOptions::new().engine())?;
            Ok(SweepPoint { value: (*value).to_owned(), makespan: outcome.makespan })
        };
        values.iter().map(point).collect()
    }
}
