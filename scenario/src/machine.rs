//! A topology for itself, without a workload: for what measures it, fits it, and writes it again.

use std::path::Path;

use rustc_hash::FxHashMap;
use weir_plugin_api::{LinkId, NodeId, Registry, SimDuration};
use weir_sim_core::Fabric;

use crate::arbiter::{self, ArbiterSpec};
use crate::brackets::{NamePattern, between_commas};
use crate::context::{Context, Problem, Read};
use crate::diagnostic::Diagnostic;
use crate::input::{Input, Parsed};
use crate::load::{self, LoadOptions};
use crate::rewrite::{LinkChange, relink, text};
use crate::source::Span;
use crate::topology::{self, DeviceEngines, LinkTypeOf, LinkTypeText, Topology, is_inner};
use crate::yaml::{Data, Value, key_of_path};

/// Names that a bracketed list stands for at most; *assumed*, far above the devices of one machine.
const MOST_NAMES: u64 = 100_000;

/// A topology with its names, and the arbiters that its file asks for.
#[derive(Debug)]
pub struct Machine {
    /// The file as given.
    pub file: String,
    /// Nodes and links, with the values that the file gives.
    pub fabric: Fabric,
    /// The arbiters of a scenario or of the options; of a topology alone: the default of the registry.
    pub arbiters: Vec<ArbiterSpec>,
    /// The arbiter of scenarios that name none; empty without any.
    pub default_arbiter: String,
    /// Whether the file is a scenario, not a topology alone.
    pub is_scenario: bool,
    /// Whether the arbiters are items of a list.
    listed: bool,
    /// The types under `link_types`, in file order.
    pub types: Vec<LinkTypeText>,
    /// Each `memory` of the tree, in file order; without those of `machines`.
    pub memories: Vec<NodeText>,
    /// How many transfers devices of the tree send at once, written or not; without those of `machines`, and of devices whose one
    /// copy engine decides it.
    pub send_slots: Vec<NodeText>,
    topology: Topology,
}

/// Something of nodes as it is written: of one node, or of all that a name with brackets or `repeat` stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeText {
    /// Its path in the topology, as edits take it.
    pub path: String,
    /// Whose it is, in their order.
    pub nodes: Vec<NodeId>,
}

