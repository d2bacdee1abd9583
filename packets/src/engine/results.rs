//! What a run has done so far.

use super::{Engine, Held, HeldCause, LinkCounts, NONE};

impl Engine {
    /// How the source of a transfer was held up until `at`, no earlier than [`Self::reached`], from the longest on. What lasts
    /// counts until then.
    #[must_use]
    pub fn held(&self, id: u32, at: u64) -> Vec<Held> {
        let Some(transfer) = self.transfers.get(id) else { return Vec::new() };
        let mut log = transfer.held.counted_until(at);
        let out = transfer.first;
        if transfer.interval > 0 && !transfer.is_asking && transfer.ready > at && transfer.left > 0 {
            let from = self.ports[out as usize].own_end(at, id);
            // All of it was added when it began.
            log.take_back((HeldCause::Limit, out, NONE), transfer.ready.saturating_sub(from));
        }
        if let Some(since) = transfer.shut {
            log.add((HeldCause::Window, out, NONE), at.saturating_sub(since));
        }
        if let Some((since, Some(reason))) = transfer.read.as_ref().and_then(|read| read.idle()) {
            log.add(reason, at.saturating_sub(since));
        }
        log.sorted()
    }

    /// The longest wait of a transfer in a buffer on its way that is due to others: of its last packet, or behind another
    /// transfer's packet that goes elsewhere.
    #[must_use]
    pub fn queued(&self, id: u32) -> Option<Held> {
        self.transfers.get(id)?.queued
    }

    /// When a transfer was admitted, ps; `None` where it was not.
    #[must_use]
    pub fn start(&self, id: u32) -> Option<u64> {
        Some(self.transfers.get(id)?.start)
    }

    /// Bytes of payload of a transfer that have left its source.
    #[must_use]
    pub fn sent_bytes(&self, id: u32, total: u64) -> u64 {
        self.transfers.get(id).map_or(0, |t| total - t.left)
    }

    /// The last instant that packets have come to, ps: sets of transfers that were moved on are ahead of [`Self::now`].
    #[must_use]
    pub fn reached(&self) -> u64 {
        self.now.max(self.periods.reached)
    }

    /// What crossed each link until `at`, no earlier than [`Self::reached`]. Packets count as a whole, times until then.
    #[must_use]
    pub fn counts(&self, at: u64) -> Vec<LinkCounts> {
        let mut waiting = vec![0_u64; self.ports.len()];
        for queue in &self.queues {
            let mut at = queue.first;
            while at != NONE {
                let packet = &self.packets[at as usize];
                let out = packet.out as usize;
                waiting[out] = waiting[out].wrapping_add(packet.visible);
                at = packet.next;
            }
        }
        for id in self.sources.iter().flat_map(|source| &source.engines).filter(|&&id| id != NONE) {
            let transfer = self.transfer(*id);
            if transfer.is_asking {
                let out = transfer.first as usize;
                waiting[out] = waiting[out].wrapping_add(transfer.visible());
            }
        }
        let waited = |(link, waiting): (u32, u64)| {
            let sums = &self.ports[link as usize].sums;
            let (busy, starved) = self.times_until(at, link);
            LinkCounts {
                waited: sums.granted.sum.wrapping_sub(sums.visible.sum).wrapping_add(waiting),
                whole: sums.granted.count,
                dllps: sums.counts.dllps + self.busy_until(at, link).1,
                busy,
                starved,
                ..sums.counts
            }
        };
        (0..).zip(waiting).map(waited).collect()
    }

    /// Picoseconds until `at`, no earlier than its last grant, in which a link has sent, and in which it was free and nobody who
    /// asked for it had credit.
    pub(super) fn times_until(&self, at: u64, link: u32) -> (u64, u64) {
        let counts = &self.ports[link as usize].sums.counts;
        let (free_at, dllps) = self.busy_until(at, link);
        let of_dllps = dllps * self.ports[link as usize].wire.dllp_time;
        let busy = (counts.busy + of_dllps).saturating_sub(free_at.saturating_sub(at));
        let since = self.ports[link as usize].starved_since.saturating_add(of_dllps);
        (busy, counts.starved + at.saturating_sub(since))
    }

    /// Packets times links until now, those that were skipped included.
    #[must_use]
    pub fn hops(&self) -> u64 {
        self.hops + self.periods.skipped
    }

    /// Most packets in buffers of switches or on their way there at one time.
    #[must_use]
    pub fn most_packets(&self) -> usize {
        // One place for each: those that are free again are used first.
        self.packets.len()
    }

    /// Those that were skipped.
    #[must_use]
    pub fn skipped_hops(&self) -> u64 {
        self.periods.skipped
    }

    /// A digest of all grants: time, link, transfer.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.ports.iter().fold(0, |sum: u64, port| sum.wrapping_add(port.sums.digest.value()))
    }

    /// Whether every buffer is empty and every credit at home, at a time when all notices were taken.
    #[must_use]
    pub fn is_drained(&mut self, now: u64) -> bool {
        let channels = self.network.channels as usize;
        let of_link = |at: usize| &self.network.links[at / channels];
        let mut credits = self.credits.iter_mut().enumerate();
        let is_home = credits.all(|(at, credit)| credit.is_home(now, of_link(at).buffer, of_link(at).headers));
        is_home && self.ports.iter().all(|port| port.inside == 0) && self.queues.iter().all(|queue| queue.first == NONE)
    }
}
