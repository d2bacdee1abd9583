//! When a search must end: after Ctrl-C, and after its budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, park_timeout};
use std::time::{Duration, Instant};

use crate::interrupt;

/// How often the flag is looked at: well within the 100 ms that Ctrl-C may take.
const LOOK: Duration = Duration::from_millis(5);

/// A flag that a search watches.
pub(crate) struct Stop {
    flag: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Stop {
    /// A flag that is raised after Ctrl-C, or when the budget is spent.
    pub(crate) fn after(budget: Option<Duration>) -> Self {
        let (flag, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (raised, ended) = (Arc::clone(&flag), Arc::clone(&over));
        let begin = Instant::now();
        let watch = move || {
            while !ended.load(Ordering::Relaxed) {
                if interrupt::requested() || budget.is_some_and(|budget| begin.elapsed() >= budget) {
                    raised.store(true, Ordering::Relaxed);
                    return;
                }
                park_timeout(LOOK);
            }
        };
        Self { flag, over, thread: Some(std::thread::spawn(watch)) }
    }

    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.flag
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It cannot panic, and there is nothing left to do if it did.
            let _ = thread.join();
        }
    }
}
