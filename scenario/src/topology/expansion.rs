//! From a topology as written to nodes and links.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use weir_plugin_api::{NodeId, NodeKind, SimDuration};
use weir_sim_core::{FabricBuilder, FabricError};

use super::engines::{DeviceEngines, DeviceText, EnginesText};
use super::kinds::KindId;
use super::lateral::{End, Lateral, MadeOf};
use super::link_type::{LinkType, LinkTypeText, Shared};
use super::names::NodeNames;
use super::networks::Network;
use super::node_packets::NodePackets;
use super::template::{Each, NodeTemplate, Template, TopologyTemplate};
use super::{LinkTypeOf, PacketText, Place};
use crate::context::{Context, Read, Reported};
use crate::source::Span;

/// The fabric while it is built.
#[derive(Default)]
pub(super) struct Expansion<'b> {
    pub(super) builder: FabricBuilder,
    pub(super) names: NodeNames,
    pub(super) engines: DeviceEngines,
    pub(super) overheads: FxHashMap<NodeId, SimDuration>,
    pub(super) devices: Vec<DeviceText>,
    pub(super) written_memory: Vec<(NodeId, Span)>,
    pub(super) first_shared: Option<Span>,
    pub(super) places: Vec<(NodeId, Place)>,
    pub(super) types: Vec<LinkTypeOf>,
    pub(super) in_place_texts: Vec<(u32, Arc<LinkTypeText>)>,
    pub(super) kinds: Vec<KindId>,
    pub(super) packets: PacketText,
    /// The first pair of links of each type that stands in its place, by that place.
    in_place: FxHashMap<Span, u32>,
    name: String,
    /// Topologies with links beside the tree, and the nodes of each: of a machine as often as there are such machines.
    to_join: Vec<(&'b TopologyTemplate, Range<u32>)>,
}

impl<'b> Expansion<'b> {
    /// Adds all nodes of a topology: of its tree, then of its networks.
    pub(super) fn nodes(&mut self, context: &mut Context, topology: &'b TopologyTemplate) -> Read<()> {
        let first = self.names.len();
        for template in &topology.templates {
            self.add(context, template, NodeId::NONE, NodeKind::Switch)?;
        }
        for network in &topology.networks {
            self.names.enter(&network.name);
            for (word, count) in network.shape.switches() {
                for number in 0..count {
                    let node = self.builder.root(NodeKind::Network);
                    node.map_err(|error| fabric_error(context, network.span, &error))?;
                    self.names.push(&format!("{word}{number}"), NodeId::NONE);
                    self.engines.add(NodeKind::Network, EnginesText::default());
                }
            }
            self.names.leave();
        }
        if topology.has_links() {
            self.to_join.push((topology, first..self.names.len()));
        }
        Ok(())
    }

    /// Adds the links beside the tree: those of machines first, of each its `links`, then its networks.
    pub(super) fn links(&mut self, context: &mut Context) -> Read<()> {
        for (topology, within) in std::mem::take(&mut self.to_join) {
            let before = context.errors();
            for lateral in &topology.laterals {
                // One wrong link does not hide the next.
                let _ = self.lateral(context, lateral, &within);
            }
            // Their switches are the last nodes, network by network.
            let switches = |network: &Network| network.shape.nodes() as u32;
            let mut first = within.end - topology.networks.iter().map(switches).sum::<u32>();
            for network in &topology.networks {
                let _ = self.network(context, network, &within, first);
                first += switches(network);
            }
            // What is wrong with a machine is wrong with all that are alike.
            if context.errors() > before {
                return Err(Reported);
            }
        }
        Ok(())
    }

    /// Adds the links of an item of `links` between nodes of a machine, or of all.
    fn lateral(&mut self, context: &mut Context, lateral: &Lateral, within: &Range<u32>) -> Read<()> {
        let (n, m) = (lateral.first.names.count(), lateral.second.names.count());
        for i in 0..lateral.count() {
            let from = self.end(context, &lateral.first, within, i.min(n - 1))?;
            let to = self.end(context, &lateral.second, within, i.min(m - 1))?;
            self.join(context, lateral.between, (from, to), &lateral.made_of)?;
        }
        Ok(())
    }

    /// Adds the links from a network's ends, some of the nodes `within` a topology, and then those between its switches,
    /// which are the nodes from `first` on.
    fn network(&mut self, context: &mut Context, network: &Network, within: &Range<u32>, first: u32) -> Read<()> {
        let switch = |number: u64| NodeId(first + number as u32);
        let (edges, count) = (network.shape.edges(), network.count());
        let (mut seen, mut dealt) = (FxHashSet::default(), 0);
        for end in &network.ends {
            for i in 0..end.names.count() {
                let node = self.end(context, end, within, i)?;
                if !seen.insert(node) {
                    let message = format!("`{}` is an end twice", self.names.unique_name(node));
                    return Err(context.error(end.span, message, "name each end once"));
                }
                // Consecutive ends, as many on each switch, or one more.
                let at = switch(dealt * edges / count);
                self.join(context, end.span, (node, at), &network.levels[0])?;
                dealt += 1;
            }
        }
        network.shape.each_link(|level, from, to| {
            self.join(context, network.span, (switch(from), switch(to)), &network.levels[level])
        })
    }

