//! From what is written to the settings of a run: what each link and port does with packets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value as Json};
use weir_packets::{LinkSettings, NodeSettings, WireRate};
use weir_plugin_api::{
    ArbiterEntry, CallError, Direction, Flags, Grant, LinkId, Origin, PhaseView, PortEntry, RateArbiter,
};
use weir_sim_core::{Carriage, Fabric, Link, PacketSettings, PortPolicy};

use super::PacketRun;
use super::check::{Check, name_of};
use super::defaults::{BUFFER, Sizes, sizes};
use super::keys::{PacketKeys, Rate};
use super::ports::PortChoice;
use crate::arbiter::ArbiterSpec;
use crate::context::{Context, Read, Reported};
use crate::topology::{LinkPacket, Topology};
use crate::workload::Workload;

/// Hops of a run at most, skipped ones apart, unless the command says otherwise (packets.md, section 3).
const MOST_HOPS: u64 = 10_000_000_000;

/// How a scenario's links and ports handle packets.
#[derive(Clone, Debug)]
pub struct PacketPlan {
    settings: PacketSettings,
    /// The port arbiters that come from libraries, by name.
    loaded: BTreeMap<String, Arc<PortEntry>>,
}

impl PacketPlan {
    /// How many packets leave the source of a transfer over a route with this first link.
    #[must_use]
    pub fn packets(&self, first: LinkId, carriage: Carriage, bytes: u64) -> u64 {
        self.settings.packets(first, carriage, bytes)
    }

    /// The name of the port arbiter that serves a link.
    #[must_use]
    pub fn port_arbiter(&self, link: LinkId) -> &str {
        &self.settings.policies[self.settings.policy_of[link.index()] as usize].name
    }

    /// The names of the port arbiters of the run, in order.
    #[must_use]
    pub fn port_arbiters(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.settings.policies.iter().map(|policy| &*policy.name).collect();
        names.into_iter().collect()
    }

    /// The port arbiters of the run that come from libraries, in name order.
    pub fn loaded_ports(&self) -> impl Iterator<Item = &PortEntry> {
        self.loaded.values().map(|entry| &**entry)
    }

    /// The settings of a run on a fabric with the same links, whose bandwidths may differ.
    #[must_use]
    pub fn on(&self, fabric: &Fabric) -> PacketSettings {
        // Every bandwidth was in range when the plan was made, and stays so when a link is widened.
        self.settings.on(fabric)
    }
}

/// What a link does; `None` where its bandwidth is out of range. `by_wire`: the bandwidth counts headers.
fn link_settings(link: &Link, keys: &PacketKeys, sizes: Sizes, by_wire: bool) -> Option<LinkSettings> {
    let Sizes { payload, header } = sizes;
    let rate = match by_wire {
        true => WireRate::wire(link.bandwidth),
        false => WireRate::goodput(link.bandwidth, payload, header),
    };
    Some(LinkSettings {
        from: link.from.0,
        to: link.to.0,
        downwards: link.direction == Direction::Down,
        rate: rate?,
        latency: link.latency.0,
        credit_return: keys.credit_return.unwrap_or(link.latency).0,
        buffer: keys.buffer.unwrap_or(Some(BUFFER)),
        headers: keys.headers,
        payload,
        header,
        dllp: keys.dllp.unwrap_or(0),
        switching: keys.switching.unwrap_or_default(),
        queues: keys.queues.unwrap_or_default(),
        inputs: keys.inputs.unwrap_or_default(),
    })
}

