//! What rows tell from one side only: that a value is no lower, but not how much higher it is.
//!
//! Where one link takes over from another as the narrowest, times have a bend, and a fit may end right there. Central differences
//! then show a slope, though rows change on one side of the bend only. Differences from values ahead alone do not show it: what
//! they do not see is free ahead, if rows stay the same after a step as well.

use nalgebra::DMatrix;

use super::certainty::{Coupled, LEAST_COLUMN, certainty};
use super::error::FitError;
use super::problem::Problem;
use super::solve::Solved;

/// Length of the step along which rows must stay the same, in ln B/s for bandwidths; *assumed*: logs have three digits.
const STEP: f64 = 1e-3;
/// Change of ln time per length of the step that is none; *assumed*, above what is left of it where times are no straight lines.
const SAME: f64 = 5e-3;

/// The changes ahead of the coordinates `at` that no row shows, of one bandwidth or of several parameters, which do not lie within
/// what is `known` to be coupled. Their directions point ahead.
pub(super) fn free(
    problem: &Problem<'_>,
    solved: &Solved,
    (at, central, residuals): (&[f64], &DMatrix<f64>, &[f64]),
    known: &[Coupled],
) -> Result<Vec<Coupled>, FitError> {
    let ahead = problem.jacobian_ahead(&solved.parameters, at)?;
    let flat = |&i: &usize| {
        let lengths = [central, &ahead].map(|jacobian| jacobian.column(i).norm());
        solved.is_capacity(i) && lengths[0] > LEAST_COLUMN && lengths[1] <= LEAST_COLUMN
    };
    let alone = |i: usize| {
        let direction = (0..at.len()).map(|other| f64::from(u8::from(other == i))).collect();
        Coupled { parameters: vec![i], direction, hardly: false }
    };
    let together = certainty(&ahead, residuals).coupled.into_iter().filter(|group| !group.hardly);
    let mut found = Vec::new();
    for group in (0..at.len()).filter(flat).map(alone).chain(together) {
        let within = |other: &Coupled| group.parameters.iter().all(|i| other.parameters.contains(i));
        if known.iter().any(within) {
            continue;
        }
        // Of several parameters either sense may be the one ahead; one bandwidth is free upwards, or it is not.
        let is_one = group.parameters.len() == 1;
        let back = Coupled { direction: group.direction.iter().map(|by| -by).collect(), ..group.clone() };
        for one in std::iter::once(group).chain((!is_one).then_some(back)) {
            let moved: Vec<f64> = at.iter().zip(&one.direction).map(|(at, by)| at + STEP * by).collect();
            let after = problem.all_residuals(&problem.setting_at(&solved.parameters, &moved))?;
            let change: f64 = after.iter().zip(residuals).map(|(after, before)| (after - before).powi(2)).sum();
            if change.sqrt() <= SAME * STEP {
                found.push(one);
                break;
            }
        }
    }
    Ok(found)
}
