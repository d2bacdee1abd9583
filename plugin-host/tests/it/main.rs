//! The integration tests, one program: linking one for each file took minutes and gigabytes.

#[path = "../common/mod.rs"]
mod common;

#[path = "../plugins/faithful.rs"]
mod faithful;

mod bad_libraries;
mod bad_models;
mod children;
mod configuration;
mod ends;
mod examples;
mod hostile;
mod instances;
mod layout;
mod models;
mod ports;
