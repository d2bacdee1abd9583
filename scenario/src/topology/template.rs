//! A topology as written, read once: the outermost one, and that of each machine.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use weir_plugin_api::{NodeKind, SimDuration};

use super::Place;
use super::engines::{DeviceText, EnginesText};
use super::lateral::Lateral;
use super::limits::{NODES, too_many_links, too_many_nodes};
use super::link_type::LinkType;
use super::networks::Network;
use super::node_packets::NodePackets;
use crate::brackets::NamePattern;
use crate::context::{Context, Read};
use crate::diagnostic::quoted;
use crate::source::Span;

/// Nodes that are written as one, or machines.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) names: NamePattern,
    pub(super) each: Each,
    /// Where the name stands.
    pub(super) span: Span,
    /// Nodes in all, those below included.
    pub(super) total: u64,
}

/// What each of the names stands for.
#[derive(Debug)]
pub(super) enum Each {
    Node(Box<NodeTemplate>),
    Machine(Rc<TopologyTemplate>),
}

#[derive(Debug)]
pub(super) struct NodeTemplate {
    pub(super) kind: NodeKind,
    /// The link to the parent; `None` for roots.
    pub(super) link: Option<LinkType>,
    /// `None` where the kind of the node decides.
    pub(super) engines: Option<EnginesText>,
    /// Time to issue a transfer.
    pub(super) overhead: SimDuration,
    /// Bytes per second that all its links have together.
    pub(super) memory: Option<f64>,
    pub(super) packets: NodePackets,
    pub(super) place: Place,
    /// What lies below each of them.
    pub(super) children: Vec<Template>,
}

impl NodeTemplate {
    /// The devices that the template of these nodes makes with the next node numbers; `None` where no engine holds them back.
    pub(super) fn device_text(&self, first: u32, template: &Template) -> Option<DeviceText> {
        let (count, written) = (template.names.count() as u32, self.engines.is_some());
        let step = (template.total / template.names.count().max(1)) as u32;
        let has_engines = written || matches!(self.kind, NodeKind::Gpu | NodeKind::Fpga);
        has_engines.then_some(DeviceText { first, count, step, span: template.span, written })
    }
}

/// A topology that may stand for many machines.
#[derive(Debug)]
pub(super) struct TopologyTemplate {
    pub(super) templates: Vec<Template>,
    pub(super) laterals: Vec<Lateral>,
    pub(super) networks: Vec<Network>,
    /// Nodes in all, at most [`NODES`].
    pub(super) nodes: u64,
    /// Links beside the tree in all, at most [`NODES`].
    links: u64,
}

impl TopologyTemplate {
    /// Counts nodes and links, and refuses too many before any is made.
    pub(super) fn new(
        context: &mut Context,
        span: Span,
        templates: Vec<Template>,
        laterals: Vec<Lateral>,
        networks: Vec<Network>,
    ) -> Read<Self> {
        distinct(context, &networks, &templates)?;
        let sum = |of: &mut dyn Iterator<Item = u64>| of.fold(0, u64::saturating_add);
        let switches = sum(&mut networks.iter().map(|network| network.shape.nodes()));
        let nodes = sum(&mut templates.iter().map(|template| template.total)).saturating_add(switches);
        let of_machines = templates.iter().map(|template| match &template.each {
            Each::Machine(machine) => machine.links.saturating_mul(template.names.count()),
            Each::Node(_) => 0,
        });
        let own = laterals.iter().map(Lateral::count).chain(networks.iter().map(Network::links));
        let links = sum(&mut of_machines.chain(own));
        if nodes > NODES {
            return Err(too_many_nodes(context, span));
        }
        if links > NODES {
            return Err(too_many_links(context, span));
        }
        Ok(Self { templates, laterals, networks, nodes, links })
    }

    /// Whether it has links beside the tree itself, those of its machines apart.
    pub(super) fn has_links(&self) -> bool {
        !(self.laterals.is_empty() && self.networks.is_empty())
    }
}

/// Refuses a network with the name of a root.
fn distinct(context: &mut Context, networks: &[Network], roots: &[Template]) -> Read<()> {
    let names: FxHashMap<&str, Span> = networks.iter().map(|network| (&*network.name, network.span)).collect();
    let mut name = String::new();
    for (root, i) in roots.iter().flat_map(|root| (0..root.names.count()).map(move |i| (root, i))) {
        root.names.write(i, &mut name);
        if let Some(&span) = names.get(name.as_str()) {
            let message = format!("network {} has the name of a root of `tree`", quoted(&name));
            return Err(context.error(span, message, "give it another name"));
        }
    }
    Ok(())
}
