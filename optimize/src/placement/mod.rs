//! Placement: which device each rank gets, so that heavy traffic stays close (Faraji, Mirsadeghi, Afsahi, "Topology-Aware GPU
//! Selection on Multi-GPU Nodes", AsHES 2016).
//!
//! ```text
//! Pattern (weights of pairs of ranks) ─┐             tree, ≤ 16 ranks ─► exact search, proved
//!                                      ├─► search ─┤
//! Machine (costs of pairs of devices) ─┘             else ─► multilevel bisection, exchanges, several starts
//! ```
//!
//! The objective is Σ weight · cost over the undirected edges {u, v} of the pattern, with the cost of the devices of u and v;
//! smaller is better. Weights and whole costs are added exactly; real costs (bandwidth ratios, measurements) are taken in
//! steps of 2⁻³² of the largest, so that a proof holds within 1e-9 of it. The baseline puts rank i on device i.
//!
//! Ties: exact search gives the lexicographically smallest of all best placements; otherwise the smallest of those found.

mod bisect;
mod by_cost;
mod coarsen;
mod cut;
mod error;
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
