//! How far a search is, on a terminal: one line on stderr that is written over again and again.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, park_timeout};
use std::time::{Duration, Instant};

use weir_plugin_api::SimDuration;

/// Time between two lines: short enough to be seen to move.
const SHOWN_EVERY: Duration = Duration::from_millis(250);
/// Searches that end sooner show nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// What a search tells of itself while it runs.
#[derive(Debug)]
pub(super) struct Told {
    /// Candidates that are known.
    pub(super) done: AtomicU64,
    /// The least makespan of them, ps.
    best: AtomicU64,
    /// Share of all that was known when the search began, in parts of 2^32.
    begun: AtomicU64,
}

impl Told {
    /// A candidate, or the best of many, takes `makespan` ps.
    pub(super) fn best(&self, makespan: u64) {
        self.best.fetch_min(makespan, Ordering::Relaxed);
    }

    /// So much was known from a checkpoint.
    pub(super) fn begin(&self, done: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.begun.store(done, Ordering::Relaxed);
    }
}

/// Shows progress while it lives; nothing where stderr is no terminal.
pub(super) struct Progress {
    told: Arc<Told>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// For a search over `all` of `what`.
    pub(super) fn new(what: &'static str, all: u64) -> Self {
        let (done, begun) = (AtomicU64::new(0), AtomicU64::new(0));
        let told = Arc::new(Told { done, best: AtomicU64::new(u64::MAX), begun });
        let over = Arc::new(AtomicBool::new(false));
        let thread = std::io::stderr().is_terminal().then(|| {
            let (told, over) = (Arc::clone(&told), Arc::clone(&over));
            std::thread::spawn(move || show(what, all, &told, &over))
        });
        Self { told, over, thread }
    }

    /// What the search tells.
    pub(super) fn told(&self) -> &Told {
        &self.told
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It cannot panic, and there is nothing left to do if it did.
            let _ = thread.join();
        }
    }
}

fn show(what: &str, all: u64, told: &Told, over: &AtomicBool) {
    let (begin, mut shown) = (Instant::now(), false);
    while !over.load(Ordering::Relaxed) {
        park_timeout(SHOWN_EVERY);
        if begin.elapsed() >= PATIENCE && !over.load(Ordering::Relaxed) {
            let [done, best, begun] = [&told.done, &told.best, &told.begun].map(|n| n.load(Ordering::Relaxed));
            put(&line(what, all, done, begun, best, begin.elapsed()));
            shown = true;
        }
    }
    if shown {
        put("");
    }
}

/// Writes over the line that is there (ECMA-48: carriage return, erase to the end of the line).
fn put(text: &str) {
    let mut stderr = std::io::stderr().lock();
    // There is nowhere to report that stderr is closed.
    let _ = write!(stderr, "\r\u{1b}[K{text}").and_then(|()| stderr.flush());
}

/// What is shown, less than 80 characters. The time left is that of the candidates left at the pace so far.
fn line(what: &str, all: u64, done: u64, begun: u64, best: u64, took: Duration) -> String {
    let percent = done.min(all) as f64 * 100.0 / all.max(1) as f64;
    let mut text = format!("{done} of {all} {what} ({percent:.0} %)");
    if best < u64::MAX {
        text += &format!(", best {}", weir_report::duration(SimDuration(best)));
    }
    if done > begun && all >= done {
        let left = took.as_secs_f64() / (done - begun) as f64 * (all - done) as f64;
        text += &match left {
            0.0..100.0 => format!(", {left:.0} s left"),
            100.0..6000.0 => format!(", {:.0} min left", left / 60.0),
            _ => format!(", {:.0} h left", left / 3600.0),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_is_done_and_left() {
        let after = |seconds| Duration::from_secs(seconds);
        assert_eq!(line("orders", 200, 0, 0, u64::MAX, after(1)), "0 of 200 orders (0 %)");
        // 50 in 10 s: 100 more take 20 s. What a checkpoint held took no time.
        let text = line("orders", 200, 100, 50, 5_000_000_000, after(10));
        assert_eq!(text, "100 of 200 orders (50 %), best 5.000 ms, 20 s left");
        assert!(line("orders", 10_300, 100, 0, 1, after(10)).ends_with(" 17 min left"));
        assert!(line("orders", 1_000_000, 100, 0, 1, after(10)).ends_with(" 28 h left"));
    }
}
