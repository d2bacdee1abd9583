//! Ctrl-C: a run is asked to stop, so that what was computed is written; otherwise the program ends at once, and the
//! second time in any case.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, OnceLock};
use std::thread::sleep;
use std::time::{Duration, Instant};

use weir_plugin_host::CallsUnderWay;

use crate::failure::{Exit, message};
use crate::pending;

/// How long a run may take to notice, or its result to be written, before something else happens (*assumed*: within the
/// 100 ms that Ctrl-C may take).
const LIMIT: Duration = Duration::from_millis(80);

/// What the program does: nothing that a first Ctrl-C must end in an orderly way.
const IDLE: u8 = 0;
/// A run that notices Ctrl-C.
const RUNNING: u8 = 1;
/// Its result is written.
const WRITING: u8 = 2;

/// How long after Ctrl-C files beside the result are written: all ends within 2 s, so that something is left for what was
/// begun (*assumed*).
const PATIENCE: Duration = Duration::from_secs(1);

/// When Ctrl-C came first.
static SINCE: OnceLock<Instant> = OnceLock::new();
static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static STAGE: AtomicU8 = AtomicU8::new(IDLE);

/// Installs the handler; without one, Ctrl-C ends the program as the system has it.
pub(crate) fn install() {
    let installed = ctrlc::set_handler(|| {
        let again = REQUESTED.swap(true, SeqCst);
        SINCE.get_or_init(Instant::now);
        match STAGE.load(SeqCst) {
            _ if again => end(),
            stage @ (RUNNING | WRITING) => {
                if stage == RUNNING {
                    weir_plugin_host::cancel();
                }
                // The handler must stay ready for a second Ctrl-C.
                std::thread::spawn(look_again);
            }
            _ => end(),
        }
    });
    if let Err(error) = installed {
        tracing::warn!("Ctrl-C will end the program without partial results: {error}");
    }
}

/// Ends a run whose arbiter does not return. What takes longer otherwise is finished: a part of a JSON object is of no use.
fn look_again() {
    let mut told = false;
    loop {
        let calls = CallsUnderWay::now();
        sleep(LIMIT);
        let stage = STAGE.load(SeqCst);
        match stage {
            RUNNING if let Some(plugin) = calls.unreturned() => {
                message(&format!(
                    "note: interrupted; plugin `{plugin}` did not return in time, so this run has no result"
                ));
                end();
            }
            RUNNING | WRITING if !told => {
                let what = match stage {
                    RUNNING => "what was running is still being stopped",
                    _ => "a large result is still being written",
                };
                message(&format!("note: {what}; a second Ctrl-C ends at once and cuts it off"));
                told = true;
            }
            RUNNING => {}
            _ => return,
        }
    }
}

fn end() -> ! {
    pending::rescue();
    CallsUnderWay::now().end_children();
    weir_plugin_host::end_at_once(Exit::Interrupted as i32)
}

pub(crate) fn requested() -> bool {
    REQUESTED.load(SeqCst)
}

/// Whether Ctrl-C came so long ago that nothing but the result itself is worth waiting for.
pub(crate) fn is_overdue() -> bool {
    SINCE.get().is_some_and(|since| since.elapsed() > PATIENCE)
}

/// What a simulation watches.
pub(crate) fn flag() -> &'static Arc<AtomicBool> {
    &REQUESTED
}

/// Says that what was running has stopped, and that its result is being put together.
pub(crate) fn finishing() {
    // Where nothing was running there is nothing to say.
    let _ = STAGE.compare_exchange(RUNNING, WRITING, SeqCst, SeqCst);
}

/// Marks what the program is doing while it lives.
pub(crate) struct Stage(());

impl Stage {
    /// A run is in progress: Ctrl-C asks it to stop.
    pub(crate) fn running() -> Self {
        STAGE.store(RUNNING, SeqCst);
        Self(())
    }

    /// A result is being written: Ctrl-C lets it be finished.
    pub(crate) fn writing() -> Self {
        STAGE.store(WRITING, SeqCst);
        Self(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        STAGE.store(IDLE, SeqCst);
    }
}
