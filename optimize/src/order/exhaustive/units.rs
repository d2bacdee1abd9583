//! Work in numbered units: all threads take the lowest that is left, so that what is finished has no gaps.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::counter::Runs;
use crate::distribution::Distribution;
use crate::order::problem::OrderError;
use crate::order::run::best::{Best, better};

/// What came of a unit of work.
pub(crate) struct Done {
    pub(crate) distribution: Distribution,
    pub(crate) best: Option<Best>,
    pub(crate) halt: Option<OrderError>,
}

impl Done {
    /// Work that did not begin.
    pub(crate) fn halted(halt: OrderError) -> Self {
        Self { distribution: Distribution::default(), best: None, halt: Some(halt) }
    }
}

/// When work ends before it is done.
#[derive(Clone, Copy)]
pub(crate) struct Until<'u> {
    /// No unit is begun after it.
    pub(crate) instant: Instant,
    /// Units are cut off.
    pub(crate) cancel: &'u AtomicBool,
}

impl Until<'_> {
    pub(crate) fn over(self) -> bool {
        self.cancel.load(Ordering::Relaxed) || Instant::now() >= self.instant
    }
}

/// What came of all units that were finished, and why there are no more.
#[derive(Default)]
pub(crate) struct Sum {
    pub(crate) runs: Runs,
    /// The best of what was finished.
    pub(crate) best: Option<Best>,
    /// The best seen, in what was cut off too.
    pub(crate) seen: Option<Best>,
    pub(crate) halt: Option<OrderError>,
}

impl Sum {
    /// Takes up the units that were finished before the first that was not; returns how many.
    fn add(&mut self, mut done: Vec<(u64, Done)>) -> u64 {
        done.sort_unstable_by_key(|(unit, _)| *unit);
        let mut finished = 0;
        for (unit, done) in done {
            self.seen = better(self.seen, done.best);
            if self.halt.is_some() || unit != finished {
                continue;
            }
            self.halt = done.halt;
            if self.halt.is_none() {
                finished += 1;
                self.best = better(self.best, done.best);
                self.runs.add(done.distribution);
            }
        }
        finished
    }

    /// Does `count` units on the threads of the current rayon pool, at least one unless it is cancelled. Each thread
    /// makes what it needs, and does units with it. Returns how many are finished: those from 0 on.
    pub(crate) fn work<T>(
        &mut self,
        count: u64,
        until: Until<'_>,
        make: impl Fn() -> Result<T, OrderError> + Sync,
        unit: impl Fn(&mut T, u64) -> Done + Sync,
    ) -> u64 {
        let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        let take = || {
            let begun = next.load(Ordering::Relaxed) > 0;
            if stop.load(Ordering::Relaxed) || until.cancel.load(Ordering::Relaxed) || begun && until.over() {
                return None;
            }
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&unit| unit < count)
        };
        let worker = |_| {
            let mut done = Vec::new();
            let mut tools = None;
            while let Some(number) = take() {
                let one = match tools.take().map_or_else(&make, Ok) {
                    Ok(mut made) => {
                        let one = unit(&mut made, number);
                        tools = Some(made);
                        one
                    }
                    Err(halt) => Done::halted(halt),
                };
                stop.fetch_or(one.halt.is_some(), Ordering::Relaxed);
                done.push((number, one));
            }
            done
        };
        let workers = rayon::current_num_threads().min(usize::try_from(count).unwrap_or(usize::MAX));
        self.add((0..workers).into_par_iter().with_max_len(1).flat_map_iter(worker).collect())
    }
}
