//! The task graph: what waits for what, which engine serves it, which bytes it carries.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use weir_plugin_api::{ClassId, ClassTable, EngineScope, NodeId, Queue, RouteId, SimDuration, SimTime};

/// A task, in expansion order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TaskId(pub u32);

impl TaskId {
    /// Position in the task table.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An engine: serves tasks in order of (time its place was taken, task), no task overtaking another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EngineId(pub u32);

impl EngineId {
    /// No engine: the task starts when it is ready.
    pub const NONE: Self = Self(u32::MAX);
}

/// An engine of a device, or of one operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Engine {
    /// To whom it belongs.
    pub scope: EngineScope,
    /// `send`, `compute`, …: its name within its scope.
    pub name: Arc<str>,
    /// Tasks served at once, ≥ 1.
    pub slots: u32,
}

/// An engine was named with two numbers of slots.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the engine `{name}` has {before} slots, not {now}")]
pub struct SlotsError {
    /// The engine's name.
    pub name: Arc<str>,
    /// Slots at its first use.
    pub before: u32,
    /// Slots asked for.
    pub now: u32,
}

/// How an engine serves a task: where it queues, and what the start costs. Tasks of equal service share one entry.
///
/// The work of a task begins at `max(ready + lead, end of the previous + gap)` after a task of the same `class` on its
/// slot, at `max(ready, end of the previous) + lead` after one of another class, and at `ready + lead` when it is the
/// first there, or has no engine. The end of a task that carries bytes is here the instant its last byte leaves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Service {
    /// When it takes its place in the queue.
    pub queue: Queue,
    /// Its direction.
    pub class: u32,
    /// Time before its work that may overlap the task before it.
    pub lead: SimDuration,
    /// Time after the task before it that cannot be overlapped.
    pub gap: SimDuration,
}

impl Service {
    /// Queues when ready, starts at once.
    pub const PLAIN: Self = Self { queue: Queue::Ready, class: 0, lead: SimDuration::ZERO, gap: SimDuration::ZERO };
}

/// An interned [`Service`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ServiceId(pub u32);

impl ServiceId {
    /// [`Service::PLAIN`].
    pub const PLAIN: Self = Self(0);
}

/// What a task does once it has started.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Work {
    /// A join: ends when it starts. `counted` joins are the user's (a barrier) and count as events.
    Nothing {
        /// Whether its start and end count in `events` and in the fingerprint.
        counted: bool,
    },
    /// Takes a fixed time.
    Lasts(SimDuration),
    /// Moves bytes over the fabric at the arbiter's rate.
    Carries {
        /// Payload, 1 to 2^53.
        bytes: u64,
        /// Route, limit, weight and priority.
        class: ClassId,
    },
}

/// One task.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Not ready before this instant.
    pub start: SimTime,
    /// Its engine, or [`EngineId::NONE`].
    pub engine: EngineId,
    /// How its engine serves it; [`ServiceId::PLAIN`] for transfers and computations of the workload.
    pub service: ServiceId,
    /// What it does.
    pub work: Work,
}

/// Attributes by class: transfers of equal route, limit, weight and priority.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    route: Vec<RouteId>,
    limit: Vec<f64>,
    weight: Vec<f64>,
    priority: Vec<i64>,
    index: FxHashMap<(RouteId, u64, u64, i64), ClassId>,
}

impl Classes {
    /// The class of these attributes; `limit` is infinite for none. Limit and weight must be > 0.
    pub fn intern(&mut self, route: RouteId, limit: f64, weight: f64, priority: i64) -> ClassId {
        *self.index.entry((route, limit.to_bits(), weight.to_bits(), priority)).or_insert_with(|| {
            self.route.push(route);
            self.limit.push(limit);
            self.weight.push(weight);
            self.priority.push(priority);
            ClassId::from_index(self.route.len() - 1)
        })
    }

    /// The route of a class.
    #[inline]
    #[must_use]
    pub fn route(&self, class: ClassId) -> RouteId {
        self.route[class.index()]
    }

    /// Largest allowed rate of a class, bytes per second.
    #[inline]
    #[must_use]
    pub fn limit(&self, class: ClassId) -> f64 {
        self.limit[class.index()]
    }

    /// Number of classes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.route.len()
    }

    /// Whether there is no class.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.route.is_empty()
    }

    /// The table as arbiters see it.
    #[must_use]
    pub fn table(&self) -> ClassTable<'_> {
        ClassTable {
            route: (&self.route).into(),
            limit: (&self.limit).into(),
            weight: (&self.weight).into(),
            priority: (&self.priority).into(),
        }
    }
}

