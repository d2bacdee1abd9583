//! The C structures of models: what a model is shown, what it emits, and its table.
//!
//! Every number of an enum is a plain `u32` here: a plugin may write any, and the host refuses those it does not know.

use std::ffi::{c_char, c_void};

use super::table::{DestroyFn, Header, Host};
use super::{ErrorBuffer, Slice};
use crate::{FabricView, RouteInfo};

/// Numbers for `EngineRecord::scope`: who shares an engine.
pub mod scope {
    /// Belongs to a device.
    pub const DEVICE: u32 = 0;
    /// Belongs to the operation alone.
    pub const OPERATION: u32 = 1;
}

/// Numbers for `TaskRecord::work`: what a task does.
pub mod work {
    /// A join, or the engine held for no time.
    pub const NOTHING: u32 = 0;
    /// Takes the time `lasts_ps` and carries nothing.
    pub const LASTS: u32 = 1;
    /// Moves `bytes` from `from` to `to` at no more than `limit`.
    pub const CARRIES: u32 = 2;
}

/// What a model gets besides the operation; borrowed for the call.
#[derive(Debug)]
#[repr(C)]
pub struct SurroundingsRecord<'a> {
    /// What the host finds its own data by; plugins leave it alone.
    pub context: *const c_void,
    /// The fabric; its ids are positions, and larger ids are devices that it does not have.
    pub fabric: *const FabricView<'a>,
    /// Finds the route between two nodes: not 0 and `info` written, or 0 where there is none, or they are the same.
    pub route: unsafe extern "C" fn(surroundings: *const Self, from: u32, to: u32, info: *mut RouteInfo) -> i32,
}

/// An engine of a plan, handed to [`Planner::emit_engine`]; borrowed for that call, as all records are for theirs.
#[derive(Debug)]
#[repr(C)]
pub struct EngineRecord<'a> {
    /// Its name within its scope, UTF-8.
    pub name: Slice<'a, u8>,
    /// Tasks served at once, ≥ 1.
    pub slots: u32,
    /// A number of [`scope`].
    pub scope: u32,
    /// The device it belongs to; not read for the scope of an operation.
    pub device: u32,
}

/// What a task waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct WaitRecord {
    /// Position of the other task in the plan.
    pub task: u32,
    /// A number of [`crate::Moment`].
    pub moment: u32,
}

/// A task of a plan, handed to [`Planner::emit_task`]; see [`crate::PlannedTask`].
#[derive(Debug)]
#[repr(C)]
pub struct TaskRecord<'a> {
    /// Its name, UTF-8: unique in the plan, not empty, without `/`.
    pub name: Slice<'a, u8>,
    /// What it waits for.
    pub waits: Slice<'a, WaitRecord>,
    /// Position of its engine in the plan, or `u32::MAX`.
    pub engine: u32,
    /// A number of [`crate::Queue`].
    pub queue: u32,
    /// Its direction: tasks of equal number follow each other on a slot after `gap_ps`.
    pub class: u32,
    /// A number of [`work`]; it says which of the fields from `lasts_ps` on are read.
    pub work: u32,
    /// Time before its work that may overlap the task before it, ps.
    pub lead_ps: f64,
    /// Time after the task before it that cannot be overlapped, ps.
    pub gap_ps: f64,
    /// How long it takes, ps.
    pub lasts_ps: f64,
    /// Node that sends, an id of the fabric.
    pub from: u32,
    /// Node that receives, an id of the fabric.
    pub to: u32,
    /// Payload, 1 to 2^53.
    pub bytes: u64,
    /// Largest rate in bytes per second; infinite for none.
    pub limit: f64,
}

