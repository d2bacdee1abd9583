//! The integration tests, one program: linking one for each file took minutes and gigabytes.

#[path = "../common/mod.rs"]
mod common;
#[path = "../planned/mod.rs"]
mod planned;

mod contract;
mod drawings;
mod operations;
mod pictures;
mod plans;
mod results;
mod tables;
