//! What a grant brings about: a packet, or a piece of one, is on its way, and its room is free.

use super::events::Event;
use super::grants::{Asked, Offer};
use super::sums::LinkSums;
use super::{Engine, NONE, OF_LINK, Packet, REQUESTS, Requester};

impl Engine {
    /// Sends the packet of a requester, or a piece of it. Returns the bytes on the wire.
    pub(super) fn commit(&mut self, now: u64, offer: &Offer) -> u32 {
        let Offer { out, slot, .. } = *offer;
        let asked = *self.asked(out, slot);
        if self.cycles.is_some() {
            self.record_grant(now, offer, &asked);
        }
        let wire = &mut self.wires[out as usize];
        let bytes = asked.bytes;
        let sent = now.saturating_add(wire.time(bytes));
        let (first, end) = wire.masks;
        self.asking[(first + slot / 64) as usize] &= !(1 << (slot % 64));
        self.note(now, sent, out, &asked, bytes);
        let port = &mut self.ports[out as usize];
        if port.free_at == now {
            port.before = port.sending;
        } else {
            port.before = NONE;
            if self.has_dllps {
                self.dllps[out as usize].wake(now);
            }
        }
        if port.before != asked.transfer {
            port.other = port.before;
        }
        (port.free_at, port.sent_dllp) = (sent, false);
        if port.starved_since != u64::MAX {
            self.end_starved(now, out);
        }
        let ready = match asked.requester {
            Requester::Queue { queue, input } => {
                if asked.is_last || self.wires[input as usize].queues > 1 {
                    self.note_queued(now, out, input, &asked);
                }
                self.leave_queue(now, sent, queue, input, asked.piece)
            }
            Requester::Engine { .. } => self.leave_engine(now, sent, out, &asked),
        };
        self.ports[out as usize].sending = asked.transfer;
        self.send_on(now, sent, out, ready, &asked);
        if let Requester::Engine { node, engine } = asked.requester {
            self.source_granted(now, node, engine, &asked);
        }
        if self.asking[first as usize..end as usize].iter().any(|&word| word != 0) {
            self.wake(out, sent);
        }
        bytes
    }

    /// A packet of a transfer is sent from its source. Returns when it was ready there.
    fn leave_engine(&mut self, now: u64, sent: u64, out: u32, asked: &Asked) -> u64 {
        self.sums[out as usize].granted.add(now);
        let transfer = self.transfer_mut(asked.transfer);
        transfer.held.end(now);
        transfer.left -= u64::from(asked.units);
        transfer.granted += 1;
        transfer.is_asking = false;
        if let Some(read) = &mut transfer.read {
            read.pending -= u64::from(asked.units);
        }
        let ready = transfer.ready;
        if asked.is_last {
            self.periods.forget();
            if asked.transfer < REQUESTS {
                self.notices.push(sent, Event::Sent(asked.transfer));
            }
        }
        ready
    }

    /// Counts a grant, and takes its credit.
    fn note(&mut self, now: u64, sent: u64, out: u32, asked: &Asked, bytes: u32) {
        self.hops += 1;
        let credit = &mut self.credits[(out * self.network.channels + u32::from(asked.channel)) as usize];
        let room = credit.room(asked.piece, Some(bytes - asked.piece));
        credit.take(room);
        let inside = self.credits_of(out);
        if let Some(fills) = &mut self.fills {
            fills.add(now, out, room.bytes);
        }
        let LinkSums { counts, digest, .. } = &mut self.sums[out as usize];
        digest.add(now, out, asked.transfer);
        counts.packets += 1;
        counts.payload += u64::from(asked.piece);
        counts.wire += u64::from(bytes);
        counts.busy += sent - now;
        counts.deepest = counts.deepest.max(inside);
    }

    /// A piece of the first packet of a queue is sent: its room is free once it has left. Returns when the packet was ready at
    /// its source.
    fn leave_queue(&mut self, now: u64, sent: u64, queue: u32, input: u32, piece: u32) -> u64 {
        let at = self.queues[queue as usize].first;
        let packet = &mut self.packets[at as usize];
        packet.payload -= piece;
        let Packet { payload: rest, next, out, channel, header, transfer, ready, .. } = *packet;
        let wire = &self.wires[input as usize];
        // A header leaves with the last piece.
        let header = (rest == 0).then_some(wire.header_of(header));
        let own = &mut self.ports[input as usize].input;
        own.accepted = out;
        if wire.is_serial {
            (own.busy_until, own.served) = (sent, transfer);
        }
        let free = own.busy_until.max(now);
        self.give(sent.saturating_add(wire.credit_return), input, channel, piece, header);
        if rest == 0 {
            self.sums[out as usize].granted.add(now);
            self.send_dllp(sent, input);
            self.queues[queue as usize].first = next;
            self.free_packets.push(at);
            if next == NONE {
                self.queues[queue as usize].last = NONE;
            } else {
                self.note_blocked(free, next, (out, transfer));
            }
        }
        self.head_changed(now, free, queue);
        ready
    }

    /// Room at the far end of a link is free; the near end knows at `time`.
    fn give(&mut self, time: u64, link: u32, channel: u16, payload: u32, header: Option<u32>) {
        let credit = &mut self.credits[(link * self.network.channels + u32::from(channel)) as usize];
        let room = credit.room(payload, header);
        credit.give(time, room);
        if let Some(fills) = &mut self.fills {
            fills.remove(self.now, link, room.bytes);
        }
        // It stays starved: of parallel inputs later room may be known earlier.
        if self.ports[link as usize].is_starved {
            self.wake(link, time);
        }
    }

    /// The first packet of a queue asks for its output once it is visible and its input, which does not send from `free` on, is
    /// free.
    fn head_changed(&mut self, now: u64, free: u64, queue: u32) {
        let first = self.queues[queue as usize].first;
        if first == NONE {
            return;
        }
        let visible = self.packets[first as usize].visible.max(free);
        if visible > now {
            self.events.push(visible, Event::Visible(queue));
        } else {
            self.ask_from_queue(queue);
        }
    }

    /// A packet, or a piece, is on its way over a link.
    fn send_on(&mut self, now: u64, sent: u64, out: u32, ready: u64, asked: &Asked) {
        let Asked { transfer, piece: payload, channel, header, place, is_last, .. } = *asked;
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
            let visible = visible.max(self.ports[out as usize].input.busy_until);
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
        let is_counted = transfer.read.is_some() || transfer.window != u64::MAX;
        // A packet that was split has come with its last piece.
        let counts = is_counted && transfer.has_completed(before);
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
            Some(asked.bytes - asked.piece),
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
