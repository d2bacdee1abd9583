//! The best order seen.

use serde::{Deserialize, Serialize};

/// The best order seen: least (makespan, number).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Best {
    /// Simulated time of the order, ps.
    pub makespan: u64,
    /// Number of the order.
    #[serde(with = "super::text")]
    pub number: u128,
}

/// The lesser of two, where there are two.
pub(crate) fn better(a: Option<Best>, b: Option<Best>) -> Option<Best> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
