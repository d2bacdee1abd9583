//! The end of a fit: how well each value is known, what cannot be told apart, and every row.

use nalgebra::DMatrix;

use super::ahead;
use super::bounded;
use super::bounds;
use super::certainty::{Certainty, Coupled, LEAST_COLUMN, certainty};
use super::closest::shared_by;
use super::error::FitError;
use super::outcome::{Compared, Fit, Fitted, Known, Unclear, Unseparated};
use super::parameter::{Parameter, ParameterKind};
use super::problem::{EXPLAINED, Problem};
use super::separate::{self, Shift};
use super::shared;
use super::solve::{Solved, unseen_restored};
use super::stand_ins::{StandIns, stand_ins};
use super::told::told;

/// Standard errors by which a value moves where it depends on which link is the narrowest (*assumed*: 95 of 100 are within).
const MOVED: f64 = 2.0;
/// By how much at least, relative to the value: data without noise have no errors (*assumed*: logs have three digits or more).
const SAME: f64 = 1e-3;
/// Part of the steepest fall of the squares from which on they fall beyond the end of a range; *assumed*: at a minimum a solver
/// leaves 10^-7.
const SLOPES: f64 = 1e-3;

/// Judges the values found: errors, what is coupled, and each row.
pub(super) fn finish(problem: &Problem<'_>, solved: Solved, notes: Vec<String>) -> Result<Fit, FitError> {
    let solved = unseen_restored(problem, solved)?;
    let solved = anchored(problem, solved)?;
    let coupled = coupled(problem, &solved)?;
    let values = solved.values();
    let setting = problem.setting(&solved.parameters, &values);
    let problem = Problem { base: &setting, ..*problem };
    let Judged { mut known, certainty, moving } = judged(&problem, &solved, &coupled)?;
    let several = coupled.iter().filter(|group| group.parameters.len() > 1);
    let mut unclear = several.map(|group| unclear(&problem, &solved, group)).collect::<Result<Vec<_>, _>>()?;
    for stand_ins in stand_ins(&problem, &solved)? {
        mark(&mut known, &values, &solved, &stand_ins);
        for other in stand_ins.others.iter().map(|other| other.parameter) {
            // What may be the narrowest may be a limit.
            if known[other] == Known::NoLimit {
                known[other] = unseen(&solved.parameters[other], values[other]);
            }
        }
        unclear.push(narrowest(&problem, &solved, stand_ins)?);
    }
    let rows = compared(&problem)?;
    let each = solved.parameters.into_iter().zip(values).zip(known);
    let parameters = each.map(|((parameter, value), known)| Fitted { parameter, value, known }).collect();
    let correlated = certainty.correlated.iter().map(|&(a, b, c)| (moving[a], moving[b], c)).collect();
    let (arbiter, rank, freedom, even) = (problem.arbiter.clone(), certainty.rank, certainty.freedom, problem.even);
    Ok(Fit { arbiter, parameters, unclear, correlated, rank, rows, freedom, notes, setting, even })
}

/// What the data do not tell apart; one fixed at 0 may be there only because another makes up for it.
fn coupled(problem: &Problem<'_>, solved: &Solved) -> Result<Vec<Coupled>, FitError> {
    let setting = problem.setting(&solved.parameters, &solved.values());
    let problem = Problem { base: &setting, ..*problem };
    // What no row depends on may be as narrow as what rows do depend on: it is out of the way for derivatives.
    let clear = cleared(&problem, solved);
    let setting = problem.setting_at(&solved.parameters, &clear);
    let residuals = problem.all_residuals(&setting)?;
    let jacobian = problem.jacobian(&solved.parameters, &clear)?;
    let mut all = certainty(&jacobian, &residuals).coupled;
    all.extend(ahead::free(&problem, solved, (&clear, &jacobian, &residuals), &all)?);
    Ok(all)
}

/// Of what others make up for, parameters of the arbiter go back to where they were, or to their least value where a bandwidth
/// would otherwise be above what the wire carries; of latencies, all but that of the links nearest the devices.
fn anchored(problem: &Problem<'_>, mut solved: Solved) -> Result<Solved, FitError> {
    for group in coupled(problem, &solved)?.iter().filter(|group| !group.hardly) {
        let of_arbiter = |&i: &usize| solved.parameters[i].kind == ParameterKind::Arbiter;
        let (fixed, moves): (Vec<usize>, Vec<usize>) = match nearest_latency(problem, &solved, group) {
            Some(nearest) => group.parameters.iter().partition(|&&i| i != nearest),
            None => group.parameters.iter().partition(|i| of_arbiter(i)),
        };
        let (start, least): (Vec<_>, Vec<_>) = fixed
            .iter()
            .map(|&i| (&solved.parameters[i], i))
            .map(|(p, i)| ((i, p.coordinate(p.start)), (i, p.limits().map_or(solved.at[i], |[least, _]| least))))
            .unzip();
        if fixed.is_empty() || moves.is_empty() {
            continue;
        }
        for given in [start, least] {
            let Some(other) = solved.with(problem, &given, &moves)? else { continue };
            let fine = moves.iter().all(|&i| bounds::allow(problem, &other.parameters[i], other.values()[i]));
            solved = other;
            if fine {
                break;
            }
        }
    }
    Ok(solved)
}

