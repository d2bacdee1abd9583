//! Equal intervals of time, over which rates and counts are added up.

use serde::ser::{Serialize, SerializeSeq, Serializer};
use serde_json::value::RawValue;

/// Intervals of equal width from `from` to `to`, seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Bins {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) count: usize,
}

/// A part of a bin: its index, and how many seconds of it.
pub(super) type Part = (usize, f64);

impl Bins {
    /// Seconds of each.
    pub(super) fn width(&self) -> f64 {
        (self.to - self.from) / self.count as f64
    }

    /// The parts of bins that lie in [from, to]; outside of all bins there are none.
    pub(super) fn parts(&self, from: f64, to: f64) -> impl Iterator<Item = Part> + use<> {
        let (bins, width) = (*self, self.width());
        let (from, to) = (from.max(bins.from), to.min(bins.to));
        // Saturates: below the first bin is the first.
        let first = (((from - bins.from) / width) as usize).min(bins.count.saturating_sub(1));
        let edge = move |i: usize| if i == bins.count { bins.to } else { bins.from + i as f64 * width };
        (first..bins.count)
            .take_while(move |&i| i == first || edge(i) < to)
            .map(move |i| (i, edge(i + 1).min(to) - edge(i).max(from)))
            .filter(|&(_, seconds)| seconds > 0.0)
    }

    /// Adds a value that holds over these parts: the sums are values times seconds.
    pub(super) fn add(sums: &mut [f64], parts: impl IntoIterator<Item = Part>, value: f64) {
        for (i, seconds) in parts {
            sums[i] += value * seconds;
        }
    }
}

/// Numbers with four digits, as short as JSON has them: `1234e7` would be 12340000000.0 otherwise.
pub(super) struct Short<'a>(pub(super) &'a [f64]);

impl Serialize for Short<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(Some(self.0.len()))?;
        for &value in self.0 {
            let number = RawValue::from_string(short(value)).map_err(serde::ser::Error::custom)?;
            list.serialize_element(&number)?;
        }
        list.end()
    }
}

/// A number with four digits.
fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let exponential = format!("{value:.3e}");
    let rounded: f64 = exponential.parse().unwrap_or(value);
    let (plain, exponential) = (format!("{rounded}"), format!("{rounded:e}"));
    if plain.len() <= exponential.len() { plain } else { exponential }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_numbers_are_json_with_four_digits() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (3.2, "3.2"),
            (12_345_678_901.0, "1.235e10"),
            (1e10, "1e10"),
            (100.0, "100"),
            (1000.0, "1e3"),
            (0.000_123_46, "1.235e-4"),
            (1250.0, "1250"),
            (999_960.0, "1e6"),
            (-2.5, "-2.5"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
            let read: f64 = serde_json::from_str(text).expect("is JSON");
            assert!((read - value).abs() <= 5e-4 * value.abs());
        }
        assert_eq!(serde_json::to_string(&Short(&[1e12, 0.5])).expect("writes"), "[1e12,0.5]");
    }

    #[test]
    fn what_lies_outside_counts_nowhere() {
        let bins = Bins { from: 1.0, to: 2.0, count: 4 };
        let parts = |from, to| bins.parts(from, to).collect::<Vec<_>>();
        assert_eq!(parts(0.0, 0.5), []);
        assert_eq!(parts(2.5, 3.0), []);
        assert_eq!(parts(0.0, 1.125), [(0, 0.125)]);
        assert_eq!(parts(1.75, 9.0), [(3, 0.25)]);
        assert_eq!(parts(1.125, 1.625), [(0, 0.125), (1, 0.25), (2, 0.125)]);
    }

    proptest! {
        #[test]
        fn parts_of_an_interval_make_up_the_interval(from in 0.0..1e3_f64, span in 1e-12..1e3_f64, a in 0.0..1.0_f64, b in 0.0..1.0_f64, count in 1_usize..300) {
            let bins = Bins { from, to: from + span, count };
            let (begin, end) = (from + a.min(b) * span, from + a.max(b) * span);
            let parts: Vec<Part> = bins.parts(begin, end).collect();
            let sum: f64 = parts.iter().map(|part| part.1).sum();
            // Edges are rounded to the digits of the times themselves.
            prop_assert!((sum - (end - begin)).abs() <= 1e-12 * (from + span) * 4.0, "{sum} of {}", end - begin);
            prop_assert!(parts.iter().all(|&(i, seconds)| i < count && seconds <= bins.width() * (1.0 + 1e-9) + 1e-12 * (from + span)));
        }
    }
}
