//! The fit: parameters whose simulated times are nearest to the measured ones.
//!
//! ```text
//! experiments ─► hold some out ─► start values ─► least squares ─► finer parameters ─► Fit: values, errors, rows
//!                                  (start)         (problem)        (refine)           (certainty, separate)
//! ```
//!
//! A residual is ln(simulated / measured): for small errors the relative error, and the same for twice as long as for
//! half as long. All rows count the same.

mod certainty;
pub mod parameter;
mod problem;
mod refine;
mod separate;
mod simulator;
mod start;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Map, Value as Json};
use weir_plugin_api::{ArbiterEntry, ArbiterError};
use weir_scenarios::Machine;
use weir_sim_core::{FabricError, SimError};

use certainty::{Certainty, LEAST_COLUMN, certainty};
use parameter::{Kind, Parameter, Setting};
use problem::Task;
pub use simulator::Simulator;

use crate::measurement::Experiment;

/// The tau of `pcie-congestion` where the scenario gives none: 1 − 1/1.21 (Martinasso et al., SC16, section VII).
const DEFAULT_TAU: f64 = 21.0 / 121.0;
/// Factor between the smallest and the largest size above which latencies are fitted unasked; *assumed*.
const SIZES_APART: u64 = 100;

/// Times that a fit begins again from values nearby that fit better; *assumed*.
const RESTARTS: usize = 6;

/// Why a fit is not possible.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// There is nothing to fit to.
    #[error("no measured time can be used: see what was skipped, and why")]
    Empty,
    /// No route.
    #[error("`{1}` cannot be reached from `{0}` in this topology; check the devices that the log was mapped to")]
    NoRoute(String, String),
    /// The arbiter refuses.
    #[error("arbiter `{0}`: {1}")]
    Arbiter(String, ArbiterError),
    /// A value that is no bandwidth.
    #[error("{0}")]
    Fabric(#[from] FabricError),
    /// The simulation ended early.
    #[error("a group could not be simulated: {0}")]
    Simulation(#[from] SimError),
    /// Something that cannot be.
    #[error("{0}; report it, with the topology and the logs")]
    Internal(&'static str),
    /// The machine of a log in pairs is fitted by LogGP alone.
    #[error("LogGP is fitted alone: its per_byte stands for the links; give `--fit loggp` without others")]
    LoggpAlone,
}

/// Whether something is fitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// Where the data may tell.
    #[default]
    Auto,
    /// Always.
    Yes,
    /// Never.
    No,
}

/// What is fitted, and how.
#[derive(Clone, PartialEq, Debug)]
pub struct FitOptions {
    /// Bandwidths of links.
    pub bandwidth: bool,
    /// Latencies of links; `Auto` where sizes differ by a factor of 100.
    pub latency: Choice,
    /// `tau`; `Auto` under `pcie-congestion`.
    pub tau: Choice,
    /// LogGP, in the place of the links.
    pub loggp: bool,
    /// Bandwidths per direction and per link; `Auto` where the data clearly ask for it.
    pub finer: Choice,
    /// Share of the groups that is held out, 0 to below 1.
    pub hold_out: f64,
    /// Decides which.
    pub seed: u64,
}

impl Default for FitOptions {
    fn default() -> Self {
        let (latency, tau, finer) = (Choice::Auto, Choice::Auto, Choice::Auto);
        Self { bandwidth: true, latency, tau, loggp: false, finer, hold_out: 0.0, seed: 1 }
    }
}

/// The arbiter of a fit.
#[derive(Clone, Copy)]
pub struct Under<'a> {
    /// Its entry in the registry.
    pub entry: &'a ArbiterEntry,
    /// The parameters given.
    pub params: &'a Map<String, Json>,
}

/// What the data say of a value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Known {
    /// Fitted, with its standard error in the unit of the value.
    Error(f64),
    /// Fitted, but there are no more rows than parameters, so that nothing is known of its error.
    Exactly,
    /// Not determined: others can make up for it.
    Together,
    /// Left as it was: no fitted row depends on it.
    Unseen,
    /// Moved to where it holds no fitted row back; any larger bandwidth, or smaller time, fits as well.
    Enough,
    /// Held at 0, below which the fit would have gone.
    AtZero,
}

/// A parameter after the fit.
#[derive(Clone, PartialEq, Debug)]
pub struct Fitted {
    /// What was fitted.
    pub parameter: Parameter,
    /// Its value, in the unit of its kind.
    pub value: f64,
    /// How well it is known.
    pub known: Known,
}

