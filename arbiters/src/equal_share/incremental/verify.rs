//! Everything that is kept, recomputed: for tests.

use super::Parts;

impl Parts {
    /// Everything from the classes anew.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut sums = vec![(0, 0, 0_u64); self.links.len()];
        for (id, class) in (0_u32..).zip(&self.classes).filter(|(_, class)| class.transfers > 0) {
            let share = self.links[class.link as usize].share;
            if self.links[self.least(id) as usize].share != share {
                return Err(format!("class {id} is held back by link {}, not by the least share", class.link));
            }
            for hop in self.hops_of(id) {
                let on = self.cells.hops[hop].link;
                let (all, own, others) = &mut sums[on as usize];
                *all += class.transfers;
                if on == class.link {
                    *own += class.transfers;
                    continue;
                }
                *others = others.wrapping_add(class.transfers.wrapping_mul(share));
                let cell = self.cells.at(self.cells.hops[hop].cell);
                if (cell.on, cell.by) != (on, class.link) || share > self.links[on as usize].hint {
                    return Err(format!("class {id} is in the wrong cell of link {on}, or above its hint"));
                }
            }
        }
        for (link, (record, &(all, own, others))) in self.links.iter().zip(&sums).enumerate() {
            let is_limit = link >= self.fabric_links as usize;
            let is_right = record.own == own
                && (!self.wants_peaks || record.others == others)
                && (is_limit || record.transfers == all);
            if !is_right || record.is_changed || record.is_stirred || record.before != record.share {
                return Err(format!("link {link}: {record:?} is not {all}, {own}, {others}"));
            }
        }
        Ok(())
    }
}
