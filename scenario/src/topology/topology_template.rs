//! A topology as written, read once: the outermost one, and that of each machine.

use super::TOPOLOGY;
use super::kinds::Kinds;
use super::lateral::{self, Lateral};
use super::link_type::LinkTypes;
use super::machines::{MachineReader, NamedMachines};
use super::networks::{self, Network};
use super::template::{self, Each, NODES, Template};
use crate::context::{Context, Read};
use crate::yaml::Value;

/// A topology that may stand for many machines.
#[derive(Debug)]
pub(crate) struct TopologyTemplate {
    pub(super) templates: Vec<Template>,
    pub(super) laterals: Vec<Lateral>,
    pub(super) networks: Vec<Network>,
    /// Nodes in all, at most [`NODES`].
    pub(super) nodes: u64,
    /// Links beside the tree in all, at most [`NODES`].
    links: u64,
}

impl TopologyTemplate {
    /// Reads a topology, of a scenario or of a machine. `file` says whether it is a file of its own, which must name its
    /// version; `outer` has the machines of the topology that it stands in. Returns `kinds` with those that it adds.
    pub(super) fn read(
        context: &mut Context,
        reader: &mut MachineReader<'_>,
        outer: Option<&NamedMachines<'_>>,
        value: &Value,
        kinds: Kinds,
        file: bool,
    ) -> Read<(Self, Kinds)> {
        let fields = context.fields(value, "the topology", &TOPOLOGY)?;
        if file || fields.get("weir").is_some() {
            crate::version::check(context, &fields)?;
        }
        if let Some(name) = fields.get("name") {
            context.text(name, "the name of the topology")?;
        }
        let types = LinkTypes::read(context, fields.get("link_types"), kinds, reader.in_machine());
        let tree = fields.require(context, "tree")?;
        let mut types = types?;
        let named = NamedMachines::read(context, fields.get("machines"), outer)?;
        let templates = template::roots(context, &mut types, reader, &named, tree)?;
        reader.read_unused(context, &mut types, &named)?;
        let laterals = lateral::read(context, &mut types, fields.get("links"))?;
        let networks = networks::read(context, &mut types, fields.get("networks"), &templates)?;
        reader.unused_types.extend(types.unused());
        let topology = Self::counted(context, value, templates, laterals, networks)?;
        Ok((topology, types.kinds))
    }

    /// Counts nodes and links, and refuses too many before any is made.
    fn counted(
        context: &mut Context,
        value: &Value,
        templates: Vec<Template>,
        laterals: Vec<Lateral>,
        networks: Vec<Network>,
    ) -> Read<Self> {
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
            return Err(template::too_many(context, value.span));
        }
        if links > NODES {
            return Err(lateral::too_many(context, value.span));
        }
        Ok(Self { templates, laterals, networks, nodes, links })
    }

    /// Whether it has links beside the tree itself, those of its machines apart.
    pub(super) fn has_links(&self) -> bool {
        !(self.laterals.is_empty() && self.networks.is_empty())
    }
}
