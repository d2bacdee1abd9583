//! What instances of all kinds share: a state, the texts of errors, and an end after a panic.

use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

use weir_plugin_api::abi::{DestroyFn, ErrorBuffer, Host, code};
use weir_plugin_api::{CallError, Slice};

use crate::call::{Call, CallSlot};
use crate::failures;
use crate::host::InstanceHost;
use crate::rounding;

/// Room for the text of an error, in bytes (*assumed*: a line for a person is shorter).
const ERROR_CAPACITY: usize = 2048;

/// An instance inside of a library. After a panic it is never called again, but for `destroy` when it is dropped.
pub(crate) struct Instance {
    state: *mut c_void,
    destroy: DestroyFn,
    /// Why the instance is called no more.
    stopped: Option<CallError>,
    error_memory: Vec<u8>,
    /// Kept for the plugin until `destroy` has returned.
    _host: InstanceHost,
    slot: Arc<CallSlot>,
}

// SAFETY: the ABI lets an instance move between threads as long as one at a time calls it, which `&mut self` ensures;
// the other pointers lead to memory owned by this value.
unsafe impl Send for Instance {}

impl Instance {
    /// Creates an instance of the plugin `name` of the library at `path`. `create` calls the table's function, whose
    /// state `destroy` of the same table will free.
    ///
    /// # Errors
    /// What `create` answers.
    pub(crate) fn create(
        name: &str,
        path: &Path,
        destroy: DestroyFn,
        create: impl FnOnce(*const Host, *mut *mut c_void, *mut ErrorBuffer<'_>) -> i32,
    ) -> Result<Self, CallError> {
        let host = InstanceHost::new(name);
        let slot = CallSlot::register(name.to_owned(), path.to_owned());
        let mut state = std::ptr::null_mut();
        let mut error_memory = vec![0; ERROR_CAPACITY];
        let mut err = ErrorBuffer::new(&mut error_memory);
        let place = err.place();
        let (code, is_kept) = slot.run_code(Call::Create, || create(host.as_ptr(), &raw mut state, &raw mut err));
        answer(path, Call::Create, code, &err, place)?;
        let made = Self { state, destroy, stopped: None, error_memory, _host: host, slot };
        floats_kept(path, Call::Create, is_kept).map(|()| made)
    }

    /// Calls a function of the table, unless the instance has been stopped.
    ///
    /// # Errors
    /// What the function answers.
    #[inline]
    pub(crate) fn call(
        &mut self,
        call: Call,
        f: impl FnOnce(*mut c_void, *mut ErrorBuffer<'_>) -> i32,
    ) -> Result<(), CallError> {
        if let Some(error) = &self.stopped {
            return Err(error.clone());
        }
        let mut err = ErrorBuffer::new(&mut self.error_memory);
        let (state, place) = (self.state, err.place());
        let (code, is_kept) = self.slot.run_code(call, || f(state, &raw mut err));
        let path = &self.slot.path;
        let result = answer(path, call, code, &err, place).and(floats_kept(path, call, is_kept));
        if code != code::ERROR
            && let Err(error) = &result
        {
            self.stopped = Some(error.clone());
        }
        result
    }

    /// Calls the instance no more, because of an error.
    pub(crate) fn stop(&mut self, error: CallError) {
        self.stopped = Some(error);
    }

    /// Whether the instance is called no more.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// That what a call did is wrong.
    pub(crate) fn failed(&self, call: Call, what: &str) -> CallError {
        CallError::Failed(format!("{} of {} {what}", call.word(), self.slot.path.display()))
    }
}

/// Whether a call left the floating-point environment as it was.
#[inline]
fn floats_kept(path: &Path, call: Call, is_kept: bool) -> Result<(), CallError> {
    if is_kept {
        return Ok(());
    }
    Err(CallError::Failed(format!("{} of {} {}", call.word(), path.display(), rounding::CHANGED)))
}

/// What a call says by its code. `place` is that of the error's text: the plugin may have put another one there.
#[inline]
fn answer(
    path: &Path,
    call: Call,
    code: i32,
    err: &ErrorBuffer<'_>,
    place: (*const u8, usize),
) -> Result<(), CallError> {
    if code == code::OK {
        return Ok(());
    }
    let of = || format!("{} of {}", call.word(), path.display());
    if err.place() != place {
        let what = "failed, and moved the place of its error's text; write at `err->data`, and leave that as it is";
        return Err(CallError::Failed(format!("{} {what}", of())));
    }
    let text = err.text();
    Err(match code {
        code::ERROR if text.is_empty() => CallError::Failed(format!("{} failed without giving a reason", of())),
        code::ERROR if call.may_refuse() => CallError::Refused(text),
        code::ERROR => CallError::Failed(text),
        code::PANIC if text.is_empty() => CallError::Panicked(format!("in {}, without a text", of())),
        code::PANIC => CallError::Panicked(format!("{text} (in {})", of())),
        other => {
            let what = format!("{} returned {other}, which is none of 0, 1 and 2; it is not called again", of());
            CallError::Failed(what)
        }
    })
}

impl Drop for Instance {
    fn drop(&mut self) {
        let (destroy, state) = (self.destroy, self.state);
        // SAFETY: `create` of the same table succeeded for this state, and a value is dropped once; `_host` outlives this
        // call.
        let ((), is_kept) = self.slot.run_code(Call::Destroy, || unsafe { destroy(state) });
        if let Err(error) = floats_kept(&self.slot.path, Call::Destroy, is_kept) {
            failures::note(&self.slot.plugin, error);
        }
    }
}

/// A slice from a plugin, which may be null where it is empty.
pub(crate) fn readable<'a, T>(slice: &Slice<'a, T>) -> &'a [T] {
    if slice.is_null() { &[] } else { slice.as_slice() }
}
