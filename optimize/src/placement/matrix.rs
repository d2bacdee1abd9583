//! Costs of all pairs of devices, as whole numbers.

use super::pattern::gcd;

/// A symmetric matrix of whole costs; the diagonal is 0 and never asked for.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Matrix {
    devices: usize,
    cost: Vec<u128>,
}

/// Steps that the smallest positive cost has at least: 2^30, so that costs are within 2⁻³¹ of what they are, and sums too. The
/// sums of two placements that are equal in steps then differ by 2⁻³⁰ < 1e-9, within which a result is called proved.
const SMALLEST_BITS: i32 = 30;

/// Steps that the largest cost has at most: 2^72, with which costs may differ by 2^41 > 10^12, and weights of 2^52 fit the
/// widest integers. *Assumed* to be enough.
const LARGEST_BITS: i32 = 72;

impl Matrix {
    /// A matrix from a function of pairs (a < b).
    pub(super) fn from_pairs<E>(
        devices: usize,
        mut cost: impl FnMut(usize, usize) -> Result<u128, E>,
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

    /// Divides all costs, and the values that belong to them, by their greatest common divisor.
    pub(super) fn reduce(&mut self, beside: &mut [u128]) {
        let common = common(self.cost.iter().chain(beside.iter()));
        self.cost.iter_mut().chain(beside).for_each(|c| *c /= common);
    }

    pub(super) fn devices(&self) -> usize {
        self.devices
    }

    /// What a pair costs; 0 for a device and itself.
    pub(super) fn at(&self, a: usize, b: usize) -> u128 {
        self.cost[a * self.devices + b]
    }

    pub(super) fn largest(&self) -> u128 {
        self.cost.iter().copied().max().unwrap_or(0)
    }
}

/// The greatest number that divides all; 1 of none.
fn common<'a>(all: impl Iterator<Item = &'a u128>) -> u128 {
    all.fold(0, |g, &c| if g == 1 { 1 } else { gcd(g, c) }).max(1)
}

/// Real costs as whole numbers.
pub(super) struct Steps {
    pub(super) cost: Vec<u128>,
    /// What 1 stands for.
    pub(super) step: f64,
    /// The largest error of a cost relative to it.
    pub(super) error: f64,
}

/// Whole costs, and costs that are multiples of a power of two, are kept without rounding unless they are too far apart.
pub(super) fn quantised(costs: &[f64]) -> Steps {
    let positive = || costs.iter().copied().filter(|&c| c > 0.0);
    let (smallest, largest) = positive().fold((f64::INFINITY, 0.0), |(s, l), c| (c.min(s), c.max(l)));
    if largest == 0.0 {
        return Steps { cost: vec![0; costs.len()], step: 1.0, error: 0.0 };
    }
    // 2^top > largest ≥ 2^(top − 1), and so with the smallest.
    let ((_, bottom), (_, top)) = (libm::frexp(smallest), libm::frexp(largest));
    let whole = top <= LARGEST_BITS && costs.iter().all(|&c| libm::trunc(c) == c);
    let finest = (bottom - 1 - SMALLEST_BITS).max(top - LARGEST_BITS).max(-1000);
    let step = if whole { 1.0 } else { libm::ldexp(1.0, finest) };
    let cost: Vec<u128> = costs.iter().map(|&c| libm::round(c / step) as u128).collect();
    let error = |(&steps, &c): (&u128, &f64)| if c > 0.0 { (steps as f64 * step / c - 1.0).abs() } else { 0.0 };
    let error = cost.iter().zip(costs).map(error).fold(0.0, f64::max);
    let common = common(cost.iter());
    Steps { cost: cost.into_iter().map(|c| c / common).collect(), step: step * common as f64, error }
}
