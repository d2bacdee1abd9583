//! What all searches have in common: how candidates are visited, and the result that is reported.
//!
//! `best_of` visits numbered candidates on all threads and keeps the best. A method that knows more of its kind (bounds,
//! symmetries, moves) stands beside its kind. Either way a [`SearchResult`] comes of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
pub use crate::problem::{Kinds, Method, Objective, Vary};

/// Most candidates that `auto` visits one by one.
pub(crate) const MOST_EXHAUSTIVE: u128 = 10_000_000;

/// The result of a search, as it is reported. Objectives are in the unit of the objective: ps for makespans. What a
/// method does not know is absent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SearchResult<S> {
    /// What the candidates differ in.
    pub vary: Vary,
    /// By which method; of `auto`, what it came to.
    pub method: Method,
    /// Number of candidates; absent above 2^128.
    pub candidates: Option<u128>,
    /// Candidates whose exact value is known, by simulation or by a proven symmetry.
    pub evaluated: u128,
    /// Whether the search came to its end.
    pub complete: bool,
    /// Whether no candidate is better than the best by more than 1e-9 (or at all, by the exact rule).
    pub proved_optimal: bool,
    /// What `baseline`, `best` and the statistics are values of.
    pub objective: Objective,
    /// No candidate is better than this: below it, of a throughput above it.
    pub bound: Option<f64>,
    /// The value of the baseline. One that stops before its end never ends: infinite, of a throughput 0.
    pub baseline: f64,
    /// The best value found: the least, of a throughput the largest.
    pub best: f64,
    /// Mean of the middle two of all.
    pub median: Option<f64>,
    /// Mean of the values of all candidates.
    pub mean: Option<f64>,
    /// The worst of all.
    pub worst: Option<f64>,
    /// Percentiles 1, 5, 25, 75, 95, 99 of all: sorted\[count · p / 100\].
    pub percentiles: Option<[f64; 6]>,
    /// Candidates within 1e-9 of the best.
    pub best_count: Option<u128>,
    /// Seconds it took; set by whoever reads a clock.
    pub wall_s: Option<f64>,
    /// The candidate of the least value found; of equal ones the one that its search names.
    pub solution: S,
}

impl<S> SearchResult<S> {
    /// The best candidate that was found by least makespan, and nothing known of the others.
    #[must_use]
    pub fn new(vary: Vary, method: Method, baseline: f64, best: f64, solution: S) -> Self {
        Self {
            vary,
            method,
            candidates: None,
            evaluated: 1,
            complete: true,
            proved_optimal: false,
            objective: Objective::Makespan,
            bound: None,
            baseline,
            best,
            median: None,
            mean: None,
            worst: None,
            percentiles: None,
            best_count: None,
            wall_s: None,
            solution,
        }
    }

    /// The same result with its solution in other terms.
    #[must_use]
    pub fn with_solution<T>(self, solution: T) -> SearchResult<T> {
        SearchResult {
            solution,
            vary: self.vary,
            method: self.method,
            candidates: self.candidates,
            evaluated: self.evaluated,
            complete: self.complete,
            proved_optimal: self.proved_optimal,
            objective: self.objective,
            bound: self.bound,
            baseline: self.baseline,
            best: self.best,
            median: self.median,
            mean: self.mean,
            worst: self.worst,
            percentiles: self.percentiles,
            best_count: self.best_count,
            wall_s: self.wall_s,
        }
    }

    /// The same result with the statistics over all makespans that are known.
    #[must_use]
    pub fn with_statistics(self, makespans: &Distribution) -> Self {
        let known = makespans.count() > 0;
        Self {
            median: makespans.median(),
            mean: makespans.mean(),
            worst: makespans.worst().map(|worst| worst as f64),
            percentiles: known.then(|| PERCENTILES.map(|p| makespans.percentile(p).unwrap_or(0) as f64)),
            best_count: known.then(|| makespans.best_count()),
            ..self
        }
    }
}

/// Runs a search with a flag that is raised when `cancel` is, and after a time.
pub fn within<T>(time: Option<Duration>, cancel: &AtomicBool, search: impl FnOnce(&AtomicBool) -> T) -> T {
    /// Time between two looks at `cancel`: well within the 100 ms that an interruption may take.
    const LOOK: Duration = Duration::from_millis(5);
    let Some(time) = time else { return search(cancel) };
    let (begin, raised, over) = (Instant::now(), AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                if cancel.load(Ordering::Relaxed) || begin.elapsed() >= time {
                    raised.store(true, Ordering::Relaxed);
                    return;
                }
                std::thread::park_timeout(LOOK);
            }
        });
        let result = search(&raised);
        over.store(true, Ordering::Relaxed);
        watch.thread().unpark();
        result
    })
}

