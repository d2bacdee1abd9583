//! Integers for levels, weights and clocks: sums of them are exact, so nothing drifts.
//!
//! A *level* is a rate per unit of weight, in units of 2^-k B/s. With k = 61 − ⌈log2 of the largest bandwidth⌉ every
//! bandwidth is below 2^61 units. A clock counts levels · ps: it says how many bytes a unit of weight has been given, in
//! units of 2^-k · 10^-12 bytes.

use weir_plugin_api::PS_PER_S;
pub(crate) use weir_plugin_api::{Level, NO_LEVEL as INF};

use crate::progress::{FORGIVEN_BITS, UNSURE_BITS};

/// Bits that a transfer may add to a clock: a clock reaches 2^124 in 100 days.
const END_BITS: u32 = 126;
/// The largest weight, after scaling to integers. More digits would eat the precision of levels.
const MOST_WEIGHT: f64 = 65_536.0;
/// Weights that are this close to a multiple of a fraction, relatively, are taken for it: a few units in the last place.
const SAME: f64 = 1e-14;
/// Coarsest level, relative to the narrowest link's least possible one; results are compared at 1e-9.
const PRECISION: f64 = 1e-10;

/// How bandwidths, limits and weights become integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    /// k: levels are multiples of 2^-k B/s.
    bits: u32,
    /// Weights times this are integers.
    weights: f64,
    /// Ticks of time per second. Clocks are exact in any; ends are whole ticks.
    ticks: u64,
}

impl Scale {
    /// The scale for links of `widest` B/s at most, transfers of `bytes` at most, and these weights; `None` where the
    /// numbers do not fit.
    pub(crate) fn new(widest: f64, bytes: u64, weights: &[f64]) -> Option<Self> {
        Self::ticking(PS_PER_S, widest, bytes, weights)
    }

    /// [`Self::new`] with so many ticks per second in the place of picoseconds.
    pub(super) fn ticking(ticks: u64, widest: f64, bytes: u64, weights: &[f64]) -> Option<Self> {
        let exponent = widest.log2().ceil() as i64;
        let needed = |number: u64| i64::from(64 - number.leading_zeros());
        let room = i64::from(END_BITS) - needed(ticks) - needed(bytes);
        let bits = u32::try_from((61 - exponent).min(room).min(61)).ok()?;
        Some(Self { bits, weights: common_factor(weights)?, ticks })
    }

    /// How many units make 1 B/s, as a power of two.
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// Whether a link of `narrowest` B/s can be divided among `weight` of transfers as exactly as results need it.
    pub(crate) fn is_fine_enough(&self, narrowest: f64, weight: f64) -> bool {
        weight * self.weights <= PRECISION * narrowest * self.unit()
    }

    /// A rate in units, rounded down.
    pub(crate) fn units(&self, rate: f64) -> u64 {
        // A float times a power of two is exact.
        (rate * self.unit()) as u64
    }

    /// A rate in B/s.
    pub(crate) fn rate(&self, units: u64) -> f64 {
        units as f64 / self.unit()
    }

    /// A weight as an integer.
    pub(crate) fn weight(&self, weight: f64) -> u32 {
        (weight * self.weights).round() as u32
    }

    /// How far the clock goes until a transfer of this weight is over.
    pub(crate) fn work(&self, bytes: u64, weight: u32) -> i128 {
        let total = self.total(bytes);
        if weight == 1 { total as i128 } else { total.div_ceil(u128::from(weight)) as i128 }
    }

    /// Whole bytes of a transfer that are not sent yet when its end is `left` ahead on the clock; a started byte counts.
    pub(crate) fn bytes_left(&self, left: i128, weight: u32) -> u64 {
        let units = left.max(0) as u128 * u128::from(weight);
        // What rounding the work up added is no byte.
        units.saturating_sub(u128::from(weight) - 1).div_ceil(self.total(1)) as u64
    }

    fn total(&self, bytes: u64) -> u128 {
        (u128::from(bytes) * u128::from(self.ticks)) << self.bits
    }

    fn unit(&self) -> f64 {
        (1_u64 << self.bits) as f64
    }
}

/// The smallest factor that makes all weights integers without a common divisor; `None` where they would be large.
fn common_factor(weights: &[f64]) -> Option<f64> {
    // Only their ratios count: 100000 and 200000 are 1 and 2.
    let unit = *weights.first()?;
    let weights: Vec<f64> = weights.iter().map(|weight| weight / unit).collect();
    let mut factor = 1.0;
    for &weight in &weights {
        let scaled = weight * factor;
        let times = (1..=MOST_WEIGHT as u32).map(f64::from).find(|times| {
            let value = scaled * times;
            (value - value.round()).abs() <= SAME * value && value >= 0.5
        })?;
        factor *= times;
        if weights.iter().any(|w| w * factor > MOST_WEIGHT) {
            return None;
        }
    }
    let divisor = weights.iter().fold(0, |d, &w| greatest_divisor((w * factor).round() as u64, d));
    Some(if divisor > 1 { factor / divisor as f64 / unit } else { factor / unit })
}

