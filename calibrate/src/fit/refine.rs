//! Finer parameters where the data ask for them: a type's bandwidth per direction, or of one link after the other.
//!
//! A finer set is taken when Schwarz's criterion falls by more than [`CLEARLY`], as far as the few rows of a log show it, and the
//! data tell the parts apart, each in [`SHOWN`] experiments or more. Lone copies over a link show its bandwidth: a split that other
//! rows want against them, such as collectives that are slower than their ring, blames one link of many.

use std::ops::Range;

use nalgebra::DMatrix;
use weir_plugin_api::LinkId;
use weir_scenario::Machine;

use super::certainty::{Coupled, LEAST_COLUMN, certainty};
use super::criterion::{CLEARLY, Weighed, ahead};
use super::error::FitError;
use super::options::Choice;
use super::parameter::{Direction, Parameter, ParameterKind, below};
use super::problem::{EXPLAINED, Problem};
use super::solve::{Solved, solve_from};
use super::{closest, start};

/// Difference of the criterion between splits that are alike: the first is taken, that of the links nearest the devices.
const ALIKE: f64 = 1e-3;
/// Splits of one fit at most.
const ROUNDS: usize = 8;
/// Experiments that show a part of a parameter at least: what one shows alone is fitted to its noise.
const SHOWN: usize = 2;
/// Root of what the mean square of lone copies over a link may rise by with a split of it; *assumed*: logs vary by
/// a percent.
const LITTLE: f64 = 0.01;
/// Links that get parameters of their own at most; *assumed*.
const MOST_LINKS: usize = 64;

/// Times that the solution of a split goes on with what it has uncovered, such as the rest of a type behind a narrower
/// link; *assumed*.
const AGAIN: usize = 3;

/// The end of the name of what is left when single links are split off.
const ELSEWHERE: &str = ", elsewhere";

/// Splits parameters as long as it pays.
pub(super) fn refine(problem: &Problem<'_>, mut solved: Solved, choice: Choice) -> Result<Solved, FitError> {
    if choice == Choice::No {
        return Ok(solved);
    }
    for _ in 0..ROUNDS {
        if problem.root_mean_square(solved.squares) < EXPLAINED {
            break;
        }
        match best_split(problem, &solved)? {
            Some(finer) => solved = finer,
            None => break,
        }
    }
    Ok(solved)
}

/// A fit with one parameter split in two.
struct Split {
    solved: Solved,
    /// Whether the data determine both parts.
    determined: bool,
    /// By how much the criterion falls.
    ahead: f64,
}

impl Split {
    /// Splits whose parts are all determined come before others; among these the criterion decides.
    fn better_than(&self, other: &Self) -> bool {
        match (self.determined, other.determined) {
            (true, false) => true,
            (false, true) => false,
            _ => self.ahead > other.ahead + ALIKE,
        }
    }
}

/// By how much the criterion of a fit with one parameter more is lower.
fn one_more_ahead(problem: &Problem<'_>, solved: &Solved, finer: &Solved) -> Result<f64, FitError> {
    let parameters = finer.moving(problem)?.len();
    let coarse = Weighed { squares: solved.squares, parameters: parameters.saturating_sub(1) };
    Ok(ahead(problem.rows(), coarse, Weighed { squares: finer.squares, parameters }, 1e-300))
}

/// The best of all fits with one parameter more; `None` where none pays.
fn best_split(problem: &Problem<'_>, solved: &Solved) -> Result<Option<Solved>, FitError> {
    let unshared = closest::never_shared(problem, &solved.parameters);
    let of_links = |&i: &usize| !unshared[i] && solved.parameters[i].kind == ParameterKind::Bandwidth;
    let order = closest::order(problem.machine, &solved.parameters).into_iter().filter(of_links);
    let mut best: Option<Split> = None;
    for at in order {
        let parameter = &solved.parameters[at];
        for parts in per_link(problem, parameter).into_iter().chain(directions(parameter)) {
            let Some(split) = split(problem, solved, at, parts)? else { continue };
            if split.ahead > CLEARLY && best.as_ref().is_none_or(|best| split.better_than(best)) {
                best = Some(split);
            }
        }
    }
    Ok(best.map(|split| split.solved))
}