/// The percentiles that are reported.
pub const PERCENTILES: [u32; 6] = [1, 5, 25, 75, 95, 99];

/// The best of some candidates.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct BestOf {
    /// Its value, in the unit of the search.
    pub value: f64,
    /// Its number, the lowest among equals.
    pub number: u128,
    /// How many were visited.
    pub evaluated: u128,
    /// Whether all were visited.
    pub complete: bool,
}

/// Candidates that are visited between two looks at `cancel`, side by side; *assumed*: enough for the cores of a large
/// machine. The result does not depend on it.
const BATCH: usize = 256;

/// Visits `count` candidates, numbered from 0, on the threads of the current rayon pool and keeps the one of least `value`;
/// stops soon after `cancel`. `seen` is shown the values in order of their numbers. None when there was none to visit.
///
/// # Errors
/// The first candidate that has no value.
pub(crate) fn best_of<E: Send>(
    count: u128,
    value: impl Fn(u128) -> Result<f64, E> + Sync,
    cancel: &AtomicBool,
    mut seen: impl FnMut(f64),
) -> Result<Option<BestOf>, E> {
    let mut begin = 0_u128;
    let mut best: Option<BestOf> = None;
    while begin < count {
        let size = count.saturating_sub(begin).min(BATCH as u128) as usize;
        let one = |i: usize| (!cancel.load(Ordering::Relaxed)).then(|| value(begin + i as u128));
        let values: Vec<Option<Result<f64, E>>> = (0..size).into_par_iter().map(one).collect();
        for (number, value) in (begin..).zip(values) {
            let Some(value) = value else { return Ok(best.map(|b| BestOf { complete: false, ..b })) };
            let value = match value {
                // A candidate that was cut off has no value, and there is nothing wrong with it.
                Err(_) if cancel.load(Ordering::Relaxed) => {
                    return Ok(best.map(|b| BestOf { complete: false, ..b }));
                }
                value => value?,
            };
            seen(value);
            let kept = best.filter(|b| b.value <= value);
            if kept.is_none() {
                tracing::debug!(value, number, "found a better candidate");
            }
            let (value, least) = kept.map_or((value, number), |b| (b.value, b.number));
            best = Some(BestOf { value, number: least, evaluated: number + 1, complete: true });
        }
        begin += size as u128;
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best of these values; one that is no number is an error.
    fn best(values: &[f64], cancel: bool, seen: impl FnMut(f64)) -> Result<Option<BestOf>, u128> {
        let value = |number: u128| Some(values[number as usize]).filter(|value| !value.is_nan()).ok_or(number);
        best_of(values.len() as u128, value, &AtomicBool::new(cancel), seen)
    }

    #[test]
    fn the_lowest_number_wins_among_equals() {
        let mut seen = Vec::new();
        let found = best(&[3.0, 1.0, 2.0, 1.0], false, |value| seen.push(value));
        assert_eq!(found, Ok(Some(BestOf { value: 1.0, number: 1, evaluated: 4, complete: true })));
        assert_eq!(seen, [3.0, 1.0, 2.0, 1.0]);
        assert_eq!(best(&[], false, |_| ()), Ok(None));
        assert_eq!(best(&[1.0, f64::NAN, f64::NAN], false, |_| ()), Err(1));
        assert_eq!(best(&[1.0], true, |_| ()), Ok(None));
    }

    /// The third candidate is cut off: the first two are known, and the search is not over.
    #[test]
    fn what_is_cut_off_is_not_complete() {
        let cancel = AtomicBool::new(false);
        let value = |number: u128| match number {
            0 | 1 => Ok(1.0 + number as f64),
            _ => {
                cancel.store(true, Ordering::Relaxed);
                Err(())
            }
        };
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        let found = one.install(|| best_of(5, value, &cancel, |_| ()));
        assert_eq!(found, Ok(Some(BestOf { value: 1.0, number: 0, evaluated: 2, complete: false })));
    }

    #[test]
    fn batches_join_in_order() {
        let values: Vec<f64> = (0..1000_u32).map(|i| f64::from((i * 7919) % 1000)).collect();
        let mut seen = Vec::new();
        let found = best(&values, false, |value| seen.push(value));
        assert_eq!(found, Ok(Some(BestOf { value: 0.0, number: 0, evaluated: 1000, complete: true })));
        assert_eq!(seen, values);
    }
}
