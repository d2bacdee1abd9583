//! The workload: operations of the file expanded into tasks, in file order.

mod after;
mod group;
mod item;
mod messages;
mod model;
mod order;
mod pattern;
mod ranks;
pub(crate) mod trace;
mod traffic;

use weir_plugin_api::{NodeId, Registry, SimTime};
use weir_sim_core::{EngineId, Routes, ServiceId, SlotsError, Task, TaskGraph, TaskGraphBuilder, TaskId, Work};

use crate::arbiter::ArbiterSpec;
use crate::context::{Context, Problem, Read, Reported};
use crate::files::Files;
use crate::scenario::PlannedOperation;
use crate::source::Span;
use crate::stream::TraceStream;
use crate::topology::{Topology, UNLIMITED, is_inner};
use crate::yaml::Value;
use after::Waiting;
pub(crate) use group::{Groups, Names};
pub(crate) use model::Outside;
use model::{Known, Models};
pub(crate) use order::Senders;
use ranks::Ranks;
pub(crate) use ranks::devices;
use traffic::Made;
pub(crate) use traffic::Traffic;

/// Expanded transfers at most (format, "Tree, links, names"), tasks of models included.
const TRANSFERS: u64 = 10_000_000;
/// Transfers of a streamed workload at most: their ids have 32 bits, and the last one means "none".
const STREAMED: u64 = u32::MAX as u64 - 1;

/// What the workload of a scenario became.
pub(crate) struct Workload {
    /// The tasks.
    pub(crate) tasks: TaskGraph,
    /// Their routes.
    pub(crate) routes: Routes,
    /// Their names and places.
    pub(crate) groups: Groups,
    /// The generator of random numbers, if one was used.
    pub(crate) generator: Option<&'static str>,
    /// Where `ranks` is given although nothing uses it.
    pub(crate) unused_ranks: Option<Span>,
    /// What models planned.
    pub(crate) operations: Vec<PlannedOperation>,
    /// Devices that the topology lacks.
    pub(crate) outside: Outside,
    /// The devices of the ranks, where ranks were given or used.
    pub(crate) ranks: Option<Vec<NodeId>>,
    /// Which transfers go from rank to rank.
    pub(crate) traffic: Traffic,
    /// Send orders that the scenario gives.
    pub(crate) orders: Vec<(NodeId, Vec<TaskId>)>,
    /// The traces of a workload that is streamed: `tasks` has no tasks then.
    pub(crate) stream: Option<TraceStream>,
}

/// What a transfer is, beside its ends and bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attributes {
    pub(crate) start: SimTime,
    pub(crate) limit: f64,
    pub(crate) weight: f64,
    pub(crate) priority: i64,
}

impl Attributes {
    /// Those of a transfer that names none.
    const USUAL: Self = Self { start: SimTime::ZERO, limit: f64::INFINITY, weight: 1.0, priority: 0 };
}

/// The workload while it is expanded.
struct Expansion<'a> {
    topology: &'a Topology,
    /// Whether the scenario has a topology; it may have none where only models need devices.
    topology_given: bool,
    builder: TaskGraphBuilder,
    routes: Routes,
    groups: Groups,
    waiting: Vec<Waiting>,
    ranks: Ranks,
    transfers: u64,
    generator: Option<&'static str>,
    models: Models<'a>,
    /// What operations of models named.
    known: Known,
    /// Routes of plans that are checked.
    tried: Routes,
    operations: Vec<PlannedOperation>,
    traffic: Traffic,
    stream: Option<TraceStream>,
}

/// What the scenario says of the workload.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    /// `workload`.
    pub(crate) items: &'a Value,
    /// `ranks`.
    pub(crate) ranks: Option<&'a Value>,
    /// `order`.
    pub(crate) order: Option<&'a Value>,
}

/// Where operations run, and who may plan them.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    /// The topology; an empty one where the scenario has none.
    pub(crate) topology: &'a Topology,
    /// Whether the scenario has one.
    pub(crate) topology_given: bool,
    /// The models, and the arbiters.
    pub(crate) registry: &'a Registry,
    /// The scenario's first arbiter; `None` when that is wrong.
    pub(crate) arbiter: Option<&'a ArbiterSpec>,
    /// Whether transfers are to be read one by one while they are simulated.
    pub(crate) stream: bool,
}

/// Reads `workload`, with the scenario's `ranks` and `order`.
pub(crate) fn read<'a>(
    context: &mut Context,
    files: &mut Files,
    setting: Setting<'a>,
    given: Given<'a>,
) -> Read<Workload> {
    let Given { items: workload, ranks, order } = given;
    let Setting { topology, topology_given, registry, arbiter, stream } = setting;
    let before = context.errors();
    let items = context.list(workload, "`workload`")?;
    if items.is_empty() {
        context.warn(workload.span, "the workload is empty: nothing happens", "add operations, for example a transfer");
    }
    let mut expansion = Expansion {
        topology,
        topology_given,
        builder: TaskGraphBuilder::new(),
        routes: Routes::new(),
        groups: Groups::default(),
        waiting: Vec::new(),
        ranks: Ranks::default(),
        transfers: 0,
        generator: None,
        models: Models::new(registry, arbiter, &topology.fabric),
        known: Known::default(),
        tried: Routes::new(),
        operations: Vec::new(),
        traffic: Traffic::default(),
        stream: stream.then(TraceStream::default),
    };
    expansion.given_ranks(context, ranks);
    if let Some(order) = order.filter(|_| stream) {
        context.error(order.span, "`order` cannot be streamed", "sort the rows of the trace, or run without --stream");
    }
    for (index, item) in items.iter().enumerate() {
        // One wrong operation does not hide the next.
        let _ = expansion.item(context, files, item, index);
        if context.full() {
            break;
        }
    }
    // With operations missing, what waits for them would be called unknown.
    if context.errors() > before { Err(Reported) } else { expansion.finish(context, order) }
}

