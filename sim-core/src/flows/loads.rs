//! Loads of links: the sums that the check needs anyway, kept as statistics.

use weir_plugin_api::{ClassId, LinkId, SimDuration, SimTime};

use crate::fabric::Fabric;
use crate::outcome::LinkTotals;

/// Tolerance of a link's sum of rates, relative to its bandwidth.
pub(crate) const TOLERANCE: f64 = 2e-9;

#[derive(Clone, Copy, Debug)]
struct LinkLoad {
    bandwidth: f64,
    /// Sum of rates in force.
    load: f64,
    peak: f64,
    /// Since when `load` is above 0.
    busy_since: SimTime,
    busy: SimDuration,
    bytes: u64,
}

/// Loads and totals of all links; one arbitration costs only the classes and links it concerns.
pub(crate) struct Loads {
    links: Vec<LinkLoad>,
    /// Per link: the sum of the rates of the answer being checked; 0 for links that it does not use.
    sums: Vec<f64>,
    /// The links of `sums` above 0, and perhaps some at 0.
    proposed: Vec<LinkId>,
    mark: u32,
    /// Per class: the mark of the answer it was last seen in, and the sum of its rates there.
    classes: Vec<(u32, f64)>,
    seen: Vec<ClassId>,
}

impl Loads {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        let empty = |&bandwidth: &f64| LinkLoad {
            bandwidth,
            load: 0.0,
            peak: 0.0,
            busy_since: SimTime::NEVER,
            busy: SimDuration::ZERO,
            bytes: 0,
        };
        Self {
            links: fabric.bandwidths().iter().map(empty).collect(),
            sums: vec![0.0; fabric.links().len()],
            proposed: Vec::new(),
            mark: 0,
            classes: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// Begins the sums of a new answer; class ids are below `classes`.
    pub(crate) fn begin(&mut self, classes: usize) {
        for link in self.proposed.drain(..) {
            self.sums[link.index()] = 0.0;
        }
        self.seen.clear();
        self.classes.resize(classes, (0, 0.0));
        self.mark = self.mark.wrapping_add(1);
        if self.mark == 0 {
            self.classes.iter_mut().for_each(|c| c.0 = 0);
            self.mark = 1;
        }
    }

    /// Adds the rate of a transfer of a class.
    #[inline]
    pub(crate) fn add(&mut self, class: ClassId, rate: f64) {
        let (mark, sum) = &mut self.classes[class.index()];
        if *mark == self.mark {
            *sum += rate;
        } else {
            (*mark, *sum) = (self.mark, rate);
            self.seen.push(class);
        }
    }

    /// Sums the classes per link; the first link whose sum exceeds its bandwidth.
    pub(crate) fn overloaded<'r>(&mut self, route_of: impl Fn(ClassId) -> &'r [LinkId]) -> Option<LinkId> {
        let sums = self.sums.as_mut_slice();
        for &class in &self.seen {
            let rate = self.classes[class.index()].1;
            for &link in route_of(class) {
                let sum = &mut sums[link.index()];
                if *sum == 0.0 {
                    self.proposed.push(link);
                }
                *sum += rate;
            }
        }
        let over = |l: &LinkId| self.sums[l.index()] > self.links[l.index()].bandwidth * (1.0 + TOLERANCE);
        self.proposed.iter().copied().find(over)
    }

    /// The sum of the answer being checked.
    pub(crate) fn proposed(&self, link: LinkId) -> f64 {
        self.sums[link.index()]
    }

    /// Makes the answer the load in force. Links of `touched` that it does not mention have lost all their transfers.
    pub(crate) fn commit(&mut self, now: SimTime, touched: &[LinkId]) {
        for &id in &self.proposed {
            self.links[id.index()].change(now, self.sums[id.index()]);
        }
        for &id in touched {
            if self.sums[id.index()] == 0.0 {
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
    pub(crate) fn deliver(&mut self, route: &[LinkId], bytes: u64) {
        for &id in route {
            self.links[id.index()].bytes += bytes;
        }
    }

    pub(crate) fn totals(&self, now: SimTime) -> Vec<LinkTotals> {
        let total = |l: &LinkLoad| {
            let open = if l.load > 0.0 { now - l.busy_since } else { SimDuration::ZERO };
            LinkTotals { bytes: l.bytes, busy: l.busy.plus(open), peak: Some(l.peak) }
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
        self.load = load;
        self.peak = self.peak.max(load);
    }
}
