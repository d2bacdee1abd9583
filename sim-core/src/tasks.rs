//! The task graph: what waits for what, which engine serves it, which bytes it carries.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use weir_plugin_api::{ClassId, EngineScope, NodeId, Queue, SimDuration, SimTime};

use crate::classes::Classes;
use crate::cycle::find_cycle;
use crate::reorder::Places;
use crate::service::{Service, ServiceId};

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
    /// No engine: the work of the task begins when it is ready and its lead has passed.
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

    /// The same under other ids.
    pub(crate) fn relabelled(&self, count: usize, id: impl Fn(TaskId) -> TaskId) -> Self {
        if self.offsets.is_empty() {
            return Self::default();
        }
        let earlier = (0..count as u32).map(TaskId);
        Self::new(
            earlier
                .flat_map(|e| self.of(e).iter().map(|&l| (e, l)).collect::<Vec<_>>())
                .map(|(e, l)| (id(e), id(l)))
                .collect(),
            count,
        )
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
    /// Which task runs as which, where an order was set.
    pub(crate) places: Places,
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
            places: Places::default(),
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

    /// Whether a task takes its place on an engine when it is issued, not when it is ready.
    #[inline]
    pub(crate) fn queues_when_issued(&self, task: TaskId) -> bool {
        let t = &self.tasks[task.index()];
        t.service != ServiceId::PLAIN && t.engine != EngineId::NONE && self.service(task).queue == Queue::Issued
    }

    /// The tasks that carry bytes, by id, with their classes.
    pub fn transfers(&self) -> impl Iterator<Item = (TaskId, ClassId)> + '_ {
        (0..).zip(&self.tasks).filter_map(|(id, task)| match task.work {
            Work::Carries { class, .. } => Some((TaskId(id), class)),
            _ => None,
        })
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

    /// Lets these tasks, each named once, run in this order: the k-th one named runs as if it had the k-th lowest id among
    /// them, in queues of engines and wherever else ids decide among equals. Times are reported under their own ids.
    ///
    /// # Panics
    /// On a task of another graph.
    pub fn set_order(&mut self, tasks: &[TaskId]) {
        self.places.set(self.tasks.len(), tasks);
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

    /// `task`, whose service is [`Queue::Issued`] and which has an engine, takes its place there when `release` ends. It
    /// is issued once: only the first call for a task counts, and none for other tasks. One that is never issued never
    /// starts. Issued tasks must wait, directly or not, for what issues them.
    pub fn issue(&mut self, task: TaskId, release: TaskId) {
        self.issued.push((release, task));
    }

    /// The finished graph, or the tasks of one cycle of waits, in order.
    ///
    /// # Errors
    /// A cycle of waits.
    pub fn build(self) -> Result<TaskGraph, Vec<TaskId>> {
        let Self { mut graph, ends, starts, mut issued, .. } = self;
        let count = graph.tasks.len();
        issued.retain(|&(_, task)| graph.queues_when_issued(task));
        issued.sort_by_key(|&(_, task)| task);
        issued.dedup_by_key(|&mut (_, task)| task);
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
