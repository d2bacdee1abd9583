//! Who gets an output, and what a grant brings about.

use weir_plugin_api::{LinkId, PortGrant};

use super::choices::failed;
use super::{Engine, NONE, OF_LINK, Packet, PacketError, REQUESTS, Requester};

/// An output that would serve a requester.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) out: u32,
    pub(super) slot: u32,
    /// Where among `heads` those are that the arbiter chose among; nowhere if one asked alone.
    pub(super) heads: (u32, u32),
}

/// What a requester asks for: the same from when it asks until it is granted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) requester: Requester,
    pub(super) transfer: u32,
    /// Bytes of payload to send, and on the wire.
    pub(super) piece: u32,
    pub(super) bytes: u32,
    /// How many units of its transfer that is: bytes, or one request.
    pub(super) units: u32,
    /// Where in the list of routes its link is.
    pub(super) place: u32,
    pub(super) channel: u16,
    pub(super) header: u16,
    /// Nothing of its transfer is left to send after it.
    pub(super) is_last: bool,
}

impl Asked {
    /// Of a requester that has not asked yet.
    pub(super) const NOTHING: Self = Self {
        requester: Requester::Engine { node: NONE, engine: NONE },
        transfer: NONE,
        piece: 0,
        bytes: 0,
        units: 0,
        place: 0,
        channel: 0,
        header: OF_LINK,
        is_last: false,
    };

    /// The link whose buffer it is in, or [`NONE`].
    #[inline]
    pub(super) fn input(&self) -> u32 {
        match self.requester {
            Requester::Queue { input, .. } => input,
            Requester::Engine { .. } => NONE,
        }
    }
}

impl Engine {
    /// The packet at the head of a queue asks for an output.
    pub(super) fn ask_from_queue(&mut self, queue: u32) {
        let packet = &self.packets[self.queues[queue as usize].first as usize];
        let Packet { out, transfer, payload, channel, header, place, is_last, .. } = *packet;
        let input = self.routes[place as usize - 1];
        let slot = self.slot_of_input(out, input, u32::from(channel));
        let wire = &self.wires[out as usize];
        let piece = payload.min(wire.piece(&self.wires[input as usize]));
        let bytes = piece + wire.header_of(header);
        let units = if transfer < REQUESTS { piece } else { 1 };
        let is_last = is_last && piece == payload;
        let requester = Requester::Queue { queue, input };
        self.ask(out, slot, Asked { requester, transfer, piece, bytes, units, place, channel, header, is_last });
    }

    /// The next packet of a transfer at an engine of its source asks for the first link of its route.
    pub(super) fn ask_from_source(&mut self, now: u64, id: u32) {
        let of = self.transfers.get_mut(&id).expect("a transfer under way");
        of.is_asking = true;
        let (out, engine, channel, header, place) = (of.first, of.engine, of.channel, of.header, of.route.0);
        self.sums[out as usize].visible.add(of.ready);
        let port = &mut self.ports[out as usize];
        of.held.begin(port.own_end(now, id));
        if !port.unexplained.contains(&id) {
            port.unexplained.push(id);
        }
        let wire = &self.wires[out as usize];
        let whole = u64::from(wire.payload).min(of.left);
        let units = of.read.as_ref().map_or(whole, |asked| asked.piece(of.bytes - of.left).min(whole)) as u32;
        let (piece, units) = if id < REQUESTS { (units, units) } else { (0, 1) };
        let is_last = u64::from(units) == of.left;
        let bytes = piece + wire.header_of(header);
        let slot = self.slot_of_engine(out, engine, u32::from(channel));
        let requester = Requester::Engine { node: wire.from, engine };
        self.ask(out, slot, Asked { requester, transfer: id, piece, bytes, units, place, channel, header, is_last });
    }

    /// A requester has a packet for an output.
    fn ask(&mut self, out: u32, slot: u32, asked: Asked) {
        let wire = &self.wires[out as usize];
        self.asking[(wire.masks.0 + slot / 64) as usize] |= 1 << (slot % 64);
        self.asks[(wire.first_slot + slot) as usize] = asked;
        self.mark(out);
    }

