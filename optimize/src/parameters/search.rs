//! Evaluates the candidates of a grid on all cores.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::checkpoint::Checkpoint;
use super::error::{CheckpointError, ParameterError};
use super::grid::Grid;
use super::part::Part;
use super::shard::Shard;
use crate::problem::Objective;

/// What a run to its end comes to.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ran {
    /// Its makespan, ps.
    pub makespan: NonZeroU64,
    /// By another objective than that: its value, above 0, the smaller the better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

/// What a candidate comes to.
#[derive(Clone, PartialEq, Debug)]
pub enum Tried {
    /// It runs to its end.
    Ran {
        /// Its makespan, ps.
        makespan: u64,
        /// As [`Ran::value`].
        value: Option<f64>,
    },
    /// It stops before its end, and why: it counts, and is never the best.
    Stopped(String),
}

/// A makespan, of a search by that.
impl From<u64> for Tried {
    fn from(makespan: u64) -> Self {
        Self::Ran { makespan, value: None }
    }
}

/// A search over a grid, ready to run.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// The candidates: every combination of the values of its axes.
    pub grid: &'a Grid,
    /// A digest of all that decides makespans beside the candidate's values: the files of the scenario, the arbiters and
    /// values of the command line. Parts and checkpoints of another digest are refused.
    pub input: &'a str,
    /// The share of the candidates that is tried.
    pub shard: Shard,
    /// By what candidates are compared.
    pub objective: Objective,
    /// The baseline; none where it stops before its end.
    pub baseline: Option<Ran>,
    /// A file to go on from and to add to. It stays when the search ends, so that the result can be written first.
    pub checkpoint: Option<&'a Path>,
}

impl Search<'_> {
    /// Evaluates all candidates of the shard that the checkpoint does not hold, in ascending order, on the threads of
    /// the current rayon pool. `evaluate` is given path and value of each axis and answers with what that comes to: with a
    /// value where the objective is not the makespan.
    ///
    /// `evaluated` counts the candidates that are known. When `cancel` becomes true no further candidate is begun, an
    /// error of one that is running counts as not evaluated, and the part holds what is known.
    ///
    /// # Errors
    /// A candidate that cannot be run or takes no time, of several the one with the lowest number; a checkpoint of
    /// another search or version, one that was damaged, in use, or cannot be read and written.
    pub fn run<T, F>(&self, evaluate: F, cancel: &AtomicBool, evaluated: &AtomicU64) -> Result<Part, ParameterError>
    where
        T: Into<Tried>,
        F: Fn(&[(&str, &str)]) -> Result<T, String> + Sync,
    {
        let mut part = Part::unknown(self);
        let checkpoint = match self.checkpoint {
            Some(path) => Some(Checkpoint::open(path, &mut part).map_err(|error| at(path, error))?),
            None => None,
        };
        let known = part.tried() as u64;
        tracing::debug!(candidates = part.makespans.len(), known, "evaluating the candidates");
        evaluated.store(known, Ordering::Relaxed);
        let pending: Vec<u64> = (0..part.makespans.len() as u64).filter(|&at| !part.knows(at)).collect();
        let work = Work {
            search: self,
            evaluate,
            cancel,
            evaluated,
            next: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            progress: Mutex::new(Progress {
                checkpoint,
                best: part.least(),
                found: Vec::new(),
                stopped: Vec::new(),
                failure: None,
                unwritten: None,
            }),
        };
        work.on_all_threads(&pending);
        let mut progress = work.progress.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Whoever pressed Ctrl-C does not wait for the disk.
        if let Some(checkpoint) = progress.checkpoint.as_mut().filter(|_| !cancel.load(Ordering::Relaxed))
            && let Err(error) = checkpoint.bring_to_disk()
        {
            progress.unwritten.get_or_insert(error);
        }
        progress.into_part(part, self.checkpoint)
    }

    fn candidate(&self, position: u64) -> u64 {
        self.shard.candidate(position)
    }
}

fn at(path: &Path, error: CheckpointError) -> ParameterError {
    ParameterError::Checkpoint { path: path.to_owned(), error }
}

struct Work<'a, F> {
    search: &'a Search<'a>,
    evaluate: F,
    cancel: &'a AtomicBool,
    evaluated: &'a AtomicU64,
    /// Place of the next candidate among those pending.
    next: AtomicU64,
    stop: AtomicBool,
    progress: Mutex<Progress>,
}

