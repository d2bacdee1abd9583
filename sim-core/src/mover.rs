//! The ways of moving bytes, behind one interface; they know nothing of each other.
//!
//! | | what it takes | an event costs |
//! |---|---|---|
//! | [`Flows`] | any arbiter | the transfers connected to the change |
//! | [`Incremental`] | a policy whose answers are changes, without phases | the links and bundles whose share changes |
//! | [`Packets`] | no policy of rates: port arbiters | one link crossed by one packet |

use std::borrow::Cow;

use weir_packets::Held;
use weir_plugin_api::{CallError, ClassId, Flags, RateArbiter, SimTime};

use crate::answer::AnswerError;
use crate::changes::{LinkChangeTotals, LinkStep, Reroute};
use crate::flows::{Ended, Flows};
use crate::incremental::{Incremental, IncrementalRequest};
use crate::outcome::{Bottleneck, LinkTotals, RemarkCount, SimError};
use crate::packets::{PacketCounts, Packets};
use crate::setup::{RunOptions, Sharing, Simulation};
use crate::stream::Census;
use crate::tasks::TaskId;

/// What is known of a transfer that has arrived, or that a run which stops leaves behind.
#[derive(Debug)]
pub(crate) struct TransferState {
    pub(crate) task: TaskId,
    pub(crate) sent_bytes: u64,
    pub(crate) bottleneck: Bottleneck,
    /// Why its source had to wait, if packets did.
    pub(crate) held: Vec<Held>,
}

