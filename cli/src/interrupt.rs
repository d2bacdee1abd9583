//! Ctrl-C: during a run it asks the simulation to stop, so that what was computed is written; otherwise, and the second
//! time, it ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use crate::failure::{Exit, message};
use crate::output;

static REQUESTED: AtomicBool = AtomicBool::new(false);
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Installs the handler; without one, Ctrl-C ends the program as the system has it.
pub(crate) fn install() {
    let installed = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, SeqCst) || !RUNNING.load(SeqCst) {
            output::settle();
            std::process::exit(Exit::Interrupted as i32);
        }
        weir_plugin_host::cancel();
    });
    if let Err(error) = installed {
        tracing::warn!("Ctrl-C will end the program without partial results: {error}");
    }
}

/// Whether Ctrl-C was pressed.
pub(crate) fn requested() -> bool {
    REQUESTED.load(SeqCst)
}

/// What a simulation watches.
pub(crate) fn flag() -> &'static AtomicBool {
    &REQUESTED
}

/// While this lives, a run is in progress: the first Ctrl-C only asks it to stop.
pub(crate) struct Running;

impl Running {
    /// A run begins.
    pub(crate) fn begin() -> Self {
        RUNNING.store(true, SeqCst);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.store(false, SeqCst);
        if requested() {
            message("note: interrupted; what was computed is written with \"complete\": false");
        }
    }
}
