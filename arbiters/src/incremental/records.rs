//! Records of links and classes: taken when a class comes, used again after the last one has gone.

use weir_plugin_api::LinkId;

use super::state::{Class, Link, Shares};
use super::{INF, Level, NONE};

impl Shares {
    fn push_link(&mut self, id: LinkId, capacity: u64, is_limit: bool) -> u32 {
        let mut link = Link::new(self.add_node(), id, capacity, is_limit);
        link.is_awake = !self.sleepy;
        self.links.push(link);
        self.cells.add_link();
        (self.links.len() - 1) as u32
    }

    /// The record of a link; a new one where no class crosses it.
    fn record(&mut self, id: LinkId) -> u32 {
        let known = self.record_of[id.index()];
        if known != NONE {
            return known;
        }
        let (capacity, peak) = (self.capacities[id.index()], self.peaks[id.index()]);
        let index = if let Some(index) = self.free_links.pop() {
            let record = &mut self.links[index as usize];
            (record.id, record.capacity, record.hint) = (id, capacity, 0);
            index
        } else {
            self.push_link(id, capacity, false)
        };
        self.links[index as usize].peak = peak;
        self.record_of[id.index()] = index;
        index
    }

    /// Frees the records of links that no class crosses any more. Quiet ones stay: they know how often they slept.
    pub(super) fn free_links(&mut self) {
        while let Some(index) = self.emptied.pop() {
            let record = &mut self.links[index as usize];
            if record.weight > 0 || record.id.is_none() || self.sleepy {
                continue;
            }
            debug_assert!(record.share == INF && record.others == 0 && self.cells.of(index).ins.is_empty());
            let id = std::mem::replace(&mut record.id, LinkId::NONE);
            self.peaks[id.index()] = record.peak;
            self.record_of[id.index()] = NONE;
            self.free_links.push(index);
        }
    }

    /// Tells of a class: its transfers cross these links, all different, and no level is above the limit.
    pub(super) fn set_class(&mut self, class: u32, links: &[LinkId], limit: Level) {
        let count = links.len() + usize::from(limit != INF);
        let mut at = self.room_for(class, count);
        for &id in links {
            self.class_links[at] = self.record(id);
            at += 1;
        }
        if limit != INF {
            let known = self.limit_of.get(&limit).copied();
            let record = known.unwrap_or_else(|| self.push_link(LinkId::NONE, limit, true));
            self.limit_of.insert(limit, record);
            self.class_links[at] = record;
        }
        self.classes[class as usize].count = count as u32;
    }

    /// Where so many links of a class, new or without weight, can be put in `class_links`.
    fn room_for(&mut self, class: u32, count: usize) -> usize {
        if self.classes.len() <= class as usize {
            let (bundle, next, before, is_moved) = (NONE, NONE, NONE, false);
            let (first, count, room) = (0, 0, 0);
            self.classes.push(Class { first, count, room, bundle, next, before, is_moved, weight: 0, promise: 0 });
        }
        let record = &mut self.classes[class as usize];
        if (record.room as usize) < count {
            (record.first, record.room) = (self.class_links.len() as u32, count as u32);
            self.class_links.resize(self.class_links.len() + count, NONE);
            self.list_places.resize(self.class_links.len(), 0);
        }
        record.first as usize
    }
}
