//! Runs the searches of a sweep on all threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::points::Sweep;
use crate::parameters::{Grid, ParameterError};
use crate::search::SearchResult;

impl<S: Send> Sweep<S> {
    /// Searches every distinct point of a grid, in ascending order, on the threads of the current rayon pool. `search` is
    /// given path and value of each axis, and answers with nothing where it was cut off. When `cancel` becomes true no
    /// further search is begun, and an error of one that is running counts as cut off.
    ///
    /// # Errors
    /// A point that cannot be searched or takes no time; of several the one with the lowest number.
    pub fn run<F>(grid: Grid, search: F, cancel: &AtomicBool) -> Result<Self, ParameterError>
    where
        F: Fn(&[(&str, &str)]) -> Result<Option<SearchResult<S>>, String> + Sync,
    {
        let (firsts, of) = distinct(&grid);
        let work = Work {
            grid: &grid,
            firsts: &firsts,
            search,
            cancel,
            next: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            results: Mutex::new(Results { searches: Vec::new(), failure: None }),
        };
        (0..rayon::current_num_threads()).into_par_iter().with_max_len(1).for_each(|_| work.go_on());
        let found = work.results.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, failure)) = found.failure {
            return Err(failure);
        }
        let mut searches: Vec<Option<SearchResult<S>>> = firsts.iter().map(|_| None).collect();
        found.searches.into_iter().for_each(|(at, result)| searches[at] = Some(result));
        Ok(Self { grid, searches, of })
    }
}

/// The first point of each set of points with equal values, and per point its set.
fn distinct(grid: &Grid) -> (Vec<u64>, Vec<u32>) {
    let mut known: BTreeMap<Vec<(&str, &str)>, u32> = BTreeMap::new();
    let (mut firsts, mut of) = (Vec::new(), Vec::new());
    for point in 0..grid.candidates() {
        let search = *known.entry(grid.values(point)).or_insert_with(|| {
            firsts.push(point);
            firsts.len() as u32 - 1
        });
        of.push(search);
    }
    (firsts, of)
}

struct Work<'a, S, F> {
    grid: &'a Grid,
    /// The point that is searched, of each set of equal ones.
    firsts: &'a [u64],
    search: F,
    cancel: &'a AtomicBool,
    next: AtomicUsize,
    stop: AtomicBool,
    results: Mutex<Results<S>>,
}

struct Results<S> {
    searches: Vec<(usize, SearchResult<S>)>,
    /// The failure of the lowest point.
    failure: Option<(u64, ParameterError)>,
}

impl<S: Send, F> Work<'_, S, F>
where
    F: Fn(&[(&str, &str)]) -> Result<Option<SearchResult<S>>, String> + Sync,
{
    /// Searches until none is left. Each worker takes the lowest, so that all below one that fails have been begun.
    fn go_on(&self) {
        while !self.cancel.load(Ordering::Relaxed) && !self.stop.load(Ordering::Relaxed) {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&point) = self.firsts.get(at) else { return };
            let values = self.grid.values(point);
            match (self.search)(&values) {
                Ok(Some(result)) if result.best > 0.0 => self.results().searches.push((at, result)),
                Ok(Some(_)) => self.fail(point, &values, "it takes no time, so there is nothing to compare".into()),
                Ok(None) => {}
                Err(_) if self.cancel.load(Ordering::Relaxed) => return,
                Err(reason) => self.fail(point, &values, reason),
            }
        }
    }

    fn results(&self) -> std::sync::MutexGuard<'_, Results<S>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, point: u64, values: &[(&str, &str)], reason: String) {
        self.stop.store(true, Ordering::Relaxed);
        let values: Vec<String> = values.iter().map(|(path, value)| format!("{path}={value}")).collect();
        let failure = ParameterError::Candidate { candidate: point, values: values.join(", "), reason };
        let mut found = self.results();
        if found.failure.as_ref().is_none_or(|(lowest, _)| point < *lowest) {
            found.failure = Some((point, failure));
        }
    }
}
