//! The C structures of port arbiters.

use std::ffi::{c_char, c_void};

use super::{CreateFn, DestroyFn, ErrorBuffer, Header, ResetFn};
use crate::{GrantView, Head, LinkId, PortGrant};

/// Writes the slot of one of those that ask. Nothing else may change: the host asks again for a sample.
pub type ChooseFn = unsafe extern "C" fn(
    state: *mut c_void,
    view: *const GrantView<'_>,
    slot: *mut u32,
    err: *mut ErrorBuffer<'_>,
) -> i32;
/// `n` grants, one or more, have taken place, in this order.
pub type CommitFn =
    unsafe extern "C" fn(state: *mut c_void, grants: *const PortGrant<'_>, n: usize, err: *mut ErrorBuffer<'_>) -> i32;
/// Writes what later choices for an output depend on, at most `cap` words, and their number into `n`. `n` arrives as
/// [`NO_STATE`]: that it cannot be told.
pub type PortStateFn = unsafe extern "C" fn(
    state: *mut c_void,
    out: u32,
    to: *mut u64,
    cap: usize,
    n: *mut usize,
    err: *mut ErrorBuffer<'_>,
) -> i32;

/// The number of words of a state that cannot be told.
pub const NO_STATE: usize = usize::MAX;

/// A port arbiter as a table of functions; `create`, `destroy`, `choose` and `commit` must be present.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PortArbiterTable {
    /// Who wrote the table and for which version.
    pub header: Header,
    /// Name in scenarios; NUL-terminated UTF-8, static, as the next two.
    pub name: *const c_char,
    /// Version of the policy.
    pub version: *const c_char,
    /// JSON Schema of the parameters.
    pub params_schema: *const c_char,
    /// Builds an instance for the ports of a fabric that are given it alike, once per run.
    pub create: Option<CreateFn>,
    /// Frees an instance; called once for each successful `create`.
    pub destroy: Option<DestroyFn>,
    /// Forgets all grants; may be null. This host makes an instance for each run instead.
    pub reset: Option<ResetFn>,
    /// Chooses one of those that ask.
    pub choose: Option<ChooseFn>,
    /// Hears of grants.
    pub commit: Option<CommitFn>,
    /// Tells what later choices depend on; may be null: runs then never skip ahead.
    pub state: Option<PortStateFn>,
    /// Whom it serves, in a few words; as the name, and may be null.
    pub description: *const c_char,
}

// SAFETY: a table is never written after it was built, and what it points to is static.
unsafe impl Send for PortArbiterTable {}
// SAFETY: as above.
unsafe impl Sync for PortArbiterTable {}

// The layouts of `weir_plugin.h`, on machines with pointers of 64 bits.
const _: () = {
    assert!(size_of::<Head>() == 48 && align_of::<Head>() == 8);
    assert!(size_of::<GrantView<'_>>() == 40 && align_of::<GrantView<'_>>() == 8);
    assert!(size_of::<PortGrant<'_>>() == 32 && align_of::<PortGrant<'_>>() == 8);
    assert!(size_of::<LinkId>() == size_of::<u32>());
};
