//! The slots of one engine, where it matters which one a task gets: the gap counts from the task before it there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use weir_plugin_api::SimTime;

use crate::tasks::TaskId;

/// Slots in the order of their first use. An engine may have 2^32 of them: only those once used take memory.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    count: u32,
    /// Per slot used so far: the class of its last task. All higher ones are unused.
    classes: Vec<u32>,
    /// Used slots that are free, by (when freed, slot).
    free: BinaryHeap<Reverse<(SimTime, u32)>>,
    /// Who holds which; never iterated.
    slot_of: FxHashMap<TaskId, u32>,
}

impl Slots {
    pub(crate) fn new(count: u32) -> Self {
        Self { count, classes: Vec::new(), free: BinaryHeap::new(), slot_of: FxHashMap::default() }
    }

    /// Gives a task the slot that has been free for longest (one never used first), the lowest among equals. Returns
    /// when that slot was freed and the class of the task before, if there was one. At least one slot must be free.
    pub(crate) fn take(&mut self, task: TaskId, class: u32) -> Option<(SimTime, u32)> {
        let used = self.classes.len() as u32;
        if used < self.count {
            self.classes.push(class);
            self.slot_of.insert(task, used);
            return None;
        }
        let Reverse((freed, slot)) = self.free.pop()?;
        self.slot_of.insert(task, slot);
        Some((freed, std::mem::replace(&mut self.classes[slot as usize], class)))
    }

    /// A task gives its slot back.
    pub(crate) fn release(&mut self, now: SimTime, task: TaskId) {
        if let Some(slot) = self.slot_of.remove(&task) {
            self.free.push(Reverse((now, slot)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_slots_come_first_then_the_one_free_for_longest_then_the_lowest() {
        let mut slots = Slots::new(3);
        let task = TaskId;
        // Slot 0 is free again, but 1 and 2 have never been used.
        assert_eq!(slots.take(task(10), 70), None);
        slots.release(SimTime(1), task(10));
        assert_eq!(slots.take(task(11), 71), None);
        assert_eq!(slots.take(task(12), 72), None);
        assert_eq!((slots.slot_of[&task(11)], slots.slot_of[&task(12)]), (1, 2));
        // Freed at 5 (slot 2), 5 (slot 1), 1 (slot 0): 0 first, then 1 before 2.
        slots.release(SimTime(5), task(12));
        slots.release(SimTime(5), task(11));
        assert_eq!(slots.take(task(13), 0), Some((SimTime(1), 70)));
        assert_eq!(slots.take(task(14), 0), Some((SimTime(5), 71)));
        assert_eq!(slots.take(task(15), 0), Some((SimTime(5), 72)));
        assert_eq!([13, 14, 15].map(|t| slots.slot_of[&task(t)]), [0, 1, 2]);
    }

    #[test]
    fn memory_follows_use_and_not_the_number_of_slots() {
        let mut slots = Slots::new(u32::MAX);
        assert_eq!(slots.take(TaskId(0), 1), None);
        assert_eq!(slots.take(TaskId(1), 1), None);
        assert_eq!(slots.classes.len(), 2);
    }
}
