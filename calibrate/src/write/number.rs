//! Numbers as topologies write them.

use crate::fit::parameter::picoseconds;

/// A number with nine significant digits.
pub(super) fn rounded(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

/// The same as text, without zeros at its end.
pub(super) fn digits(value: f64) -> String {
    rounded(value).to_string()
}

pub(super) fn bandwidth(value: f64) -> String {
    format!("{}GB/s", digits(value / 1e9))
}

pub(super) fn time(seconds: f64) -> String {
    let ps = picoseconds(seconds).0;
    format!("{}ns", ps as f64 / 1000.0)
}
