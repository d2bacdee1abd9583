//! The least-squares problem: residuals ln(simulated / measured) with their weights, derivatives by central differences, solved by
//! Levenberg and Marquardt's method.

use std::cell::RefCell;

use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::storage::Owned;
use nalgebra::{DMatrix, DVector, Dyn};

use weir_plugin_api::LinkId;
use weir_scenario::{ArbiterSpec, Machine};

use super::error::FitError;
use super::noise;
use super::outliers::Outliers;
use super::parameter::{Parameter, Setting};
use super::simulator::Simulator;
use crate::measurement::{Experiment, MeasuredEnd, Transfer};

/// Step of differences in ln bandwidth: truncation 10^-8 of a derivative, far above rounding (*assumed*).
const LOG_STEP: f64 = 1e-4;
/// Step of differences in parameters of the arbiter and, in µs, in times (*assumed*).
const PLAIN_STEP: f64 = 1e-5;
/// Least simulated time, seconds, that a logarithm is taken of.
const LEAST: f64 = 1e-15;
/// Residual of steps that go too far: e^50 times too slow.
const FAR: f64 = 50.0;
/// Factor between a value and its start at most, where the measured throughputs ask for no more (*assumed*).
const REACH: f64 = 1e3;
/// How far below the least measured throughput a bandwidth may be tried (*assumed*: no row goes faster than its links).
const BELOW: f64 = 10.0;
/// Longest latency, overhead or gap that is tried, seconds (*assumed*).
const LONGEST: f64 = 1e3;
/// Evaluations per parameter at most. Where one link takes over from another as the narrowest, an iteration may go to and fro for
/// ever. *Assumed*: of 200 random fits all ends are those of 200 evaluations with 12 as well, and a few are others with 5.
const PATIENCE: usize = 20;
/// Relative change at which an iteration ends; near the precision of f64.
const TOLERANCE: f64 = 1e-14;

/// Mean error below which nothing is left to explain; *assumed*, a tenth of what good measurements repeat to.
pub(crate) const EXPLAINED: f64 = 1e-4;
/// Factor over the largest measured throughput at which a link limits nothing; *assumed*.
const ABOVE: f64 = 100.0;

/// What is to be fitted to what.
#[derive(Clone, Copy)]
pub(crate) struct Problem<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) arbiter: &'a ArbiterSpec,
    pub(crate) experiments: &'a [Experiment],
    pub(crate) simulator: &'a Simulator<'a>,
    /// Whether an experiment is fitted.
    pub(crate) fitted: &'a [bool],
    /// All that is not fitted.
    pub(crate) base: &'a Setting,
    /// Seconds of a row that varies as much by its start as by its rate: shorter ones count less; 0 where all count the same.
    pub(crate) even: f64,
    /// Rows that do not count: far slower than all others, and of groups that no fit explains.
    pub(crate) outliers: &'a Outliers,
    pub(crate) unexplained: &'a Outliers,
    /// The least and the most of [`throughputs`].
    pub(crate) measured: [f64; 2],
}

/// A derivative by differences: the sum of factors times what was found so far ahead, over a length.
struct Differences {
    terms: Vec<(f64, f64)>,
    over: f64,
}

/// A fitted row.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    experiment: usize,
    row: usize,
    pub(crate) seconds: f64,
}

impl Row {
    /// Its experiment, and its place in it.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.experiment, self.row)
    }
}

