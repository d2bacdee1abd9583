//! Who gets an output, and what a grant brings about.

use weir_plugin_api::{Head, LinkId, PortGrant, SimTime, TransferId};

use super::choices::failed;
use super::events::Event;
use super::sums::LinkSums;
use super::{Engine, NONE, OF_LINK, Packet, PacketError, REQUESTS, Requester};

/// An output that would serve a requester.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) out: u32,
    pub(super) slot: u32,
    pub(super) requester: Requester,
    pub(super) asked: Asked,
    /// Where among `heads` those are that the arbiter chose among.
    pub(super) heads: (u32, u32),
}

/// The packet of a requester, as far as a grant needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) transfer: u32,
    /// Bytes of payload to send.
    pub(super) piece: u32,
    /// How many units of its transfer that is: bytes, or one request.
    pub(super) units: u32,
    channel: u16,
    header: u16,
    /// Where in the list of routes its link is.
    place: u32,
    ready: u64,
    pub(super) visible: u64,
    /// Nothing of its transfer is left to send after it.
    is_last: bool,
}

impl Engine {
    /// A requester has a packet for an output.
    pub(super) fn ask(&mut self, out: u32, slot: u32) {
        let word = self.wires[out as usize].masks.0 + slot / 64;
        self.asking[word as usize] |= 1 << (slot % 64);
        self.mark(out);
    }

    /// The words of an output's mask of requesters.
    pub(super) fn mask(&self, out: u32) -> std::ops::Range<usize> {
        let (first, end) = self.wires[out as usize].masks;
        first as usize..end as usize
    }

    pub(super) fn mark(&mut self, out: u32) {
        let port = &mut self.ports[out as usize];
        if !port.is_marked {
            port.is_marked = true;
            self.marked.push(out);
        }
    }

    /// Rounds of offers and grants, until nothing more is granted at `now`.
    pub(super) fn grant(&mut self, now: u64) -> Result<(), PacketError> {
        let mut seen = std::mem::take(&mut self.seen);
        while !self.marked.is_empty() {
            let mut marked = std::mem::take(&mut self.marked);
            marked.sort_unstable();
            self.offers.clear();
            self.heads.clear();
            for &out in &marked {
                self.ports[out as usize].is_marked = false;
                self.offer(now, out)?;
            }
            seen.extend_from_slice(&marked);
            marked.clear();
            self.marked = marked;
            self.accept(now)?;
        }
        for &out in &seen {
            self.explain_waits(now, out);
        }
        seen.clear();
        self.seen = seen;
        Ok(())
    }

    /// Lets a free output choose among those that ask, have credit, and are not sending.
    fn offer(&mut self, now: u64, out: u32) -> Result<(), PacketError> {
        let mask = self.mask(out);
        if self.asking[mask.clone()].iter().all(|&word| word == 0) {
            return Ok(());
        }
        self.pass_dllps(now, out);
        if self.ports[out as usize].free_at > now {
            self.wake(out, self.ports[out as usize].free_at);
            return Ok(());
        }
        let first = self.heads.len();
        self.candidates.clear();
        self.ports[out as usize].is_starved = false;
        let mut later = u64::MAX;
        for (at, word) in mask.enumerate() {
            let mut bits = self.asking[word];
            while bits != 0 {
                let slot = at as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                later = later.min(self.consider(now, out, slot));
            }
        }
        let slot = match self.heads[first..] {
            [] => {
                self.idle(now, out);
                if later != u64::MAX {
                    self.wake(out, later);
                }
                return Ok(());
            }
            [one] => one.slot,
            _ => self.choose(now, out, first)?,
        };
        let at = self.heads[first..].iter().position(|head| head.slot == slot).unwrap_or(0);
        let (requester, asked) = self.candidates[at];
        self.offers.push(Offer { out, slot, requester, asked, heads: (first as u32, self.heads.len() as u32) });
        Ok(())
    }

    /// Nobody who asks for a free output can be served at `now`.
    fn idle(&mut self, now: u64, out: u32) {
        let port = &mut self.ports[out as usize];
        if !port.is_starved {
            self.end_starved(now, out);
        } else if port.starved_since == u64::MAX {
            port.starved_since = now;
        }
    }

    /// An output is not, or no more, idle for want of credit.
    fn end_starved(&mut self, now: u64, out: u32) {
        let since = std::mem::replace(&mut self.ports[out as usize].starved_since, u64::MAX);
        self.sums[out as usize].counts.starved += now.saturating_sub(since);
    }

