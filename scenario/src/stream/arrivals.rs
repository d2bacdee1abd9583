//! The second pass: the next row of each trace, the earliest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_plugin_api::SimTime;
use weir_sim_core::{Arrival, Arrivals, Halt, TaskId};

use super::row::{Row, Wrong};
use super::{Surveyed, TraceStream};
use crate::context::Problem;
use crate::diagnostic::Diagnostic;
use crate::scenario::Scenario;
use crate::source::Span;
use crate::table::Rows;
use crate::workload::attributes::Ends;

/// The transfers of all traces by (start, row), read as they are asked for.
pub struct TraceArrivals<'a> {
    scenario: &'a Scenario,
    stream: &'a TraceStream,
    readers: Vec<Reader<'a>>,
    /// The next row of each trace that has one, and the number of the trace.
    heads: BinaryHeap<Reverse<(SimTime, TaskId, usize)>>,
    opened: bool,
    failure: Option<Diagnostic>,
}

struct Reader<'a> {
    trace: &'a Surveyed,
    /// `None` before the first row and after the last.
    rows: Option<Rows<'static>>,
    /// The id of the row to read next, and that after the last.
    next: TaskId,
    end: TaskId,
    /// The row read last, until it is asked for.
    head: Option<Arrival>,
    /// When that starts.
    last: SimTime,
}

impl<'a> Reader<'a> {
    /// Before the first row; `end` is the id after the last.
    fn new(trace: &'a Surveyed, end: TaskId) -> Self {
        Self { trace, rows: None, next: trace.first, end, head: None, last: SimTime::ZERO }
    }

    /// Reads the next row into `head`; its start and id, or `None` after the last.
    fn advance(&mut self, scenario: &Scenario, stream: &TraceStream) -> Result<Option<(SimTime, TaskId)>, Wrong> {
        let Some(rows) = &mut self.rows else { return Ok(None) };
        let more = rows.advance().map_err(|error| (0, unreadable(&error)))?;
        if more != (self.next < self.end) {
            return Err((0, changed()));
        }
        if !more {
            self.rows = None;
            return Ok(None);
        }
        let arrival = arrival(scenario, stream, self.trace, rows, self.next)?;
        if arrival.start < self.last {
            return Err((0, changed()));
        }
        (self.head, self.last) = (Some(arrival), arrival.start);
        self.next.0 += 1;
        Ok(Some((arrival.start, arrival.task)))
    }
}

impl Scenario {
    /// The transfers of the traces that are streamed, from the first one on; `None` where none are.
    #[must_use]
    pub fn arrivals(&self) -> Option<TraceArrivals<'_>> {
        self.stream.as_ref().map(|stream| TraceArrivals::new(self, stream))
    }
}

impl<'a> TraceArrivals<'a> {
    fn new(scenario: &'a Scenario, stream: &'a TraceStream) -> Self {
        let ends = stream.traces.iter().skip(1).map(|trace| trace.first).chain([TaskId(stream.next_row())]);
        let readers = stream.traces.iter().zip(ends);
        let reader = |(trace, end): (&'a Surveyed, TaskId)| Reader::new(trace, end);
        Self {
            scenario,
            stream,
            readers: readers.map(reader).collect(),
            heads: BinaryHeap::new(),
            opened: false,
            failure: None,
        }
    }

    /// Why no more rows can be had, with file, line and column.
    pub fn failure(&mut self) -> Option<Diagnostic> {
        self.failure.take()
    }

    fn open(&mut self) -> Result<(), Halt> {
        self.opened = true;
        for at in 0..self.readers.len() {
            let trace = self.readers[at].trace;
            if trace.has_changed(&self.scenario.sources) {
                return Err(self.fail(start_of(trace), changed()));
            }
            match trace.open(&self.scenario.sources, 0) {
                Ok(rows) => self.readers[at].rows = rows,
                Err(error) => return Err(self.fail(start_of(trace), unreadable(&error))),
            }
            self.fetch(at)?;
        }
        Ok(())
    }

    /// Reads the next row of a trace.
    fn fetch(&mut self, at: usize) -> Result<(), Halt> {
        let reader = &mut self.readers[at];
        match reader.advance(self.scenario, self.stream) {
            Ok(Some((start, task))) => {
                self.heads.push(Reverse((start, task, at)));
                Ok(())
            }
            Ok(None) => Ok(()),
            Err((field, problem)) => {
                let place = reader.rows.as_ref().map_or_else(|| start_of(reader.trace), |rows| rows.place(field));
                Err(self.fail(place, problem))
            }
        }
    }

    fn fail(&mut self, place: Span, Problem { message, help }: Problem) -> Halt {
        self.failure = Some(self.scenario.sources.at(place, Diagnostic::error(message).with_help(help)));
        Halt
    }
}

impl Arrivals for TraceArrivals<'_> {
    fn next(&mut self) -> Result<Option<Arrival>, Halt> {
        if !self.opened {
            self.open()?;
        }
        let Some(Reverse((_, _, at))) = self.heads.pop() else { return Ok(None) };
        let arrival = self.readers[at].head.take();
        self.fetch(at)?;
        Ok(arrival)
    }
}

/// The transfer of the current row; what it names was seen by the survey, or the file has changed since.
fn arrival(
    scenario: &Scenario,
    stream: &TraceStream,
    trace: &Surveyed,
    rows: &Rows<'_>,
    task: TaskId,
) -> Result<Arrival, Wrong> {
    let known = |(at, name): (usize, &[u8])| stream.devices.get(name).copied().ok_or_else(|| (at, changed()));
    let row = Row::read(&rows.record, &trace.columns, known)?;
    let Ends { from, to } = row.ends;
    let attributes = row.attributes;
    let class = scenario.routes.known(from, to).and_then(|route| {
        scenario.tasks.classes().known(route, attributes.limit, attributes.weight, attributes.priority)
    });
    let (Some(class), Some(&engine)) = (class, stream.engines.get(from.index())) else {
        return Err((row.to, changed()));
    };
    if !row.id.is_empty() {
        stream.names().come(task, row.id);
    }
    Ok(Arrival { task, start: attributes.start, engine, class, bytes: row.bytes })
}

fn start_of(trace: &Surveyed) -> Span {
    Span { source: trace.source, line: 1, column: 1, width: 1 }
}

fn changed() -> Problem {
    Problem::new("the table was changed while it was read", "run again when it is finished")
}

fn unreadable(error: &dyn std::fmt::Display) -> Problem {
    Problem::new(format!("the table cannot be read: {error}"), "check the file")
}