/// Parameters that the data do not tell apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unclear {
    /// Places among the parameters.
    pub parameters: Vec<usize>,
    /// Whether they are told apart after all, but with errors a thousand times those of what is seen best.
    pub hardly: bool,
    /// What measurement would separate them.
    pub remedy: String,
}

/// A row with what was simulated for it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Compared {
    /// The experiment.
    pub experiment: usize,
    /// The row of it.
    pub row: usize,
    /// Measured seconds.
    pub measured: f64,
    /// Simulated seconds.
    pub simulated: f64,
    /// Whether it was held out of the fit.
    pub held_out: bool,
}

impl Compared {
    /// Simulated over measured, less 1.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.simulated / self.measured - 1.0
    }
}

/// A finished fit.
#[derive(Clone, PartialEq, Debug)]
pub struct Fit {
    /// The parameters with their values.
    pub parameters: Vec<Fitted>,
    /// Sets that cannot be told apart.
    pub unclear: Vec<Unclear>,
    /// Every row, measured and simulated, in the order of the logs.
    pub rows: Vec<Compared>,
    /// Fitted rows less independent parameters.
    pub freedom: usize,
    /// How the fit went about what it was not told.
    pub notes: Vec<String>,
    /// Everything that a simulation depends on, fitted or not.
    pub setting: Setting,
}

/// Root of the mean square of ln(simulated / measured) over some rows; `None` for no rows.
#[must_use]
pub fn rms<'a>(rows: impl IntoIterator<Item = &'a Compared>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for row in rows {
        sum += libm::log(row.simulated / row.measured).powi(2);
        count += 1;
    }
    (count > 0).then(|| (sum / f64::from(count)).sqrt())
}

/// Fits the parameters of a machine to experiments.
///
/// # Errors
/// Nothing to fit to, or what cannot be simulated.
pub fn fit(
    machine: &Machine,
    under: Under<'_>,
    experiments: &[Experiment],
    options: &FitOptions,
) -> Result<Fit, FitError> {
    if experiments.iter().all(|e| e.rows.is_empty()) {
        return Err(FitError::Empty);
    }
    let simulator = Simulator::new(machine, (under.entry, under.params), experiments)?;
    let measured: Vec<Vec<f64>> = experiments.iter().map(|e| e.rows.iter().map(|r| r.seconds).collect()).collect();
    let fitted = kept(experiments.len(), options);
    let base = Setting::of(machine);
    let task = Task { simulator: &simulator, measured: &measured, fitted: &fitted, base: &base };
    let mut notes = Vec::new();
    let parameters = wanted(machine, under, experiments, (&task, options), &mut notes)?;
    let solved = solve(&task, parameters)?;
    let solved = refine::refine(machine, &task, solved, options.finer)?;
    finish(machine, under, experiments, (&task, solved, notes))
}

/// Which groups are fitted: the others are the first of a seeded shuffle, rounded down, and never all.
fn kept(groups: usize, options: &FitOptions) -> Vec<bool> {
    let out = ((groups as f64 * options.hold_out).floor() as usize).min(groups.saturating_sub(1));
    let mut order: Vec<usize> = (0..groups).collect();
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    for at in (1..groups).rev() {
        order.swap(at, (random.next_u64() % (at as u64 + 1)) as usize);
    }
    let mut kept = vec![true; groups];
    order.iter().take(out).for_each(|&group| kept[group] = false);
    kept
}

