//! The integration tests, one program: linking one for each file took minutes and gigabytes.

#[path = "../common/mod.rs"]
mod common;

mod changing;
mod delayed;
mod engines;
mod engines_twin;
mod event_queue;
mod halo;
mod hangs_nothing;
mod incremental;
mod packets;
mod phases;
mod properties;
mod purity;
mod rerouting;
mod rerouting_twin;
mod routes;
mod simulation;
mod stream;
mod wrong_levels;
