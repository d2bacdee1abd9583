//! Least squares from one place, with times that would be below 0 held at 0.

use super::bounded;
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
    /// Times that are held at 0.
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

    /// The parameters that rows depend on, but for those held at 0, and bandwidths that are wide open: many of them tie.
    pub(super) fn moving(&self, problem: &Problem<'_>) -> Result<Vec<usize>, FitError> {
        let jacobian = problem.jacobian(&self.parameters, &self.at)?;
        let wide = problem.wide() - CLOSE;
        let open = |i: usize| self.is_capacity(i) && self.at[i] >= wide;
        let moves = |&i: &usize| !self.zero[i] && !open(i) && jacobian.column(i).norm() > LEAST_COLUMN;
        Ok((0..self.at.len()).filter(moves).collect())
    }

    /// Moves some parameters to the least squares, with no time below 0; the others are part of what stays.
    fn descend(&mut self, problem: &Problem<'_>, moves: &[usize]) -> Result<(), FitError> {
        let base = self.setting(problem, &self.at);
        let problem = &Problem { base: &base, ..*problem };
        let from = self.at.clone();
        // The usual case, and the more precise end: nothing is in the way.
        if self.descend_freely(problem, moves)? && !self.would_rise(problem, moves)? {
            return Ok(());
        }
        self.at = from;
        let (moved, from) = self.part(moves);
        let found = bounded::solve(problem, &moved, &from)?;
        for (&i, u) in moves.iter().zip(found) {
            (self.at[i], self.zero[i]) = (u, self.parameters[i].kind.is_time() && u <= 0.0);
        }
        self.descend_freely(problem, moves)?;
        Ok(())
    }

    /// The same with the times that are held at 0 left there; whether no time would come out below 0 and rows fit no less well. Else
    /// nothing moves.
    fn descend_freely(&mut self, problem: &Problem<'_>, moves: &[usize]) -> Result<bool, FitError> {
        let free: Vec<usize> = moves.iter().copied().filter(|&i| !self.zero[i]).collect();
        let (moved, from) = self.part(&free);
        let found = problem.solve(&moved, &from)?;
        if moved.iter().zip(&found).any(|(parameter, &u)| parameter.kind.is_time() && u < 0.0) {
            return Ok(false);
        }
        let before = self.at.clone();
        free.iter().zip(found).for_each(|(&i, u)| self.at[i] = self.parameters[i].within_limits(u));
        let squares = |at: &[f64]| problem.squares(&self.setting(problem, at));
        if squares(&self.at)? <= squares(&before)? {
            return Ok(true);
        }
        self.at = before;
        Ok(false)
    }

    /// Whether a time that is held at 0 would rise: the squares fall with it.
    fn would_rise(&self, problem: &Problem<'_>, moves: &[usize]) -> Result<bool, FitError> {
        let held: Vec<usize> = moves.iter().copied().filter(|&i| self.zero[i]).collect();
        if held.is_empty() {
            return Ok(false);
        }
        let (parameters, at) = self.part(&held);
        let setting = self.setting(problem, &self.at);
        let problem = Problem { base: &setting, ..*problem };
        let gradient = bounded::gradient(&problem.jacobian(&parameters, &at)?, &problem.all_residuals(&setting)?);
        Ok((0..held.len()).any(|i| !bounded::is_held(&parameters[i], at[i], gradient[i])))
    }

    /// Some parameters with their coordinates.
    fn part(&self, places: &[usize]) -> (Vec<Parameter>, Vec<f64>) {
        places.iter().map(|&i| (self.parameters[i].clone(), self.at[i])).unzip()
    }

    /// The same with some coordinates given and others moved to make up for it; `None` where rows then fit less well.
    pub(super) fn with(
        &self,
        problem: &Problem<'_>,
        given: &[(usize, f64)],
        moves: &[usize],
    ) -> Result<Option<Self>, FitError> {
        let mut other = self.clone();
        for &(i, coordinate) in given {
            other.at[i] = coordinate;
            other.zero[i] = other.parameters[i].kind.is_time() && coordinate <= 0.0;
        }
        other.descend(problem, moves)?;
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

/// Solves from one place, to an end that is no worse. Goes on `again` times with parameters that it has uncovered.
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
        solved.descend(problem, &moves)?;
        let next = solved.moving(problem)?;
        // What was hidden behind something narrower may be the narrowest now.
        let uncovered = next.iter().any(|i| !moves.contains(i));
        moves = (0..solved.at.len()).filter(|i| solved.zero[*i] || next.contains(i)).collect();
        if !uncovered || again == 0 {
            break;
        }
        again -= 1;
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
