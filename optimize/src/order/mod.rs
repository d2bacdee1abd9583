//! The order in which each source sends its messages.
//!
//! ```text
//! Fabric, Routes, TaskGraph, arbiter ─► OrderProblem ─┬─► Enumeration ─► Part (shards, checkpoints) ─┐
//!                                                     ├─► branch_and_bound ─► Branched ──────────────┼─► SearchResult
//!                                                     └─► anneal ─► Annealed ────────────────────────┘
//! ```
//!
//! All three run orders with one simulator ([`OrderProblem`] says of what) that has the arithmetic of the simulation: an
//! order that is found takes the same time in a run, to the picosecond. Rates are the arbiter's own, asked once per
//! active set. Results are the same on any number of threads.

mod anneal;
mod bounds;
mod branch;
mod candidates;
mod chain;
mod classes;
mod compact;
mod digest;
mod exhaustive;
mod lanes;
mod masks;
mod method;
mod pace;
mod part;
mod plan;
mod problem;
mod rates;
mod refusal;
mod shapes;
mod stages;
mod state;
mod symmetry;
mod tally;
mod text;
mod tree;
mod units;

pub use anneal::{AnnealOptions, Annealed, anneal};
pub use bounds::{Capacities, largest_potential, root_bound};
pub use branch::{BranchOptions, Branched, Rule, branch_and_bound};
pub use classes::ClassOrders;
pub use exhaustive::Enumeration;
pub use method::{MOST_VISITED, Order, OrderOptions, from_part, of_workload, search};
pub use part::Part;
pub use problem::{MOST_MESSAGES, MOST_SOURCES, MakeArbiter, OrderProblem};
pub use refusal::{OrderError, TaskRefusal};
pub use symmetry::Symmetry;
pub use tally::{Best, Tally};
