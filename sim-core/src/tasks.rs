//! The task graph: what waits for what, which engine serves it, which bytes it carries.

use weir_plugin_api::{ClassId, ClassTable, NodeId, RouteId, SimDuration, SimTime};

use rustc_hash::FxHashMap;

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

/// An engine of an endpoint: serves tasks in order of (ready time, task).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EngineId(pub u32);

impl EngineId {
    /// No engine: the task starts when it is ready.
    pub const NONE: Self = Self(u32::MAX);
}

/// An engine of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Engine {
    /// The device it belongs to.
    pub device: NodeId,
    /// `send`, `compute`, …: its name within the device.
    pub name: &'static str,
    /// Tasks served at once, ≥ 1.
    pub slots: u32,
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

/// The tasks of a run with their engines, classes and waits, ready for [`crate::Simulation`].
#[derive(Clone, Debug, Default)]
pub struct TaskGraph {
    pub(crate) tasks: Vec<Task>,
    pub(crate) engines: Vec<Engine>,
    pub(crate) classes: Classes,
    /// Per task: number of tasks it waits for; empty when no task waits.
    pub(crate) waits: Vec<u32>,
    /// Successors as compressed rows; empty when no task waits.
    pub(crate) successor_offsets: Vec<u32>,
    pub(crate) successors: Vec<TaskId>,
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

    /// The classes of its transfers.
    #[must_use]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Number of tasks that a task waits for.
    #[must_use]
    pub fn waits(&self, task: TaskId) -> u32 {
        self.waits.get(task.index()).copied().unwrap_or(0)
    }

    /// The tasks that wait for a task.
    #[must_use]
    pub fn successors(&self, task: TaskId) -> &[TaskId] {
        if self.successor_offsets.is_empty() {
            return &[];
        }
        let row = self.successor_offsets[task.index()] as usize..self.successor_offsets[task.index() + 1] as usize;
        &self.successors[row]
    }
}

/// Builds a [`TaskGraph`]. Waits may name tasks that are added later.
#[derive(Debug, Default)]
pub struct TaskGraphBuilder {
    graph: TaskGraph,
    engines: FxHashMap<(NodeId, &'static str), EngineId>,
    edges: Vec<(TaskId, TaskId)>,
}

impl TaskGraphBuilder {
    /// No tasks yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The engine of this name on a device, made at its first use. `slots` must be the same at every use.
    pub fn engine(&mut self, device: NodeId, name: &'static str, slots: u32) -> EngineId {
        let next = EngineId(self.graph.engines.len() as u32);
        let id = *self.engines.entry((device, name)).or_insert(next);
        if id == next {
            self.graph.engines.push(Engine { device, name, slots });
        }
        id
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
        self.edges.push((earlier, task));
    }

    /// The finished graph, or the tasks of one cycle of waits, in order.
    ///
    /// # Errors
    /// A cycle of waits.
    pub fn build(mut self) -> Result<TaskGraph, Vec<TaskId>> {
        if !self.edges.is_empty() {
            self.edges.sort_unstable();
            self.edges.dedup();
            self.index_edges();
            if let Some(cycle) = find_cycle(&self.graph) {
                return Err(cycle);
            }
        }
        Ok(self.graph)
    }

    fn index_edges(&mut self) {
        let g = &mut self.graph;
        g.waits = vec![0; g.tasks.len()];
        g.successor_offsets = vec![0; g.tasks.len() + 1];
        for &(earlier, task) in &self.edges {
            g.waits[task.index()] += 1;
            g.successor_offsets[earlier.index() + 1] += 1;
            g.successors.push(task);
        }
        for i in 1..g.successor_offsets.len() {
            g.successor_offsets[i] += g.successor_offsets[i - 1];
        }
    }
}

/// A cycle of waits, if there is one: tasks left over by topological order, walked until one repeats.
fn find_cycle(graph: &TaskGraph) -> Option<Vec<TaskId>> {
    let mut waits = graph.waits.clone();
    let mut ready: Vec<TaskId> = (0..waits.len() as u32).map(TaskId).filter(|t| waits[t.index()] == 0).collect();
    let mut done = 0;
    while let Some(task) = ready.pop() {
        done += 1;
        for &next in graph.successors(task) {
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
        for &next in graph.successors(TaskId(task as u32)) {
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
