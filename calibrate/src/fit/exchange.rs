//! Whether a bandwidth has taken the value that belongs to another of the same route.
//!
//! Bandwidths are freed one after the other. The first that a row meets takes what it shows, though another link of the route may
//! have that value; to free the other as well then changes nothing, and no step of one of them alone fits better. So where
//! something is left to explain, one gets the value of the other, which is freed anew from wide open.

use super::closest::finer_ahead;
use super::criterion::CLEARLY;
use super::error::FitError;
use super::problem::{EXPLAINED, Problem};
use super::solve::{Solved, solve_from};
use super::start;

/// Exchanges of one fit at most; *assumed*.
const ROUNDS: usize = 4;
/// Bandwidths between which values are exchanged, at most; *assumed*.
const MOST: usize = 12;
/// Part of the squares that an exchange may leave; *assumed*.
const BETTER: f64 = 0.9;
/// Factor by which the squares of the start of an exchange may be above those of the fit; *assumed*: the values that are tried
/// are 3 % apart or more, and where errors are but noise, an exchange is worse by far.
const FAR: f64 = 1000.0;
/// Times that the solution of an exchange goes on with what it has uncovered; *assumed*.
const AGAIN: usize = 1;

/// The fit that exchanges lead to where that is clearly better; what is `fixed` stays where it is.
pub(super) fn exchanged(problem: &Problem<'_>, solved: Solved, fixed: &[bool]) -> Result<Solved, FitError> {
    let free: Vec<usize> = (0..solved.at.len()).filter(|&i| solved.is_capacity(i) && !fixed[i]).collect();
    if free.len() > MOST {
        return Ok(solved);
    }
    let mut found = solved.clone();
    for _ in 0..ROUNDS {
        if problem.root_mean_square(found.squares) < EXPLAINED {
            break;
        }
        match exchange(problem, &found, &free)? {
            Some(other) => found = other,
            None => break,
        }
    }
    Ok(if finer_ahead(problem, &solved, &found)? > CLEARLY { found } else { solved })
}

/// The best fit in which one bandwidth has the value of another, which is freed anew with those that are open; `None` where none is
/// better.
fn exchange(problem: &Problem<'_>, solved: &Solved, free: &[usize]) -> Result<Option<Solved>, FitError> {
    let moving = solved.moving(problem)?;
    let (taken, open): (Vec<usize>, Vec<usize>) = free.iter().partition(|i| moving.contains(i));
    let mut best: Option<Solved> = None;
    for from in taken {
        for &to in free.iter().filter(|&&to| to != from && on_one_route(problem, solved, from, to)) {
            let mut start = solved.at.clone();
            (start[to], start[from]) = (solved.at[from], problem.wide());
            let anew: Vec<usize> = std::iter::once(from).chain(open.iter().copied().filter(|&i| i != to)).collect();
            let start = start::better_of(problem, &solved.parameters, &start, &anew)?;
            if problem.squares(&solved.setting(problem, &start))? > solved.squares * FAR {
                continue;
            }
            let other = solve_from(problem, solved.parameters.clone(), start, AGAIN)?;
            if other.squares < best.as_ref().map_or(solved.squares * BETTER, |best| best.squares) {
                best = Some(other);
            }
        }
    }
    Ok(best)
}

/// Whether a copy of a fitted row crosses links of both parameters.
fn on_one_route(problem: &Problem<'_>, solved: &Solved, a: usize, b: usize) -> bool {
    let [a, b] = [a, b].map(|i| &*solved.parameters[i].links);
    (0..problem.fitted.len()).any(|e| problem.fitted[e] && problem.simulator.crosses_both(e, a, b))
}
