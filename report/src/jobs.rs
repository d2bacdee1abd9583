//! Jobs of a run: groups, patterns and traces beside other items of the workload.

use std::ops::Range;

use weir_plugin_api::{SimDuration, SimTime};
use weir_scenario::Job;
use weir_sim_core::{Task, TaskTimes, Work};

use crate::Run;

/// When the first of some tasks is ready that is more than a join; [`SimTime::NEVER`] if that did not happen.
pub(crate) fn begins(tasks: &[Task], times: &[TaskTimes]) -> SimTime {
    let works = |(task, _): &(&Task, &TaskTimes)| !matches!(task.work, Work::Nothing { .. });
    let ready = |(_, times): (&Task, &TaskTimes)| times.ready;
    let all = || tasks.iter().zip(times);
    all().filter(works).map(ready).min().or_else(|| all().map(ready).min()).unwrap_or(SimTime::NEVER)
}

/// The end of the last of some tasks; [`SimTime::NEVER`] until all have ended.
pub(crate) fn ends(times: &[TaskTimes]) -> SimTime {
    times.iter().map(|times| times.end).max().unwrap_or(SimTime::NEVER)
}

impl Run<'_> {
    /// When the first task of a job is ready; [`SimTime::NEVER`] if that did not happen.
    pub(crate) fn job_begins(&self, job: &Job) -> SimTime {
        begins(self.tasks_of(job), &self.outcome.tasks[indices(job)])
    }

    /// The end of a job's last task; [`SimTime::NEVER`] until all have ended.
    pub(crate) fn job_ends(&self, job: &Job) -> SimTime {
        ends(&self.outcome.tasks[indices(job)])
    }

    /// From its begin to its end; `None` until it has ended.
    pub(crate) fn job_time(&self, job: &Job) -> Option<SimDuration> {
        let end = self.job_ends(job);
        (!end.is_never()).then(|| end - self.job_begins(job))
    }

    /// The same when nothing else of the workload runs, under the same arbiter; `None` where that is not known.
    pub(crate) fn job_alone(&self, job: &Job) -> Option<SimDuration> {
        self.alone.job(job, self.tasks_of(job))
    }

    /// The time of a job over [`Self::job_alone`].
    pub(crate) fn job_slowdown(&self, job: &Job) -> Option<f64> {
        let (time, alone) = (self.job_time(job)?, self.job_alone(job)?);
        (alone.0 > 0).then(|| time.seconds() / alone.seconds())
    }

    fn tasks_of(&self, job: &Job) -> &[Task] {
        &self.scenario.tasks.tasks()[indices(job)]
    }
}

fn indices(job: &Job) -> Range<usize> {
    job.tasks.start as usize..job.tasks.end as usize
}
