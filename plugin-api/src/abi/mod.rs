//! The binary interface between weir and plugins, ABI 1: the only unsafe code of this crate.
//!
//! ```text
//! weir ── weir_arbiter(index) ──► ArbiterTable ── create ──► state
//!      ── admit, allocate, explain, capacity, reset (state, views) ──► code, rates, text of an error
//!      ── destroy(state)
//! weir ── weir_port_arbiter(index) ──► PortArbiterTable ── create ──► state
//!      ── choose, commit, state (state, views) ──► code, slot, words, text of an error
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
mod model_shims;
mod model_table;
mod port_shims;
mod port_table;
mod shims;
mod slice;
mod table;

pub use error::{ErrorBuffer, code};
#[doc(hidden)]
pub use guard::keep_panics_quiet;
pub use model_table::{
    AlternativeRecord, AlternativesFn, Chooser, CreateModelFn, EngineRecord, EstimateFn, EstimateRecord, Estimator,
    ModelTable, PlanFn, Planner, SurroundingsRecord, TaskRecord, WaitRecord, scope, work,
};
pub use port_table::{ChooseFn, CommitFn, NO_STATE, PortArbiterTable, PortStateFn};
pub use slice::Slice;
pub use table::{
    AdmitFn, AllocateFn, ArbiterTable, CapacityFn, CreateFn, DescribedArbiterTable, DestroyFn, EmitStep, ExplainFn,
    Header, Host, LegendRecord, ResetFn, StepRecord,
};

/// First word of every table: the bytes `WEIRPLUG` in the order of a little-endian machine.
pub const MAGIC: u64 = u64::from_le_bytes(*b"WEIRPLUG");
/// Versions with another major number cannot be loaded.
pub const ABI_MAJOR: u32 = 1;
/// A table's minor number must not exceed the host's. 0 has arbiters, 1 models, 3 arbiters that describe themselves; 2 had
/// incremental arbiters, which are no longer loaded. 4 has [`crate::Flags::FOR_PCIE`], 5 [`crate::Flags::CUT_ANYWHERE`], 6
/// port arbiters.
pub const ABI_MINOR: u32 = 6;
/// The least of an arbiter, and all that an [`ArbiterTable`] needs.
pub const ARBITER_MINOR: u32 = 0;
/// What [`DescribedArbiterTable::of`] writes for a policy with none of the flags of later versions.
pub const DESCRIBED_ARBITER_MINOR: u32 = 3;
/// What it writes for one with [`crate::Flags::FOR_PCIE`].
pub const PCIE_ARBITER_MINOR: u32 = 4;
/// What it writes for one with [`crate::Flags::CUT_ANYWHERE`].
pub const CUT_ANYWHERE_ARBITER_MINOR: u32 = 5;
/// What [`ModelTable::of`] writes, and the least of a model.
pub const MODEL_MINOR: u32 = 1;
/// What [`PortArbiterTable::of`] writes, and the least of a port arbiter.
pub const PORT_ARBITER_MINOR: u32 = 6;
/// `Header::kind` of a rate arbiter. 3 was that of incremental arbiters.
pub const KIND_ARBITER: u32 = 1;
/// `Header::kind` of a model.
pub const KIND_MODEL: u32 = 2;
/// `Header::kind` of a port arbiter.
pub const KIND_PORT_ARBITER: u32 = 4;
/// The function a library of arbiters exports.
pub const ARBITER_SYMBOL: &str = "weir_arbiter";
/// The function a library of models exports.
pub const MODEL_SYMBOL: &str = "weir_model";
/// The function a library of port arbiters exports.
pub const PORT_ARBITER_SYMBOL: &str = "weir_port_arbiter";
