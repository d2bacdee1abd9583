//! The packet engine: events of packets, and grants.
//!
//! At one instant everything happens before anything is granted: transfers begin, packets become visible, outputs are free.
//! Then each free output chooses among those that ask and have credit, in the order of links, in rounds until nothing more is
//! granted (packets.md, section 1).

mod build;
mod by_number;
mod changes;
mod choices;
mod credit;
mod cycles;
mod deadlock;
mod dllps;
mod events;
mod fills;
mod grants;
mod parts;
mod queued;
mod reads;
mod repeat;
mod requesters;
mod results;
mod sending;
mod skip;
mod sources;
mod stalls;
mod state;
mod sums;
mod types;
mod wires;

use rustc_hash::FxHashMap;
use weir_plugin_api::{Head, PortArbiter};

use crate::network::Network;
use by_number::ByNumber;
use credit::Credit;
pub use cycles::{CycleGrant, GrantCycle, PortPhase, PortRecord};
use dllps::Dllps;
use events::{Event, Events};
pub use fills::BufferFills;
use grants::Asked;
use parts::{Packet, Port, Queue, Requester, Transfer};
pub use sources::Interleave;
use sources::Source;
pub use stalls::{Held, HeldCause};
pub use types::{LinkCounts, Notice, PacketError, ReadSpec, TransferSpec};

/// No packet, queue or transfer.
const NONE: u32 = u32::MAX;
/// The header is the one that the link has.
const OF_LINK: u16 = u16::MAX;
/// The requests of a read have its number with this bit.
const REQUESTS: u32 = 1 << 31;

/// Transfers under way over a network, packet by packet.
pub struct Engine {
    network: Network,
    /// Links that enter nodes, those of a node beside one another.
    inputs: Vec<u32>,
    /// Routes one after the other, each once and with [`NONE`] behind it; and where they are.
    routes: Vec<u32>,
    route_places: FxHashMap<Box<[u32]>, (u32, u32)>,
    /// Per link: a bit for each requester that asks, and what it asks for.
    asking: Vec<u64>,
    asks: Vec<Asked>,
    arbiters: Vec<Box<dyn PortArbiter>>,
    /// Whether one of them looks at how long packets have waited.
    reads_age: bool,
    /// How often each was asked.
    choices: Vec<u64>,
    ports: Vec<Port>,
    /// Per link and channel.
    credits: Vec<Credit>,
    queues: Vec<Queue>,
    leads: Vec<parts::Lead>,
    sources: Vec<Source>,
    packets: Vec<Packet>,
    free_packets: Vec<u32>,
    /// By number, those that have ended until they are forgotten; the requests of reads are beside them.
    transfers: ByNumber<Transfer>,
    /// When something happened last.
    now: u64,
    active: usize,
    events: Events,
    notices: Events,
    /// Outputs to look at in this instant.
    marked: Vec<u32>,
    /// Of these, where sources wait for a reason that is not known yet.
    unexplained: Vec<u32>,
    /// Those among whom an arbiter chose.
    heads: Vec<Head>,
    /// The slots that the output that is looked at could serve.
    candidates: Vec<u32>,
    offers: Vec<grants::Offer>,
    /// Of each of these, whether its input takes another one; only where inputs may have several offers.
    declined: Vec<bool>,
    may_decline: bool,
    /// Whether some input has a queue for each output.
    has_voq: bool,
    hops: u64,
    /// Nodes with one queue at which a transfer has begun in this instant.
    unfilled: Vec<u32>,
    most_hops: u64,
    most_packets: usize,
    periods: skip::Periods,
    /// Per link: when DLLPs are due that have not begun, ascending.
    dllps: Vec<Dllps>,
    has_dllps: bool,
    /// What ports do, and how full buffers are, where that is recorded.
    cycles: Option<Box<cycles::Cycles>>,
    fills: Option<Box<fills::Fills>>,
}

impl Engine {
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
        let (node, engine) = (self.ports[transfer.first as usize].wire.from, transfer.engine);
        self.transfers.insert(id, transfer);
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
            self.source_ready(now, now, node, id);
        }
        Ok(())
    }

    /// A transfer, or the requests of one, at an engine of its source.
    fn begin(&mut self, now: u64, id: u32, spec: &TransferSpec<'_>) -> Result<Transfer, PacketError> {
        let Some(&first) = spec.route.first() else { return Err(PacketError::Engines { transfer: id }) };
        let node = self.ports[first as usize].wire.from;
        let Some(engine) = self.sources[node as usize].begin(id) else {
            return Err(PacketError::Engines { transfer: id & !REQUESTS });
        };
        Ok(Transfer {
            route: self.place_of_route(spec.route),
            first,
            bytes: spec.bytes,
            left: spec.bytes,
            missing: spec.bytes,
            payload: self.ports[first as usize].wire.payload,
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
            opened: 0,
            ready: now,
            is_asking: false,
            held: stalls::Log::default(),
            queued: None,
            read: None,
        })
    }

    /// Forgets a transfer that has ended, so that memory does not grow with how many there were.
    pub fn forget(&mut self, id: u32) {
        self.transfers.remove(id);
        self.transfers.remove(id | REQUESTS);
    }

    /// When something happened last, ps.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Whether nothing will happen unless a transfer is admitted.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.events.is_empty() && self.notices.is_empty()
    }

    /// When something happens next, ps; [`u64::MAX`] for not any more, or later than can be told.
    #[must_use]
    pub fn next_time(&self) -> u64 {
        self.events.next_time().min(self.notices.next_time())
    }

    /// Goes on until the next notice is due, or to the last instant before `until`. Returns when the next notice is due
    /// ([`u64::MAX`] for none). `halt` is asked now and then, and ends it early.
    ///
    /// # Errors
    /// [`PacketError`]: a deadlock, a wrong answer of an arbiter, too many hops or packets in buffers.
    pub fn advance(&mut self, until: u64, halt: &dyn Fn() -> bool) -> Result<u64, PacketError> {
        let mut steps = 0_u32;
        loop {
            let (next, notice) = (self.events.next_time(), self.notices.next_time());
            if notice <= next || next >= until {
                if self.is_idle() && until == u64::MAX && self.active > 0 {
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
        self.fill_queues(now);
        self.grant(now)?;
        if self.packets.len() > self.most_packets {
            return Err(PacketError::InBuffers { most: self.most_packets });
        }
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
                self.end_port_phase(time);
                self.active -= 1;
                Some((time, Notice::Ended(id)))
            }
            _ => None,
        }
    }

    fn transfer(&self, id: u32) -> &Transfer {
        self.transfers.get(id).expect("a transfer under way")
    }

    fn transfer_mut(&mut self, id: u32) -> &mut Transfer {
        self.transfers.get_mut(id).expect("a transfer under way")
    }

    /// The transfers that have not come, ascending, without the requests of reads.
    fn left(&self) -> Vec<u32> {
        let left = self.transfers.iter().filter(|(id, own)| *id < REQUESTS && own.missing > 0);
        let mut left: Vec<u32> = left.map(|(id, _)| id).collect();
        left.sort_unstable();
        left
    }

    /// Where a route is in the list of routes.
    fn place_of_route(&mut self, route: &[u32]) -> (u32, u32) {
        if let Some(&place) = self.route_places.get(route) {
            return place;
        }
        let start = self.routes.len() as u32;
        self.routes.extend_from_slice(route);
        self.routes.push(NONE);
        let place = (start, self.routes.len() as u32);
        self.route_places.insert(route.into(), place);
        place
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
