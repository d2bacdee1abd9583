//! What a run would save if one link, or the memory of one node, were wider.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run would save if both directions of one link, or the memory of one node, carried more.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[non_exhaustive]
pub struct Widening {
    /// The node farther from the root, or the first of a lateral link; the node whose memory it is.
    pub from: String,
    /// The other node of the link; of a memory the same node.
    pub to: String,
    /// How many times as much it carried.
    pub times: f64,
    /// By how much earlier everything has ended then, seconds; 0 where it ends no earlier.
    pub saved_s: f64,
    /// By how much earlier transfers end, seconds, added up; below 0 where they end later.
    pub sum_saved_s: f64,
}

impl Widening {
    /// Of the link between two nodes, or the memory of one given twice, as many `times` as wide.
    #[must_use]
    pub fn new(from: impl Into<String>, to: impl Into<String>, times: f64, saved_s: f64, sum_saved_s: f64) -> Self {
        Self { from: from.into(), to: to.into(), times, saved_s, sum_saved_s }
    }
}