/// A parameter of both directions in two: up and down.
pub(super) fn directions(parameter: &Parameter) -> Option<[Parameter; 2]> {
    let half = |direction, side: &str, down: u32| Parameter {
        name: format!("{}, {side}", parameter.name),
        links: parameter.links.iter().copied().filter(|l| l.0 % 2 == down).collect(),
        direction,
        ..parameter.clone()
    };
    let both = parameter.direction == Direction::Both;
    both.then(|| [half(Direction::Up, "up", 0), half(Direction::Down, "down", 1)])
}

/// A parameter in two for each of its links in use: that link, or one direction of it, and the rest. A direction that no
/// fitted row crosses stays with the rest.
fn per_link(problem: &Problem<'_>, parameter: &Parameter) -> Vec<[Parameter; 2]> {
    let mut pairs: Vec<u32> = parameter.links.iter().map(|l| l.0 / 2).collect();
    pairs.dedup();
    if pairs.len() < 2 {
        return Vec::new();
    }
    let used = problem.fitted_links();
    let crossed = |link: u32| parameter.links.contains(&LinkId(link)) && used.binary_search(&LinkId(link)).is_ok();
    // A link may be in use in the direction alone that this parameter is not of.
    pairs.retain(|&pair| crossed(2 * pair) || crossed(2 * pair + 1));
    if pairs.len() > MOST_LINKS {
        return Vec::new();
    }
    let ways = |pair: u32| match (crossed(2 * pair), crossed(2 * pair + 1)) {
        (true, true) => vec![Direction::Both, Direction::Up, Direction::Down],
        (true, false) => vec![Direction::Up],
        _ => vec![Direction::Down],
    };
    let split = |pair: u32| ways(pair).into_iter().map(move |way| one_link(problem.machine, parameter, pair, way));
    pairs.into_iter().flat_map(split).collect()
}

/// A link of a parameter, or one direction of it, and the rest.
fn one_link(machine: &Machine, parameter: &Parameter, pair: u32, direction: Direction) -> [Parameter; 2] {
    let whole = parameter.name.trim_end_matches(ELSEWHERE);
    let own = |link: &LinkId| link.0 / 2 == pair && (direction == Direction::Both || link.0 % 2 == side(direction));
    let (own, others): (Vec<LinkId>, Vec<LinkId>) = parameter.links.iter().partition(|link| own(link));
    let way = match (direction, parameter.direction) {
        (Direction::Up, Direction::Both) => ", up",
        (Direction::Down, Direction::Both) => ", down",
        _ => "",
    };
    let name = format!("{whole} at {}{way}", below(machine, LinkId(2 * pair + side(direction))));
    let rest = format!("{whole}{ELSEWHERE}");
    [
        Parameter { name, links: own, of_type: None, direction, ..parameter.clone() },
        Parameter { name: rest, links: others, of_type: None, ..parameter.clone() },
    ]
}

/// What is left of the number of a directed link that is divided by 2.
fn side(direction: Direction) -> u32 {
    u32::from(direction == Direction::Down)
}

/// Solves with one parameter split; `None` where the data do not tell the parts apart, or leave no row over.
fn split(problem: &Problem<'_>, solved: &Solved, at: usize, parts: [Parameter; 2]) -> Result<Option<Split>, FitError> {
    let count = parts.len();
    if solved.parameters.len() + count > problem.rows() {
        return Ok(None);
    }
    let (mut parameters, mut start) = (solved.parameters.clone(), solved.at.clone());
    let value = start[at];
    parameters.splice(at..=at, parts);
    start.splice(at..=at, std::iter::repeat_n(value, count));
    let parts = at..at + count;
    // Where two types tie as the narrowest, the way down is seen from values further off only.
    let nearby = start::better_of(problem, &parameters, &start, &parts.clone().collect::<Vec<_>>())?;
    let mut finer = solve_from(problem, parameters.clone(), start.clone(), AGAIN)?;
    if nearby != start {
        let other = solve_from(problem, parameters, nearby, AGAIN)?;
        if other.squares < finer.squares {
            finer = other;
        }
    }
    if is_against_lone_copies(problem, solved, &finer, &finer.parameters[parts.start].links)? {
        return Ok(None);
    }
    let ahead = one_more_ahead(problem, solved, &finer)?;
    let determined = determined(problem, &finer, parts)?;
    Ok(determined.map(|determined| Split { solved: finer, determined, ahead }))
}

