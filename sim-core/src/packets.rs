//! Transfers that go packet by packet: the packet engine as a mover of bytes.

mod alone;
mod causes;
mod network;
mod settings;

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;
use weir_packets::{BufferFills, Engine, Notice, PacketError, PortPhase, TransferSpec};
use weir_plugin_api::{ClassId, Flags, HORIZON, LinkId, SimDuration, SimTime};

use crate::changes::{ChangeCursor, LinkChange, LinkChangeTotals, LinkStep};
use crate::classes::Carriage;
use crate::flows::Ended;
use crate::mover::TransferState;
use crate::outcome::{LinkTotals, SimError};
use crate::progress::time_to_send;
use crate::setup::{RunOptions, Simulation};
use crate::store::NO_BOTTLENECK;
use crate::stream::Census;
use crate::tasks::TaskId;

pub use alone::packet_time_alone;
pub use causes::cause_of;
pub use settings::{PacketSettings, PortPolicy, ReadSettings};

/// What packets did in a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PacketCounts {
    /// Links crossed by packets, those skipped included.
    pub hops: u64,
    /// Those that were skipped.
    pub skipped_hops: u64,
    /// Most packets in buffers of switches or on their way there at one time.
    pub most_packets: u64,
    /// A digest of all grants.
    pub fingerprint: u64,
    /// Per directed link.
    pub links: Vec<PacketLinkTotals>,
    /// What contended ports did, where [`RunOptions::explain`] asked for it. Transfers are task ids.
    pub phases: Option<Vec<PortPhase>>,
    /// How full input buffers were over time, where [`RunOptions::buffers`] asked for it.
    pub fills: Option<BufferFills>,
}

/// Packets that crossed a directed link.
pub use weir_packets::LinkCounts as PacketLinkTotals;

/// The packet engine with the tasks that it serves.
pub(crate) struct Packets<'a> {
    simulation: Simulation<'a>,
    settings: &'a PacketSettings,
    engine: Engine,
    next_end: SimTime,
    arrived: Vec<TransferState>,
    /// Transfers that have begun and not arrived, with their payload; looked up, and counted.
    under_way: FxHashMap<u32, (ClassId, u64)>,
    /// Channels that are used, ascending: packets have their places here.
    channels: Vec<u8>,
    /// What went wrong when a transfer began; told at the end of the instant.
    failed: Option<PacketError>,
    /// Where links change.
    changes: Option<ChangeCursor<'a>>,
}

/// Most packets in buffers at once, about 1.5 GB; *assumed*. Only buffers that are never full hold as many.
const MOST_PACKETS: usize = 1 << 24;
/// Less than this is as good as nothing, and no wire has it: bytes per second (*assumed*).
const LEAST_BANDWIDTH: f64 = 1.0;

impl<'a> Packets<'a> {
    pub(crate) fn new(
        simulation: &Simulation<'a>,
        census: Option<&Census>,
        settings: &'a PacketSettings,
        options: &RunOptions<'a>,
    ) -> Result<Self, SimError> {
        let census = census.map_or_else(|| Cow::Owned(Census::of(simulation.tasks)), Cow::Borrowed);
        let network = settings.network(simulation, &census);
        let (network, channels) = network.map_err(|error| failed(SimTime(0), error.into()))?;
        let fabric = simulation.fabric.view();
        let make = |policy: &PortPolicy| {
            let refused = |error| PacketError::Refused { arbiter: policy.name.clone(), error };
            (policy.make)(&fabric, &policy.params).map_err(|error| failed(SimTime(0), refused(error)))
        };
        let policies = settings.policies.iter().map(make).collect::<Result<_, _>>()?;
        let engine = Engine::new(network, policies, settings.policy_of.clone());
        let reads_age = settings.policies.iter().any(|policy| policy.flags.contains(Flags::READS_ARRIVAL));
        let engine = if reads_age { engine } else { engine.without_ages() };
        let engine = engine.with_most_hops(options.most_hops.unwrap_or(settings.most_hops));
        let engine = engine.with_most_packets(MOST_PACKETS);
        let engine = if settings.skips { engine } else { engine.without_skipping() };
        let engine = if options.explain { engine.with_cycles() } else { engine };
        let mut engine = if options.buffers { engine.with_fills() } else { engine };
        settings.interleaves.iter().for_each(|(node, how)| engine.interleave(node.0, *how));
        Ok(Self {
            simulation: *simulation,
            settings,
            engine,
            next_end: SimTime::NEVER,
            arrived: Vec::new(),
            under_way: FxHashMap::default(),
            channels,
            failed: None,
            changes: options
                .changing
                .map(|changing| ChangeCursor::new(changing.links, simulation.fabric).with_all_steps()),
        })
    }