impl Problem<'_> {
    /// The setting of values of parameters.
    pub(crate) fn setting(&self, parameters: &[Parameter], values: &[f64]) -> Setting {
        let mut setting = self.base.clone();
        parameters.iter().zip(values).for_each(|(parameter, &value)| setting.set(parameter, value));
        setting
    }

    /// The setting of coordinates of parameters.
    pub(crate) fn setting_at(&self, parameters: &[Parameter], at: &[f64]) -> Setting {
        let values: Vec<f64> = parameters.iter().zip(at).map(|(p, &u)| p.value(u)).collect();
        self.setting(parameters, &values)
    }

    /// The coordinate of a bandwidth that limits nothing.
    pub(crate) fn wide(&self) -> f64 {
        libm::log((self.measured[1].max(1.0) * ABOVE).min(1e300))
    }

    /// The values that steps may try of a parameter whose coordinate is a logarithm: within [`REACH`] of the start, of a
    /// bandwidth also from below the least measured throughput to above the most.
    fn tried(&self, parameter: &Parameter) -> [f64; 2] {
        let [least, most] = [parameter.start / REACH, parameter.start * REACH];
        if !parameter.kind.is_capacity() {
            return [least, most];
        }
        [least.min(self.measured[0] / BELOW), most.max(self.measured[1] * REACH)]
    }

    /// The coordinates of the values that steps may try, of a parameter whose coordinate is a logarithm.
    pub(crate) fn reach(&self, parameter: &Parameter) -> [f64; 2] {
        self.tried(parameter).map(|value| parameter.coordinate(value))
    }

    /// Whether a value is one that a step may try: a bandwidth within [`Self::reach`], or a time below [`LONGEST`].
    pub(crate) fn in_reach(&self, parameter: &Parameter, value: f64) -> bool {
        match parameter.kind {
            kind if kind.is_log() => {
                let [least, most] = self.tried(parameter);
                (least..most).contains(&value)
            }
            kind if kind.is_time() => value.abs() < LONGEST,
            _ => true,
        }
    }

    /// Weighted residuals of the experiments for which `wanted` holds, an empty list for the others.
    fn residuals(&self, setting: &Setting, wanted: impl Fn(usize) -> bool) -> Result<Vec<Vec<f64>>, FitError> {
        let simulated = self.simulator.seconds(setting, |e| self.fitted[e] && wanted(e))?;
        let residual = |row: Row, s: f64| libm::log(s.max(LEAST) / row.seconds) * self.weight(&row);
        let of = |(e, simulated): (usize, &Vec<f64>)| match simulated.is_empty() {
            true => Vec::new(),
            false => self.rows_of(e).map(|row| residual(row, simulated[row.row])).collect(),
        };
        Ok(simulated.iter().enumerate().map(of).collect())
    }

    /// How much a row counts, from 0 to 1.
    pub(crate) fn weight(&self, row: &Row) -> f64 {
        noise::weight(self.even, row.seconds)
    }

    /// The rows of an experiment that count.
    fn rows_of(&self, experiment: usize) -> impl Iterator<Item = Row> {
        let rows = self.experiments[experiment].rows.iter().enumerate();
        let rows = rows.map(move |(row, measured)| Row { experiment, row, seconds: measured.seconds });
        rows.filter(|row| !self.is_left_out(row.place()))
    }

    /// Whether a row, by its experiment and its place there, does not count.
    pub(crate) fn is_left_out(&self, row: (usize, usize)) -> bool {
        self.outliers.contains(&row) || self.unexplained.contains(&row)
    }

    /// All rows that are fitted and count.
    pub(crate) fn fitted_rows(&self) -> impl Iterator<Item = Row> {
        (0..self.experiments.len()).filter(|&e| self.fitted[e]).flat_map(|e| self.rows_of(e))
    }

    /// Number of rows that are fitted and count.
    pub(crate) fn rows(&self) -> usize {
        self.fitted_rows().count()
    }

    /// Root of the weighted mean square over all rows.
    pub(crate) fn root_mean_square(&self, squares: f64) -> f64 {
        let weights: f64 = self.fitted_rows().map(|row| self.weight(&row).powi(2)).sum();
        (squares / weights.max(f64::MIN_POSITIVE)).sqrt()
    }

    /// The links that fitted experiments use, ascending.
    pub(crate) fn fitted_links(&self) -> Vec<LinkId> {
        let fitted = (0..self.fitted.len()).filter(|&e| self.fitted[e]);
        let mut all: Vec<LinkId> = fitted.flat_map(|e| self.simulator.links(e).iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Weighted residuals of all fitted rows.
    pub(crate) fn all_residuals(&self, setting: &Setting) -> Result<Vec<f64>, FitError> {
        Ok(self.residuals(setting, |_| true)?.into_iter().flatten().collect())
    }

    /// Half the sum of squares would be the objective; this is the sum.
    pub(crate) fn squares(&self, setting: &Setting) -> Result<f64, FitError> {
        Ok(self.all_residuals(setting)?.iter().map(|r| r * r).sum())
    }

    /// Derivatives of all residuals by the coordinates of the parameters; as many rows as residuals.
    pub(crate) fn jacobian(&self, parameters: &[Parameter], at: &[f64]) -> Result<DMatrix<f64>, FitError> {
        // One-sided where values have no meaning below, or above.
        self.differences(parameters, at, |parameter, at, step| {
            let [down, up] = parameter
                .limits()
                .map_or([step; 2], |[least, most]| [at - least, most - at].map(|d| d.clamp(0.0, step)));
            Differences { terms: vec![(1.0, up), (-1.0, -down)], over: up + down }
        })
    }

    /// The same from values ahead alone: (4·f(h) − f(2h) − 3·f(0)) / 2h, with an error of the order of h².
    pub(crate) fn jacobian_ahead(&self, parameters: &[Parameter], at: &[f64]) -> Result<DMatrix<f64>, FitError> {
        self.differences(parameters, at, |_, _, step| Differences {
            terms: vec![(4.0, step), (-1.0, 2.0 * step), (-3.0, 0.0)],
            over: 2.0 * step,
        })
    }

    /// Derivatives by differences, which depend on the parameter, its coordinate and the usual step.
    fn differences(
        &self,
        parameters: &[Parameter],
        at: &[f64],
        of: impl Fn(&Parameter, f64, f64) -> Differences,
    ) -> Result<DMatrix<f64>, FitError> {
        let mut jacobian = DMatrix::zeros(self.rows(), parameters.len());
        for (column, parameter) in parameters.iter().enumerate() {
            let touches = |e: usize| touches(self.simulator, parameter, e);
            let Differences { terms, over } =
                of(parameter, at[column], if parameter.kind.is_log() { LOG_STEP } else { PLAIN_STEP });
            for (factor, by) in terms {
                let mut values: Vec<f64> = parameters.iter().zip(at).map(|(p, &u)| p.value(u)).collect();
                values[column] = parameter.value(at[column] + by);
                let shifted = self.residuals(&self.setting(parameters, &values), touches)?;
                let mut row = 0;
                for experiment in (0..self.experiments.len()).filter(|&e| self.fitted[e]) {
                    for (i, residual) in shifted[experiment].iter().enumerate() {
                        jacobian[(row + i, column)] += factor * residual;
                    }
                    row += self.rows_of(experiment).count();
                }
            }
            jacobian.column_mut(column).unscale_mut(over);
        }
        Ok(jacobian)
    }

    /// The coordinates with the least squares near `start`, by Levenberg and Marquardt's method.
    pub(crate) fn solve(&self, parameters: &[Parameter], start: &[f64]) -> Result<Vec<f64>, FitError> {
        if parameters.is_empty() {
            return Ok(Vec::new());
        }
        let at = DVector::from_column_slice(start);
        let problem = Iteration { problem: *self, parameters, at, error: RefCell::new(None) };
        let method = LevenbergMarquardt::new().with_tol(TOLERANCE).with_patience(PATIENCE);
        let (solved, _) = method.minimize(problem);
        match solved.error.into_inner() {
            Some(error) => Err(error),
            None => Ok(solved.at.iter().copied().collect()),
        }
    }
}

/// Bytes per second that were measured, of each row and of each experiment together: levels that some link may have.
pub(crate) fn throughputs(experiments: &[Experiment]) -> Vec<f64> {
    let mut all = Vec::new();
    for e in experiments {
        let bytes = |t: &Transfer| t.bytes as f64 * f64::from(e.messages);
        let total: f64 = e.transfers.iter().map(bytes).sum();
        for row in &e.rows {
            let own = if let MeasuredEnd::Transfer(at) = row.end { bytes(&e.transfers[at]) } else { total };
            all.extend([own / row.seconds, total / row.seconds]);
        }
    }
    all
}

/// The least of these above 0, and the most.
pub(crate) fn range(throughputs: &[f64]) -> [f64; 2] {
    let above = throughputs.iter().copied().filter(|&throughput| throughput > 0.0);
    [above.clone().fold(f64::INFINITY, f64::min), above.fold(0.0, f64::max)]
}

/// Whether an experiment can depend on a parameter.
fn touches(simulator: &Simulator<'_>, parameter: &Parameter, experiment: usize) -> bool {
    let used = simulator.links(experiment);
    parameter.links.is_empty() || parameter.links.iter().any(|link| used.binary_search(link).is_ok())
}

/// The problem as the solver sees it. What the simulation refuses ends the iteration.
struct Iteration<'a> {
    problem: Problem<'a>,
    parameters: &'a [Parameter],
    at: DVector<f64>,
    error: RefCell<Option<FitError>>,
}

