//! All that happens at one instant before rates are computed: completions, arrivals, timers, engines, starts.

use weir_plugin_api::{Binding, SimDuration, SimTime};

use crate::engines::{Begins, Engines, Look};
use crate::event_queue::{Event, EventPhase, EventQueue};
use crate::fingerprint::{Fingerprint, Happened};
use crate::flows::Ended;
use crate::mover::Mover;
use crate::outcome::{Bottleneck, Outcome, PhaseRecord, Stop, TaskTimes};
use crate::service::ServiceId;
use crate::simulation::Simulation;
use crate::tasks::{EngineId, TaskGraph, TaskId, Work};

/// A pending event of a task. Ends of transfers are not among them: they move with every change of rate, so they live
/// with the rates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum TaskEvent {
    /// A task of fixed time is over.
    Over(TaskId),
    /// The last byte of a transfer arrives.
    Arrives(TaskId),
    /// The start of a task whose waits have ended.
    Starts(TaskId),
    /// The work of a task begins: its lead has passed, or its gap after the task before.
    Begins(TaskId),
}

impl Event for TaskEvent {
    fn phase(&self) -> EventPhase {
        match self {
            Self::Over(_) => EventPhase::Completion,
            Self::Arrives(_) => EventPhase::Arrival,
            Self::Starts(_) | Self::Begins(_) => EventPhase::Timer,
        }
    }

    fn entity(&self) -> u32 {
        match self {
            Self::Over(t) | Self::Arrives(t) | Self::Starts(t) | Self::Begins(t) => t.0,
        }
    }
}

/// The state of all tasks and the events between them.
pub(crate) struct Instant<'a> {
    graph: &'a TaskGraph,
    routes: &'a crate::routes::Routes,
    queue: EventQueue<TaskEvent>,
    /// Tasks that wait for nothing, by (start, task); a cursor instead of a million queued events.
    releases: Vec<TaskId>,
    released: usize,
    waits: Vec<u32>,
    engines: Engines,
    times: Vec<TaskTimes>,
    sent_bytes: Vec<u64>,
    bottlenecks: Vec<Bottleneck>,
    beyond: Vec<TaskId>,
    begins: Begins,
    /// Empty between turns; kept for its memory.
    started: Vec<TaskId>,
    arrived: Vec<TaskId>,
    ended: Vec<Ended>,
    /// Tasks that have not ended.
    left: usize,
    fingerprint: Fingerprint,
    events: u64,
    makespan: SimTime,
}

const NO_BOTTLENECK: Bottleneck = Bottleneck { binding: Binding::NONE, time: SimDuration::ZERO };

impl<'a> Instant<'a> {
    pub(crate) fn new(simulation: &Simulation<'a>) -> Self {
        let graph = simulation.tasks;
        let count = graph.tasks.len();
        let mut releases: Vec<TaskId> = (0..count as u32).map(TaskId).filter(|&t| graph.waits(t) == 0).collect();
        if !releases.is_sorted_by_key(|t| graph.tasks[t.index()].start) {
            releases.sort_by_key(|t| graph.tasks[t.index()].start);
        }
        Self {
            graph,
            routes: simulation.routes,
            queue: EventQueue::new(),
            releases,
            released: 0,
            waits: graph.waits.clone(),
            engines: Engines::new(graph),
            times: vec![TaskTimes::NEVER; count],
            sent_bytes: vec![0; count],
            bottlenecks: vec![NO_BOTTLENECK; count],
            beyond: Vec::new(),
            begins: Begins::default(),
            started: Vec::new(),
            arrived: Vec::new(),
            ended: Vec::new(),
            left: count,
            fingerprint: Fingerprint::new(),
            events: 0,
            makespan: SimTime::ZERO,
        }
    }

    /// When the next event is due; [`SimTime::NEVER`] for none within the horizon.
    pub(crate) fn next_time(&self) -> SimTime {
        let release = self.releases.get(self.released).map_or(SimTime::NEVER, |t| self.graph.tasks[t.index()].start);
        self.queue.next_time().min(release)
    }

