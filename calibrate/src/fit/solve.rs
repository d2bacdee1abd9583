//! Least squares from one place, with times that would be below 0 fixed at 0.

use ordered_float::OrderedFloat;

use super::certainty::LEAST_COLUMN;
use super::error::FitError;
use super::parameter::{Parameter, Setting};
use super::problem::Problem;

/// Relative error of a row that is nothing but rounding; *assumed*, logs have fewer digits.
const ROUNDED: f64 = 1e-8;
/// How near the least bandwidth that limits no row is found, in ln B/s.
const CLOSE: f64 = 1e-4;

/// Parameters at the values with the least squares.
#[derive(Clone)]
pub(super) struct Solved {
    pub(super) parameters: Vec<Parameter>,
    /// The coordinate of each parameter, in the unit of [`Parameter::coordinate`].
    pub(super) at: Vec<f64>,
    /// Times that are fixed at 0.
    pub(super) zero: Vec<bool>,
    /// Parameters that no row depends on; known at the end.
    pub(super) idle: Vec<bool>,
    pub(super) squares: f64,
}

impl Solved {
    /// The values of the coordinates; what stands at its start has that value to the last bit.
    pub(super) fn values(&self) -> Vec<f64> {
        let value = |(p, &u): (&Parameter, &f64)| if u == p.coordinate(p.start) { p.start } else { p.value(u) };
        self.parameters.iter().zip(&self.at).map(value).collect()
    }

    /// What these parameters set at the coordinates `at`.
    pub(super) fn setting(&self, problem: &Problem<'_>, at: &[f64]) -> Setting {
        problem.setting_at(&self.parameters, at)
    }

    pub(super) fn is_capacity(&self, parameter: usize) -> bool {
        self.parameters[parameter].kind.is_capacity()
    }

    /// The parameters that rows depend on, but for those fixed at 0, and bandwidths that are wide open: many of them tie.
    pub(super) fn moving(&self, problem: &Problem<'_>) -> Result<Vec<usize>, FitError> {
        let jacobian = problem.jacobian(&self.parameters, &self.at)?;
        let wide = problem.wide() - CLOSE;
        let open = |i: usize| self.is_capacity(i) && self.at[i] >= wide;
        let moves = |&i: &usize| !self.zero[i] && !open(i) && jacobian.column(i).norm() > LEAST_COLUMN;
        Ok((0..self.at.len()).filter(moves).collect())
    }

    /// Moves some parameters to the least squares; the others are part of what stays. Where times come out below 0, fixes the
    /// lowest at 0 and moves nothing else; whether it did so. Times that rows do not tell apart may go far, one up and one
    /// down, and from there nothing leads back.
    fn descend(&mut self, problem: &Problem<'_>, moves: &[usize]) -> Result<bool, FitError> {
        let base = self.setting(problem, &self.at);
        let moved: Vec<Parameter> = moves.iter().map(|&i| self.parameters[i].clone()).collect();
        let from: Vec<f64> = moves.iter().map(|&i| self.at[i]).collect();
        let found = Problem { base: &base, ..*problem }.solve(&moved, &from)?;
        let below = moves.iter().zip(&found).filter(|&(&i, &u)| self.parameters[i].kind.is_time() && u < 0.0);
        if let Some((&lowest, _)) = below.min_by_key(|(_, u)| OrderedFloat(**u)) {
            (self.at[lowest], self.zero[lowest]) = (0.0, true);
            return Ok(true);
        }
        moves.iter().zip(found).for_each(|(&i, u)| self.at[i] = self.parameters[i].within_limits(u));
        Ok(false)
    }