impl Expansion<'_> {
    /// Makes sure that `count` more transfers are allowed, before they are made.
    fn reserve(&mut self, context: &mut Context, span: Span, count: u64) -> Read<()> {
        self.transfers = self.transfers.saturating_add(count);
        let (most, help) = match self.stream {
            None => (TRANSFERS, "give fewer repetitions, ranks, messages or parts, or run traces with --stream"),
            Some(_) => (STREAMED, "split the load into several runs"),
        };
        if self.transfers > most {
            let message = format!("more than {most} transfers and tasks of models in all");
            return Err(context.error(span, message, help));
        }
        Ok(())
    }

    /// The id the next task will have.
    fn next(&self) -> TaskId {
        self.stream.as_ref().map_or(TaskId(self.builder.len() as u32), |stream| TaskId(stream.next_row()))
    }

    /// Adds a transfer between two devices.
    fn carry(&mut self, ends: (NodeId, NodeId), bytes: u64, attributes: Attributes) -> Result<TaskId, Problem> {
        let task = self.carrying(ends, bytes, attributes)?;
        Ok(self.builder.task(task))
    }

    /// A transfer between two devices, with its route, class and engine.
    fn carrying(&mut self, (from, to): (NodeId, NodeId), bytes: u64, attributes: Attributes) -> Result<Task, Problem> {
        let Some(route) = self.routes.between(&self.topology.fabric, from, to) else {
            return Err(self.no_route(from, to));
        };
        let Attributes { start, limit, weight, priority } = attributes;
        let class = self.builder.classes().intern(route, limit, weight, priority);
        let slots = self.topology.slots[from.index()];
        let engine = match slots {
            UNLIMITED => EngineId::NONE,
            slots => self.builder.engine(from, "send", slots).map_err(|error| self.slots_differ(from, &error))?,
        };
        Ok(Task { start, engine, service: ServiceId::PLAIN, work: Work::Carries { bytes, class } })
    }

    /// An operation has made an engine of another size.
    fn slots_differ(&self, device: NodeId, error: &SlotsError) -> Problem {
        let message = format!("engine of `{}`: {error}", self.node_name(device));
        Problem::new(message, "let all operations name it with the same number of slots")
    }

    fn no_route(&self, from: NodeId, to: NodeId) -> Problem {
        let (x, y) = (self.topology.names.shown(from), self.topology.names.shown(to));
        if from == to {
            let message = format!("source and destination are the same node, `{x}`");
            return Problem::new(message, "name two different nodes");
        }
        let help = "join their trees by an item of `links`; only switches, root complexes, networks and NICs forward";
        Problem::new(format!("`{y}` cannot be reached from `{x}`"), help)
    }

    /// A device that a value names.
    fn device(&mut self, context: &mut Context, value: &Value, what: &str) -> Read<NodeId> {
        let name = context.text(value, what)?;
        let node = self.topology.names.resolve(name);
        let node = node.map_err(|problem| context.problem(value.span, what, problem))?;
        match not_an_end(self.topology, node) {
            None => Ok(node),
            Some(problem) => Err(context.problem(value.span, what, problem)),
        }
    }

    fn finish(mut self, context: &mut Context, order: Option<&Value>) -> Read<Workload> {
        self.resolve_waits(context)?;
        let Self { topology, builder, routes, groups, ranks, generator, operations, known, traffic, stream, .. } = self;
        let mut tasks = builder.build().map_err(|cycle| after::cycle_error(context, &groups, &cycle))?;
        let orders = match order {
            Some(order) => order::apply(context, &mut tasks, order::Around { topology, groups: &groups }, order)?,
            None => Vec::new(),
        };
        let (unused_ranks, outside) = (ranks.unused(), known.outside);
        let ranks = ranks.known().map(|ranks| ranks.to_vec());
        Ok(Workload {
            tasks,
            routes,
            groups,
            generator,
            unused_ranks,
            operations,
            outside,
            ranks,
            traffic,
            orders,
            stream,
        })
    }
}

/// Why a node cannot start or end a transfer, if so.
fn not_an_end(topology: &Topology, node: NodeId) -> Option<Problem> {
    let kind = topology.fabric.node(node).kind;
    is_inner(kind).then(|| {
        let message = format!("`{}` is a {}, which only forwards", topology.names.shown(node), kind.word());
        Problem::new(message, "name a device: gpu, fpga, cpu, nic or host")
    })
}
