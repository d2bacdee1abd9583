//! How far a search is: one line on stderr where that is a terminal, nothing elsewhere.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use weir_plugin_api::SimDuration;

/// Searches that end sooner show nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Shows progress while it lives.
pub(super) struct Progress {
    what: &'static str,
    all: u64,
    begin: Instant,
    /// Candidates that were known when the search began, from a checkpoint.
    known: AtomicU64,
    /// The least makespan so far, ps.
    best: AtomicU64,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    /// For a search over `all` of `what`.
    pub(super) fn new(what: &'static str, all: u64) -> Self {
        let (known, best) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        Self { what, all, begin: Instant::now(), known, best, bar: OnceLock::new() }
    }

    /// So many candidates were known before the search began, and took none of its time.
    pub(super) fn known(&self, candidates: u64) {
        self.known.store(candidates, Ordering::Relaxed);
    }

    /// So many candidates are done; the last of them, or the best of them, takes `makespan` ps.
    pub(super) fn update(&self, done: u64, makespan: Option<u64>) {
        let best = makespan.map_or(u64::MAX, |makespan| self.best.fetch_min(makespan, Ordering::Relaxed).min(makespan));
        if self.begin.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_init(|| self.start());
        if best < u64::MAX {
            bar.set_message(format!(", best {}", weir_report::duration(SimDuration(best))));
        }
        bar.set_position(done.min(self.all));
    }

    /// The line, which counts the time since the search began.
    fn start(&self) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(Some(self.all), ProgressDrawTarget::stderr()).with_prefix(self.what);
        // The words are known, so that the template is.
        if let Ok(style) = ProgressStyle::with_template("{pos} of {len} {prefix} ({percent} %){msg}, {eta} left") {
            bar.set_style(style);
        }
        let bar = bar.with_position(self.known.load(Ordering::Relaxed)).with_elapsed(self.begin.elapsed());
        bar.reset_eta();
        bar
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
