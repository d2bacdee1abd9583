//! A sweep as a page holds it: its points without what a picture does not show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::PageError;
use crate::object::Object;

/// Points of a sweep that a page holds; of more it holds the sums alone (*assumed*: 5000 take half a megabyte).
pub(super) const MOST_POINTS: usize = 5000;

/// A point as it is kept: the order that was found is left out.
#[derive(Deserialize, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Point<'a> {
    point: u64,
    #[serde(borrow)]
    #[schemars(with = "f64")]
    baseline_s: &'a RawValue,
    #[serde(borrow)]
    #[schemars(with = "f64")]
    best_s: &'a RawValue,
    proved_optimal: bool,
}

/// A sweep for a page.
pub(super) struct Slim {
    pub(super) json: String,
    /// Points that it had, where they are too many for a page.
    pub(super) left_out: Option<usize>,
}

/// Leaves out what a page does not show.
pub(super) fn slim(object: &Object<'_>) -> Result<Slim, PageError> {
    let mut slim: Object<'_> = object.clone();
    let points = object.get("points").ok_or_else(|| PageError::lacks("points"))?;
    let mut points: Vec<Point<'_>> = serde_json::from_str(points.get())?;
    let left_out = (points.len() > MOST_POINTS).then_some(points.len());
    if left_out.is_some() {
        points.clear();
    }
    slim.set("points", &points)?;
    Ok(Slim { json: serde_json::to_string(&slim)?, left_out })
}
