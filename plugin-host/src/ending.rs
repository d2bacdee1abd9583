//! The end of the program: whether it is weir's own, and that it comes.
//!
//! A library leaves functions for the end of the program, and its threads may end that at any time. So weir says when it ends
//! by itself ([`OwnEnd`]), or ends without these functions ([`end_at_once`]). Any other end is a plugin's (see `crash.rs`).

#[cfg(unix)]
pub(crate) use followed::is_own;

/// Until this is dropped, a program that ends is ended by a plugin. From then on weir ends by itself, and what libraries have
/// left for that may take as long as a call.
#[derive(Debug)]
pub struct OwnEnd;

impl Drop for OwnEnd {
    fn drop(&mut self) {
        #[cfg(unix)]
        followed::begin();
    }
}

/// Ends the program with a code, without what libraries have left for its end: that may never return.
pub fn end_at_once(code: i32) -> ! {
    #[cfg(unix)]
    // SAFETY: nothing of the program runs after it.
    unsafe {
        libc::_exit(code)
    }
    #[cfg(not(unix))]
    std::process::exit(code)
}

#[cfg(unix)]
mod followed {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

    use crate::crash::{end_as_stuck, is_named};
    use crate::watchdog::{DEFAULT_LIMIT, Watchdog};

    static OWN: AtomicBool = AtomicBool::new(false);

    /// Whether the program ends because weir wants that.
    pub(crate) fn is_own() -> bool {
        OWN.load(SeqCst)
    }

    /// weir ends by itself. Where it has not ended within the limit of a call, plugins are named and the program ended.
    pub(super) fn begin() {
        OWN.store(true, SeqCst);
        if is_named() {
            let limit = Watchdog::limit_from_env().unwrap_or(DEFAULT_LIMIT);
            // Where the system starts no thread, a signal still ends the program.
            let _ = std::thread::Builder::new().name("plugin-end".to_owned()).spawn(move || {
                std::thread::sleep(limit);
                end_as_stuck(limit);
            });
        }
    }
}
