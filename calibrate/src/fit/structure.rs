//! How many parameters: one value per type, made finer where the data ask for it, or one per direction, made coarser where
//! the data do not.
//!
//! ```text
//! one value per type ──► finer, split after split ────────────────────────────┐
//!                                                                             ├─► without what rows ─► the better of
//! one per direction ──► joined where one value does ─► finer, split after split ┘   do not need          the two
//! ```
//!
//! A search that goes one step at a time can end where no single step is better. Rates that share a link in one direction
//! only are such a case: the split of one link explains a part of them, and hides the split by direction that explains all.
//! The second way starts on the other side of such places.

use super::closest::{ALIKE, criterion, finer_ahead, order};
use super::criterion::CLEARLY;
use super::error::FitError;
use super::options::Choice;
use super::parameter::{Direction, Parameter, ParameterKind};
use super::problem::{EXPLAINED, Problem};
use super::refine::{directions, refine};
use super::solve::{Solved, solve_from};
use super::{start, whole_types};

/// How much lower the criterion of the second way must be; *assumed*, "strong" evidence is 6 (Kass and Raftery, *Bayes
/// Factors*, JASA 90, 1995), and the way from one value per type writes fewer types.
const BETTER: f64 = 6.0;

/// The best fit of both ways.
pub(super) fn best(problem: &Problem<'_>, parameters: Vec<Parameter>, finer: Choice) -> Result<Solved, FitError> {
    let apart = by_direction(&parameters);
    let coarse = refine(problem, whole_types::solve(problem, parameters)?, finer)?;
    let coarse = needed(problem, coarse)?;
    let explained = problem.root_mean_square(coarse.squares) < EXPLAINED;
    let Some((apart, pairs)) = apart.filter(|_| finer != Choice::No && !explained) else { return Ok(coarse) };
    let fine = joined(problem, whole_types::solve(problem, apart)?, pairs)?;
    let fine = needed(problem, refine(problem, fine, finer)?)?;
    let ahead = finer_ahead(problem, &coarse, &fine)?;
    // A difference of all links of a type is likelier than one of a single link.
    let better = ahead > BETTER || ahead >= -ALIKE && of_single_links(&fine) < of_single_links(&coarse);
    Ok(if better { fine } else { coarse })
}

/// How many parameters are of links that differ from the rest of their type, and of such a rest.
fn of_single_links(solved: &Solved) -> usize {
    solved.parameters.iter().filter(|p| p.kind == ParameterKind::Bandwidth && p.of_type.is_none()).count()
}

/// The criterion of a fit: parameters that are wide open, or that no row depends on, cost nothing.
fn of(problem: &Problem<'_>, solved: &Solved) -> Result<f64, FitError> {
    Ok(criterion(problem, solved.squares, solved.moving(problem)?.len()))
}

/// A bandwidth of both directions that stands as two, up and down.
struct Halved {
    whole: Parameter,
    /// The place of the first of the two.
    at: usize,
}

/// Parameters with each bandwidth of both directions in two; `None` where there is no such bandwidth.
fn by_direction(parameters: &[Parameter]) -> Option<(Vec<Parameter>, Vec<Halved>)> {
    let (mut all, mut pairs) = (Vec::new(), Vec::new());
    for parameter in parameters {
        let both = parameter.kind == ParameterKind::Bandwidth && parameter.direction == Direction::Both;
        match directions(parameter).filter(|_| both) {
            Some(halves) => {
                pairs.push(Halved { whole: parameter.clone(), at: all.len() });
                all.extend(halves);
            }
            None => all.push(parameter.clone()),
        }
    }
    (!pairs.is_empty()).then_some((all, pairs))
}

/// Joins the two directions of each type where the criterion is then no worse; the last pair first, so that places hold.
fn joined(problem: &Problem<'_>, mut solved: Solved, pairs: Vec<Halved>) -> Result<Solved, FitError> {
    for Halved { whole, at } in pairs.into_iter().rev() {
        let mut parameters = solved.parameters.clone();
        parameters.splice(at..at + 2, [whole]);
        for value in [solved.at[at], solved.at[at + 1]] {
            let mut from = solved.at.clone();
            from.splice(at..at + 2, [value]);
            let from = start::better_of(problem, &parameters, &from, &[at])?;
            let one = solve_from(problem, parameters.clone(), from, 1)?;
            if finer_ahead(problem, &one, &solved)? <= 0.0 {
                solved = one;
                break;
            }
        }
    }
    Ok(solved)
}

/// Opens bandwidths that the rows do not clearly need, those that most devices share first: others that were freed later may
/// explain the rows as well, and one that slows a few rows a little may fit nothing but their noise.
pub(super) fn needed(problem: &Problem<'_>, mut solved: Solved) -> Result<Solved, FitError> {
    let wide = problem.wide();
    for at in order(problem.machine, &solved.parameters).into_iter().rev() {
        if !solved.moving(problem)?.contains(&at) {
            continue;
        }
        let mut from = solved.at.clone();
        from[at] = wide;
        let open = solve_from(problem, solved.parameters.clone(), from, 1)?;
        if of(problem, &open)? <= of(problem, &solved)? + CLEARLY {
            solved = open;
        }
    }
    Ok(solved)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bandwidth of a type, one of a single link, and a parameter of the arbiter, which is of no type either.
    #[test]
    fn only_bandwidths_are_of_single_links() {
        let of = |kind, of_type| Parameter {
            name: String::new(),
            kind,
            links: Vec::new(),
            shared: Vec::new(),
            of_type,
            direction: Direction::Both,
            start: 1.0,
            marked: None,
            devices: Vec::new(),
        };
        use ParameterKind::{Arbiter, Bandwidth};
        let parameters = vec![of(Bandwidth, Some(0)), of(Bandwidth, None), of(Arbiter, None)];
        let solved = Solved { parameters, at: vec![], zero: vec![], idle: vec![], squares: 0.0 };
        assert_eq!(of_single_links(&solved), 1);
    }
}
