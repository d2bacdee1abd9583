//! Searches for the best send order, placement of ranks, or values of parameters.
//!
//! ```text
//! order       a permutation of each source's messages    exhaustive, branch and bound, annealing
//! placement   rank ─► device                             exact, bisection, by costs of pairs of devices
//! parameters  a grid of values                           every candidate
//! sweep       an order search at each point of a grid
//! joint       any of these together, each simulated      every candidate, local search
//! ```
//!
//! Nothing here knows of scenarios: the caller passes fabrics, task graphs and closures.

#[cfg(test)]
extern crate self as weir_optimize;

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;

mod compact;
mod distribution;
pub mod joint;
pub mod order;
pub mod parameters;
pub mod placement;
mod problem;
pub mod search;
pub mod sweep;
pub mod text;

pub use distribution::Distribution;
pub use weir_digest::{DigestedLine, check_digest, with_digest};

/// Picoseconds per second; exact.
const PS_PER_S: f64 = weir_sim_core::api::PS_PER_S as f64;
