//! The order in which each source sends its messages.
//!
//! ```text
//! Fabric, Routes, TaskGraph, arbiter ─► OrderProblem ─┬─► Enumeration ─► Part (shards, checkpoints) ─┐
//!                                                     ├─► branch_and_bound ─► Branched ──────────────┼─► Found
//!                                                     └─► anneal ─► Annealed ────────────────────────┘
//! ```
//!
//! All three run orders with one simulator ([`OrderProblem`] says of what) that has the arithmetic of the simulation: an
//! order that is found takes the same time in a run, to the picosecond. Rates are the arbiter's own, asked once per
//! active set. Results are the same on any number of threads.

mod anneal;
mod bounds;
mod exhaustive;
mod problem;
mod run;
mod strategy;

pub use anneal::{AnnealOptions, Annealed, ClassOrders, anneal};
pub use bounds::{BranchOptions, Branched, Rule, branch_and_bound, largest_potential, root_bound};
pub use exhaustive::{Enumeration, Part, Symmetry};
pub use problem::{MOST_MESSAGES, MakeArbiter, OrderError, OrderProblem, TaskRefusal};
pub use run::Best;
pub(crate) use run::plan::splitmix;
pub use strategy::{Found, Goal, Keeper, Order, OrderOptions, search, visits_all};
