//! A sweep as a page holds it: its points without what a picture does not show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::Name;
use crate::pairs::Pairs;
use crate::schemas::Amount;
use crate::sweep::SweepJson;

/// Points of a sweep that a page holds; of more it holds the sums alone (*assumed*: 5000 take half a megabyte).
pub(super) const MOST_POINTS: usize = 5000;

// What a page does not hold is read to be compared with the rest.
/// A point as it is kept: the order that was found is left out.
#[derive(Deserialize, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Point<'a> {
    pub(crate) point: u64,
    #[serde(borrow, skip_serializing)]
    #[schemars(skip)]
    pub(crate) parameters: Pairs<Name<'a>, Name<'a>>,
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub(crate) bound_s: Option<Amount>,
    pub(crate) baseline_s: Amount,
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub(crate) baseline_ps: u64,
    pub(crate) best_s: Amount,
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub(crate) best_ps: u64,
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub(crate) gain_percent: f64,
    pub(crate) proved_optimal: bool,
}

/// Leaves the points out where they are too many, and says how many there were.
pub(super) fn shorten(sweep: &mut SweepJson<'_, Point<'_>>) -> Option<usize> {
    let count = sweep.points.len();
    (count > MOST_POINTS).then(|| {
        sweep.points.clear();
        count
    })
}
