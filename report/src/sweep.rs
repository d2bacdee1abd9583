//! Results of sweeps: a best order for each point of a grid of parameters, as JSON.
//!
//! Beside what all results of searches have: `axes` (path and values of each), `searches` (distinct points searched),
//! `totals` (for each combination of values of the axes but the first the sums over the first axis) and `points` (all of
//! them, in order: first axis slowest). Both have `baseline`, `best` and `gain_percent`, 100 · (baseline / best − 1). A
//! point whose search was cut off is left out, and sums lack it; `complete` tells.

use std::borrow::Cow;
use std::io::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_optimize::parameters::Axis;
use weir_optimize::search::{Method, SearchResult};
use weir_optimize::sweep::{Sweep, Total, gain};

use crate::ResultKind;
use crate::json::write_line;
use crate::schemas::{Amount, Parameters, time};
use crate::search::{SearchArbiter, SearchSubject, Solution, seconds};

/// The result of a sweep, ready to be written.
#[derive(Clone, PartialEq, Debug)]
pub struct SweepReport {
    /// Which scenario was searched, under which arbiter.
    pub subject: SearchSubject,
    /// The best order of each point that was finished.
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
        write_line(&self.json(), out)
    }

    /// Path and value of the axes but the first, for a combination of their values.
    pub(crate) fn combination(&self, combination: u64) -> Vec<(&str, &str)> {
        // The first points have the first value of the first axis.
        self.sweep.grid().values(combination).split_off(1)
    }
}

/// A line of `weir optimize --json` of a sweep, with points of type `P`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct SweepJson<'a, P> {
    pub(crate) weir: u32,
    pub(crate) kind: ResultKind,
    pub(crate) version: Cow<'a, str>,
    pub(crate) scenario: Cow<'a, str>,
    pub(crate) file: Cow<'a, str>,
    input_sha256: Cow<'a, str>,
    pub(crate) arbiter: Cow<'a, SearchArbiter>,
    pub(crate) vary: Cow<'a, str>,
    pub(crate) objective: Cow<'a, str>,
    #[schemars(with = "Vec<AxisRow>")]
    pub(crate) axes: Vec<Cow<'a, Axis>>,
    pub(crate) searches: usize,
    pub(crate) complete: bool,
    pub(crate) proved_optimal: bool,
    #[serde(deserialize_with = "time", default, skip_serializing_if = "Option::is_none")]
    pub(crate) wall_s: Option<f64>,
    /// Sums over the first axis, one for each combination of the others, in their order.
    pub(crate) totals: Vec<SweepTotal>,
    /// Those that are finished; numbered with the first axis slowest.
    pub(crate) points: Vec<P>,
}

/// A path and its values, as [`Axis`] writes it.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Axis")]
#[allow(dead_code, reason = "a type for the schema")]
struct AxisRow {
    path: String,
    values: Vec<String>,
}

/// Sums over the points of one combination.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct SweepTotal {
    #[serde(with = "crate::pairs")]
    #[schemars(with = "Parameters")]
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) points: u64,
    pub(crate) complete: bool,
    pub(crate) proved_optimal: bool,
    pub(crate) baseline_s: Amount,
    pub(crate) baseline_ps: u128,
    pub(crate) best_s: Amount,
    pub(crate) best_ps: u128,
    /// 100 · (baseline / best − 1); absent where no point is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gain_percent: Option<f64>,
}

/// The search at one point.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct SweepPointJson<'a> {
    point: u64,
    #[serde(with = "crate::pairs")]
    #[schemars(with = "Parameters")]
    parameters: Vec<(String, String)>,
    #[schemars(with = "String")]
    method: Method,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates: Option<u128>,
    evaluated: u128,
    complete: bool,
    proved_optimal: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound_s: Option<f64>,
    baseline_s: f64,
    baseline_ps: u64,
    best_s: f64,
    best_ps: u64,
    gain_percent: f64,
    solution: &'a Solution,
}

impl SweepReport {
    fn json(&self) -> SweepJson<'_, SweepPointJson<'_>> {
        let (subject, sweep) = (&self.subject, &self.sweep);
        SweepJson {
            weir: 1,
            kind: ResultKind::Sweep,
            version: env!("CARGO_PKG_VERSION").into(),
            scenario: (&*subject.scenario).into(),
            file: (&*subject.file).into(),
            input_sha256: (&*subject.input_sha256).into(),
            arbiter: Cow::Borrowed(&subject.arbiter),
            vary: "order".into(),
            objective: "makespan".into(),
            axes: sweep.grid().axes().iter().map(Cow::Borrowed).collect(),
            searches: sweep.finished(),
            complete: sweep.complete(),
            proved_optimal: sweep.proved(),
            wall_s: self.wall_s,
            totals: sweep.totals().map(|total| self.total(total)).collect(),
            points: sweep.points().map(|(point, found)| self.point(point, found)).collect(),
        }
    }

    fn total(&self, total: Total) -> SweepTotal {
        SweepTotal {
            parameters: owned(&self.combination(total.combination)),
            points: total.finished,
            complete: total.complete,
            proved_optimal: total.complete && total.proved,
            baseline_s: Amount(seconds(total.baseline as f64)),
            baseline_ps: total.baseline,
            best_s: Amount(seconds(total.best as f64)),
            best_ps: total.best,
            gain_percent: (total.finished > 0).then(|| 100.0 * total.gain()),
        }
    }

    fn point<'a>(&'a self, point: u64, found: &'a SearchResult<Solution>) -> SweepPointJson<'a> {
        SweepPointJson {
            point,
            parameters: owned(&self.sweep.grid().values(point)),
            method: found.method,
            candidates: found.candidates,
            evaluated: found.evaluated,
            complete: found.complete,
            proved_optimal: found.proved_optimal,
            bound_s: found.bound.map(seconds),
            baseline_s: seconds(found.baseline),
            baseline_ps: found.baseline as u64,
            best_s: seconds(found.best),
            best_ps: found.best as u64,
            gain_percent: 100.0 * gain(found.baseline, found.best),
            solution: &found.solution,
        }
    }
}

fn owned(values: &[(&str, &str)]) -> Vec<(String, String)> {
    values.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect()
}
