//! Jobs of a run: groups, patterns and traces beside other items of the workload.

use weir_plugin_api::{SimDuration, SimTime};
use weir_scenario::Job;
use weir_sim_core::TaskTimes;

use crate::Run;

impl Run<'_> {
    fn times_of(&self, job: &Job) -> &[TaskTimes] {
        &self.outcome.tasks[job.tasks.start as usize..job.tasks.end as usize]
    }

    /// When the first task of a job is ready; [`SimTime::NEVER`] if that did not happen.
    pub(crate) fn job_begins(&self, job: &Job) -> SimTime {
        self.times_of(job).iter().map(|times| times.ready).min().unwrap_or(SimTime::NEVER)
    }

    /// The end of a job's last task; [`SimTime::NEVER`] until all have ended.
    pub(crate) fn job_ends(&self, job: &Job) -> SimTime {
        self.times_of(job).iter().map(|times| times.end).max().unwrap_or(SimTime::NEVER)
    }

    /// From its begin to its end; `None` until it has ended.
    pub(crate) fn job_time(&self, job: &Job) -> Option<SimDuration> {
        let end = self.job_ends(job);
        (!end.is_never()).then(|| end - self.job_begins(job))
    }

    /// The same when nothing else of the workload runs, under the same arbiter; `None` where that is not known.
    pub(crate) fn job_alone(&self, job: &Job) -> Option<SimDuration> {
        self.alone.job(job)
    }

    /// The time of a job over [`Self::job_alone`].
    pub(crate) fn job_slowdown(&self, job: &Job) -> Option<f64> {
        let (time, alone) = (self.job_time(job)?, self.job_alone(job)?);
        (alone.0 > 0).then(|| time.seconds() / alone.seconds())
    }
}
