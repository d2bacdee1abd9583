//! The workload while it is expanded, and what each kind of operation asks of it.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use weir_plugin_api::{NodeId, RouteId};
use weir_sim_core::{Routes, Service, ServiceId, SlotsError, Task, TaskGraphBuilder, TaskId, Work};

use super::attributes::{Attributes, Ends, PlacedId};
use super::group::Groups;
use super::model::names::Known;
use super::model::planner::Models;
use super::planned::{Choice, PlannedOperation};
use super::ranks::Ranks;
use super::routing::nics::Nics;
use super::routing::rules::{Routing, Way};
use super::traffic::Traffic;
use crate::context::{Context, Problem, Read};
use crate::source::Span;
use crate::stream::TraceStream;
use crate::topology::{SlotsDiffer, Topology};
use crate::yaml::Value;

/// What to do where one node cannot be reached from another.
pub(super) const JOIN: &str =
    "join their trees by an item of `links`; only switches, root complexes, networks and NICs forward";

/// Expanded transfers at most (format, "Tree, links, names"), tasks of models included.
pub(super) const TRANSFERS: u64 = 10_000_000;
/// Transfers of a streamed workload at most: their ids have 32 bits, and the last one means "none".
const STREAMED: u64 = u32::MAX as u64 - 1;

/// Tasks that wait for what is named.
pub(super) struct Waiting {
    pub(super) first: TaskId,
    pub(super) count: u32,
    /// What they wait for, and where that is written.
    pub(super) names: Vec<PlacedId>,
}

/// The workload while it is expanded.
pub(super) struct Expansion<'a> {
    pub(super) topology: &'a Topology,
    /// Whether the scenario has a topology; it may have none where only models need devices.
    pub(super) has_topology: bool,
    pub(super) builder: TaskGraphBuilder,
    pub(super) routes: Routes,
    pub(super) groups: Groups,
    pub(super) waiting: Vec<Waiting>,
    pub(super) ranks: Ranks,
    pub(super) transfers: u64,
    pub(super) generator: Option<&'static str>,
    pub(super) models: Models<'a>,
    /// What operations of models named.
    pub(super) known: Known,
    /// Routes of plans that are checked.
    pub(super) tried: Routes,
    pub(super) operations: Vec<PlannedOperation>,
    /// As in [`super::Setting`].
    pub(super) decided: &'a [Option<Choice>],
    /// As in [`super::Setting`].
    pub(super) cancel: Option<&'a AtomicBool>,
    pub(super) traffic: Traffic,
    pub(super) stream: Option<TraceStream>,
    /// What the scenario says of the routes of its transfers.
    pub(super) routing: Routing,
    /// Routes that `via` or `nic` gave.
    pub(super) bound: BTreeSet<RouteId>,
    /// The network cards of machines, looked for when something first asks for them.
    pub(super) nics: Option<Nics>,
}

impl Expansion<'_> {
    /// Makes sure that `count` more transfers are allowed, before they are made.
    pub(super) fn reserve(&mut self, context: &mut Context, span: Span, count: u64) -> Read<()> {
        self.transfers = self.allowed(context, span, count)?;
        Ok(())
    }

    /// The number of transfers with `count` more, or an error where those are too many.
    pub(super) fn allowed(&self, context: &mut Context, span: Span, count: u64) -> Read<u64> {
        let transfers = self.transfers.saturating_add(count);
        let (most, help) = match self.stream {
            None => (TRANSFERS, "give fewer repetitions, ranks, messages or parts, or run traces with --stream"),
            Some(_) => (STREAMED, "split the load into several runs"),
        };
        if transfers > most {
            let message = format!("more than {most} transfers and tasks of models in all");
            return Err(context.error(span, message, help));
        }
        Ok(transfers)
    }

    /// The id the next task will have.
    pub(super) fn next(&self) -> TaskId {
        self.stream.as_ref().map_or(TaskId(self.builder.len() as u32), |stream| TaskId(stream.next_row()))
    }

    /// Adds a transfer between two devices.
    pub(super) fn carry(
        &mut self,
        ends: Ends,
        bytes: u64,
        attributes: Attributes,
        way: Way<'_>,
    ) -> Result<TaskId, Problem> {
        let task = self.carrying(ends, bytes, attributes, way)?;
        Ok(self.builder.task(task))
    }

    /// A transfer between two devices, with its route, class and engine.
    pub(super) fn carrying(
        &mut self,
        ends: Ends,
        bytes: u64,
        attributes: Attributes,
        way: Way<'_>,
    ) -> Result<Task, Problem> {
        let (route, from) = (self.route(ends, way)?, ends.from);
        let Attributes { start, limit, weight, priority, carriage } = attributes;
        let class = self.builder.classes().intern_carried(route, limit, weight, priority, carriage);
        // The destination of a read asks for the data.
        let (own, other) = if carriage.is_read { (ends.to, from) } else { (from, ends.to) };
        let own_kind = self.topology.fabric.node(own).kind;
        let engine = self.topology.engines.of_transfer(&mut self.builder, (own, own_kind), other);
        let engine = engine.map_err(|differ| self.slots_differ(&differ))?;
        let service = match self.topology.overheads.get(&own) {
            None => ServiceId::PLAIN,
            Some(&overhead) => self.builder.service(Service::issued_in(overhead)),
        };
        Ok(Task { start, engine, service, work: Work::Carries { bytes, class } })
    }

    /// An operation, or the topology, has given an engine another size.
    pub(super) fn slots_differ(&self, differ: &SlotsDiffer) -> Problem {
        let (device, SlotsError { before, now, .. }) = (self.node_name(differ.device), &differ.error);
        if differ.of_copy_engines() {
            let message = format!("`{device}` has {before} copy engines, not {now}");
            return Problem::new(message, "let `copy_engines` and `engines` of the topology say the same number");
        }
        let message = format!("engine of `{device}`: {}", differ.error);
        Problem::new(message, "let all operations, and `engines` of the topology, give it the same number of slots")
    }

    pub(super) fn no_route(&self, from: NodeId, to: NodeId) -> Problem {
        let (x, y) = (self.topology.names.unique_name(from), self.topology.names.unique_name(to));
        if from == to {
            let message = format!("source and destination are the same node, `{x}`");
            return Problem::new(message, "name two different nodes");
        }
        Problem::new(format!("`{y}` cannot be reached from `{x}`"), JOIN)
    }

    /// A device that a value names.
    pub(super) fn device(&mut self, context: &mut Context, value: &Value, what: &str) -> Read<NodeId> {
        let name = context.text(value, what)?;
        let node = self.topology.names.resolve(name);
        let node = node.map_err(|problem| context.problem(value.span, what, problem))?;
        match self.topology.not_an_end(node) {
            None => Ok(node),
            Some(problem) => Err(context.problem(value.span, what, problem)),
        }
    }

    pub(super) fn scenario_ranks(&mut self, context: &mut Context, span: Span) -> Read<Rc<[NodeId]>> {
        self.ranks.all(context, self.topology, span)
    }
}
