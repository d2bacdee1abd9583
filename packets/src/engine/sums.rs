//! What can be added up over periods: sums of times, and a digest of grants that is linear in them.

use super::LinkCounts;

/// What has crossed a link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkSums {
    pub(super) counts: LinkCounts,
    /// When packets could be sent over it, and when they were.
    pub(super) visible: TimeSum,
    pub(super) granted: TimeSum,
    /// Of its grants.
    pub(super) digest: Digest,
}

/// Sums of times of one link, from which waits follow: they can be added up over periods.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimeSum {
    pub(super) count: u64,
    /// Modulo 2^64.
    pub(super) sum: u64,
}

impl TimeSum {
    pub(super) fn add(&mut self, time: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(time);
    }

    /// Adds `n` periods of `period` ps, the last of which brought it from `before` to where it is.
    pub(super) fn repeat(&mut self, before: Self, n: u64, period: u64) {
        let (count, sum) = (self.count - before.count, self.sum.wrapping_sub(before.sum));
        self.count += n * count;
        self.sum = self.sum.wrapping_add(sum.wrapping_mul(n));
        self.sum = self.sum.wrapping_add(count.wrapping_mul(period).wrapping_mul(triangle(n)));
    }
}

/// A digest of grants that can be added up over periods: it is linear in the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Digest {
    /// Σ a, a being a number of (link, transfer).
    weights: u64,
    /// Σ a · time.
    moments: u64,
}

impl Digest {
    pub(super) fn add(&mut self, time: u64, link: u32, transfer: u32) {
        let mut a = (u64::from(link) << 32 | u64::from(transfer)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        a = (a ^ (a >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        a ^= a >> 27;
        self.weights = self.weights.wrapping_add(a);
        self.moments = self.moments.wrapping_add(a.wrapping_mul(time));
    }

    /// What was added since it was `before`.
    pub(super) fn since(self, before: Self) -> Self {
        Self { weights: self.weights.wrapping_sub(before.weights), moments: self.moments.wrapping_sub(before.moments) }
    }

    /// The same grants, all so much later.
    pub(super) fn later(self, by: u64) -> Self {
        Self { moments: self.moments.wrapping_add(self.weights.wrapping_mul(by)), ..self }
    }

    pub(super) fn value(self) -> u64 {
        (self.moments ^ self.weights.rotate_left(32)).wrapping_mul(0x94d0_49bb_1331_11eb)
    }

    /// Adds `n` periods of `period` ps, the last of which brought it from `before` to where it is.
    pub(super) fn repeat(&mut self, before: Self, n: u64, period: u64) {
        let (a, m) = (self.weights.wrapping_sub(before.weights), self.moments.wrapping_sub(before.moments));
        self.weights = self.weights.wrapping_add(a.wrapping_mul(n));
        let later = a.wrapping_mul(period).wrapping_mul(triangle(n));
        self.moments = self.moments.wrapping_add(m.wrapping_mul(n)).wrapping_add(later);
    }
}

/// n (n + 1) / 2, modulo 2^64.
fn triangle(n: u64) -> u64 {
    (u128::from(n) * u128::from(n + 1) / 2) as u64
}
