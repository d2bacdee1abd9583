//! How far a search or a large run is: one line on stderr where that is a terminal, nothing elsewhere.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use weir::optimize::Watch;
use weir_plugin_api::SimDuration;

use crate::failure::message;
use crate::interrupt;

/// What ends sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Shows the progress and the warnings of a search.
#[derive(Default)]
pub(crate) struct Terminal(Mutex<Option<Progress>>);

impl Watch for Terminal {
    fn begin(&self, what: &'static str, all: u64, known: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Progress::new(what, all, known));
    }

    fn progress(&self, done: u64, makespan: Option<u64>) {
        let mut progress = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        progress.iter_mut().for_each(|progress| progress.update(done, makespan));
    }

    fn finish(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
        interrupt::finishing();
    }

    fn warn(&self, text: &str) {
        message(&format!("warning: {text}"));
    }
}

/// Transfers from which a run may take long enough for a line (*assumed*: some 10^5 a second are simulated).
const LARGE: usize = 100_000;
/// How often the line of a run is drawn anew.
const PERIOD: Duration = Duration::from_millis(100);

/// Runs `run` and shows how many of the starts and ends of its `transfers` are done, which it counts in what it is handed.
/// Without a terminal, and for small runs, nobody counts.
pub(crate) fn of_run<T>(transfers: usize, run: impl FnOnce(Option<Arc<AtomicU64>>) -> T) -> T {
    if transfers < LARGE || !stderr().is_terminal() {
        return run(None);
    }
    let (events, over) = (Arc::new(AtomicU64::new(0)), AtomicBool::new(false));
    thread::scope(|scope| {
        let line = scope.spawn(|| {
            let mut progress = Progress::new("transfers", transfers as u64, 0);
            while !over.load(Ordering::Relaxed) {
                thread::park_timeout(PERIOD);
                // A start and an end of each.
                progress.update(events.load(Ordering::Relaxed) / 2, None);
            }
        });
        // Also where the run panics: the scope waits for the line.
        let _ending = Ending { over: &over, line: line.thread().clone() };
        run(Some(Arc::clone(&events)))
    })
}

/// Ends the line of a run when it is dropped.
struct Ending<'a> {
    over: &'a AtomicBool,
    line: Thread,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.line.unpark();
    }
}

/// The line of one search or run, shown while it lives.
struct Progress {
    what: &'static str,
    all: u64,
    begin: Instant,
    /// How many were known at the begin: they took none of the time.
    known: u64,
    /// The least makespan so far, ps.
    best: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// For a search or run over `all` of `what`; 0 for as many as time allows.
    fn new(what: &'static str, all: u64, known: u64) -> Self {
        Self { what, all, begin: Instant::now(), known, best: u64::MAX, bar: None }
    }

    /// So many candidates are done; the last of them, or the best of them, takes `makespan` ps.
    fn update(&mut self, done: u64, makespan: Option<u64>) {
        self.best = makespan.map_or(self.best, |makespan| self.best.min(makespan));
        if self.begin.elapsed() < PATIENCE {
            return;
        }
        if self.bar.is_none() {
            self.bar = Some(self.start());
        }
        let Some(bar) = &self.bar else { return };
        if self.best < u64::MAX {
            bar.set_message(format!(", best {}", weir_report::duration(SimDuration(self.best))));
        }
        bar.set_position(if self.all == 0 { done } else { done.min(self.all) });
    }

    /// The line, which counts the time since the search began.
    fn start(&self) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(Some(self.all), ProgressDrawTarget::stderr()).with_prefix(self.what);
        // The words are known, so that the template is.
        let line = match self.all {
            0 => "{pos} {prefix}{msg}, {elapsed}",
            _ => "{pos} of {len} {prefix} ({percent} %){msg}, {eta} left",
        };
        if let Ok(style) = ProgressStyle::with_template(line) {
            bar.set_style(style);
        }
        let bar = bar.with_position(self.known).with_elapsed(self.begin.elapsed());
        bar.reset_eta();
        bar
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