/// The parameters to fit.
fn wanted(
    machine: &Machine,
    under: Under<'_>,
    experiments: &[Experiment],
    (task, options): (&Task<'_>, &FitOptions),
    notes: &mut Vec<String>,
) -> Result<Vec<Parameter>, FitError> {
    if options.loggp {
        if options.latency == Choice::Yes || options.tau == Choice::Yes || options.bandwidth {
            return Err(FitError::LoggpAlone);
        }
        return Ok(loggp_parameters(experiments));
    }
    let used = task.simulator.all_links();
    let mut parameters = Vec::new();
    if options.bandwidth {
        parameters.extend(parameter::bandwidths(machine, &used));
    }
    let bytes = || experiments.iter().flat_map(|e| e.transfers.iter().map(|t| t.bytes));
    let apart = bytes().max() >= bytes().min().map(|least| least.saturating_mul(SIZES_APART));
    if options.latency == Choice::Yes || (options.latency == Choice::Auto && apart) {
        parameters.extend(parameter::latencies(machine, &used));
    } else if options.latency == Choice::Auto {
        notes.push("sizes differ by less than a factor of 100: latencies stay as they are (--fit latency)".to_owned());
    }
    let penalty = under.params.get("root_penalty") != Some(&Json::Bool(false));
    let congestion = under.entry.name == "pcie-congestion" && penalty;
    if congestion && options.tau != Choice::No {
        parameters.push(parameter::tau(under.params.get("tau").and_then(Json::as_f64).unwrap_or(DEFAULT_TAU)));
    } else if options.tau == Choice::Yes {
        notes.push(format!("arbiter `{}` has no tau to fit: use --arbiter pcie-congestion", under.entry.name));
    }
    Ok(parameters)
}

fn loggp_parameters(experiments: &[Experiment]) -> Vec<Parameter> {
    let each = experiments.iter().flat_map(|e| {
        e.rows.iter().filter_map(move |row| {
            let bytes = e.transfers.iter().map(|t| t.bytes).max()? as f64;
            Some((row.seconds / f64::from(e.messages), bytes))
        })
    });
    let (mut shortest, mut largest, mut per_byte) = (f64::INFINITY, 0.0, f64::INFINITY);
    for (seconds, bytes) in each {
        shortest = seconds.min(shortest);
        if bytes > largest {
            (largest, per_byte) = (bytes, seconds / bytes);
        }
    }
    parameter::loggp(shortest, per_byte)
}

/// Parameters at the values with the least squares.
pub(crate) struct Solved {
    pub(crate) parameters: Vec<Parameter>,
    /// Coordinates.
    pub(crate) at: Vec<f64>,
    /// Parameters held at 0.
    pub(crate) zero: Vec<bool>,
    pub(crate) squares: f64,
}

impl Solved {
    /// The values of the coordinates; what stands at its start has that value to the last bit.
    pub(crate) fn values(&self) -> Vec<f64> {
        let value = |(p, &u): (&Parameter, &f64)| if u == p.coordinate(p.start) { p.start } else { p.value(u) };
        self.parameters.iter().zip(&self.at).map(value).collect()
    }
}

/// Solves from the values of the topology and from others that fit better, and takes the better end. Times that would
/// be below 0 are held at 0, one by one, and the rest is solved again.
pub(crate) fn solve(task: &Task<'_>, parameters: Vec<Parameter>) -> Result<Solved, FitError> {
    let mut best: Option<Solved> = None;
    for start in start::starts(task, &parameters)? {
        let solved = solve_from(task, parameters.clone(), start)?;
        if best.as_ref().is_none_or(|b| solved.squares < b.squares * 0.999) {
            best = Some(solved);
        }
    }
    let mut best = best.ok_or(FitError::Internal("a fit without a start"))?;
    // Where one link takes over from another as the narrowest, derivatives jump and an iteration may stand still.
    for _ in 0..RESTARTS {
        if (best.squares / task.rows() as f64).sqrt() < refine::EXPLAINED {
            break;
        }
        let start = start::better(task, &best.parameters, &best.at)?;
        let solved = solve_from(task, best.parameters.clone(), start)?;
        if solved.squares >= best.squares * 0.999 {
            break;
        }
        best = solved;
    }
    Ok(best)
}

/// [`solve`] from one place.
pub(crate) fn solve_from(task: &Task<'_>, parameters: Vec<Parameter>, start: Vec<f64>) -> Result<Solved, FitError> {
    let mut at = start;
    let mut zero = vec![false; parameters.len()];
    loop {
        let jacobian = task.jacobian(&parameters, &at)?;
        let moves: Vec<usize> =
            (0..at.len()).filter(|&i| !zero[i] && jacobian.column(i).norm() > LEAST_COLUMN).collect();
        // What is not moved is part of what stays: a reduced problem over the rest.
        let values: Vec<f64> = parameters.iter().zip(&at).map(|(p, &u)| p.value(u)).collect();
        let base = task.setting(&parameters, &values);
        let moved: Vec<Parameter> = moves.iter().map(|&i| parameters[i].clone()).collect();
        let from: Vec<f64> = moves.iter().map(|&i| at[i]).collect();
        let found = Task { base: &base, ..*task }.solve(&moved, &from)?;
        moves.iter().zip(found).for_each(|(&i, u)| at[i] = u);
        let below = moves.iter().copied().filter(|&i| parameters[i].kind.is_time() && at[i] < 0.0);
        let Some(worst) = below.min_by(|&a, &b| at[a].total_cmp(&at[b])) else { break };
        (at[worst], zero[worst]) = (0.0, true);
    }
    let values: Vec<f64> = parameters.iter().zip(&at).map(|(p, &u)| p.value(u)).collect();
    let squares = task.squares(&task.setting(&parameters, &values))?;
    Ok(Solved { parameters, at, zero, squares })
}

/// Puts what no row depends on back to where it was, if no row depends on it there either.
fn unseen_restored(task: &Task<'_>, mut solved: Solved) -> Result<Solved, FitError> {
    let jacobian = task.jacobian(&solved.parameters, &solved.at)?;
    for at in (0..solved.at.len()).filter(|&at| jacobian.column(at).norm() <= LEAST_COLUMN) {
        let found =
            std::mem::replace(&mut solved.at[at], solved.parameters[at].coordinate(solved.parameters[at].start));
        if task.squares(&task.setting(&solved.parameters, &solved.values()))? > solved.squares * 1.0001 + 1e-20 {
            solved.at[at] = found;
        }
    }
    Ok(solved)
}

fn finish(
    machine: &Machine,
    under: Under<'_>,
    experiments: &[Experiment],
    (task, solved, notes): (&Task<'_>, Solved, Vec<String>),
) -> Result<Fit, FitError> {
    let solved = unseen_restored(task, solved)?;
    let setting = task.setting(&solved.parameters, &solved.values());
    let moving: Vec<usize> = (0..solved.at.len()).filter(|&i| !solved.zero[i]).collect();
    let parts: Vec<Parameter> = moving.iter().map(|&i| solved.parameters[i].clone()).collect();
    let at: Vec<f64> = moving.iter().map(|&i| solved.at[i]).collect();
    let jacobian = Task { base: &setting, ..*task }.jacobian(&parts, &at)?;
    let Certainty { error, freedom, .. } = certainty(&jacobian, solved.squares);
    // One held at 0 may be there only because another makes up for it.
    let all = Task { base: &setting, ..*task }.jacobian(&solved.parameters, &solved.at)?;
    let together = certainty(&all, solved.squares).together;
    let known = |i: usize, value: f64| {
        let lost = together.iter().any(|t| !t.hardly && t.parameters.contains(&i));
        match moving.iter().position(|&m| m == i).map(|at| (at, error[at])) {
            _ if lost => Known::Together,
            None => Known::AtZero,
            Some((at, _)) if jacobian.column(at).norm() <= LEAST_COLUMN => {
                let start = solved.parameters[i].start;
                if (value - start).abs() <= 1e-9 * start.abs() { Known::Unseen } else { Known::Enough }
            }
            Some((_, Some(error))) => Known::Error(error * solved.parameters[i].slope(value)),
            Some((_, None)) => Known::Exactly,
        }
    };
    let mut unclear = Vec::new();
    for group in &together {
        let direction: Vec<(Parameter, f64, f64)> = group
            .parameters
            .iter()
            .map(|&p| (solved.parameters[p].clone(), solved.at[p], group.direction[p]))
            .collect();
        let remedy = separate::remedy(machine, under, &setting, &direction)?;
        unclear.push(Unclear { parameters: group.parameters.clone(), hardly: group.hardly, remedy });
    }
    let values = solved.values();
    let parameters = solved.parameters.iter().enumerate().map(|(i, parameter)| Fitted {
        parameter: parameter.clone(),
        value: values[i],
        known: known(i, values[i]),
    });
    let rows = compared(experiments, task, &setting)?;
    Ok(Fit { parameters: parameters.collect(), unclear, rows, freedom, notes, setting })
}

/// Every row with its simulated time.
fn compared(experiments: &[Experiment], task: &Task<'_>, setting: &Setting) -> Result<Vec<Compared>, FitError> {
    let simulated = task.simulator.seconds(setting, |_| true)?;
    let mut rows = Vec::new();
    for (at, experiment) in experiments.iter().enumerate() {
        for (row, measured) in experiment.rows.iter().enumerate() {
            let (measured, simulated) = (measured.seconds, simulated[at][row]);
            rows.push(Compared { experiment: at, row, measured, simulated, held_out: !task.fitted[at] });
        }
    }
    Ok(rows)
}

/// Whether a parameter is a bandwidth.
pub(crate) fn is_bandwidth(parameter: &Parameter) -> bool {
    parameter.kind == Kind::Bandwidth
}
