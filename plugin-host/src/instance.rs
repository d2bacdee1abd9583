//! What instances of all kinds share: a state, the texts of errors, and an end after a panic.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir_plugin_api::abi::{DestroyFn, ErrorBuffer, Host, code};
use weir_plugin_api::{CallError, Slice};

use crate::call::{Call, CallSlot};
use crate::host::InstanceHost;
use crate::rounding::FloatControl;

/// Room for the text of an error, in bytes (*assumed*: a line for a person is shorter).
const ERROR_CAPACITY: usize = 2048;

/// An instance inside of a library. After a panic it is never called again, but for `destroy` when it is dropped.
pub(crate) struct Instance {
    path: PathBuf,
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
        let floats = FloatControl::now();
        let code = slot.run(Call::Create, || create(host.as_ptr(), &raw mut state, &raw mut err));
        let unchanged = check_floats(path, Call::Create, floats);
        answer(path, Call::Create, code, &err)?;
        let made = Self { path: path.to_owned(), state, destroy, stopped: None, error_memory, _host: host, slot };
        unchanged.map(|()| made)
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
        let (state, floats) = (self.state, FloatControl::now());
        let code = self.slot.run(call, || f(state, &raw mut err));
        let unchanged = check_floats(&self.path, call, floats);
        let result = answer(&self.path, call, code, &err).and(unchanged);
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
        CallError::Failed(format!("{} of {} {what}", call.word(), self.path.display()))
    }
}

/// Restores how numbers are rounded.
///
/// # Errors
/// A call has changed it.
#[inline]
fn check_floats(path: &Path, call: Call, before: FloatControl) -> Result<(), CallError> {
    if FloatControl::now() == before {
        return Ok(());
    }
    before.restore();
    let what =
        "left the floating-point environment changed (rounding, tiny numbers or traps); restore it before returning";
    Err(CallError::Failed(format!("{} of {} {what}", call.word(), path.display())))
}

#[inline]
fn answer(path: &Path, call: Call, code: i32, err: &ErrorBuffer<'_>) -> Result<(), CallError> {
    if code == code::OK {
        return Ok(());
    }
    let place = || format!("{} of {}", call.word(), path.display());
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
        self.slot.run(Call::Destroy, || unsafe { destroy(state) });
    }
}

/// A slice from a plugin, which may be null where it is empty.
pub(crate) fn readable<'a, T>(slice: &Slice<'a, T>) -> &'a [T] {
    if slice.is_null() { &[] } else { slice.as_slice() }
}
