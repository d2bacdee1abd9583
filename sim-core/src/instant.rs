//! All that happens at one instant before rates are computed: completions, arrivals, timers, engines, starts.

use weir_plugin_api::{SimDuration, SimTime};

use crate::audit::Audit;
use crate::engines::{Begins, Engines, Look};
use crate::event_queue::{EventPhase, EventQueue, TaskEvent};
use crate::fingerprint::{Fingerprint, Happened};
use crate::flows::Ended;
use crate::mover::{Mover, TransferState};
use crate::outcome::{Outcome, PhaseRecord, SimError, Stop};
use crate::service::ServiceId;
use crate::setup::{RunOptions, Sharing, Simulation};
use crate::store::{Store, Whole};
use crate::stream::Streamed;
use crate::tasks::{EngineId, Task, TaskGraph, TaskId, Work};

/// The state of all tasks and the events between them.
pub(crate) struct Instant<'a, S> {
    graph: &'a TaskGraph,
    routes: &'a crate::routes::Routes,
    store: S,
    queue: EventQueue,
    waits: Vec<u32>,
    engines: Engines,
    beyond: Vec<TaskId>,
    begins: Begins,
    /// Empty between turns; kept for its memory.
    started: Vec<TaskId>,
    arrived: Vec<TaskId>,
    ended: Vec<Ended>,
    fingerprint: Fingerprint,
    audit: Audit<'a>,
    events: u64,
    makespan: SimTime,
}

impl<'a, S: Store> Instant<'a, S> {
    pub(crate) fn new(simulation: &Simulation<'a>, store: S, options: &RunOptions<'a>) -> Self {
        let audit = match options.sharing {
            Sharing::Packets(settings) => Audit::of_packets(simulation, settings),
            _ => Audit::new(simulation),
        };
        let audit = audit.raised(options.changing.and_then(|changing| changing.links.highest(simulation.fabric)));
        let graph = simulation.tasks;
        Self {
            graph,
            routes: simulation.routes,
            store,
            queue: EventQueue::default(),
            waits: graph.waits.clone(),
            engines: Engines::new(graph),
            beyond: Vec::new(),
            begins: Begins::default(),
            started: Vec::new(),
            arrived: Vec::new(),
            ended: Vec::new(),
            fingerprint: Fingerprint::new(),
            audit,
            events: 0,
            makespan: SimTime::ZERO,
        }
    }

    /// When the next event is due; [`SimTime::NEVER`] for none within the horizon.
    pub(crate) fn next_time(&self) -> SimTime {
        self.queue.next_time().min(self.store.next_release())
    }

    /// Tasks whose next event lies beyond the horizon.
    pub(crate) fn beyond(&self) -> &[TaskId] {
        &self.beyond
    }

    /// Number of tasks that have not ended.
    pub(crate) fn left(&self) -> usize {
        self.store.left()
    }

    /// Whether tasks cannot be had, or given away, any more.
    #[inline]
    pub(crate) fn halted(&self) -> bool {
        self.store.halted()
    }

    /// Tasks that wait for their engine, in id order: they have a place in its queue, or are ready for one.
    pub(crate) fn queued(&self) -> Vec<TaskId> {
        let mut queued: Vec<TaskId> = self.engines.queued().chain(self.store.unserved()).collect();
        queued.sort_unstable();
        queued.dedup();
        queued
    }

    /// Does all that is due at `now`, including what that brings about at `now`. Links change once transfers have ended, and
    /// before others start. Returns whether rates must be asked for because of them.
    #[inline(never)]
    pub(crate) fn drain(&mut self, now: SimTime, flows: &mut Mover<'_>) -> Result<bool, SimError> {
        flows.take_ended(now, &mut self.ended);
        let changes = flows.change_links(now)?;
        self.complete(now, flows.tells_arrivals());
        self.take_arrived(flows);
        loop {
            self.happen(now);
            self.grant(now);
            if self.begins.now.is_empty() {
                return Ok(changes);
            }
            self.start(now, flows);
        }
    }

    /// Transfers that have arrived, where the mover tells that. The last packet of one may have waited since it was sent.
    fn take_arrived(&mut self, flows: &mut Mover<'_>) {
        for state in flows.take_arrived() {
            self.arrived.push(state.task);
            self.note(state);
        }
    }

