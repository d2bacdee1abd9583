//! Runs side by side.

use weir_plugin_api::SimTime;
use weir_report::{Column, Detail, Deviation, text};

use crate::{Error, Run};

/// Runs side by side; the first one is the baseline. Made by [`compare`].
pub struct Comparison {
    inner: weir_report::Comparison,
}

/// Puts runs side by side: of one scenario under several arbiters, or of several scenarios, whose transfers are matched by id.
///
/// ```
/// let scenario = weir::Scenario::opener()
///     .arbiter("pcie-congestion")
///     .arbiter("max-min")
///     .open("../scenarios/pcie/four-transfers.yaml")?;
/// let comparison = weir::compare(&scenario.run_all(&weir::RunOptions::default())?)?;
/// assert_eq!(comparison.makespans().len(), 2);
/// println!("{}", comparison.to_text());
/// # Ok::<(), weir::Error>(())
/// ```
///
/// # Errors
/// As [`Run::to_json`].
pub fn compare(runs: &[Run]) -> Result<Comparison, Error> {
    Ok(Comparison::of_columns(runs.iter().map(Run::column).collect::<Result<_, _>>()?))
}

impl Run {
    /// What a comparison has of a run.
    ///
    /// # Errors
    /// Its parameters cannot be written.
    #[doc(hidden)]
    pub fn column(&self) -> Result<Column, Error> {
        self.report(|run| Column::of_run(run, Some(Detail::default())))?.map_err(Error::unwritten)
    }
}

impl Comparison {
    /// Of columns that were made from runs or from saved results.
    #[doc(hidden)]
    #[must_use]
    pub fn of_columns(columns: Vec<Column>) -> Self {
        Self { inner: weir_report::Comparison::new(columns) }
    }

    /// What is compared, in the order of the runs.
    #[doc(hidden)]
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        self.inner.columns()
    }

    /// Per run its makespan; `None` of a run that is not complete.
    #[must_use]
    pub fn makespans(&self) -> Vec<Option<SimTime>> {
        self.inner.makespan().times.iter().map(|timed| timed.time.map(SimTime)).collect()
    }

    /// Per run its makespan over that of the first; `None` where one of the two is not known.
    #[must_use]
    pub fn ratios(&self) -> Vec<Option<f64>> {
        self.inner.makespan().ratios()
    }

    /// The columns of other files that have no operation or transfer in common with the first: none with an equal id and equal
    /// ends, size or model.
    #[doc(hidden)]
    #[must_use]
    pub fn unrelated(&self) -> Vec<&Column> {
        self.inner.unrelated()
    }

    /// The columns whose makespan differs so from their baseline's, by more than so many percent, each with that.
    #[doc(hidden)]
    #[must_use]
    pub fn changed(&self, change: Deviation, percent: f64) -> Vec<(&Column, &Column)> {
        self.inner.changed(change, percent)
    }

    /// The table that `weir compare` prints.
    #[must_use]
    pub fn to_text(&self) -> String {
        text::compare(&self.inner)
    }

    /// The line that `weir compare --json` prints.
    ///
    /// # Errors
    /// A parameter of an arbiter is not JSON.
    pub fn to_json(&self) -> Result<String, Error> {
        let mut line = Vec::new();
        self.inner.write(&mut line).map_err(Error::unwritten)?;
        Ok(String::from_utf8_lossy(&line).into_owned())
    }
}
