//! What annealing is asked, and what it answers.

use std::time::Duration;

use weir_sim_core::TaskId;

use super::classes::ClassOrders;

/// A chain stops this close to the bound.
pub(super) const CLOSE: f64 = 1e-9;

/// How long to search, and from where.
#[derive(Clone, Default, Debug)]
pub struct AnnealOptions {
    /// Orders to try in each chain; of no effect with a time.
    pub evaluations: u64,
    /// How long the whole search may take; a few runs may follow it. Two searches need not find the same.
    pub time: Option<Duration>,
    /// Independent chains of other random numbers; one per thread or more, and two at least, as one may be stuck.
    pub chains: u64,
    /// Of all random numbers.
    pub seed: u64,
    /// Classes to begin with, by turns; none for the workload's own and random orders.
    pub classes: Vec<ClassOrders>,
}

/// The best order of all chains, and how good it can be at most.
#[derive(Clone, PartialEq, Debug)]
pub struct Annealed {
    /// Per source its transfers in the order they are sent.
    pub order: Vec<Vec<TaskId>>,
    /// Makespan of `order`, ps.
    pub makespan: u64,
    /// Makespan of the workload's own order, ps.
    pub baseline: u64,
    /// No order is faster than this, ps.
    pub bound: f64,
    /// Orders tried by all chains, those that were cut off early included.
    pub evaluated: u64,
    /// Whether all evaluations were done, or the bound was reached.
    pub complete: bool,
}

impl Annealed {
    /// Whether the bound proves the order best, within 1e-9.
    #[must_use]
    pub fn proved(&self) -> bool {
        self.bound >= self.makespan as f64 * (1.0 - CLOSE)
    }
}
