//! Step C by pairs. Classes are looked at one by one only where they come from above to a link that may be overloaded,
//! start at an overloaded port, or are clamped or cut without contention. Lateral links come before: they are ports, too, but
//! cut what arrives in proportion, and always count as contended.

use super::tables::{Class, Pair};
use super::upward::promise;
use super::{Factors, NONE};
use crate::pcie_congestion::EPS;

/// What happens to a class that is looked at one by one, in one event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    /// The event.
    pub(super) event: u64,
    /// Rate after the latest cut or clamp.
    pub(super) rate: f64,
    /// The last hop with a cut of its own at a contended link, or [`NONE`].
    pub(super) contended: u32,
    /// Its cuts, the last one first: an index, or [`NONE`].
    pub(super) cuts: u32,
}

/// A cut of one class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) hop: u32,
    /// y.
    pub(super) rate: f64,
    pub(super) before: u32,
}

/// Classes that come to a port from one link.
#[derive(Clone, Copy, Debug)]
struct Input {
    /// A pair, [`ABOVE`] or [`STARTING`].
    from: u32,
    /// The link down or lateral that those from above come from.
    entering: u32,
    sum: f64,
    crosses: bool,
    quota: f64,
}

const ABOVE: u32 = u32::MAX - 1;
const STARTING: u32 = u32::MAX - 2;

/// The inputs of a port while it is divided.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    list: Vec<Input>,
}

impl Factors {
    /// Divides the ports that have changed, and those that are looked at in each event: lateral links, then from the root down.
    #[inline(never)]
    pub(super) fn divide_downward(&mut self) {
        self.event += 1;
        self.specials.clear();
        self.cuts.clear();
        let first_lateral = self.links.ups.len() as u32;
        self.divide_ports(first_lateral, self.links.downs.len() as u32);
        self.divide_ports(0, first_lateral);
    }

    fn divide_ports(&mut self, mut from: u32, end: u32) {
        while from < end {
            let next = match (self.dirty_downs.next(from), self.awake.next(from)) {
                (Some(a), Some(b)) => a.min(b),
                (Some(a), None) | (None, Some(a)) => a,
                (None, None) => break,
            };
            if next >= end {
                break;
            }
            self.dirty_downs.remove(next);
            self.divide_down(next);
            from = next + 1;
        }
    }

    fn divide_down(&mut self, port: u32) {
        let is_quiet = self.sum_pairs(port);
        self.awake.remove(port);
        self.links.downs[port as usize].overloaded = false;
        if is_quiet {
            return self.promise_pairs(port);
        }
        self.counters.awake += 1;
        let mut inputs = std::mem::take(&mut self.inputs);
        inputs.list.clear();
        self.list_inputs(port, &mut inputs);
        let sum: f64 = inputs.list.iter().map(|input| input.sum).sum();
        let down = &mut self.links.downs[port as usize];
        let capacity = down.capacity();
        down.flow = sum;
        if sum > capacity * (1.0 + EPS) {
            down.overloaded = true;
            let (at_root, contended) = (down.below_root_complex, down.is_lateral || inputs.list.len() > 1);
            if down.is_lateral {
                self.counters.laterals += 1;
                inputs.list.iter_mut().for_each(|input| input.quota = input.sum * capacity / sum);
            } else {
                inputs.set_quotas(capacity, at_root, self.tau);
            }
            self.links.downs[port as usize].flow = inputs.list.iter().map(|input| input.sum.min(input.quota)).sum();
            for input in &inputs.list {
                self.cut_input(port, input, contended);
            }
        }
        self.keep_awake(port);
        self.promise_pairs(port);
        self.inputs = inputs;
    }

    /// R of each pair, none of them cut; whether the port cannot be overloaded and clamps nobody.
    fn sum_pairs(&mut self, port: u32) -> bool {
        let (mut sum, mut clamps) = (0.0, false);
        let down = &self.links.downs[port as usize];
        for &id in &down.pairs {
            let Pair { from, .. } = self.pairs[id as usize];
            let up = &self.links.ups[from as usize];
            let key = u64::from(up.depth) << 32 | u64::from(port + 1);
            let Ok(at) = up.slot(key) else { continue };
            let slot = &up.slots[at];
            let pair = &mut self.pairs[id as usize];
            pair.listed = up.factor * slot.most > down.bandwidth;
            clamps |= pair.listed;
            pair.sum = up.factor * slot.sum;
            pair.before = (pair.factor, pair.cut);
            (pair.factor, pair.cut) = (1.0, false);
            sum += pair.sum;
        }
        let bound = sum
            + f64::from(down.starting_transfers) * down.bandwidth
            + down.reserved as f64 * self.links.part * (1.0 + 1e-12);
        let is_quiet = !clamps && bound <= down.capacity();
        self.links.downs[port as usize].flow = bound;
        is_quiet
    }

