//! The task graph: what waits for what, which engine serves it, which bytes it carries.

use std::sync::Arc;

use weir_plugin_api::{ClassId, EngineScope, Queue, SimDuration, SimTime};

use crate::classes::Classes;
use crate::service::{Service, ServiceId};

/// A task, in expansion order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TaskId(pub u32);

impl TaskId {
    /// Stands for no task.
    pub const NONE: Self = Self(u32::MAX);

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
    /// The engine's name within its scope, such as `send`.
    pub name: Arc<str>,
    /// Slots at its first use.
    pub before: u32,
    /// Slots that the use at hand asks for.
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

/// A vertex of the task graph: when it may start, where it queues, and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Not ready before this instant.
    pub start: SimTime,
    /// Its engine, or [`EngineId::NONE`].
    pub engine: EngineId,
    /// How its engine serves it; [`ServiceId::PLAIN`] for transfers and computations of the workload.
    pub service: ServiceId,
    /// What it does once it has its slot.
    pub work: Work,
}

/// Which tasks follow a moment of a task, as compressed rows; empty when there are none at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Follows {
    offsets: Vec<u32>,
    pub(crate) tasks: Vec<TaskId>,
}

impl Follows {
    /// From pairs (earlier, later), which it sorts; equal ones count once.
    pub(crate) fn new(mut pairs: Vec<(TaskId, TaskId)>, count: usize) -> Self {
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

    #[inline]
    pub(crate) fn of(&self, task: TaskId) -> &[TaskId] {
        if self.offsets.is_empty() {
            return &[];
        }
        &self.tasks[self.offsets[task.index()] as usize..self.offsets[task.index() + 1] as usize]
    }
}

/// A permutation of tasks; empty where no order was set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Places {
    /// Per task: the id it runs under.
    pub(crate) place: Vec<u32>,
    /// Per id of the run: the task.
    pub(crate) task: Vec<TaskId>,
}

impl Places {
    /// Whether any order was set.
    pub(crate) fn is_set(&self) -> bool {
        !self.place.is_empty()
    }

    /// The tasks exchange their places, so that they come in this order.
    pub(crate) fn set(&mut self, count: usize, tasks: &[TaskId]) {
        if !self.is_set() {
            let all = 0..count as u32;
            *self = Self { place: all.clone().collect(), task: all.map(TaskId).collect() };
        }
        let mut places: Vec<u32> = tasks.iter().map(|task| self.place[task.index()]).collect();
        places.sort_unstable();
        for (&task, place) in tasks.iter().zip(places) {
            self.place[task.index()] = place;
            self.task[place as usize] = task;
        }
    }

    pub(crate) fn placed(&self, task: TaskId) -> TaskId {
        TaskId(self.place[task.index()])
    }

    pub(crate) fn original(&self, place: TaskId) -> TaskId {
        self.task[place.index()]
    }
}

/// The tasks of a run with their engines, classes and waits, ready for [`crate::Simulation`].
#[derive(Clone, Debug)]
pub struct TaskGraph {
    pub(crate) tasks: Vec<Task>,
    pub(crate) engines: Vec<Engine>,
    pub(crate) services: Vec<Service>,
    /// Shared with parts of the graph.
    pub(crate) classes: Arc<Classes>,
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
            classes: Arc::default(),
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
    #[must_use]
    pub fn queues_when_issued(&self, task: TaskId) -> bool {
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

    /// All that waits for the end or the start of a task.
    pub fn later(&self, task: TaskId) -> impl Iterator<Item = TaskId> + '_ {
        self.successors(task).iter().chain(self.start_successors(task)).copied()
    }

    /// The tasks, each after all that it waits for; all of them, as no built graph has a cycle of waits.
    #[must_use]
    pub fn along_waits(&self) -> Vec<TaskId> {
        let all = || (0..self.tasks.len() as u32).map(TaskId);
        let mut waits: Vec<u32> = all().map(|task| self.waits(task)).collect();
        let mut order: Vec<TaskId> = all().filter(|&task| self.waits(task) == 0).collect();
        let mut at = 0;
        while let Some(&task) = order.get(at) {
            for later in self.later(task) {
                waits[later.index()] -= 1;
                if waits[later.index()] == 0 {
                    order.push(later);
                }
            }
            at += 1;
        }
        order
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
