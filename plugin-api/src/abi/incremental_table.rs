//! The C structures of incremental arbiters.

use std::ffi::{c_char, c_void};

use super::guard::static_text;
use super::incremental_shims as shims;
use super::{ABI_MAJOR, DestroyFn, ErrorBuffer, Header, Host, INCREMENTAL_MINOR, KIND_INCREMENTAL, MAGIC, Slice};
use crate::{ArbiterPlugin, Change, ClassInfo, ClassMove, GroupMove, IncrementalPlugin, LinkUse, RootLevel, Setting};

/// What `settle` says, in memory of the instance's own that stays as it is until its next call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AnswerRecord<'a> {
    /// Groups that are new or hang below another root.
    pub groups: Slice<'a, GroupMove>,
    /// Classes that are new or in another group.
    pub classes: Slice<'a, ClassMove>,
    /// Groups without classes.
    pub dropped: Slice<'a, u32>,
    /// Roots with other levels.
    pub levels: Slice<'a, RootLevel>,
}

impl AnswerRecord<'_> {
    /// Nothing changes.
    #[must_use]
    pub const fn empty() -> Self {
        Self { groups: Slice::empty(), classes: Slice::empty(), dropped: Slice::empty(), levels: Slice::empty() }
    }
}

/// Builds an instance; `params` is `params_len` bytes of JSON text. Writes `state` on success only.
pub type CreateIncrementalFn = unsafe extern "C" fn(
    host: *const Host,
    setting: *const Setting<'_>,
    params: *const c_char,
    params_len: usize,
    state: *mut *mut c_void,
    err: *mut ErrorBuffer<'_>,
) -> i32;
/// Tells of a class that gets weight in the next change.
pub type AddClassFn =
    unsafe extern "C" fn(state: *mut c_void, id: u32, class: *const ClassInfo<'_>, err: *mut ErrorBuffer<'_>) -> i32;
/// Takes a change in, and says what it changes; `answer` is empty.
pub type SettleFn = unsafe extern "C" fn(
    state: *mut c_void,
    change: *const Change<'_>,
    answer: *mut AnswerRecord<'_>,
    err: *mut ErrorBuffer<'_>,
) -> i32;
/// A class that is served before those of a root, or `u32::MAX`.
pub type AboveFn =
    unsafe extern "C" fn(state: *mut c_void, root: u32, class: *mut u32, err: *mut ErrorBuffer<'_>) -> i32;
/// Another class that crosses the link of a root, or `u32::MAX`; `class` holds the one that asks.
pub type BesideFn =
    unsafe extern "C" fn(state: *mut c_void, root: u32, class: *mut u32, err: *mut ErrorBuffer<'_>) -> i32;
/// The use of a link.
pub type LinkUseFn = unsafe extern "C" fn(
    state: *mut c_void,
    link: u32,
    now_ps: u64,
    link_use: *mut LinkUse,
    err: *mut ErrorBuffer<'_>,
) -> i32;

/// An incremental arbiter as a table of functions; the last three may be null.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct IncrementalTable {
    /// Who wrote the table and for which version.
    pub header: Header,
    /// Name of the rate arbiter of the same library whose policy it computes; NUL-terminated UTF-8, static, as the next.
    pub name: *const c_char,
    /// Version of the policy: that of the rate arbiter.
    pub version: *const c_char,
    /// Builds an instance.
    pub create: Option<CreateIncrementalFn>,
    /// Frees an instance.
    pub destroy: Option<DestroyFn>,
    /// Tells of a class.
    pub add_class: Option<AddClassFn>,
    /// Takes a change in.
    pub settle: Option<SettleFn>,
    /// Who is served before; may be null.
    pub above: Option<AboveFn>,
    /// Who shares a link; may be null.
    pub beside: Option<BesideFn>,
    /// How links were used; may be null.
    pub link_use: Option<LinkUseFn>,
}

// SAFETY: a table is never written after it was built, and what it points to is static.
unsafe impl Send for IncrementalTable {}
// SAFETY: as above.
unsafe impl Sync for IncrementalTable {}

impl IncrementalTable {
    /// The table of an incremental arbiter written in Rust. Leaks the two texts, so build it once (as
    /// [`crate::export_incremental!`] does).
    #[must_use]
    pub fn of<I: IncrementalPlugin>() -> Self {
        Self {
            header: Header {
                magic: MAGIC,
                abi_major: ABI_MAJOR,
                abi_minor: INCREMENTAL_MINOR,
                table_size: size_of::<Self>() as u32,
                view_size: size_of::<AnswerRecord<'_>>() as u32,
                kind: KIND_INCREMENTAL,
                flags: I::FLAGS.0,
            },
            name: static_text(|| <I::Plain as ArbiterPlugin>::NAME.to_owned()),
            version: static_text(|| <I::Plain as ArbiterPlugin>::VERSION.to_owned()),
            create: Some(shims::create::<I>),
            destroy: Some(shims::destroy::<I>),
            add_class: Some(shims::add_class::<I>),
            settle: Some(shims::settle::<I>),
            above: Some(shims::above::<I>),
            beside: Some(shims::beside::<I>),
            link_use: Some(shims::link_use::<I>),
        }
    }
}
