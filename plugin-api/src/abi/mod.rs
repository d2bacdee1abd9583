//! The binary interface between weir and plugins, ABI 1: the only unsafe code of this crate.
//!
//! ```text
//! weir ── weir_arbiter(index) ──► ArbiterTable ── create ──► state
//!      ── admit, allocate, explain, reset (state, views) ──► code, rates, text of an error
//!      ── destroy(state)
//! weir ── weir_incremental(index) ──► IncrementalTable, beside an arbiter of the same name ── create ──► state
//!      ── add_class, settle, above, beside, link_use (state, records) ──► code, what changes, text of an error
//!      ── destroy(state)
//! weir ── weir_model(index) ──► ModelTable ── create ──► state
//!      ── plan, estimate, alternatives (state, operation, surroundings) ──► code, emitted records, text of an error
//!      ── destroy(state)
//! ```
//!
//! The same interface for C stands in `plugin-api/include/weir_plugin.h`; tests compare the two layouts. Within a major
//! version the header never changes, tables and views only grow at their ends, and the numbers of node kinds and
//! directions stay as they are.
#![allow(unsafe_code)]

mod error;
mod export;
mod guard;
mod incremental_shims;
mod incremental_table;
mod model_shims;
mod model_table;
mod shims;
mod slice;
mod table;

pub use error::ErrorBuffer;
#[doc(hidden)]
pub use guard::keep_panics_quiet;
pub use incremental_table::{
    AboveFn, AddClassFn, AnswerRecord, BesideFn, CreateIncrementalFn, IncrementalTable, LinkUseFn, SettleFn,
};
pub use model_table::{
    AlternativeRecord, AlternativesFn, Chooser, CreateModelFn, EngineRecord, EstimateFn, EstimateRecord, Estimator,
    ModelTable, PlanFn, Planner, SurroundingsRecord, TaskRecord, WaitRecord, scope, work,
};
pub use slice::Slice;
pub use table::{
    AdmitFn, AllocateFn, ArbiterTable, CreateFn, DestroyFn, EmitStep, ExplainFn, Header, Host, ResetFn, StepRecord,
    code,
};

/// First word of every table: the bytes `WEIRPLUG` in the order of a little-endian machine.
pub const MAGIC: u64 = u64::from_le_bytes(*b"WEIRPLUG");
/// Versions with another major number cannot be loaded.
pub const ABI_MAJOR: u32 = 1;
/// A table's minor number must not exceed the host's. 0 has arbiters, 1 models, 2 incremental arbiters.
pub const ABI_MINOR: u32 = 2;
/// What [`ArbiterTable::of`] writes: arbiters use nothing younger, so older hosts load them.
pub const ARBITER_MINOR: u32 = 0;
/// What [`ModelTable::of`] writes, and the least of a model.
pub const MODEL_MINOR: u32 = 1;
/// What [`IncrementalTable::of`] writes, and the least of an incremental arbiter.
pub const INCREMENTAL_MINOR: u32 = 2;
/// `Header::kind` of a rate arbiter.
pub const KIND_ARBITER: u32 = 1;
/// `Header::kind` of a model.
pub const KIND_MODEL: u32 = 2;
/// `Header::kind` of an incremental arbiter.
pub const KIND_INCREMENTAL: u32 = 3;
/// The function a library of arbiters exports.
pub const ARBITER_SYMBOL: &str = "weir_arbiter";
/// The function a library of models exports.
pub const MODEL_SYMBOL: &str = "weir_model";
/// The function a library of arbiters exports where some of them have an incremental side.
pub const INCREMENTAL_SYMBOL: &str = "weir_incremental";

/// Type of the function `weir_arbiter`: the table at an index, null past the end.
pub type ArbiterEntryFn = unsafe extern "C" fn(index: u32) -> *const ArbiterTable;
/// Type of the function `weir_model`: the table at an index, null past the end.
pub type ModelEntryFn = unsafe extern "C" fn(index: u32) -> *const ModelTable;
/// Type of the function `weir_incremental`: the table at an index, null past the end.
pub type IncrementalEntryFn = unsafe extern "C" fn(index: u32) -> *const IncrementalTable;
