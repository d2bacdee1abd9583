//! A link in a filling: what is left on it, and the level at which it saturates.

use weir_plugin_api::LinkId;

use super::Flow;

/// A number with the rounding error of its additions (Knuth, *The Art of Computer Programming*, vol. 2, 4.2.2, TwoSum).
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum {
    value: f64,
    error: f64,
}

impl Sum {
    #[inline]
    fn new(value: f64) -> Self {
        Self { value, error: 0.0 }
    }

    #[inline]
    fn add(&mut self, term: f64) {
        let sum = self.value + term;
        let virtual_term = sum - self.value;
        self.error += (self.value - (sum - virtual_term)) + (term - virtual_term);
        self.value = sum;
    }

    #[inline]
    pub(super) fn get(&self) -> f64 {
        self.value + self.error
    }
}

/// A link used by several flows.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))] // one cache line
pub(super) struct Shared {
    /// Capacity left to open flows.
    pub(super) left: Sum,
    /// Weight of open flows.
    pub(super) weight: Sum,
    /// `left / weight`, kept from falling; until that is known, the sum of the own bounds of its flows.
    pub(super) level: f64,
    /// Lower bound of the levels of its open flows' own bounds.
    pub(super) least: f64,
    pub(super) link: LinkId,
    /// Flows on it.
    pub(super) flows: u32,
    /// Flows not yet settled; 0 as well on links that cannot saturate.
    pub(super) open: u32,
    /// Its flows are `members[start..start + flows]` if it can saturate; while they are laid out, where the next goes.
    pub(super) start: u32,
}

impl Shared {
    pub(super) fn new(link: LinkId, capacity: f64) -> Self {
        let (left, weight) = (Sum::new(capacity), Sum::new(0.0));
        Self { left, weight, level: 0.0, least: f64::INFINITY, link, flows: 0, open: 0, start: 0 }
    }

    /// One more flow, before levels are known.
    #[inline]
    pub(super) fn join(&mut self, flow: &Flow) {
        self.flows += 1;
        self.weight.add(flow.weight * flow.count);
        self.level += flow.own_rate * flow.count;
        self.least = self.least.min(flow.own_level);
    }

    /// A flow on it was settled. Nothing happens on links without open flows.
    #[inline]
    pub(super) fn leave(&mut self, used: f64, weight: f64) {
        if self.open > 0 {
            self.open -= 1;
            self.left.add(-used);
            self.weight.add(-weight);
            // With no open flow left this may be 0 / 0, and is never read.
            let level = self.left.get() / self.weight.get();
            if level > self.level {
                self.level = level;
            }
        }
    }

    /// Where its flows are listed.
    pub(super) fn members(&self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.flows) as usize
    }
}
