//! C functions around an arbiter written in Rust.
//!
//! The callers' duties (the safety contract of every function here) are those of `weir_plugin.h`: `state` comes from
//! `create` of the same table and was not destroyed; views, buffers and slots are valid for the call and not shared with
//! another thread.

use std::ffi::{c_char, c_void};

use super::guard::{Fault, drop_instance, guarded, text_of};
use super::table::{EmitStep, Host, StepRecord};
use super::{ErrorBuffer, Slice};
use crate::{ArbiterError, ArbiterPlugin, Binding, FabricView, Grant, LinkId, PhaseView, RouteTable, SimTime, Step};

pub(super) unsafe extern "C" fn create<A: ArbiterPlugin>(
    _host: *const Host,
    fabric: *const FabricView<'_>,
    params: *const c_char,
    params_len: usize,
    state: *mut *mut c_void,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    let (fabric, err) = unsafe { (&*fabric, &mut *err) };
    guarded(err, || -> Result<(), Fault> {
        // SAFETY: `params` points to `params_len` bytes, valid for the call.
        let params = unsafe { text_of(params, params_len, "the text of the parameters") }?;
        let arbiter = Box::new(A::create(fabric, params)?);
        // SAFETY: `state` is a slot of the host's.
        unsafe { *state = Box::into_raw(arbiter).cast() };
        Ok(())
    })
}

pub(super) unsafe extern "C" fn destroy<A: ArbiterPlugin>(state: *mut c_void) {
    // SAFETY: the module's contract.
    unsafe { drop_instance::<A>(state) };
}

pub(super) unsafe extern "C" fn reset<A: ArbiterPlugin>(state: *mut c_void, err: *mut ErrorBuffer<'_>) -> i32 {
    // SAFETY: the module's contract.
    let (arbiter, err) = unsafe { (&mut *state.cast::<A>(), &mut *err) };
    guarded(err, || {
        arbiter.reset();
        Ok::<(), ArbiterError>(())
    })
}

pub(super) unsafe extern "C" fn admit<A: ArbiterPlugin>(
    state: *mut c_void,
    links: *const u32,
    len: usize,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract; LinkId is transparent over u32.
    let (arbiter, links, err) =
        unsafe { (&mut *state.cast::<A>(), std::slice::from_raw_parts(links.cast::<LinkId>(), len), &mut *err) };
    guarded(err, || arbiter.admit(links))
}

pub(super) unsafe extern "C" fn allocate<A: ArbiterPlugin>(
    state: *mut c_void,
    phase: *const PhaseView<'_>,
    rates: *mut f64,
    bindings: *mut Binding,
    recheck_ps: *mut u64,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    let (arbiter, phase, recheck, err) = unsafe { (&mut *state.cast::<A>(), &*phase, &mut *recheck_ps, &mut *err) };
    let len = phase.len();
    // SAFETY: both have as many slots as the phase has transfers, initialised by the host.
    let (rates, bindings) =
        unsafe { (std::slice::from_raw_parts_mut(rates, len), std::slice::from_raw_parts_mut(bindings, len)) };
    guarded(err, || {
        let mut grant = Grant { rates, bindings, recheck: SimTime(*recheck) };
        arbiter.allocate(phase, &mut grant)?;
        *recheck = grant.recheck.0;
        Ok::<(), ArbiterError>(())
    })
}

pub(super) unsafe extern "C" fn explain<A: ArbiterPlugin>(
    state: *mut c_void,
    phase: *const PhaseView<'_>,
    emit: EmitStep,
    sink: *mut c_void,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    let (arbiter, phase, err) = unsafe { (&mut *state.cast::<A>(), &*phase, &mut *err) };
    guarded(err, || {
        let mut steps = Vec::new();
        if arbiter.explain(phase, &mut steps)? {
            for step in &steps {
                emit_step(step, emit, sink);
            }
        }
        Ok::<(), ArbiterError>(())
    })
}

pub(super) unsafe extern "C" fn capacity<A: ArbiterPlugin>(
    state: *mut c_void,
    link: u32,
    routes: *const RouteTable<'_>,
    most: *mut f64,
    err: *mut ErrorBuffer<'_>,
) -> i32 {
    // SAFETY: the module's contract.
    let (arbiter, routes, most, err) = unsafe { (&mut *state.cast::<A>(), &*routes, &mut *most, &mut *err) };
    guarded(err, || {
        if let Some(capacity) = arbiter.capacity(LinkId(link), routes)? {
            *most = capacity;
        }
        Ok::<(), ArbiterError>(())
    })
}

fn emit_step(step: &Step, emit: EmitStep, sink: *mut c_void) {
    let record = StepRecord {
        transfer: step.transfer,
        link: step.link.0,
        rate: step.rate,
        step: Slice::from(step.step.as_bytes()),
        because: Slice::from(&step.because),
    };
    // SAFETY: function and sink come together from the host and are valid for the call of `explain`.
    unsafe { emit(sink, &raw const record) };
}