/// The run of packets as it stands beside arbiters of rates.
pub(crate) fn spec(
    context: &mut Context,
    run: &PacketRun,
    topology: &Topology,
    workload: &Workload,
) -> Read<ArbiterSpec> {
    Check::new(context, run, topology, workload).of_scenario()?;
    let (numbers, loaded) = (FxHashMap::default(), BTreeMap::new());
    let mut maker = Maker { context, run, topology, policies: Vec::new(), loaded, numbers, flags: Flags(0) };
    let plan = maker.plan()?;
    let flags = maker.flags;
    Check::new(context, run, topology, workload).of_plan(&plan.settings)?;
    let mut spec = ArbiterSpec::plain(&Arc::new(entry(flags)));
    spec.written.clone_from(&run.written);
    spec.params.clone_from(&run.written);
    spec.position.clone_from(&run.position);
    spec.packets = Some(Arc::new(plan));
    Ok(spec)
}

struct Maker<'m> {
    context: &'m mut Context,
    run: &'m PacketRun,
    topology: &'m Topology,
    policies: Vec<PortPolicy>,
    loaded: BTreeMap<String, Arc<PortEntry>>,
    /// The policy of each choice that was met.
    numbers: FxHashMap<*const PortChoice, u32>,
    flags: Flags,
}

