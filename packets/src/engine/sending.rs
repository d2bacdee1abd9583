//! What a grant brings about: a packet, or a piece of one, is on its way, and its room is free.

use weir_plugin_api::Head;

use super::events::Event;
use super::grants::{Asked, Offer};
use super::sums::LinkSums;
use super::{Engine, NONE, OF_LINK, Packet, Port, REQUESTS};

impl Engine {
    /// Sends the packet of a requester, or a piece of it. Returns the bytes on the wire.
    pub(super) fn commit(&mut self, now: u64, offer: &Offer) -> u32 {
        let out = offer.out;
        let asked = self.asks[offer.asked as usize];
        if self.cycles.is_some() {
            self.record_grant(now, offer, &asked);
        }
        let sent = self.begin_to_send(now, out, &asked);
        let mut left = NONE;
        if asked.input == NONE {
            self.leave_engine(now, sent, out, &asked);
        } else {
            let is_noted = asked.is_last || asked.transfer() >= REQUESTS;
            if is_noted || self.has_voq && self.ports[asked.input as usize].wire.queues > 1 {
                self.note_queued(now, out, &asked);
            }
            left = self.leave_queue(now, sent, out, &asked);
        }
        self.send_on(now, sent, out, &asked, left);
        if asked.input == NONE {
            let node = self.ports[out as usize].wire.from;
            self.source_granted(now, node, &asked);
        }
        asked.head.bytes
    }

    /// A packet of a transfer is sent from its source.
    fn leave_engine(&mut self, now: u64, sent: u64, out: u32, asked: &Asked) {
        self.ports[out as usize].sums.granted.add(now);
        let transfer = self.transfer_mut(asked.transfer());
        let wait = transfer.held.end(now);
        transfer.left -= asked.units();
        transfer.granted += 1;
        transfer.is_asking = false;
        if let Some(read) = &mut transfer.read {
            read.pending -= asked.units();
        }
        if let Some(wait) = wait.filter(|_| asked.transfer() >= REQUESTS) {
            self.request_waited(now, asked.transfer(), wait);
        }
        if asked.is_last {
            self.periods.forget();
            if asked.transfer() < REQUESTS {
                self.notices.push(sent, Event::Sent(asked.transfer()));
            }
        }
    }

    /// An output is taken, and its credit: counts what is sent. Returns when it has been.
    fn begin_to_send(&mut self, now: u64, out: u32, asked: &Asked) -> u64 {
        self.hops += 1;
        let Head { slot, bytes, payload, channel, transfer, .. } = asked.head;
        let port = &mut self.ports[out as usize];
        let sent = now.saturating_add(port.wire.time(bytes));
        self.asking[(port.wire.masks.0 + slot / 64) as usize] &= !(1 << (slot % 64));
        port.asking -= 1;
        let credit = &mut self.credits[(out * self.network.channels + channel) as usize];
        let room = credit.room(payload, Some(bytes - payload));
        credit.take(room);
        if let Some(fills) = &mut self.fills {
            fills.add((now, sent), out, payload, u64::from(room.bytes));
        }
        let goes_on = port.free_at == now;
        port.before = if goes_on { port.sending } else { NONE };
        if self.has_dllps && !goes_on {
            self.dllps[out as usize].wake(now);
        }
        if port.before != transfer.0 {
            port.other = port.before;
        }
        (port.free_at, port.sent_dllp, port.sending) = (sent, false, transfer.0);
        port.inside += u64::from(room.bytes);
        // Who asks from now on wakes it, as it is busy.
        if port.asking > 0 && port.is_to_wake(sent) {
            self.events.push(sent, Event::Wake(out));
        }
        port.end_starved(now);
        let LinkSums { counts, digest, .. } = &mut port.sums;
        digest.add(now, out, transfer.0);
        counts.packets += 1;
        counts.payload += u64::from(payload);
        counts.wire += u64::from(bytes);
        counts.busy += sent - now;
        counts.deepest = counts.deepest.max(port.inside);
        sent
    }

    /// A piece of the first packet of a queue is sent over `out`: its room is free once it has left. Returns the packet, or
    /// [`NONE`] where more pieces of it follow.
    fn leave_queue(&mut self, now: u64, sent: u64, out: u32, asked: &Asked) -> u32 {
        let Asked { from: queue, input, header, .. } = *asked;
        let own = &mut self.queues[queue as usize];
        let at = own.first;
        let packet = &mut self.packets[at as usize];
        packet.payload -= asked.head.payload;
        let (is_whole, next) = (packet.payload == 0, packet.next);
        let port = &mut self.ports[input as usize];
        port.input.accepted = out;
        if port.wire.is_serial {
            (port.input.busy_until, port.input.served) = (sent, asked.transfer());
        }
        let free = port.input.busy_until.max(now);
        // A header leaves with the last piece.
        let header = is_whole.then_some(port.wire.header_of(header));
        let known = sent.saturating_add(port.wire.credit_return);
        if is_whole {
            own.first = next;
            if next == NONE {
                own.last = NONE;
            } else {
                let led = (out, asked.transfer());
                self.leads[queue as usize].pass(asked.visible(), free, led);
                self.note_blocked(free, (queue, next), led);
            }
            self.ports[out as usize].sums.granted.add(now);
            self.send_dllp(sent, input);
        }
        self.give(known, input, asked.head.channel, asked.head.payload, header);
        let (first, left) = if is_whole { (next, at) } else { (at, NONE) };
        if first != NONE {
            self.head_changed(now, free, (queue, first));
        }
        left
    }