    fn list_inputs(&mut self, port: u32, inputs: &mut Inputs) {
        let pairs = std::mem::take(&mut self.links.downs[port as usize].pairs);
        for &id in &pairs {
            let Pair { crossing, listed, sum, .. } = self.pairs[id as usize];
            let sum = if listed { self.clamp(port, |class| class == id) } else { sum };
            inputs.add(id, NONE, sum, crossing > 0);
        }
        let down = &mut self.links.downs[port as usize];
        down.pairs = pairs;
        let (starting, above) = (down.starting_transfers, down.above);
        if starting > 0 {
            let (sum, crosses) = (f64::from(starting) * down.bandwidth, down.crossing_starting > 0);
            inputs.add(STARTING, NONE, sum, crosses);
        }
        if above > 0 {
            self.list_above(port, inputs);
        }
    }

    /// Clamps the classes from above to the port; those from each link are an input.
    fn list_above(&mut self, port: u32, inputs: &mut Inputs) {
        let (first, bandwidth) = (inputs.list.len(), self.links.downs[port as usize].bandwidth);
        for at in 0..self.links.downs[port as usize].classes.len() {
            let class = self.links.downs[port as usize].classes[at];
            let Some((_, entering)) = self.hop_from_above(class, port) else { continue };
            let (sum, crosses) = (self.clamp_class(class, bandwidth), self.classes[class as usize].crosses);
            match inputs.list[first..].iter_mut().find(|input| input.entering == entering) {
                Some(input) => {
                    input.sum += sum;
                    input.crosses |= crosses;
                }
                None => inputs.add(ABOVE, entering, sum, crosses),
            }
        }
    }

    /// The hop of a class on a down link, and the link down or lateral before, if it comes from one.
    pub(super) fn hop_from_above(&self, class: u32, port: u32) -> Option<(u32, u32)> {
        let class = &self.classes[class as usize];
        let links = class.down_links();
        let hop = links.iter().position(|&d| d == port)?;
        (hop > 0).then(|| (hop as u32 + class.ups, links[hop - 1]))
    }

    /// Clamps the classes of a pair to the port; returns their sum.
    fn clamp(&mut self, port: u32, is_of: impl Fn(u32) -> bool) -> f64 {
        let (mut sum, bandwidth) = (0.0, self.links.downs[port as usize].bandwidth);
        for at in 0..self.links.downs[port as usize].classes.len() {
            let class = self.links.downs[port as usize].classes[at];
            if is_of(self.classes[class as usize].pair) {
                sum += self.clamp_class(class, bandwidth);
            }
        }
        sum
    }

    /// x of all transfers of a class at a link.
    fn clamp_class(&mut self, class: u32, bandwidth: f64) -> f64 {
        self.counters.classes += 1;
        let rate = self.rate_so_far(class);
        let transfers = f64::from(self.classes[class as usize].transfers);
        if rate > bandwidth {
            self.mark(class, bandwidth);
        }
        transfers * rate.min(bandwidth)
    }

    /// Its rate after what was divided so far; ρ' in the end.
    pub(super) fn rate_so_far(&self, class: u32) -> f64 {
        let mark = &self.marks[class as usize];
        if mark.event == self.event {
            return mark.rate;
        }
        let class = &self.classes[class as usize];
        let turn = self.pairs.get(class.pair as usize).map_or(1.0, |pair| pair.factor);
        class.up_links().iter().fold(class.bandwidth, |rate, &k| rate * self.links.ups[k as usize].factor) * turn
    }

    /// Sets the rate of one class.
    fn mark(&mut self, class: u32, rate: f64) {
        let mark = &mut self.marks[class as usize];
        if mark.event != self.event {
            *mark = Mark { event: self.event, rate, contended: NONE, cuts: NONE };
            self.specials.push(class);
            let Class { source, transfers, .. } = self.classes[class as usize];
            if let Some(source) = self.sources.get_mut(source as usize) {
                let before = if source.looked_at.0 == self.event { source.looked_at.1 } else { 0 };
                source.looked_at = (self.event, before + transfers);
            }
        }
        self.marks[class as usize].rate = rate;
    }