/// Of latencies that make up for each other, that of the links nearest the devices; `None` where other parameters do, too.
fn nearest_latency(problem: &Problem<'_>, solved: &Solved, group: &Coupled) -> Option<usize> {
    let latencies = group.parameters.iter().all(|&i| solved.parameters[i].kind == ParameterKind::Latency);
    let distance = |&&i: &&usize| shared_by(problem.machine, &solved.parameters[i]);
    group.parameters.iter().filter(|_| latencies).min_by_key(distance).copied()
}

/// What the data say of the values.
struct Judged {
    known: Vec<Known>,
    certainty: Certainty,
    /// The parameters that `certainty` is of.
    moving: Vec<usize>,
}

/// Which parameters are held at an end of their range, as the derivatives of the rows say.
fn ends(problem: &Problem<'_>, solved: &Solved, jacobian: &DMatrix<f64>, residuals: &[f64]) -> Vec<Option<Known>> {
    let gradient = bounded::gradient(jacobian, residuals);
    let explained = problem.root_mean_square(solved.squares) < EXPLAINED;
    let end = |i: usize| {
        let length = jacobian.column(i).norm();
        let falls = length > LEAST_COLUMN && gradient[i].abs() > SLOPES * length * solved.squares.sqrt();
        bounded::end(problem, &solved.parameters[i], solved.at[i], gradient[i]).filter(|_| falls && !explained)
    };
    (0..solved.at.len()).map(end).collect()
}

/// How well each value is known.
fn judged(problem: &Problem<'_>, solved: &Solved, coupled: &[Coupled]) -> Result<Judged, FitError> {
    let clear = cleared(problem, solved);
    let all = solved.setting(problem, &clear);
    let jacobian = Problem { base: &all, ..*problem }.jacobian(&solved.parameters, &clear)?;
    let residuals = problem.all_residuals(problem.base)?;
    let ends = ends(problem, solved, &jacobian, &residuals);
    let moving: Vec<usize> = (0..solved.at.len()).filter(|&i| !solved.zero[i] && ends[i].is_none()).collect();
    let found = certainty(&jacobian.select_columns(&moving), &residuals);
    let errors = errors(solved, &moving, (&jacobian, &residuals), &found);
    let known = |(i, value): (usize, f64)| {
        let lost = coupled.iter().any(|t| !t.hardly && t.parameters.contains(&i));
        let alone = coupled.iter().any(|t| t.parameters == [i]);
        match moving.contains(&i) {
            _ if lost && !solved.idle[i] && !alone => Known::Together,
            _ if alone => Known::Enough,
            false => ends[i].unwrap_or(Known::AtZero),
            true if solved.idle[i] || jacobian.column(i).norm() <= LEAST_COLUMN => unseen(&solved.parameters[i], value),
            true => errors[i].map_or(Known::Exactly, |e| Known::Error(e * solved.parameters[i].slope(value))),
        }
    };
    let no_limit = |i: usize| shared::shows_no_limit(problem, &solved.parameters[i], problem.base);
    let known = |i: (usize, f64)| if no_limit(i.0) && solved.idle[i.0] { Known::NoLimit } else { known(i) };
    let known = solved.values().into_iter().enumerate().map(known).collect();
    Ok(Judged { known, certainty: found, moving })
}