/// Which tasks follow a moment of a task, as compressed rows; empty when there are none at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Follows {
    offsets: Vec<u32>,
    tasks: Vec<TaskId>,
}

impl Follows {
    /// From pairs (earlier, later), which it sorts; equal ones count once.
    fn new(mut pairs: Vec<(TaskId, TaskId)>, count: usize) -> Self {
        if pairs.is_empty() {
            return Self::default();
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut offsets = vec![0; count + 1];
        for (earlier, _) in &pairs {
            offsets[earlier.index() + 1] += 1;
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        Self { offsets, tasks: pairs.into_iter().map(|(_, later)| later).collect() }
    }

    /// What follows a task.
    #[inline]
    pub(crate) fn of(&self, task: TaskId) -> &[TaskId] {
        if self.offsets.is_empty() {
            return &[];
        }
        &self.tasks[self.offsets[task.index()] as usize..self.offsets[task.index() + 1] as usize]
    }
}

/// The tasks of a run with their engines, classes and waits, ready for [`crate::Simulation`].
#[derive(Clone, Debug)]
pub struct TaskGraph {
    pub(crate) tasks: Vec<Task>,
    pub(crate) engines: Vec<Engine>,
    pub(crate) services: Vec<Service>,
    pub(crate) classes: Classes,
    /// Per task: number of moments it waits for; empty when no task waits.
    pub(crate) waits: Vec<u32>,
    /// Who waits for the end of a task.
    pub(crate) after_end: Follows,
    /// Who waits for the start of a task.
    pub(crate) after_start: Follows,
    /// Who takes its place on its engine at the end of a task.
    pub(crate) issued: Follows,
}

impl Default for TaskGraph {
    fn default() -> Self {
        Self {
            tasks: Vec::new(),
            engines: Vec::new(),
            services: vec![Service::PLAIN],
            classes: Classes::default(),
            waits: Vec::new(),
            after_end: Follows::default(),
            after_start: Follows::default(),
            issued: Follows::default(),
        }
    }
}

impl TaskGraph {
    /// All tasks, by id.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// All engines, by id.
    #[must_use]
    pub fn engines(&self) -> &[Engine] {
        &self.engines
    }

    /// How a task is served.
    #[must_use]
    pub fn service(&self, task: TaskId) -> Service {
        self.services[self.tasks[task.index()].service.0 as usize]
    }

    /// The classes of its transfers.
    #[must_use]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Number of moments that a task waits for.
    #[must_use]
    pub fn waits(&self, task: TaskId) -> u32 {
        self.waits.get(task.index()).copied().unwrap_or(0)
    }

    /// The tasks that wait for the end of a task.
    #[must_use]
    pub fn successors(&self, task: TaskId) -> &[TaskId] {
        self.after_end.of(task)
    }

    /// The tasks that wait for the start of a task.
    #[must_use]
    pub fn start_successors(&self, task: TaskId) -> &[TaskId] {
        self.after_start.of(task)
    }

    /// The tasks that take their places on their engines when a task ends.
    #[must_use]
    pub fn issued_at(&self, task: TaskId) -> &[TaskId] {
        self.issued.of(task)
    }
}

/// Builds a [`TaskGraph`]. Waits may name tasks that are added later.
#[derive(Debug, Default)]
pub struct TaskGraphBuilder {
    graph: TaskGraph,
    /// Names of engines, each once: there are few.
    names: Vec<Arc<str>>,
    engines: FxHashMap<(NodeId, usize), EngineId>,
    services: FxHashMap<Service, ServiceId>,
    ends: Vec<(TaskId, TaskId)>,
    starts: Vec<(TaskId, TaskId)>,
    issued: Vec<(TaskId, TaskId)>,
}

impl TaskGraphBuilder {
    /// No tasks yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The engine of this name on a device, made at its first use.
    ///
    /// # Errors
    /// It has another number of slots.
    pub fn engine(&mut self, device: NodeId, name: &str, slots: u32) -> Result<EngineId, SlotsError> {
        let at = self.names.iter().position(|known| **known == *name).unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        });
        let name = &self.names[at];
        if let Some(&id) = self.engines.get(&(device, at)) {
            let before = self.graph.engines[id.0 as usize].slots;
            return if before == slots {
                Ok(id)
            } else {
                Err(SlotsError { name: Arc::clone(name), before, now: slots })
            };
        }
        let engine = Engine { scope: EngineScope::Device(device), name: Arc::clone(name), slots };
        let id = self.own_engine(engine);
        self.engines.insert((device, at), id);
        Ok(id)
    }

