//! A scenario ready to run: what the file said, checked, with names beside dense ids.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use weir_plugin_api::{ArbiterEntry, NodeId, RouteId};
use weir_sim_core::{Fabric, LinkChanges, Routes, TaskGraph, TaskId, Work};

use crate::arbiter::ArbiterSpec;
use crate::context::Context;
use crate::diagnostic::{Diagnostic, Position};
use crate::files::NamedFile;
use crate::optimize::OptimizeSpec;
use crate::source::{Sources, Span};
use crate::stream::TraceStream;
use crate::topology::{DeviceText, NodeNames, Place, Topology};
use crate::workload::{Groups, Job, Outside, PlannedOperation, TaskKind, Traffic, Workload};

/// A scenario ready to run.
#[derive(Debug)]
pub struct Scenario {
    /// Its name; the file's when it has none.
    pub name: String,
    /// The file as given on the command line (`-` for standard input).
    pub file: String,
    /// SHA-256 over the scenario file and every file it names, in order of reading; hexadecimal.
    pub input_sha256: String,
    /// Nodes and links, as the topology describes them.
    pub fabric: Fabric,
    /// The newest generation of PCIe that the types of its links give by `generation`.
    pub pcie_generation: Option<u8>,
    /// Routes of the transfers.
    pub routes: Routes,
    /// What to do. The id of a transfer in a phase is the number of its task.
    pub tasks: TaskGraph,
    /// How links change while it runs.
    pub changes: LinkChanges,
    /// Arbiters in list order; when the file names none: the default of the registry.
    pub arbiters: Vec<ArbiterSpec>,
    /// What may not mean what its author thinks.
    pub warnings: Vec<Diagnostic>,
    /// The generator of random numbers, when the workload has random parts.
    pub generator: Option<String>,
    /// What models planned, in file order.
    pub operations: Vec<PlannedOperation>,
    /// Its items that became many tasks and are no operations of models, where there are other items, in file order.
    pub jobs: Vec<Job>,
    /// The device of each rank: what `ranks` says or, where ranks are used without it, all gpus. `None` without ranks.
    pub ranks: Option<Vec<NodeId>>,
    /// What may be changed to make it better; no part of a run.
    pub optimize: Option<OptimizeSpec>,
    /// The files that it names, in its order.
    pub files: Vec<NamedFile>,
    /// All files that were read beside it, symbolic links resolved: those that it names, and those that these name.
    pub read_files: Vec<PathBuf>,
    /// Where nodes are in the machine, of those that say it, in their order; no part of a run.
    pub places: Vec<(NodeId, Place)>,
    /// The traces that are read while they are simulated, where that was asked for: `tasks` has their engines and classes,
    /// and no task.
    pub stream: Option<TraceStream>,
    /// Routes that `via` or `nic` gave.
    pub(crate) bound: BTreeSet<RouteId>,
    pub(crate) traffic: Traffic,
    pub(crate) orders: Vec<(NodeId, Vec<TaskId>)>,
    pub(crate) outside: Outside,
    pub(crate) names: NodeNames,
    pub(crate) groups: Groups,
    pub(crate) sources: Sources,
    pub(crate) unused_types: Vec<(String, Span)>,
    pub(crate) devices: Vec<DeviceText>,
    pub(crate) unused_ranks: Option<Span>,
    /// The arbiter of scenarios that name none, which warnings propose.
    pub(crate) default_arbiter: String,
}

/// What a scenario is made of.
pub(crate) struct Parts {
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) input_sha256: String,
    pub(crate) topology: Topology,
    pub(crate) workload: Workload,
    pub(crate) changes: LinkChanges,
    pub(crate) arbiters: Vec<ArbiterSpec>,
    /// What a search may change.
    pub(crate) optimize: Option<OptimizeSpec>,
    pub(crate) named_files: Vec<NamedFile>,
    pub(crate) read_files: Vec<PathBuf>,
    /// The arbiter of scenarios that name none.
    pub(crate) default_arbiter: String,
}

impl Scenario {
    /// Puts the parts together, after everything went well.
    pub(crate) fn new(mut context: Context, parts: Parts) -> Self {
        let Parts { topology, workload, .. } = parts;
        let pcie_generation = topology.packets.links.iter().filter_map(|(_, packet)| packet.generation).max();
        Self {
            name: parts.name,
            file: parts.file,
            input_sha256: parts.input_sha256,
            fabric: topology.fabric,
            pcie_generation,
            routes: workload.routes,
            tasks: workload.tasks,
            changes: parts.changes,
            arbiters: parts.arbiters,
            warnings: context.take_warnings(),
            generator: workload.generator.map(str::to_owned),
            operations: workload.operations,
            jobs: workload.jobs,
            ranks: workload.ranks,
            optimize: parts.optimize,
            files: parts.named_files,
            read_files: parts.read_files,
            places: topology.places,
            stream: workload.stream,
            bound: workload.bound,
            traffic: workload.traffic,
            orders: workload.orders,
            outside: workload.outside,
            names: topology.names,
            groups: workload.groups,
            sources: context.sources,
            unused_types: topology.unused_types,
            devices: topology.devices,
            unused_ranks: workload.unused_ranks,
            default_arbiter: parts.default_arbiter,
        }
    }