impl Maker<'_> {
    fn plan(&mut self) -> Read<PacketPlan> {
        let fabric = &self.topology.fabric;
        let given: FxHashMap<u32, &LinkPacket> =
            self.topology.packets.links.iter().map(|(pair, given)| (*pair, &**given)).collect();
        let mut words = self.topology.kinds.words_of_links();
        let default_port = PortChoice::default_choice();
        let (mut links, mut counts_headers, mut ports) = (Vec::new(), Vec::new(), Vec::new());
        for (id, link) in fabric.links().iter().enumerate() {
            let given = given.get(&(id as u32 / 2));
            let keys = given.map_or_else(|| self.run.keys.clone(), |given| given.keys.or(&self.run.keys));
            let generation = given.and_then(|given| given.generation);
            let sizes = sizes(words.next().unwrap_or_default(), generation).with(&keys);
            let by_wire = keys.rate.map_or(generation.is_some(), |rate| rate == Rate::Wire);
            let own = link_settings(link, &keys, sizes, by_wire);
            links.push(own.ok_or_else(|| self.too_slow(LinkId(id as u32)))?);
            counts_headers.push(by_wire);
            ports.push(port(&keys, link.direction).unwrap_or(&default_port).clone());
        }
        let policy_of = self.policies_of(&links, &ports)?;
        self.refuse_names_without_ports()?;
        let settings = PacketSettings {
            links,
            counts_headers,
            nodes: self.nodes(),
            policies: std::mem::take(&mut self.policies),
            policy_of,
            interleaves: self.topology.packets.interleaves.iter().map(|&(node, how, _)| (node, how)).collect(),
            window: self.run.window,
            reads: self.run.reads,
            skips: self.run.skips,
            most_hops: MOST_HOPS,
        };
        Ok(PacketPlan { settings, loaded: std::mem::take(&mut self.loaded) })
    }

    /// Refuses names of nodes in the parameters of port arbiters that serve no port.
    fn refuse_names_without_ports(&mut self) -> Read<()> {
        let (run, topology) = (self.run, self.topology);
        let keys = topology.packets.links.iter().map(|(_, given)| &given.keys).chain([&run.keys]);
        for port in keys.flat_map(|keys| keys.ports.iter().flatten()) {
            if !self.numbers.contains_key(&Arc::as_ptr(port)) {
                self.params(port, &FxHashSet::default())?;
            }
        }
        Ok(())
    }

    fn too_slow(&mut self, link: LinkId) -> Reported {
        let message = format!("the bandwidth of {} is not between 1 B/s and 10^18 B/s", name_of(self.topology, link));
        self.context.error(self.run.span, message, "give it another bandwidth, or run it with `fidelity: fluid`")
    }

    fn nodes(&self) -> Vec<NodeSettings> {
        let mut nodes = vec![NodeSettings { split: None, engines: 0 }; self.topology.fabric.nodes().len()];
        self.topology.packets.splits.iter().for_each(|(node, split)| nodes[node.index()].split = Some(*split));
        nodes
    }

    /// The number of each link's policy, of which one is made for each that is written.
    fn policies_of(&mut self, links: &[LinkSettings], ports: &[Arc<PortChoice>]) -> Read<Box<[u32]>> {
        let mut inputs = vec![Vec::new(); self.topology.fabric.nodes().len()];
        links.iter().for_each(|link| inputs[link.to as usize].push(link.from));
        let mut policy_of = Vec::with_capacity(ports.len());
        for port in ports {
            let number = match self.numbers.get(&Arc::as_ptr(port)) {
                Some(&number) => number,
                None => self.policy(port, links, ports, &inputs)?,
            };
            policy_of.push(number);
        }
        Ok(policy_of.into())
    }

    fn policy(
        &mut self,
        port: &Arc<PortChoice>,
        links: &[LinkSettings],
        ports: &[Arc<PortChoice>],
        inputs: &[Vec<u32>],
    ) -> Read<u32> {
        let outs = (0..).zip(ports).filter(|(_, own)| Arc::ptr_eq(own, port)).map(|(out, _): (usize, _)| out);
        let from: FxHashSet<u32> = outs.flat_map(|out| &inputs[links[out].from as usize]).copied().collect();
        let params = self.params(port, &from)?;
        let number = self.policies.len() as u32;
        let PortEntry { name, flags, make, .. } = &*port.entry;
        self.policies.push(PortPolicy { name: name.clone(), flags: *flags, make: make.clone(), params });
        if port.entry.origin != Origin::BuiltIn {
            self.loaded.insert(name.clone(), port.entry.clone());
        }
        self.numbers.insert(Arc::as_ptr(port), number);
        self.flags = self.flags.union(port.flags());
        Ok(number)
    }

    /// The parameters of a port arbiter as it gets them: names of nodes, from which one of its ports has an input, are ids.
    fn params(&mut self, port: &PortChoice, from: &FxHashSet<u32>) -> Read<String> {
        let mut params = port.params.clone();
        for (key, names) in &port.by_node {
            let (mut by_id, empty) = (Map::new(), Map::new());
            let by_name = params.get(&**key).and_then(Json::as_object).unwrap_or(&empty);
            for (name, span) in names {
                let node = self.topology.names.resolve(name);
                let node = node.map_err(|problem| self.context.error(*span, problem.message, problem.help))?;
                if !from.contains(&node.0) {
                    let message = format!("no port with this arbiter has an input from `{name}`");
                    let help = "name a node that is one link away from such a port";
                    return Err(self.context.error(*span, message, help));
                }
                let value = by_name.get(&**name).cloned().unwrap_or_default();
                if by_id.insert(node.0.to_string(), value).is_some() {
                    let message = format!("`{name}` is a node that has a value already");
                    return Err(self.context.error(*span, message, "remove one of the two names of this node"));
                }
            }
            params.insert(key.to_string(), Json::Object(by_id));
        }
        Ok(Json::Object(params).to_string())
    }
}

fn port(keys: &PacketKeys, direction: Direction) -> Option<&Arc<PortChoice>> {
    let way = match direction {
        Direction::Up => 0,
        Direction::Down => 1,
        Direction::Lateral => 2,
    };
    keys.ports[way].as_ref()
}

/// What stands for the policy of a run of packets: nobody asks it for rates.
fn entry(flags: Flags) -> ArbiterEntry {
    ArbiterEntry {
        name: "packet".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        flags,
        says_what_it_reads: true,
        legend: Vec::new(),
        params_schema: "{}".to_owned(),
        origin: Origin::BuiltIn,
        make: Arc::new(|_, _| Ok(Box::new(NoRates) as Box<dyn RateArbiter>)),
        incremental: None,
    }
}

struct NoRates;

impl RateArbiter for NoRates {
    fn allocate(&mut self, _: &PhaseView<'_>, _: &mut Grant<'_>) -> Result<(), CallError> {
        Err(CallError::Refused("packets have no rates".to_owned()))
    }
}