    /// A new engine that nobody else finds by its name.
    pub fn own_engine(&mut self, engine: Engine) -> EngineId {
        self.graph.engines.push(engine);
        EngineId(self.graph.engines.len() as u32 - 1)
    }

    /// The entry of a service.
    pub fn service(&mut self, service: Service) -> ServiceId {
        if service == Service::PLAIN {
            return ServiceId::PLAIN;
        }
        let services = &mut self.graph.services;
        *self.services.entry(service).or_insert_with(|| {
            services.push(service);
            ServiceId(services.len() as u32 - 1)
        })
    }

    /// The classes of the transfers.
    pub fn classes(&mut self) -> &mut Classes {
        &mut self.graph.classes
    }

    /// Adds a task.
    ///
    /// # Panics
    /// At more than 2^32 − 1 tasks; loads are bounded before.
    pub fn task(&mut self, task: Task) -> TaskId {
        let id = u32::try_from(self.graph.tasks.len()).expect("fewer than 2^32 tasks");
        self.graph.tasks.push(task);
        TaskId(id)
    }

    /// Number of tasks so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.graph.tasks.len()
    }

    /// Whether no task was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.graph.tasks.is_empty()
    }

    /// `task` is not ready before `earlier` has ended.
    pub fn wait(&mut self, task: TaskId, earlier: TaskId) {
        self.ends.push((earlier, task));
    }

    /// `task` is not ready before `earlier` has started.
    pub fn wait_start(&mut self, task: TaskId, earlier: TaskId) {
        self.starts.push((earlier, task));
    }

    /// `task`, whose service is [`Queue::Issued`] and which has an engine, takes its place there when `release` ends. A
    /// task that is never issued never starts. Issued tasks must wait, directly or not, for what issues them.
    pub fn issue(&mut self, task: TaskId, release: TaskId) {
        self.issued.push((release, task));
    }

    /// The finished graph, or the tasks of one cycle of waits, in order.
    ///
    /// # Errors
    /// A cycle of waits.
    pub fn build(self) -> Result<TaskGraph, Vec<TaskId>> {
        let Self { mut graph, ends, starts, issued, .. } = self;
        let count = graph.tasks.len();
        let waiting = !(ends.is_empty() && starts.is_empty());
        graph.after_end = Follows::new(ends, count);
        graph.after_start = Follows::new(starts, count);
        graph.issued = Follows::new(issued, count);
        if waiting {
            graph.waits = vec![0; count];
            for task in graph.after_end.tasks.iter().chain(&graph.after_start.tasks) {
                graph.waits[task.index()] += 1;
            }
            if let Some(cycle) = find_cycle(&graph) {
                return Err(cycle);
            }
        }
        Ok(graph)
    }
}

/// A cycle of waits, if there is one: tasks left over by topological order, walked until one repeats.
fn find_cycle(graph: &TaskGraph) -> Option<Vec<TaskId>> {
    let mut waits = graph.waits.clone();
    let mut ready: Vec<TaskId> = (0..waits.len() as u32).map(TaskId).filter(|t| waits[t.index()] == 0).collect();
    let mut done = 0;
    while let Some(task) = ready.pop() {
        done += 1;
        for next in followers(graph, task) {
            waits[next.index()] -= 1;
            if waits[next.index()] == 0 {
                ready.push(next);
            }
        }
    }
    if done == waits.len() {
        return None;
    }
    // Every task left waits for another one left; walking backwards must repeat.
    let mut before = vec![u32::MAX; waits.len()];
    for task in (0..waits.len()).filter(|&t| waits[t] > 0) {
        for next in followers(graph, TaskId(task as u32)) {
            before[next.index()] = task as u32;
        }
    }
    let mut at = waits.iter().position(|&w| w > 0)?;
    let mut seen = vec![false; waits.len()];
    while !seen[at] {
        seen[at] = true;
        at = before[at] as usize;
    }
    let (first, mut cycle) = (at, vec![TaskId(at as u32)]);
    at = before[at] as usize;
    while at != first {
        cycle.push(TaskId(at as u32));
        at = before[at] as usize;
    }
    cycle.reverse();
    Some(cycle)
}

fn followers(graph: &TaskGraph, task: TaskId) -> impl Iterator<Item = TaskId> + '_ {
    graph.successors(task).iter().chain(graph.start_successors(task)).copied()
}
