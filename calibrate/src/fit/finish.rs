//! The end of a fit: how well each value is known, what cannot be told apart, and every row.

use weir_scenario::Machine;

use super::certainty::{LEAST_COLUMN, Together, certainty};
use super::outcome::{Compared, Fit, Fitted, Known, Unclear, Unseparated};
use super::parameter::{Kind, Parameter, Setting};
use super::problem::Task;
use super::solve::{Solved, unseen_restored};
use super::{FitError, Under, closest, separate};
use crate::measurement::Experiment;

/// Judges the values found.
pub(super) fn finish(
    machine: &Machine,
    under: Under<'_>,
    experiments: &[Experiment],
    (task, solved, notes): (&Task<'_>, Solved, Vec<String>),
) -> Result<Fit, FitError> {
    let solved = unseen_restored(task, solved)?;
    let values = solved.values();
    let setting = task.setting(&solved.parameters, &values);
    let task = Task { base: &setting, ..*task };
    // What no row depends on may be as narrow as what rows do depend on: it is out of the way for derivatives.
    let clear = cleared(&task, &solved);
    // One held at 0 may be there only because another makes up for it.
    let all = task.jacobian(&solved.parameters, &clear)?;
    let together = certainty(&all, solved.squares).together;
    let (known, freedom) = known(&task, &solved, (&clear, &together))?;
    let groups = together.iter().map(|group| unclear(machine, under, &setting, (&solved, group)));
    let mut unclear = groups.collect::<Result<Vec<_>, _>>()?;
    unclear.extend(narrowest(machine, under, &task, &solved)?);
    let rows = compared(experiments, &task, &setting)?;
    let each = solved.parameters.into_iter().zip(values).zip(known);
    let parameters = each.map(|((parameter, value), known)| Fitted { parameter, value, known }).collect();
    Ok(Fit { parameters, unclear, rows, freedom, notes, setting })
}

/// How well each value is known, and rows less independent parameters.
fn known(
    task: &Task<'_>,
    solved: &Solved,
    (clear, together): (&[f64], &[Together]),
) -> Result<(Vec<Known>, usize), FitError> {
    let moving: Vec<usize> = (0..solved.at.len()).filter(|&i| !solved.zero[i]).collect();
    let parts: Vec<Parameter> = moving.iter().map(|&i| solved.parameters[i].clone()).collect();
    let at: Vec<f64> = moving.iter().map(|&i| clear[i]).collect();
    let base = closest::setting(task, solved, clear);
    let jacobian = Task { base: &base, ..*task }.jacobian(&parts, &at)?;
    let found = certainty(&jacobian, solved.squares);
    let known = |(i, value): (usize, f64)| {
        let lost = together.iter().any(|t| !t.hardly && t.parameters.contains(&i));
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
fn unclear(
    machine: &Machine,
    under: Under<'_>,
    setting: &Setting,
    (solved, group): (&Solved, &Together),
) -> Result<Unclear, FitError> {
    let part = |&p: &usize| (solved.parameters[p].clone(), solved.at[p], group.direction[p]);
    let direction: Vec<(Parameter, f64, f64)> = group.parameters.iter().map(part).collect();
    let remedy = separate::remedy(machine, under, setting, &direction)?;
    let how = if group.hardly { Unseparated::Hardly } else { Unseparated::NotAtAll };
    Ok(Unclear { parameters: group.parameters.clone(), how, remedy })
}

/// The coordinates with bandwidths that no row depends on wide open.
fn cleared(task: &Task<'_>, solved: &Solved) -> Vec<f64> {
    let wide = closest::wide(task);
    let open = |i: usize| solved.idle[i] && solved.parameters[i].kind == Kind::Bandwidth;
    (0..solved.at.len()).map(|i| if open(i) { wide } else { solved.at[i] }).collect()
}

/// Bandwidths each of which could be the narrowest in the place of one that was taken to be, with what would tell.
fn narrowest(machine: &Machine, under: Under<'_>, task: &Task<'_>, solved: &Solved) -> Result<Vec<Unclear>, FitError> {
    let wide = closest::wide(task);
    let mut all = Vec::new();
    for (taken, others) in closest::stand_ins(task, solved)? {
        let other = closest::setting(task, solved, &closest::swapped(solved, (taken, others[0]), wide));
        let remedy = separate::between(machine, under, (&other, task.base))?;
        let parameters = std::iter::once(taken).chain(others).collect();
        all.push(Unclear { parameters, how: Unseparated::Narrowest, remedy });
    }
    Ok(all)
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
