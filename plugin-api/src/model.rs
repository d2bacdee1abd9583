//! The contract of a model: it turns one operation of the workload into tasks, and may give the closed form of the same
//! operation.
//!
//! ```text
//! operation (JSON: numbers, ids, tables) ──► Model::plan ─────► Plan (engines, tasks) ──► simulation
//!                                        ├─► Model::estimate ─► Estimates ─────────────► beside the simulated time
//!                                        └─► Model::alternatives (where the scenario says `auto`) ─► the best is planned
//! ```
//!
//! An operation arrives as a JSON object: `operation` (the key it stands under), `id`, and `params`, which fit the
//! model's schema, with sizes in bytes, times in ps, times per byte in ps (a real number), bandwidths in B/s, nodes as
//! ids and files as tables. For a plain transfer with a `model`, `transfer` holds `from`, `to`, `bytes`, `limit` (B/s or
//! null) and `slots` (of the source's `send` engine; null for any number).

use crate::{CallError, FabricView, LinkId, NodeId};

/// What a model gets besides the operation.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The fabric. Ids of nodes beyond its end are devices that the topology does not have: they have engines, no links.
    pub fabric: &'a FabricView<'a>,
    /// Answers which route a transfer between two nodes takes.
    pub routes: &'a dyn RouteLookup,
}

/// Finds routes through the fabric.
pub trait RouteLookup {
    /// The route between two nodes; `None` where there is none, or they are the same.
    fn route(&self, from: NodeId, to: NodeId) -> Option<RouteInfo>;

    /// What links share, by number from 0; `None` behind the last. Models from shared libraries are told of none.
    fn shared(&self, number: usize) -> Option<SharedLinks<'_>> {
        let _ = number;
        None
    }
}

/// A bandwidth that several directed links have together, beside that of each.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SharedLinks<'a> {
    /// Bytes per second. A transfer takes part of it for each of the links that it goes over, and of a node's once for each time
    /// that it starts, ends or passes there.
    pub bandwidth: f64,
    /// The links, ascending.
    pub links: &'a [LinkId],
    /// The node all of whose links these are; `None` for both directions of a link.
    pub node: Option<NodeId>,
}

/// A route in short.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct RouteInfo {
    /// Bandwidth of its narrowest link, bytes per second.
    pub bandwidth: f64,
    /// Sum of its links' latencies, ps.
    pub latency_ps: f64,
    /// Number of its links.
    pub links: u32,
}

/// To whom an engine belongs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EngineScope {
    /// To a device: operations that name the same engine of the device share it.
    Device(NodeId),
    /// To this operation alone.
    Operation,
}

/// An engine that a plan uses. The names `send` (plain transfers) and `compute` (computations) of a device are shared
/// with the rest of the workload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedEngine {
    /// Its name within its scope.
    pub name: String,
    /// Tasks served at once, ≥ 1, unless the topology gives the device other slots. One name with two numbers of slots is an
    /// error.
    pub slots: u32,
    /// To whom it belongs.
    pub scope: EngineScope,
}

/// Which moment of another task is waited for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u32)]
pub enum Moment {
    /// Its end.
    End = 0,
    /// The begin of its work, after its lead.
    Start = 1,
}

/// A task waits for a moment of another task of the plan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(C)]
pub struct Wait {
    /// The other task, by its position in the plan; it may stand later.
    pub task: u32,
    /// Whether it is the start or the end of that task.
    pub moment: Moment,
}

impl Wait {
    /// For the end of a task.
    #[must_use]
    pub const fn end(task: u32) -> Self {
        Self { task, moment: Moment::End }
    }

    /// For the begin of a task's work.
    #[must_use]
    pub const fn start(task: u32) -> Self {
        Self { task, moment: Moment::Start }
    }
}

/// When a task takes its place in the queue of its engine; nobody overtakes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum Queue {
    /// At the operation's release, in the order of the plan: a head that is not ready holds the others back, as on a
    /// CUDA stream's copy engine.
    Issued = 0,
    /// When it is ready.
    Ready = 1,
}

/// What a task does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PlannedWork {
    /// A join where it has no engine; else it holds the engine for no time.
    Nothing,
    /// Takes this many ps: finite, ≥ 0; rounded to the nearest ps by the host, halves up.
    Lasts(f64),
    /// Moves bytes over the fabric at the arbiter's rate; no bytes take no time.
    Carries {
        /// Source.
        from: NodeId,
        /// Destination.
        to: NodeId,
        /// Payload, at most 2^53.
        bytes: u64,
        /// Largest rate in bytes per second; infinite for none.
        limit: f64,
    },
}

