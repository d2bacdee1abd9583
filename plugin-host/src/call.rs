//! Which call into a plugin is running, cheap enough to note at every call: a few stores, no clock. With logs at level
//! trace, each call is a span, too.

use std::cell::Cell;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::record::{Record, record};
use crate::rounding;
use crate::stuck::StuckCall;

/// The calls into a plugin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub(crate) enum Call {
    Open = 1,
    Create = 2,
    Admit = 3,
    Allocate = 4,
    Explain = 5,
    Reset = 6,
    Destroy = 7,
    Plan = 8,
    Estimate = 9,
    Alternatives = 10,
    Capacity = 11,
    Choose = 12,
    Commit = 13,
    State = 14,
    /// Grants told to a child together with a question.
    CommitOrChoose = 15,
}

/// Bits of the state that hold the call; 0 there is "none".
const CALL_BITS: u64 = 15;
/// One call more.
const ONE_CALL: u64 = CALL_BITS + 1;

impl Call {
    const ALL: [Self; 15] = [
        Self::Open,
        Self::Create,
        Self::Admit,
        Self::Allocate,
        Self::Explain,
        Self::Reset,
        Self::Destroy,
        Self::Plan,
        Self::Estimate,
        Self::Alternatives,
        Self::Capacity,
        Self::Choose,
        Self::Commit,
        Self::State,
        Self::CommitOrChoose,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Open => "opening it",
            Self::Create => "create",
            Self::Admit => "admit",
            Self::Allocate => "allocate",
            Self::Explain => "explain",
            Self::Reset => "reset",
            Self::Destroy => "destroy",
            Self::Plan => "plan",
            Self::Estimate => "estimate",
            Self::Alternatives => "alternatives",
            Self::Capacity => "capacity",
            Self::Choose => "choose",
            Self::Commit => "commit",
            Self::State => "state",
            Self::CommitOrChoose => "commit or choose",
        }
    }

    /// Whether an error of this call says that what was asked cannot be done, rather than that the plugin failed.
    pub(crate) fn may_refuse(self) -> bool {
        matches!(self, Self::Create | Self::Admit | Self::Plan | Self::Estimate | Self::Alternatives)
    }

    /// The call that a state holds.
    pub(crate) fn of(state: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|&call| call as u64 == state & CALL_BITS)
    }
}

/// Where one instance (or one library being opened) notes its calls: how many there were, and which one is running.
pub(crate) struct CallSlot {
    pub(crate) plugin: String,
    pub(crate) path: PathBuf,
    state: AtomicU64,
    /// Whom a crash in a call is named after; `None` where the call runs in a child.
    record: Option<&'static Record>,
    /// Where the call runs in a child: ends that, with the call that does not return.
    end_child: Option<Box<EndChild>>,
}

type EndChild = dyn Fn(&StuckCall) + Send + Sync;

impl fmt::Debug for CallSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallSlot").field("plugin", &self.plugin).field("path", &self.path).finish_non_exhaustive()
    }
}

thread_local! {
    /// The call that this thread is in. Without initialisation or end of its own, a signal may read it.
    static RUNNING: Cell<Option<(&'static Record, Call)>> = const { Cell::new(None) };
}

/// Notes a call of this thread until the guard is dropped; calls may be nested.
struct Running(Option<(&'static Record, Call)>);

impl Running {
    #[inline]
    fn note(record: Option<&'static Record>, call: Call) -> Self {
        Self(RUNNING.replace(record.map(|record| (record, call))))
    }
}

impl Drop for Running {
    #[inline]
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

/// The call that this thread is in.
#[cfg(unix)]
pub(crate) fn running() -> Option<(&'static Record, Call)> {
    RUNNING.get()
}

/// The slots of all living instances, for the watchdog.
static SLOTS: Mutex<Vec<Weak<CallSlot>>> = Mutex::new(Vec::new());

impl CallSlot {
    pub(crate) fn register(plugin: String, path: PathBuf) -> Arc<Self> {
        Self::register_ending(plugin, path, None)
    }

    /// As [`Self::register`], of an instance in a child, which `end` ends.
    pub(crate) fn register_child(
        plugin: String,
        path: PathBuf,
        end: impl Fn(&StuckCall) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Self::register_ending(plugin, path, Some(Box::new(end)))
    }

    fn register_ending(plugin: String, path: PathBuf, end_child: Option<Box<EndChild>>) -> Arc<Self> {
        let record = end_child.is_none().then(|| record(&plugin, &path));
        let slot = Arc::new(Self { plugin, path, state: AtomicU64::new(0), record, end_child });
        let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|slot| slot.strong_count() > 0);
        slots.push(Arc::downgrade(&slot));
        slot
    }

    /// All slots alive, in order of registration.
    pub(crate) fn alive() -> Vec<Arc<Self>> {
        SLOTS.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade).collect()
    }

    /// Runs a call. Only one thread at a time calls an instance, so plain stores are enough.
    #[inline]
    pub(crate) fn run<T>(&self, call: Call, f: impl FnOnce() -> T) -> T {
        if tracing::enabled!(tracing::Level::TRACE) {
            let _call = tracing::trace_span!("plugin", name = self.plugin, call = call.word()).entered();
            return self.noted(call, f);
        }
        self.noted(call, f)
    }

    /// Runs a call of the plugin's code in this process, and restores the floating-point environment after it. The second
    /// value says whether the call left that as it was.
    #[inline]
    pub(crate) fn run_code<T>(&self, call: Call, f: impl FnOnce() -> T) -> (T, bool) {
        rounding::kept(|| self.run(call, f))
    }

    #[inline]
    fn noted<T>(&self, call: Call, f: impl FnOnce() -> T) -> T {
        let idle = (self.state.load(Relaxed) & !CALL_BITS).wrapping_add(ONE_CALL);
        self.state.store(idle | call as u64, Relaxed);
        let _running = Running::note(self.record, call);
        let result = f();
        self.state.store(idle, Relaxed);
        result
    }

    /// Ends the child in which a call does not return; false where it runs in this process.
    pub(crate) fn end_child(&self, stuck: &StuckCall) -> bool {
        self.end_child.as_ref().map(|end| end(stuck)).is_some()
    }

    pub(crate) fn state(&self) -> u64 {
        self.state.load(Relaxed)
    }
}
