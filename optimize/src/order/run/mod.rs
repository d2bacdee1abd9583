//! One run of one order, with the arithmetic of the simulation: what all methods share.
//!
//! ```text
//! OrderProblem ─► Plan (flat tables) ─┬─► State: instant by instant (tree) ─► makespan
//!              arbiter ─► Oracle ─► Rates: a table of all active sets, or a memo
//! ```

pub(super) mod best;
mod numbering;
pub(super) mod oracle;
pub(super) mod plan;
pub(super) mod rates;
pub(super) mod state;
pub(super) mod text;
pub(super) mod tree;

pub use best::Best;
