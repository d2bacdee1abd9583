//! Quantities for a person: three decimals and the unit that fits; times for programs.

use weir_plugin_api::{PS_PER_S, SimDuration, SimTime};

/// Units of time, smallest first, in ps.
const TIME: [(u64, &str); 4] = [(1_000, "ns"), (1_000_000, "µs"), (1_000_000_000, "ms"), (PS_PER_S, "s")];

/// A span: `66.502 ms`; halves are rounded up.
#[must_use]
pub fn duration(span: SimDuration) -> String {
    match span.0 {
        0 => return "0 s".to_owned(),
        1..1_000 => return format!("{} ps", span.0),
        _ => {}
    }
    // The unit is chosen after rounding, so that 999.9996 µs prints as 1.000 ms.
    let thousandths = |unit: u64| (u128::from(span.0) * 1000 + u128::from(unit) / 2) / u128::from(unit);
    let fits = |&&(unit, _): &&(u64, &str)| unit == PS_PER_S || thousandths(unit) < 1_000_000;
    let (unit, name) = TIME.iter().find(fits).copied().unwrap_or((PS_PER_S, "s"));
    let value = thousandths(unit);
    format!("{}.{:03} {name}", value / 1000, value % 1000)
}

/// A point of time: `66.502 ms`, or `–` for what has not happened.
#[must_use]
pub fn instant(time: SimTime) -> String {
    if time.is_never() { "–".to_owned() } else { duration(SimDuration(time.0)) }
}

/// Seconds; none for what has not happened.
pub(crate) fn seconds(time: SimTime) -> Option<f64> {
    (!time.is_never()).then(|| time.seconds())
}

/// Picoseconds, as [`seconds`].
pub(crate) fn picoseconds(time: SimTime) -> Option<u64> {
    (!time.is_never()).then_some(time.0)
}

/// A rate: `4.511 GB/s`.
#[must_use]
pub fn rate(bytes_per_s: f64) -> String {
    let (unit, name) = rate_unit(bytes_per_s);
    format!("{:.3} {name}", bytes_per_s / unit)
}

/// The unit in which [`rate`] has a rate: its bytes per second, and its name.
#[must_use]
pub fn rate_unit(bytes_per_s: f64) -> (f64, &'static str) {
    let mut chosen = (1.0, "B/s");
    for unit in [(1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")] {
        if (bytes_per_s / unit.0 * 1e3).round() >= 1e3 {
            chosen = unit;
        }
    }
    chosen
}

/// An amount: `300 MB`, at most three decimals.
#[must_use]
pub fn bytes(amount: u64) -> String {
    let mut chosen = (1_u64, "B");
    for unit in [(1_000, "kB"), (1_000_000, "MB"), (1_000_000_000, "GB"), (1_000_000_000_000, "TB")] {
        if amount >= unit.0 {
            chosen = unit;
        }
    }
    let text = format!("{:.3}", amount as f64 / chosen.0 as f64);
    format!("{} {}", text.trim_end_matches('0').trim_end_matches('.'), chosen.1)
}

/// An amount by powers of 1024 where it is a whole number of them, as scenarios write it: `512KiB`, `1000B`.
#[must_use]
pub fn binary_bytes(amount: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut value, mut at) = (amount, 0);
    while value >= 1024 && value % 1024 == 0 && at + 1 < units.len() {
        (value, at) = (value / 1024, at + 1);
    }
    format!("{value}{}", units[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_choose_their_unit_after_rounding() {
        let text = |ps| duration(SimDuration(ps));
        assert_eq!(text(0), "0 s");
        assert_eq!(text(7), "7 ps");
        assert_eq!(text(999), "999 ps");
        assert_eq!(text(1_000), "1.000 ns");
        assert_eq!(text(66_502_463_055), "66.502 ms");
        assert_eq!(text(999_999_500), "1.000 ms");
        assert_eq!(text(999_999_499), "999.999 µs");
        assert_eq!(text(90 * 1_000_000_000_000), "90.000 s");
        assert_eq!(instant(SimTime::NEVER), "–");
    }

    #[test]
    fn rates_and_amounts_are_decimal() {
        assert_eq!(rate(4.511e9), "4.511 GB/s");
        assert_eq!(rate(0.0), "0.000 B/s");
        assert_eq!(rate(999_999.9), "1.000 MB/s");
        assert_eq!(bytes(300_000_000), "300 MB");
        assert_eq!(bytes(1_536), "1.536 kB");
        assert_eq!(bytes(1), "1 B");
    }

    #[test]
    fn sizes_of_packets_are_binary_where_that_is_exact() {
        let texts = [0, 1, 1000, 1024, 1536, 512 << 10, 32 << 20, 3 << 50, 1 << 60].map(binary_bytes);
        assert_eq!(texts, ["0B", "1B", "1000B", "1KiB", "1536B", "512KiB", "32MiB", "3PiB", "1024PiB"]);
    }
}
