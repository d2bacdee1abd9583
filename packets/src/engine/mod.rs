//! The packet engine: events of packets, and grants.
//!
//! At one instant everything happens before anything is granted: transfers begin, packets become visible, outputs are free.
//! Then each free output chooses among those that ask and have credit, in the order of links, in rounds until nothing more is
//! granted (packets.md, section 1).

mod changes;
mod choices;
mod credit;
mod cycles;
mod deadlock;
mod dllps;
mod events;
mod fills;
mod grants;
mod queued;
mod reads;
mod requesters;
mod results;
mod sending;
mod skip;
mod sources;
mod stalls;
mod sums;
mod types;
mod wires;

use std::collections::VecDeque;

use weir_plugin_api::{Head, PortArbiter};

use crate::network::Network;
use credit::Credit;
pub use cycles::{CycleGrant, GrantCycle, PortPhase, PortRecord};
use events::{Event, Events};
pub use fills::BufferFills;
pub use sources::Interleave;
use sources::Source;
pub use stalls::{Held, HeldCause};
use sums::LinkSums;
pub use types::{LinkCounts, Notice, PacketError, ReadSpec, TransferSpec};
use wires::Wire;

/// No packet, queue or transfer.
const NONE: u32 = u32::MAX;
/// The header is the one that the link has.
const OF_LINK: u16 = u16::MAX;
/// The requests of a read have its number with this bit.
const REQUESTS: u32 = 1 << 31;

/// A packet in a buffer.
#[derive(Clone, Copy, Debug)]
struct Packet {
    /// When it can be sent on, ps.
    visible: u64,
    /// When it was ready at its source, ps.
    ready: u64,
    transfer: u32,
    /// Bytes of payload that have not been sent on.
    payload: u32,
    /// The packet behind it.
    next: u32,
    /// The link that it waits for, and where in the list of routes that is.
    out: u32,
    place: u32,
    channel: u16,
    /// Bytes of header, or [`OF_LINK`].
    header: u16,
    /// Nothing of its transfer comes behind it.
    is_last: bool,
}

/// Packets of one input and channel, and under `voq` of one output.
#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u32,
    last: u32,
}

/// A transfer under way.
#[derive(Clone, Debug)]
struct Transfer {
    /// Where its route is in the list of routes, the place after its last link included, and the first link.
    route: (u32, u32),
    first: u32,
    /// Bytes of payload that have no packet yet.
    left: u64,
    /// Bytes of payload that have not come.
    missing: u64,
    /// Of a full packet at its source, bytes.
    payload: u32,
    channel: u16,
    /// Bytes of header of its packets, or [`OF_LINK`].
    header: u16,
    engine: u32,
    priority: i32,
    weight: f64,
    start: u64,
    interval: u64,
    window: u64,
    /// Packets that were granted at the source, and that have come.
    granted: u64,
    come: u64,
    /// Since when its window is full.
    shut: Option<u64>,
    /// When its next packet is ready, and whether it asks to be sent.
    ready: u64,
    is_asking: bool,
    held: stalls::Log,
    /// The longest wait of its last packet in a buffer on the way that is due to others.
    queued: Option<Held>,
    /// What has been asked for, if it is a read.
    read: Option<Box<reads::Asked>>,
}

/// What asks for an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Requester {
    Queue { queue: u32, input: u32 },
    Engine { node: u32, engine: u32 },
}

/// An output: who asks for it, and when it is free.
struct Port {
    free_at: u64,
    /// When it looks again; [`u64::MAX`] for not yet known.
    wake_at: u64,
    /// The transfer that sends, or was last to.
    sending: u32,
    /// The one that sent until `sending` began; [`NONE`] where the link was idle then.
    before: u32,
    /// The last other one that has sent since the link was idle; [`NONE`] for none.
    other: u32,
    /// It begins to send nothing.
    is_down: bool,
    /// Its last packet was a DLLP.
    sent_dllp: bool,
    /// Someone asks who had no credit when it was looked at.
    is_starved: bool,
    /// Since when it has been idle because nobody who asks has credit; [`u64::MAX`] for not at all.
    starved_since: u64,
    is_marked: bool,
    /// Transfers whose packets wait here at their source for a reason that is not known yet.
    unexplained: Vec<u32>,
}