/// Per parameter that moves the standard error of its coordinate; `None` where there are no more rows than parameters. That of a time
/// counts that times which the fit has taken to 0 could move, too: that they are 0 is not known, and a short row tells the sum of several.
fn errors(
    solved: &Solved,
    moving: &[usize],
    (jacobian, residuals): (&DMatrix<f64>, &[f64]),
    found: &Certainty,
) -> Vec<Option<f64>> {
    let mut errors = vec![None; solved.at.len()];
    moving.iter().zip(&found.error).for_each(|(&i, &error)| errors[i] = error);
    let is_time = |i: usize| solved.parameters[i].kind.is_time() && !solved.idle[i];
    // Where the topology has none, 0 is what it says.
    let is_taken = |i: usize| is_time(i) && !moving.contains(&i) && solved.parameters[i].start > 0.0;
    if (0..errors.len()).any(is_taken) {
        let free: Vec<usize> = (0..errors.len()).filter(|&i| moving.contains(&i) || is_taken(i)).collect();
        let wider = certainty(&jacobian.select_columns(&free), residuals);
        for (&i, wider) in free.iter().zip(wider.error).filter(|(i, _)| is_time(**i)) {
            errors[i] = errors[i].zip(wider).map(|(error, wider)| error.max(wider));
        }
    }
    errors
}

/// What is known of a value that no row depends on.
fn unseen(parameter: &Parameter, value: f64) -> Known {
    let start = parameter.start;
    if (value - start).abs() <= 1e-9 * start.abs() { Known::Unseen } else { Known::Enough }
}

/// Marks the bandwidth that is taken to be the narrowest, and what would have another value with the first of those in its
/// place that could be.
fn mark(known: &mut [Known], values: &[f64], solved: &Solved, stand_ins: &StandIns) {
    let others = stand_ins.with_first.at.iter().zip(&solved.parameters).map(|(&at, parameter)| parameter.value(at));
    for (i, (other, known)) in others.zip(known).enumerate() {
        let least = SAME * values[i].abs();
        let depends = |error: f64| i == stand_ins.taken || (other - values[i]).abs() > least.max(MOVED * error);
        *known = match *known {
            Known::Error(error) if depends(error) => Known::IfNarrowest(Some(error)),
            Known::Exactly if depends(0.0) => Known::IfNarrowest(None),
            as_it_is => as_it_is,
        };
    }
}

/// Parameters that cannot be told apart, with what would.
fn unclear(problem: &Problem<'_>, solved: &Solved, group: &Coupled) -> Result<Unclear, FitError> {
    let shift = |&p: &usize| Shift { parameter: &solved.parameters[p], at: solved.at[p], by: group.direction[p] };
    let shifts: Vec<Shift<'_>> = group.parameters.iter().map(shift).collect();
    let remedy = separate::remedy(problem, &shifts)?;
    let how = if group.hardly { Unseparated::Hardly } else { Unseparated::NotAtAll };
    // Where values may be anything together, the combination that may not is what the data tell.
    let told = if group.hardly { None } else { told(&solved.parameters, &solved.values(), group) };
    let names = group.parameters.iter().map(|&i| solved.parameters[i].name.clone()).collect();
    Ok(Unclear { parameters: group.parameters.clone(), names, how, told, remedy })
}

/// The coordinates with bandwidths that no row depends on wide open.
fn cleared(problem: &Problem<'_>, solved: &Solved) -> Vec<f64> {
    let wide = problem.wide();
    let open = |i: usize| solved.idle[i] && solved.is_capacity(i);
    (0..solved.at.len()).map(|i| if open(i) { wide } else { solved.at[i] }).collect()
}

/// Bandwidths each of which could be the narrowest in the place of one that was taken to be, with what would tell.
fn narrowest(problem: &Problem<'_>, solved: &Solved, stand_ins: StandIns) -> Result<Unclear, FitError> {
    let StandIns { taken, others, with_first } = stand_ins;
    let other = problem.setting_at(&with_first.parameters, &with_first.at);
    let remedy = separate::between(problem, &other)?;
    let names = std::iter::once(solved.parameters[taken].name.clone());
    let names = names.chain(others.iter().map(|other| other.name.clone())).collect();
    let parameters = std::iter::once(taken).chain(others.iter().map(|other| other.parameter)).collect();
    let how = if solved.is_capacity(taken) { Unseparated::Narrowest } else { Unseparated::Instead };
    Ok(Unclear { parameters, names, how, told: None, remedy })
}

/// Every row with its simulated time.
fn compared(problem: &Problem<'_>) -> Result<Vec<Compared>, FitError> {
    let simulated = problem.simulator.seconds(problem.base, |_| true)?;
    let mut rows = Vec::new();
    for (at, experiment) in problem.experiments.iter().enumerate() {
        for (row, measured) in experiment.rows.iter().enumerate() {
            let (measured, simulated) = (measured.seconds, simulated[at][row]);
            let (held_out, outlier) = (!problem.fitted[at], problem.is_left_out((at, row)));
            rows.push(Compared { experiment: at, row, measured, simulated, held_out, outlier });
        }
    }
    Ok(rows)
}
