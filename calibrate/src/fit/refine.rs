//! Finer parameters where the data ask for them: a type's bandwidth per direction, or of one link after the other.
//!
//! A finer set is taken when Schwarz's criterion n·ln(SSE/n) + p·ln n (*Estimating the dimension of a model*, Annals of
//! Statistics 6, 1978) falls by more than [`CLEARLY`], and the data tell the parts apart.

use std::ops::Range;

use weir_plugin_api::LinkId;
use weir_scenario::Machine;

use super::certainty::{Together, certainty};
use super::parameter::{Direction, Parameter, below};
use super::problem::Task;
use super::solve::{Solved, solve_from};
use super::{Choice, FitError, closest, start};

/// Fall of the criterion that counts: "very strong" evidence (Kass and Raftery, *Bayes Factors*, JASA 90, 1995).
const CLEARLY: f64 = 10.0;
/// Mean error below which nothing is left to explain; *assumed*, a tenth of what good measurements repeat to.
pub(super) const EXPLAINED: f64 = 1e-4;
/// Difference of the criterion between splits that are alike: the first is taken, that of the links nearest the devices.
const ALIKE: f64 = 1e-3;
/// Splits at most.
const ROUNDS: usize = 8;
/// Links that get parameters of their own at most; *assumed*.
const MOST_LINKS: usize = 64;

/// Times that the solution of a split goes on with what it has uncovered, such as the rest of a type behind a narrower
/// link; *assumed*.
const AGAIN: usize = 3;

/// The end of the name of what is left when single links are split off.
const ELSEWHERE: &str = ", elsewhere";

/// Splits parameters as long as it pays.
pub(super) fn refine(
    machine: &Machine,
    task: &Task<'_>,
    mut solved: Solved,
    choice: Choice,
) -> Result<Solved, FitError> {
    if choice == Choice::No {
        return Ok(solved);
    }
    let rows = task.rows();
    for _ in 0..ROUNDS {
        let worth = |squares: f64, parameters: usize| {
            let n = rows as f64;
            n * libm::log((squares / n).max(1e-300)) + parameters as f64 * libm::log(n)
        };
        if (solved.squares / rows as f64).sqrt() < EXPLAINED {
            break;
        }
        let now = worth(solved.squares, solved.parameters.len());
        // Splits whose parts are all determined come before others.
        let mut best: Option<((bool, f64), Solved)> = None;
        for at in closest::order(machine, &solved.parameters) {
            if closest::never_shared(machine, task, &solved.parameters)[at] {
                continue;
            }
            let mut ways = links(machine, task, &solved.parameters[at]);
            ways.push(directions(&solved.parameters[at]));
            for parts in ways {
                let Some((finer, determined)) = split(task, &solved, (at, parts), rows)? else { continue };
                let value = worth(finer.squares, finer.parameters.len());
                let better =
                    best.as_ref().is_none_or(|((unsure, least), _)| (!determined, value) < (*unsure, *least - ALIKE));
                if value < now - CLEARLY && better {
                    best = Some(((!determined, value), finer));
                }
            }
        }
        match best {
            Some((_, finer)) => solved = finer,
            None => break,
        }
    }
    Ok(solved)
}

/// A parameter in two: up and down.
fn directions(parameter: &Parameter) -> Vec<Parameter> {
    if parameter.direction != Direction::Both {
        return Vec::new();
    }
    let half = |direction, side: &str, down: u32| Parameter {
        name: format!("{}, {side}", parameter.name),
        links: parameter.links.iter().copied().filter(|l| l.0 % 2 == down).collect(),
        direction,
        ..parameter.clone()
    };
    vec![half(Direction::Up, "up", 0), half(Direction::Down, "down", 1)]
}

