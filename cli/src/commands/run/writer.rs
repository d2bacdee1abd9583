//! The transfers of a streamed run as lines, written as they end.

use weir::{Error, StreamedRun};
use weir_report::Lines;
use weir_sim_core::{Departure, Departures, Halt};

use crate::interrupt;
use crate::output::Output;

/// Writes a line for each transfer.
pub(super) struct Writer<'a> {
    pub(super) streaming: &'a StreamedRun<'a>,
    pub(super) lines: Lines,
    pub(super) out: Output,
    pub(super) ended: usize,
    pub(super) failure: Option<Error>,
}

impl Departures for Writer<'_> {
    fn take(&mut self, transfer: &Departure) -> Result<(), Halt> {
        if transfer.times.end.is_never() {
            // The run is over: what is left is written whatever time that takes.
            interrupt::finishing();
        } else {
            self.ended += 1;
        }
        let (lines, streaming) = (self.lines, self.streaming);
        let (scenario, alone, arbiter) = (streaming.scenario(), &streaming.alone, streaming.arbiter());
        let written = self.out.part(|writer| lines.transfer(scenario, alone, &arbiter, transfer, writer));
        streaming.stream.left(transfer.task);
        written.map_err(|failure| {
            self.failure = Some(failure);
            Halt
        })
    }
}
