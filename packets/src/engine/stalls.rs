//! Why a source that has a packet ready does not send it: looked up when the wait begins.

use super::grants::{Asked, slots_of};
use super::parts::{Packet, Port};
use super::{Engine, NONE, REQUESTS};

/// Why a packet that is ready at its source does not start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum HeldCause {
    /// Another transfer sends over the link.
    Arbitration,
    /// It waits behind another transfer's packet in a queue further on.
    HeadOfLine,
    /// A buffer is full of its own packets, or smaller than what is under way on its link.
    Credit,
    /// As many packets are under way as its window allows.
    Window,
    /// Its own limit.
    Limit,
    /// A link on its way is down.
    Down,
    /// As many requests of a read are unanswered as it has tags.
    Tags,
    /// The link sends DLLPs for packets of the opposite direction.
    Dllp,
}

impl HeldCause {
    /// Whether it is the transfer's own, whatever else is sent.
    pub(super) fn is_own(self) -> bool {
        matches!(self, Self::Window | Self::Tags | Self::Limit)
    }
}

/// Time that the source of a transfer was held up for one reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// Why.
    pub cause: HeldCause,
    /// The link that decides: the one that sends another packet, or that has too little credit.
    pub link: u32,
    /// The transfer that is responsible; `None` where it is none.
    pub by: Option<u32>,
    /// Picoseconds.
    pub time: u64,
}

/// The waits of one transfer.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    sums: Vec<Held>,
    /// The wait that is going on.
    open: Option<Wait>,
}

/// A wait that goes on.
#[derive(Clone, Copy, Debug)]
struct Wait {
    since: u64,
    reason: Option<Reason>,
}

/// What keeps packets in a buffer.
#[derive(Clone, Copy)]
struct Ahead {
    /// Whose packet it is, and over which link it goes.
    transfer: u32,
    out: u32,
    /// The link is free, and has no credit for it.
    waits_for_credit: bool,
}

/// Why, at which link, and the responsible transfer or [`NONE`].
pub(super) type Reason = (HeldCause, u32, u32);

impl Log {
    pub(super) fn add(&mut self, (cause, link, by): Reason, time: u64) {
        if time == 0 {
            return;
        }
        let by = (by != NONE).then_some(by & !REQUESTS);
        match self.sums.iter_mut().find(|held| (held.cause, held.link, held.by) == (cause, link, by)) {
            Some(held) => held.time += time,
            None => self.sums.push(Held { cause, link, by, time }),
        }
    }

    /// Appends the wait that is going on, but for since when.
    pub(super) fn state(&self, now: u64, to: &mut Vec<u64>) {
        let Some(Wait { since, reason }) = self.open else { return to.push(u64::MAX) };
        to.push(since.saturating_sub(now));
        push_reason(reason, to);
    }

    /// Since when the wait lasts that is going on.
    pub(super) fn since(&mut self) -> Option<&mut u64> {
        self.open.as_mut().map(|wait| &mut wait.since)
    }

    /// Whether a wait is going on.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The packet waits at its source from `since` on.
    pub(super) fn begin(&mut self, since: u64) {
        self.open = Some(Wait { since, reason: None });
    }

    /// The packet is sent from its source at `now`. Returns the wait that has ended, and for how long it was.
    pub(super) fn end(&mut self, now: u64) -> Option<(Reason, u64)> {
        let Wait { since, reason: Some(reason) } = self.open.take()? else { return None };
        let time = now.checked_sub(since).filter(|time| *time > 0)?;
        self.add(reason, time);
        Some((reason, time))
    }

    /// Ends the wait that is going on at `now`, and begins another one. Returns whether its reason must be looked up.
    pub(super) fn begin_again(&mut self, now: u64) -> bool {
        let Some(Wait { since, reason: Some(reason) }) = self.open else { return false };
        if now > since {
            self.add(reason, now - since);
        }
        self.open = Some(Wait { since: since.max(now), reason: None });
        true
    }

    /// Adds `n` times what has come since `before`.
    pub(super) fn repeat(&mut self, before: &Self, n: u64) {
        for held in &mut self.sums {
            let same = |b: &&Held| (b.cause, b.link, b.by) == (held.cause, held.link, held.by);
            let earlier = before.sums.iter().find(same).map_or(0, |before| before.time);
            held.time += n * (held.time - earlier);
        }
    }

    /// All waits until `at`, the one that goes on included.
    pub(super) fn until(&self, at: u64) -> Vec<Held> {
        self.counted_until(at).sums
    }

    /// The same log in which no wait goes on.
    pub(super) fn counted_until(&self, at: u64) -> Self {
        let mut all = self.clone();
        all.end(at);
        all
    }