/// A parameter in two for each of its links in use: that link, or one direction of it, and the rest. A direction that no
/// fitted row crosses stays with the rest.
fn links(machine: &Machine, task: &Task<'_>, parameter: &Parameter) -> Vec<Vec<Parameter>> {
    let mut pairs: Vec<u32> = parameter.links.iter().map(|l| l.0 / 2).collect();
    pairs.dedup();
    let all = pairs.len();
    let used = task.fitted_links();
    pairs.retain(|&pair| used.iter().any(|l| l.0 / 2 == pair));
    if all < 2 || pairs.len() > MOST_LINKS {
        return Vec::new();
    }
    let whole = parameter.name.trim_end_matches(ELSEWHERE);
    let seen = |link: u32| parameter.links.contains(&LinkId(link)) && used.binary_search(&LinkId(link)).is_ok();
    let split = |(pair, direction): (u32, Direction)| {
        let own = |link: &LinkId| link.0 / 2 == pair && (direction == Direction::Both || link.0 % 2 == side(direction));
        let (own, others): (Vec<LinkId>, Vec<LinkId>) = parameter.links.iter().partition(|link| own(link));
        let way = match (direction, parameter.direction) {
            (Direction::Up, Direction::Both) => ", up",
            (Direction::Down, Direction::Both) => ", down",
            _ => "",
        };
        let name = format!("{whole} at {}{way}", below(machine, own[0]));
        let rest = format!("{whole}{ELSEWHERE}");
        vec![
            Parameter { name, links: own, of_type: None, direction, ..parameter.clone() },
            Parameter { name: rest, links: others, of_type: None, ..parameter.clone() },
        ]
    };
    let ways = |pair: u32| match (seen(2 * pair), seen(2 * pair + 1)) {
        (true, true) => vec![Direction::Both, Direction::Up, Direction::Down],
        (true, false) => vec![Direction::Up],
        _ => vec![Direction::Down],
    };
    pairs.into_iter().flat_map(|pair| ways(pair).into_iter().map(move |way| (pair, way))).map(split).collect()
}

/// What is left of the number of a directed link that is divided by 2.
fn side(direction: Direction) -> u32 {
    u32::from(direction == Direction::Down)
}

/// Solves with one parameter split, and says whether the data determine all parts; `None` where the data do not tell the parts apart, or leave no row over.
fn split(
    task: &Task<'_>,
    solved: &Solved,
    (at, parts): (usize, Vec<Parameter>),
    rows: usize,
) -> Result<Option<(Solved, bool)>, FitError> {
    if parts.len() < 2 || solved.parameters.len() + parts.len() > rows {
        return Ok(None);
    }
    let (mut parameters, mut start) = (solved.parameters.clone(), solved.at.clone());
    let value = start[at];
    let count = parts.len();
    parameters.splice(at..=at, parts);
    start.splice(at..=at, std::iter::repeat_n(value, count));
    let parts = at..at + count;
    // Where two types tie as the narrowest, the way down is seen from values further off only.
    let nearby = start::better_of(task, &parameters, &start, &parts.clone().collect::<Vec<_>>())?;
    let mut finer = solve_from(task, parameters.clone(), start.clone(), AGAIN)?;
    if nearby != start {
        let other = solve_from(task, parameters, nearby, AGAIN)?;
        if other.squares < finer.squares {
            finer = other;
        }
    }
    Ok(told_apart(task, &finer, parts)?.map(|determined| (finer, determined)))
}

/// Whether the data determine all parts of a parameter; `None` unless they tell the parts from each other and at least one
/// of them from all else. Others may be hidden behind narrower links, or tie with them.
fn told_apart(task: &Task<'_>, finer: &Solved, parts: Range<usize>) -> Result<Option<bool>, FitError> {
    let found = certainty(&task.jacobian(&finer.parameters, &finer.at)?, finer.squares);
    let of = |group: &Together| group.parameters.iter().filter(|i| parts.contains(i)).count();
    let alone = |i: usize| found.error[i].is_some() && found.together.iter().all(|t| !t.parameters.contains(&i));
    let apart = found.together.iter().all(|group| of(group) < 2) && parts.clone().any(alone);
    Ok(apart.then(|| parts.clone().all(alone)))
}
