//! C functions around an arbiter written in Rust: each catches panics, which must not cross the boundary.
//!
//! The callers' duties (the safety contract of every function here) are those of `weir_plugin.h`: `state` comes from
//! `create` of the same table and was not destroyed; views, buffers and slots are valid for the call and not shared with
//! another thread.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

use super::table::{EmitStep, Host, StepRecord, code};
use super::{ErrorBuffer, Slice};
use crate::{ArbiterError, ArbiterPlugin, Binding, FabricView, Grant, LinkId, PhaseView, SimTime, Step};

thread_local! {
    /// Whether this thread is inside of [`guarded`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    /// Where this thread panicked last, inside of [`guarded`].
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Lets panics that [`guarded`] turns into errors print nothing of their own: the host tells them, in one line. With
/// `RUST_BACKTRACE` set they are printed as ever. [`crate::export_arbiters!`] calls this in the library that it makes,
/// which has its own standard library and so its own hook.
#[doc(hidden)]
pub fn keep_panics_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !note_place(info) || std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
                previous(info);
            }
        }));
    });
}

/// Keeps the place of a panic inside of [`guarded`]; false for any other panic.
fn note_place(info: &PanicHookInfo<'_>) -> bool {
    let guarded = GUARDED.try_with(Cell::get).unwrap_or(false);
    if guarded {
        let place = info.location().map(|l| format!("{}:{}", l.file(), l.line()));
        // A thread at its end has no such slot; then the place is not told.
        let _ = PLACE.try_with(|slot| slot.replace(place));
    }
    guarded
}

/// Runs a call; an error's or a panic's text goes to the host's buffer.
fn guarded(err: &mut ErrorBuffer<'_>, call: impl FnOnce() -> Result<(), ArbiterError>) -> i32 {
    let outside = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(outside);
    match result {
        Ok(Ok(())) => code::OK,
        Ok(Err(ArbiterError::Panicked(text))) => {
            err.write(&text);
            code::PANIC
        }
        Ok(Err(ArbiterError::Refused(text) | ArbiterError::Failed(text))) => {
            err.write(&text);
            code::ERROR
        }
        Err(payload) => {
            let text = panic_text(payload.as_ref());
            match PLACE.take() {
                Some(place) => err.write(&format!("{text}, at {place}")),
                None => err.write(text),
            }
            // Dropping a payload runs the plugin's code, which may panic again, outside of any guard.
            std::mem::forget(payload);
            code::PANIC
        }
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    match (payload.downcast_ref::<&'static str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "a panic without text",
    }
}

/// A text that lives as long as the library, or null.
pub(super) fn static_text(text: impl FnOnce() -> String) -> *const c_char {
    match catch_unwind(AssertUnwindSafe(|| CString::new(text()))) {
        Ok(Ok(text)) => text.into_raw(),
        Ok(Err(_)) => std::ptr::null(),
        Err(payload) => {
            std::mem::forget(payload);
            std::ptr::null()
        }
    }
}

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
    guarded(err, || {
        // SAFETY: `params` points to `params_len` bytes, valid for the call.
        let params = unsafe { std::slice::from_raw_parts(params.cast::<u8>(), params_len) };
        let params = std::str::from_utf8(params)
            .map_err(|e| ArbiterError::Failed(format!("the parameters are not UTF-8: {e}")))?;
        let arbiter = Box::new(A::create(fabric, params)?);
        // SAFETY: `state` is a slot of the host's.
        unsafe { *state = Box::into_raw(arbiter).cast() };
        Ok(())
    })
}

pub(super) unsafe extern "C" fn destroy<A: ArbiterPlugin>(state: *mut c_void) {
    // SAFETY: `state` is the box that `create` gave away, and this is its only `destroy`.
    let arbiter = unsafe { Box::from_raw(state.cast::<A>()) };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(arbiter))) {
        std::mem::forget(payload);
    }
}

pub(super) unsafe extern "C" fn reset<A: ArbiterPlugin>(state: *mut c_void, err: *mut ErrorBuffer<'_>) -> i32 {
    // SAFETY: the module's contract.
    let (arbiter, err) = unsafe { (&mut *state.cast::<A>(), &mut *err) };
    guarded(err, || {
        arbiter.reset();
        Ok(())
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
        Ok(())
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
        Ok(())
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
