//! A run as Chrome trace JSON, which Perfetto and `chrome://tracing` open.
//!
//! ```text
//! process per link that carried bytes ─► async slice per transfer while it carries it, counters of rate and utilisation
//! process per device with engines     ─► thread per slot of an engine: a slice per task; async slices of tasks that wait
//! ```
//!
//! Times are microseconds with all their picoseconds; `start_ns` and `end_ns` in the arguments are exact, too. The format is
//! that of the "Trace Event Format" document of the Chromium project.

mod counters;
mod events;
mod filter;
mod json;
mod lanes;

use std::io::{BufWriter, Write};

use weir_plugin_api::{EngineScope, LinkId, NodeId, SimTime};
use weir_sim_core::{EngineId, TaskId, Work};

use crate::Run;
use crate::cause::{cause_text, link_of};
use crate::page::PhaseReplay;
use crate::run::Leg;
use crate::timeline::{takes_time, work_span};
use events::{Event, EventKind};
use filter::Kept;
pub use filter::{LinkPattern, TraceFilter};
use json::Args;

/// Writes a run as one JSON document, or what the filter leaves of it. Of an unfinished run, everything up to where it
/// stopped. The phases are those of the run ([`weir_sim_core::RunOptions::phases`]); where it recorded none, `replay` hands
/// them over one by one.
///
/// Collecting it may take long: it ends soon after `stop` says so, which is asked now and then. `stop` is for a program that
/// is about to end: what was collected is not given back to it.
///
/// # Errors
/// What the writer says; [`std::io::ErrorKind::TimedOut`] where `stop` has ended it.
pub fn write_trace(
    run: &Run<'_>,
    filter: &TraceFilter,
    replay: &PhaseReplay<'_>,
    stop: &dyn Fn() -> bool,
    out: impl Write,
) -> std::io::Result<()> {
    let mut trace = Trace::new(run, filter);
    let written = trace.collect(replay, stop).and_then(|()| trace.write(stop, BufWriter::with_capacity(1 << 16, out)));
    if stop() {
        // Taking millions of events apart would take as long as collecting them.
        std::mem::forget(trace);
    }
    written
}

/// Asks now and then whether to stop; `at` counts the steps.
fn go_on(at: usize, stop: &dyn Fn() -> bool) -> std::io::Result<()> {
    /// Steps between two questions (*assumed*: some microseconds each).
    const STEPS: usize = 256;
    if at.is_multiple_of(STEPS) && stop() { Err(std::io::ErrorKind::TimedOut.into()) } else { Ok(()) }
}

/// A trace while it is collected.
struct Trace<'r> {
    run: &'r Run<'r>,
    kept: Kept,
    /// Names of processes and threads.
    names: Vec<Event>,
    events: Vec<Event>,
    processes: u32,
    /// Slices that may overlap have ids.
    slices: u64,
}

impl<'r> Trace<'r> {
    fn new(run: &'r Run<'r>, filter: &TraceFilter) -> Self {
        let kept = Kept::of(run, filter);
        Self { run, kept, names: Vec::new(), events: Vec::new(), processes: 0, slices: 0 }
    }

    /// A new process; viewers show them in the order of their numbers.
    fn process(&mut self, name: &str) -> u32 {
        self.processes += 1;
        let pid = self.processes;
        self.names.push(Event::named(pid, 0, "process_name", Args::default().text("name", name)));
        self.names.push(Event::named(pid, 0, "process_sort_index", Args::default().number("sort_index", pid)));
        pid
    }

    fn thread(&mut self, pid: u32, tid: u32, name: &str) {
        self.names.push(Event::named(pid, tid, "thread_name", Args::default().text("name", name)));
    }

