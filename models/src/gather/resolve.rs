//! A gather with every value resolved: the time of every read and of every message.

use weir_plugin_api::{CallError, Surroundings};

use super::params::{GatherParams, Rounds};
use crate::level::Level;
use crate::operation::{Ends, check_count, refused, route};

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Gather {
    pub(super) nodes: Vec<u32>,
    /// Position of the root among the nodes.
    pub(super) root: usize,
    pub(super) devices: usize,
    /// Bytes of a device.
    pub(super) size: u64,
    pub(super) approach: u8,
    pub(super) rounds: Rounds,
    pub(super) read: Level,
    /// The devices, where they are read over the fabric.
    read_from: Vec<u32>,
    /// Per node and device, that of the first node first: time of the read, ps.
    pub(super) reads: Vec<f64>,
    pub(super) network: Option<Level>,
    /// Per node: time of a message to the root, ps; 0 for the root.
    pub(super) messages: Vec<f64>,
}

impl Gather {
    pub(super) fn of(params: &GatherParams, surroundings: &Surroundings<'_>) -> Result<Self, CallError> {
        let (nodes, root) = nodes(params)?;
        if !matches!(params.approach, 1..=3) {
            return Err(refused("approach: give 1, 2 or 3"));
        }
        if params.devices_per_node == 0 {
            return Err(refused("devices_per_node: give 1 or more"));
        }
        let tasks = params.devices_per_node.saturating_mul(2 * nodes.len() as u64 + 1);
        check_count(tasks, "devices_per_node: give fewer devices or nodes")?;
        let network = params.network.as_ref().map(|level| level.level("network")).transpose()?;
        if let Some(devices) = &params.devices
            && devices.0.len() as u64 != params.devices_per_node.saturating_mul(nodes.len() as u64)
        {
            let (given, per) = (devices.0.len(), params.devices_per_node);
            return Err(refused(format!(
                "devices: {given} are named, and {} nodes have {per} each; name all, or set `devices_per_node`",
                nodes.len()
            )));
        }
        let mut gather = Self {
            nodes,
            root,
            devices: params.devices_per_node as usize,
            size: params.size_per_device.0,
            approach: params.approach,
            rounds: params.rounds.unwrap_or_default(),
            read: params.read.level("read")?,
            read_from: Vec::new(),
            reads: Vec::new(),
            network,
            messages: Vec::new(),
        };
        gather.find_reads(params, surroundings)?;
        gather.find_messages(surroundings)?;
        Ok(gather)
    }

    /// Bytes of one message to the root.
    pub(super) fn message(&self) -> u64 {
        if self.approach == 3 { self.size.saturating_mul(self.devices as u64) } else { self.size }
    }

    /// Where the bytes of a read come from and go to.
    pub(super) fn read_ends(&self, node: usize, device: usize) -> Ends {
        let from = self.read_from.get(node * self.devices + device).copied();
        Ends::new(from.unwrap_or(self.nodes[node]), self.nodes[node])
    }

    fn find_reads(&mut self, params: &GatherParams, surroundings: &Surroundings<'_>) -> Result<(), CallError> {
        let count = self.nodes.len() * self.devices;
        if !self.read.is_fabric() {
            self.reads = vec![self.read.time(self.size, None)?; count];
            return Ok(());
        }
        let devices = params.devices.as_ref().ok_or_else(|| {
            refused("devices: they are read over the fabric; name them, those of the first node first")
        })?;
        self.read_from.clone_from(&devices.0);
        for node in 0..self.nodes.len() {
            for device in 0..self.devices {
                let route =
                    route(surroundings, self.read_ends(node, device), "read.fabric", "from a device to its node")?;
                self.reads.push(self.read.time(self.size, Some(&route))?);
            }
        }
        Ok(())
    }

    fn find_messages(&mut self, surroundings: &Surroundings<'_>) -> Result<(), CallError> {
        let root = self.nodes[self.root];
        self.messages = vec![0.0; self.nodes.len()];
        if self.nodes.len() == 1 {
            return Ok(());
        }
        let Some(network) = &self.network else {
            return Err(refused("network: the other nodes need a way to the root; give a level"));
        };
        let bytes = self.message();
        let others = self.nodes.iter().zip(&mut self.messages).filter(|(node, _)| **node != root);
        if !network.is_fabric() {
            let time = network.time(bytes, None)?;
            others.for_each(|(_, message)| *message = time);
            return Ok(());
        }
        for (&node, message) in others {
            let route = route(surroundings, Ends::new(node, root), "network.fabric", "from a node to the root")?;
            *message = network.time(bytes, Some(&route))?;
        }
        Ok(())
    }
}

/// The nodes, each once, and where the root stands among them.
fn nodes(params: &GatherParams) -> Result<(Vec<u32>, usize), CallError> {
    let nodes = params.nodes.0.clone();
    let Some(root) = nodes.iter().position(|&node| node == params.root.0) else {
        return Err(refused("nodes: the root is not among them; add it"));
    };
    let mut sorted = nodes.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(refused("nodes: a node is named twice; name each once"));
    }
    Ok((nodes, root))
}
