//! One scenario under one arbiter, whose transfers are read while they are simulated and handed over as they end.

use weir_report::{Alone, Run};
use weir_scenario::{Scenario, TraceStream};
use weir_sim_core::{Departures, Outcome, RunOptions, SimError, Traffic};

use super::Job;
use crate::Error;

/// A scenario that was read with `LoadOptions::stream`, about to run.
pub struct Streaming<'a> {
    job: Job<'a>,
    /// Times of lone transfers under the same arbiter.
    pub alone: Alone<'a>,
    /// The traces.
    pub stream: &'a TraceStream,
}

impl<'a> Job<'a> {
    /// Prepares a run of a scenario that was read to be streamed.
    ///
    /// # Errors
    /// It was not read so, or the arbiter refuses it.
    pub fn streaming(self) -> Result<Streaming<'a>, Error> {
        let s = self.scenario;
        let Some(stream) = &s.stream else { return Err(Error::input("the scenario was not read as a stream")) };
        let alone = Alone::new(&s.fabric, &s.tasks, &s.routes, self.make()?);
        Ok(Streaming { job: self, alone, stream })
    }
}

impl Streaming<'_> {
    /// The scenario.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        self.job.scenario
    }

    /// Runs the scenario and hands over each transfer when it has ended; at the end of an incomplete run, those that have not.
    ///
    /// # Errors
    /// As [`Job::outcome`]; or a trace cannot be read.
    pub fn run(&self, options: RunOptions<'_>, departures: &mut dyn Departures) -> Result<Outcome, Error> {
        let (job, s) = (&self.job, self.job.scenario);
        let mut arbiter = job.arbiter()?;
        let Some(mut arrivals) = s.arrivals() else { return Err(job.stopped(&SimError::Halted)) };
        let params = job.params();
        let options = RunOptions { sharing: job.sharing(&params), ..options };
        let traffic = Traffic { census: self.stream.census(), arrivals: &mut arrivals, departures };
        let outcome = job.simulation().stream(traffic, &mut *arbiter, job.entry.flags, options).map_err(|error| {
            let unread = arrivals.failure().map(|wrong| Error::diagnosed(&wrong));
            unread.unwrap_or_else(|| job.stopped(&error))
        })?;
        job.log(&outcome);
        Ok(outcome)
    }

    /// The result with its names.
    #[must_use]
    pub fn report<'r>(&'r self, outcome: &'r Outcome) -> Run<'r> {
        Run { scenario: self.job.scenario, arbiter: self.job.info(), outcome, alone: &self.alone }
    }
}
