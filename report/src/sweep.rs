//! Results of sweeps: a best order for each point of a grid of parameters, as JSON.
//!
//! Beside what all results of searches have: `axes` (path and values of each), `searches` (distinct points searched),
//! `totals` (for each combination of values of the axes but the first the sums over the first axis) and `points` (all of
//! them, in order: first axis slowest). Both have `baseline`, `best` and `gain_percent`, 100 · (baseline / best − 1). A
//! point whose search was cut off is left out, and sums lack it; `complete` tells.

use std::io::Write;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use weir_optimize::parameters::Axis;
use weir_optimize::search::SearchResult;
use weir_optimize::sweep::{Sweep, Total, gain};

use crate::json::write_line;
use crate::search::{Pairs, SearchSubject, Solution, seconds};

/// The result of a sweep, ready to be written.
#[derive(Clone, PartialEq, Debug)]
pub struct SweepReport {
    /// What was searched.
    pub subject: SearchSubject,
    /// What was found.
    pub sweep: Sweep<Solution>,
    /// Seconds it took, where that is to be told.
    pub wall_s: Option<f64>,
}

impl SweepReport {
    /// Writes it as one JSON line.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, out: impl Write) -> std::io::Result<()> {
        write_line(self, out)
    }

    /// Path and value of the axes but the first, for a combination of their values.
    pub(crate) fn combination(&self, combination: u64) -> Vec<(&str, &str)> {
        // The first points have the first value of the first axis.
        self.sweep.grid().values(combination).split_off(1)
    }
}

impl Serialize for SweepReport {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (subject, sweep) = (&self.subject, &self.sweep);
        let mut map = to.serialize_map(None)?;
        subject.begin(&mut map)?;
        map.serialize_entry("vary", "order")?;
        map.serialize_entry("objective", "makespan")?;
        let axes: Vec<&Axis> = sweep.grid().axes().iter().collect();
        map.serialize_entry("axes", &axes)?;
        map.serialize_entry("searches", &sweep.finished())?;
        map.serialize_entry("complete", &sweep.complete())?;
        map.serialize_entry("proved_optimal", &sweep.proved())?;
        if let Some(wall) = &self.wall_s {
            map.serialize_entry("wall_s", wall)?;
        }
        map.serialize_entry("totals", &Totals(self))?;
        map.serialize_entry("points", &Points(self))?;
        map.end()
    }
}

struct Totals<'a>(&'a SweepReport);

impl Serialize for Totals<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.sweep.totals().map(|total| TotalOf(self.0, total)))
    }
}

struct TotalOf<'a>(&'a SweepReport, Total);

impl Serialize for TotalOf<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(report, total) = self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("parameters", &Pairs(&owned(&report.combination(total.combination))))?;
        map.serialize_entry("points", &total.finished)?;
        map.serialize_entry("complete", &total.complete)?;
        map.serialize_entry("proved_optimal", &(total.complete && total.proved))?;
        map.serialize_entry("baseline_s", &seconds(total.baseline as f64))?;
        map.serialize_entry("baseline_ps", &total.baseline)?;
        map.serialize_entry("best_s", &seconds(total.best as f64))?;
        map.serialize_entry("best_ps", &total.best)?;
        if total.finished > 0 {
            map.serialize_entry("gain_percent", &(100.0 * total.gain()))?;
        }
        map.end()
    }
}

struct Points<'a>(&'a SweepReport);

impl Serialize for Points<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let sweep = &self.0.sweep;
        to.collect_seq(sweep.points().map(|(number, found)| PointOf { sweep, number, found }))
    }
}

struct PointOf<'a> {
    sweep: &'a Sweep<Solution>,
    number: u64,
    found: &'a SearchResult<Solution>,
}

impl Serialize for PointOf<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let found = self.found;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("point", &self.number)?;
        map.serialize_entry("parameters", &Pairs(&owned(&self.sweep.grid().values(self.number))))?;
        map.serialize_entry("method", &found.method)?;
        if let Some(candidates) = &found.candidates {
            map.serialize_entry("candidates", candidates)?;
        }
        map.serialize_entry("evaluated", &found.evaluated)?;
        map.serialize_entry("complete", &found.complete)?;
        map.serialize_entry("proved_optimal", &found.proved_optimal)?;
        if let Some(bound) = found.bound {
            map.serialize_entry("bound_s", &seconds(bound))?;
        }
        map.serialize_entry("baseline_s", &seconds(found.baseline))?;
        map.serialize_entry("baseline_ps", &(found.baseline as u64))?;
        map.serialize_entry("best_s", &seconds(found.best))?;
        map.serialize_entry("best_ps", &(found.best as u64))?;
        map.serialize_entry("gain_percent", &(100.0 * gain(found.baseline, found.best)))?;
        map.serialize_entry("solution", &found.solution)?;
        map.end()
    }
}

fn owned(values: &[(&str, &str)]) -> Vec<(String, String)> {
    values.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect()
}
