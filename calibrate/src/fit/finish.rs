//! The end of a fit: how well each value is known, what cannot be told apart, and every row.

use super::certainty::{Coupled, LEAST_COLUMN, certainty};
use super::closest::{StandIns, stand_ins, swapped};
use super::error::FitError;
use super::outcome::{Compared, Fit, Fitted, Known, Unclear, Unseparated};
use super::parameter::Parameter;
use super::problem::Problem;
use super::separate::{self, Shift};
use super::solve::{Solved, unseen_restored};

/// Judges the values found: errors, what is coupled, and each row.
pub(super) fn finish(problem: &Problem<'_>, solved: Solved, notes: Vec<String>) -> Result<Fit, FitError> {
    let solved = unseen_restored(problem, solved)?;
    let values = solved.values();
    let setting = problem.setting(&solved.parameters, &values);
    let problem = Problem { base: &setting, ..*problem };
    // What no row depends on may be as narrow as what rows do depend on: it is out of the way for derivatives.
    let clear = cleared(&problem, &solved);
    // One fixed at 0 may be there only because another makes up for it.
    let coupled = certainty(&problem.jacobian(&solved.parameters, &clear)?, solved.squares).coupled;
    let (known, freedom) = known(&problem, &solved, &clear, &coupled)?;
    let mut unclear = coupled.iter().map(|group| unclear(&problem, &solved, group)).collect::<Result<Vec<_>, _>>()?;
    unclear.extend(narrowest(&problem, &solved)?);
    let rows = compared(&problem)?;
    let each = solved.parameters.into_iter().zip(values).zip(known);
    let parameters = each.map(|((parameter, value), known)| Fitted { parameter, value, known }).collect();
    let arbiter = problem.arbiter.clone();
    Ok(Fit { arbiter, parameters, unclear, rows, freedom, notes, setting })
}

/// How well each value is known, and rows less independent parameters.
fn known(
    problem: &Problem<'_>,
    solved: &Solved,
    clear: &[f64],
    coupled: &[Coupled],
) -> Result<(Vec<Known>, usize), FitError> {
    let moving: Vec<usize> = (0..solved.at.len()).filter(|&i| !solved.zero[i]).collect();
    let parts: Vec<Parameter> = moving.iter().map(|&i| solved.parameters[i].clone()).collect();
    let at: Vec<f64> = moving.iter().map(|&i| clear[i]).collect();
    let base = solved.setting(problem, clear);
    let jacobian = Problem { base: &base, ..*problem }.jacobian(&parts, &at)?;
    let found = certainty(&jacobian, solved.squares);
    let known = |(i, value): (usize, f64)| {
        let lost = coupled.iter().any(|t| !t.hardly && t.parameters.contains(&i));
        match moving.iter().position(|&m| m == i).map(|at| (at, found.error[at])) {
            _ if lost && !solved.idle[i] => Known::Together,
            None => Known::AtZero,
            Some((at, _)) if solved.idle[i] || jacobian.column(at).norm() <= LEAST_COLUMN => {
                let start = solved.parameters[i].start;
                if (value - start).abs() <= 1e-9 * start.abs() { Known::Unseen } else { Known::Enough }
            }
            Some((_, Some(error))) => Known::Error(error * solved.parameters[i].slope(value)),
            Some((_, None)) => Known::Exactly,
        }
    };
    Ok((solved.values().into_iter().enumerate().map(known).collect(), found.freedom))
}

/// Parameters that cannot be told apart, with what would.
fn unclear(problem: &Problem<'_>, solved: &Solved, group: &Coupled) -> Result<Unclear, FitError> {
    let shift = |&p: &usize| Shift { parameter: &solved.parameters[p], at: solved.at[p], by: group.direction[p] };
    let shifts: Vec<Shift<'_>> = group.parameters.iter().map(shift).collect();
    let remedy = separate::remedy(problem, &shifts)?;
    let how = if group.hardly { Unseparated::Hardly } else { Unseparated::NotAtAll };
    Ok(Unclear { parameters: group.parameters.clone(), how, remedy })
}

/// The coordinates with bandwidths that no row depends on wide open.
fn cleared(problem: &Problem<'_>, solved: &Solved) -> Vec<f64> {
    let wide = problem.wide();
    let open = |i: usize| solved.idle[i] && solved.is_bandwidth(i);
    (0..solved.at.len()).map(|i| if open(i) { wide } else { solved.at[i] }).collect()
}

/// Bandwidths each of which could be the narrowest in the place of one that was taken to be, with what would tell.
fn narrowest(problem: &Problem<'_>, solved: &Solved) -> Result<Vec<Unclear>, FitError> {
    let mut all = Vec::new();
    for StandIns { taken, others } in stand_ins(problem, solved)? {
        let other = solved.setting(problem, &swapped(problem, solved, taken, others[0]));
        let remedy = separate::between(problem, &other)?;
        let parameters = std::iter::once(taken).chain(others).collect();
        all.push(Unclear { parameters, how: Unseparated::Narrowest, remedy });
    }
    Ok(all)
}

/// Every row with its simulated time.
fn compared(problem: &Problem<'_>) -> Result<Vec<Compared>, FitError> {
    let simulated = problem.simulator.seconds(problem.base, |_| true)?;
    let mut rows = Vec::new();
    for (at, experiment) in problem.experiments.iter().enumerate() {
        for (row, measured) in experiment.rows.iter().enumerate() {
            let (measured, simulated) = (measured.seconds, simulated[at][row]);
            rows.push(Compared { experiment: at, row, measured, simulated, held_out: !problem.fitted[at] });
        }
    }
    Ok(rows)
}
