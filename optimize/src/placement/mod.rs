//! Placement: which device each rank gets, so that heavy traffic stays close (Faraji, Mirsadeghi, Afsahi, "Topology-Aware GPU
//! Selection on Multi-GPU Nodes", AsHES 2016).
//!
//! ```text
//! Pattern (weights of pairs of ranks) ─┐            ┌ tree, ≤ 16 ranks ─► dynamic programming, proved
//!                                      ├─► search ─┼ ≤ 10^7 placements ─► each of them, proved
//! Machine (costs of pairs of devices) ─┘            └ else ─► multilevel bisection, exchanges, several starts
//! ```
//!
//! The objective is Σ weight · cost over the undirected edges {u, v} of the pattern, with the cost of the devices of u and v;
//! smaller is better. Searches add weights and whole costs exactly, and real costs (bandwidth ratios, measurements) in steps of
//! 2⁻³⁰ of the smallest positive one, so that a proof holds within 1e-9 of the best; its objective is that of the costs
//! themselves. Nothing is proved where costs are more than 10^12 times apart. The baseline puts rank i on device i.
//!
//! Ties: exact search gives the lexicographically smallest of all best placements; otherwise the smallest of those found.

mod bisect;
mod by_cost;
mod coarsen;
mod cut;
mod error;
mod every;
mod exact;
mod heuristic;
mod machine;
mod matrix;
mod number;
mod pattern;
mod payback;
mod problem;
mod refine;
mod shape;
mod similar;
mod start;
mod tree;

pub use by_cost::{Options, Placement, objective, search};
pub use error::PlacementError;
pub use heuristic::Effort;
pub use machine::{MOST_DEVICES, Machine, Measured};
pub use pattern::Pattern;
pub use payback::payback;