    /// The same with some coordinates given and others moved to make up for it; `None` where rows then fit less well.
    pub(super) fn with(
        &self,
        problem: &Problem<'_>,
        given: &[(usize, f64)],
        moves: &[usize],
    ) -> Result<Option<Self>, FitError> {
        let mut other = self.clone();
        given.iter().for_each(|&(i, coordinate)| other.at[i] = coordinate);
        let mut moves = moves.to_vec();
        while other.descend(problem, &moves)? {
            moves.retain(|&i| !other.zero[i]);
        }
        other.squares = problem.squares(&other.setting(problem, &other.at))?;
        Ok((other.squares <= self.squares * 1.0001 + slack(problem)).then_some(other))
    }

    /// Whether no row changes with one bandwidth wide open beside those that no row depends on: at the rate that a transfer
    /// has anyway, a bandwidth slows it when it falls, and does nothing when it rises.
    fn is_needless(&self, problem: &Problem<'_>, parameter: usize) -> Result<bool, FitError> {
        let mut other = self.clone();
        (0..self.at.len()).filter(|&i| self.idle[i] && self.is_capacity(i)).for_each(|i| other.at[i] = problem.wide());
        other.limits_none(problem, parameter, problem.wide())
    }

    /// Whether no row is slower with one parameter at a coordinate, where it then stays.
    fn limits_none(&mut self, problem: &Problem<'_>, parameter: usize, coordinate: f64) -> Result<bool, FitError> {
        self.at[parameter] = coordinate;
        let squares = problem.squares(&problem.setting(&self.parameters, &self.values()))?;
        Ok(squares <= self.squares * 1.0001 + slack(problem))
    }
}

/// Squares of residuals that are nothing but rounding.
fn slack(problem: &Problem<'_>) -> f64 {
    problem.rows() as f64 * ROUNDED * ROUNDED
}

/// Solves from one place. Times that would be below 0 are fixed at 0, one by one, and the rest is solved again. Goes on
/// `again` times with parameters that it has uncovered.
pub(super) fn solve_from(
    problem: &Problem<'_>,
    parameters: Vec<Parameter>,
    start: Vec<f64>,
    mut again: usize,
) -> Result<Solved, FitError> {
    let none = vec![false; parameters.len()];
    let mut solved = Solved { parameters, at: start, zero: none.clone(), idle: none, squares: f64::NAN };
    let mut moves = solved.moving(problem)?;
    loop {
        let fixed = solved.descend(problem, &moves)?;
        let next = solved.moving(problem)?;
        // What was hidden behind something narrower may be the narrowest now.
        let uncovered = next.iter().any(|i| !moves.contains(i));
        moves = next;
        if !(fixed || uncovered && again > 0) {
            break;
        }
        again -= usize::from(!fixed);
    }
    solved.squares = problem.squares(&solved.setting(problem, &solved.at))?;
    Ok(solved)
}

/// Puts what no row depends on back to where it was, if that limits no row; a bandwidth otherwise to the least that
/// limits none.
pub(super) fn unseen_restored(problem: &Problem<'_>, mut solved: Solved) -> Result<Solved, FitError> {
    let jacobian = problem.jacobian(&solved.parameters, &solved.at)?;
    solved.idle = (0..solved.at.len()).map(|i| jacobian.column(i).norm() <= LEAST_COLUMN).collect();
    for i in 0..solved.at.len() {
        solved.idle[i] = solved.idle[i] || solved.is_capacity(i) && solved.is_needless(problem, i)?;
    }
    let idle: Vec<usize> = (0..solved.at.len()).filter(|&i| solved.idle[i]).collect();
    for i in idle {
        let (found, was) = (solved.at[i], solved.parameters[i].coordinate(solved.parameters[i].start));
        if solved.limits_none(problem, i, was)? {
            continue;
        }
        if found <= was || !solved.is_capacity(i) {
            solved.at[i] = found;
            continue;
        }
        let (mut low, mut high) = (was, found);
        while high - low > CLOSE {
            let middle = f64::midpoint(low, high);
            *(if solved.limits_none(problem, i, middle)? { &mut high } else { &mut low }) = middle;
        }
        solved.at[i] = high;
    }
    Ok(solved)
}
