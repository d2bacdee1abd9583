//! Who gets an output, and what a grant brings about.

use weir_plugin_api::{Head, LinkId, PortGrant, SimTime, TransferId};

use super::choices::failed;
use super::skip::Component;
use super::wires::Wire;
use super::{Engine, NONE, OF_LINK, Packet, PacketError, REQUESTS};

/// An output that would serve a requester.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) out: u32,
    pub(super) slot: u32,
    /// Where what it asks for is among all requesters.
    pub(super) asked: u32,
    /// Where among `heads` those are that the arbiter chose among; nowhere if one asked alone.
    pub(super) heads: (u32, u32),
}

/// The slots in a word of a mask.
pub(super) fn slots_of(word: u32, mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(word * 64 + bit)
    })
}

/// What a requester asks for: the same from when it asks until it is granted.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Asked {
    /// As the output's arbiter sees it.
    pub(super) head: Head,
    /// The link whose buffer the packet is in; [`NONE`] for one at its source.
    pub(super) input: u32,
    /// Its queue there, or its engine.
    pub(super) from: u32,
    /// Where in the list of routes its link is.
    pub(super) place: u32,
    /// Bytes of header, or [`OF_LINK`].
    pub(super) header: u16,
    /// Nothing of its transfer is left to send after it.
    pub(super) is_last: bool,
}

impl Asked {
    /// Of a requester that has not asked yet.
    pub(super) const NOTHING: Self = Self {
        head: Head {
            slot: 0,
            channel: 0,
            bytes: 0,
            payload: 0,
            ready: SimTime(0),
            visible: SimTime(0),
            transfer: TransferId(NONE),
            priority: 0,
            weight: 0.0,
        },
        input: NONE,
        from: NONE,
        place: 0,
        header: OF_LINK,
        is_last: false,
    };

    /// Its transfer, or the requests of one.
    #[inline]
    pub(super) fn transfer(&self) -> u32 {
        self.head.transfer.0
    }

    /// How many units of its transfer are sent: bytes, or one request.
    #[inline]
    pub(super) fn units(&self) -> u64 {
        if self.transfer() < REQUESTS { u64::from(self.head.payload) } else { 1 }
    }

    /// When its packet could be sent on, ps.
    #[inline]
    pub(super) fn visible(&self) -> u64 {
        self.head.visible.0
    }
}

impl Engine {
    /// The packet at the head of a queue asks for an output.
    pub(super) fn ask_from_queue(&mut self, now: u64, (queue, first): (u32, u32)) {
        let packet = &self.packets[first as usize];
        let Packet { out, header, place, .. } = *packet;
        let input = self.routes[place as usize - 1];
        let (wire, from) = (&self.ports[out as usize].wire, &self.ports[input as usize].wire);
        let payload = packet.payload.min(wire.piece(from.from));
        let head = Head {
            slot: u32::from(packet.channel) * wire.stride + from.input_place,
            channel: u32::from(packet.channel),
            bytes: payload + wire.header_of(header),
            payload,
            ready: SimTime(packet.ready),
            visible: SimTime(packet.visible),
            transfer: TransferId(packet.transfer),
            priority: packet.priority,
            weight: packet.weight,
        };
        let is_last = packet.is_last && payload == packet.payload;
        self.ask(now, out, Asked { head, input, from: queue, place, header, is_last });
    }

    /// The next packet of a transfer at an engine of its source asks for the first link of its route.
    pub(super) fn ask_from_source(&mut self, now: u64, id: u32) {
        let of = self.transfers.get_mut(id).expect("a transfer under way");
        of.is_asking = true;
        let (out, engine, header, place) = (of.first, of.engine, of.header, of.route.0);
        let port = &mut self.ports[out as usize];
        port.sums.visible.add(of.visible());
        let since = port.own_end(now, id);
        of.held.begin(since);
        port.explain_later(since, id);
        let wire = &port.wire;
        let whole = u64::from(wire.payload).min(of.left);
        let units = of.read.as_ref().map_or(whole, |asked| asked.piece(of.bytes - of.left).min(whole)) as u32;
        let payload = if id < REQUESTS { units } else { 0 };
        let is_last = if id < REQUESTS { u64::from(units) == of.left } else { of.left == 1 };
        let head = Head {
            slot: u32::from(of.channel) * wire.stride + wire.inputs + engine,
            channel: u32::from(of.channel),
            bytes: payload + wire.header_of(header),
            payload,
            ready: SimTime(of.ready),
            visible: SimTime(of.visible()),
            transfer: TransferId(id),
            priority: of.priority,
            weight: of.weight,
        };
        // Why it waits is looked up in this instant.
        if since <= now {
            self.mark(out);
        }
        self.ask(now, out, Asked { head, input: NONE, from: engine, place, header, is_last });
    }

