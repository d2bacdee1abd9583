//! The integration tests, one program: linking one for each file took minutes and gigabytes.

#[path = "../planned/mod.rs"]
mod planned;

mod operations;
mod plans;
mod results;
