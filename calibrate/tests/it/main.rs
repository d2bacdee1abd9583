//! The integration tests, one program: linking one for each file took minutes and gigabytes.

#[path = "../common/mod.rs"]
mod common;

mod loggp;
mod measure;
mod noise;
mod readers;
mod recover;
mod splits;
mod write;
