//! The C structures of every table, and those of arbiters.

use std::ffi::{c_char, c_void};

use super::guard::static_text;
use super::shims;
use super::{ABI_MAJOR, ARBITER_MINOR, ErrorBuffer, KIND_ARBITER, MAGIC, Slice};
use crate::{ArbiterPlugin, Binding, FabricView, PhaseView};

/// What a call answers.
pub mod code {
    /// Done.
    pub const OK: i32 = 0;
    /// An error; its text stands in the buffer.
    pub const ERROR: i32 = 1;
    /// The plugin panicked: the instance is never called again except `destroy`.
    pub const PANIC: i32 = 2;
}

/// The first 32 bytes of every table; never changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u64,
    /// Must equal the host's.
    pub abi_major: u32,
    /// The first minor version that has all the table uses; at most the host's.
    pub abi_minor: u32,
    /// Size of the whole table as the plugin knows it, header included.
    pub table_size: u32,
    /// Size of the structure in which most is exchanged, as the plugin knows it: of an arbiter the phase view, of a model
    /// [`super::TaskRecord`], of an incremental arbiter [`super::AnswerRecord`].
    pub view_size: u32,
    /// What the table describes: [`KIND_ARBITER`], [`super::KIND_MODEL`] or [`super::KIND_INCREMENTAL`].
    pub kind: u32,
    /// Bits of [`crate::Flags`], or [`crate::IncrementalFlags`]; unknown bits are refused. A model has none.
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
    /// Builds an instance.
    pub create: Option<CreateFn>,
    /// Frees an instance.
    pub destroy: Option<DestroyFn>,
    /// Forgets what was learnt.
    pub reset: Option<ResetFn>,
    /// Accepts or refuses a route.
    pub admit: Option<AdmitFn>,
    /// Gives rates.
    pub allocate: Option<AllocateFn>,
    /// Explains rates; may be null.
    pub explain: Option<ExplainFn>,
}

// SAFETY: a table is never written after it was built, and what it points to is static.
unsafe impl Send for ArbiterTable {}
// SAFETY: as above.
unsafe impl Sync for ArbiterTable {}

impl ArbiterTable {
    /// The table of an arbiter written in Rust. Leaks the three texts, so build it once (as [`crate::export_arbiters!`]
    /// does). A text with a NUL inside, or a `params_schema` that panics, leaves a null pointer, which the host refuses.
    #[must_use]
    pub fn of<A: ArbiterPlugin>() -> Self {
        Self {
            header: Header {
                magic: MAGIC,
                abi_major: ABI_MAJOR,
                abi_minor: ARBITER_MINOR,
                table_size: size_of::<Self>() as u32,
                view_size: size_of::<PhaseView<'_>>() as u32,
                kind: KIND_ARBITER,
                flags: A::FLAGS.0,
            },
            name: static_text(|| A::NAME.to_owned()),
            version: static_text(|| A::VERSION.to_owned()),
            params_schema: static_text(A::params_schema),
            create: Some(shims::create::<A>),
            destroy: Some(shims::destroy::<A>),
            reset: Some(shims::reset::<A>),
            admit: Some(shims::admit::<A>),
            allocate: Some(shims::allocate::<A>),
            explain: Some(shims::explain::<A>),
        }
    }
}
