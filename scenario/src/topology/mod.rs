//! The topology: link types, tree and lateral links, expanded into a fabric.

mod engines;
mod expansion;
mod kinds;
mod lateral;
mod limits;
mod link_type;
mod machines;
mod names;
mod networks;
mod node_packets;
mod template;
mod tree;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use weir_packets::Interleave;
use weir_plugin_api::{NodeId, SimDuration};
use weir_sim_core::{Fabric, FabricBuilder, SharedBandwidth};

use crate::context::{Context, Problem, Read, Reported};
use crate::diagnostic::quoted;
use crate::files::Files;
use crate::format::{Key, KeyTable, Shape, optional, required};
use crate::source::Span;
use crate::version::VERSION;
use crate::yaml::Value;
pub use engines::{DeviceEngines, SlotsDiffer};
pub(crate) use engines::{DeviceText, sends};
use expansion::Expansion;
pub(crate) use kinds::Kinds;
pub(crate) use link_type::LinkPacket;
pub(crate) use link_type::texts as link_type_texts;
pub use link_type::{BandwidthForm, LinkTypeText};
use machines::MachineReader;
pub(crate) use machines::NESTED;
pub(crate) use names::{Missing, NodeNames};
pub(crate) use tree::is_inner;

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
    pub(crate) engines: DeviceEngines,
    /// Time that nodes need to issue a transfer, of those that need any.
    pub(crate) overheads: FxHashMap<NodeId, SimDuration>,
    /// Devices that wait for engines, as they are written.
    pub(crate) devices: Vec<DeviceText>,
    /// Nodes with `memory`, by where their names stand.
    pub(crate) written_memory: Vec<(NodeId, Span)>,
    /// Where `shared` of the first link that has it is written.
    pub(crate) first_shared: Option<Span>,
    /// Where nodes are in the machine, of those that say it, in their order.
    pub(crate) places: Vec<(NodeId, Place)>,
    /// Link types that no link uses.
    pub(crate) unused_types: Vec<(String, Span)>,
    /// Per pair of directed links: which type it has.
    pub(crate) types: Vec<LinkTypeOf>,
    /// Types that are none of the topology's own, as they are written, by the first pair of links of each, ascending.
    pub(crate) in_place_texts: Vec<(u32, Arc<LinkTypeText>)>,
    pub(crate) kinds: Kinds,
    pub(crate) packets: PacketText,
}

/// What the topology says of packets.
#[derive(Debug, Default)]
pub(crate) struct PacketText {
    /// By pair of directed links, of those whose type says anything.
    pub(crate) links: Vec<(u32, Arc<LinkPacket>)>,
    /// `split` of nodes, bytes of payload.
    pub(crate) splits: Vec<(NodeId, u32)>,
    /// `interleave` of nodes, and where it is written.
    pub(crate) interleaves: Vec<(NodeId, Interleave, Span)>,
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
            let message = format!("`{}` is a {}, which only forwards", self.names.unique_name(node), kind.word());
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
            engines: DeviceEngines::default(),
            overheads: FxHashMap::default(),
            devices: Vec::new(),
            written_memory: Vec::new(),
            first_shared: None,
            places: Vec::new(),
            unused_types: Vec::new(),
            types: Vec::new(),
            in_place_texts: Vec::new(),
            kinds: Kinds::default(),
            packets: PacketText::default(),
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
        optional("machines", Shape::ByName(&Shape::Named(&tree::MACHINE)), "Machines by name."),
        required("tree", Shape::Named(&tree::ROOTS_BY_NAME), "The root nodes, with the nodes below them."),
        optional("links", Shape::List(0, &Shape::Map(&lateral::LATERAL)), "Links beside the tree."),
        optional("networks", Shape::ByName(&Shape::Map(&networks::NETWORK)), "Networks by name."),
    ],
);

/// Reads a topology. `file` says whether it is a file of its own, which must name its version.
pub(crate) fn read(context: &mut Context, files: &mut Files, value: &Value, file: bool) -> Read<Topology> {
    let before = context.errors();
    let mut reader = MachineReader::new(files);
    let (template, kinds) = reader.read(context, None, value, Kinds::default(), file)?;
    let mut expansion = Expansion::default();
    expansion.nodes(context, &template)?;
    expansion.names.index();
    expansion.links(context)?;
    if context.errors() > before {
        return Err(Reported);
    }
    let fabric = expansion.builder.build();
    warn_of_memory(context, &fabric, &expansion.names, &expansion.written_memory);
    Ok(Topology {
        fabric,
        names: expansion.names,
        engines: expansion.engines,
        overheads: expansion.overheads,
        devices: expansion.devices,
        written_memory: expansion.written_memory,
        first_shared: expansion.first_shared,
        places: expansion.places,
        unused_types: reader.unused_types,
        types: expansion.types,
        in_place_texts: expansion.in_place_texts,
        kinds: kinds.with_pairs(expansion.kinds),
        packets: expansion.packets,
    })
}

/// Warns of the first `memory` that no transfers can use up.
fn warn_of_memory(context: &mut Context, fabric: &Fabric, names: &NodeNames, written: &[(NodeId, Span)]) {
    let carried = |shared: &SharedBandwidth| shared.links.iter().map(|&link| fabric.link(link).bandwidth).sum::<f64>();
    let used_up = |shared: &&SharedBandwidth| shared.bandwidth < carried(shared);
    let with_effect: FxHashSet<NodeId> = fabric.shared().iter().filter(used_up).filter_map(|s| s.node).collect();
    if let Some(&(node, span)) = written.iter().find(|(node, _)| !with_effect.contains(node)) {
        let name = quoted(names.unique_name(node));
        let message = format!("`memory` of {name} has no effect: its links together carry no more");
        context.warn(span, message, "remove it, or give a lower bandwidth");
    }
}