impl Machine {
    /// Reads a topology file or a scenario's topology; the workload of a scenario is not read.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn load(path: &Path, options: &LoadOptions, registry: &Registry) -> Result<Self, Vec<Diagnostic>> {
        let mut context = Context::of(registry);
        match read(&mut context, path, options, registry) {
            Ok(machine) if !context.failed() => Ok(machine),
            _ => Err(context.finish()),
        }
    }

    /// The path of the first arbiter in the scenario, as edits take it.
    #[must_use]
    pub fn arbiter_path(&self) -> &'static str {
        if self.listed { "arbiter[0]" } else { "arbiter" }
    }

    /// The device of a name or path: a node that starts and ends transfers.
    ///
    /// # Errors
    /// Why the name does not fit, and the remedy.
    pub fn device(&self, name: &str) -> Result<NodeId, (String, String)> {
        let node = self.topology.names.resolve(name).map_err(parts)?;
        let kind = self.fabric.node(node).kind;
        if is_inner(kind) {
            let message = format!("`{name}` is a {}, which neither sends nor receives", kind.word());
            return Err((message, "name a gpu, fpga, cpu, host or nic".to_owned()));
        }
        Ok(node)
    }

    /// The devices of a name with brackets, such as `gpu[0-7]`, or of several with commas between.
    ///
    /// # Errors
    /// Why a name does not fit, and the remedy.
    pub fn devices(&self, names: &str) -> Result<Vec<NodeId>, (String, String)> {
        let mut all = Vec::new();
        for name in between_commas(names) {
            let pattern = NamePattern::read(name.trim()).map_err(parts)?;
            if pattern.count() > MOST_NAMES {
                return Err((format!("`{name}` stands for {} names", pattern.count()), "name fewer".to_owned()));
            }
            for i in 0..pattern.count() {
                all.push(self.device(&pattern.name(i))?);
            }
        }
        Ok(all)
    }

    /// The name of a node as results print it: alone where it is unique, behind its machine where it is unique there, else the
    /// full path.
    #[must_use]
    pub fn node_name(&self, node: NodeId) -> &str {
        self.topology.names.unique_name(node)
    }

    /// The names from the root down to a node, joined by `/`.
    #[must_use]
    pub fn path(&self, node: NodeId) -> String {
        self.topology.names.path(node)
    }

    /// The PCI address of a node, as `bus_id` gives it.
    #[must_use]
    pub fn bus_id(&self, node: NodeId) -> Option<&str> {
        self.topology.places.iter().find(|(of, _)| *of == node)?.1.bus_id.as_deref()
    }

    /// Transfers that a node sends at once; `None` for no limit.
    #[must_use]
    pub fn send_slots(&self, node: NodeId) -> Option<u32> {
        self.topology.engines.send_slots(node)
    }

    /// The engines of its devices.
    #[must_use]
    pub const fn engines(&self) -> &DeviceEngines {
        &self.topology.engines
    }

    /// Time that a node needs to issue a transfer, before its bytes flow.
    #[must_use]
    pub fn overhead(&self, node: NodeId) -> SimDuration {
        self.topology.overheads.get(&node).copied().unwrap_or(SimDuration::ZERO)
    }

    /// The place among [`Self::types`] of a link's type; `None` for one that stands in the place of a name.
    #[must_use]
    pub fn type_of(&self, link: LinkId) -> Option<usize> {
        match self.topology.types[link.index() / 2] {
            LinkTypeOf::Named(at) => Some(at as usize),
            LinkTypeOf::InPlace(_) => None,
        }
    }

    /// The type of a link as it is written: one of [`Self::types`], of a machine, or one that stands in the place of a name.
    #[must_use]
    pub fn type_text(&self, link: LinkId) -> Option<&LinkTypeText> {
        match self.topology.types[link.index() / 2] {
            LinkTypeOf::Named(at) => self.types.get(at as usize),
            LinkTypeOf::InPlace(pair) => {
                let texts = &self.topology.in_place_texts;
                let at = texts.binary_search_by_key(&pair, |(first, _)| *first).ok()?;
                Some(&texts[at].1)
            }
        }
    }

    /// The first of the links whose type stands in the same place of the file; `None` for types with a name.
    #[must_use]
    pub fn in_place(&self, link: LinkId) -> Option<LinkId> {
        match self.topology.types[link.index() / 2] {
            LinkTypeOf::InPlace(pair) => Some(LinkId(pair * 2)),
            LinkTypeOf::Named(_) => None,
        }
    }
}

fn parts(problem: Problem) -> (String, String) {
    (problem.message, problem.help)
}

fn read(context: &mut Context, path: &Path, options: &LoadOptions, registry: &Registry) -> Read<Machine> {
    if let Some(fidelity) = options.fidelity.first() {
        let source = context.sources.add("--fidelity", fidelity);
        let span = Span { source, line: 1, column: 1, width: fidelity.chars().count() as u32 };
        return Err(context.error(span, "links are fitted by rates, not by packets", "leave it out"));
    }
    let Parsed { mut files, mut root, .. } = Input::from(path).parse(context, options.library.as_deref())?;
    let is_scenario = !is_topology(&root);
    let mut listed = options.arbiters.len() > 1;
    load::edit(context, &mut files, &mut root, options)?;
    let (tree, arbiters) = if is_scenario {
        load::looks_like_a_scenario(context, &root)?;
        let fields = context.fields(&root, "the scenario", &load::SCENARIO)?;
        crate::version::check(context, &fields)?;
        let written = fields.get("arbiter");
        let is_list = written.is_some_and(|value| matches!(value.data, Data::Sequence(_)));
        listed |= is_list && options.arbiters.is_empty();
        let arbiters = arbiter::read(context, written, &options.arbiters, registry)?;
        let value = fields.require(context, "topology")?;
        let tree = match value.data {
            Data::Mapping(_) => value.clone(),
            _ => load::topology_file(context, &mut files, value)?,
        };
        (tree, arbiters)
    } else {
        (root, arbiter::read(context, None, &options.arbiters, registry)?)
    };
    let mut topology = topology::read(context, &mut files, &tree, !is_scenario)?;
    // Regions are cut from the fabric where it is.
    let arbiters = arbiter::place(context, arbiters, &topology)?;
    let NodeTexts { memories, send_slots, .. } = NodeTexts::of(tree.get("tree"), &topology);
    Ok(Machine {
        file: path.display().to_string(),
        fabric: std::mem::take(&mut topology.fabric),
        arbiters,
        default_arbiter: registry.default_arbiter().unwrap_or_default().to_owned(),
        is_scenario,
        listed,
        types: topology::link_type_texts(tree.get("link_types")),
        memories,
        send_slots,
        topology,
    })
}

