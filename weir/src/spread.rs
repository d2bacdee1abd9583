//! How far the ends of a run move when every transfer starts a little later: the scenario is run again, once for each seed.
//!
//! ```text
//! seed ─► ChaCha8 ─► a delay for each transfer, in task order ─► run ─► ends ─┐
//! …                                                                          ├─► per transfer: min, median, max
//! seed ─► ChaCha8 ─► …                                          ─► run ─► ends ─┘
//! ```

use std::sync::atomic::Ordering;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use weir_plugin_api::{HORIZON, SimDuration, SimTime};
use weir_report::{EndSpread, OwnSpread, Spread, duration, end_of};
use weir_sim_core::{Outcome, Stop, TaskGraph, TaskId};

use crate::{Error, Run, RunOptions};

/// Most runs of one spread (*assumed*: a median needs far fewer).
const MOST_SEEDS: u32 = 1000;
/// Most ends of all runs together: they take 16 bytes each (*assumed*: below 2 GB).
const MOST_ENDS: u64 = 100_000_000;

/// Noise of starts, by which [`Run::spread`] is measured: in each of `seeds` further runs, every transfer starts to send later
/// than it could by a uniform random time from 0 to just below `most`.
///
/// A transfer keeps its place in the queue of its engine, and holds the engine while it is delayed. What waits for a transfer
/// follows it. Nothing else is varied: sizes, bandwidths and computations stay as they are.
///
/// ```
/// use weir::{Jitter, RunOptions, Scenario, SimDuration};
///
/// let jitter = Some(Jitter::new(SimDuration(1_000_000), 4)?);
/// let options = RunOptions { jitter, ..RunOptions::default() };
/// let run = Scenario::open("../scenarios/pcie/four-transfers.yaml")?.run_with(&options)?;
/// let makespan = run.spread().expect("the run is complete").makespan;
/// assert!(run.makespan() <= makespan.min && makespan.min < makespan.max);
/// # Ok::<(), weir::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Jitter {
    most: SimDuration,
    seeds: u32,
}

impl Jitter {
    /// Delays below `most`, in so many runs.
    ///
    /// # Errors
    /// `most` is 0 or above 100 days, or `seeds` is not from 1 to 1000.
    pub fn new(most: SimDuration, seeds: u32) -> Result<Self, Error> {
        if most == SimDuration::ZERO || most.0 > HORIZON.0 {
            return Err(Error::input("the jitter must be above 0 and at most 100 days, such as 1us"));
        }
        if !(1..=MOST_SEEDS).contains(&seeds) {
            return Err(Error::input(format!("give a number of seeds from 1 to {MOST_SEEDS}, not {seeds}")));
        }
        Ok(Self { most, seeds })
    }

    /// The delays of a seed, one for each transfer in task order: the same on every machine.
    fn delays(self, seed: u32) -> impl Iterator<Item = SimDuration> {
        let mut random = ChaCha8Rng::seed_from_u64(u64::from(seed));
        std::iter::repeat_with(move || {
            let share = u128::from(random.next_u64()) * u128::from(self.most.0);
            SimDuration((share >> u64::BITS) as u64)
        })
    }
}

/// The ends of one run.
struct Ends {
    makespan: SimTime,
    /// Of transfers and planned operations, in the order of [`Run::spread_tasks`]: the end, and the time from ready or release to it.
    all: Vec<(SimTime, SimDuration)>,
}

impl Run {
    /// How far its ends move when every transfer starts a little later: `None` unless it was asked for by
    /// [`crate::RunOptions::jitter`], and where the run or the further runs did not end.
    #[must_use]
    pub fn spread(&self) -> Option<&Spread> {
        self.spread.as_ref()
    }

