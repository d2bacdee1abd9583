//! The extension module of the Python package `weir`: the library crate and the command, as functions for `python/weir`.
//!
//! ```text
//! Request (source, edits, policies) ─► call: a thread of its own, GIL released, signals looked at ─► Run, Search, … ─► Table
//! ```

mod call;
mod fault;
mod machine;
mod page;
mod policy;
mod request;
mod run;
mod search;
mod table;

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

/// Runs the command with these arguments, the name of the program first, and returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>, program: Option<PathBuf>) -> u8 {
    py.detach(|| weir_cli::run(arguments, program))
}

#[pymodule]
mod _weir {
    #[pymodule_export]
    use super::call::{after_fork, at_exit};
    #[pymodule_export]
    use super::command;
    #[pymodule_export]
    use super::machine::{calibrate, import_topology, validate};
    #[pymodule_export]
    use super::page::{page, save, saved};
    #[pymodule_export]
    use super::policy::Phase;
    #[pymodule_export]
    use super::request::{Request, check, expand};
    #[pymodule_export]
    use super::run::{Comparison, Run, compare, run};
    #[pymodule_export]
    use super::search::{Search, WhatIf, merge, optimize, what_if};
    #[pymodule_export]
    use super::table::Table;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