/// A task as a model gives it. Its work begins at
///
/// - `max(ready + lead, end of the previous + gap)` when the task before it on its slot is of the same `class`,
/// - `max(ready, end of the previous) + lead` when that is of another class,
/// - `ready + lead` when there is none, or no engine.
///
/// A task takes the slot that has been free for longest, the lowest among equals.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlannedTask<'a> {
    /// Its name, unique in the plan, without `/`; results say `<operation>/<task>`.
    pub name: &'a str,
    /// What it waits for; without any: the operation's release.
    pub waits: &'a [Wait],
    /// Its engine, by the position in the plan.
    pub engine: Option<u32>,
    /// When it takes its place there.
    pub queue: Queue,
    /// Its direction, any number.
    pub class: u32,
    /// Time before its work that may overlap the task before it (L + o), ps: finite, ≥ 0.
    pub lead_ps: f64,
    /// Time after the task before it that cannot be overlapped (g), ps: finite, ≥ 0.
    pub gap_ps: f64,
    /// What it does once its work begins.
    pub work: PlannedWork,
}

impl<'a> PlannedTask<'a> {
    /// A task without engine, lead and gap.
    #[must_use]
    pub const fn new(name: &'a str, waits: &'a [Wait], work: PlannedWork) -> Self {
        Self { name, waits, engine: None, queue: Queue::Ready, class: 0, lead_ps: 0.0, gap_ps: 0.0, work }
    }

    /// The same on an engine.
    #[must_use]
    pub const fn on(self, engine: u32, queue: Queue) -> Self {
        Self { engine: Some(engine), queue, ..self }
    }

    /// The same with class, lead and gap.
    #[must_use]
    pub const fn paced(self, class: u32, lead_ps: f64, gap_ps: f64) -> Self {
        Self { class, lead_ps, gap_ps, ..self }
    }
}

/// The tasks of an operation. Names and waits are kept in two pools: a plan of 10^6 tasks makes few allocations.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Plan {
    engines: Vec<PlannedEngine>,
    names: String,
    waits: Vec<Wait>,
    tasks: Vec<Kept>,
}

/// A task whose name and waits end where those of the next one begin.
#[derive(Clone, PartialEq, Debug)]
struct Kept {
    name_end: usize,
    waits_end: usize,
    engine: Option<u32>,
    queue: Queue,
    class: u32,
    lead_ps: f64,
    gap_ps: f64,
    work: PlannedWork,
}

impl Plan {
    /// A plan without tasks and engines, which hosts refuse as it is.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for so many more tasks: a plan that grows has more than twice its memory for a moment.
    pub fn reserve(&mut self, tasks: usize) {
        self.tasks.reserve_exact(tasks);
    }

    /// Adds an engine; returns its position.
    pub fn engine(&mut self, name: impl Into<String>, slots: u32, scope: EngineScope) -> u32 {
        self.engines.push(PlannedEngine { name: name.into(), slots, scope });
        self.engines.len() as u32 - 1
    }

    /// Adds a task; returns its position.
    pub fn task(&mut self, task: &PlannedTask<'_>) -> u32 {
        self.names.push_str(task.name);
        self.waits.extend_from_slice(task.waits);
        self.tasks.push(Kept {
            name_end: self.names.len(),
            waits_end: self.waits.len(),
            engine: task.engine,
            queue: task.queue,
            class: task.class,
            lead_ps: task.lead_ps,
            gap_ps: task.gap_ps,
            work: task.work,
        });
        self.tasks.len() as u32 - 1
    }

    /// The engines, by position.
    #[must_use]
    pub fn engines(&self) -> &[PlannedEngine] {
        &self.engines
    }

    /// How many tasks were added.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is no task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The task at a position.
    ///
    /// # Panics
    /// Past the end.
    #[must_use]
    pub fn get(&self, index: usize) -> PlannedTask<'_> {
        let (name_start, waits_start) = match index.checked_sub(1) {
            Some(before) => (self.tasks[before].name_end, self.tasks[before].waits_end),
            None => (0, 0),
        };
        let t = &self.tasks[index];
        PlannedTask {
            name: &self.names[name_start..t.name_end],
            waits: &self.waits[waits_start..t.waits_end],
            engine: t.engine,
            queue: t.queue,
            class: t.class,
            lead_ps: t.lead_ps,
            gap_ps: t.gap_ps,
            work: t.work,
        }
    }

    /// All tasks, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PlannedTask<'_>> {
        (0..self.tasks.len()).map(|i| self.get(i))
    }
}