fn greatest_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// By how much the clock of a level may be behind the end of a transfer that has lasted `time` ps and counts as over: as much as
/// [`crate::time_to_send`] forgives, or what the clock may have lost since it began, as levels are rounded down by less than a unit;
/// half a picosecond at most.
pub(crate) fn forgiven(level: Level, time: u64) -> i128 {
    let unsure = (u128::from(level) * u128::from(time)) >> UNSURE_BITS;
    let forgiven = (u128::from(level >> FORGIVEN_BITS) + unsure).max(u128::from(time));
    forgiven.min(u128::from(level >> 1)) as i128
}

/// When a clock that shows `clock` at `now` ps and runs at `level` shows `end`, as far as [`forgiven`] of a transfer that has begun at
/// `start`, in whole picoseconds. `start` is asked for only where it matters.
pub(crate) fn time_of(end: i128, clock: i128, level: Level, now: u64, start: impl FnOnce() -> u64) -> u64 {
    let Ok(left) = u128::try_from(end - clock) else { return now };
    let whole = left / u128::from(level.max(1));
    let Ok(time) = u64::try_from(whole).map(|whole| now.saturating_add(whole)) else { return u64::MAX };
    let rest = (left - whole * u128::from(level.max(1))) as i128;
    if is_forgiven(rest, level, time, start) { time } else { time.saturating_add(1) }
}

/// Whether a clock that is `rest` behind an end counts as there at `now`.
pub(crate) fn is_forgiven(rest: i128, level: Level, now: u64, start: impl FnOnce() -> u64) -> bool {
    // Most are, or are not, whenever the transfer began.
    rest <= forgiven(level, 0) || rest <= forgiven(level, now) && rest <= forgiven(level, now.saturating_sub(start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_become_the_smallest_integers() {
        let of = |weights: &[f64]| {
            let scale = Scale::new(1e10, 1 << 20, weights)?;
            Some(weights.iter().map(|&w| scale.weight(w)).collect::<Vec<_>>())
        };
        assert_eq!(of(&[1.0, 2.0, 5.0]), Some(vec![1, 2, 5]));
        assert_eq!(of(&[0.1, 0.25, 4.0]), Some(vec![2, 5, 80]));
        assert_eq!(of(&[3.0]), Some(vec![1]));
        assert_eq!(of(&[1.0 / 3.0, 1.0]), Some(vec![1, 3]));
        assert_eq!(of(&[100_000.0, 200_000.0]), Some(vec![1, 2]));
        assert_eq!(of(&[1e-5, 1e-5]), Some(vec![1, 1]));
        assert_eq!(of(&[0.1, 0.3, 0.7]), Some(vec![1, 3, 7]));
        // 700.3 / 0.1 is 7003 but for a rounding.
        assert_eq!(of(&[0.1, 700.3]), Some(vec![1, 7003]));
        assert_eq!(of(&[1e6, 1e-3]), None);
        assert_eq!(of(&[std::f64::consts::PI, 1.0]), None);
    }

    #[test]
    fn the_largest_bandwidth_has_61_bits_unless_transfers_are_huge() {
        let scale = Scale::new(1.25e9, 10_000_000, &[1.0]).unwrap();
        assert_eq!(scale.bits, 30);
        assert_eq!(scale.units(1.25e9), 1_250_000_000 << 30);
        assert_eq!(scale.rate(scale.units(1.25e9)), 1.25e9);
        assert_eq!(Scale::new(1.0, 1 << 53, &[1.0]).unwrap().bits, 32);
        assert_eq!(Scale::new(1e30, 1, &[1.0]), None);
    }

    #[test]
    fn bytes_and_clocks_are_inverse_and_a_started_byte_is_left() {
        let scale = Scale::new(1e10, 1 << 30, &[1.0, 3.0]).unwrap();
        for bytes in [1, 7, 1_000_000_007] {
            for weight in [1, 3] {
                let work = scale.work(bytes, weight);
                assert_eq!(scale.bytes_left(work - 1, weight), bytes);
                assert_eq!(scale.bytes_left(work - scale.work(1, weight), weight), bytes - 1);
                assert_eq!(scale.bytes_left(work, weight), bytes);
                // No transfer is over before its last byte, nor later than it must be.
                let (total, weight) = (scale.work(bytes, 1), i128::from(weight));
                assert!(work * weight >= total && (work - 1) * weight < total);
            }
        }
    }

    #[test]
    fn rounded_shares_do_not_cost_a_picosecond() {
        let scale = Scale::new(1e9, 1 << 20, &[1.0]).unwrap();
        // 1000 bytes at a third of 1 GB/s take 3 µs, though the share is rounded down.
        let share = scale.units(1e9) / 3;
        assert_eq!(time_of(scale.work(1000, 1), 0, share, 0, || 0), 3_000_000);
        assert_eq!(time_of(5, 5, share, 7, || 0), 7);
    }

    #[test]
    fn a_clock_is_forgiven_what_it_may_have_lost_since_the_transfer_began() {
        let (level, rest, later): (Level, i128, u64) = (1 << 40, 1 << 35, 1 << 36);
        assert!(rest > forgiven(level, 0) && rest <= forgiven(level, later));
        assert_eq!(time_of(rest, 0, level, later, || 0), later);
        assert_eq!(time_of(rest, 0, level, later, || later - 5), later + 1);
    }
}
