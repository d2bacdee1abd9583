//! The workload: operations of the file expanded into tasks, in file order.

mod after;
pub(crate) mod attributes;
mod expansion;
mod group;
mod item;
mod jobs;
mod messages;
mod model;
mod order;
mod pattern;
mod planned;
mod ranks;
mod routing;
mod stages;
mod trace;
mod traffic;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use weir_plugin_api::{NodeId, Registry, RouteId};
use weir_sim_core::{Routes, TaskGraph, TaskGraphBuilder, TaskId};

use crate::arbiter::ArbiterSpec;
use crate::context::{Context, Fields, Read, Reported};
use crate::files::Files;
use crate::source::Span;
use crate::stream::TraceStream;
use crate::topology::Topology;
use crate::unroll::Unrolled;
use crate::yaml::Value;
pub(crate) use attributes::ID_TEXT;
use expansion::Expansion;
pub(crate) use group::Groups;
pub use group::TaskKind;
pub(crate) use item::OPERATION;
pub use jobs::Job;
use jobs::Jobs;
pub(crate) use model::load::{Situation, under_load};
use model::names::Known;
pub(crate) use model::names::Outside;
use model::planner::Models;
pub(crate) use model::read::HOST;
pub use model::tasks::{PlanTarget, Shares};
pub(crate) use order::{ORDER, Senders, contradiction};
pub use planned::{Choice, NotTried, PlannedOperation};
use ranks::Ranks;
pub(crate) use ranks::{DEVICE, RANKS, devices};
use routing::rules::Routing;
pub(crate) use routing::{NIC, ROUTING};
pub(crate) use stages::stages;
pub(crate) use traffic::Traffic;

/// What the workload of a scenario became.
pub(crate) struct Workload {
    pub(crate) tasks: TaskGraph,
    pub(crate) routes: Routes,
    /// Those of them that `via` or `nic` gave.
    pub(crate) bound: BTreeSet<RouteId>,
    /// Their names and places.
    pub(crate) groups: Groups,
    /// The generator of random numbers, if one was used.
    pub(crate) generator: Option<&'static str>,
    /// Where `ranks` is given although nothing uses it.
    pub(crate) unused_ranks: Option<Span>,
    pub(crate) operations: Vec<PlannedOperation>,
    pub(crate) jobs: Vec<Job>,
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

/// What the scenario says of the workload.
#[derive(Clone, Copy)]
pub(crate) struct WorkloadKeys<'a> {
    pub(crate) operations: &'a Unrolled<'a>,
    pub(crate) ranks: Option<&'a Value>,
    pub(crate) order: Option<&'a Value>,
    /// All keys of the scenario, for `routing` and `nic`.
    pub(crate) fields: &'a Fields<'a>,
}

/// Where operations run, and who may plan them.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    /// The topology; an empty one where the scenario has none.
    pub(crate) topology: &'a Topology,
    /// Whether the scenario has one.
    pub(crate) has_topology: bool,
    /// The models, and the arbiters.
    pub(crate) registry: &'a Registry,
    /// The scenario's first arbiter; `None` when that is wrong.
    pub(crate) arbiter: Option<&'a ArbiterSpec>,
    /// Whether transfers are to be read one by one while they are simulated.
    pub(crate) stream: bool,
    /// The choice of each operation of a model, in file order, where an earlier read made it; empty at first.
    pub(crate) decided: &'a [Option<Choice>],
    /// Ends what is simulated meanwhile soon after it becomes true.
    pub(crate) cancel: Option<&'a AtomicBool>,
}

/// Reads `workload`, with the scenario's `ranks` and `order`.
pub(crate) fn read<'a>(
    context: &mut Context,
    files: &mut Files,
    setting: Setting<'a>,
    keys: WorkloadKeys<'a>,
) -> Read<Workload> {
    let WorkloadKeys { operations, ranks, order, fields } = keys;
    let workload = &*operations.workload;
    let stream = setting.stream;
    let before = context.errors();
    let items = context.list(workload, "`workload`")?;
    if items.is_empty() {
        context.warn(workload.span, "the workload is empty: nothing happens", "add operations, for example a transfer");
    }
    let ranks = Ranks::read(context, setting.topology, ranks);
    let mut expansion = Expansion::new(setting, ranks);
    if let Some(order) = order.filter(|_| stream) {
        context.error(order.span, "`order` cannot be streamed", "sort the rows of the trace, or run without --stream");
    }
    let routing = expansion.routing(context, fields);
    if let Ok(routing) = routing {
        expansion.routing = routing;
        if stream {
            routing::not_streamed(context, fields, routing);
        }
    }
    let mut jobs = Jobs::new(&operations.groups);
    for (index, item) in items.iter().enumerate() {
        let begin = expansion.builder.len() as u32;
        context.rows.enter(operations.rows.get(index).copied().flatten());
        // One wrong operation does not hide the next.
        let _ = expansion.item(context, files, item, index);
        context.rows.enter(None);
        jobs.add(index, item, begin..expansion.builder.len() as u32, &expansion.groups);
        if context.full() {
            break;
        }
    }
    // With operations missing, what waits for them would be called unknown.
    if context.errors() > before {
        return Err(Reported);
    }
    let workload = Workload { jobs: jobs.finish(), ..expansion.finish(context, order)? };
    routing::warn_of_models(context, fields, &workload);
    Ok(workload)
}

impl<'a> Expansion<'a> {
    /// Of a workload without operations yet.
    fn new(setting: Setting<'a>, ranks: Ranks) -> Self {
        let Setting { topology, has_topology, registry, arbiter, stream, decided, cancel } = setting;
        Self {
            topology,
            has_topology,
            builder: TaskGraphBuilder::new(),
            routes: Routes::new(),
            groups: Groups::default(),
            waiting: Vec::new(),
            ranks,
            transfers: 0,
            generator: None,
            models: Models::new(registry, arbiter, &topology.fabric),
            known: Known::default(),
            tried: Routes::new(),
            operations: Vec::new(),
            decided,
            cancel,
            traffic: Traffic::default(),
            stream: stream.then(TraceStream::default),
            routing: Routing::default(),
            bound: BTreeSet::new(),
            nics: None,
        }
    }
}

impl Expansion<'_> {
    fn finish(mut self, context: &mut Context, order: Option<&Value>) -> Read<Workload> {
        self.resolve_waits(context)?;
        self.topology.engines.unite(&mut self.builder);
        let Self {
            topology,
            builder,
            routes,
            bound,
            groups,
            ranks,
            generator,
            operations,
            known,
            mut traffic,
            stream,
            ..
        } = self;
        let mut tasks = builder.build().map_err(|cycle| after::cycle_error(context, &groups, &cycle))?;
        let orders = match order {
            Some(order) => order::apply(context, &mut tasks, order::Tasks { topology, groups: &groups }, order)?,
            None => Vec::new(),
        };
        tracing::debug!(
            tasks = tasks.tasks().len(),
            routes = routes.len(),
            classes = tasks.classes().len(),
            operations = operations.len(),
            "expanded the workload"
        );
        let (unused_ranks, outside) = (ranks.unused(), known.outside);
        traffic.uses_ranks = ranks.are_used();
        let ranks = ranks.known().map(|ranks| ranks.to_vec());
        Ok(Workload {
            tasks,
            routes,
            bound,
            groups,
            generator,
            unused_ranks,
            operations,
            jobs: Vec::new(),
            outside,
            ranks,
            traffic,
            orders,
            stream,
        })
    }
}
