//! A set of transfers that has come into a period is moved on by many at once.

use super::skip::{Component, Saved};
use super::sums::LinkSums;
use super::{Engine, REQUESTS};

impl Engine {
    /// Nothing from outside happens before this: `until`, or the first end that another set could have.
    pub(super) fn bound(&self, now: u64, until: u64, component: &Component) -> u64 {
        let mut bound = until.min(self.notices.next_time());
        if let Some(fills) = &self.fills {
            bound = bound.min(fills.end_of_bin(now));
        }
        let others = self.transfers.iter().filter(|(id, other)| *id < REQUESTS && other.missing > 0);
        let others = others.filter(|(id, _)| component.transfers.binary_search(id).is_err());
        for (_, transfer) in others {
            let link = &self.network.links[transfer.first as usize];
            let packets = transfer.left.div_ceil(u64::from(link.payload)).saturating_sub(1);
            let header = link.header.min(u32::from(transfer.header));
            let least = packets.saturating_mul(link.rate.time(u64::from(link.payload + header)));
            // A set that was moved on is ahead of now.
            bound = bound.min(transfer.ready.max(now).saturating_add(least));
        }
        bound
    }

    /// Moves a set on by as many periods as fit before `bound`. Returns whether any do.
    pub(super) fn skip(&mut self, now: u64, bound: u64, component: &Component, saved: &Saved, moves: &[bool]) -> bool {
        let period = now - saved.time;
        if period == 0 || bound <= now {
            return false;
        }
        let mut n = (bound - 1 - now) / period;
        for (&id, (before, _)) in component.transfers.iter().zip(&saved.transfers) {
            let transfer = self.transfer(id);
            let sent = before.left - transfer.left;
            let spare = transfer.left.saturating_sub(2 * u64::from(transfer.payload));
            n = n.min(spare.checked_div(sent).unwrap_or(u64::MAX));
        }
        if n == 0 {
            return false;
        }
        if let Some(cycles) = &mut self.cycles {
            for (&link, before) in component.links.iter().zip(&saved.links) {
                let grants = self.ports[link as usize].sums.counts.packets - before.counts.packets;
                cycles.repeat(link, grants, n, period);
            }
        }
        let areas = self.areas(now, component);
        if let Some(fills) = &mut self.fills {
            for (&link, &before) in component.links.iter().zip(&saved.areas).filter(|_| !areas.is_empty()) {
                fills.repeat(now, link, before, n, period);
            }
        }
        self.add_periods(n, period, component, saved);
        for (&link, before) in component.links.iter().zip(&saved.links) {
            let sums = &mut self.ports[link as usize].sums;
            sums.digest.repeat(before.digest, n, period);
            sums.visible.repeat(before.visible, n, period);
            sums.granted.repeat(before.granted, n, period);
        }
        self.shift(now, n * period, component, moves);
        self.periods.reached = self.periods.reached.max(now + n * period);
        true
    }

    /// Adds `n` times what has been counted since a state was saved, a period ago.
    fn add_periods(&mut self, n: u64, period: u64, component: &Component, saved: &Saved) {
        for (&link, LinkSums { counts: before, .. }) in component.links.iter().zip(&saved.links) {
            let counts = &mut self.ports[link as usize].sums.counts;
            let packets = n * (counts.packets - before.packets);
            counts.packets += packets;
            self.periods.skipped += packets;
            counts.payload += n * (counts.payload - before.payload);
            counts.wire += n * (counts.wire - before.wire);
            let passed = n * (counts.dllps - before.dllps);
            counts.dllps += passed;
            let dllps = &mut self.dllps[link as usize];
            if dllps.busy_since > saved.time {
                dllps.busy_since += n * period;
            } else {
                dllps.passed += passed;
            }
            counts.busy += n * (counts.busy - before.busy);
            counts.starved += n * (counts.starved - before.starved);
        }
        for (&id, (before, held)) in component.transfers.iter().zip(&saved.transfers) {
            let transfer = self.transfer_mut(id);
            transfer.left -= n * (before.left - transfer.left);
            transfer.missing -= n * (before.missing - transfer.missing);
            transfer.granted += n * (transfer.granted - before.granted);
            transfer.come += n * (transfer.come - before.come);
            transfer.held.repeat(held, n);
        }
    }

    /// Moves all times of a set that matter from now on by `span`.
    fn shift(&mut self, now: u64, span: u64, component: &Component, moves: &[bool]) {
        let mut moves = moves.iter();
        self.each_moment(component, |moment| {
            if moves.next() == Some(&true) {
                *moment += span;
            }
        });
        self.asks_again(component);
        let later = |time: &mut u64| {
            if *time > now && *time != u64::MAX {
                *time += span;
            }
        };
        let channels = self.network.channels;
        for &link in &component.links {
            let port = &mut self.ports[link as usize];
            later(&mut port.free_at);
            later(&mut port.wake_at);
            later(&mut port.input.busy_until);
            self.dllps[link as usize].due.iter_mut().for_each(|due| *due += span);
            (0..channels).for_each(|c| self.credits[(link * channels + c) as usize].shift(span));
        }
        let events = std::mem::take(&mut self.events);
        self.events = events
            .iter()
            .map(|(time, event)| match self.is_of(component, event) {
                true => (time + span, event),
                false => (time, event),
            })
            .collect();
    }
}