    /// Adds a requester to the heads if it can be served at `now`; else returns when it may be.
    fn consider(&mut self, now: u64, out: u32, slot: u32) -> u64 {
        let requester = self.requester(out, slot);
        if let Requester::Queue { input, .. } = requester
            && self.input_busy[input as usize] > now
        {
            return self.input_busy[input as usize];
        }
        let asked = self.asked(out, requester);
        let Asked { transfer, piece: payload, ready, visible, .. } = asked;
        let channel = u32::from(asked.channel);
        let header = self.wires[out as usize].header_of(asked.header);
        let bytes = payload + header;
        let credit = &mut self.credits[(out * self.network.channels + channel) as usize];
        let room = credit.room(payload, Some(header));
        if !credit.allows(now, room) {
            self.ports[out as usize].is_starved = true;
            return credit.allows_at(room).unwrap_or(u64::MAX);
        }
        self.candidates.push((requester, asked));
        // What is said of its transfer is looked up where there is a choice.
        let (priority, weight) = (0, 1.0);
        let (ready, visible, transfer) = (SimTime(ready), SimTime(visible), TransferId(transfer));
        self.heads.push(Head { slot, channel, bytes, payload, ready, visible, transfer, priority, weight });
        u64::MAX
    }

    pub(super) fn asked(&self, out: u32, requester: Requester) -> Asked {
        match requester {
            Requester::Queue { queue, input } => {
                let packet = &self.packets[self.queues[queue as usize].first as usize];
                let piece = packet.payload.min(self.wires[out as usize].piece(&self.wires[input as usize]));
                let Packet { transfer, channel, header, place, ready, visible, is_last, .. } = *packet;
                let units = if transfer < REQUESTS { piece } else { 1 };
                let is_last = is_last && piece == packet.payload;
                Asked { transfer, piece, units, channel, header, place, ready, visible, is_last }
            }
            Requester::Engine { node, engine } => {
                let transfer = self.sources[node as usize].engines[engine as usize];
                let of = self.transfer(transfer);
                let (channel, header, place, ready) = (of.channel, of.header, of.route.0, of.ready);
                let whole = u64::from(self.wires[out as usize].payload).min(of.left);
                let units = of.read.as_ref().map_or(whole, |asked| asked.piece(of.left).min(whole)) as u32;
                let (piece, units) = if transfer < REQUESTS { (units, units) } else { (0, 1) };
                let is_last = u64::from(units) == of.left;
                Asked { transfer, piece, units, channel, header, place, ready, visible: ready, is_last }
            }
        }
    }

    /// Each input takes the output next after its last one, circularly, and its grant takes place; the others look again.
    fn accept(&mut self, now: u64) -> Result<(), PacketError> {
        let offers = std::mem::take(&mut self.offers);
        for (at, offer) in offers.iter().enumerate() {
            if self.declines(&offers, at) {
                self.mark(offer.out);
                continue;
            }
            let (first, end) = offer.heads;
            if let Requester::Queue { input, .. } = offer.requester {
                self.accepted[input as usize] = offer.out;
            }
            let heads = if end - first > 1 { first..end } else { 0..0 };
            let bytes = self.commit(now, offer);
            let arbiter = &mut self.arbiters[self.arbiter_of[offer.out as usize] as usize];
            let heads = &self.heads[heads.start as usize..heads.end as usize];
            let requesters = self.wires[offer.out as usize].stride;
            let grant = PortGrant { out: LinkId(offer.out), slot: offer.slot, bytes, requesters, heads: heads.into() };
            arbiter.commit(&grant).map_err(|error| failed(offer.out, error))?;
        }
        self.offers = offers;
        Ok(())
    }

    /// Whether another offer to the same input comes first.
    fn declines(&self, offers: &[Offer], at: usize) -> bool {
        let input_of = |offer: &Offer| match offer.requester {
            Requester::Queue { input, .. } => input,
            Requester::Engine { .. } => NONE,
        };
        let (out, input) = (offers[at].out, input_of(&offers[at]));
        if input == NONE || offers.len() == 1 || !self.wires[input as usize].is_serial {
            return false;
        }
        let last = self.accepted[input as usize];
        // Outputs after the last one first, then from the lowest on.
        let order = |out: u32| (last != NONE && out <= last, out);
        offers.iter().any(|other| input_of(other) == input && order(other.out) < order(out))
    }

