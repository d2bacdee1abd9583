//! Least squares from several starts, with times that would be below 0 held at 0.

use weir_scenario::Machine;

use super::FitError;
use super::certainty::LEAST_COLUMN;
use super::parameter::{Kind, Parameter};
use super::problem::Task;
use super::{closest, refine, start};

/// Times that a fit begins again from values nearby that fit better; *assumed*.
const RESTARTS: usize = 6;
/// Relative error of a row that is nothing but rounding; *assumed*, logs have fewer digits.
const ROUNDED: f64 = 1e-8;
/// How near the least bandwidth that holds no row back is found, in ln B/s.
const CLOSE: f64 = 1e-4;

/// Parameters at the values with the least squares.
pub(super) struct Solved {
    pub(super) parameters: Vec<Parameter>,
    /// Coordinates.
    pub(super) at: Vec<f64>,
    /// Parameters held at 0.
    pub(super) zero: Vec<bool>,
    /// Parameters that no row depends on, known at the end.
    pub(super) idle: Vec<bool>,
    pub(super) squares: f64,
}

impl Solved {
    /// The values of the coordinates; what stands at its start has that value to the last bit.
    pub(super) fn values(&self) -> Vec<f64> {
        let value = |(p, &u): (&Parameter, &f64)| if u == p.coordinate(p.start) { p.start } else { p.value(u) };
        self.parameters.iter().zip(&self.at).map(value).collect()
    }
}

/// Solves from the values of the topology and from others that fit better, and takes the better end. Times that would
/// be below 0 are held at 0, one by one, and the rest is solved again. Of fits as good, that by the links nearest the
/// devices is taken.
pub(super) fn solve(machine: &Machine, task: &Task<'_>, parameters: Vec<Parameter>) -> Result<Solved, FitError> {
    let held = closest::never_shared(machine, task, &parameters);
    let solved = solve_but(task, parameters.clone(), &held)?;
    let solved = closest::closest(machine, task, solved, &held)?;
    if !held.contains(&true) || !closest::leaves_much(task, &solved) {
        return Ok(solved);
    }
    let none = vec![false; parameters.len()];
    let all = solve_but(task, parameters, &none)?;
    let all = closest::closest(machine, task, all, &none)?;
    Ok(if closest::leaves_much(task, &all) && all.squares > solved.squares * 0.5 { solved } else { all })
}

/// Solves for all parameters but those that are held wide open.
fn solve_but(task: &Task<'_>, parameters: Vec<Parameter>, held: &[bool]) -> Result<Solved, FitError> {
    let wide = closest::wide(task);
    let from = parameters.iter().zip(held).map(|(p, &held)| if held { wide } else { p.coordinate(p.start) });
    let from: Vec<f64> = from.collect();
    let which: Vec<usize> = (0..held.len()).filter(|&i| !held[i]).collect();
    let mut best: Option<Solved> = None;
    for start in start::starts(task, &parameters, (from, &which))? {
        let solved = solve_from(task, parameters.clone(), start, 0)?;
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
        let start = start::better_of(task, &best.parameters, &best.at, &which)?;
        let solved = solve_from(task, best.parameters.clone(), start, 0)?;
        if solved.squares >= best.squares * 0.999 {
            break;
        }
        best = solved;
    }
    Ok(best)
}

/// [`solve`] from one place; goes on `again` times with parameters that it has uncovered.
pub(super) fn solve_from(
    task: &Task<'_>,
    parameters: Vec<Parameter>,
    start: Vec<f64>,
    mut again: usize,
) -> Result<Solved, FitError> {
    let mut at = start;
    let mut zero = vec![false; parameters.len()];
    let mut moves = moving(task, &parameters, &at, &zero)?;
    loop {
        // What is not moved is part of what stays: a reduced problem over the rest.
        let values: Vec<f64> = parameters.iter().zip(&at).map(|(p, &u)| p.value(u)).collect();
        let base = task.setting(&parameters, &values);
        let moved: Vec<Parameter> = moves.iter().map(|&i| parameters[i].clone()).collect();
        let from: Vec<f64> = moves.iter().map(|&i| at[i]).collect();
        let found = Task { base: &base, ..*task }.solve(&moved, &from)?;
        moves.iter().zip(found).for_each(|(&i, u)| at[i] = u);
        let below = moves.iter().copied().filter(|&i| parameters[i].kind.is_time() && at[i] < 0.0);
        let worst = below.min_by(|&a, &b| at[a].total_cmp(&at[b]));
        if let Some(worst) = worst {
            (at[worst], zero[worst]) = (0.0, true);
        }
        let next = moving(task, &parameters, &at, &zero)?;
        // What was hidden behind something narrower may be the narrowest now.
        let uncovered = next.iter().any(|i| !moves.contains(i));
        moves = next;
        if worst.is_none() && !(uncovered && again > 0) {
            break;
        }
        again -= usize::from(worst.is_none());
    }
    let values: Vec<f64> = parameters.iter().zip(&at).map(|(p, &u)| p.value(u)).collect();
    let squares = task.squares(&task.setting(&parameters, &values))?;
    let idle = vec![false; at.len()];
    Ok(Solved { parameters, at, zero, idle, squares })
}

/// The parameters that rows depend on, but for those held at 0, and bandwidths that are wide open: many of them tie.
pub(super) fn moving(
    task: &Task<'_>,
    parameters: &[Parameter],
    at: &[f64],
    zero: &[bool],
) -> Result<Vec<usize>, FitError> {
    let jacobian = task.jacobian(parameters, at)?;
    let wide = closest::wide(task) - CLOSE;
    let open = |i: usize| parameters[i].kind == Kind::Bandwidth && at[i] >= wide;
    Ok((0..at.len()).filter(|&i| !zero[i] && !open(i) && jacobian.column(i).norm() > LEAST_COLUMN).collect())
}

/// Puts what no row depends on back to where it was, if that holds no row back; a bandwidth otherwise to the least that
/// holds none back.
pub(super) fn unseen_restored(task: &Task<'_>, mut solved: Solved) -> Result<Solved, FitError> {
    let jacobian = task.jacobian(&solved.parameters, &solved.at)?;
    let slack = task.rows() as f64 * ROUNDED * ROUNDED;
    for at in (0..solved.at.len()).filter(|&at| jacobian.column(at).norm() <= LEAST_COLUMN) {
        solved.idle[at] = true;
        let (found, was) = (solved.at[at], solved.parameters[at].coordinate(solved.parameters[at].start));
        let holds_none = |solved: &mut Solved, coordinate: f64| {
            solved.at[at] = coordinate;
            let squares = task.squares(&task.setting(&solved.parameters, &solved.values()))?;
            Ok::<bool, FitError>(squares <= solved.squares * 1.0001 + slack)
        };
        if holds_none(&mut solved, was)? || found <= was || solved.parameters[at].kind != Kind::Bandwidth {
            let back = holds_none(&mut solved, was)?;
            solved.at[at] = if back { was } else { found };
            continue;
        }
        let (mut low, mut high) = (was, found);
        while high - low > CLOSE {
            let middle = f64::midpoint(low, high);
            *(if holds_none(&mut solved, middle)? { &mut high } else { &mut low }) = middle;
        }
        solved.at[at] = high;
    }
    Ok(solved)
}
