//! A proven best order: lower bounds of what any order can reach, and branch and bound with them.

mod branch;
pub(super) mod potentials;

pub use branch::{BranchOptions, Branched, Rule, branch_and_bound};
pub use potentials::{largest_potential, root_bound};
