//! One scenario under one arbiter, whose transfers are read while they are simulated and written as they end.

use weir_report::{Alone, Lines, Run, Streamed, Subject};
use weir_scenario::TraceStream;
use weir_sim_core::{Departure, Departures, Halt, Outcome, RunOptions, SimError, Simulation, Stop, Traffic};

use super::{Job, say_interrupted};
use crate::failure::{Exit, Failure};
use crate::interrupt::{self, Stage};
use crate::output::Output;
use crate::subject::Named;

/// Writes a line for each transfer.
struct Writer<'a> {
    subject: &'a dyn Subject,
    alone: &'a Alone<'a>,
    stream: &'a TraceStream,
    lines: Lines,
    out: Output,
    ended: usize,
    failure: Option<Failure>,
}

impl Departures for Writer<'_> {
    fn take(&mut self, transfer: &Departure) -> Result<(), Halt> {
        if transfer.times.end.is_never() {
            // The run is over: what is left is written whatever time that takes.
            interrupt::settling();
        } else {
            self.ended += 1;
        }
        let (lines, subject, alone) = (self.lines, self.subject, self.alone);
        let written = self.out.part(|writer| lines.transfer(subject, alone, transfer, writer));
        self.stream.left(transfer.task);
        written.map_err(|failure| {
            self.failure = Some(failure);
            Halt
        })
    }
}

impl Job<'_> {
    /// Runs the scenario, which must have been read for this, and writes its transfers in this form; then hands the rest of
    /// the result to `report`, with the output and what it is called.
    pub(crate) fn stream(
        &self,
        options: RunOptions<'_>,
        (lines, target): (Lines, &str),
        mut out: Output,
        report: impl FnOnce(&Run<'_>, &Streamed<'_>, Output) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let s = self.scenario;
        let Some(stream) = &s.stream else { return Err(Failure::usage("the scenario was not read as a stream")) };
        let subject = Named::new(s);
        let arbiter = self.make().map_err(|error| self.refused(&error, None))?;
        let alone = Alone::new(&s.fabric, &s.tasks, &s.routes, arbiter);
        out.part(|writer| lines.begin(writer))?;
        let mut writer = Writer { subject: &subject, alone: &alone, stream, lines, out, ended: 0, failure: None };
        let running = Stage::running();
        let outcome = self.streamed(options, stream, &mut writer)?;
        drop(running);
        let _writing = Stage::writing();
        if outcome.stop == Stop::Cancelled {
            say_interrupted();
        }
        let Writer { out, ended, .. } = writer;
        let streamed = Streamed { target, transfers: stream.census().transfers(), ended };
        let run = Run { subject: &subject, arbiter: self.info(), outcome: &outcome, alone };
        report(&run, &streamed, out)?;
        self.say_trouble(&run.alone);
        Ok(())
    }

    fn streamed(
        &self,
        options: RunOptions<'_>,
        stream: &TraceStream,
        writer: &mut Writer<'_>,
    ) -> Result<Outcome, Failure> {
        let (s, mut arbiter) = (self.scenario, self.arbiter()?);
        let Some(mut arrivals) = s.arrivals() else { return Err(self.stopped(&SimError::Halted)) };
        let simulation = Simulation { fabric: &s.fabric, routes: &s.routes, tasks: &s.tasks };
        let params = self.params();
        let options = RunOptions { sharing: self.sharing(&params), cancel: Some(interrupt::flag()), ..options };
        let traffic = Traffic { census: stream.census(), arrivals: &mut arrivals, departures: writer };
        let outcome = simulation.stream(traffic, &mut *arbiter, self.entry.flags, options).map_err(|error| {
            let unread = arrivals.failure().map(|wrong| Failure::diagnosed(Exit::Usage, wrong));
            unread.or_else(|| writer.failure.take()).unwrap_or_else(|| self.stopped(&error))
        })?;
        self.log(&outcome);
        Ok(outcome)
    }
}
