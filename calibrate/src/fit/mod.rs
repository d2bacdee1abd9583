//! The fit: parameters whose simulated times are nearest to the measured ones.
//!
//! ```text
//! experiments ─► hold some out ─► start values ─► least squares ─► nearest links ─► finer parameters ─► Fit: values, errors, rows
//!                (wanted)         (start)         (solve, problem) (closest)         (refine)           (finish, certainty, separate)
//! ```
//!
//! A residual is ln(simulated / measured): for small errors the relative error, and the same for twice as long as for
//! half as long. All rows count the same.

mod certainty;
mod closest;
mod finish;
mod outcome;
pub mod parameter;
mod problem;
mod refine;
mod runs;
mod separate;
mod simulator;
mod solve;
mod start;
mod wanted;

use serde_json::{Map, Value as Json};
use weir_plugin_api::{ArbiterEntry, ArbiterError};
use weir_scenario::Machine;
use weir_sim_core::{FabricError, SimError};

use parameter::Setting;
use problem::Task;

pub use outcome::{Compared, Fit, Fitted, Known, Unclear, Unseparated, rms};
pub use simulator::Simulator;

use crate::measurement::Experiment;

/// Why a fit is not possible.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// There is nothing to fit to.
    #[error("no measured time can be used: see what was skipped, and why")]
    Empty,
    /// No route.
    #[error("{2}: `{1}` cannot be reached from `{0}` in this topology; check the devices that the log was mapped to")]
    NoRoute(String, String, String),
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
    /// There is no tau.
    #[error("--fit tau: arbiter `{0}` has no tau to fit, or does not use it: use --arbiter pcie-congestion")]
    NoTau(String),
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
    let fitted = wanted::kept(experiments.len(), options);
    let base = Setting::of(machine);
    let task = Task { simulator: &simulator, measured: &measured, fitted: &fitted, base: &base };
    let mut notes = Vec::new();
    let parameters = wanted::wanted(machine, under, experiments, (&task, options), &mut notes)?;
    let solved = solve::solve(machine, &task, parameters)?;
    let solved = refine::refine(machine, &task, solved, options.finer)?;
    finish::finish(machine, under, experiments, (&task, solved, notes))
}
