//! Who gets an output, and what a grant brings about.

use super::events::Event;
use super::{Engine, NONE, Packet, PacketError, Requester};
use crate::arbiter::{GrantView, Granted, Head};
use crate::network::Switching;

/// An output that would serve a requester.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    out: u32,
    slot: u32,
    /// The requester's input link; [`NONE`] for an engine.
    input: u32,
    /// Where among `heads` those are that the arbiter chose among.
    heads: (u32, u32),
}

/// The packet of a requester, as far as a grant needs it.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) transfer: u32,
    /// Bytes of payload to send.
    piece: u32,
    ready: u64,
    visible: u64,
}

impl Engine {
    /// A requester has a packet for an output.
    pub(super) fn ask(&mut self, out: u32, slot: u32) {
        self.ports[out as usize].asking[slot as usize / 64] |= 1 << (slot % 64);
        self.mark(out);
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
            self.accept(now);
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
        if self.ports[out as usize].asking.iter().all(|&word| word == 0) {
            return Ok(());
        }
        if self.ports[out as usize].free_at > now {
            self.wake(out, self.ports[out as usize].free_at);
            return Ok(());
        }
        let first = self.heads.len();
        let mut later = u64::MAX;
        for word in 0..self.ports[out as usize].asking.len() {
            let mut bits = self.ports[out as usize].asking[word];
            while bits != 0 {
                let slot = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                later = later.min(self.consider(now, out, slot));
            }
        }
        let heads = &self.heads[first..];
        let slot = match heads {
            [] => {
                if later != u64::MAX {
                    self.wake(out, later);
                }
                return Ok(());
            }
            [one] => one.slot,
            _ => {
                let arbiter = &self.arbiters[self.arbiter_of[out as usize] as usize];
                let slot = arbiter.choose(&GrantView { out, now, heads });
                if !heads.iter().any(|head| head.slot == slot) {
                    return Err(PacketError::Slot { link: out, slot });
                }
                slot
            }
        };
        let input = self.input_of(out, slot);
        self.offers.push(Offer { out, slot, input, heads: (first as u32, self.heads.len() as u32) });
        Ok(())
    }

    /// Adds a requester to the heads if it can be served at `now`; else returns when it may be.
    fn consider(&mut self, now: u64, out: u32, slot: u32) -> u64 {
        let input = self.input_of(out, slot);
        if input != NONE && self.input_busy[input as usize] > now {
            return self.input_busy[input as usize];
        }
        let asked = self.asked(out, slot);
        let transfer = self.transfer(asked.transfer);
        let (channel, priority, weight) = (transfer.channel, transfer.priority, transfer.weight);
        let bytes = asked.piece + self.network.links[out as usize].header;
        let credit = &mut self.credits[(out * self.network.channels + channel) as usize];
        if !credit.allows(now, u64::from(bytes)) {
            self.ports[out as usize].is_starved = true;
            return credit.allows_at(u64::from(bytes)).unwrap_or(u64::MAX);
        }
        let Asked { transfer, piece: payload, ready, visible } = asked;
        self.heads.push(Head { slot, channel, bytes, payload, ready, visible, transfer, priority, weight });
        u64::MAX
    }

    /// The link over which a requester's packets come; [`NONE`] for an engine.
    fn input_of(&self, out: u32, slot: u32) -> u32 {
        let node = self.network.links[out as usize].from;
        let place = slot % self.network.stride(node);
        self.network.inputs[node as usize].get(place as usize).copied().unwrap_or(NONE)
    }

    pub(super) fn asked(&self, out: u32, slot: u32) -> Asked {
        match self.requester(out, slot) {
            Requester::Queue(queue) => {
                let packet = &self.packets[self.queues[queue as usize].first as usize];
                let piece = packet.payload.min(self.network.piece(self.input_of(out, slot), out));
                Asked { transfer: packet.transfer, piece, ready: packet.ready, visible: packet.visible }
            }
            Requester::Engine { node, engine } => {
                let transfer = self.sources[node as usize].engines[engine as usize];
                let of = self.transfer(transfer);
                let piece = u64::from(self.network.links[out as usize].payload).min(of.left) as u32;
                Asked { transfer, piece, ready: of.ready, visible: of.ready }
            }
        }
    }

