//! The axis of time of a picture.

use crate::draw::svg::{Anchor, Svg};

/// Ink of the lines at round times.
const TICK: &str = "#dde3e9";
/// Round times on an axis, about (*assumed*: their names do not touch).
const TICKS: f64 = 5.0;

/// Times from left to right.
pub(super) struct Scale {
    pub(super) from_s: f64,
    pub(super) to_s: f64,
    pub(super) left: f64,
    pub(super) width: f64,
}

impl Scale {
    /// The place of a time, which stays within the axis.
    pub(super) fn x(&self, time: f64) -> f64 {
        let span = self.to_s - self.from_s;
        let part = if span > 0.0 { (time - self.from_s) / span } else { 0.0 };
        self.left + self.width * part.clamp(0.0, 1.0)
    }

    /// Lines at round times from `top` to `bottom`, with their names below.
    pub(super) fn draw(&self, svg: &mut Svg, top: f64, bottom: f64) {
        let (unit, name) = unit(self.to_s);
        for time in self.ticks() {
            let x = self.x(time);
            svg.line((x, top), (x, bottom), TICK);
            svg.text((x, bottom + 16.0), Anchor::Middle, true, &format!("{} {name}", rounded(time / unit)));
        }
    }

    /// Multiples of 1, 2 or 5 times a power of ten.
    fn ticks(&self) -> Vec<f64> {
        let span = self.to_s - self.from_s;
        // Also false of what is no number.
        if !(span > 0.0 && span.is_finite()) {
            return vec![self.from_s];
        }
        let rough = span / TICKS;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&step| step >= rough).unwrap_or(rough);
        let first = (self.from_s / step).ceil();
        (0..=2 * TICKS as usize).map(|i| (first + i as f64) * step).take_while(|&t| t <= self.to_s).collect()
    }
}

/// The largest unit of time that is not above a time, seconds, and its name.
fn unit(time: f64) -> (f64, &'static str) {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    units.into_iter().find(|&(unit, _)| time >= unit).unwrap_or((1e-12, "ps"))
}

/// Without the digits that only say how numbers are kept.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        let ticks = |from_s, to_s| Scale { from_s, to_s, left: 0.0, width: 100.0 }.ticks();
        assert_eq!(ticks(0.0, 0.0665), [0.0, 0.02, 0.04, 0.06]);
        assert_eq!(ticks(3.0, 8.0), [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(ticks(2.0, 2.0), [2.0]);
        assert_eq!(ticks(0.0, f64::INFINITY), [0.0]);
        assert_eq!([1.0, 1e-3, 1e-6, 1e-9].map(|time| unit(time).1), ["s", "ms", "µs", "ns"]);
        assert_eq!((unit(0.0665), unit(1e-13), rounded(0.1 + 0.2)), ((1e-3, "ms"), (1e-12, "ps"), 0.3));
    }
}