    /// The node of name number `index` of an end.
    fn end(&self, context: &mut Context, end: &End, within: &Range<u32>, index: u64) -> Read<NodeId> {
        let found = self.names.resolve_within(within, &end.names.name(index));
        found.map_err(|problem| context.error(end.span, problem.message, problem.help))
    }

    /// Adds a link beside the tree.
    fn join(&mut self, context: &mut Context, span: Span, (from, to): (NodeId, NodeId), made_of: &MadeOf) -> Read<()> {
        let joined = self.builder.lateral(from, to, made_of.link.spec(made_of.kind));
        joined.map_err(|error| {
            let (message, help) = refused(&error, self.names.unique_name(from), self.names.unique_name(to));
            context.error(span, message, help)
        })?;
        self.share(&made_of.link);
        self.note(&made_of.link, made_of.kind, made_of.place);
        Ok(())
    }

    /// Gives the link that was added last what its directions have together.
    fn share(&mut self, link: &LinkType) {
        if let Some(Shared { bandwidth, place }) = link.shared {
            self.builder.share_last_link(bandwidth);
            self.first_shared.get_or_insert(place);
        }
    }

    /// Notes type and kind of the next pair of links.
    fn note(&mut self, link: &LinkType, kind: KindId, place: Span) {
        let pair = self.types.len() as u32;
        self.types.push(match link.named {
            Some(at) => LinkTypeOf::Named(at),
            None => {
                let first = *self.in_place.entry(place).or_insert(pair);
                if first == pair {
                    self.in_place_texts.push((pair, Arc::clone(&link.text)));
                }
                LinkTypeOf::InPlace(first)
            }
        });
        self.kinds.push(kind);
        self.packets.links.extend(link.packet.as_ref().map(|packet| (pair, packet.clone())));
    }

    /// Adds all nodes of a template below a parent.
    fn add(&mut self, context: &mut Context, template: &'b Template, parent: NodeId, above: NodeKind) -> Read<()> {
        if let Each::Node(node) = &template.each {
            self.devices.extend(node.device_text(self.names.len(), template));
        }
        for i in 0..template.names.count() {
            template.names.write(i, &mut self.name);
            match &template.each {
                Each::Node(node) => self.node(context, node, template.span, (parent, above))?,
                Each::Machine(machine) => {
                    self.names.enter(&self.name);
                    self.nodes(context, machine)?;
                    self.names.leave();
                }
            }
        }
        Ok(())
    }

    /// Adds the node of the name just written, with those below it.
    fn node(
        &mut self,
        context: &mut Context,
        template: &'b NodeTemplate,
        span: Span,
        (parent, above): (NodeId, NodeKind),
    ) -> Read<()> {
        self.names.push(&self.name, parent);
        let node = self.joined(template, span, (parent, above));
        let node = node.map_err(|error| fabric_error(context, span, &error))?;
        template.link.iter().for_each(|link| self.share(link));
        if template.overhead > SimDuration::ZERO {
            self.overheads.insert(node, template.overhead);
        }
        let NodePackets { split, interleave } = template.packets;
        self.packets.splits.extend(split.map(|split| (node, split)));
        self.packets.interleaves.extend(interleave.map(|(how, place)| (node, how, place)));
        if let Some(memory) = template.memory {
            self.builder.share_node(node, memory);
            self.written_memory.push((node, span));
        }
        self.engines.add(template.kind, template.engines.unwrap_or_default());
        if template.place != Place::default() {
            self.places.push((node, template.place.clone()));
        }
        for child in &template.children {
            self.add(context, child, node, template.kind)?;
        }
        self.names.close(node);
        Ok(())
    }

    /// Adds a node to the fabric: a root, or one below its parent.
    fn joined(
        &mut self,
        template: &NodeTemplate,
        span: Span,
        (parent, above): (NodeId, NodeKind),
    ) -> Result<NodeId, FabricError> {
        match &template.link {
            None => self.builder.root(template.kind),
            Some(link) => {
                let network = template.kind == NodeKind::Network || above == NodeKind::Network;
                let kind = link.kind.unwrap_or(match template.kind {
                    _ if network => KindId::NETWORK,
                    NodeKind::Cpu => KindId::MEMORY,
                    _ => KindId::PCIE,
                });
                self.note(link, kind, span);
                self.builder.child(parent, template.kind, link.spec(kind))
            }
        }
    }
}

/// Why two nodes cannot be joined, and what to do.
fn refused(error: &FabricError, x: &str, y: &str) -> (String, &'static str) {
    match error {
        FabricError::Loop(_) => (format!("a link from `{x}` to itself"), "name two different nodes"),
        FabricError::Twice(..) => {
            (format!("`{x}` and `{y}` are joined twice"), "keep one link; add their bandwidths for a wider one")
        }
        other => (other.to_string(), "change the link"),
    }
}

/// A refusal of the fabric.
fn fabric_error(context: &mut Context, span: Span, error: &FabricError) -> Reported {
    context.error(span, error.to_string(), "change the topology here")
}
