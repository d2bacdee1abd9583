//! One scenario under one arbiter, whose transfers are read while they are simulated and handed over as they end.

use weir_report::{Alone, ArbiterInfo, Run};
use weir_scenario::{Scenario, TraceStream};
use weir_sim_core::{Departures, Outcome, SimError, Traffic};

use super::{PreparedRun, with_packets};
use crate::{Error, RunOptions};

/// A scenario that was read with `LoadOptions::stream`, about to run. Made by [`crate::Scenario::streamed`].
pub struct StreamedRun<'a> {
    prepared: PreparedRun<'a>,
    /// Times of lone transfers under the same arbiter.
    pub alone: Alone<'a>,
    /// The traces that are read row by row, as they were surveyed.
    pub stream: &'a TraceStream,
}

impl<'a> StreamedRun<'a> {
    pub(crate) fn new(prepared: PreparedRun<'a>) -> Result<Self, Error> {
        let s = prepared.scenario;
        let Some(stream) = &s.stream else { return Err(Error::input("the scenario was not read as a stream")) };
        Ok(Self { prepared, alone: prepared.lone_transfers()?, stream })
    }

    /// The scenario that runs.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        self.prepared.scenario
    }

    /// Under what it runs.
    #[must_use]
    pub fn arbiter(&self) -> ArbiterInfo<'a> {
        self.prepared.info()
    }

    /// Runs the scenario and hands over each transfer when it has ended; at the end of an incomplete run, those that have not.
    ///
    /// # Errors
    /// As [`crate::Scenario::run`]; or a trace cannot be read.
    pub fn run(&self, options: &RunOptions, departures: &mut dyn Departures) -> Result<Outcome, Error> {
        let prepared = &self.prepared;
        let mut arbiter = prepared.arbiter()?;
        let Some(mut arrivals) = prepared.scenario.arrivals() else {
            return Err(prepared.stopped(&SimError::Halted));
        };
        let params = prepared.params();
        let options = prepared.engine(options, &params);
        let traffic = Traffic { census: self.stream.census(), arrivals: &mut arrivals, departures };
        let simulation = prepared.simulation();
        let flags = prepared.spec.entry.flags;
        let packets = prepared.packets();
        let options = with_packets(options, packets.as_ref());
        let outcome =
            prepared.with_changes(options, |options| simulation.stream(traffic, &mut *arbiter, flags, options));
        let outcome = outcome.map_err(|error| {
            let unread = arrivals.failure().map(Error::from);
            unread.unwrap_or_else(|| prepared.stopped(&error))
        })?;
        prepared.log(&outcome);
        Ok(outcome)
    }

    /// The result with its names.
    #[must_use]
    pub fn report<'r>(&'r self, outcome: &'r Outcome) -> Run<'r> {
        self.prepared.report(outcome, &self.alone)
    }
}
