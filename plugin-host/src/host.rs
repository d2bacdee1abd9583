//! What the host offers a plugin: its log, and whether the run has been interrupted.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use weir_plugin_api::abi::Host;

/// Longest line of the log taken from a plugin, in bytes; the rest is cut (*assumed*).
const MAX_LINE: usize = 4096;

static CANCELLED: AtomicBool = AtomicBool::new(false);

/// Tells all plugins, from now on, that the run has been interrupted.
pub fn cancel() {
    CANCELLED.store(true, Relaxed);
}

/// The C structure of one instance, and the name under which it logs. Both are reached through raw pointers only, since
/// the plugin keeps one while this value moves.
pub(crate) struct InstanceHost {
    host: *mut Host,
    name: *mut String,
}

impl InstanceHost {
    pub(crate) fn new(name: &str) -> Self {
        let name = Box::into_raw(Box::new(name.to_owned()));
        let host = Box::into_raw(Box::new(Host { context: name.cast::<c_void>(), log, cancelled }));
        Self { host, name }
    }

    pub(crate) fn as_ptr(&self) -> *const Host {
        self.host
    }
}

impl Drop for InstanceHost {
    fn drop(&mut self) {
        // SAFETY: both come from `Box::into_raw` above, and the plugin's instance was destroyed before.
        unsafe {
            drop(Box::from_raw(self.host));
            drop(Box::from_raw(self.name));
        }
    }
}

unsafe extern "C" fn cancelled(_host: *const Host) -> i32 {
    i32::from(CANCELLED.load(Relaxed))
}

unsafe extern "C" fn log(host: *const Host, level: u32, text: *const c_char, len: usize) {
    if host.is_null() || text.is_null() {
        return;
    }
    // SAFETY: `host` is the structure given to `create`, alive until `destroy` returns, and so is its context; the
    // plugin promises `len` readable bytes.
    let (name, bytes) = unsafe {
        ((*host).context.cast::<String>().as_ref(), std::slice::from_raw_parts(text.cast::<u8>(), len.min(MAX_LINE)))
    };
    let text = String::from_utf8_lossy(bytes);
    let name = name.map_or("", String::as_str);
    // A subscriber that panics must not unwind into C.
    let logged = catch_unwind(AssertUnwindSafe(|| match level {
        1 => tracing::error!(target: "weir::plugin", plugin = name, "{text}"),
        2 => tracing::warn!(target: "weir::plugin", plugin = name, "{text}"),
        3 => tracing::info!(target: "weir::plugin", plugin = name, "{text}"),
        _ => tracing::debug!(target: "weir::plugin", plugin = name, "{text}"),
    }));
    if let Err(payload) = logged {
        std::mem::forget(payload);
    }
}
