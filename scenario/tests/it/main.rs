//! The integration tests, one program: linking one for each file took minutes and gigabytes.

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod examples;
mod files;
mod groups;
mod large;
mod library;
mod machines;
mod models;
mod networks;
mod operation_tasks;
mod operations;
mod optimize;
mod order;
mod packets;
mod parameters;
mod pattern_models;
mod patterns;
mod plans;
mod ranges;
mod regions;
mod rewrite;
mod routing;
mod searches;
mod streams;
mod topology;
mod workload;
