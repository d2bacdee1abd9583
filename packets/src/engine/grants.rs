//! Who gets an output, and what a grant brings about.

use weir_plugin_api::{Head, LinkId, PortGrant, SimTime, TransferId};

use super::choices::failed;
use super::{Engine, NONE, Packet, PacketError, REQUESTS, Requester};

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
    pub(super) channel: u16,
    pub(super) header: u16,
    /// Where in the list of routes its link is.
    pub(super) place: u32,
    pub(super) ready: u64,
    pub(super) visible: u64,
    /// Nothing of its transfer is left to send after it.
    pub(super) is_last: bool,
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
        if self.ports[out as usize].is_down || self.asking[mask.clone()].iter().all(|&word| word == 0) {
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
    pub(super) fn end_starved(&mut self, now: u64, out: u32) {
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
        // All are judged by what an input accepted before this round: one accepted now puts the others behind it.
        let mut declined = std::mem::take(&mut self.declined);
        declined.clear();
        declined.extend((0..offers.len()).map(|at| self.declines(&offers, at)));
        for (offer, &is_declined) in offers.iter().zip(&declined) {
            if is_declined {
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
        (self.offers, self.declined) = (offers, declined);
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
}
