//! How transfers become packets: what a run of packets is made of.

use weir_packets::{Interleave, LinkSettings, NodeSettings, ReadSpec, WireRate};
use weir_plugin_api::{Flags, LinkId, MakePort, NodeId, SimDuration};

use crate::classes::Carriage;
use crate::fabric::Fabric;

/// A port arbiter that runs are made with.
#[derive(Clone)]
pub struct PortPolicy {
    /// Its name in the registry.
    pub name: String,
    /// What it reads.
    pub flags: Flags,
    /// Makes an instance.
    pub make: MakePort,
    /// Its parameters, a JSON object.
    pub params: String,
}

impl std::fmt::Debug for PortPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PortPolicy").field("name", &self.name).field("params", &self.params).finish_non_exhaustive()
    }
}

/// How transfers become packets, and which ports serve whom.
#[derive(Clone, Debug)]
pub struct PacketSettings {
    /// Per directed link.
    pub links: Vec<LinkSettings>,
    /// Per directed link: whether its bandwidth counts headers, too.
    pub counts_headers: Vec<bool>,
    /// Per node; how many transfers start there at once follows from the tasks.
    pub nodes: Vec<NodeSettings>,
    /// The port arbiters.
    pub policies: Vec<PortPolicy>,
    /// Per directed link: which of them serves it.
    pub policy_of: Box<[u32]>,
    /// Nodes whose transfers take turns in another order than round robin.
    pub interleaves: Vec<(NodeId, Interleave)>,
    /// Packets under way for each transfer at most.
    pub window: Option<u64>,
    /// How reads ask for data.
    pub reads: ReadSettings,
    /// Whether transfers that have come into a period are moved on at once; results are the same.
    pub skips: bool,
    /// Links crossed by packets at most, skipped ones apart.
    pub most_hops: u64,
}

impl PacketSettings {
    /// The same on a fabric with the same links, whose bandwidths may differ. One that no wire has leaves a link as it is.
    #[must_use]
    pub fn on(&self, fabric: &Fabric) -> Self {
        let mut settings = self.clone();
        for (id, (own, link)) in settings.links.iter_mut().zip(fabric.links()).enumerate() {
            own.rate = self.rate_of(LinkId::from_index(id), link.bandwidth).unwrap_or(own.rate);
        }
        settings
    }

    /// What the wire of a link carries that has a bandwidth, bytes per second; `None` outside of [1, 10^18).
    #[must_use]
    pub fn rate_of(&self, link: LinkId, bandwidth: f64) -> Option<WireRate> {
        let own = &self.links[link.index()];
        match self.counts_headers[link.index()] {
            true => WireRate::wire(bandwidth),
            false => WireRate::goodput(bandwidth, own.payload, own.header),
        }
    }

    /// Bytes that a transfer over a route with this first link puts there, headers included.
    pub(crate) fn wire_bytes(&self, first: LinkId, carriage: Carriage, bytes: u64) -> u64 {
        let own = &self.links[first.index()];
        let header = if carriage.is_read { u32::from(self.reads.completion_header) } else { own.header };
        bytes + u64::from(header) * self.packets(first, carriage, bytes)
    }

    /// Packets of a transfer over a route with this first link, where it starts.
    #[must_use]
    pub fn packets(&self, first: LinkId, carriage: Carriage, bytes: u64) -> u64 {
        let payload = self.links[first.index()].payload;
        if carriage.is_read { self.reads.packets(bytes, payload) } else { bytes.div_ceil(u64::from(payload)) }
    }
}

/// How the destinations of reads ask for data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadSettings {
    /// Bytes that a request asks for.
    pub request: u32,
    /// Requests of a transfer at most that have not been answered in full.
    pub tags: u32,
    /// From when a request has come to its answer.
    pub service: SimDuration,
    /// Bytes of header of the packets that answer.
    pub completion_header: u16,
}

impl ReadSettings {
    pub(super) fn spec<'r>(&self, route: &'r [u32], channel: u32) -> ReadSpec<'r> {
        let Self { request, tags, service, completion_header: header } = *self;
        ReadSpec { route, channel, request, tags, service: service.0, header }
    }

    /// Packets that answer a read: none belongs to two requests.
    #[must_use]
    pub fn packets(&self, bytes: u64, payload: u32) -> u64 {
        let (request, payload) = (u64::from(self.request), u64::from(payload));
        bytes / request * request.div_ceil(payload) + (bytes % request).div_ceil(payload)
    }
}
