//! Searches over send orders, placements and parameters.

#[cfg(test)]
extern crate self as weir_optimize;

pub mod order;
pub mod parameters;
pub mod placement;
pub mod search;
pub mod sweep;