impl Iteration<'_> {
    fn kept<T>(&self, result: Result<T, FitError>) -> Option<T> {
        result.map_err(|error| *self.error.borrow_mut() = Some(error)).ok()
    }
}

impl LeastSquaresProblem<f64, Dyn, Dyn> for Iteration<'_> {
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;
    type ParameterStorage = Owned<f64, Dyn>;

    fn set_params(&mut self, x: &DVector<f64>) {
        self.at.copy_from(x);
    }

    fn params(&self) -> DVector<f64> {
        self.at.clone()
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        let values: Vec<f64> = self.parameters.iter().zip(self.at.iter()).map(|(p, &u)| p.value(u)).collect();
        // Far-off trial steps are no failure: they are worse than where the iteration stands, so that it steps less far.
        let rows = self.problem.rows();
        let near = values.iter().zip(self.parameters).all(|(&value, p)| self.problem.in_reach(p, value));
        let found =
            if near { self.problem.all_residuals(&self.problem.setting(self.parameters, &values)).ok() } else { None };
        let mut all = found.unwrap_or_else(|| vec![FAR; rows]);
        all.resize(all.len().max(self.parameters.len()), 0.0);
        Some(DVector::from_vec(all))
    }

    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let found = self.kept(self.problem.jacobian(self.parameters, self.at.as_slice()))?;
        let rows = found.nrows().max(self.parameters.len());
        Some(found.resize_vertically(rows, 0.0))
    }
}

#[cfg(test)]
mod tests {
    use weir_plugin_api::NodeId;
    use weir_scenario::Position;

    use super::*;
    use crate::measurement::MeasuredTime;

    /// Two copies of 4 messages each, the first of which and the last end were measured.
    #[test]
    fn throughputs_are_those_of_a_row_and_of_all_copies_together() {
        let place = Position { file: "log".into(), line: 1, column: 1 };
        let transfer = |bytes| Transfer { from: NodeId(0), to: NodeId(1), bytes };
        let copies = Experiment::plain("two").with(transfer(1_000), 2.0, place.clone()).beside(transfer(500));
        let mut copies = Experiment { messages: 4, ..copies };
        copies.rows.push(MeasuredTime { place, seconds: 3.0, end: MeasuredEnd::Last });
        let all = throughputs(&[copies]);
        assert_eq!(all, [2_000.0, 3_000.0, 2_000.0, 2_000.0]);
        assert_eq!(range(&all), [2_000.0, 3_000.0]);
        assert_eq!(range(&[0.0, 7.0]), [7.0, 7.0]);
        assert_eq!(range(&[0.5, 0.25]), [0.25, 0.5]);
    }
}