    /// Sends the packet of a requester, or a piece of it. Returns the bytes on the wire.
    fn commit(&mut self, now: u64, offer: &Offer) -> u32 {
        if self.cycles.is_some() {
            self.record_grant(now, offer);
        }
        let Offer { out, slot, requester, asked, .. } = *offer;
        let wire = &mut self.wires[out as usize];
        let bytes = asked.piece + wire.header_of(asked.header);
        let sent = now.saturating_add(wire.time(bytes));
        let word = wire.masks.0 + slot / 64;
        self.asking[word as usize] &= !(1 << (slot % 64));
        self.note(now, sent, out, &asked, bytes);
        let port = &mut self.ports[out as usize];
        port.before = if port.free_at == now { port.sending } else { NONE };
        if port.before != asked.transfer {
            port.other = port.before;
        }
        (port.free_at, port.sent_dllp) = (sent, false);
        self.end_starved(now, out);
        if let Requester::Queue { queue, input } = requester {
            if asked.is_last {
                self.note_queued(now, out, input, &asked);
            }
            self.leave_queue(now, sent, queue, input, asked.piece);
        }
        self.ports[out as usize].sending = asked.transfer;
        self.send_on(now, sent, out, &asked);
        if let Requester::Engine { node, engine } = requester {
            self.end_wait(now, asked.transfer);
            self.sums[out as usize].granted.add(now);
            let transfer = self.transfer_mut(asked.transfer);
            transfer.left -= u64::from(asked.units);
            transfer.granted += 1;
            transfer.is_asking = false;
            if let Some(read) = &mut transfer.read {
                read.pending -= u64::from(asked.units);
            }
            if transfer.left == 0 {
                self.periods.forget();
                if asked.transfer < REQUESTS {
                    self.notices.push(sent, Event::Sent(asked.transfer));
                }
            }
            self.source_granted(now, node, engine, asked.transfer);
        }
        if self.asking[self.mask(out)].iter().any(|&word| word != 0) {
            self.wake(out, sent);
        }
        bytes
    }

    /// Counts a grant, and takes its credit.
    fn note(&mut self, now: u64, sent: u64, out: u32, asked: &Asked, bytes: u32) {
        self.hops += 1;
        let credit = &mut self.credits[(out * self.network.channels + u32::from(asked.channel)) as usize];
        let room = credit.room(asked.piece, Some(bytes - asked.piece));
        credit.take(room);
        if let Some(fills) = &mut self.fills {
            fills.add(now, out, room.bytes);
        }
        let LinkSums { counts, digest, .. } = &mut self.sums[out as usize];
        digest.add(now, out, asked.transfer);
        counts.packets += 1;
        counts.payload += u64::from(asked.piece);
        counts.wire += u64::from(bytes);
        counts.busy += sent - now;
        counts.deepest = counts.deepest.max(credit.inside);
    }

    /// A piece of the first packet of a queue is sent: its room is free once it has left.
    fn leave_queue(&mut self, now: u64, sent: u64, queue: u32, input: u32, piece: u32) {
        let at = self.queues[queue as usize].first;
        let packet = &mut self.packets[at as usize];
        packet.payload -= piece;
        let Packet { payload: rest, next, out, channel, header, transfer, .. } = *packet;
        let wire = &self.wires[input as usize];
        // A header leaves with the last piece.
        let header = (rest == 0).then_some(wire.header_of(header));
        if wire.is_serial {
            self.input_busy[input as usize] = sent;
            self.input_served[input as usize] = transfer;
        }
        self.give(sent.saturating_add(wire.credit_return), input, channel, piece, header);
        if rest == 0 {
            self.sums[out as usize].granted.add(now);
            self.send_dllp(sent, input);
            self.queues[queue as usize].first = next;
            self.free_packets.push(at);
            if next == NONE {
                self.queues[queue as usize].last = NONE;
            } else {
                self.note_blocked(now.max(self.input_busy[input as usize]), next, (out, transfer));
            }
        }
        self.head_changed(now, queue, input);
    }

    /// Room at the far end of a link is free; the near end knows at `time`.
    fn give(&mut self, time: u64, link: u32, channel: u16, payload: u32, header: Option<u32>) {
        let credit = &mut self.credits[(link * self.network.channels + u32::from(channel)) as usize];
        let room = credit.room(payload, header);
        credit.give(time, room);
        if let Some(fills) = &mut self.fills {
            fills.remove(self.now, link, room.bytes);
        }
        if std::mem::take(&mut self.ports[link as usize].is_starved) {
            self.wake(link, time);
        }
    }