struct Progress {
    checkpoint: Option<Checkpoint>,
    /// The least value so far, for the log.
    best: f64,
    found: Vec<(u64, Ran)>,
    /// Positions that stop, and why.
    stopped: Vec<(u64, String)>,
    /// The failure of the lowest position.
    failure: Option<(u64, ParameterError)>,
    /// Why the checkpoint could not be added to.
    unwritten: Option<std::io::Error>,
}

impl Progress {
    /// The part with what was found.
    fn into_part(self, mut part: Part, checkpoint: Option<&Path>) -> Result<Part, ParameterError> {
        if let Some((_, failure)) = self.failure {
            return Err(failure);
        }
        if let (Some(error), Some(path)) = (self.unwritten, checkpoint) {
            return Err(at(path, error.into()));
        }
        for (position, ran) in self.found {
            // What the objective asks for was checked when it was found.
            part.keep(position, ran);
        }
        part.stopped.extend(self.stopped);
        Ok(part)
    }
}

impl<T, F> Work<'_, F>
where
    T: Into<Tried>,
    F: Fn(&[(&str, &str)]) -> Result<T, String> + Sync,
{
    /// Evaluates all candidates that are pending. Each worker takes the lowest that is left, so that all below one that
    /// fails have been begun: the failure that is named is the lowest on any number of threads.
    fn on_all_threads(&self, pending: &[u64]) {
        let workers = 0..rayon::current_num_threads();
        workers.into_par_iter().with_max_len(1).for_each(|_| self.on(pending));
    }

    /// Evaluates candidates until none is left.
    fn on(&self, pending: &[u64]) {
        while !self.cancel.load(Ordering::Relaxed) && !self.stop.load(Ordering::Relaxed) {
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(&position) = pending.get(next as usize) else { return };
            let values = self.search.grid.values(self.search.candidate(position));
            match (self.evaluate)(&values).map(Into::into) {
                Ok(Tried::Ran { makespan, value }) => match NonZeroU64::new(makespan).filter(|_| value != Some(0.0)) {
                    Some(makespan) => self.keep(position, Ran { makespan, value }),
                    None => self.fail(position, &values, "it takes no time, so there is nothing to compare".into()),
                },
                Ok(Tried::Stopped(reason)) => self.keep_stopped(position, reason),
                Err(_) if self.cancel.load(Ordering::Relaxed) => return,
                Err(reason) => self.fail(position, &values, reason),
            }
        }
    }

    fn keep(&self, position: u64, ran: Ran) {
        debug_assert_eq!(ran.value.is_none(), self.search.objective == Objective::Makespan);
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let added = progress.checkpoint.as_mut().map(|c| c.add(position, ran));
        self.written(&mut progress, added);
        progress.found.push((position, ran));
        let evaluated = self.evaluated.fetch_add(1, Ordering::Relaxed) + 1;
        let value = ran.value.unwrap_or(ran.makespan.get() as f64);
        if value < progress.best {
            progress.best = value;
            let candidate = self.search.candidate(position);
            tracing::debug!(value, makespan = ran.makespan, candidate, evaluated, "found a better candidate");
        }
    }

    fn keep_stopped(&self, position: u64, reason: String) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let added = progress.checkpoint.as_mut().map(|c| c.add_stopped(position, &reason));
        self.written(&mut progress, added);
        progress.stopped.push((position, reason));
        self.evaluated.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the search where the checkpoint could not be added to.
    fn written(&self, progress: &mut Progress, added: Option<std::io::Result<()>>) {
        if let Some(Err(error)) = added {
            progress.unwritten.get_or_insert(error);
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn fail(&self, position: u64, values: &[(&str, &str)], reason: String) {
        self.stop.store(true, Ordering::Relaxed);
        let values: Vec<String> = values.iter().map(|(path, value)| format!("{path}={value}")).collect();
        let candidate = self.search.candidate(position);
        let failure = ParameterError::Candidate { candidate, values: values.join(", "), reason };
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.failure.as_ref().is_none_or(|(lowest, _)| position < *lowest) {
            progress.failure = Some((position, failure));
        }
    }
}