    /// Tasks whose next event lies beyond the horizon.
    pub(crate) fn beyond(&self) -> &[TaskId] {
        &self.beyond
    }

    /// Number of tasks that have not ended.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Tasks that wait for their engine, in id order: they have a place in its queue, or are ready for one.
    pub(crate) fn queued(&self) -> Vec<TaskId> {
        let waits = |t: &TaskId| {
            let times = &self.times[t.index()];
            self.graph.tasks[t.index()].engine != EngineId::NONE && !times.ready.is_never() && times.start.is_never()
        };
        let ready = (0..self.times.len() as u32).map(TaskId).filter(waits);
        let mut queued: Vec<TaskId> = self.engines.queued().chain(ready).collect();
        queued.sort_unstable();
        queued.dedup();
        queued
    }

    /// Does all that is due at `now`, including what that brings about at `now`.
    pub(crate) fn drain(&mut self, now: SimTime, flows: &mut Mover<'_>) {
        flows.take_ended(now, &mut self.ended);
        self.complete(now);
        loop {
            self.happen(now);
            self.grant(now);
            if self.begins.now.is_empty() {
                return;
            }
            self.start(now, flows);
        }
    }

    /// Completions, arrivals and timers that are due, and releases.
    fn happen(&mut self, now: SimTime) {
        while let Some(event) = self.queue.pop_due(now, EventPhase::Completion) {
            self.sent(now, TaskId(event.entity()), SimDuration::ZERO);
        }
        self.arrive(now);
        while let Some(event) = self.queue.pop_due(now, EventPhase::Timer) {
            match event {
                TaskEvent::Begins(task) => self.begins.now.push(task),
                _ => self.ready(now, TaskId(event.entity())),
            }
        }
        self.release(now);
    }

    /// Gives free slots to the heads of queues. Transfers take theirs last: what is ready at `now` only after a join or
    /// a task of no time must be in the queue before them.
    fn grant(&mut self, now: SimTime) {
        let graph = self.graph;
        let look = Look { now, graph, times: &self.times };
        let carries = |task: TaskId| matches!(graph.tasks[task.index()].work, Work::Carries { .. });
        self.engines.dispatch(&look, &mut self.begins, |task| !carries(task));
        if self.begins.now.is_empty() {
            self.engines.dispatch(&look, &mut self.begins, |_| true);
        }
        while let Some((time, task)) = self.begins.later.pop() {
            self.schedule(time, TaskEvent::Begins(task));
        }
    }

    /// Transfers whose last byte leaves now.
    fn complete(&mut self, now: SimTime) {
        let ended = std::mem::take(&mut self.ended);
        for e in &ended {
            let route = self.graph.classes.route(e.class);
            self.fingerprint.add(now, Happened::Sent, e.task.0, e.bytes);
            self.sent_bytes[e.task.index()] = e.bytes;
            self.bottlenecks[e.task.index()] = e.bottleneck;
            self.sent(now, e.task, self.routes.latency(route));
        }
        self.ended = ended;
        self.ended.clear();
    }

    /// A task's work is done: its slot is free; it ends after the latency.
    fn sent(&mut self, now: SimTime, task: TaskId, latency: SimDuration) {
        self.times[task.index()].sent = now;
        let engine = self.graph.tasks[task.index()].engine;
        if engine != EngineId::NONE {
            self.engines.release(engine, now, task);
        }
        if latency == SimDuration::ZERO {
            self.arrived.push(task);
        } else {
            self.schedule(now.after(latency), TaskEvent::Arrives(task));
        }
    }

