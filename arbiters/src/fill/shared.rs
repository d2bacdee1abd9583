//! A link in a filling: what is left on it, and the level at which it saturates.

use weir_plugin_api::LinkId;

use super::Flow;

/// A number with the rounding error of its additions (Knuth, *The Art of Computer Programming*, vol. 2, 4.2.2, TwoSum).
#[derive(Clone, Copy, Debug)]
struct Sum {
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
    fn get(&self) -> f64 {
        self.value + self.error
    }
}

/// A link used by several flows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    /// Capacity left to open flows.
    left: Sum,
    /// Weight of open flows.
    weight: Sum,
    /// Sum of the own bounds of its flows.
    wanted: f64,
    /// Lower bound of the levels of its open flows' own bounds.
    pub(super) least: f64,
    pub(super) link: LinkId,
    /// Flows on it.
    pub(super) flows: u32,
    /// Flows not yet settled; 0 as well on links that cannot saturate.
    pub(super) open: u32,
    /// Its flows are `members[start..start + flows]` if it can saturate; while they are laid out, where the next goes.
    pub(super) start: u32,
    /// Whether all its flows have weight 1: then the sums need no compensation. Weights are exact, and of n transfers
    /// the last has at least 1 / n of the capacity left, so its rate is exact to n² · 2^-53: 5e-13 for 64.
    plain: bool,
}

impl Shared {
    pub(super) fn new(link: LinkId, capacity: f64) -> Self {
        let (left, weight) = (Sum::new(capacity), Sum::new(0.0));
        Self { left, weight, wanted: 0.0, least: f64::INFINITY, link, flows: 0, open: 0, start: 0, plain: true }
    }

    /// One more flow, before levels are known.
    #[inline]
    pub(super) fn join(&mut self, flow: &Flow) {
        self.flows += 1;
        self.plain &= flow.weight == 1.0;
        if self.plain {
            self.weight.value += flow.count;
        } else {
            self.weight.add(flow.weight * flow.count);
        }
        self.wanted += flow.own_rate * flow.count;
        self.least = self.least.min(flow.own_level);
    }

    /// Whether its flows want more than it has.
    pub(super) fn can_saturate(&self) -> bool {
        self.wanted > self.left.get()
    }

    /// A flow on it was settled. Nothing happens on links without open flows.
    #[inline]
    pub(super) fn leave(&mut self, used: f64, weight: f64) {
        if self.open == 0 {
            return;
        }
        self.open -= 1;
        if self.plain {
            self.left.value -= used;
            self.weight.value -= weight;
        } else {
            self.left.add(-used);
            self.weight.add(-weight);
        }
    }

    /// The level at which it saturates as flows are settled now; for links with open flows.
    #[inline]
    pub(super) fn level(&self) -> f64 {
        // Below zero only by rounding, when nothing is left.
        (self.left.get() / self.weight.get()).max(0.0)
    }

    /// Where its flows are listed.
    pub(super) fn members(&self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.flows) as usize
    }
}
