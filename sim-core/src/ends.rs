//! The earliest of many ends that change in bulk: a tree of minima over dense slots.
//!
//! One arbitration may move most ends at once, and then asks only for the earliest. A heap would sift each of them; here
//! a moved end costs one comparison unless it was its block's minimum, and then one scan of 16 neighbours.

use weir_plugin_api::SimTime;

/// Slots of a block; *assumed*: 16 ends of 8 bytes are two cache lines.
const FAN: usize = 16;

/// Ends by slot, with block minima above.
#[derive(Clone, Debug)]
pub(crate) struct Ends {
    /// `levels[0]` are the ends; each level above holds the minimum of each block of 16 of the level below. The last
    /// level has at most one block.
    levels: Vec<Vec<SimTime>>,
}

impl Default for Ends {
    fn default() -> Self {
        Self { levels: vec![Vec::new()] }
    }
}

impl Ends {
    /// Adds a slot at the end of the table, with no end.
    pub(crate) fn add_slot(&mut self) {
        self.levels[0].push(SimTime::NEVER);
        let mut level = 0;
        while self.levels[level].len() > FAN {
            let blocks = self.levels[level].len().div_ceil(FAN);
            if level + 1 == self.levels.len() {
                let minima = self.levels[level].chunks(FAN).map(minimum).collect();
                self.levels.push(minima);
            } else if self.levels[level + 1].len() < blocks {
                self.levels[level + 1].push(SimTime::NEVER);
            }
            level += 1;
        }
    }

    /// Sets the end at a slot.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, end: SimTime) {
        let old = std::mem::replace(&mut self.levels[0][slot], end);
        if old != end {
            self.lift(slot, old, end);
        }
    }

    /// Carries a change of a slot upwards as far as it alters minima.
    fn lift(&mut self, mut at: usize, mut old: SimTime, mut new: SimTime) {
        for level in 1..self.levels.len() {
            at /= FAN;
            let (below, above) = self.levels.split_at_mut(level);
            let minimum_before = above[0][at];
            let minimum_now = if new <= minimum_before {
                new
            } else if old == minimum_before {
                minimum(block(&below[level - 1], at))
            } else {
                return;
            };
            if minimum_now == minimum_before {
                return;
            }
            above[0][at] = minimum_now;
            (old, new) = (minimum_before, minimum_now);
        }
    }

    #[inline]
    pub(crate) fn earliest(&self) -> SimTime {
        self.levels.last().map_or(SimTime::NEVER, |top| minimum(top))
    }

    /// Appends all slots that end at `time`.
    pub(crate) fn slots_at(&self, time: SimTime, out: &mut Vec<u32>) {
        let top = self.levels.len() - 1;
        for block in 0..self.levels[top].len() {
            if self.levels[top][block] == time {
                self.descend(top, block, time, out);
            }
        }
    }

    fn descend(&self, level: usize, at: usize, time: SimTime, out: &mut Vec<u32>) {
        if level == 0 {
            out.push(at as u32);
            return;
        }
        for (i, &earliest) in block(&self.levels[level - 1], at).iter().enumerate() {
            if earliest == time {
                self.descend(level - 1, at * FAN + i, time, out);
            }
        }
    }
}

#[inline]
fn minimum(block: &[SimTime]) -> SimTime {
    block.iter().fold(SimTime::NEVER, |least, &end| if end < least { end } else { least })
}

/// The block at a position of the level above.
#[inline]
fn block(level: &[SimTime], at: usize) -> &[SimTime] {
    &level[at * FAN..level.len().min((at + 1) * FAN)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_plain_table(moves in prop::collection::vec((0_usize..700, 0_u64..50), 1..400), slots in 1_usize..700) {
            let mut ends = Ends::default();
            let mut plain = Vec::new();
            for _ in 0..slots {
                ends.add_slot();
                plain.push(SimTime::NEVER);
            }
            for (slot, time) in moves {
                let time = if time == 0 { SimTime::NEVER } else { SimTime(time) };
                ends.set(slot % slots, time);
                plain[slot % slots] = time;
                let earliest = *plain.iter().min().expect("at least one slot");
                prop_assert_eq!(ends.earliest(), earliest);
                let mut at = Vec::new();
                ends.slots_at(earliest, &mut at);
                let expected: Vec<u32> = (0..slots as u32).filter(|&s| plain[s as usize] == earliest).collect();
                prop_assert_eq!(at, expected);
            }
        }
    }
}
