//! Whether stdout was open when the program began. The standard library opens `/dev/null` in place of descriptors that are
//! closed, before `main`: what is written there would be lost without a word.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether the program was started with stdout closed, as `>&-` does it; false where that cannot be known.
#[must_use]
pub fn stdout_was_closed() -> bool {
    STDOUT_WAS_CLOSED.load(Ordering::Relaxed)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod hook {
    use super::{AtomicBool, Ordering, STDOUT_WAS_CLOSED, c_int};

    /// `fcntl.h`, the same number on both systems.
    const F_GETFD: c_int = 1;
    const STDOUT: c_int = 1;

    unsafe extern "C" {
        fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
    }

    extern "C" fn look() {
        let closed: &AtomicBool = &STDOUT_WAS_CLOSED;
        // SAFETY: the call asks for a flag of a descriptor, open or not, and changes nothing.
        closed.store(unsafe { fcntl(STDOUT, F_GETFD) } == -1, Ordering::Relaxed);
    }

    // SAFETY: the loader calls the functions of this section, of this type, once before `main`; this one needs nothing that
    // is set up later.
    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    static HOOK: extern "C" fn() = look;
}
