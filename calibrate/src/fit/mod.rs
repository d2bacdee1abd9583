//! The fit: parameters whose simulated times are nearest to the measured ones.
//!
//! ```text
//! experiments ─► hold some out ─► how many transfers ─► one value per type, or per direction: ─► finer    ─► Fit: values, errors, rows
//!                (wanted)         devices send at once   start, least squares, nearest links      parameters  (finish, certainty, separate,
//!                                 (slots)                (structure: whole_types, start, solve,   (refine)    stand_ins)
//!                                                        problem, closest, exchange)
//! ```
//!
//! A residual is ln(simulated / measured): for small errors the relative error, and the same for twice as long as for
//! half as long. All rows count the same, unless short ones clearly vary more (noise) or few are far slower than all others
//! (outliers). What a person reads is the relative
//! error, simulated / measured − 1.

mod ahead;
mod bounded;
mod bounds;
mod certainty;
mod closest;
mod criterion;
mod error;
mod exchange;
mod finish;
mod loggp;
mod marked;
pub(crate) mod noise;
mod options;
mod outcome;
mod outliers;
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

use outliers::Outliers;
use parameter::{Parameter, Setting};
use problem::Problem;
use slots::FoundSlots;
use solve::Solved;

pub(crate) use bounds::most_of_wire;
pub use error::{AboveTheWire, FitError};
pub use marked::{Marked, marks};
pub use options::{Choice, FitOptions};
pub use outcome::{Compared, Fit, Fitted, Known, Unclear, Unseparated, mean_error};
pub use simulator::Simulator;
pub(crate) use wires::may_reduce;

use crate::cuts::{CutPlace, Exceeded, is_above_the_wire, not_explained, of_lone_copies};
use crate::measurement::Experiment;

/// How far above all that is known of a link a group may be that counts: *assumed*, above what links of one type differ by, and below
/// two links in the place of one.
const BEYOND: f64 = 1.5;

/// Copies that are alone on a link above its wire are many from one group in so many on: *assumed*, more than are copied wrong by hand.
const MANY: usize = 4;

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
    let (none, mut unexplained) = (Outliers::new(), Outliers::new());
    loop {
        let whole = Problem {
            machine,
            arbiter,
            experiments,
            simulator: &simulator,
            fitted: &fitted,
            base: &base,
            even: 0.0,
            outliers: &none,
            unexplained: &unexplained,
            measured: problem::range(&problem::throughputs(experiments)),
        };
        let (fit, more) = fit_explained(&whole, options)?;
        if more.is_empty() {
            return Ok(fit);
        }
        unexplained.extend(more);
    }
}

/// The fit to the rows that are not known to be unexplained, checked against what wires carry, and the rows that it shows to be so
/// besides: then it is not checked.
fn fit_explained(whole: &Problem<'_>, options: &FitOptions) -> Result<(Fit, Outliers), FitError> {
    let mut notes = Vec::new();
    let parameters = wanted::wanted(whole, options, &mut notes)?;
    let slots = match options.engines && !options.loggp {
        true => slots::found(whole, &parameters)?,
        false => FoundSlots::none(whole.base),
    };
    let whole = Problem { base: &slots.setting, ..*whole };
    notes.splice(0..0, slots.notes);
    let Weighed { solved, even, outliers } = solve(&whole, &parameters, options)?;
    let problem = Problem { even, outliers: &outliers, ..whole };
    notes.extend(noise::note(&problem));
    notes.extend(outliers::note(&problem, &solved)?);
    let mut fit = finish::finish(&problem, solved, notes)?;
    fit.parameters.extend(slots.fitted);
    let more = unexplained_by(&problem, &fit);
    if more.is_empty() {
        bounds::check(&problem, &fit)?;
    }
    Ok((fit, more))
}

/// Rows that no fit explains, and that this one was fitted to: of groups above what a wire carries, or far above a link that nothing
/// else shows to be as fast; of collectives, whose algorithm is assumed, and of copies alone on the link only the first. None where most
/// rows would be left out, and no copies alone on a link where these are many: it is the topology then that is wrong.
fn unexplained_by(problem: &Problem<'_>, fit: &Fit) -> Outliers {
    let is_collective = |at: usize| problem.experiments[at].kernels;
    let is_lone = |at: usize, above: &Exceeded| above.transfers.len() == 1 && !is_collective(at);
    let is_beyond = |above: &Exceeded, by_wire: bool| match above.place {
        _ if is_above_the_wire(problem.machine, above) => true,
        _ if by_wire => false,
        CutPlace::Shared(_) => above.measured > BEYOND * above.carries,
        CutPlace::Link(link) => {
            // What is fitted now may be half-way to the group.
            let lone = of_lone_copies(&problem.machine.fabric, problem.experiments, link);
            let known = lone.map_or(above.carries, |lone| lone.max(problem.machine.fabric.link(link).bandwidth));
            above.measured > BEYOND * known
        }
    };
    let beyond = |(at, above): &(usize, Exceeded)| {
        problem.fitted[*at] && is_beyond(above, is_collective(*at) || is_lone(*at, above))
    };
    let groups = not_explained(problem.machine, problem.experiments, fit).into_iter();
    let mut groups: Vec<(usize, Exceeded)> = groups.filter(beyond).collect();
    let lone = groups.iter().filter(|(at, above)| is_lone(*at, above)).count();
    if MANY * lone > problem.fitted.iter().filter(|fitted| **fitted).count() {
        groups.retain(|(at, above)| !is_lone(*at, above));
    }
    let rows = groups.into_iter().flat_map(|(at, _)| (0..problem.experiments[at].rows.len()).map(move |row| (at, row)));
    let found: Outliers = rows.filter(|row| !problem.is_left_out(*row)).collect();
    let (left_out, of) = (found.len() + problem.unexplained.len(), problem.rows() + problem.unexplained.len());
    if 2 * left_out > of { Outliers::new() } else { found }
}

/// A fit, and how much rows count.
struct Weighed {
    solved: Solved,
    even: f64,
    outliers: Outliers,
}

/// The best fit, with the weights of rows that its residuals ask for: of short ones first, then of outliers.
fn solve(whole: &Problem<'_>, parameters: &[Parameter], options: &FitOptions) -> Result<Weighed, FitError> {
    let (mut even, mut outliers) = (whole.even, Outliers::new());
    let mut rounds = 0..noise::ROUNDS;
    loop {
        let problem = Problem { even, outliers: &outliers, ..*whole };
        let solved = structure::best(&problem, parameters.to_vec(), options.finer)?;
        let next = noise::even(&problem, &solved)?;
        let is_alike = noise::alike(next, even);
        // Short rows that vary more look like outliers until they count less.
        let others = if is_alike { outliers::outliers(&problem, &solved)? } else { outliers.clone() };
        // What a fit without some rows fits nevertheless are no outliers, and that fit is better than the one to all.
        if rounds.next().is_none() || (is_alike && others.is_subset(&outliers)) {
            return Ok(Weighed { solved, even, outliers: others });
        }
        (even, outliers) = (if is_alike { even } else { next }, others);
    }
}
