//! Bytes and rate become time, and time becomes bytes, here and nowhere else.

use weir_plugin_api::{HORIZON, PS_PER_S, SimDuration};

/// Picoseconds per second as a float; exact.
const PS: f64 = PS_PER_S as f64;

/// What rounding an end up forgives, 2^-10 ps: rates are rounded, and 3 µs must not become 3 µs + 1 ps. Clocks of incremental runs
/// forgive as much, so that both ways end transfers at the same picosecond.
pub(crate) const FORGIVEN_BITS: u32 = 10;

/// And 2^-48 of the time that a transfer lasts: floats do not tell the last digits of a long time (*assumed*: an arbiter and this
/// module are off by less than 32 units in the last place).
pub(crate) const UNSURE_BITS: u32 = 48;

/// Rounds `ps`, the time left to a transfer that has `lasted` as many, up to whole picoseconds, after forgiving 2^-10 ps and 2^-48 of
/// both, half a picosecond at most.
#[inline]
fn whole(ps: f64, lasted: f64) -> f64 {
    const FORGIVEN: f64 = 1.0 / (1_u64 << FORGIVEN_BITS) as f64;
    const UNSURE: f64 = 1.0 / (1_u64 << UNSURE_BITS) as f64;
    // Large floats are whole numbers, from which nothing can be taken away.
    (ps - (FORGIVEN + (lasted + ps) * UNSURE).min(0.5)).ceil().max(ps.floor())
}

/// The time to send `remaining` bytes at `rate` bytes per second, of a transfer that has `lasted` so long: ⌈remaining / rate⌉ in whole
/// picoseconds, where 2^-10 ps and 2^-48 of the whole time are forgiven. [`SimDuration::FOREVER`] at rate 0 and beyond the horizon.
#[inline]
#[must_use]
pub fn time_to_send(remaining: f64, rate: f64, lasted: SimDuration) -> SimDuration {
    // Multiplied first: bytes · 10^12 is exact for the round sizes people write, so 1 GB at 1 GB/s is 1 s to the ps.
    let ps = whole(remaining * PS / rate, lasted.0 as f64);
    // Also false for NaN (0 bytes at rate 0).
    if ps <= HORIZON.0 as f64 { SimDuration(ps.max(0.0) as u64) } else { SimDuration::FOREVER }
}

/// What is left of `remaining` bytes after `span` at `rate` bytes per second; at least 0.
#[inline]
#[must_use]
pub fn remaining_after(remaining: f64, rate: f64, span: SimDuration) -> f64 {
    (remaining - rate * span.0 as f64 / PS).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_sizes_take_round_times() {
        assert_eq!(time_to_send(1e9, 1e9, SimDuration::ZERO), SimDuration(PS_PER_S));
        assert_eq!(time_to_send(3e6, 1e9, SimDuration::ZERO), SimDuration(3_000_000_000));
        // 300 MB at 11.6 GB/s = 25862068965.517 ps, rounded up.
        assert_eq!(time_to_send(3e8, 11.6e9, SimDuration::ZERO), SimDuration(25_862_068_966));
        // A third of 1 GB/s is no float, and 1000 s have no digits behind the picosecond.
        assert_eq!(time_to_send(1e3, 1e9 / 3.0, SimDuration::ZERO), SimDuration(3_000_000));
        assert_eq!(time_to_send(1e12, 1e9, SimDuration::ZERO), SimDuration(1000 * PS_PER_S));
        assert_eq!(time_to_send(1e16, 2e9, SimDuration::ZERO), SimDuration(5_000_000 * PS_PER_S));
        assert_eq!(time_to_send(1.0, 1e13, SimDuration::ZERO), SimDuration(1));
    }

    #[test]
    fn nothing_left_takes_no_time_and_no_rate_takes_for_ever() {
        assert_eq!(time_to_send(0.0, 1.0, SimDuration::ZERO), SimDuration::ZERO);
        assert_eq!(time_to_send(1.0, 0.0, SimDuration::ZERO), SimDuration::FOREVER);
        assert_eq!(time_to_send(0.0, 0.0, SimDuration::ZERO), SimDuration::FOREVER);
        // 100 days at 1 B/s is 8,640,000 bytes; one more is beyond the horizon.
        assert_eq!(time_to_send(8_640_000.0, 1.0, SimDuration::ZERO), SimDuration(HORIZON.0));
        assert_eq!(time_to_send(8_640_001.0, 1.0, SimDuration::ZERO), SimDuration::FOREVER);
    }

    #[test]
    fn progress_never_goes_below_zero() {
        assert_eq!(remaining_after(10.0, 1e9, SimDuration(PS_PER_S)), 0.0);
        assert_eq!(remaining_after(3e8, 1e8, SimDuration(PS_PER_S)), 2e8);
    }
}
