//! Costs of all pairs of devices, as whole numbers.

use super::pattern::gcd;

/// A symmetric matrix of whole costs; the diagonal is 0 and never asked for.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Matrix {
    devices: usize,
    cost: Vec<u64>,
}

/// Fraction bits of real costs once the largest is scaled to 1: an error of 2⁻³³ of the largest cost at most, below the
/// 1e-9 within which a result is called proved.
const BITS: i32 = 32;

impl Matrix {
    /// A matrix from a function of pairs (a < b).
    pub(super) fn from_pairs<E>(
        devices: usize,
        mut cost: impl FnMut(usize, usize) -> Result<u64, E>,
    ) -> Result<Self, E> {
        let mut all = vec![0; devices * devices];
        for a in 0..devices {
            for b in a + 1..devices {
                let c = cost(a, b)?;
                (all[a * devices + b], all[b * devices + a]) = (c, c);
            }
        }
        Ok(Self { devices, cost: all })
    }

    /// Divides all costs, and the values that belong to them, by their greatest common divisor, and returns it.
    pub(super) fn reduce(&mut self, beside: &mut [u64]) -> u64 {
        let all = || self.cost.iter().chain(beside.iter());
        let common = all().fold(0, |g, &c| if g == 1 { 1 } else { gcd(g, u128::from(c)) }).max(1) as u64;
        if common > 1 {
            for c in self.cost.iter_mut().chain(beside) {
                *c /= common;
            }
        }
        common
    }

    pub(super) fn devices(&self) -> usize {
        self.devices
    }

    /// What a pair costs; 0 for a device and itself.
    pub(super) fn at(&self, a: usize, b: usize) -> u64 {
        self.cost[a * self.devices + b]
    }

    pub(super) fn largest(&self) -> u64 {
        self.cost.iter().copied().max().unwrap_or(0)
    }
}

/// Real costs as whole numbers, and what 1 stands for. Whole costs, and costs that are multiples of a power of two, are kept
/// without rounding unless they are too large.
pub(super) fn quantised(costs: &[f64]) -> (Vec<u64>, f64) {
    let largest = costs.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return (vec![0; costs.len()], 1.0);
    }
    // 2^top > largest ≥ 2^(top − 1); steps of 2^(top − BITS), or 1 where all costs are whole.
    let (_, top) = libm::frexp(largest);
    let whole = top <= BITS && costs.iter().all(|&c| libm::trunc(c) == c);
    let step = if whole { 1.0 } else { libm::ldexp(1.0, (top - BITS).max(-1000)) };
    let steps: Vec<u64> = costs.iter().map(|&c| libm::round(c / step) as u64).collect();
    let common = steps.iter().fold(0, |g, &c| if g == 1 { 1 } else { gcd(g, u128::from(c)) }).max(1) as u64;
    (steps.into_iter().map(|c| c / common).collect(), step * common as f64)
}