    fn note(&mut self, state: TransferState) {
        let TransferState { task, sent_bytes, bottleneck, held } = state;
        self.store.note(task, sent_bytes, bottleneck);
        if !held.is_empty() {
            self.store.note_held(task, held);
        }
    }

    /// Completions, arrivals and timers that are due, and releases.
    fn happen(&mut self, now: SimTime) {
        if self.queue.next_time() > now && self.arrived.is_empty() {
            self.release(now);
        } else {
            self.happen_due(now);
        }
    }

    /// [`Self::happen`], where there is more than releases; kept out of the way of runs of transfers alone, as what follows.
    #[inline(never)]
    fn happen_due(&mut self, now: SimTime) {
        while let Some(event) = self.queue.pop_due(now, EventPhase::Completion) {
            self.sent(now, event.task(), Some(SimDuration::ZERO));
        }
        self.arrive(now);
        while let Some(event) = self.queue.pop_due(now, EventPhase::Timer) {
            match event {
                TaskEvent::Begins(task) => self.begins.now.push(task),
                _ => self.ready(now, event.task()),
            }
        }
        self.release(now);
    }

    /// Gives free slots to the heads of queues. Transfers take theirs last: what is ready at `now` only after a join or
    /// a task of no time must be in the queue before them.
    fn grant(&mut self, now: SimTime) {
        if !self.engines.all_served() || !self.begins.later.is_empty() {
            self.dispatch(now);
        }
    }

    #[inline(never)]
    fn dispatch(&mut self, now: SimTime) {
        let store = &self.store;
        let look = Look { now, graph: self.graph, times: store.all_times() };
        let carries = |task: TaskId| matches!(store.task(task).work, Work::Carries { .. });
        self.engines.dispatch(&look, &mut self.begins, |task| !carries(task));
        if self.begins.now.is_empty() {
            self.engines.dispatch(&look, &mut self.begins, |_| true);
        }
        while let Some((time, task)) = self.begins.later.pop() {
            self.schedule(time, TaskEvent::Begins(task));
        }
    }

    /// Transfers whose last byte leaves now. They arrive after the latencies, or when the mover tells it.
    fn complete(&mut self, now: SimTime, is_told: bool) {
        if self.ended.is_empty() {
            return;
        }
        let ended = std::mem::take(&mut self.ended);
        for e in &ended {
            let route = self.graph.classes.route(e.class);
            self.fingerprint.add(now, Happened::Sent, e.task.0, e.bytes);
            self.store.note(e.task, e.bytes, e.bottleneck);
            let start = self.store.times(e.task).start;
            match e.rerouted {
                None => self.audit.sent(e.task, e.class, e.bytes, now - start),
                Some(_) => self.audit.sent_by_several_routes(e.task, e.class, e.bytes, (start, now)),
            }
            let latency = || e.rerouted.unwrap_or_else(|| self.routes.latency(route));
            self.sent(now, e.task, (!is_told).then(latency));
        }
        self.ended = ended;
        self.ended.clear();
    }

    /// A task's work is done: its slot is free; it ends after the latency, if that is known.
    fn sent(&mut self, now: SimTime, task: TaskId, latency: Option<SimDuration>) {
        self.store.times(task).sent = now;
        let engine = self.store.task(task).engine;
        if engine != EngineId::NONE {
            self.engines.release(engine, now, task);
        }
        match latency {
            None => {}
            Some(SimDuration::ZERO) => self.arrived.push(task),
            Some(latency) => self.schedule(now.after(latency), TaskEvent::Arrives(task)),
        }
    }

