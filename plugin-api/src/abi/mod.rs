//! The binary interface between weir and plugins, ABI 1: the only unsafe code of this crate.
//!
//! ```text
//! weir ── weir_arbiter(index) ──► ArbiterTable ── create ──► state
//!      ── admit, allocate, explain, reset (state, views) ──► code, rates, text of an error
//!      ── destroy(state)
//! ```
//!
//! The same interface for C stands in `plugin-api/include/weir_plugin.h`; tests compare the two layouts. Within a major
//! version the header never changes, tables and views only grow at their ends, and the numbers of node kinds and
//! directions stay as they are.
#![allow(unsafe_code)]

mod error;
mod export;
mod shims;
mod slice;
mod table;

pub use error::ErrorBuffer;
#[doc(hidden)]
pub use shims::keep_panics_quiet;
pub use slice::Slice;
pub use table::{
    AdmitFn, AllocateFn, ArbiterTable, CreateFn, DestroyFn, EmitStep, ExplainFn, Header, Host, ResetFn, StepRecord,
    code,
};

/// First word of every table: the bytes `WEIRPLUG` in the order of a little-endian machine.
pub const MAGIC: u64 = u64::from_le_bytes(*b"WEIRPLUG");
/// Versions with another major number cannot be loaded.
pub const ABI_MAJOR: u32 = 1;
/// A library's minor number must not exceed the host's.
pub const ABI_MINOR: u32 = 0;
/// `Header::kind` of a rate arbiter.
pub const KIND_ARBITER: u32 = 1;
/// `Header::kind` of a model; reserved, not loaded by this version.
pub const KIND_MODEL: u32 = 2;
/// The function a library of arbiters exports.
pub const ARBITER_SYMBOL: &str = "weir_arbiter";
/// The function a library of models will export; reserved.
pub const MODEL_SYMBOL: &str = "weir_model";

/// Type of the exported function: the table at an index, null past the end.
pub type ArbiterEntryFn = unsafe extern "C" fn(index: u32) -> *const ArbiterTable;
