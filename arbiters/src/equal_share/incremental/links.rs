//! What is kept of a link.

use weir_plugin_api::{Level, NO_LEVEL as INF};

/// A link, or a limit of some classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) capacity: u64,
    /// Transfers on it.
    pub(super) transfers: u64,
    /// What each may have at most; of a limit, its level. Of a link without transfers, [`INF`].
    pub(super) share: Level,
    /// The share when it was looked at last.
    pub(super) before: Level,
    /// At least the share of each class on it that another link holds back.
    pub(super) hint: Level,
    /// Transfers that it holds back.
    pub(super) own: u64,
    /// What it has of the others, in units, where loads are kept. Sums and products wrap: what a link of the fabric carries is
    /// below 2^63, and so exact in the end. (Limits sum over links, and nobody reads what they carry.)
    pub(super) others: u64,
    /// What the host knows.
    pub(super) told: Level,
    /// Whether it is in `changed`, and in `stirred`.
    pub(super) is_changed: bool,
    pub(super) is_stirred: bool,
    pub(super) peak: u64,
}

impl Link {
    pub(super) fn new(capacity: u64, share: Level) -> Self {
        Self {
            capacity,
            transfers: 0,
            share,
            before: share,
            hint: 0,
            own: 0,
            others: 0,
            told: INF,
            is_changed: false,
            is_stirred: false,
            peak: 0,
        }
    }

    /// What its transfers have together, where loads are kept.
    pub(super) fn load(&self) -> u64 {
        let own = if self.own > 0 { self.own.wrapping_mul(self.share) } else { 0 };
        own.wrapping_add(self.others)
    }

    /// Notes the load of this moment.
    pub(super) fn note_load(&mut self, is_kept: bool) {
        if self.own > 0 && self.own == self.transfers {
            // All of a link that holds everybody on it back is in use, but for rounding.
            self.peak = self.capacity;
        } else if is_kept {
            self.peak = self.peak.max(self.load());
        }
    }
}