    /// Room at the far end of a link is free; the near end knows at `time`.
    #[inline(always)] // handed over in memory, what a packet has costs a stall for each
    fn give(&mut self, time: u64, link: u32, channel: u32, payload: u32, header: Option<u32>) {
        let credit = &mut self.credits[(link * self.network.channels + channel) as usize];
        let room = credit.room(payload, header);
        credit.give(time, room);
        if let Some(fills) = &mut self.fills {
            fills.remove(self.now, link, u64::from(room.bytes));
        }
        let port = &mut self.ports[link as usize];
        port.inside -= u64::from(room.bytes);
        // It stays starved: of parallel inputs later room may be known earlier.
        if port.is_starved {
            self.wake(link, time);
        }
    }

    /// The first packet of a queue asks for its output once it is visible and its input, which does not send from `free` on, is
    /// free.
    fn head_changed(&mut self, now: u64, free: u64, (queue, first): (u32, u32)) {
        let Packet { visible, out, .. } = self.packets[first as usize];
        let visible = visible.max(free);
        if visible <= now {
            self.ask_from_queue(now, (queue, first));
        } else {
            self.ask_later(now, visible, out, (queue, first));
        }
    }

    /// The first packet of a queue asks for `out` from `visible` on. Where that grants nothing before, the packet stands on its
    /// list at once, which saves an event; unless its input has several queues, of which another may be served until then.
    fn ask_later(&mut self, now: u64, visible: u64, out: u32, (queue, first): (u32, u32)) {
        let port = &self.ports[out as usize];
        if port.free_at > now && port.free_at >= visible && !port.is_down && !self.may_decline {
            self.ask_from_queue(now, (queue, first));
        } else {
            self.events.push(visible, Event::Visible(queue));
        }
    }

    /// A packet, or a piece, is on its way over a link; `left` is a packet that has just left a queue with it, or [`NONE`].
    fn send_on(&mut self, now: u64, sent: u64, out: u32, asked: &Asked, left: u32) {
        let Asked { place, header, is_last, .. } = *asked;
        let Head { channel, payload, ready, transfer, priority, weight, .. } = asked.head;
        let next = self.routes[place as usize + 1];
        if next == NONE {
            if left != NONE {
                self.free_packets.push(left);
            }
            let latency = self.ports[out as usize].wire.latency;
            return self.deliver(sent.saturating_add(latency), out, asked);
        }
        let Port { wire, input, .. } = &mut self.ports[out as usize];
        let (input_free, queue) = (input.busy_until, wire.first_queue + channel * wire.queues);
        let is_one_queue = wire.queues == 1;
        let (latency, is_stored, node) = (wire.latency, wire.is_stored, wire.from);
        let header_time = if header == OF_LINK { wire.header_time } else { wire.time(u32::from(header)) };
        let Port { wire: onwards, sums, .. } = &mut self.ports[next as usize];
        let queue = if is_one_queue { queue } else { queue + onwards.output_place };
        let visible = if is_stored {
            sent.saturating_add(latency)
        } else {
            let lead = onwards.lead(sent - now, node, payload, header);
            now.saturating_add(latency).saturating_add(lead.max(header_time))
        };
        sums.visible.add(visible);
        let packet = Packet {
            visible,
            ready: ready.0,
            transfer: transfer.0,
            priority,
            weight,
            payload,
            next: NONE,
            out: next,
            place: place + 1,
            channel: channel as u16,
            header,
            is_last,
        };
        let at = if left == NONE {
            self.new_packet(packet)
        } else {
            let own = &mut self.packets[left as usize];
            (own.visible, own.payload, own.next, own.out, own.place) = (visible, payload, NONE, next, place + 1);
            left
        };
        let own = &mut self.queues[queue as usize];
        let last = std::mem::replace(&mut own.last, at);
        if last == NONE {
            own.first = at;
            self.ask_later(now, visible.max(input_free), next, (queue, at));
        } else {
            self.packets[last as usize].next = at;
        }
    }

    /// A packet, or a piece, is at its destination from `time` on.
    fn deliver(&mut self, time: u64, out: u32, asked: &Asked) {
        let id = asked.transfer();
        let transfer = self.transfer_mut(id);
        let before = transfer.missing;
        transfer.missing -= asked.units();
        let is_last = transfer.missing == 0;
        let is_counted = transfer.read.is_some() || transfer.window != u64::MAX;
        // A packet that was split has come with its last piece.
        let counts = is_counted && transfer.has_completed(before);
        self.periods.delivered(id);
        if id >= REQUESTS {
            let answered = time.saturating_add(self.service(id));
            self.events.push(answered, Event::Come(id));
        } else if is_last {
            self.periods.forget();
            self.notices.push(time, Event::Ended(id));
        } else if counts {
            self.events.push(time, Event::Come(id));
        }
        self.send_dllp(time, out);
        let known = time.saturating_add(self.ports[out as usize].wire.credit_return);
        let Head { channel, payload, bytes, .. } = asked.head;
        self.give(known, out, channel, payload, Some(bytes - payload));
    }

    /// Lets an output look again at `time`.
    pub(super) fn wake(&mut self, out: u32, time: u64) {
        if self.ports[out as usize].is_to_wake(time) {
            self.events.push(time, Event::Wake(out));
        }
    }
}
