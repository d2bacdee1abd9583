//! Engines, and how they run.

use rustc_hash::FxHashMap;
use weir_plugin_api::PortArbiter;

use super::by_number::ByNumber;
use super::credit::Credit;
use super::dllps::Dllps;
use super::events::Events;
use super::grants::Asked;
use super::parts::{Lead, Port, Queue};
use super::sources::Source;
use super::{Engine, NONE, skip, wires};
use crate::network::Network;

impl Engine {
    /// An engine without transfers. `arbiter_of` has for each link its place in `arbiters`.
    ///
    /// # Panics
    /// If `arbiter_of` is not of the links of the network.
    #[must_use]
    pub fn new(network: Network, arbiters: Vec<Box<dyn PortArbiter>>, arbiter_of: Box<[u32]>) -> Self {
        let links = network.links.len();
        assert_eq!(arbiter_of.len(), links, "an arbiter for each link");
        let channels = network.channels as usize;
        let (wires, inputs) = wires::wires(&network);
        let may_decline = wires.iter().any(|wire| wire.is_serial && wire.queues * network.channels > 1);
        let has_voq = wires.iter().any(|wire| wire.queues > 1);
        let has_dllps = network.links.iter().any(|link| link.dllp > 0);
        let credit = |at: usize| Credit::new(network.links[at / channels].buffer, network.links[at / channels].headers);
        let credits = (0..links * channels).map(credit).collect();
        let queues = wires.last().map_or(0, |last| last.first_queue + last.queues * network.channels);
        let words = wires.last().map_or(0, |last| last.masks.1);
        let slots = wires.last().map_or(0, |last| last.first_slot + last.stride * network.channels);
        let sources = network.nodes.iter().map(|node| Source::new(node.engines)).collect();
        Self {
            inputs,
            routes: Vec::new(),
            route_places: FxHashMap::default(),
            asking: vec![0; words as usize],
            asks: vec![Asked::NOTHING; slots as usize],
            choices: vec![0; arbiters.len()],
            arbiters,
            reads_age: true,
            ports: wires.into_iter().zip(arbiter_of).map(|(wire, arbiter)| Port::idle(wire, arbiter)).collect(),
            credits,
            queues: vec![Queue { first: NONE, last: NONE }; queues as usize],
            leads: vec![Lead::NONE; queues as usize],
            sources,
            packets: Vec::new(),
            free_packets: Vec::new(),
            transfers: ByNumber::default(),
            now: 0,
            active: 0,
            events: Events::default(),
            notices: Events::default(),
            marked: Vec::new(),
            unexplained: Vec::new(),
            heads: Vec::new(),
            candidates: Vec::new(),
            offers: Vec::new(),
            declined: Vec::new(),
            may_decline,
            has_voq,
            hops: 0,
            unfilled: Vec::new(),
            most_hops: u64::MAX,
            most_packets: usize::MAX,
            periods: skip::Periods::default(),
            dllps: vec![Dllps::default(); links],
            has_dllps,
            cycles: None,
            fills: None,
            network,
        }
    }

    /// Ends the run with an error after this many hops.
    #[must_use]
    pub fn with_most_hops(mut self, most: u64) -> Self {
        self.most_hops = most;
        self
    }

    /// Ends the run with an error where more packets are in buffers at once.
    #[must_use]
    pub fn with_most_packets(mut self, most: usize) -> Self {
        self.most_packets = most;
        self
    }

    /// No arbiter looks at when packets were ready or became visible: periods are found sooner.
    #[must_use]
    pub fn without_ages(mut self) -> Self {
        self.reads_age = false;
        self
    }

    /// Simulates every packet, also of transfers that have come into a period.
    #[must_use]
    pub fn without_skipping(mut self) -> Self {
        self.periods = skip::Periods::off();
        self
    }
}
