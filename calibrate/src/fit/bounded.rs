//! Least squares with times of 0 or above: steps of Levenberg and Marquardt's method in the coordinates that are free, cut off at 0.
//!
//! A time at 0 is held there while the squares would grow as it leaves 0, and is free again as soon as they would fall: the signs
//! of the gradient say which (Bertsekas, *SIAM J. Control Optim.* 20, 1982). Steps that do not lower the squares are damped
//! further, in the end to the direction of the gradient, along which the squares fall also where it is cut off (Kanzow, Yamashita
//! and Fukushima, *Journal of Computational and Applied Mathematics* 172, 2004). So the end is never worse than the start.

use nalgebra::{DMatrix, DVector};

use super::certainty::LEAST_COLUMN;
use super::error::FitError;
use super::outcome::Known;
use super::parameter::Parameter;
use super::problem::Problem;

/// Damping of the first step, as a part of the curvature of each coordinate (Marquardt, *J. SIAM* 11, 1963: 0.01).
const DAMPING: f64 = 0.01;
/// Factor of the damping after a step that lowered the squares, and its inverse after one that did not (the same source).
const FACTOR: f64 = 10.0;
/// Dampings that are tried for one step; *assumed*: beyond 10^18 a step is below the precision of f64.
const TRIES: usize = 20;
/// How near the end of its range a parameter is at it, as a part of the range; *assumed*: a solver that may not go beyond stops short
/// of it.
const NEAR: f64 = 0.01;
/// Steps at most; *assumed*, fits of the tests take fewer than 60.
const STEPS: usize = 200;
/// Relative fall of the squares below which the search ends; *assumed*, far below what rounding of logs does to them.
const ENOUGH: f64 = 1e-12;

/// A place with its sum of squares.
struct Place {
    at: Vec<f64>,
    squares: f64,
}

/// The least squares near `start`, with no time below 0.
pub(super) fn solve(problem: &Problem<'_>, parameters: &[Parameter], start: &[f64]) -> Result<Vec<f64>, FitError> {
    let at: Vec<f64> = parameters.iter().zip(start).map(|(p, &u)| within(p, u)).collect();
    let mut place = Place { squares: problem.squares(&problem.setting_at(parameters, &at))?, at };
    let mut damping = DAMPING;
    for _ in 0..STEPS {
        let Some(next) = step(problem, parameters, &place, &mut damping)? else { break };
        let fell = place.squares - next.squares;
        place = next;
        if fell <= ENOUGH * place.squares {
            break;
        }
    }
    Ok(place.at)
}

/// The nearest coordinate that a parameter may have.
pub(super) fn within(parameter: &Parameter, coordinate: f64) -> f64 {
    let least = if parameter.kind.is_time() { 0.0 } else { f64::NEG_INFINITY };
    parameter.within_limits(coordinate).max(least)
}

/// Whether a time at 0 would go below: the squares grow with it.
pub(super) fn is_held(parameter: &Parameter, coordinate: f64, gradient: f64) -> bool {
    parameter.kind.is_time() && coordinate <= 0.0 && gradient >= 0.0
}

/// At which end of its range a parameter of the arbiter, or one that may be orders of magnitude off, is held: the squares fall beyond
/// it. Bandwidths are none of these: no row depends on one that is too wide.
pub(super) fn end(problem: &Problem<'_>, parameter: &Parameter, coordinate: f64, gradient: f64) -> Option<Known> {
    let reach = || (parameter.kind.is_log() && !parameter.kind.is_capacity()).then(|| problem.reach(parameter));
    let [least, most] = parameter.limits().or_else(reach)?;
    let near = NEAR * (most - least);
    match gradient {
        g if g > 0.0 && coordinate <= least + near => Some(Known::AtLeast),
        g if g < 0.0 && coordinate >= most - near => Some(Known::AtMost),
        _ => None,
    }
}

/// Half the derivatives of the squares, from those of the residuals.
pub(super) fn gradient(jacobian: &DMatrix<f64>, residuals: &[f64]) -> DVector<f64> {
    jacobian.tr_mul(&DVector::from_column_slice(residuals))
}

/// A place with lower squares; `None` where no step leads to one.
fn step(
    problem: &Problem<'_>,
    parameters: &[Parameter],
    from: &Place,
    damping: &mut f64,
) -> Result<Option<Place>, FitError> {
    let jacobian = problem.jacobian(parameters, &from.at)?;
    let residuals = problem.all_residuals(&problem.setting_at(parameters, &from.at))?;
    let gradient = gradient(&jacobian, &residuals);
    let is_free =
        |&i: &usize| jacobian.column(i).norm() > LEAST_COLUMN && !is_held(&parameters[i], from.at[i], gradient[i]);
    let free: Vec<usize> = (0..from.at.len()).filter(is_free).collect();
    let (columns, downhill) = (jacobian.select_columns(&free), -gradient.select_rows(&free));
    let curvature = columns.tr_mul(&columns);
    for _ in 0..TRIES {
        let mut damped = curvature.clone();
        (0..free.len()).for_each(|i| damped[(i, i)] *= 1.0 + *damping);
        if let Some(found) = damped.cholesky().map(|factors| factors.solve(&downhill)) {
            let mut at = from.at.clone();
            free.iter().zip(found.iter()).for_each(|(&i, by)| at[i] = within(&parameters[i], at[i] + by));
            let squares = squares(problem, parameters, &at);
            if squares < from.squares {
                *damping /= FACTOR;
                return Ok(Some(Place { at, squares }));
            }
        }
        *damping *= FACTOR;
    }
    Ok(None)
}

/// The sum of squares; without end where a step goes too far, or to what cannot be simulated.
fn squares(problem: &Problem<'_>, parameters: &[Parameter], at: &[f64]) -> f64 {
    let values: Vec<f64> = parameters.iter().zip(at).map(|(p, &u)| p.value(u)).collect();
    if values.iter().zip(parameters).all(|(&value, p)| problem.in_reach(p, value)) {
        problem.squares(&problem.setting(parameters, &values)).unwrap_or(f64::INFINITY)
    } else {
        f64::INFINITY
    }
}
