//! The integration tests, one program: linking one for each file took minutes and gigabytes.

#[path = "../common/mod.rs"]
mod common;

mod branches;
mod contract;
mod input_fifo;
mod properties;
mod published;
mod regions;
mod reset;
mod twins;