    /// All that ends now, in task order, and what waited for it.
    fn arrive(&mut self, now: SimTime) {
        while let Some(event) = self.queue.pop_due(now, EventPhase::Arrival) {
            self.arrived.push(event.task());
        }
        if self.arrived.is_empty() {
            return;
        }
        let mut arrived = std::mem::take(&mut self.arrived);
        arrived.sort_unstable();
        let graph = self.graph;
        for &task in &arrived {
            self.store.times(task).end = now;
            self.makespan = now;
            self.count(now, Happened::End, task);
            self.waited(now, graph.successors(task));
            for &issued in graph.issued_at(task) {
                self.engines.enqueue(graph.tasks[issued.index()].engine, now, issued);
            }
            self.store.ended(now, task);
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
        while let Some(task) = self.store.release(now) {
            self.ready(now, task);
        }
    }

    fn ready(&mut self, now: SimTime, task: TaskId) {
        self.store.times(task).ready = now;
        let Task { engine, service, .. } = *self.store.task(task);
        if engine != EngineId::NONE {
            if service != ServiceId::PLAIN && self.graph.queues_when_issued(task) {
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
            self.begin(now, task);
            self.count(now, Happened::Start, task);
            match self.store.task(task).work {
                Work::Nothing { .. } | Work::Lasts(SimDuration::ZERO) => self.sent(now, task, Some(SimDuration::ZERO)),
                Work::Lasts(span) => self.schedule(now.after(span), TaskEvent::Over(task)),
                Work::Carries { bytes, class } => flows.admit(now, task, class, bytes),
            }
            self.waited(now, self.graph.start_successors(task));
        }
        started.clear();
        self.started = started;
    }

    /// Starts and ends until now.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Notes when the work of a task begins, and behind whom it was queued if it has waited for its engine.
    #[inline]
    fn begin(&mut self, now: SimTime, task: TaskId) {
        let times = self.store.times(task);
        times.start = now;
        if times.ready < now {
            let behind = self.engines.made_way(self.store.task(task).engine);
            if behind != task {
                self.store.note_queued(task, behind);
            }
        }
    }

    #[inline(never)]
    fn schedule(&mut self, time: SimTime, event: TaskEvent) {
        if time.is_never() {
            self.beyond.push(event.task());
        } else {
            self.queue.schedule(time, event);
        }
    }

    fn count(&mut self, now: SimTime, what: Happened, task: TaskId) {
        let bytes = match self.store.task(task).work {
            Work::Nothing { counted: false } => return,
            Work::Carries { bytes, .. } => bytes,
            _ => 0,
        };
        self.events += 1;
        self.fingerprint.add(now, what, task.0, bytes);
    }

    /// The result of the run, but for what is known task by task.
    fn close(
        &mut self,
        stop: Stop,
        now: SimTime,
        mut flows: Mover<'_>,
        phases: Option<Vec<PhaseRecord>>,
    ) -> Result<Outcome, SimError> {
        flows.close(now).into_iter().for_each(|state| self.note(state));
        let outcome = Outcome {
            stop,
            now,
            makespan: self.makespan,
            events: self.events,
            fingerprint: self.fingerprint.value(),
            links: flows.link_totals(now),
            arbitrations: flows.arbitrations(),
            remarks: flows.remarks(),
            incremental: flows.is_incremental(),
            link_changes: flows.link_changes(now),
            link_steps: flows.link_steps(),
            reroutes: flows.reroutes(),
            packets: flows.packet_counts(now),
            tasks: Vec::new(),
            sent_bytes: Vec::new(),
            bottlenecks: Vec::new(),
            queued_behind: Vec::new(),
            held: Vec::new(),
            phases,
        };
        self.audit.finish(&outcome)?;
        Ok(outcome)
    }
}

impl Instant<'_, Whole<'_>> {
    /// The result of the run.
    pub(crate) fn outcome(
        mut self,
        stop: Stop,
        now: SimTime,
        flows: Mover<'_>,
        phases: Option<Vec<PhaseRecord>>,
    ) -> Result<Outcome, SimError> {
        let outcome = self.close(stop, now, flows, phases)?;
        let Whole { times, sent_bytes, bottlenecks, queued_behind, held, .. } = self.store;
        Ok(Outcome { tasks: times, sent_bytes, bottlenecks, queued_behind, held, ..outcome })
    }
}

impl Instant<'_, Streamed<'_>> {
    /// The result of the run, after the transfers that have not ended have been given away.
    pub(crate) fn leave(
        mut self,
        stop: Stop,
        now: SimTime,
        flows: Mover<'_>,
        phases: Option<Vec<PhaseRecord>>,
    ) -> Result<Outcome, SimError> {
        let outcome = self.close(stop, now, flows, phases)?;
        self.store.leave(now).map_err(|_| SimError::Halted)?;
        Ok(outcome)
    }
}
