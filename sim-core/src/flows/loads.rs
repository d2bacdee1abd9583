//! Loads of links: the sums that the check of an answer needs anyway, kept as statistics.

use weir_plugin_api::{LinkId, SimDuration, SimTime};

use crate::answer::Answer;
use crate::fabric::Fabric;
use crate::outcome::LinkTotals;
use crate::routes::{Routes, divided};

#[derive(Clone, Copy, Debug)]
struct LinkLoad {
    bandwidth: f64,
    /// Sum of rates in force, and since when.
    load: f64,
    since: SimTime,
    /// The largest load that has lasted.
    peak: f64,
    /// Since when `load` is above 0.
    busy_since: SimTime,
    busy: SimDuration,
    bytes: u64,
}

/// Loads and totals of all links; one arbitration costs only the classes and links it concerns.
pub(crate) struct Loads {
    links: Vec<LinkLoad>,
}

impl Loads {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let empty = |&bandwidth: &f64| LinkLoad {
            bandwidth,
            load: 0.0,
            since: SimTime::ZERO,
            peak: 0.0,
            busy_since: SimTime::NEVER,
            busy: SimDuration::ZERO,
            bytes: 0,
        };
        Self { links: fabric.bandwidths().iter().map(empty).collect() }
    }

    /// Makes a checked answer the load in force. Links of `touched` that it does not mention have lost all their transfers.
    pub(crate) fn commit(&mut self, now: SimTime, answer: &Answer, touched: &[LinkId]) {
        for &id in answer.used_links() {
            self.links[id.index()].change(now, answer.load(id));
        }
        for &id in touched {
            if answer.load(id) == 0.0 {
                self.links[id.index()].change(now, 0.0);
            }
        }
    }

    /// Of a route's links the one with the largest share of its bandwidth in use, the first of equals.
    pub(crate) fn most_loaded(&self, route: &[LinkId]) -> LinkId {
        let mut best = (LinkId::NONE, -1.0);
        for &id in route {
            let link = &self.links[id.index()];
            let use_ = link.load / link.bandwidth;
            if use_ > best.1 {
                best = (id, use_);
            }
        }
        best.0
    }

    /// Counts bytes that have crossed a route.
    #[inline]
    pub(crate) fn deliver(&mut self, fabric: &Fabric, routes: &Routes, route: &[LinkId], bytes: u64) {
        if routes.has_branches() {
            divided(fabric, route, bytes).for_each(|(branch, bytes)| self.count(branch, bytes));
        } else {
            self.count(route, bytes);
        }
    }

    #[inline]
    fn count(&mut self, links: &[LinkId], bytes: u64) {
        for &id in links {
            self.links[id.index()].bytes += bytes;
        }
    }

    pub(crate) fn totals(&self, now: SimTime) -> Vec<LinkTotals> {
        let total = |l: &LinkLoad| {
            let open = if l.load > 0.0 { now - l.busy_since } else { SimDuration::ZERO };
            LinkTotals { bytes: l.bytes, busy: l.busy.plus(open), peak: Some(l.peak_until(now)) }
        };
        self.links.iter().map(total).collect()
    }
}

impl LinkLoad {
    #[inline]
    fn change(&mut self, now: SimTime, load: f64) {
        match (self.load > 0.0, load > 0.0) {
            (false, true) => self.busy_since = now,
            (true, false) => self.busy = self.busy.plus(now - self.busy_since),
            _ => {}
        }
        self.peak = self.peak_until(now);
        (self.load, self.since) = (load, now);
    }

    /// Rates of an instant at which others follow at once carry nothing.
    #[inline]
    fn peak_until(&self, now: SimTime) -> f64 {
        if now > self.since { self.peak.max(self.load) } else { self.peak }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 B/s for a second, 30 B/s for no time, 4 B/s for a second, and 50 B/s from the stop on.
    #[test]
    fn a_load_that_does_not_last_is_no_peak() {
        let mut link = LinkLoad {
            bandwidth: 50.0,
            load: 0.0,
            since: SimTime::ZERO,
            peak: 0.0,
            busy_since: SimTime::NEVER,
            busy: SimDuration::ZERO,
            bytes: 0,
        };
        let second = |n: u64| SimTime(n * weir_plugin_api::PS_PER_S);
        let changes = [(0, 3.0), (1, 30.0), (1, 4.0), (2, 50.0)];
        for (at, load) in changes {
            link.change(second(at), load);
        }
        assert_eq!([2, 3].map(|now| link.peak_until(second(now))), [4.0, 50.0]);
    }
}
