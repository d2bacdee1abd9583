//! Names a call into a plugin that does not return.
//!
//! A thread looks at the slots of all instances now and then; a slot that holds the same call for longer than the limit is
//! reported, once. Calls themselves only count (see `call.rs`), so the limit is exceeded by up to one look.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::call::{Call, CallSlot};
use crate::error::PluginError;
use crate::stuck::{LIMIT_VARIABLE, StuckCall};

/// The limit where the user sets none (*assumed*: a call takes microseconds).
pub(crate) const DEFAULT_LIMIT: Duration = Duration::from_secs(10);

/// The watching thread; it ends when this is dropped.
#[derive(Debug)]
pub struct Watchdog {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Starts watching all plugin calls of this process. `report` is called on the watching thread, once for each call
    /// that exceeds the limit; since such a call cannot be ended, it will usually end the process.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn start(limit: Duration, report: impl FnMut(&StuckCall) + Send + 'static) -> std::io::Result<Self> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("plugin-watchdog".to_owned())
            .spawn(move || watch(limit, &stopped, report))?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// The limit that `WEIR_PLUGIN_LIMIT` sets, or 10 s.
    ///
    /// # Errors
    /// The variable holds no time.
    pub fn limit_from_env() -> Result<Duration, PluginError> {
        match std::env::var_os(LIMIT_VARIABLE) {
            None => Ok(DEFAULT_LIMIT),
            Some(text) => {
                let text = text.to_string_lossy().into_owned();
                parse_limit(&text).ok_or(PluginError::Limit { variable: LIMIT_VARIABLE, text })
            }
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let (stop, wake) = &*self.stop;
        *stop.lock().unwrap_or_else(PoisonError::into_inner) = true;
        wake.notify_all();
        let Some(thread) = self.thread.take() else { return };
        // Dropped by `report` itself, the thread cannot wait for its own end.
        if thread.thread().id() != std::thread::current().id() {
            // A report that panicked has said so already.
            let _ = thread.join();
        }
    }
}

/// The calls into plugins that are under way at an instant.
#[derive(Debug)]
pub struct CallsUnderWay(Vec<(Arc<CallSlot>, u64)>);

impl CallsUnderWay {
    /// At this instant.
    #[must_use]
    pub fn now() -> Self {
        let slots = CallSlot::alive().into_iter().map(|slot| (slot.state(), slot));
        Self(slots.filter(|(state, _)| Call::of(*state).is_some()).map(|(state, slot)| (slot, state)).collect())
    }

    /// The plugin of one of them that has not returned since.
    #[must_use]
    pub fn unreturned(&self) -> Option<&str> {
        self.0.iter().find(|(slot, state)| slot.state() == *state).map(|(slot, _)| slot.plugin.as_str())
    }

    /// Ends the children in which they run: a child keeps what it has of the program's pipes open, and outlives it by a second.
    pub fn end_children(&self) {
        for (slot, state) in &self.0 {
            let Some(call) = Call::of(*state).map(Call::word) else { continue };
            let (plugin, path) = (slot.plugin.clone(), slot.path.clone());
            slot.end_child(&StuckCall { plugin, path, call, limit: Duration::ZERO });
        }
    }
}

/// `10s` or `500ms`, above 0.
fn parse_limit(text: &str) -> Option<Duration> {
    let (number, ms_per_unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (text.strip_suffix('s')?, 1000),
    };
    let ms = number.trim().parse::<u64>().ok()?.checked_mul(ms_per_unit)?;
    (ms > 0).then(|| Duration::from_millis(ms))
}

/// What was last seen in a slot.
struct Seen {
    state: u64,
    since: Instant,
    reported: bool,
}

fn watch(limit: Duration, stop: &(Mutex<bool>, Condvar), mut report: impl FnMut(&StuckCall)) {
    // An eighth of the limit keeps the excess small; looking costs a lock and a load per instance.
    let pause = (limit / 8).clamp(Duration::from_millis(2), Duration::from_secs(1));
    let mut seen = BTreeMap::new();
    let mut stopped = stop.0.lock().unwrap_or_else(PoisonError::into_inner);
    while !*stopped {
        stopped = stop.1.wait_timeout(stopped, pause).unwrap_or_else(PoisonError::into_inner).0;
        if *stopped {
            return;
        }
        // Not held during a report, which may drop the watchdog.
        drop(stopped);
        look(limit, &mut seen, &mut report);
        stopped = stop.0.lock().unwrap_or_else(PoisonError::into_inner);
    }
}

fn look(limit: Duration, seen: &mut BTreeMap<usize, Seen>, report: &mut impl FnMut(&StuckCall)) {
    let now = Instant::now();
    let mut current = BTreeMap::new();
    for slot in CallSlot::alive() {
        let state = slot.state();
        let Some(call) = Call::of(state) else { continue };
        // An address can be used again by a later slot; the count in the state then differs in all but freak cases.
        let key = Arc::as_ptr(&slot).addr();
        let mut entry = match seen.remove(&key) {
            Some(entry) if entry.state == state => entry,
            _ => Seen { state, since: now, reported: false },
        };
        if !entry.reported && now - entry.since >= limit {
            entry.reported = true;
            let stuck = StuckCall { plugin: slot.plugin.clone(), path: slot.path.clone(), call: call.word(), limit };
            if !slot.end_child(&stuck) {
                report(&stuck);
            }
        }
        current.insert(key, entry);
    }
    *seen = current;
}

#[cfg(test)]
mod tests {
    use super::{CallsUnderWay, parse_limit};
    use crate::call::{Call, CallSlot};
    use std::time::Duration;

    /// Between two looks at a plugin that is asked again and again, no call is the same.
    #[test]
    fn a_call_that_returns_and_is_made_again_is_another() {
        let slot = CallSlot::register("asked-often".to_owned(), "a.so".into());
        let of_slot = |calls: &CallsUnderWay| calls.unreturned() == Some("asked-often");
        assert!(!of_slot(&CallsUnderWay::now()));
        let before = slot.run(Call::Allocate, || {
            let calls = CallsUnderWay::now();
            assert!(of_slot(&calls));
            calls
        });
        assert!(!of_slot(&before));
        slot.run(Call::Allocate, || assert!(!of_slot(&before) && of_slot(&CallsUnderWay::now())));
    }

    #[test]
    fn a_limit_is_a_number_with_its_unit() {
        assert_eq!(parse_limit("10s"), Some(Duration::from_secs(10)));
        assert_eq!(parse_limit("500 ms"), Some(Duration::from_millis(500)));
        for wrong in ["", "10", "0s", "-1s", "1.5s", "10m", "s", "99999999999999999999s"] {
            assert_eq!(parse_limit(wrong), None, "{wrong}");
        }
    }
}