    /// Each input takes the output next after its last one, circularly, and its grant takes place; the others look again.
    fn accept(&mut self, now: u64) {
        let offers = std::mem::take(&mut self.offers);
        for (at, offer) in offers.iter().enumerate() {
            if self.declines(&offers, at) {
                self.mark(offer.out);
                continue;
            }
            let (first, end) = offer.heads;
            let heads = if end - first > 1 { first..end } else { 0..0 };
            let bytes = self.commit(now, offer);
            let arbiter = &mut self.arbiters[self.arbiter_of[offer.out as usize] as usize];
            let heads = &self.heads[heads.start as usize..heads.end as usize];
            arbiter.commit(&Granted { out: offer.out, slot: offer.slot, bytes, heads });
        }
        self.offers = offers;
    }

    /// Whether another offer to the same input comes first.
    fn declines(&self, offers: &[Offer], at: usize) -> bool {
        let Offer { out, input, .. } = offers[at];
        if input == NONE || !self.is_serial(input) {
            return false;
        }
        let last = self.accepted[input as usize];
        // Outputs after the last one first, then from the lowest on.
        let order = |out: u32| (last != NONE && out <= last, out);
        offers.iter().any(|other| other.input == input && order(other.out) < order(out))
    }

    /// Sends the packet of a requester, or a piece of it. Returns the bytes on the wire.
    fn commit(&mut self, now: u64, offer: &Offer) -> u32 {
        let Offer { out, slot, input, .. } = *offer;
        let asked = self.asked(out, slot);
        let link = self.network.links[out as usize];
        let bytes = asked.piece + link.header;
        let sent = now.saturating_add(link.rate.time(u64::from(bytes)));
        self.note(now, sent, out, &asked, bytes);
        self.ports[out as usize].asking[slot as usize / 64] &= !(1 << (slot % 64));
        let port = &mut self.ports[out as usize];
        port.before = if port.free_at == now { port.sending } else { NONE };
        port.free_at = sent;
        let requester = self.requester(out, slot);
        let hop = match requester {
            Requester::Queue(queue) => self.leave_queue(now, sent, queue, input, asked.piece, out),
            Requester::Engine { .. } => 0,
        };
        self.ports[out as usize].sending = asked.transfer;
        self.send_on(now, sent, out, &asked, hop);
        if let Requester::Engine { node, engine } = requester {
            self.end_wait(now, asked.transfer);
            self.granted[out as usize].add(now);
            let transfer = self.transfer_mut(asked.transfer);
            transfer.left -= u64::from(asked.piece);
            transfer.granted += 1;
            transfer.is_asking = false;
            if transfer.left == 0 {
                self.periods.forget();
                self.notices.push(sent, Event::Sent(asked.transfer));
            }
            self.source_granted(now, node, engine, asked.transfer);
        }
        if self.ports[out as usize].asking.iter().any(|&word| word != 0) {
            self.wake(out, sent);
        }
        bytes
    }

    /// Counts a grant, and takes its credit.
    fn note(&mut self, now: u64, sent: u64, out: u32, asked: &Asked, bytes: u32) {
        self.hops += 1;
        self.digests[out as usize].add(now, out, asked.transfer);
        let channel = self.transfer(asked.transfer).channel;
        let credit = &mut self.credits[(out * self.network.channels + channel) as usize];
        credit.take(u64::from(bytes));
        let counts = &mut self.counts[out as usize];
        counts.packets += 1;
        counts.payload += u64::from(asked.piece);
        counts.wire += u64::from(bytes);
        counts.busy += sent - now;
        counts.deepest = counts.deepest.max(credit.inside);
    }

