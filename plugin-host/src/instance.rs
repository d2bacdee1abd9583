//! What instances of all kinds share: a state, the texts of errors, and an end after a panic.

use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

use weir_plugin_api::abi::{DestroyFn, ErrorBuffer, Host, code};
use weir_plugin_api::{CallError, Slice};

use crate::call::{Call, CallSlot};
use crate::failures;
use crate::host::InstanceHost;
use crate::rounding::CHANGED;

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
        let memory = (error_memory.as_ptr(), error_memory.len());
        let mut err = ErrorBuffer::new(&mut error_memory);
        let (code, is_kept) = slot.run_code(Call::Create, || create(host.as_ptr(), &raw mut state, &raw mut err));
        answer(path, Call::Create, code, &err, memory)?;
        let made = Self { state, destroy, stopped: None, error_memory, _host: host, slot };
        if is_kept { Ok(made) } else { Err(made.failed(Call::Create, CHANGED)) }
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
        let memory = (self.error_memory.as_ptr(), self.error_memory.len());
        let mut err = ErrorBuffer::new(&mut self.error_memory);
        let state = self.state;
        let (code, is_kept) = self.slot.run_code(call, || f(state, &raw mut err));
        let mut result = answer(&self.slot.path, call, code, &err, memory);
        if result.is_ok() && !is_kept {
            result = Err(self.failed(call, CHANGED));
        }
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

/// What a call has answered; the text of an error is in this memory, of this size.
#[inline]
fn answer(
    path: &Path,
    call: Call,
    code: i32,
    err: &ErrorBuffer<'_>,
    (data, capacity): (*const u8, usize),
) -> Result<(), CallError> {
    if code == code::OK {
        return Ok(());
    }
    let place = || format!("{} of {}", call.word(), path.display());
    if !err.is_over(data, capacity) {
        let what = "changed where the text of its error is to be; write to `data`, and set `len` alone";
        return Err(CallError::Failed(format!("{} {what}", place())));
    }
    let text = err.text();
    Err(match code {
        code::ERROR if text.is_empty() => CallError::Failed(format!("{} failed without giving a reason", place())),
        code::ERROR if call.may_refuse() => CallError::Refused(text),
        code::ERROR => CallError::Failed(text),
        code::PANIC if text.is_empty() => CallError::Panicked(format!("in {}, without a text", place())),
        code::PANIC => CallError::Panicked(format!("{text} (in {})", place())),
        other => {
            let what = format!("{} returned {other}, which is none of 0, 1 and 2; it is not called again", place());
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
        if !is_kept {
            failures::note(&self.slot.plugin, self.failed(Call::Destroy, CHANGED));
        }
    }
}

/// A slice from a plugin, which may be null where it is empty.
pub(crate) fn readable<'a, T>(slice: &Slice<'a, T>) -> &'a [T] {
    if slice.is_null() { &[] } else { slice.as_slice() }
}
