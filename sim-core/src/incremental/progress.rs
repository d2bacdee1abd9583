//! Where the active transfers are: for results of runs that stop early, and for errors.

use weir_plugin_api::IncrementalArbiter;

use super::clocks::{Clocks, Transfer};
use super::events::Gone;
use super::numbers::{INF, Level};

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

impl Clocks {
    /// All active transfers that have been placed, by id.
    pub(crate) fn standings(&self, now: u64, arbiter: &dyn IncrementalArbiter) -> Vec<Standing> {
        let mut all: Vec<Standing> = Vec::with_capacity(self.active());
        for class in self.classes.iter().filter(|class| class.weight > 0) {
            let root = self.groups[class.group as usize].root;
            let level = self.roots[root as usize].level;
            let clock = self.clock_of(class.group, now) - class.offset;
            for slot in class.heap.ids() {
                let Transfer { id, weight, .. } = self.transfers[slot as usize];
                let left = class.heap.key(slot, &self.transfer_places) - clock;
                let level = if level == INF { 0 } else { level };
                all.push(Standing { id, weight, level, left, gone: self.gone(slot, now, None, arbiter) });
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

    /// For how long a link has had transfers up to `now`, and the largest load of a transfer alone on it.
    pub(crate) fn carried(&self, link: u32, now: u64) -> (u64, Level) {
        let link = &self.links[link as usize];
        let open = if link.weight > 0 { now - link.busy_since } else { 0 };
        (link.busy + open, link.peak)
    }
}
