//! Measured times over sizes.
//!
//! Sizes that were measured have their times. Between two of them the time is interpolated linearly if that was said
//! (or by default, for a curve), outside them extrapolated from the two nearest if that was said; else the size is
//! refused.

use weir_plugin_api::CallError;

use crate::operation::refused;
use crate::quantities::{Sample, size};

/// A size, and its time in ps.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Point {
    bytes: u64,
    time: f64,
}

/// Points by ascending size.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Samples {
    /// `read.table`, `network.curve`: begins every refusal.
    key: String,
    points: Vec<Point>,
    interpolate: bool,
    extrapolate: bool,
}

impl Samples {
    /// Checks the rows: at least one, sizes ascending, none twice.
    pub(crate) fn new(key: String, rows: &[Sample], interpolate: bool, extrapolate: bool) -> Result<Self, CallError> {
        if rows.is_empty() {
            return Err(refused(format!("{key}: there is no row; give sizes and times")));
        }
        let points: Vec<Point> = rows.iter().map(|(bytes, time)| Point { bytes: bytes.0, time: time.0 }).collect();
        if let Some(at) = points.windows(2).position(|pair| pair[0].bytes >= pair[1].bytes) {
            let (before, after) = (size(points[at].bytes), size(points[at + 1].bytes));
            let how =
                if before == after { "stands there twice; keep one" } else { "is not in order; sort the rows by size" };
            return Err(refused(format!("{key}[{}]: {after} {how}", at + 1)));
        }
        if extrapolate && points.len() < 2 {
            return Err(refused(format!("{key}: `extrapolate: linear` needs two rows or more")));
        }
        Ok(Self { key, points, interpolate, extrapolate })
    }

    /// The time of a size, ps.
    pub(crate) fn time(&self, bytes: u64) -> Result<f64, CallError> {
        let at = match self.points.binary_search_by_key(&bytes, |point| point.bytes) {
            Ok(exact) => return Ok(self.points[exact].time),
            Err(at) => at,
        };
        let inside = at > 0 && at < self.points.len();
        if !(if inside { self.interpolate } else { self.extrapolate }) {
            return Err(self.missing(bytes, inside));
        }
        let left = at.saturating_sub(1).min(self.points.len() - 2);
        let time = line(self.points[left], self.points[left + 1], bytes);
        if time >= 0.0 {
            return Ok(time);
        }
        Err(refused(format!("{}: the time extrapolated for {} is below 0; add a row for it", self.key, size(bytes))))
    }

    fn missing(&self, bytes: u64, inside: bool) -> CallError {
        let (first, last) = (self.points[0].bytes, self.points[self.points.len() - 1].bytes);
        let remedy = match (inside, self.points.len()) {
            (true, _) => "a row, or say `interpolate: linear`",
            (false, 1) => "a row",
            (false, _) => "a row, or say `extrapolate: linear`",
        };
        let range = if first == last { size(first) } else { format!("{} to {}", size(first), size(last)) };
        refused(format!("{}: there is no time for {} (rows: {range}); add {remedy}", self.key, size(bytes)))
    }
}

/// The straight line through two points.
fn line(a: Point, b: Point, bytes: u64) -> f64 {
    let slope = (b.time - a.time) / (b.bytes as f64 - a.bytes as f64);
    a.time + slope * (bytes as f64 - a.bytes as f64)
}
