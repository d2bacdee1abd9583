//! Orders, placements and values together: every candidate is one of each, and what it is worth is asked of the caller, who
//! simulates it.
//!
//! ```text
//! Space ─► Candidate ─► Evaluate ─► value, the smaller the better
//!   │                      ▲
//!   ├─► visit_all ─────────┤   every candidate, by number
//!   └─► LocalSearch ───────┘   several chains of moves, seeded
//! ```
//!
//! Nothing is assumed of the values, so this serves whatever a scenario has: waits, computations, operations, links that
//! change. The searches beside it are faster where their conditions hold.

mod local;
mod space;
mod visit;

pub use local::LocalSearch;
pub use space::{Candidate, Space};
pub use visit::visit_all;

/// Says what candidates are worth.
pub trait Evaluate: Sync {
    /// What is kept from one candidate to the next on one thread, to be faster.
    type State: Send;
    /// Why a candidate has no value.
    type Error: Send;

    /// Nothing kept yet.
    fn start(&self) -> Self::State;

    /// The value of a candidate, smaller is better, infinite for what is never the best, such as a run that stops; it must not
    /// depend on the state. None for what is no candidate, as is quickly seen, such as an order that contradicts a wait.
    ///
    /// # Errors
    /// It cannot be evaluated, or was cut off.
    fn value(&self, state: &mut Self::State, candidate: &Candidate) -> Result<Option<f64>, Self::Error>;
}

/// What a search over a space found.
#[derive(Clone, PartialEq, Debug)]
pub struct JointFound {
    /// The best; of equal ones, that of the lowest number, or of the first chain.
    pub candidate: Candidate,
    /// Its value.
    pub value: f64,
    /// Different candidates that have a value.
    pub evaluated: u64,
    /// Whether every candidate of the space was tried.
    pub all: bool,
    /// Whether the search ended by itself.
    pub complete: bool,
}
