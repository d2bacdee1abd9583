//! Where the active transfers are: for results of runs that stop early, and for errors.

use super::events::Gone;
use super::numbers::Level;
use super::state::{NONE, Shares, Transfer};

/// One active transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub(crate) id: u32,
    pub(crate) weight: u32,
    /// Its rate per unit of weight.
    pub(crate) level: Level,
    /// How far its end is ahead on the clock.
    pub(crate) left: i128,
    /// As if it ended now.
    pub(crate) gone: Gone,
}

/// What a link has carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    /// Picoseconds with transfers on it.
    pub(crate) busy: u64,
    /// Largest load at any rest, in units, where that is known.
    pub(crate) peak: Option<u64>,
    /// Whether it ever held anything back: its load was its capacity.
    pub(crate) is_full: bool,
}

impl Shares {
    /// All active transfers that have been placed, by id.
    pub(crate) fn standings(&self, now: u64) -> Vec<Standing> {
        let mut all: Vec<Standing> = Vec::with_capacity(self.active());
        for class in self.classes.iter().filter(|class| class.bundle != NONE) {
            let bundle = &self.bundles[class.bundle as usize];
            let link = &self.links[bundle.link as usize];
            let clock = link.clock_at(now) - bundle.offset - class.offset;
            for slot in class.heap.ids() {
                let Transfer { id, weight, .. } = self.transfers[slot as usize];
                let by = self.beside(bundle.link, slot);
                let left = class.heap.key(slot, &self.transfer_places) - clock;
                all.push(Standing { id, weight, level: link.share, left, gone: self.gone(slot, now, by) });
            }
        }
        for slot in self.alone.ids() {
            let Transfer { id, weight, .. } = self.transfers[slot as usize];
            let (level, left) = self.standing_alone(slot, now);
            all.push(Standing { id, weight, level, left, gone: self.gone_alone(slot, now) });
        }
        all.sort_unstable_by_key(|s| s.id);
        all
    }

    /// What a link has carried up to `now`.
    pub(crate) fn carried(&self, link: u32, now: u64) -> Carried {
        let link = &self.links[link as usize];
        let open = if link.weight > 0 { now - link.busy_since } else { 0 };
        let is_full = link.peak == link.capacity;
        Carried { busy: link.busy + open, peak: (!self.sleepy).then_some(link.peak), is_full }
    }
}