/// Takes the engines and tasks of a plan.
#[derive(Debug)]
#[repr(C)]
pub struct Planner {
    /// What the host finds its own data by; plugins leave it alone.
    pub context: *mut c_void,
    /// Adds an engine; its position, or `u32::MAX` where the host refuses it and has noted why.
    pub emit_engine: unsafe extern "C" fn(planner: *const Self, engine: *const EngineRecord<'_>) -> u32,
    /// Adds a task; as above.
    pub emit_task: unsafe extern "C" fn(planner: *const Self, task: *const TaskRecord<'_>) -> u32,
}

/// A closed form's time, handed to [`Estimator::emit_estimate`]; see [`crate::Estimate`].
#[derive(Debug)]
#[repr(C)]
pub struct EstimateRecord<'a> {
    /// Name of the formula, UTF-8.
    pub formula: Slice<'a, u8>,
    /// Which assumption the plan does not share, UTF-8; empty where it shares all.
    pub because: Slice<'a, u8>,
    /// Its time, finite and ≥ 0.
    pub seconds: f64,
    /// A number of [`crate::Relation`].
    pub relation: u32,
}

/// Takes what closed forms say.
#[derive(Debug)]
#[repr(C)]
pub struct Estimator {
    /// What the host finds its own data by; plugins leave it alone.
    pub context: *mut c_void,
    /// Adds an estimate; 0, or 1 where the host refuses it and has noted why.
    pub emit_estimate: unsafe extern "C" fn(estimator: *const Self, estimate: *const EstimateRecord<'_>) -> i32,
    /// Gives the details, a JSON object of `len` bytes of UTF-8; at most once. As above.
    pub emit_details: unsafe extern "C" fn(estimator: *const Self, details: *const c_char, len: usize) -> i32,
}

/// A way to do an operation, handed to [`Chooser::emit_alternative`]; see [`crate::Alternative`].
#[derive(Debug)]
#[repr(C)]
pub struct AlternativeRecord<'a> {
    /// What is chosen, UTF-8.
    pub label: Slice<'a, u8>,
    /// The operation with nothing left open, a JSON object, UTF-8.
    pub operation: Slice<'a, u8>,
}

/// Takes the ways to do an operation.
#[derive(Debug)]
#[repr(C)]
pub struct Chooser {
    /// What the host finds its own data by; plugins leave it alone.
    pub context: *mut c_void,
    /// Adds an alternative; 0, or 1 where the host refuses it and has noted why.
    pub emit_alternative: unsafe extern "C" fn(chooser: *const Self, alternative: *const AlternativeRecord<'_>) -> i32,
}

/// Builds an instance. Writes `state` on success only.
pub type CreateModelFn =
    unsafe extern "C" fn(host: *const Host, state: *mut *mut c_void, err: *mut ErrorBuffer<'_>) -> i32;
/// Emits the engines and tasks of an operation, which is `len` bytes of JSON text.
pub type PlanFn = unsafe extern "C" fn(
    state: *mut c_void,
    operation: *const c_char,
    len: usize,
    surroundings: *const SurroundingsRecord<'_>,
    planner: *const Planner,
    err: *mut ErrorBuffer<'_>,
) -> i32;
/// Emits the closed forms of an operation.
pub type EstimateFn = unsafe extern "C" fn(
    state: *mut c_void,
    operation: *const c_char,
    len: usize,
    surroundings: *const SurroundingsRecord<'_>,
    estimator: *const Estimator,
    err: *mut ErrorBuffer<'_>,
) -> i32;
/// Emits the ways to do an operation that leaves a choice open.
pub type AlternativesFn = unsafe extern "C" fn(
    state: *mut c_void,
    operation: *const c_char,
    len: usize,
    surroundings: *const SurroundingsRecord<'_>,
    chooser: *const Chooser,
    err: *mut ErrorBuffer<'_>,
) -> i32;

/// A model as a table of functions; all but `estimate` and `alternatives` must be present.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ModelTable {
    /// Who wrote the table and for which version.
    pub header: Header,
    /// Its name; NUL-terminated UTF-8, static, as the next three.
    pub name: *const c_char,
    /// Version of the model, shown in results.
    pub version: *const c_char,
    /// Keys of the workload's items that it serves, separated by commas or spaces.
    pub operations: *const c_char,
    /// JSON Schema of such items: an object with a property for each key.
    pub schema: *const c_char,
    /// Builds an instance, once per scenario.
    pub create: Option<CreateModelFn>,
    /// Frees an instance; called once for each successful `create`.
    pub destroy: Option<DestroyFn>,
    /// Emits the engines and tasks of an operation.
    pub plan: Option<PlanFn>,
    /// Estimates an operation; may be null.
    pub estimate: Option<EstimateFn>,
    /// Says how an operation can be done; may be null.
    pub alternatives: Option<AlternativesFn>,
}

// SAFETY: a table is never written after it was built, and what it points to is static.
unsafe impl Send for ModelTable {}
// SAFETY: as above.
unsafe impl Sync for ModelTable {}