    /// A slice that may overlap others of its process.
    fn overlapping(
        &mut self,
        pid: u32,
        category: &'static str,
        (name, args): (&str, Args),
        (from, to): (SimTime, SimTime),
    ) {
        self.slices += 1;
        let kind = |is_begin| EventKind::Async { id: self.slices, category, is_begin };
        self.events.push(Event { kind: kind(true), pid, tid: 0, at: from, name: name.to_owned(), args: Some(args) });
        self.events.push(Event { kind: kind(false), pid, tid: 0, at: to, name: name.to_owned(), args: None });
    }

    fn collect(&mut self, replay: &PhaseReplay<'_>, stop: &dyn Fn() -> bool) -> std::io::Result<()> {
        self.links(replay, stop)?;
        self.engines(stop)
    }

    /// A process per link that carried bytes, in link order.
    fn links(&mut self, replay: &PhaseReplay<'_>, stop: &dyn Fn() -> bool) -> std::io::Result<()> {
        let run = self.run;
        let used: Vec<LinkId> = (0..run.outcome.links.len())
            .filter(|&link| run.outcome.links[link].bytes > 0 && self.kept.links[link])
            .map(LinkId::from_index)
            .collect();
        let mut process_of = vec![0; run.outcome.links.len()];
        for &link in &used {
            process_of[link.index()] = self.process(&run.link_text(link));
        }
        for (at, task) in run.transfers().enumerate() {
            go_on(at, stop)?;
            if self.kept.tasks[task.index()] {
                self.transfer(task, &process_of);
            }
        }
        counters::add(run, &process_of, self.kept.is_part, replay, stop, &mut self.events)
    }

    /// A transfer on each link of the routes that it took.
    fn transfer(&mut self, task: TaskId, process_of: &[u32]) {
        let run = self.run;
        if run.outcome.sent_bytes[task.index()] == 0 {
            return;
        }
        let name = run.scenario.task_name(task);
        for leg in run.legs(task) {
            let args = leg_args(run, task, &leg);
            for (link, _) in leg.carried.shares(run.scenario) {
                if process_of[link.index()] > 0 {
                    self.overlapping(process_of[link.index()], "transfer", (&name, args.clone()), leg.span);
                }
            }
        }
    }

    /// A process per device, or operation, that has engines with tasks; a thread per slot.
    fn engines(&mut self, stop: &dyn Fn() -> bool) -> std::io::Result<()> {
        let run = self.run;
        let engines = run.scenario.tasks.engines();
        let mut by_engine: Vec<Vec<TaskId>> = vec![Vec::new(); engines.len()];
        for (i, task) in run.scenario.tasks.tasks().iter().enumerate() {
            go_on(i, stop)?;
            let is_ready = !run.outcome.tasks[i].ready.is_never();
            if task.engine != EngineId::NONE && is_ready && self.kept.tasks[i] && takes_time(run, TaskId(i as u32)) {
                by_engine[task.engine.0 as usize].push(TaskId(i as u32));
            }
        }
        let busy = (0..engines.len()).filter(|&engine| !by_engine[engine].is_empty());
        let mut owned: Vec<(Owner, usize)> =
            busy.map(|engine| (Owner::of(run, engines[engine].scope, by_engine[engine][0]), engine)).collect();
        owned.sort_unstable();
        let (mut last, mut pid, mut threads) = (None, 0, 0);
        for (owner, engine) in owned {
            if last != Some(owner) {
                (last, pid, threads) = (Some(owner), self.process(&owner.name(run)), 0);
            }
            go_on(0, stop)?;
            threads = self.engine(&by_engine[engine], (pid, threads), &engines[engine].name);
        }
        Ok(())
    }

