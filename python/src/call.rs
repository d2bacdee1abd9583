//! A call into the library: on a thread of its own, without the interpreter's lock, so that the calling thread can look at
//! signals and show progress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyboardInterrupt, PyRecursionError, PyRuntimeError, PySystemExit};
use pyo3::prelude::*;
use weir::optimize::Watch;
use weir::{Error, ErrorKind};

use crate::fault::raised;
use crate::policy::{Around, Policies};

/// How often signals are looked at (*assumed*: within the 100 ms that Ctrl-C may take).
const PERIOD: Duration = Duration::from_millis(50);
/// How long Python's end waits for calls of other threads (*assumed*: longer than a policy needs to hear that it must end).
const PATIENCE: Duration = Duration::from_secs(5);
/// Threads that a search may have (*assumed*: more than a machine has cores, and few enough to be started).
const MOST_THREADS: usize = 1024;
/// Calls of policies within one another (*assumed*: more than anybody needs, and few enough threads).
const MOST_NESTED: usize = 16;
/// Stack of the thread that reads and runs, bytes: as the main thread of a program has it on Linux.
const STACK: usize = 8 << 20;

/// Calls that go on in this process.
static CALLS: AtomicUsize = AtomicUsize::new(0);
/// Whether this process was forked while a call went on: what that call held locked stays so.
static BROKEN: AtomicBool = AtomicBool::new(false);
/// Whether Python is ending: calls that go on are stopped, and none begins.
static ENDING: AtomicBool = AtomicBool::new(false);

/// To be called in a child process after a fork.
#[pyfunction]
pub(crate) fn after_fork() {
    if CALLS.swap(0, SeqCst) > 0 {
        BROKEN.store(true, SeqCst);
    }
}

