//! A sweep as a page holds it: its points without what a picture does not show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schemas::Amount;
use crate::sweep::SweepJson;

/// Points of a sweep that a page holds; of more it holds the sums alone (*assumed*: 5000 take half a megabyte).
pub(super) const MOST_POINTS: usize = 5000;

/// A point as it is kept: the order that was found is left out.
#[derive(Deserialize, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Point {
    point: u64,
    baseline_s: Amount,
    best_s: Amount,
    proved_optimal: bool,
}

/// Leaves the points out where they are too many, and says how many there were.
pub(super) fn shorten(sweep: &mut SweepJson<'_, Point>) -> Option<usize> {
    let count = sweep.points.len();
    (count > MOST_POINTS).then(|| {
        sweep.points.clear();
        count
    })
}