    /// The tasks of an engine, in as many threads as are busy at once; returns the last thread's number.
    fn engine(&mut self, tasks: &[TaskId], (pid, threads): (u32, u32), engine: &str) -> u32 {
        let run = self.run;
        let lanes = lanes::assign(tasks.iter().map(|&task| work_span(run, task)));
        let count = lanes.iter().copied().max().map_or(0, |lane| lane + 1);
        for lane in 0..count {
            let name = if count > 1 { format!("{engine} {}", lane + 1) } else { engine.to_owned() };
            self.thread(pid, threads + lane + 1, &name);
        }
        for (&task, lane) in tasks.iter().zip(lanes) {
            let (times, span) = (run.outcome.tasks[task.index()], work_span(run, task));
            let name = run.scenario.task_name(task);
            let until = times.start.min(run.outcome.now);
            if times.ready < until {
                let waited = (times.ready, until);
                self.overlapping(pid, "waiting", (&format!("{name} waits"), span_args(waited)), waited);
            }
            if times.start.is_never() {
                continue;
            }
            let args = match run.scenario.tasks.tasks()[task.index()].work {
                Work::Carries { bytes, .. } => span_args(span).number("bytes", bytes),
                _ => span_args(span),
            };
            let (kind, tid) = (EventKind::Complete { until: span.1, category: "task" }, threads + lane + 1);
            self.events.push(Event { kind, pid, tid, at: span.0, name: name.into_owned(), args: Some(args) });
        }
        threads + count
    }

    /// By time; what happens at the same instant stays in the order above.
    fn write(&self, stop: &dyn Fn() -> bool, mut out: impl Write) -> std::io::Result<()> {
        // Numbers are moved sooner than events.
        let mut order: Vec<(SimTime, usize)> = self.events.iter().enumerate().map(|(i, event)| (event.at, i)).collect();
        order.sort_unstable();
        writeln!(out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{},\"traceEvents\":[", self.head())?;
        let all = self.names.iter().chain(order.iter().map(|&(_, i)| &self.events[i]));
        for (i, event) in all.enumerate() {
            go_on(i, stop)?;
            if i > 0 {
                writeln!(out, ",")?;
            }
            event.write(&mut out)?;
        }
        writeln!(out, "\n]}}")?;
        out.flush()
    }

    /// What the trace is of.
    fn head(&self) -> String {
        let run = self.run;
        let args = Args::default()
            .text("scenario", &run.scenario.name)
            .text("file", &run.scenario.file)
            .text("arbiter", &run.arbiter.title())
            .text("fingerprint", &run.fingerprint())
            .number("makespan_ps", run.outcome.makespan.0)
            .text("weir", env!("CARGO_PKG_VERSION"));
        args.finish()
    }
}

/// To whom an engine belongs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Device(NodeId),
    /// The operation at a position.
    Operation(usize),
}

impl Owner {
    /// The owner of an engine of this scope that serves `task`.
    fn of(run: &Run<'_>, scope: EngineScope, task: TaskId) -> Self {
        match scope {
            EngineScope::Device(node) => Self::Device(node),
            EngineScope::Operation => {
                Self::Operation(run.scenario.operations.partition_point(|planned| planned.tasks.end <= task.0))
            }
        }
    }

    fn name(self, run: &Run<'_>) -> String {
        let name = match self {
            Self::Device(node) => run.scenario.node_name(node),
            Self::Operation(at) => run.scenario.operations.get(at).map_or("", |planned| &planned.id),
        };
        format!("{name}: engines")
    }
}

/// What a slice of a transfer says: how much, from where to where, how fast, and why not faster.
fn leg_args(run: &Run<'_>, task: TaskId, leg: &Leg<'_>) -> Args {
    let mut args = span_args(leg.span)
        .number("bytes", leg.bytes)
        .text("from", run.scenario.node_name(leg.carried.from))
        .text("to", run.scenario.node_name(leg.carried.to))
        .number("mean GB/s", leg.rate() / 1e9);
    if let Some(link) = run.bottleneck(task).as_ref().and_then(link_of) {
        args = args.text("bottleneck", &run.link_text(link));
    }
    args.text("cause", cause_text(run, task).as_deref().unwrap_or_default())
}

/// The exact ends of a span.
fn span_args((from, to): (SimTime, SimTime)) -> Args {
    Args::default().number("start_ns", json::thousandths(from.0)).number("end_ns", json::thousandths(to.0))
}