/// How the simulated time of an operation that runs alone relates to a closed form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum Relation {
    /// Nothing is claimed.
    Unstated = 0,
    /// Equal, to 1e-9 relative or 1 ps per instant at which a task starts or ends.
    Equal = 1,
    /// The simulated time is at most the formula's.
    AtMost = 2,
    /// The simulated time is at least the formula's.
    AtLeast = 3,
}

/// The time of an operation by a closed form.
#[derive(Clone, PartialEq, Debug)]
pub struct Estimate {
    /// Name of the formula, such as `eq15`.
    pub formula: String,
    /// Its time, finite and ≥ 0.
    pub seconds: f64,
    /// How the simulated time relates to it.
    pub relation: Relation,
    /// Which assumptions of the formula the plan does not share, for a person, a line each; empty where it shares all. A line
    /// begins with `+` where the departure only lengthens the simulated time, with `-` where it only shortens it, with `?`
    /// (or none of these) for either: a difference is explained by the lines that fit its sign.
    pub because: String,
}

/// What closed forms say of an operation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Estimates {
    /// In the order of printing; the last one is that of the operation itself, with which the simulated time is compared.
    pub list: Vec<Estimate>,
    /// A JSON object for the results (`details`); empty text for none.
    pub details: String,
}

/// One way to do an operation that leaves a choice open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alternative {
    /// What is chosen, for a person: `512KiB`, `none`.
    pub label: String,
    /// The operation with nothing left open: the JSON object as given, but for what is chosen.
    pub operation: String,
}

/// Turns operations into tasks. The host checks every plan: waits and engines exist, no cycle, times finite and ≥ 0,
/// routes exist; it refuses, never repairs.
pub trait Model: Send {
    /// Adds the tasks of an operation to an empty plan. Hosts refuse more than 10^7 tasks, and may do so only when they
    /// have all of them: refuse what is too large before it is built.
    ///
    /// # Errors
    /// Any [`CallError`]; the scenario is refused with its text.
    fn plan(&mut self, operation: &str, surroundings: &Surroundings<'_>, plan: &mut Plan) -> Result<(), CallError>;

    /// The closed forms of an operation; none by default.
    ///
    /// # Errors
    /// As `plan`.
    fn estimate(&mut self, _: &str, _: &Surroundings<'_>, _: &mut Estimates) -> Result<(), CallError> {
        Ok(())
    }

    /// The ways to do an operation that says `auto`, the preferred ones first: the host simulates each alone and plans
    /// the fastest, among equals the first. None (the default) where nothing is left open.
    ///
    /// # Errors
    /// As `plan`.
    fn alternatives(&mut self, _: &str, _: &Surroundings<'_>, _: &mut Vec<Alternative>) -> Result<(), CallError> {
        Ok(())
    }
}

/// A model that can be registered under a name, or exported by [`crate::export_models!`].
pub trait ModelPlugin: Model + Sized + 'static {
    /// Its name: lower-case words joined by `-`.
    const NAME: &'static str;
    /// Its version, shown in results.
    const VERSION: &'static str;
    /// Keys of the workload's items that it serves; `transfer` for plain transfers with `model: { name: … }`.
    const OPERATIONS: &'static [&'static str];

    /// JSON Schema of an item of the workload: an object with one property for each key of `OPERATIONS`, whose schema is
    /// that of the map under the key. `id`, `start` and `after` are the host's. Beside the usual keywords,
    /// `"x-weir-quantity": "bytes" | "bandwidth" | "time" | "time-per-byte"` marks a number that is written as text with a
    /// unit; `"x-weir-node"`, `"x-weir-nodes"`, `"x-weir-table"`, `"x-weir-files"` and `"x-weir-nearest"` stand in
    /// `docs/plugin-abi.md`.
    fn schema() -> String;

    /// Builds an instance.
    ///
    /// # Errors
    /// [`CallError::Refused`] when it cannot work here.
    fn create() -> Result<Self, CallError>;
}
