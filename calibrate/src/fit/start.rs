//! Where a fit begins: at the topology's values, and at others nearby that fit better.
//!
//! A link that is never the narrowest at its written bandwidth has no derivative there, so values are tried one
//! parameter after the other before derivatives are followed.

use ordered_float::OrderedFloat;

use super::error::FitError;
use super::parameter::{Parameter, ParameterKind};
use super::problem::{Problem, throughputs};
use super::shared;

/// Factors on a bandwidth, or time per byte, that are tried (*assumed*: generations of PCIe differ by factors of 2).
const FACTORS: [f64; 11] = [0.125, 0.25, 0.5, 0.71, 0.85, 0.95, 1.05, 1.18, 1.41, 2.0, 4.0];
/// Times that are tried, seconds (*assumed*: from links on a board to networks).
const TIMES: [f64; 5] = [1e-7, 5e-7, 2e-6, 1e-5, 5e-5];
/// Parts of the range of a parameter of the arbiter that are tried (*assumed*).
const PARTS: [f64; 4] = [0.04, 0.2, 0.4, 0.7];
/// Ratio of throughputs that count as one; *assumed*.
const NEAR: f64 = 1.03;
/// Throughputs that are tried at most; *assumed*.
const MOST_LEVELS: usize = 32;
/// How often all parameters are tried.
const ROUNDS: usize = 2;

/// The coordinates to begin at, `own` first; those of `free` are changed.
pub(super) fn starts(
    problem: &Problem<'_>,
    parameters: &[Parameter],
    own: Vec<f64>,
    free: &[usize],
) -> Result<Vec<Vec<f64>>, FitError> {
    let at = better_of(problem, parameters, &own, free)?;
    Ok(if at == own { vec![own] } else { vec![own, at] })
}

/// Coordinates that fit better than `from`, one parameter of `free` changed after the other; `from` itself where none
/// does.
pub(super) fn better_of(
    problem: &Problem<'_>,
    parameters: &[Parameter],
    from: &[f64],
    free: &[usize],
) -> Result<Vec<f64>, FitError> {
    let mut at = from.to_vec();
    let squares = |at: &[f64]| problem.squares(&problem.setting_at(parameters, at));
    let all = levels(throughputs(problem.experiments));
    // Of a shared bandwidth the sums alone: no single rate is its.
    let levels: Vec<Vec<f64>> = free
        .iter()
        .map(|&i| match levels(shared::sums(problem, &parameters[i])) {
            sums if parameters[i].kind == ParameterKind::Shared => sums,
            sums => [&all[..], &sums].concat(),
        })
        .collect();
    let mut least = squares(&at)?;
    for _ in 0..ROUNDS {
        for (&i, levels) in free.iter().zip(&levels) {
            let (parameter, mut chosen) = (&parameters[i], at[i]);
            for value in tried(problem, parameter, parameter.value(at[i]), levels) {
                at[i] = parameter.coordinate(value);
                // What cannot be simulated fits worse than anything.
                let found = squares(&at).unwrap_or(f64::INFINITY);
                if found < least * 0.99 {
                    (least, chosen) = (found, at[i]);
                }
            }
            at[i] = chosen;
        }
    }
    Ok(at)
}

/// Throughputs, but for near equals; of many, some from lowest to highest.
fn levels(mut all: Vec<f64>) -> Vec<f64> {
    all.sort_by_key(|&level| OrderedFloat(level));
    all.dedup_by(|a, b| *a < *b * NEAR);
    let step = all.len().div_ceil(MOST_LEVELS).max(1);
    all.into_iter().rev().step_by(step).collect()
}

/// The values to try in the place of `value`.
fn tried(problem: &Problem<'_>, parameter: &Parameter, value: f64, levels: &[f64]) -> Vec<f64> {
    let factors = FACTORS.iter().map(|factor| factor * value);
    let mut all: Vec<f64> = match parameter.kind {
        ParameterKind::Arbiter => parameter.marked.as_ref().map_or(Vec::new(), |marked| marked.at(PARTS).to_vec()),
        kind if kind.is_capacity() => factors.chain(levels.iter().copied()).collect(),
        kind if kind.is_log() => factors.collect(),
        _ => TIMES.iter().copied().chain(factors).collect(),
    };
    all.retain(|&value| problem.in_reach(parameter, value));
    all
}
