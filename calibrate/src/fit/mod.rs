//! The fit: parameters whose simulated times are nearest to the measured ones.
//!
//! ```text
//! experiments ─► hold some out ─► one value per type, or per direction: ─► finer    ─► Fit: values, errors, rows
//!                (wanted)         start, least squares, nearest links      parameters  (finish, certainty, separate,
//!                                 (structure: whole_types, start, solve,   (refine)    stand_ins)
//!                                 problem, closest)
//! ```
//!
//! A residual is ln(simulated / measured): for small errors the relative error, and the same for twice as long as for
//! half as long. All rows count the same, unless short ones clearly vary more (noise). What a person reads is the relative
//! error, simulated / measured − 1.

mod bounds;
mod certainty;
mod closest;
mod criterion;
mod error;
mod finish;
mod loggp;
mod marked;
pub(crate) mod noise;
mod options;
mod outcome;
pub mod parameter;
mod prepared;
mod problem;
mod refine;
mod runs;
mod separate;
mod shared;
mod simulator;
mod slots;
mod solve;
mod stand_ins;
mod start;
mod structure;
mod told;
mod wanted;
mod whole_types;
mod wires;

use weir_scenario::{ArbiterSpec, Machine};

use parameter::{Parameter, Setting};
use problem::Problem;
use solve::Solved;

pub use error::{AboveTheWire, FitError};
pub use marked::{Marked, marks};
pub use options::{Choice, FitOptions};
pub use outcome::{Compared, Fit, Fitted, Known, Unclear, Unseparated, mean_error};
pub use simulator::Simulator;
pub(crate) use wires::may_reduce;

use crate::measurement::Experiment;

/// Fits the parameters of a machine to experiments, under an arbiter with a policy for all of the machine, or for each kind of
/// its links.
///
/// # Errors
/// Nothing to fit to, what cannot be simulated, a fit above what a link can carry, or it was given up.
pub fn fit(
    machine: &Machine,
    arbiter: &ArbiterSpec,
    experiments: &[Experiment],
    options: &FitOptions,
) -> Result<Fit, FitError> {
    if experiments.iter().all(|e| e.rows.is_empty()) {
        return Err(FitError::Empty);
    }
    let simulator = Simulator::new(machine, arbiter, experiments)?.cancelled_by(options.cancel.clone());
    let fitted = wanted::kept(experiments.len(), options);
    let base = Setting::of(machine);
    let mut problem =
        Problem { machine, arbiter, experiments, simulator: &simulator, fitted: &fitted, base: &base, even: 0.0 };
    let mut notes = slots::notes(machine, experiments);
    let parameters = wanted::wanted(&problem, options, &mut notes)?;
    let solved = solve(&mut problem, &parameters, options)?;
    notes.extend(noise::note(&problem));
    let fit = finish::finish(&problem, solved, notes)?;
    bounds::check(&problem, &fit)?;
    Ok(fit)
}

/// The best fit, with the weights of rows that its residuals ask for.
fn solve(problem: &mut Problem<'_>, parameters: &[Parameter], options: &FitOptions) -> Result<Solved, FitError> {
    let mut solved = structure::best(problem, parameters.to_vec(), options.finer)?;
    for _ in 0..noise::ROUNDS {
        let even = noise::even(problem, &solved)?;
        if noise::alike(even, problem.even) {
            break;
        }
        problem.even = even;
        solved = structure::best(problem, parameters.to_vec(), options.finer)?;
    }
    Ok(solved)
}
