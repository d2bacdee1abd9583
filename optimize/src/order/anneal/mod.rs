//! A good order of a large problem by simulated annealing.

mod chain;
mod classes;
mod options;
mod pace;
mod search;
mod stages;

pub use classes::ClassOrders;
pub use options::{AnnealOptions, Annealed};
pub use search::anneal;
