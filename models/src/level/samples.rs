//! Measured times over sizes.
//!
//! Sizes that were measured have their times. Between two of them the time is interpolated linearly if that was said
//! (or by default, for a curve), outside them extrapolated from the two nearest if that was said; else the size is
//! refused.

use weir_plugin_api::ModelError;

use crate::operation::refused;
use crate::quantities::{Sample, size};

/// Sizes in bytes, ascending, and times in ps.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Samples {
    /// `read.table`, `network.curve`: begins every refusal.
    key: String,
    points: Vec<(u64, f64)>,
    interpolate: bool,
    extrapolate: bool,
}

impl Samples {
    /// Checks the rows: at least one, sizes ascending, none twice.
    pub(crate) fn new(key: String, rows: &[Sample], interpolate: bool, extrapolate: bool) -> Result<Self, ModelError> {
        if rows.is_empty() {
            return Err(refused(format!("{key}: there is no row; give sizes and times")));
        }
        let points: Vec<(u64, f64)> = rows.iter().map(|(bytes, time)| (bytes.0, time.0)).collect();
        if let Some(at) = points.windows(2).position(|pair| pair[0].0 >= pair[1].0) {
            let (before, after) = (size(points[at].0), size(points[at + 1].0));
            let how =
                if before == after { "stands there twice; keep one" } else { "is not in order; sort the rows by size" };
            return Err(refused(format!("{key}: row {} of the sizes: {after} {how}", at + 2)));
        }
        if extrapolate && points.len() < 2 {
            return Err(refused(format!("{key}: `extrapolate: linear` needs two rows or more")));
        }
        Ok(Self { key, points, interpolate, extrapolate })
    }

    /// The time of a size, ps.
    pub(crate) fn time(&self, bytes: u64) -> Result<f64, ModelError> {
        let at = match self.points.binary_search_by_key(&bytes, |&(b, _)| b) {
            Ok(exact) => return Ok(self.points[exact].1),
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

    fn missing(&self, bytes: u64, inside: bool) -> ModelError {
        let (first, last) = (self.points[0].0, self.points[self.points.len() - 1].0);
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
fn line(a: (u64, f64), b: (u64, f64), bytes: u64) -> f64 {
    let slope = (b.1 - a.1) / (b.0 as f64 - a.0 as f64);
    a.1 + slope * (bytes as f64 - a.0 as f64)
}
