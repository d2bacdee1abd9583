//! The result of a run.

use weir_plugin_api::SimTime;
use weir_report::{Detail, write_run};
use weir_sim_core::{Outcome, Stop};

use crate::job::Job;
use crate::{Error, Scenario};

/// What happened when a scenario ran under one of its arbiters.
#[derive(Clone, Debug)]
pub struct RunResult {
    pub(crate) scenario: Scenario,
    pub(crate) arbiter: usize,
    pub(crate) outcome: Outcome,
}

impl RunResult {
    /// The latest end of any task, whole picoseconds; of an incomplete run, of those that ended.
    #[must_use]
    pub fn makespan(&self) -> SimTime {
        self.outcome.makespan
    }

    /// Whether every task ended.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.outcome.stop == Stop::Finished
    }

    /// The result as one line of JSON, as `weir run --json` prints it (`weir schema results`).
    ///
    /// # Errors
    /// The arbiter fails when it is asked how long each transfer takes alone.
    pub fn to_json(&self) -> Result<String, Error> {
        let spec = &self.scenario.scenario.arbiters[self.arbiter];
        let job = Job::new(&self.scenario.scenario, spec, &self.scenario.registry)?;
        let finished = job.finished(self.outcome.clone())?;
        let mut line = Vec::new();
        let written = write_run(&finished.report(), Detail::default(), &mut line);
        written.map_err(|error| Error::input(format!("the result cannot be written: {error}")))?;
        Ok(String::from_utf8_lossy(&line).into_owned())
    }
}
