//! What stands between a plugin's Rust code and the boundary: panics, which must not cross it, become texts and codes.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

use super::error::{ErrorBuffer, code};
use crate::CallError;

thread_local! {
    /// Whether this thread is inside of [`guarded`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    /// Where this thread panicked last, inside of [`guarded`].
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Lets panics that [`guarded`] turns into errors print nothing of their own: the host reports them, in one line. With
/// `RUST_BACKTRACE` set they are printed as ever. The export macros call this in the library that they make, which has its
/// own standard library and so its own hook.
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
        // A thread at its end has no such slot; then the place stays unknown.
        let _ = PLACE.try_with(|slot| slot.replace(place));
    }
    guarded
}

/// Runs a call; an error's or a panic's text goes to the host's buffer.
pub(super) fn guarded(err: &mut ErrorBuffer<'_>, call: impl FnOnce() -> Result<(), CallError>) -> i32 {
    let outside = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(outside);
    match result {
        Ok(Ok(())) => code::OK,
        Ok(Err(CallError::Panicked(text))) => {
            err.write(&text);
            code::PANIC
        }
        Ok(Err(CallError::Refused(text) | CallError::Failed(text))) => {
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

/// Makes an instance from parameters and gives its box away through `state`.
///
/// # Safety
/// `params` points to `len` bytes, valid for the call, and `state` to a slot of the host's.
pub(super) unsafe fn create_instance<T>(
    params: *const c_char,
    len: usize,
    state: *mut *mut c_void,
    err: &mut ErrorBuffer<'_>,
    make: impl FnOnce(&str) -> Result<T, CallError>,
) -> i32 {
    guarded(err, || {
        // SAFETY: by contract.
        let params = unsafe { text_of(params, len, "the text of the parameters") }?;
        let instance = Box::new(make(params)?);
        // SAFETY: by contract.
        unsafe { *state = Box::into_raw(instance).cast() };
        Ok(())
    })
}

/// Drops an instance; what it does then may panic.
///
/// # Safety
/// `state` is the box that `create` gave away, and this is its only `destroy`.
pub(super) unsafe fn drop_instance<T>(state: *mut c_void) {
    // SAFETY: by contract.
    let instance = unsafe { Box::from_raw(state.cast::<T>()) };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(instance))) {
        std::mem::forget(payload);
    }
}

/// A text of the host's.
///
/// # Safety
/// `text` points to `len` bytes, valid for `'a`.
pub(super) unsafe fn text_of<'a>(text: *const c_char, len: usize, what: &str) -> Result<&'a str, CallError> {
    // SAFETY: by contract.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), len) };
    std::str::from_utf8(bytes).map_err(|e| CallError::Failed(format!("{what} is not UTF-8: {e}")))
}
