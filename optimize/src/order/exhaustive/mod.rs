//! All orders: a walk through the tree of decisions, in shards, with symmetries.

mod counter;
mod digest;
mod element;
mod enumeration;
mod lanes;
mod part;
mod permutations;
mod symmetry;
mod units;
mod walk;

pub use enumeration::Enumeration;
pub use part::Part;
pub use symmetry::Symmetry;