/// What moves the bytes of a run.
pub(crate) enum Mover<'a> {
    /// Transfer by transfer, at the arbiter's rates.
    Plain(Box<Flows<'a>>),
    /// By a policy whose answers are changes, class by class.
    Incremental(Box<Incremental<'a>>),
    /// Packet by packet.
    Packets(Box<Packets<'a>>),
}

impl<'a> Mover<'a> {
    /// The way for a run: incremental where the options allow it, the run is large, nobody needs rates by phase, and
    /// the numbers fit. The census is that of a stream; else the tasks are counted.
    pub(crate) fn new(
        simulation: &Simulation<'a>,
        census: Option<&Census>,
        arbiter: &'a mut dyn RateArbiter,
        flags: Flags,
        options: &RunOptions<'a>,
    ) -> Result<Self, SimError> {
        let Simulation { fabric, routes, tasks } = *simulation;
        if let Sharing::Packets(settings) = options.sharing {
            return Ok(Self::Packets(Box::new(Packets::new(simulation, census, settings, options)?)));
        }
        if options.phases || options.explain || options.changing.is_some() {
            tracing::debug!("phase by phase: phases are recorded, or links change");
        } else {
            let made = incremental(simulation, census, flags, options.sharing);
            if let Some(incremental) = made.map_err(|error| failed(SimTime(0), error))? {
                return Ok(Self::Incremental(Box::new(incremental)));
            }
        }
        let flows = Flows::new(fabric, routes, &tasks.classes, arbiter, flags);
        Ok(Self::Plain(Box::new(flows.with_changes(options.changing))))
    }

    /// Adds a transfer whose bytes flow from `now` on, at the rate of the next [`Self::arbitrate`].
    pub(crate) fn admit(&mut self, now: SimTime, task: TaskId, class: ClassId, bytes: u64) {
        match self {
            Self::Plain(flows) => flows.admit(now, task, class, bytes),
            Self::Incremental(shares) => shares.admit(now, task, class, bytes),
            Self::Packets(packets) => packets.admit(now, task, class, bytes),
        }
    }

    /// When the next transfer sends its last byte; [`SimTime::NEVER`] for none within the horizon.
    #[inline]
    pub(crate) fn next_end(&self) -> SimTime {
        match self {
            Self::Plain(flows) => flows.next_end(),
            Self::Incremental(shares) => shares.next_end(),
            Self::Packets(packets) => packets.next_end(),
        }
    }

    /// Takes out the transfers whose last byte leaves at `now`, in id order.
    pub(crate) fn take_ended(&mut self, now: SimTime, out: &mut Vec<Ended>) {
        match self {
            Self::Plain(flows) => flows.take_ended(now, out),
            Self::Incremental(shares) => shares.take_ended(now, out),
            Self::Packets(packets) => packets.take_ended(now, out),
        }
    }

    /// When rates must be asked for even if nothing changes.
    #[inline]
    pub(crate) fn recheck(&self) -> SimTime {
        match self {
            Self::Plain(flows) => flows.recheck(),
            Self::Incremental(_) | Self::Packets(_) => SimTime::NEVER,
        }
    }

    /// Whether rates are out of date at `now`.
    #[inline]
    pub(crate) fn is_outdated(&self, now: SimTime) -> bool {
        match self {
            Self::Plain(flows) => flows.is_outdated(now),
            Self::Incremental(shares) => shares.is_outdated(),
            Self::Packets(_) => true,
        }
    }

    /// Gives new rates to all whose rates change. Returns whether any did, or any transfer came or went.
    pub(crate) fn arbitrate(&mut self, now: SimTime) -> Result<bool, SimError> {
        match self {
            Self::Plain(flows) => flows.arbitrate(now),
            Self::Incremental(shares) => {
                let span = tracing::trace_span!("arbitration", time_ps = now.0, active = shares.len());
                span.in_scope(|| shares.arbitrate(now)).map_err(|error| failed(now, error))?;
                Ok(true)
            }
            Self::Packets(packets) => packets.step(now).map(|()| false),
        }
    }

    /// The flows by phase, where this is the way that has them.
    pub(crate) fn plain(&mut self) -> Option<&mut Flows<'a>> {
        match self {
            Self::Plain(flows) => Some(flows),
            Self::Incremental(_) | Self::Packets(_) => None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Plain(flows) => flows.len(),
            Self::Incremental(shares) => shares.len(),
            Self::Packets(packets) => packets.len(),
        }
    }

    /// The active transfers with their rates, in id order.
    pub(crate) fn rates(&mut self, now: SimTime) -> Vec<(TaskId, f64)> {
        match self {
            Self::Plain(flows) => flows.rates(),
            Self::Incremental(shares) => shares.rates(now),
            Self::Packets(_) => Vec::new(),
        }
    }

    /// The active transfers with the bytes that they have sent, in id order.
    pub(crate) fn sent(&mut self, now: SimTime) -> Vec<(TaskId, u64)> {
        match self {
            Self::Plain(flows) => flows.sent(now),
            Self::Incremental(shares) => shares.sent(now),
            Self::Packets(_) => Vec::new(),
        }
    }

    /// The state of every active transfer at the end of an unfinished run.
    pub(crate) fn close(&mut self, now: SimTime) -> Vec<TransferState> {
        let by_rates = match self {
            Self::Plain(flows) => flows.close(now),
            Self::Incremental(shares) => shares.close(now),
            Self::Packets(packets) => return packets.close(now),
        };
        let state = |(task, sent_bytes, bottleneck)| TransferState { task, sent_bytes, bottleneck, held: Vec::new() };
        by_rates.into_iter().map(state).collect()
    }

    /// Totals of all links up to `now`.
    pub(crate) fn link_totals(&self, now: SimTime) -> Vec<LinkTotals> {
        match self {
            Self::Plain(flows) => flows.link_totals(now),
            Self::Incremental(shares) => shares.link_totals(now),
            Self::Packets(packets) => packets.link_totals(now),
        }
    }

    /// Goes on until the next end of a transfer is known, or to the last instant before `until`; only packets have to.
    pub(crate) fn advance(&mut self, now: SimTime, until: SimTime, options: &RunOptions<'_>) -> Result<(), SimError> {
        match self {
            Self::Packets(packets) => packets.advance(now, until, options),
            _ => Ok(()),
        }
    }

    /// Whether it tells when transfers arrive; else they do after the latencies of their routes.
    pub(crate) fn tells_arrivals(&self) -> bool {
        matches!(self, Self::Packets(_))
    }

    /// Takes out the transfers that have arrived, where it tells that.
    pub(crate) fn take_arrived(&mut self) -> Vec<TransferState> {
        match self {
            Self::Packets(packets) => packets.take_arrived(),
            Self::Plain(_) | Self::Incremental(_) => Vec::new(),
        }
    }

    /// The last instant at which bytes have moved, if that may be after the last instant of the run.
    pub(crate) fn reached(&self) -> SimTime {
        match self {
            Self::Packets(packets) => packets.reached(),
            Self::Plain(_) | Self::Incremental(_) => SimTime::ZERO,
        }
    }

    /// What packets did up to `now`, where there are any.
    pub(crate) fn packet_counts(&mut self, now: SimTime) -> Option<PacketCounts> {
        match self {
            Self::Packets(packets) => Some(packets.counts(now)),
            _ => None,
        }
    }

    /// When links change next; [`SimTime::NEVER`] for not any more.
    pub(crate) fn next_change(&self) -> SimTime {
        match self {
            Self::Plain(flows) => flows.next_change(),
            Self::Packets(packets) => packets.next_change(),
            Self::Incremental(_) => SimTime::NEVER,
        }
    }

    /// Whether changes of links matter for a transfer that is left.
    pub(crate) fn heeds_changes(&self) -> bool {
        match self {
            Self::Plain(flows) => flows.heeds_changes(),
            // When the next one is due is all that they know.
            Self::Packets(_) => true,
            Self::Incremental(_) => false,
        }
    }

    /// Changes the links that change at `now`. Returns whether rates must be asked for because of that.
    pub(crate) fn change_links(&mut self, now: SimTime) -> Result<bool, SimError> {
        match self {
            Self::Plain(flows) => flows.change_links(now),
            Self::Packets(packets) => packets.change_links(now).map(|()| false),
            Self::Incremental(_) => Ok(false),
        }
    }

    /// That transfers wait for a link which never comes up, if some do.
    pub(crate) fn stays_down(&self, time: SimTime) -> Option<SimError> {
        match self {
            Self::Plain(flows) => flows.stays_down(time),
            _ => None,
        }
    }

    /// The links that have changed until `now`.
    pub(crate) fn link_changes(&self, now: SimTime) -> Vec<LinkChangeTotals> {
        match self {
            Self::Plain(flows) => flows.link_changes(now),
            Self::Packets(packets) => packets.link_changes(now),
            Self::Incremental(_) => Vec::new(),
        }
    }

    /// What links carried from when on, in order of time.
    pub(crate) fn link_steps(&self) -> Vec<LinkStep> {
        match self {
            Self::Plain(flows) => flows.link_steps(),
            Self::Packets(packets) => packets.link_steps(),
            Self::Incremental(_) => Vec::new(),
        }
    }

    /// The transfers that took another route, in order of time.
    pub(crate) fn reroutes(&mut self) -> Vec<Reroute> {
        match self {
            Self::Plain(flows) => flows.reroutes(),
            _ => Vec::new(),
        }
    }

    /// Whether this is the incremental way.
    pub(crate) fn is_incremental(&self) -> bool {
        matches!(self, Self::Incremental(_))
    }

    /// Times the arbiter was asked, or shares were made right.
    pub(crate) fn arbitrations(&self) -> u64 {
        match self {
            Self::Plain(flows) => flows.arbitrations(),
            Self::Incremental(shares) => shares.arbitrations(),
            Self::Packets(_) => 0,
        }
    }

    /// What the arbiter remarked on its answers.
    pub(crate) fn remarks(&self) -> Vec<RemarkCount> {
        match self {
            Self::Plain(flows) => flows.remarks(),
            Self::Incremental(_) | Self::Packets(_) => Vec::new(),
        }
    }
}

fn failed(time: SimTime, error: CallError) -> SimError {
    SimError::Arbiter(AnswerError::Failed { time, error })
}

/// The incremental way, where that is asked for, there are enough transfers, and the numbers fit.
fn incremental<'a>(
    simulation: &Simulation<'a>,
    census: Option<&Census>,
    flags: Flags,
    sharing: Sharing<'_>,
) -> Result<Option<Incremental<'a>>, CallError> {
    let Sharing::Incremental { entry, params, from, peaks_below } = sharing else {
        return Ok(None);
    };
    let Simulation { fabric, routes, tasks } = *simulation;
    if peaks_below == usize::MAX && !entry.knows_peaks {
        tracing::debug!("phase by phase: the largest loads of all links are asked for");
        return Ok(None);
    }
    if routes.has_branches() {
        tracing::debug!("phase by phase: transfers take several routes");
        return Ok(None);
    }
    let is_stream = census.is_some();
    let census = census.map_or_else(|| Cow::Owned(Census::of(tasks)), Cow::Borrowed);
    let transfers = census.transfers();
    if transfers < from {
        tracing::debug!(transfers, from, "phase by phase: there are too few transfers");
        return Ok(None);
    }
    let wants_peaks = transfers < peaks_below;
    let request = IncrementalRequest { entry, params, flags, wants_peaks };
    let made = Incremental::new(fabric, routes, tasks, &census, &request)?;
    match &made {
        Some(_) => tracing::debug!(transfers, "incrementally"),
        None => tracing::debug!(transfers, "phase by phase: the numbers, or the parameters, do not fit"),
    }
    Ok(made.map(|mut incremental| {
        if is_stream {
            incremental.keep_carried();
        }
        incremental
    }))
}