    /// Those that ask for links of a set have been moved on in time.
    pub(super) fn asks_again(&mut self, component: &Component) {
        for &out in &component.links {
            let words = (0..).zip(&self.asking[self.mask(out)]);
            let slots = words.flat_map(|(word, &bits)| slots_of(word, bits));
            for slot in slots.collect::<Vec<_>>() {
                let asked = self.asked(out, slot);
                let (ready, visible) = if asked.input == NONE {
                    let transfer = self.transfer(asked.transfer());
                    (transfer.ready, transfer.visible())
                } else {
                    let packet = &self.packets[self.queues[asked.from as usize].first as usize];
                    (packet.ready, packet.visible)
                };
                let place = (self.ports[out as usize].wire.first_slot + slot) as usize;
                let head = &mut self.asks[place].head;
                (head.ready, head.visible) = (SimTime(ready), SimTime(visible));
            }
        }
    }

    /// A requester has a packet for an output.
    #[inline(always)] // built elsewhere and copied here, it costs a stall for each packet
    fn ask(&mut self, now: u64, out: u32, asked: Asked) {
        let port = &mut self.ports[out as usize];
        let slot = asked.head.slot;
        self.asking[(port.wire.masks.0 + slot / 64) as usize] |= 1 << (slot % 64);
        port.asking += 1;
        self.asks[(port.wire.first_slot + slot) as usize] = asked;
        let free_at = port.free_at;
        if free_at > now && !port.is_down {
            self.wake(out, free_at);
        } else {
            self.mark(out);
        }
    }

    /// What a requester of an output asks for.
    #[inline]
    pub(super) fn asked(&self, out: u32, slot: u32) -> &Asked {
        &self.asks[(self.ports[out as usize].wire.first_slot + slot) as usize]
    }

    /// The words of an output's mask of requesters.
    pub(super) fn mask(&self, out: u32) -> std::ops::Range<usize> {
        let (first, end) = self.ports[out as usize].wire.masks;
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
        let mut unexplained = std::mem::take(&mut self.unexplained);
        while !self.marked.is_empty() {
            let mut marked = std::mem::take(&mut self.marked);
            marked.sort_unstable();
            self.offers.clear();
            self.heads.clear();
            for &out in &marked {
                let port = &mut self.ports[out as usize];
                port.is_marked = false;
                if !port.unexplained.is_empty() {
                    unexplained.push(out);
                }
                self.offer(now, out)?;
            }
            marked.clear();
            self.marked = marked;
            self.accept(now)?;
        }
        for &out in &unexplained {
            self.explain_waits(now, out);
        }
        unexplained.clear();
        self.unexplained = unexplained;
        Ok(())
    }

    /// Lets a free output choose among those that ask, have credit, and are not sending.
    fn offer(&mut self, now: u64, out: u32) -> Result<(), PacketError> {
        let port = &self.ports[out as usize];
        if port.is_down || port.asking == 0 {
            return Ok(());
        }
        self.pass_dllps(now, out);
        let port = &self.ports[out as usize];
        let (free_at, first_slot) = (port.free_at, port.wire.first_slot);
        if free_at > now {
            self.wake(out, free_at);
            return Ok(());
        }
        let later = self.look_for_candidates(now, out);
        let first = self.heads.len() as u32;
        let slot = match self.candidates[..] {
            [] => {
                self.idle(now, out);
                if later != u64::MAX {
                    self.wake(out, later);
                }
                return Ok(());
            }
            [one] => one,
            _ => self.choose(now, out)?,
        };
        self.offers.push(Offer { out, slot, asked: first_slot + slot, heads: (first, self.heads.len() as u32) });
        Ok(())
    }

