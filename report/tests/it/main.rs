//! The integration tests, one program: linking one for each file took minutes and gigabytes.

#[path = "../common/mod.rs"]
mod common;
#[path = "../planned/mod.rs"]
mod planned;
#[path = "../ran/mod.rs"]
mod ran;

mod comparisons;
mod contract;
mod drawings;
mod limits;
mod models;
mod operations;
mod outages;
mod pictures;
mod plans;
mod results;
mod runs;
mod saved;
mod saved_fits;
mod saved_runs;
mod saved_searches;
mod searches;
mod tables;