    /// Takes back a part of a wait that was added in advance.
    pub(super) fn take_back(&mut self, (cause, link, by): Reason, time: u64) {
        let by = (by != NONE).then_some(by & !REQUESTS);
        if let Some(held) = self.sums.iter_mut().find(|held| (held.cause, held.link, held.by) == (cause, link, by)) {
            held.time = held.time.saturating_sub(time);
        }
        self.sums.retain(|held| held.time > 0);
    }

    pub(super) fn sorted(&self) -> Vec<Held> {
        let mut sums = self.sums.clone();
        sums.sort_by_key(|held| (std::cmp::Reverse(held.time), held.cause, held.link, held.by));
        sums
    }
}

/// Appends a reason, or that there is none yet.
pub(super) fn push_reason(reason: Option<Reason>, to: &mut Vec<u64>) {
    match reason {
        Some((cause, link, by)) => to.extend([cause as u64, u64::from(link) << 32 | u64::from(by)]),
        None => to.push(u64::MAX),
    }
}

impl Engine {
    /// The reasons of waits at an output's source that have begun by `now`.
    pub(super) fn explain_waits(&mut self, now: u64, out: u32) {
        let mut waiting = std::mem::take(&mut self.ports[out as usize].unexplained);
        waiting.retain_mut(|wait| {
            let id = wait.transfer;
            if wait.since > now {
                return true;
            }
            let Some(Wait { since, reason: None }) = self.transfer(id).held.open else { return false };
            if since > now {
                // It was moved on with its set.
                wait.since = since;
                return true;
            }
            let reason = self.reason(now, id);
            if let Some(open) = &mut self.transfer_mut(id).held.open {
                open.reason = Some(reason);
            }
            false
        });
        self.ports[out as usize].unexplained = waiting;
    }

    /// Time that a transfer's next packet is not ready, by its window or limit.
    pub(super) fn hold(&mut self, from: u64, to: u64, id: u32, cause: HeldCause) {
        let out = self.transfer(id).first;
        if to > from {
            self.transfer_mut(id).held.add((cause, out, NONE), to - from);
        }
    }

    /// From a source that cannot send to what sends instead.
    pub(super) fn reason(&mut self, now: u64, id: u32) -> Reason {
        let of = self.transfer(id);
        let (mut out, channel) = (of.first, u32::from(of.channel));
        if self.ports[out as usize].is_down {
            return (HeldCause::Down, out, NONE);
        }
        // DLLPs that have begun since tell whether who sent last did so before an idle moment.
        self.pass_dllps(now, out);
        let port = &self.ports[out as usize];
        if port.free_at > now {
            // Behind its own packet, too, it is a DLLP that is on the wire.
            let is_dllp = port.sent_dllp || port.sending == id;
            return if is_dllp { (HeldCause::Dllp, out, NONE) } else { (HeldCause::Arbitration, out, port.sending) };
        }
        let mut transfer = id;
        for _ in 0..self.ports.len() {
            let Some(ahead) = self.ahead(now, out, channel, id) else { break };
            (transfer, out) = (ahead.transfer, ahead.out);
            if self.ports[out as usize].is_down {
                let is_own = transfer == id || self.crosses(id, out);
                return if is_own { (HeldCause::Down, out, NONE) } else { (HeldCause::HeadOfLine, out, transfer) };
            }
            if ahead.waits_for_credit {
                continue;
            }
            if transfer != id {
                return (HeldCause::HeadOfLine, out, transfer);
            }
            if self.ports[out as usize].free_at > now
                && let Some(other) = self.served_beside(now, out, id)
            {
                return (HeldCause::Arbitration, out, other);
            }
            // It has the link for itself: what it waits for is the link's rate, or room further on.
            let (payload, header) = self.packet_on(id, out);
            let credit = &mut self.credits[(out * self.network.channels + channel) as usize];
            if credit.allows(now, credit.room(payload, Some(header))) {
                break;
            }
        }
        if transfer == id { (HeldCause::Credit, out, NONE) } else { (HeldCause::HeadOfLine, out, transfer) }
    }

    /// What keeps packets in the buffer at the far end of a link that has no credit: its first packet, or the one that the input
    /// sends, whichever takes longer. `None` where the buffer is no larger than what is under way on the link.
    fn ahead(&mut self, now: u64, link: u32, channel: u32, id: u32) -> Option<Ahead> {
        let Port { input, wire, .. } = &self.ports[link as usize];
        let (node, under_way) = (wire.from, wire.latency + wire.credit_return);
        let is_sending = wire.is_serial && input.busy_until > now;
        let sent = Ahead { transfer: input.served, out: input.accepted, waits_for_credit: false };
        // Of several queues, the one that keeps the input from the other packets.
        let is_later = |transfer: u32| (transfer == id) == (is_sending && sent.transfer == id);
        let Some(first) = self.first_waiting(now, link, channel, is_later) else {
            return Some(sent).filter(|sent| is_sending && self.packet_time(sent) > under_way);
        };
        let Packet { transfer, out, payload, header, .. } = self.packets[first as usize];
        self.pass_dllps(now, out);
        let port = &self.ports[out as usize];
        let (payload, header) = (payload.min(port.wire.piece(node)), port.wire.header_of(header));
        if port.is_down || port.free_at > now {
            return Some(Ahead { transfer, out, waits_for_credit: false });
        }
        let credit = &mut self.credits[(out * self.network.channels + channel) as usize];
        let waits_for_credit = !credit.allows(now, credit.room(payload, Some(header)));
        let waits_for_input = is_sending && !waits_for_credit;
        match waits_for_input && self.packet_time(&sent) >= self.ports[out as usize].wire.time(payload + header) {
            true => Some(sent),
            false => Some(Ahead { transfer, out, waits_for_credit }),
        }
    }