    /// A piece of the first packet of a queue is sent: its room is free once it has left. Returns the packet's hop.
    fn leave_queue(&mut self, now: u64, sent: u64, queue: u32, input: u32, piece: u32, out: u32) -> u32 {
        let at = self.queues[queue as usize].first;
        let packet = &mut self.packets[at as usize];
        packet.payload -= piece;
        let Packet { payload: rest, next, hop, transfer, .. } = *packet;
        let link = self.network.links[input as usize];
        // A header leaves with the last piece.
        let room = piece + if rest == 0 { link.header } else { 0 };
        let channel = self.transfer(transfer).channel;
        self.give(sent.saturating_add(link.credit_return), input, channel, room);
        if self.is_serial(input) {
            self.input_busy[input as usize] = sent;
        }
        if rest == 0 {
            self.granted[out as usize].add(now);
            self.queues[queue as usize].first = next;
            self.free_packets.push(at);
            if next == NONE {
                self.queues[queue as usize].last = NONE;
            }
        }
        self.head_changed(now, queue, input);
        hop
    }

    /// Room at the far end of a link is free; the near end knows at `time`.
    fn give(&mut self, time: u64, link: u32, channel: u32, bytes: u32) {
        self.credits[(link * self.network.channels + channel) as usize].give(time, u64::from(bytes));
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
    fn send_on(&mut self, now: u64, sent: u64, out: u32, asked: &Asked, hop: u32) {
        let link = self.network.links[out as usize];
        let transfer = self.transfer(asked.transfer);
        let channel = transfer.channel;
        let Some(&next) = transfer.route.get(hop as usize + 1) else {
            return self.deliver(sent.saturating_add(link.latency), out, asked);
        };
        let visible = self.visible_at(now, sent, out, next, asked.piece);
        self.visible[next as usize].add(visible);
        let packet = Packet {
            visible,
            ready: asked.ready,
            transfer: asked.transfer,
            payload: asked.piece,
            next: NONE,
            hop: hop + 1,
        };
        let queue = self.queue_of(out, channel, next);
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
    fn visible_at(&self, now: u64, sent: u64, out: u32, next: u32, payload: u32) -> u64 {
        let (link, onwards) = (&self.network.links[out as usize], &self.network.links[next as usize]);
        if link.switching == Switching::StoreAndForward {
            return sent.saturating_add(link.latency);
        }
        // Its tail must keep up: all its pieces together take no longer than what is still to come.
        let piece = self.network.piece(out, next).min(payload);
        let pieces = u64::from(payload.div_ceil(piece));
        let whole = u64::from(payload) + pieces * u64::from(onwards.header);
        let here = (sent - now).saturating_sub(onwards.rate.time(whole));
        let header = link.rate.time(u64::from(link.header));
        now.saturating_add(link.latency).saturating_add(here.max(header))
    }

    /// A packet, or a piece, is at its destination from `time` on.
    fn deliver(&mut self, time: u64, out: u32, asked: &Asked) {
        let link = self.network.links[out as usize];
        let transfer = self.transfer_mut(asked.transfer);
        let before = transfer.missing;
        transfer.missing -= u64::from(asked.piece);
        let is_last = transfer.missing == 0;
        // A packet that was split has come with its last piece.
        let payload = u64::from(transfer.payload);
        let is_whole = before.div_ceil(payload) != transfer.missing.div_ceil(payload);
        let has_window = transfer.window != u64::MAX && is_whole;
        let channel = transfer.channel;
        self.periods.delivered(asked.transfer);
        if is_last {
            self.periods.forget();
            self.notices.push(time, Event::Ended(asked.transfer));
        } else if has_window {
            self.events.push(time, Event::Come(asked.transfer));
        }
        self.give(time.saturating_add(link.credit_return), out, channel, asked.piece + link.header);
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