    pub(crate) fn admit(&mut self, now: SimTime, task: TaskId, class: ClassId, bytes: u64) {
        let (routes, classes) = (self.simulation.routes, &self.simulation.tasks.classes);
        let route: Vec<u32> = routes.links(classes.route(class)).iter().map(|link| link.0).collect();
        let table = classes.table();
        let carriage = classes.carriage(class);
        let [requests, channel] = channels_of(carriage).map(|own| self.channels.partition_point(|&c| c < own) as u32);
        let back = requests_over(&route);
        let spec = TransferSpec {
            bytes,
            route: &route,
            channel,
            priority: packet_priority(table.priority[class.index()]),
            weight: table.weight[class.index()],
            interval: interval(self.settings, route[0], classes.limit(class)),
            window: self.settings.window,
            read: carriage.is_read.then(|| self.settings.reads.spec(&back, requests)),
        };
        self.under_way.insert(task.0, (class, bytes));
        if let Err(error) = self.engine.admit(now.0, task.0, &spec) {
            self.failed.get_or_insert(error);
        }
    }

    pub(crate) fn advance(&mut self, now: SimTime, until: SimTime, options: &RunOptions<'_>) -> Result<(), SimError> {
        let halt = || options.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed));
        let limit = until.0.min(options.until.0.saturating_add(1));
        let limit = limit.min(self.next_change().0).min(HORIZON.0 + 1);
        let mut next = self.engine.advance(limit, &halt).map_err(|error| self.failed(error))?;
        if until.is_never() && self.next_change().is_never() && self.engine.is_idle() {
            // Nothing happens any more, at whatever time: the engine tells a deadlock from an end.
            next = self.engine.advance(u64::MAX, &halt).map_err(|error| self.failed(error))?;
        }
        if let Some(error) = self.beyond_horizon(until, options) {
            return Err(error);
        }
        self.next_end = match next {
            // The run ends here: it was stopped, or the next end comes after the last instant.
            u64::MAX if halt() => now,
            u64::MAX if !self.under_way.is_empty() => SimTime(options.until.0.saturating_add(1)),
            next => SimTime(next),
        };
        Ok(())
    }

    /// Nothing more happens within the horizon, and something later.
    fn beyond_horizon(&self, until: SimTime, options: &RunOptions<'_>) -> Option<SimError> {
        let waits = !self.under_way.is_empty() && !self.engine.is_idle() && self.engine.next_time() > HORIZON.0;
        if !waits || !until.is_never() || options.until <= HORIZON || !self.next_change().is_never() {
            return None;
        }
        let tasks = self.engine.under_way().into_iter().map(TaskId).collect();
        Some(SimError::BeyondHorizon { time: SimTime(self.engine.now()), tasks })
    }

    /// At the last instant at which something happened. Where packets wait for a link that stays down, it is that.
    fn failed(&self, error: PacketError) -> SimError {
        let time = SimTime(self.engine.now());
        let down = |link: &LinkId| self.engine.waits_for(link.0);
        let links = (0..self.settings.links.len()).map(LinkId::from_index);
        match (&error, links.filter(|_| self.changes.is_some()).find(down)) {
            (PacketError::Deadlock { .. }, Some(link)) => {
                SimError::StaysDown { time, link, waiting: self.engine.under_way().into_iter().map(TaskId).collect() }
            }
            _ => failed(time, error),
        }
    }

    /// When links change next in a way that matters to a transfer; [`SimTime::NEVER`] for not any more.
    pub(crate) fn next_change(&self) -> SimTime {
        let Some(changes) = self.changes.as_ref().filter(|_| !self.under_way.is_empty()) else { return SimTime::NEVER };
        if self.engine.is_idle() {
            // Packets wait for links that come up, or for each other, whatever links do.
            let links = (0..self.settings.links.len()).map(LinkId::from_index);
            let mut waited = links.filter(|link| self.engine.waits_for(link.0)).peekable();
            if waited.peek().is_none() || waited.any(|link| !changes.may_rise(link)) {
                return SimTime::NEVER;
            }
        }
        changes.next_time()
    }

    /// Changes the links that change at `now`.
    pub(crate) fn change_links(&mut self, now: SimTime) -> Result<(), SimError> {
        let Some(changes) = self.changes.as_mut().filter(|changes| changes.next_time() <= now) else { return Ok(()) };
        for LinkChange { link, bandwidth, .. } in changes.take(now, self.simulation.fabric)? {
            let rate = (bandwidth > 0.0).then(|| self.settings.rate_of(link, bandwidth.max(LEAST_BANDWIDTH)));
            self.engine.change_link(now.0, link.0, rate.flatten());
        }
        Ok(())
    }

    /// The links that have changed until `now`.
    pub(crate) fn link_changes(&self, now: SimTime) -> Vec<LinkChangeTotals> {
        self.changes.as_ref().map_or_else(Vec::new, |changes| changes.totals(now))
    }

    /// What links carried from when on.
    pub(crate) fn link_steps(&self) -> Vec<LinkStep> {
        self.changes.as_ref().map_or_else(Vec::new, |changes| changes.log())
    }

    pub(crate) fn next_end(&self) -> SimTime {
        self.next_end
    }

    pub(crate) fn take_ended(&mut self, now: SimTime, out: &mut Vec<Ended>) {
        while let Some((_, notice)) = self.engine.take_notice(now.0) {
            match notice {
                Notice::Sent(id) => {
                    let (task, Some(&(class, bytes))) = (TaskId(id), self.under_way.get(&id)) else { continue };
                    out.push(Ended { task, class, bytes, bottleneck: self.bottleneck(now, task), rerouted: None });
                }
                Notice::Ended(id) => {
                    let state = self.state(now, TaskId(id));
                    self.arrived.extend(state);
                    self.under_way.remove(&id);
                    self.engine.forget(id);
                }
            }
        }
    }

    /// What is known of a transfer that is under way.
    fn state(&self, now: SimTime, task: TaskId) -> Option<TransferState> {
        let &(_, bytes) = self.under_way.get(&task.0)?;
        let sent_bytes = self.engine.sent_bytes(task.0, bytes);
        let has_sent = sent_bytes > 0 || bytes == 0;
        let bottleneck = if has_sent { self.bottleneck(now, task) } else { NO_BOTTLENECK };
        Some(TransferState { task, sent_bytes, bottleneck, held: self.engine.held(task.0, now.0) })
    }

    pub(crate) fn take_arrived(&mut self) -> Vec<TransferState> {
        std::mem::take(&mut self.arrived)
    }

    /// Does what is due at `now`, with the transfers that have begun.
    pub(crate) fn step(&mut self, now: SimTime) -> Result<(), SimError> {
        if let Some(error) = self.failed.take() {
            return Err(failed(now, error));
        }
        self.engine.step(now.0).map_err(|error| failed(now, error))
    }

    pub(crate) fn len(&self) -> usize {
        self.under_way.len()
    }

    pub(crate) fn close(&self, now: SimTime) -> Vec<TransferState> {
        let mut tasks: Vec<u32> = self.under_way.keys().copied().collect();
        tasks.sort_unstable();
        tasks.into_iter().filter_map(|task| self.state(now, TaskId(task))).collect()
    }

    /// The last instant that packets have come to.
    pub(crate) fn reached(&self) -> SimTime {
        SimTime(self.engine.reached())
    }

    pub(crate) fn link_totals(&self, now: SimTime) -> Vec<LinkTotals> {
        let of =
            |counts: PacketLinkTotals| LinkTotals { bytes: counts.payload, busy: SimDuration(counts.busy), peak: None };
        self.engine.counts(now.0).into_iter().map(of).collect()
    }

    pub(crate) fn counts(&mut self, now: SimTime) -> PacketCounts {
        PacketCounts {
            hops: self.engine.hops(),
            skipped_hops: self.engine.skipped_hops(),
            most_packets: self.engine.most_packets() as u64,
            fingerprint: self.engine.fingerprint(),
            links: self.engine.counts(now.0),
            phases: self.engine.port_phases(now.0),
            fills: self.engine.buffer_fills(now.0),
        }
    }
}

/// The channels of requests and of data: each virtual channel has one for writes, for requests, and for their answers, as
/// PCIe has.
fn channels_of(carriage: Carriage) -> [u8; 2] {
    let first = 3 * carriage.channel;
    if carriage.is_read { [first + 1, first + 2] } else { [first, first] }
}

/// The way back: directed links come in pairs.
fn requests_over(route: &[u32]) -> Vec<u32> {
    route.iter().rev().map(|link| link ^ 1).collect()
}

fn failed(time: SimTime, error: PacketError) -> SimError {
    SimError::Packets { time, error }
}

/// A priority as port arbiters see it: in 32 bits. Scenarios give none beyond.
fn packet_priority(priority: i64) -> i32 {
    priority.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// Picoseconds between packets of a limited transfer; 0 without a limit.
fn interval(settings: &PacketSettings, first: u32, limit: f64) -> u64 {
    if limit.is_finite() {
        time_to_send(f64::from(settings.links[first as usize].payload), limit, SimDuration::ZERO).0
    } else {
        0
    }
}
