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
        for (index, _) in self.classes.iter().enumerate().filter(|(_, class)| class.weight > 0) {
            let class = index as u32;
            let level = self.nodes.level_of(class);
            let level = if level == INF { 0 } else { level };
            let clock = self.nodes.clock_of(class, now);
            let heap = &self.nodes.at(class).heap;
            for slot in heap.ids() {
                let Transfer { id, weight, .. } = self.transfers[slot as usize];
                let left = heap.key(slot, &self.transfer_places) - clock;
                let gone = self.gone_in_turn(slot, left, now).unwrap_or_else(|| self.gone(slot, now, None, arbiter));
                all.push(Standing { id, weight, level, left, gone });
            }
            for slot in self.turns.iter().flat_map(|turns| turns.behind(class)) {
                let Transfer { id, weight, work, .. } = self.transfers[slot as usize];
                let gone = self.gone_in_turn(slot, work, now).unwrap_or_else(|| self.gone(slot, now, None, arbiter));
                all.push(Standing { id, weight, level: 0, left: work, gone });
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