    /// All that ends now, in task order, and what waited for it.
    fn arrive(&mut self, now: SimTime) {
        while let Some(event) = self.queue.pop_due(now, EventPhase::Arrival) {
            self.arrived.push(TaskId(event.entity()));
        }
        let mut arrived = std::mem::take(&mut self.arrived);
        arrived.sort_unstable();
        self.left -= arrived.len();
        let graph = self.graph;
        for &task in &arrived {
            self.times[task.index()].end = now;
            self.makespan = now;
            self.count(now, Happened::End, task);
            self.waited(now, graph.successors(task));
            for &issued in graph.issued_at(task) {
                self.engines.enqueue(graph.tasks[issued.index()].engine, now, issued);
            }
        }
        arrived.clear();
        self.arrived = arrived;
    }

    /// One wait of each of these has ended. After its last one a task is ready: now, or at its start.
    fn waited(&mut self, now: SimTime, tasks: &[TaskId]) {
        for &task in tasks {
            self.waits[task.index()] -= 1;
            if self.waits[task.index()] > 0 {
                continue;
            }
            let start = self.graph.tasks[task.index()].start;
            if start > now {
                self.schedule(start, TaskEvent::Starts(task));
            } else {
                self.ready(now, task);
            }
        }
    }

    fn release(&mut self, now: SimTime) {
        while let Some(&task) = self.releases.get(self.released) {
            if self.graph.tasks[task.index()].start > now {
                return;
            }
            self.released += 1;
            self.ready(now, task);
        }
    }

    fn ready(&mut self, now: SimTime, task: TaskId) {
        self.times[task.index()].ready = now;
        let (engine, service) = (self.graph.tasks[task.index()].engine, self.graph.tasks[task.index()].service);
        if engine != EngineId::NONE {
            if self.graph.queues_when_issued(task) {
                self.engines.mark(engine);
            } else {
                self.engines.enqueue(engine, now, task);
            }
        } else if service == ServiceId::PLAIN {
            self.begins.now.push(task);
        } else {
            self.begins.add(now, self.graph.service(task).begin(now, None), task);
        }
    }

    /// Begins the work of what has nothing more to wait for, in task order.
    fn start(&mut self, now: SimTime, flows: &mut Mover<'_>) {
        // What starts because these have started is a matter of the next turn.
        let mut started = std::mem::replace(&mut self.begins.now, std::mem::take(&mut self.started));
        started.sort_unstable();
        for &task in &started {
            self.times[task.index()].start = now;
            self.count(now, Happened::Start, task);
            match self.graph.tasks[task.index()].work {
                Work::Nothing { .. } | Work::Lasts(SimDuration::ZERO) => self.sent(now, task, SimDuration::ZERO),
                Work::Lasts(span) => self.schedule(now.after(span), TaskEvent::Over(task)),
                Work::Carries { bytes, class } => flows.admit(now, task, class, bytes),
            }
            self.waited(now, self.graph.start_successors(task));
        }
        started.clear();
        self.started = started;
    }

    fn schedule(&mut self, time: SimTime, event: TaskEvent) {
        if time.is_never() {
            self.beyond.push(TaskId(event.entity()));
        } else {
            self.queue.schedule(time, event);
        }
    }

    fn count(&mut self, now: SimTime, what: Happened, task: TaskId) {
        let bytes = match self.graph.tasks[task.index()].work {
            Work::Nothing { counted: false } => return,
            Work::Carries { bytes, .. } => bytes,
            _ => 0,
        };
        self.events += 1;
        self.fingerprint.add(now, what, task.0, bytes);
    }

    /// The result of the run.
    pub(crate) fn outcome(
        mut self,
        stop: Stop,
        now: SimTime,
        mut flows: Mover<'_>,
        phases: Option<Vec<PhaseRecord>>,
    ) -> Outcome {
        for (task, sent, bottleneck) in flows.close(now) {
            self.sent_bytes[task.index()] = sent;
            self.bottlenecks[task.index()] = bottleneck;
        }
        Outcome {
            stop,
            now,
            makespan: self.makespan,
            events: self.events,
            fingerprint: self.fingerprint.value(),
            links: flows.link_totals(now),
            arbitrations: flows.arbitrations(),
            tasks: self.times,
            sent_bytes: self.sent_bytes,
            bottlenecks: self.bottlenecks,
            phases,
        }
    }
}