/// To be called when Python begins to end. It ends the threads that are left where they stand, which no frame of Rust survives:
/// calls that go on are stopped first, and waited for.
#[pyfunction]
pub(crate) fn at_exit(py: Python<'_>) {
    ENDING.store(true, SeqCst);
    let begin = Instant::now();
    py.detach(|| {
        while CALLS.load(SeqCst) > 0 && begin.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Whether calls may go on. Of all exceptions, it is the one that ends a thread without a word.
fn go_on() -> PyResult<()> {
    match ENDING.load(SeqCst) {
        true => Err(PySystemExit::new_err(
            "Python is ending, so weir cannot run: call it before; what calls it by `atexit` is registered after \
             `import weir`",
        )),
        false => Ok(()),
    }
}

/// Counts a call while it lives.
pub(crate) struct Going;

impl Going {
    pub(crate) fn begin() -> PyResult<Self> {
        if BROKEN.load(SeqCst) {
            return Err(PyRuntimeError::new_err(
                "this process was forked while weir was running in another thread, so weir cannot run here: \
                 start processes with the method `spawn` or `forkserver`",
            ));
        }
        go_on()?;
        CALLS.fetch_add(1, SeqCst);
        Ok(Self)
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        // A child of a fork begins at 0.
        let _ = CALLS.fetch_update(SeqCst, SeqCst, |calls| calls.checked_sub(1));
    }
}

/// What a call watches, and what it tells of its progress.
#[derive(Default)]
pub(crate) struct Watched {
    /// Becomes true on Ctrl-C.
    pub(crate) cancel: Arc<AtomicBool>,
    /// Starts and ends of tasks, of a run; candidates, of a search.
    pub(crate) done: Arc<AtomicU64>,
    /// How many there are; 0 while that is not known.
    pub(crate) all: AtomicU64,
    warnings: Mutex<Vec<String>>,
}

impl Watched {
    /// Something that the user should know.
    pub(crate) fn warn_of(&self, warning: String) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
    }

    fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Watch for Watched {
    fn begin(&self, _what: &'static str, all: u64, _known: u64) {
        self.all.store(all, SeqCst);
    }

    fn progress(&self, done: u64, _makespan: Option<u64>) {
        self.done.store(done, SeqCst);
    }

    fn warn(&self, message: &str) {
        self.warn_of(format!("warning: {message}"));
    }
}

/// Does `work` and returns what it gives. A signal whose handler raises stops it; `progress` is called with what is done and
/// how many there are. Warnings become Python's.
pub(crate) fn call<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    policies: &Policies,
    work: impl FnOnce(&Watched) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let _going = Going::begin()?;
    let watched = Watched::default();
    let done = py.detach(|| on_thread(progress, policies, &watched, work));
    let warned = watched
        .warnings()
        .into_iter()
        .try_for_each(|warning| py.import("weir._errors")?.call_method1("warn", (warning,)).map(drop));
    // Where warnings are errors, they come behind what went wrong.
    let done = done?.map_err(|error| raised(py, &error, policies))?;
    warned.map(|()| done)
}

/// As [`call`], on as many threads as there are cores: what searches use.
pub(crate) fn call_on_all<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    policies: &Policies,
    threads: Option<usize>,
    work: impl FnOnce(&Watched) -> Result<T, Error> + Send,
) -> PyResult<T> {
    call(py, progress, policies, |watched| {
        if let Some(threads) = threads.filter(|&threads| threads > MOST_THREADS) {
            return Err(Error::input(format!("threads: {threads} is too many: give {MOST_THREADS} at most")));
        }
        // Of the call alone: threads of a pool that outlives it would be missing after a fork.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
        let pool = pool.map_err(|error| Error::input(format!("the threads cannot be started: {error}")))?;
        pool.install(|| work(watched))
    })
}

fn on_thread<T: Send>(
    progress: Option<&Py<PyAny>>,
    policies: &Policies,
    watched: &Watched,
    work: impl FnOnce(&Watched) -> Result<T, Error> + Send,
) -> PyResult<Result<T, Error>> {
    let work = || match policies.is_empty() {
        true => work(watched),
        // The thread's state in the interpreter stays from call to call of a policy.
        false => Python::try_attach(|py| py.detach(|| work(watched)))
            .unwrap_or_else(|| Err(Error::new(ErrorKind::Cancelled, "Python has ended"))),
    };
    let (over, ended) = mpsc::channel::<()>();
    // What the policy of a call around this one waits for ends with that call.
    let around = Around::here();
    if around.depth() >= MOST_NESTED {
        return Err(PyRecursionError::new_err(format!(
            "policies call weir within one another, {MOST_NESTED} deep: let `allocate` not run what asks it again"
        )));
    }
    thread::scope(|scope| {
        let within = around.clone();
        let body = move || {
            let _over = over;
            catch_unwind(AssertUnwindSafe(|| within.enclose(work)))
        };
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, body)?;
        let mut interrupted = None;
        while let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(PERIOD) {
            if interrupted.is_none() {
                // Where the interpreter has ended there is nobody to return to: its last thread begins no call.
                let looked = Python::try_attach(|py| look(py, progress, watched, &around));
                interrupted = looked.unwrap_or_else(|| rest()).err();
                watched.cancel.store(interrupted.is_some(), SeqCst);
            } else {
                policies.interrupt();
            }
        }
        let ended = thread.join().and_then(|ended| ended);
        match (interrupted, ended) {
            (Some(error), _) => Err(error),
            (None, Ok(answer)) => Ok(answer),
            (None, Err(_)) => {
                Err(PyRuntimeError::new_err("weir has a defect: its message is on stderr; please report it"))
            }
        }
    })
}

/// Waits for the end of the process.
fn rest() -> ! {
    loop {
        thread::park();
    }
}

fn look(py: Python<'_>, progress: Option<&Py<PyAny>>, watched: &Watched, around: &Around) -> PyResult<()> {
    go_on()?;
    py.check_signals()?;
    if around.is_interrupted() {
        return Err(PyKeyboardInterrupt::new_err(()));
    }
    if let Some(progress) = progress {
        progress.call1(py, (watched.done.load(SeqCst), watched.all.load(SeqCst)))?;
    }
    Ok(())
}
