//! The C structures of every table, and those of arbiters.

use std::ffi::{c_char, c_void};

use super::{ErrorBuffer, Slice};
use crate::{Binding, FabricView, PhaseView, RouteTable};

/// The first 32 bytes of every table; never changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Header {
    /// [`super::MAGIC`], by which the host knows a table.
    pub magic: u64,
    /// Must equal the host's.
    pub abi_major: u32,
    /// The first minor version that has all the table uses; at most the host's.
    pub abi_minor: u32,
    /// Size of the whole table as the plugin knows it, header included.
    pub table_size: u32,
    /// Size of the structure in which most is exchanged, as the plugin knows it: of an arbiter the phase view, of a port
    /// arbiter [`crate::GrantView`], of a model [`super::TaskRecord`].
    pub view_size: u32,
    /// What the table describes: [`super::KIND_ARBITER`], [`super::KIND_MODEL`] or [`super::KIND_PORT_ARBITER`].
    pub kind: u32,
    /// Bits of [`crate::Flags`]; unknown bits are refused. A model has none.
    pub flags: u32,
}

/// What the host offers an instance; valid until its `destroy` returns.
#[derive(Debug)]
#[repr(C)]
pub struct Host {
    /// The host's own; handed back to its functions inside this structure.
    pub context: *mut c_void,
    /// Writes a line to the host's log: level 1 error, 2 warning, 3 information, 4 debug; text is UTF-8 of `len` bytes.
    pub log: unsafe extern "C" fn(host: *const Host, level: u32, text: *const c_char, len: usize),
    /// Not 0 once the run has been interrupted: a long call should end with an error.
    pub cancelled: unsafe extern "C" fn(host: *const Host) -> i32,
}

/// One line of an explanation, handed to [`EmitStep`]; borrowed for that call.
#[derive(Debug)]
#[repr(C)]
pub struct StepRecord<'a> {
    /// Position of the transfer in the phase.
    pub transfer: u32,
    /// The link that decided, or `u32::MAX`.
    pub link: u32,
    /// Rate after the step, bytes per second.
    pub rate: f64,
    /// Name of the step, UTF-8.
    pub step: Slice<'a, u8>,
    /// Positions in the phase of the transfers responsible.
    pub because: Slice<'a, u32>,
}

/// Takes one line of an explanation.
pub type EmitStep = unsafe extern "C" fn(sink: *mut c_void, step: *const StepRecord<'_>);

/// Builds an instance for a fabric; `params` is `params_len` bytes of JSON text. Writes `state` on success only.
pub type CreateFn = unsafe extern "C" fn(
    host: *const Host,
    fabric: *const FabricView<'_>,
    params: *const c_char,
    params_len: usize,
    state: *mut *mut c_void,
    err: *mut ErrorBuffer<'_>,
) -> i32;
/// Frees an instance; called once for each successful `create`.
pub type DestroyFn = unsafe extern "C" fn(state: *mut c_void);
/// Forgets everything learnt from earlier calls.
pub type ResetFn = unsafe extern "C" fn(state: *mut c_void, err: *mut ErrorBuffer<'_>) -> i32;
/// Whether transfers may use the route of these links; asked once per distinct route.
pub type AdmitFn =
    unsafe extern "C" fn(state: *mut c_void, links: *const u32, len: usize, err: *mut ErrorBuffer<'_>) -> i32;
/// Gives a rate to each transfer of the phase; `rates` and `bindings` have as many slots as the phase has transfers.
pub type AllocateFn = unsafe extern "C" fn(
    state: *mut c_void,
    phase: *const PhaseView<'_>,
    rates: *mut f64,
    bindings: *mut Binding,
    recheck_ps: *mut u64,
    err: *mut ErrorBuffer<'_>,
) -> i32;
/// Emits the steps behind the rates of a phase; none at all where the policy has no explanation.
pub type ExplainFn = unsafe extern "C" fn(
    state: *mut c_void,
    phase: *const PhaseView<'_>,
    emit: EmitStep,
    sink: *mut c_void,
    err: *mut ErrorBuffer<'_>,
) -> i32;

/// The most that a link can carry in total at any moment when a transfer of each of these routes is active. `most` arrives
/// infinite, which says nothing.
pub type CapacityFn = unsafe extern "C" fn(
    state: *mut c_void,
    link: u32,
    routes: *const RouteTable<'_>,
    most: *mut f64,
    err: *mut ErrorBuffer<'_>,
) -> i32;

/// What a step of an explanation means; all three are NUL-terminated UTF-8 and static.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LegendRecord {
    /// Name of the step; null in the record that ends a legend.
    pub step: *const c_char,
    /// The step in a few words.
    pub short: *const c_char,
    /// What it does, in one plain sentence.
    pub meaning: *const c_char,
}

/// A rate arbiter as a table of functions; all but `explain` must be present.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ArbiterTable {
    /// Who wrote the table and for which version.
    pub header: Header,
    /// Name in scenarios; NUL-terminated UTF-8, static, as the next two.
    pub name: *const c_char,
    /// Version of the policy.
    pub version: *const c_char,
    /// JSON Schema of the parameters.
    pub params_schema: *const c_char,
    /// Builds an instance for a fabric, once per run.
    pub create: Option<CreateFn>,
    /// Frees an instance; called once for each successful `create`.
    pub destroy: Option<DestroyFn>,
    /// Forgets what was learnt.
    pub reset: Option<ResetFn>,
    /// Accepts or refuses a route.
    pub admit: Option<AdmitFn>,
    /// Writes a rate, and as it likes a binding, for each transfer of a phase.
    pub allocate: Option<AllocateFn>,
    /// Explains rates; may be null.
    pub explain: Option<ExplainFn>,
}

// SAFETY: a table is never written after it was built, and what it points to is static.
unsafe impl Send for ArbiterTable {}
// SAFETY: as above.
unsafe impl Sync for ArbiterTable {}

/// A rate arbiter that describes itself, from minor version 3 on: its table, then what the host may show and rely on.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DescribedArbiterTable {
    /// The arbiter. Its flags say what it reads.
    pub arbiter: ArbiterTable,
    /// What the steps of its explanations mean, ended by a record of nulls; may be null.
    pub legend: *const LegendRecord,
    /// Bounds what links can carry; may be null.
    pub capacity: Option<CapacityFn>,
}

// SAFETY: as above; a legend is never written either.
unsafe impl Send for DescribedArbiterTable {}
// SAFETY: as above.
unsafe impl Sync for DescribedArbiterTable {}