/// What nodes of a topology have, as it is written.
struct NodeTexts<'a> {
    engines: &'a DeviceEngines,
    /// The nodes with a `memory`, and the devices, by where their name stands.
    with_memory: FxHashMap<Span, Vec<NodeId>>,
    devices: FxHashMap<Span, Vec<NodeId>>,
    memories: Vec<NodeText>,
    send_slots: Vec<NodeText>,
}

impl<'a> NodeTexts<'a> {
    /// Of the tree of a topology, without its `machines`.
    fn of(tree: Option<&Value>, topology: &'a Topology) -> Self {
        let (mut with_memory, mut devices): (FxHashMap<_, Vec<NodeId>>, FxHashMap<_, Vec<NodeId>>) = Default::default();
        topology.written_memory.iter().for_each(|&(node, at)| with_memory.entry(at).or_default().push(node));
        topology.devices.iter().for_each(|text| devices.entry(text.span).or_default().extend(text.nodes()));
        let (memories, send_slots) = (Vec::new(), Vec::new());
        let mut all = Self { engines: &topology.engines, with_memory, devices, memories, send_slots };
        tree.into_iter().for_each(|tree| all.below(tree, "tree"));
        all
    }

    fn below(&mut self, entries: &Value, path: &str) {
        let Data::Mapping(entries) = &entries.data else { return };
        for entry in entries {
            let path = format!("{path}.{}", key_of_path(&entry.key));
            if entry.value.get("memory").is_some() {
                let nodes = self.with_memory.get(&entry.key_span).cloned().unwrap_or_default();
                self.memories.push(NodeText { path: format!("{path}.memory"), nodes });
            }
            let nodes = self.devices.get(&entry.key_span).cloned().unwrap_or_default();
            let decides = |&node| self.engines.send_slots(node).is_some() && self.engines.copy_engines(node) != Some(1);
            if !nodes.is_empty() && nodes.iter().all(decides) {
                let written = entry.value.get("engines");
                let is_map = written.is_some_and(|engines| matches!(engines.data, Data::Mapping(_)));
                let path = format!("{path}.engines{}", if is_map { ".send" } else { "" });
                self.send_slots.push(NodeText { path, nodes });
            }
            if let Some(children) = entry.value.get("children") {
                self.below(children, &format!("{path}.children"));
            }
        }
    }
}

/// Whether a file is a topology alone.
fn is_topology(root: &Value) -> bool {
    root.get("tree").is_some() && root.get("workload").is_none()
}

/// The text of a topology file with edits of its values and other types for single links, as [`crate::rewrite`] of a
/// scenario.
///
/// # Errors
/// A file that cannot be read, or a path that does not exist in it.
pub fn rewrite_topology(path: &Path, set: &[(String, String)], links: &LinkChange) -> Result<String, Vec<Diagnostic>> {
    let mut context = Context::default();
    let changed = |context: &mut Context| -> Read<(u32, Value, Value)> {
        let Parsed { mut files, source, root: before } = Input::from(path).parse(context, None)?;
        let mut root = before.clone();
        let options = LoadOptions { set: set.to_vec(), ..LoadOptions::default() };
        load::edit(context, &mut files, &mut root, &options)?;
        relink(context, &mut root, &[links])?;
        Ok((source, before, root))
    };
    let Ok((source, before, after)) = changed(&mut context) else { return Err(context.finish()) };
    text::write(&context.sources.text(source), &before, &after)
}