    /// The first packet of a queue asks for its output once it is visible and its input does not send.
    fn head_changed(&mut self, now: u64, queue: u32, input: u32) {
        let first = self.queues[queue as usize].first;
        if first == NONE {
            return;
        }
        let visible = self.packets[first as usize].visible.max(self.input_busy[input as usize]);
        if visible > now {
            self.events.push(visible, Event::Visible(queue));
        } else {
            self.head_asks(queue);
        }
    }

    /// A packet, or a piece, is on its way over a link.
    fn send_on(&mut self, now: u64, sent: u64, out: u32, asked: &Asked) {
        let Asked { transfer, piece: payload, channel, header, place, ready, is_last, .. } = *asked;
        let next = self.routes[place as usize + 1];
        if next == NONE {
            let latency = self.wires[out as usize].latency;
            return self.deliver(sent.saturating_add(latency), out, asked);
        }
        let visible = self.visible_at(now, sent, out, next, payload, header);
        self.sums[next as usize].visible.add(visible);
        let place = place + 1;
        let packet =
            Packet { visible, ready, transfer, payload, next: NONE, out: next, place, channel, header, is_last };
        let queue = self.queue_of(out, u32::from(channel), next);
        let at = self.new_packet(packet);
        let last = std::mem::replace(&mut self.queues[queue as usize].last, at);
        if last == NONE {
            self.queues[queue as usize].first = at;
            let visible = visible.max(self.input_busy[out as usize]);
            self.events.push(visible, Event::Visible(queue));
        } else {
            self.packets[last as usize].next = at;
        }
    }

    /// When a packet that is sent over `out` from `now` to `sent` can be sent on over `next`.
    fn visible_at(&mut self, now: u64, sent: u64, out: u32, next: u32, payload: u32, own: u16) -> u64 {
        let wire = &mut self.wires[out as usize];
        let header = if own == OF_LINK { wire.header_time } else { wire.time(u32::from(own)) };
        let wire = &self.wires[out as usize];
        let latency = wire.latency;
        if wire.is_stored {
            return sent.saturating_add(latency);
        }
        // Its tail must keep up: all its pieces together take no longer than what is still to come.
        let largest = self.wires[next as usize].piece(wire);
        let onwards = &mut self.wires[next as usize];
        let pieces = if payload <= largest { 1 } else { payload.div_ceil(largest) };
        let here = (sent - now).saturating_sub(onwards.time(payload + pieces * onwards.header_of(own)));
        now.saturating_add(latency).saturating_add(here.max(header))
    }

    /// A packet, or a piece, is at its destination from `time` on.
    fn deliver(&mut self, time: u64, out: u32, asked: &Asked) {
        let transfer = self.transfer_mut(asked.transfer);
        let before = transfer.missing;
        transfer.missing -= u64::from(asked.units);
        let is_last = transfer.missing == 0;
        // A packet that was split has come with its last piece.
        let payload = u64::from(transfer.payload);
        let is_whole = before.div_ceil(payload) != transfer.missing.div_ceil(payload);
        let counts = match &transfer.read {
            Some(read) => read.is_answered(before, transfer.missing),
            None => transfer.window != u64::MAX && is_whole,
        };
        self.periods.delivered(asked.transfer);
        if asked.transfer >= REQUESTS {
            let answered = time.saturating_add(self.service(asked.transfer));
            self.events.push(answered, Event::Come(asked.transfer));
        } else if is_last {
            self.periods.forget();
            self.notices.push(time, Event::Ended(asked.transfer));
        } else if counts {
            self.events.push(time, Event::Come(asked.transfer));
        }
        self.send_dllp(time, out);
        let wire = &self.wires[out as usize];
        self.give(
            time.saturating_add(wire.credit_return),
            out,
            asked.channel,
            asked.piece,
            Some(wire.header_of(asked.header)),
        );
    }

    /// Lets an output look again at `time`.
    pub(super) fn wake(&mut self, out: u32, time: u64) {
        let port = &mut self.ports[out as usize];
        if time < port.wake_at {
            port.wake_at = time;
            self.events.push(time, Event::Wake(out));
        }
    }
}
