//! How much less a short row counts than a long one.
//!
//! A measured time varies by a part of itself, and by some µs whatever its length: when a copy begins, and when a clock is
//! read. So the variance of ln(time) is a² · (1 + (s/t)²) for a row of t seconds, and a row has the weight
//! 1 / √(1 + (s/t)²). Without it, the noise of short rows hides what the long ones tell.
//!
//! s is that of the greatest likelihood for the residuals of a fit, normal and independent; the fit is then made again, until
//! s stays (Carroll and Ruppert, *Transformation and Weighting in Regression*, 1988, ch. 3: variance functions, estimated
//! from residuals in turn with the fit). A wrong model of short copies looks the same, and the long ones are fitted without it.

use super::criterion::CLEARLY;
use super::error::FitError;
use super::parameter::ParameterKind;
use super::problem::{EXPLAINED, Problem};
use super::solve::Solved;
use crate::text::quantity;

/// Factor between two values of s that are tried; *assumed*, a weight changes by 5 % at most.
const STEP: f64 = 1.05;
/// The least s that is tried, as a part of the shortest row; *assumed*, below it no weight is under 0.995.
const LEAST: f64 = 0.1;

/// How often a fit is made again; *assumed*.
pub(super) const ROUNDS: usize = 4;
/// Factor between two values of s that weigh rows alike; *assumed*, far below what residuals tell of s.
const ALIKE: f64 = 1.5;

/// The weight of a row of `seconds`, where times vary by as much as rates in rows of `even` seconds: from 0 to 1.
pub(crate) fn weight(even: f64, seconds: f64) -> f64 {
    1.0 / libm::hypot(1.0, even / seconds)
}

/// The seconds at which a row varies as much by its start as by its rate; 0 where the residuals of a fit do not clearly show
/// that short rows vary more. Those of the fit itself where that leaves nothing to explain.
pub(super) fn even(problem: &Problem<'_>, solved: &Solved) -> Result<f64, FitError> {
    if problem.root_mean_square(solved.squares) < EXPLAINED {
        return Ok(problem.even);
    }
    let equal = Problem { even: 0.0, ..*problem };
    let residuals = equal.all_residuals(&solved.setting(problem, &solved.at))?;
    let rows: Vec<(f64, f64)> = equal.fitted_rows().map(|row| row.seconds).zip(residuals).collect();
    Ok(most_likely(&rows))
}

/// Whether two values of s weigh rows alike.
pub(super) fn alike(a: f64, b: f64) -> bool {
    a <= b * ALIKE && b <= a * ALIKE
}

/// For a person: that short rows count less.
pub(super) fn note(problem: &Problem<'_>) -> Option<String> {
    let text = |even| {
        format!(
            "rows shorter than about {} count less: their errors are larger, by chance or because the model does not describe small \
             copies",
            quantity(ParameterKind::Latency, even)
        )
    };
    (problem.even > 0.0).then(|| text(problem.even))
}

/// The likeliest s of rows, each with its seconds and its residual; 0 where it is not clearly likelier than none.
fn most_likely(rows: &[(f64, f64)]) -> f64 {
    let seconds = || rows.iter().map(|&(seconds, _)| seconds);
    let (least, most) = (seconds().fold(f64::INFINITY, f64::min) * LEAST, seconds().fold(0.0, f64::max));
    let tried = std::iter::successors(Some(least), |even| Some(even * STEP)).take_while(|even| *even <= most);
    let none = deviance(rows, 0.0);
    let found = tried.map(|even| (deviance(rows, even), even)).min_by(|a, b| a.0.total_cmp(&b.0));
    // One parameter more, as in Schwarz's criterion.
    let enough = none - CLEARLY - libm::log(rows.len() as f64);
    found.filter(|(deviance, _)| *deviance < enough).map_or(0.0, |(_, even)| even)
}

/// −2 ln of the likelihood, with the most likely a, but for a constant.
fn deviance(rows: &[(f64, f64)], even: f64) -> f64 {
    let (mut squares, mut logarithms) = (0.0, 0.0);
    for &(seconds, residual) in rows {
        let weight = weight(even, seconds);
        squares += (residual * weight).powi(2);
        logarithms += libm::log(weight);
    }
    let count = rows.len() as f64;
    count * libm::log(squares / count) - 2.0 * logarithms
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Residuals that are normal enough: sums of twelve uniform numbers, by a linear congruence.
    fn rows(rate: f64, start: f64) -> Vec<(f64, f64)> {
        let mut state = 7_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let seconds = (0..120).map(|i| 5e-6 * 1.07_f64.powi(i));
        seconds.map(|t| (t, rate * normal() + start / t * normal())).collect()
    }

    /// Within a factor of 1.5, whichever is the larger; of two that are 0 as well.
    #[test]
    fn values_are_alike_within_a_factor() {
        for (a, b, expected) in [
            (1.0, 1.4, true),
            (1.4, 1.0, true),
            (1.0, 1.6, false),
            (1.6, 1.0, false),
            (0.0, 0.0, true),
            (0.0, 1.0, false),
        ] {
            assert_eq!(alike(a, b), expected, "{a}, {b}");
        }
    }

    #[test]
    fn the_seconds_are_found_again() {
        // 1 % and 1 µs: even at 100 µs.
        let found = most_likely(&rows(0.01, 1e-6));
        assert!((5e-5..2e-4).contains(&found), "{found}");
    }

    #[test]
    fn rows_that_vary_alike_count_alike() {
        assert_eq!(most_likely(&rows(0.01, 0.0)), 0.0);
        assert_eq!(most_likely(&rows(0.01, 0.0)[..3]), 0.0);
        assert_eq!(most_likely(&[(1.0, 0.1)]), 0.0);
        assert_eq!(most_likely(&[(1.0, 0.0), (2.0, 0.0)]), 0.0);
        assert_eq!(most_likely(&[]), 0.0);
    }

    #[test]
    fn weights() {
        assert_eq!(weight(0.0, 1e-6), 1.0);
        assert!((weight(3e-6, 4e-6) - 0.8).abs() < 1e-12);
    }
}