    /// What a requester of an output asks for.
    #[inline]
    pub(super) fn asked(&self, out: u32, slot: u32) -> &Asked {
        &self.asks[(self.wires[out as usize].first_slot + slot) as usize]
    }

    /// When the packet of a requester was ready at its source, and when it could be sent on.
    pub(super) fn ready_and_visible(&self, asked: &Asked) -> (u64, u64) {
        match asked.requester {
            Requester::Queue { queue, .. } => {
                let packet = &self.packets[self.queues[queue as usize].first as usize];
                (packet.ready, packet.visible)
            }
            Requester::Engine { .. } => {
                let ready = self.transfer(asked.transfer).ready;
                (ready, ready)
            }
        }
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
        let mask = self.mask(out);
        if self.ports[out as usize].is_down || self.asking[mask.clone()].iter().all(|&word| word == 0) {
            return Ok(());
        }
        self.pass_dllps(now, out);
        if self.ports[out as usize].free_at > now {
            self.wake(out, self.ports[out as usize].free_at);
            return Ok(());
        }
        self.candidates.clear();
        self.ports[out as usize].is_starved = false;
        let later = self.look_for_candidates(now, out, mask);
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
        self.offers.push(Offer { out, slot, heads: (first, self.heads.len() as u32) });
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
    pub(super) fn end_starved(&mut self, now: u64, out: u32) {
        let since = std::mem::replace(&mut self.ports[out as usize].starved_since, u64::MAX);
        self.sums[out as usize].counts.starved += now.saturating_sub(since);
    }

    /// Collects the requesters of an output that can be served at `now`. Returns when the first of the others may be.
    fn look_for_candidates(&mut self, now: u64, out: u32, mask: std::ops::Range<usize>) -> u64 {
        let wire = &self.wires[out as usize];
        let first_credit = (out * self.network.channels) as usize;
        let (mut later, mut denied) = (u64::MAX, None);
        for (at, word) in mask.enumerate() {
            let mut bits = self.asking[word];
            while bits != 0 {
                let slot = at as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                let asked = &self.asks[(wire.first_slot + slot) as usize];
                let input = asked.input();
                if input != NONE && self.ports[input as usize].input.busy_until > now {
                    later = later.min(self.ports[input as usize].input.busy_until);
                    continue;
                }
                let credit = &mut self.credits[first_credit + usize::from(asked.channel)];
                let room = credit.room(asked.piece, Some(asked.bytes - asked.piece));
                if denied == Some((asked.channel, room)) {
                    continue;
                }
                if credit.allows(now, room) {
                    self.candidates.push(slot);
                } else {
                    denied = Some((asked.channel, room));
                    self.ports[out as usize].is_starved = true;
                    later = later.min(credit.allows_at(room).unwrap_or(u64::MAX));
                }
            }
        }
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
            let arbiter = &mut self.arbiters[self.arbiter_of[offer.out as usize] as usize];
            let heads = &self.heads[offer.heads.0 as usize..offer.heads.1 as usize];
            let requesters = self.wires[offer.out as usize].stride;
            let grant = PortGrant { out: LinkId(offer.out), slot: offer.slot, bytes, requesters, heads: heads.into() };
            arbiter.commit(&grant).map_err(|error| failed(offer.out, error))?;
        }
        (self.offers, self.declined) = (offers, declined);
        Ok(())
    }

    /// Whether another offer to the same input comes first.
    fn declines(&self, offers: &[Offer], at: usize) -> bool {
        let input_of = |offer: &Offer| self.asked(offer.out, offer.slot).input();
        let (out, input) = (offers[at].out, input_of(&offers[at]));
        if input == NONE || !self.wires[input as usize].is_serial {
            return false;
        }
        let last = self.ports[input as usize].input.accepted;
        // Outputs after the last one first, then from the lowest on.
        let order = |out: u32| (last != NONE && out <= last, out);
        offers.iter().any(|other| input_of(other) == input && order(other.out) < order(out))
    }
}