    /// How long a full packet of what is sent takes.
    fn packet_time(&mut self, sent: &Ahead) -> u64 {
        let (payload, header) = self.packet_on(sent.transfer, sent.out);
        self.ports[sent.out as usize].wire.time(payload + header)
    }

    /// Payload and header of a full packet of a transfer on a link of its route: cut by what it has passed.
    fn packet_on(&self, id: u32, out: u32) -> (u32, u32) {
        let wire = |link: u32| &self.ports[link as usize].wire;
        let Some(of) = self.transfers.get(id) else { return (wire(out).payload, wire(out).header) };
        let header = wire(out).header_of(of.header);
        if id >= REQUESTS {
            return (0, header);
        }
        let route = self.route(id);
        let passed = route.iter().position(|&link| link == out).map_or(route, |at| &route[..=at]);
        let cut = passed.windows(2).map(|pair| wire(pair[1]).piece(wire(pair[0]).from));
        let most = of.read.as_ref().map_or(of.payload, |read| u64::from(of.payload).min(read.request) as u32);
        (cut.fold(most, u32::min), header)
    }

    /// The first packet that could leave the buffer at the far end of a link for what its input does; of several queues one that
    /// comes `later` only where no other has any.
    fn first_waiting(&self, now: u64, link: u32, channel: u32, later: impl Fn(u32) -> bool) -> Option<u32> {
        let wire = &self.ports[link as usize].wire;
        let first = wire.first_queue + channel * wire.queues;
        if wire.queues == 1 {
            let head = self.queues[first as usize].first;
            return Some(head).filter(|&head| head != NONE && self.packets[head as usize].visible <= now);
        }
        let heads = (first..first + wire.queues).map(|queue| self.queues[queue as usize].first);
        let key = |head: u32| self.packets.get(head as usize).map(|packet| (later(packet.transfer), packet.visible));
        let waiting = heads.filter_map(|head| Some((key(head)?, head)));
        waiting.filter(|((_, visible), _)| *visible <= now).min().map(|(_, head)| head)
    }

    /// Whether a link is on a transfer's route.
    fn crosses(&self, id: u32, link: u32) -> bool {
        let (first, end) = self.transfer(id).route;
        self.routes[first as usize..end as usize].contains(&link)
    }

    /// Another transfer that an output serves now, or has served right before, or that asks for it.
    fn served_beside(&self, now: u64, out: u32, id: u32) -> Option<u32> {
        let port = &self.ports[out as usize];
        let served = [port.sending, port.before].into_iter().find(|&other| other != NONE && other != id);
        served.or_else(|| self.another_asking(now, out, id))
    }

    /// Another transfer that asks for an output, the first by requester.
    fn another_asking(&self, now: u64, out: u32, id: u32) -> Option<u32> {
        let words = (0..).zip(&self.asking[self.mask(out)]);
        let slots = words.flat_map(|(word, &bits)| slots_of(word, bits));
        let mut asks = slots.map(|slot| self.asked(out, slot)).filter(|asked| self.asks_by(now, asked));
        asks.find(|asked| asked.transfer() != id).map(Asked::transfer)
    }

    /// Whether a packet asks already at `now`: it may have been put on the list of its output in advance.
    fn asks_by(&self, now: u64, asked: &Asked) -> bool {
        let is_free = |input: u32| self.may_decline || self.ports[input as usize].input.busy_until <= now;
        asked.visible() <= now && (asked.input == NONE || is_free(asked.input))
    }

    /// The transfer of the first packet in the buffer at the far end of a link, and the link that it waits for.
    pub(super) fn head_behind(&self, link: u32, channel: u32) -> Option<(u32, u32)> {
        let wire = &self.ports[link as usize].wire;
        let first = wire.first_queue + channel * wire.queues;
        let heads = (first..first + wire.queues).map(|queue| self.queues[queue as usize].first);
        let head = heads.filter(|&head| head != NONE).min_by_key(|&head| self.packets[head as usize].visible)?;
        let packet = &self.packets[head as usize];
        Some((packet.transfer, packet.out))
    }
}
