//! The topology: link types, tree and lateral links, expanded into a fabric.

mod kinds;
mod lateral;
mod link_type;
mod names;
mod template;

use weir_plugin_api::{NodeId, NodeKind};
use weir_sim_core::{Fabric, FabricBuilder, FabricError};

use crate::context::{Context, Problem, Read, Reported};
use crate::format::{Key, KeyTable, Shape, optional, required};
use crate::source::Span;
use crate::version::VERSION;
use crate::yaml::Value;
pub(crate) use kinds::{KindId, Kinds};
use link_type::LinkTypes;
pub(crate) use link_type::texts as link_type_texts;
pub use link_type::{BandwidthForm, LinkTypeText};
pub(crate) use names::{Missing, NodeNames};
use template::Template;
pub(crate) use template::is_inner;

/// Slots of an engine that serves everything at once: there is no engine.
pub(crate) const UNLIMITED: u32 = 0;

/// Where a node is in the machine; no part of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// `bus_id`: its PCI address.
    pub bus_id: Option<Box<str>>,
    /// `numa`: the number of its NUMA node.
    pub numa: Option<u16>,
}

/// A fabric with names.
#[derive(Debug)]
pub(crate) struct Topology {
    pub(crate) fabric: Fabric,
    pub(crate) names: NodeNames,
    /// Per node: slots of its send engine, or [`UNLIMITED`].
    pub(crate) slots: Vec<u32>,
    /// Nodes whose `engines` was given, as (first, one past the last, where).
    pub(crate) engines_given: Vec<(NodeId, Span)>,
    /// Where nodes are in the machine, of those that say it, in their order.
    pub(crate) places: Vec<(NodeId, Place)>,
    /// Link types that no link uses.
    pub(crate) unused_types: Vec<(String, Span)>,
    /// Per pair of directed links: which type it has.
    pub(crate) types: Vec<LinkTypeOf>,
    pub(crate) kinds: Kinds,
}

/// Which type a link has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum LinkTypeOf {
    /// The n-th under `link_types`.
    Named(u32),
    /// One that stands in its place: the same for all links from one place, whose first pair of links this is.
    InPlace(u32),
}

impl Topology {
    /// Why a node cannot start or end a transfer, if so.
    pub(crate) fn not_an_end(&self, node: NodeId) -> Option<Problem> {
        let kind = self.fabric.node(node).kind;
        is_inner(kind).then(|| {
            let message = format!("`{}` is a {}, which only forwards", self.names.shown(node), kind.word());
            Problem::new(message, "name a device: gpu, fpga, cpu, nic or host")
        })
    }

    /// No nodes: the topology of a scenario whose operations name devices without links only.
    pub(crate) fn empty() -> Self {
        let mut names = NodeNames::default();
        names.index();
        Self {
            fabric: FabricBuilder::new().build(),
            names,
            slots: Vec::new(),
            engines_given: Vec::new(),
            places: Vec::new(),
            unused_types: Vec::new(),
            types: Vec::new(),
            kinds: Kinds::default(),
        }
    }
}

/// A topology file, and the map in its place.
pub(crate) static TOPOLOGY: KeyTable = KeyTable::new(
    "topology",
    "Nodes and links.",
    &[
        Key { required: false, ..VERSION },
        optional("name", Shape::Text, "For readers; no effect on a run."),
        optional("link_types", Shape::ByName(&Shape::Map(&link_type::LINK_TYPE)), "Link types by name."),
        required("tree", Shape::Named(&template::NODES_BY_NAME), "The root nodes, with the nodes below them."),
        optional("links", Shape::List(0, &Shape::Map(&lateral::LATERAL)), "Links beside the tree."),
    ],
);

/// Reads a topology. `file` says whether it is a file of its own, which must name its version.
pub(crate) fn read(context: &mut Context, value: &Value, file: bool) -> Read<Topology> {
    let before = context.errors();
    let fields = context.fields(value, "the topology", &TOPOLOGY)?;
    if file || fields.get("weir").is_some() {
        crate::version::check(context, &fields)?;
    }
    if let Some(name) = fields.get("name") {
        context.text(name, "the name of the topology")?;
    }
    let types = LinkTypes::read(context, fields.get("link_types"));
    let tree = fields.require(context, "tree")?;
    let mut types = types?;
    let templates = template::read(context, &mut types, tree, true)?;
    let mut expansion = Expansion::default();
    for template in &templates {
        expansion.add(context, template, NodeId::NONE, NodeKind::Switch)?;
    }
    expansion.names.index();
    let Expansion { names, builder, types: pairs, kinds, .. } = &mut expansion;
    let target = lateral::Target { types: &mut types, names, builder, pairs, kinds };
    lateral::read(context, target, fields.get("links"))?;
    if context.errors() > before {
        return Err(Reported);
    }
    Ok(Topology {
        fabric: expansion.builder.build(),
        names: expansion.names,
        slots: expansion.slots,
        engines_given: expansion.engines_given,
        places: expansion.places,
        unused_types: types.unused(),
        types: expansion.types,
        kinds: types.kinds.with_pairs(expansion.kinds),
    })
}

/// The fabric while it is built.
#[derive(Default)]
struct Expansion {
    builder: FabricBuilder,
    names: NodeNames,
    slots: Vec<u32>,
    engines_given: Vec<(NodeId, Span)>,
    places: Vec<(NodeId, Place)>,
    types: Vec<LinkTypeOf>,
    kinds: Vec<KindId>,
    /// The first pair of links of each type that stands in its place, by that place.
    in_place: rustc_hash::FxHashMap<Span, u32>,
    name: String,
}

impl Expansion {
    /// Adds all nodes of a template below a parent.
    fn add(&mut self, context: &mut Context, template: &Template, parent: NodeId, above: NodeKind) -> Read<()> {
        for i in 0..template.names.count() {
            template.names.write(i, &mut self.name);
            self.names.push(&self.name, parent);
            let node = match &template.link {
                None => self.builder.root(template.kind),
                Some(link) => {
                    let network = template.kind == NodeKind::Network || above == NodeKind::Network;
                    let kind = link.kind.unwrap_or(match template.kind {
                        _ if network => KindId::NETWORK,
                        NodeKind::Cpu => KindId::MEMORY,
                        _ => KindId::PCIE,
                    });
                    self.kinds.push(kind);
                    let pair = self.types.len() as u32;
                    self.types.push(link.named.map_or_else(
                        || LinkTypeOf::InPlace(*self.in_place.entry(template.span).or_insert(pair)),
                        LinkTypeOf::Named,
                    ));
                    self.builder.child(parent, template.kind, link.spec(kind))
                }
            };
            let node = node.map_err(|error| fabric_error(context, template.span, &error))?;
            self.slots.push(template.engines.unwrap_or(usual_slots(template.kind)));
            if template.engines.is_some() {
                self.engines_given.push((node, template.span));
            }
            if template.place != Place::default() {
                self.places.push((node, template.place.clone()));
            }
            for child in &template.children {
                self.add(context, child, node, template.kind)?;
            }
            self.names.close(node);
        }
        Ok(())
    }
}

/// Slots of the send engine where `engines` is not given.
fn usual_slots(kind: NodeKind) -> u32 {
    if matches!(kind, NodeKind::Gpu | NodeKind::Fpga) { 1 } else { UNLIMITED }
}

/// A refusal of the fabric.
fn fabric_error(context: &mut Context, span: Span, error: &FabricError) -> Reported {
    context.error(span, error.to_string(), "change the topology here")
}
