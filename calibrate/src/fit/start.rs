//! Where a fit begins: at the topology's values, and at others nearby that fit better.
//!
//! A link that is never the narrowest at its written bandwidth has no derivative there, so values are tried one
//! parameter after the other before derivatives are followed.

use super::FitError;
use super::parameter::{Kind, Parameter};
use super::problem::Task;

/// Factors on a bandwidth, or time per byte, that are tried (*assumed*: generations of PCIe differ by factors of 2).
const FACTORS: [f64; 7] = [0.125, 0.25, 0.5, 0.71, 1.41, 2.0, 4.0];
/// Times that are tried, seconds (*assumed*: from links on a board to networks).
const TIMES: [f64; 5] = [1e-7, 5e-7, 2e-6, 1e-5, 5e-5];
/// Values of tau that are tried.
const TAUS: [f64; 4] = [0.02, 0.1, 0.2, 0.35];
/// Rounds over all parameters.
const ROUNDS: usize = 2;

/// The coordinates to begin at, the topology's own first.
pub(super) fn starts(task: &Task<'_>, parameters: &[Parameter]) -> Result<Vec<Vec<f64>>, FitError> {
    let own: Vec<f64> = parameters.iter().map(|p| p.coordinate(p.start)).collect();
    let mut at = own.clone();
    let squares = |at: &[f64]| {
        let values: Vec<f64> = parameters.iter().zip(at).map(|(p, &u)| p.value(u)).collect();
        task.squares(&task.setting(parameters, &values))
    };
    let mut least = squares(&at)?;
    for _ in 0..ROUNDS {
        for (i, parameter) in parameters.iter().enumerate() {
            let before = at[i];
            let mut chosen = before;
            for value in tried(parameter, parameter.value(before)) {
                at[i] = parameter.coordinate(value);
                let found = squares(&at)?;
                if found < least * 0.99 {
                    (least, chosen) = (found, at[i]);
                }
            }
            at[i] = chosen;
        }
    }
    Ok(if at == own { vec![own] } else { vec![own, at] })
}

fn tried(parameter: &Parameter, value: f64) -> Vec<f64> {
    match parameter.kind {
        Kind::Tau => TAUS.to_vec(),
        kind if kind.is_log() => FACTORS.iter().map(|factor| factor * value).collect(),
        _ => TIMES.to_vec(),
    }
}