/// Whether copies that had a link for themselves fit clearly less well with a finer set.
fn is_against_lone_copies(
    problem: &Problem<'_>,
    solved: &Solved,
    finer: &Solved,
    links: &[LinkId],
) -> Result<bool, FitError> {
    let is_lone = |e: usize| problem.experiments[e].transfers.len() == 1 && problem.simulator.crossing(e, links) > 0;
    let lone: Vec<bool> = (0..problem.experiments.len()).map(is_lone).collect();
    let fitted: Vec<bool> = lone.iter().zip(problem.fitted).map(|(&lone, &fitted)| lone && fitted).collect();
    // The only one may be held out.
    let alone = Problem { fitted: if fitted.contains(&true) { &fitted } else { &lone }, ..*problem };
    let squares = |of: &Solved| alone.squares(&of.setting(problem, &of.at));
    let rows = alone.rows();
    Ok(rows > 0 && squares(finer)? > squares(solved)? + rows as f64 * LITTLE * LITTLE)
}

/// Whether the data determine all parts of a parameter; `None` unless they separate the parts from each other and at
/// least one of them from all else, by [`SHOWN`] experiments each. Others may be hidden behind narrower links, or tie with them.
fn determined(problem: &Problem<'_>, finer: &Solved, parts: Range<usize>) -> Result<Option<bool>, FitError> {
    let residuals = problem.all_residuals(&problem.setting(&finer.parameters, &finer.values()))?;
    let jacobian = problem.jacobian(&finer.parameters, &finer.at)?;
    if parts.clone().any(|part| (1..SHOWN).contains(&showing(problem, &jacobian, part))) {
        return Ok(None);
    }
    let found = certainty(&jacobian, &residuals);
    let of = |group: &Coupled| group.parameters.iter().filter(|i| parts.contains(i)).count();
    let alone = |i: usize| found.error[i].is_some() && found.coupled.iter().all(|t| !t.parameters.contains(&i));
    let apart = found.coupled.iter().all(|group| of(group) < 2) && parts.clone().any(alone);
    Ok(apart.then(|| parts.clone().all(alone)))
}

/// How many experiments depend on a parameter.
fn showing(problem: &Problem<'_>, jacobian: &DMatrix<f64>, parameter: usize) -> usize {
    let rows = problem.fitted_rows().enumerate().filter(|&(at, _)| jacobian[(at, parameter)].abs() > LEAST_COLUMN);
    let mut experiments: Vec<usize> = rows.map(|(_, row)| row.place().0).collect();
    experiments.dedup();
    experiments.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_whose_parts_are_determined_come_first() {
        let split = |determined, ahead| {
            let solved = Solved { parameters: vec![], at: vec![], zero: vec![], idle: vec![], squares: 0.0 };
            Split { solved, determined, ahead }
        };
        let better = |a: (bool, f64), b: (bool, f64)| split(a.0, a.1).better_than(&split(b.0, b.1));
        assert!(better((true, 7.0), (false, 9.0)) && !better((false, 9.0), (true, 7.0)));
        for determined in [false, true] {
            assert!(better((determined, 7.0 + 2.0 * ALIKE), (determined, 7.0)));
            // Of those that are alike the first stays.
            assert!(!better((determined, 7.0 + ALIKE / 2.0), (determined, 7.0)));
        }
    }
}
