//! A link in a filling: what is left on it, and the level at which it saturates.

use crate::common::groups::NONE;

/// A number with the rounding error of its additions (Knuth, *The Art of Computer Programming*, vol. 2, 4.2.2, TwoSum).
#[derive(Clone, Copy, Debug)]
struct Sum {
    value: f64,
    error: f64,
}

impl Sum {
    const ZERO: Self = Self { value: 0.0, error: 0.0 };

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

/// What a flow adds to the sums of each link of its route.
pub(super) struct Terms {
    /// Weight of all its transfers.
    pub(super) weight: f64,
    /// Own bound of all its transfers, and its level.
    pub(super) wanted: f64,
    pub(super) level: f64,
    /// Whether the weight of each of its transfers is 1.
    pub(super) plain: bool,
}

/// A link of the fabric in the current filling.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))] // one cache line
pub(super) struct Port {
    /// Capacity left to open flows; known from [`Self::open_to`] on.
    left: Sum,
    weight: Sum,
    /// Sum of the own bounds of its flows.
    wanted: f64,
    /// Lower bound of the levels of its open flows' own bounds.
    pub(super) least: f64,
    /// Flows whose rates are still open; 0 as well on links that cannot saturate.
    pub(super) open: u32,
    /// Its last hop: the head of the list of its hops, which goes back to the first.
    pub(super) last: u32,
    /// Whether all its flows have weight 1: then the sums need no compensation. Weights are exact, and of n transfers
    /// the last has at least 1 / n of the capacity left, so its rate is exact to n² · 2^-53: 5e-13 for 64.
    plain: bool,
}

impl Port {
    /// A link that no flow uses.
    pub(super) const UNUSED: Self = Self {
        left: Sum::ZERO,
        weight: Sum::ZERO,
        wanted: 0.0,
        least: f64::INFINITY,
        open: 0,
        last: NONE,
        plain: true,
    };

    /// One more flow, which comes by at this hop. Returns the hop of the flow before.
    #[inline]
    pub(super) fn join(&mut self, terms: &Terms, hop: u32) -> u32 {
        self.open += 1;
        if terms.plain & self.plain {
            self.weight.value += terms.weight;
        } else {
            self.plain = false;
            self.weight.add(terms.weight);
        }
        self.wanted += terms.wanted;
        self.least = if terms.level < self.least { terms.level } else { self.least };
        std::mem::replace(&mut self.last, hop)
    }

    /// Gives it its capacity. Returns whether its flows want more than that; else it takes no part in the filling.
    #[inline]
    pub(super) fn open_to(&mut self, capacity: f64) -> bool {
        self.left.value = capacity;
        let can_saturate = self.open > 1 && self.wanted > capacity;
        if !can_saturate {
            self.open = 0;
        }
        can_saturate
    }

    /// The rate of a flow on it was fixed. On links without open flows the sums no longer matter; so there is no branch for them.
    #[inline]
    pub(super) fn leave(&mut self, used: f64, weight: f64) {
        self.open = self.open.saturating_sub(1);
        if self.plain {
            self.left.value -= used;
            self.weight.value -= weight;
        } else {
            self.left.add(-used);
            self.weight.add(-weight);
        }
    }

    /// The level at which it saturates as rates are fixed now; for links with open flows.
    #[inline]
    pub(super) fn level(&self) -> f64 {
        // Below zero only by rounding, when nothing is left.
        (self.left.get() / self.weight.get()).max(0.0)
    }
}
