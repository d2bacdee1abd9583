//! C functions around an incremental arbiter written in Rust.
//!
//! The callers' duties (the safety contract of every function here) are those of `weir_plugin.h`: `state` comes from
//! `create` of the same table and was not destroyed; records, buffers and slots are valid for the call and not shared with
//! another thread.

use std::ffi::{c_char, c_void};

use super::guard::{Fault, drop_instance, guarded, text_of};
use super::{AnswerRecord, ErrorBuffer, Host};
use crate::{Answer, ArbiterError, Change, ClassInfo, IncrementalPlugin, LinkId, LinkUse, NO_ID, Setting, SimTime};

/// An instance with the memory of its last answer.
struct Kept<I> {
    arbiter: I,
    answer: Answer,
}

pub(super) unsafe extern "C" fn create<I: IncrementalPlugin>(
    _host: *const Host,
    setting: *const Setting<'_>,
    params: *const c_char,
    params_len: usize,
    state: *mut *mut c_void,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    let (setting, err) = unsafe { (&*setting, &mut *err) };
    guarded(err, || -> Result<(), Fault> {
        // SAFETY: `params` points to `params_len` bytes, valid for the call.
        let params = unsafe { text_of(params, params_len, "the text of the parameters") }?;
        let kept = Box::new(Kept { arbiter: I::create(setting, params)?, answer: Answer::default() });
        // SAFETY: `state` is a slot of the host's.
        unsafe { *state = Box::into_raw(kept).cast() };
        Ok(())
    })
}

pub(super) unsafe extern "C" fn destroy<I: IncrementalPlugin>(state: *mut c_void) {
    // SAFETY: the module's contract.
    unsafe { drop_instance::<Kept<I>>(state) };
}

pub(super) unsafe extern "C" fn add_class<I: IncrementalPlugin>(
    state: *mut c_void,
    id: u32,
    class: *const ClassInfo<'_>,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    let (kept, class, err) = unsafe { (&mut *state.cast::<Kept<I>>(), &*class, &mut *err) };
    guarded(err, || {
        kept.arbiter.add_class(id, class);
        Ok::<(), ArbiterError>(())
    })
}

pub(super) unsafe extern "C" fn settle<I: IncrementalPlugin>(
    state: *mut c_void,
    change: *const Change<'_>,
    answer: *mut AnswerRecord<'_>,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    let (kept, change, err) = unsafe { (&mut *state.cast::<Kept<I>>(), &*change, &mut *err) };
    guarded(err, || {
        let Kept { arbiter, answer: kept } = kept;
        kept.clear();
        arbiter.settle(change, kept)?;
        let record = AnswerRecord {
            groups: (&kept.groups).into(),
            classes: (&kept.classes).into(),
            dropped: (&kept.dropped).into(),
            levels: (&kept.levels).into(),
        };
        // SAFETY: `answer` is a slot of the host's; what it leads to is this instance's until its next call.
        unsafe { *answer.cast() = record };
        Ok::<(), ArbiterError>(())
    })
}

/// Answers a question about classes.
unsafe fn ask<I: IncrementalPlugin>(
    state: *mut c_void,
    class: *mut u32,
    err: *mut ErrorBuffer<'_>,
    question: impl FnOnce(&I, u32) -> Option<u32>,
) -> i32 {
    // SAFETY: the module's contract.
    let (kept, class, err) = unsafe { (&*state.cast::<Kept<I>>(), &mut *class, &mut *err) };
    guarded(err, || {
        *class = question(&kept.arbiter, *class).unwrap_or(NO_ID);
        Ok::<(), ArbiterError>(())
    })
}

pub(super) unsafe extern "C" fn above<I: IncrementalPlugin>(
    state: *mut c_void,
    root: u32,
    class: *mut u32,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    unsafe { ask::<I>(state, class, err, |arbiter, _| arbiter.above(root)) }
}

pub(super) unsafe extern "C" fn beside<I: IncrementalPlugin>(
    state: *mut c_void,
    root: u32,
    class: *mut u32,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    unsafe { ask::<I>(state, class, err, |arbiter, class| arbiter.beside(root, class)) }
}

pub(super) unsafe extern "C" fn link_use<I: IncrementalPlugin>(
    state: *mut c_void,
    link: u32,
    now_ps: u64,
    link_use: *mut LinkUse,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    let (kept, link_use, err) = unsafe { (&*state.cast::<Kept<I>>(), &mut *link_use, &mut *err) };
    guarded(err, || {
        *link_use = kept.arbiter.link_use(LinkId(link), SimTime(now_ps));
        Ok::<(), ArbiterError>(())
    })
}