/// Transfers under way over a network, packet by packet.
pub struct Engine {
    network: Network,
    wires: Vec<Wire>,
    /// Links that enter nodes, those of a node beside one another.
    inputs: Vec<u32>,
    /// Routes of transfers one after the other, each with [`NONE`] behind it.
    routes: Vec<u32>,
    /// Per link: a bit for each requester that asks.
    asking: Vec<u64>,
    /// Per link: which of `arbiters` serves it.
    arbiter_of: Box<[u32]>,
    arbiters: Vec<Box<dyn PortArbiter>>,
    /// Whether one of them looks at how long packets have waited.
    reads_age: bool,
    /// How often each was asked.
    choices: Vec<u64>,
    ports: Vec<Port>,
    /// Per link and channel.
    credits: Vec<Credit>,
    queues: Vec<Queue>,
    /// Per link: until when its far end sends; only where inputs are serial.
    input_busy: Vec<u64>,
    /// Per link: the transfer that its far end sent last; only where inputs are serial.
    input_served: Vec<u32>,
    /// Per link: the output that its far end accepted last.
    accepted: Vec<u32>,
    sources: Vec<Source>,
    packets: Vec<Packet>,
    free_packets: Vec<u32>,
    transfers: Vec<Option<Transfer>>,
    /// Of transfers that are reads: their requests.
    requests: Vec<Option<Transfer>>,
    /// When something happened last.
    now: u64,
    active: usize,
    events: Events,
    notices: Events,
    /// Outputs to look at in this instant.
    marked: Vec<u32>,
    /// Outputs that were looked at in this instant.
    seen: Vec<u32>,
    heads: Vec<Head>,
    /// Those of the output that is looked at.
    candidates: Vec<(Requester, grants::Asked)>,
    offers: Vec<grants::Offer>,
    /// Of each of these, whether its input takes another one.
    declined: Vec<bool>,
    /// Per link: what has crossed it.
    sums: Vec<LinkSums>,
    hops: u64,
    most_hops: u64,
    periods: skip::Periods,
    /// Per link: when DLLPs are due that have not begun, ascending.
    dllps: Vec<VecDeque<u64>>,
    /// What ports do, and how full buffers are, where that is recorded.
    cycles: Option<Box<cycles::Cycles>>,
    fills: Option<Box<fills::Fills>>,
}

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
        let port = |_| Port {
            free_at: 0,
            wake_at: u64::MAX,
            sending: NONE,
            before: NONE,
            other: NONE,
            is_down: false,
            sent_dllp: false,
            is_starved: false,
            starved_since: u64::MAX,
            is_marked: false,
            unexplained: Vec::new(),
        };
        let ports = (0..links).map(port).collect();
        let credit = |at: usize| Credit::new(network.links[at / channels].buffer, network.links[at / channels].headers);
        let credits = (0..links * channels).map(credit).collect();
        let queues = wires.last().map_or(0, |last| last.first_queue + last.queues * network.channels);
        let words = wires.last().map_or(0, |last| last.masks.1);
        let sources = network.nodes.iter().map(|node| Source::new(node.engines)).collect();
        Self {
            wires,
            inputs,
            routes: Vec::new(),
            asking: vec![0; words as usize],
            arbiter_of,
            choices: vec![0; arbiters.len()],
            arbiters,
            reads_age: true,
            ports,
            credits,
            queues: vec![Queue { first: NONE, last: NONE }; queues as usize],
            input_busy: vec![0; links],
            input_served: vec![NONE; links],
            accepted: vec![NONE; links],
            sources,
            packets: Vec::new(),
            free_packets: Vec::new(),
            transfers: Vec::new(),
            requests: Vec::new(),
            now: 0,
            active: 0,
            events: Events::default(),
            notices: Events::default(),
            marked: Vec::new(),
            seen: Vec::new(),
            heads: Vec::new(),
            candidates: Vec::new(),
            offers: Vec::new(),
            declined: Vec::new(),
            sums: vec![LinkSums::default(); links],
            hops: 0,
            most_hops: u64::MAX,
            periods: skip::Periods::default(),
            dllps: vec![VecDeque::new(); links],
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

    /// All transfers of a node meet in one queue at its own link.
    pub fn interleave(&mut self, node: u32, how: Interleave) {
        self.sources[node as usize].interleave(how);
    }

    /// Begins to send a transfer at `now`, under a number that no other transfer has. What it does in this instant follows
    /// with [`Self::step`].
    ///
    /// # Errors
    /// [`PacketError::Engines`] where all engines of its source are busy.
    pub fn admit(&mut self, now: u64, id: u32, spec: &TransferSpec<'_>) -> Result<(), PacketError> {
        self.end_port_phase(now);
        let transfer = self.begin(now, id, spec)?;
        let (node, engine) = (self.wires[transfer.first as usize].from, transfer.engine);
        if id as usize >= self.transfers.len() {
            self.transfers.resize_with(id as usize + 1, || None);
        }
        self.transfers[id as usize] = Some(transfer);
        self.active += 1;
        self.periods.forget();
        if spec.bytes == 0 {
            self.sources[node as usize].end(engine, id);
            let latency = spec.route.iter().map(|&link| self.network.links[link as usize].latency).sum::<u64>();
            self.notices.push(now, Event::Sent(id));
            self.notices.push(now.saturating_add(latency), Event::Ended(id));
        } else if let Some(read) = &spec.read {
            self.begin_read(now, id, spec, read)?;
        } else {
            self.source_ready(now, node, id);
        }
        Ok(())
    }

    /// A transfer, or the requests of one, at an engine of its source.
    fn begin(&mut self, now: u64, id: u32, spec: &TransferSpec<'_>) -> Result<Transfer, PacketError> {
        let Some(&first) = spec.route.first() else { return Err(PacketError::Engines { transfer: id }) };
        let node = self.wires[first as usize].from;
        let Some(engine) = self.sources[node as usize].begin(id) else {
            return Err(PacketError::Engines { transfer: id & !REQUESTS });
        };
        let start = self.routes.len() as u32;
        self.routes.extend_from_slice(spec.route);
        self.routes.push(NONE);
        Ok(Transfer {
            route: (start, self.routes.len() as u32),
            first,
            left: spec.bytes,
            missing: spec.bytes,
            payload: self.wires[first as usize].payload,
            channel: spec.channel as u16,
            header: OF_LINK,
            engine,
            priority: spec.priority,
            weight: spec.weight,
            start: now,
            interval: spec.interval,
            window: spec.window.unwrap_or(u64::MAX),
            granted: 0,
            come: 0,
            shut: None,
            ready: now,
            is_asking: false,
            held: stalls::Log::default(),
            queued: None,
            read: None,
        })
    }

    /// When something happened last, ps.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Whether nothing will happen unless a transfer is admitted.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.events.next_time() == u64::MAX && self.notices.next_time() == u64::MAX
    }

    /// Goes on until the next notice is due, or to the last instant before `until`. Returns when the next notice is due
    /// ([`u64::MAX`] for none). `halt` is asked now and then, and ends it early.
    ///
    /// # Errors
    /// [`PacketError`]: a deadlock, a wrong answer of an arbiter, too many hops.
    pub fn advance(&mut self, until: u64, halt: &dyn Fn() -> bool) -> Result<u64, PacketError> {
        let mut steps = 0_u32;
        loop {
            let (next, notice) = (self.events.next_time(), self.notices.next_time());
            if notice <= next || next >= until {
                if next == u64::MAX && notice == u64::MAX && until == u64::MAX && self.active > 0 {
                    return Err(PacketError::Deadlock { cycle: self.cycle() });
                }
                return Ok(notice);
            }
            self.step(next)?;
            self.look_for_periods(next, until)?;
            steps = steps.wrapping_add(1);
            if steps.is_multiple_of(4096) && halt() {
                return Ok(notice);
            }
        }
    }

    /// Does what is due at `now`: events, then grants.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn step(&mut self, now: u64) -> Result<(), PacketError> {
        self.now = now;
        while let Some(event) = self.events.pop_due(now) {
            self.happen(now, event);
        }
        self.grant(now)?;
        if self.hops > self.most_hops { Err(PacketError::Hops { most: self.most_hops }) } else { Ok(()) }
    }

    /// The next notice that is due by `now`, in the order of times.
    pub fn take_notice(&mut self, now: u64) -> Option<(u64, Notice)> {
        let time = self.notices.next_time();
        if time > now {
            return None;
        }
        match self.notices.pop_due(time)? {
            Event::Sent(id) => Some((time, Notice::Sent(id))),
            Event::Ended(id) => {
                self.active -= 1;
                Some((time, Notice::Ended(id)))
            }
            _ => None,
        }
    }

    fn transfer(&self, id: u32) -> &Transfer {
        let list = if id < REQUESTS { &self.transfers } else { &self.requests };
        list[(id & !REQUESTS) as usize].as_ref().expect("a transfer under way")
    }

    fn transfer_mut(&mut self, id: u32) -> &mut Transfer {
        let list = if id < REQUESTS { &mut self.transfers } else { &mut self.requests };
        list[(id & !REQUESTS) as usize].as_mut().expect("a transfer under way")
    }

    /// The links of a transfer's route.
    fn route(&self, id: u32) -> &[u32] {
        let (start, end) = self.transfer(id).route;
        &self.routes[start as usize..end as usize - 1]
    }

    fn new_packet(&mut self, packet: Packet) -> u32 {
        if let Some(free) = self.free_packets.pop() {
            self.packets[free as usize] = packet;
            return free;
        }
        self.packets.push(packet);
        self.packets.len() as u32 - 1
    }
}