    fn cut_class(&mut self, class: u32, hop: u32, rate: f64, contended: bool) {
        self.mark(class, rate);
        let mark = &mut self.marks[class as usize];
        self.cuts.push(Cut { hop, rate, before: mark.cuts });
        mark.cuts = self.cuts.len() as u32 - 1;
        if contended {
            mark.contended = hop;
        }
    }

    /// Cuts an input to its quota: a pair as a whole where all of it is cut alike, else class by class.
    fn cut_input(&mut self, port: u32, input: &Input, contended: bool) {
        if !self.links.downs[port as usize].is_lateral && input.sum <= input.quota * (1.0 + EPS) {
            return;
        }
        if input.from < STARTING && contended && !self.pairs[input.from as usize].listed {
            let pair = &mut self.pairs[input.from as usize];
            (pair.factor, pair.cut) = (input.quota / input.sum, true);
            return;
        }
        if input.from < STARTING {
            self.pairs[input.from as usize].listed = true;
        }
        let bandwidth = self.links.downs[port as usize].bandwidth;
        for at in 0..self.links.downs[port as usize].classes.len() {
            let id = self.links.downs[port as usize].classes[at];
            let class = &self.classes[id as usize];
            let hop = match input.from {
                ABOVE => self.hop_from_above(id, port).filter(|hop| hop.1 == input.entering).map(|hop| hop.0),
                STARTING => (class.route[0] == port && class.ups == 0).then_some(0),
                pair => (class.pair == pair).then_some(class.ups),
            };
            if let Some(hop) = hop {
                let rate = self.rate_so_far(id).min(bandwidth) * input.quota / input.sum;
                self.cut_class(id, hop, rate, contended);
            }
        }
    }

    /// Whether a port must be looked at in each event: something on it is treated class by class.
    fn keep_awake(&mut self, port: u32) {
        let down = &self.links.downs[port as usize];
        let listed = down.pairs.iter().any(|&id| self.pairs[id as usize].listed);
        if listed || down.above > 0 || down.overloaded && down.starting_transfers > 0 {
            self.awake.insert(port);
        }
    }

    fn promise_pairs(&mut self, port: u32) {
        for at in 0..self.links.downs[port as usize].pairs.len() {
            let id = self.links.downs[port as usize].pairs[at];
            let Pair { factor, cut, before, .. } = self.pairs[id as usize];
            if (factor, cut) != before {
                self.promise_pair(id);
                self.tell_links_before(id);
            }
        }
    }

    /// Where the factor of a pair has changed, so have the links before.
    fn tell_links_before(&mut self, id: u32) {
        let Pair { from, port, cut, before, .. } = self.pairs[id as usize];
        self.to_grow.insert(from);
        if cut == before.1 {
            return;
        }
        self.grow_slot(from, u64::from(self.links.ups[from as usize].depth) << 32 | u64::from(port + 1));
    }

    /// Marks the links of a slot from one downwards, and looks at those of its sources.
    fn grow_slot(&mut self, link: u32, key: u64) {
        if self.links.ups[link as usize].slot(key).is_ok() {
            self.to_grow.insert(link);
            if let Some(source) = self.source_at(link, key) {
                self.count_anew(source);
            }
            let (first, end) = self.links.ups[link as usize].children;
            (first..end).for_each(|child| self.grow_slot(child, key));
        }
    }

    fn promise_pair(&mut self, id: u32) {
        let Pair { promise: old, factor, port, .. } = self.pairs[id as usize];
        let promised = promise(old, factor);
        if promised == old {
            return;
        }
        self.pairs[id as usize].promise = promised;
        for at in 0..self.links.downs[port as usize].classes.len() {
            let class = self.links.downs[port as usize].classes[at];
            if self.classes[class as usize].pair == id {
                self.reserve(class);
            }
        }
    }
}

impl Inputs {
    fn add(&mut self, from: u32, entering: u32, sum: f64, crosses: bool) {
        self.list.push(Input { from, entering, sum, crosses, quota: f64::INFINITY });
    }

    /// Equal quotas at the root complex's own port and where nobody crosses it; else by weight.
    fn set_quotas(&mut self, capacity: f64, below_root_complex: bool, tau: f64) {
        let is_even = below_root_complex || self.list.iter().all(|input| !input.crosses);
        let weight = |input: &Input| match (is_even, input.crosses) {
            (true, _) => 1.0,
            (false, true) => 0.5 - tau,
            (false, false) => 0.5 + tau,
        };
        let total: f64 = self.list.iter().map(weight).sum();
        for input in &mut self.list {
            input.quota = capacity * weight(input) / total;
        }
    }
}