    /// Nobody who asks for a free output can be served at `now`.
    fn idle(&mut self, now: u64, out: u32) {
        let port = &mut self.ports[out as usize];
        if !port.is_starved {
            port.end_starved(now);
        } else if port.starved_since == u64::MAX {
            port.starved_since = now;
        }
    }

    /// Collects the requesters of an output that can be served at `now`. Returns when the first of the others may be.
    fn look_for_candidates(&mut self, now: u64, out: u32) -> u64 {
        let Self { ports, asking, asks, credits, candidates, .. } = self;
        let Wire { masks: (first, end), first_slot, .. } = ports[out as usize].wire;
        let first_credit = (out * self.network.channels) as usize;
        let (mut later, mut is_starved) = (u64::MAX, false);
        // Most packets that ask are alike, and have credit together.
        let (mut alike, mut has_credit) = ((u32::MAX, 0, 0), false);
        candidates.clear();
        for word in first..end {
            for slot in slots_of(word - first, asking[word as usize]) {
                let asked = &asks[(first_slot + slot) as usize];
                // An input with one queue asks for nothing while it sends.
                if self.may_decline && asked.input != NONE {
                    let busy_until = ports[asked.input as usize].input.busy_until;
                    if busy_until > now {
                        later = later.min(busy_until);
                        continue;
                    }
                }
                let Head { channel, payload, bytes, .. } = asked.head;
                if alike != (channel, payload, bytes) {
                    alike = (channel, payload, bytes);
                    let credit = &mut credits[first_credit + channel as usize];
                    let room = credit.room(payload, Some(bytes - payload));
                    has_credit = credit.allows(now, room);
                    if !has_credit {
                        is_starved = true;
                        later = later.min(credit.allows_at(room).unwrap_or(u64::MAX));
                    }
                }
                if has_credit {
                    candidates.push(slot);
                }
            }
        }
        ports[out as usize].is_starved = is_starved;
        later
    }

    /// Each input takes the output next after its last one, circularly, and its grant takes place; the others look again.
    fn accept(&mut self, now: u64) -> Result<(), PacketError> {
        let offers = std::mem::take(&mut self.offers);
        // All are judged by what an input accepted before this round: one accepted now puts the others behind it.
        let mut declined = std::mem::take(&mut self.declined);
        declined.clear();
        if self.may_decline && offers.len() > 1 {
            declined.extend((0..offers.len()).map(|at| self.declines(&offers, at)));
        }
        for (at, offer) in offers.iter().enumerate() {
            if declined.get(at).is_some_and(|&is_declined| is_declined) {
                self.mark(offer.out);
                continue;
            }
            let bytes = self.commit(now, offer);
            let port = &self.ports[offer.out as usize];
            let (arbiter, requesters) = (&mut self.arbiters[port.arbiter as usize], port.wire.stride);
            let heads = &self.heads[offer.heads.0 as usize..offer.heads.1 as usize];
            let grant = PortGrant { out: LinkId(offer.out), slot: offer.slot, bytes, requesters, heads: heads.into() };
            arbiter.commit(&grant).map_err(|error| failed(offer.out, error))?;
        }
        (self.offers, self.declined) = (offers, declined);
        Ok(())
    }

    /// Whether another offer to the same input comes first.
    fn declines(&self, offers: &[Offer], at: usize) -> bool {
        let input_of = |offer: &Offer| self.asked(offer.out, offer.slot).input;
        let (out, input) = (offers[at].out, input_of(&offers[at]));
        if input == NONE || !self.ports[input as usize].wire.is_serial {
            return false;
        }
        let last = self.ports[input as usize].input.accepted;
        // Outputs after the last one first, then from the lowest on.
        let order = |out: u32| (last != NONE && out <= last, out);
        offers.iter().any(|other| input_of(other) == input && order(other.out) < order(out))
    }
}
