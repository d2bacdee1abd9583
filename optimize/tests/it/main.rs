//! The integration tests, one program: linking one for each file took minutes and gigabytes.

#[path = "../common/mod.rs"]
mod common;

#[path = "../placement_support/mod.rs"]
mod placement_support;

mod anneal;
mod branch;
mod exhaustive;
mod joint;
mod order_methods;
mod paced;
mod placement;
mod placement_exact;
mod sweep;