    /// Runs again for each seed, on the threads of the current rayon pool; `None` if a run is cancelled.
    pub(crate) fn measure(&self, jitter: Jitter, options: &RunOptions) -> Result<Option<Spread>, Error> {
        if !self.complete() {
            return Ok(None);
        }
        let tasks = self.spread_tasks();
        let ends = u64::from(jitter.seeds) * tasks.len() as u64;
        if ends > MOST_ENDS {
            let (seeds, count, file) = (jitter.seeds, tasks.len(), &self.scenario.contents().file);
            let what = format!("{seeds} runs of {count} transfers and operations have more than {MOST_ENDS} ends");
            return Err(Error::input(format!("{file}: {what}: ask for fewer seeds")));
        }
        let runs: Vec<_> = (0..jitter.seeds).into_par_iter().map(|seed| self.ends_of(jitter, seed, options)).collect();
        // The failure that is named is that of the lowest seed on any number of threads.
        let runs: Option<Vec<Ends>> = runs.into_iter().collect::<Result<_, _>>()?;
        Ok(runs.and_then(|runs| spread(jitter, &tasks, &runs)))
    }

    /// What ends: transfers, and operations that models planned by their releases.
    fn spread_tasks(&self) -> Vec<TaskId> {
        let scenario = self.scenario.contents();
        let transfers = scenario.tasks.transfers().map(|(task, _)| task);
        transfers.chain(scenario.operations.iter().map(|operation| operation.release)).collect()
    }

    /// The ends in the run of a seed; `None` if it is cancelled.
    fn ends_of(&self, jitter: Jitter, seed: u32, options: &RunOptions) -> Result<Option<Ends>, Error> {
        if options.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Ok(None);
        }
        let scenario = self.scenario.contents();
        let tasks = scenario.tasks.delayed(jitter.delays(seed));
        let outcome = self.again(&tasks, options).map_err(|error| {
            let most = duration(jitter.most);
            error.noted(format!("this happens with --jitter in the run of seed {seed}, with starts up to {most} later"))
        })?;
        let since = |begin: SimTime, end: SimTime| (end, if end.is_never() { SimDuration::ZERO } else { end - begin });
        let times = |task: TaskId| outcome.tasks[task.index()];
        let transfers = scenario.tasks.transfers().map(|(task, _)| since(times(task).ready, times(task).end));
        let operations = scenario.operations.iter().map(|own| since(times(own.release).end, end_of(own, &outcome)));
        let all = transfers.chain(operations).collect();
        Ok((outcome.stop == Stop::Finished).then_some(Ends { makespan: outcome.makespan, all }))
    }

    /// Runs other tasks in the way and within the bounds of this run: the two ways of large runs differ by more than a delay may.
    fn again(&self, tasks: &TaskGraph, options: &RunOptions) -> Result<Outcome, Error> {
        let (cancel, most_hops) = (options.cancel.clone(), options.most_hops);
        let phase_by_phase = !self.outcome.incremental;
        let options = RunOptions { phase_by_phase, most_hops, cancel, ..RunOptions::default() };
        self.scenario.prepared(&self.arbiter).with_tasks(tasks).run(&options)
    }
}

/// Puts runs together; `None` of none.
fn spread(jitter: Jitter, tasks: &[TaskId], runs: &[Ends]) -> Option<Spread> {
    let of = |end: &dyn Fn(&Ends) -> SimTime, column: &mut Vec<SimTime>| {
        column.clear();
        column.extend(runs.iter().map(end));
        EndSpread::of(column)
    };
    let mut column = Vec::with_capacity(runs.len());
    let makespan = of(&|run| run.makespan, &mut column)?;
    let own = |place: usize, column: &mut Vec<SimTime>| {
        let times = || runs.iter().map(|run| run.all[place].1);
        let time = times().max()?.0 - times().min()?.0;
        Some(OwnSpread { end: of(&|run| run.all[place].0, column)?, time: SimDuration(time) })
    };
    let all = tasks.iter().enumerate().filter_map(|(place, &task)| Some((task, own(place, &mut column)?)));
    Some(Spread::new(jitter.most, jitter.seeds, makespan, all.collect()))
}
