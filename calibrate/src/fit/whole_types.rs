//! The fit with one value per link type: from the topology's values and from others nearby that fit better.

use super::closest::{closest, leaves_much, never_shared};
use super::error::FitError;
use super::exchange::exchanged;
use super::parameter::Parameter;
use super::problem::{EXPLAINED, Problem};
use super::solve::{Solved, solve_from};
use super::start;

/// Times that a fit begins again from values nearby that fit better; *assumed*.
const RESTARTS: usize = 6;

/// Solves from several starts and takes the best end. Of fits as good, that by the links nearest the devices is taken.
pub(super) fn solve(problem: &Problem<'_>, parameters: Vec<Parameter>) -> Result<Solved, FitError> {
    let unshared = never_shared(problem, &parameters);
    let solved = solve_with_open(problem, parameters.clone(), &unshared)?;
    let solved = exchanged(problem, closest(problem, solved, &unshared)?, &unshared)?;
    if !unshared.contains(&true) || !leaves_much(problem, &solved) {
        return Ok(solved);
    }
    let none = vec![false; parameters.len()];
    let all = solve_with_open(problem, parameters, &none)?;
    let all = exchanged(problem, closest(problem, all, &none)?, &none)?;
    Ok(if leaves_much(problem, &all) && all.squares > solved.squares * 0.5 { solved } else { all })
}

/// Solves for all parameters but those that stay wide `open`.
fn solve_with_open(problem: &Problem<'_>, parameters: Vec<Parameter>, open: &[bool]) -> Result<Solved, FitError> {
    let wide = problem.wide();
    let from = parameters.iter().zip(open).map(|(p, &open)| if open { wide } else { p.coordinate(p.start) });
    let from: Vec<f64> = from.collect();
    let free: Vec<usize> = (0..open.len()).filter(|&i| !open[i]).collect();
    let mut best: Option<Solved> = None;
    for start in start::starts(problem, &parameters, from, &free)? {
        let solved = solve_from(problem, parameters.clone(), start, 0)?;
        if best.as_ref().is_none_or(|b| solved.squares < b.squares * 0.999) {
            best = Some(solved);
        }
    }
    let mut best = best.ok_or(FitError::Internal("a fit without a start"))?;
    // Where one link takes over from another as the narrowest, derivatives jump and an iteration may stand still.
    for _ in 0..RESTARTS {
        if problem.root_mean_square(best.squares) < EXPLAINED {
            break;
        }
        let start = start::better_of(problem, &best.parameters, &best.at, &free)?;
        let solved = solve_from(problem, best.parameters.clone(), start, 0)?;
        if solved.squares >= best.squares * 0.999 {
            break;
        }
        best = solved;
    }
    Ok(best)
}