    /// An arbiter of the registry with its default parameters, for this scenario.
    #[must_use]
    pub fn arbiter(&self, entry: &Arc<ArbiterEntry>) -> ArbiterSpec {
        let mut spec = ArbiterSpec::plain(entry);
        if self.routes.has_branches() || !self.fabric.shared().is_empty() {
            spec.compose(&self.fabric);
        }
        spec
    }

    /// Whether a route is by `via` or `nic`.
    #[must_use]
    pub fn is_bound(&self, route: RouteId) -> bool {
        self.bound.contains(&route)
    }

    /// The id of a task as the user reads it.
    #[must_use]
    pub fn task_name(&self, task: TaskId) -> Cow<'_, str> {
        self.stream.as_ref().map_or_else(|| self.groups.name(task), |stream| stream.name(&self.sources, task).into())
    }

    /// Writes the id of a task as the user reads it.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_task_name(&self, task: TaskId, to: &mut impl std::fmt::Write) -> std::fmt::Result {
        match &self.stream {
            Some(stream) => to.write_str(&stream.name(&self.sources, task)),
            None => self.groups.write_name(task, to),
        }
    }

    /// Reads what the ids of these tasks are made of. Where many are written that lie far apart, the processor has them at hand
    /// then: reads here do not wait for each other.
    pub fn read_task_names(&self, tasks: impl Iterator<Item = TaskId>) {
        std::hint::black_box(tasks.fold(0, |all, task| all ^ self.groups.read_name(task)));
    }

    /// The task of an id; `None` for ids of whole groups, too.
    #[must_use]
    pub fn task(&self, name: &str) -> Option<TaskId> {
        self.groups.task(name)
    }

    /// What a task is.
    #[must_use]
    pub fn task_kind(&self, task: TaskId) -> TaskKind {
        self.groups.of(task).map_or(TaskKind::Join, |group| group.kind(task.0 - group.first))
    }

    /// Source and destination of a transfer; `None` for other tasks.
    #[must_use]
    pub fn ends(&self, task: TaskId) -> Option<(NodeId, NodeId)> {
        let Work::Carries { class, .. } = self.tasks.tasks()[task.index()].work else { return None };
        let links = self.routes.links(self.tasks.classes().route(class));
        Some((self.fabric.link(*links.first()?).from, self.fabric.link(*links.last()?).to))
    }

    /// Where a task stands in its file; `None` for joins.
    #[must_use]
    pub fn position(&self, task: TaskId) -> Option<Position> {
        self.span(task).map(|span| self.sources.position(span))
    }

    /// A finding about a task, with its place and the line there.
    #[must_use]
    pub fn about(&self, task: TaskId, finding: Diagnostic) -> Diagnostic {
        match self.span(task) {
            Some(span) => self.sources.at(span, finding),
            None => finding,
        }
    }

    fn span(&self, task: TaskId) -> Option<Span> {
        if let Some(stream) = &self.stream {
            return stream.place(&self.sources, task);
        }
        let group = self.groups.of(task)?;
        Some(group.place(task.0 - group.first))
    }

    /// The number of the item of `workload` that a task came of, from 0; `None` for joins.
    #[must_use]
    pub fn item(&self, task: TaskId) -> Option<usize> {
        self.groups.item(task)
    }

    /// The name of a node as results print it: alone where it is unique, behind its machine where it is unique there, else the
    /// full path. A device that the topology lacks, too.
    #[must_use]
    pub fn node_name(&self, node: NodeId) -> &str {
        match self.outside.name(node, self.fabric.nodes().len()) {
            Some(name) => name,
            None => self.names.unique_name(node),
        }
    }

    /// The names from the root down to a node, joined by `/`; of a device that the topology lacks its name.
    #[must_use]
    pub fn node_path(&self, node: NodeId) -> String {
        match self.outside.name(node, self.fabric.nodes().len()) {
            Some(name) => name.to_owned(),
            None => self.names.path(node),
        }
    }

    /// The node of a name or path; `None` unless exactly one fits.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.names.resolve(name).ok().or_else(|| self.outside.node(name, self.fabric.nodes().len()))
    }
}
