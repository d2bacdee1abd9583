//! Who is where and when it ends: the transfers, and the clocks that run at the levels an arbiter gives.
//!
//! Each of the three levels (class, group, root) stores only an offset to the clock above it: when a group moves to another
//! root, none of its members is touched.

use weir_plugin_api::{Answer, CallError, ClassMove, GroupMove, LinkId, RootLevel, WeightChange};

use super::NONE;
use super::heap::{Heap, OUT};
use super::numbers::{INF, Level, time_until};
use super::soonest::{NEVER, Soonest};

/// One transfer; its end is its key in the heap of its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) id: u32,
    pub(super) path: u32,
    /// Its class; [`NONE`] while it is alone.
    pub(super) class: u32,
    pub(super) weight: u32,
    /// The link that limits it while it is alone on all of its links; [`NONE`] while it is not alone.
    pub(super) holder: u32,
    pub(super) start: u64,
    /// How far the clock of its class goes for it, from when it was placed on.
    pub(super) work: i128,
}

/// What transfers cross, and the most that their level may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// Where its links begin in `path_links`, and how many there are.
    pub(super) first: u32,
    pub(super) count: u32,
    /// The class of its transfers that share links; [`NONE`] while there is none.
    pub(super) class: u32,
    /// Its limit and priority in `terms`.
    pub(super) terms: u32,
}

/// Transfers of one path that share links with others, whatever their weights.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) path: u32,
    /// Its group; [`NONE`] while it has no transfers.
    pub(super) group: u32,
    /// Clock of its group less its own.
    pub(super) offset: i128,
    /// Sum of the weights of its transfers.
    pub(super) weight: u64,
    /// Since when it is below its root, as far as its group was.
    pub(super) since: u64,
    /// Its transfers by their ends on its clock.
    pub(super) heap: Heap,
}

/// Classes of one level, whatever it is.
#[derive(Clone, Debug)]
pub(super) struct ClassGroup {
    /// Its root; [`NONE`] for a free record.
    pub(super) root: u32,
    /// Clock of its root less its own.
    pub(super) offset: i128,
    /// Since when it is below its root.
    pub(super) since: u64,
    /// Its classes by their first ends on its clock.
    pub(super) heap: Heap,
}

/// Groups that one link, or one limit, holds back: they run at its level.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// Its clock at `since`; it runs at `level`, or stands while that is [`INF`].
    pub(super) clock: i128,
    pub(super) since: u64,
    pub(super) level: Level,
    /// The link; [`LinkId::NONE`] for a limit.
    pub(super) link: LinkId,
    /// Whether its level or the first end below it may have changed in this instant.
    pub(super) is_moved: bool,
    /// The groups below it by their first ends on its clock.
    pub(super) heap: Heap,
}

impl Root {
    /// What its clock shows at `now`.
    #[inline]
    pub(super) fn clock_at(&self, now: u64) -> i128 {
        if self.level == INF {
            return self.clock;
        }
        self.clock + i128::from(self.level) * i128::from(now - self.since)
    }

    /// Lets its clock run up to `now`.
    #[inline]
    pub(super) fn advance(&mut self, now: u64) {
        if self.since != now {
            self.clock = self.clock_at(now);
            self.since = now;
        }
    }
}

/// What the clocks know of a link: who crosses it.
#[derive(Clone, Debug)]
pub(super) struct Crossed {
    pub(super) capacity: u64,
    /// Weight of all transfers on it.
    pub(super) weight: u64,
    /// Since when it has transfers, and for how long it had some before.
    pub(super) busy_since: u64,
    pub(super) busy: u64,
    /// Largest load of a transfer alone on it, in units.
    pub(super) peak: u64,
    /// The transfer on it that shares none of its links; [`NONE`] for none.
    pub(super) alone: u32,
    pub(super) id: LinkId,
}

/// All transfers and their clocks.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    pub(super) links: Vec<Crossed>,
    pub(super) transfers: Vec<Transfer>,
    pub(super) paths: Vec<Path>,
    pub(super) path_links: Vec<u32>,
    /// (Limit of a level, priority as in the scenario), each once while it repeats.
    pub(super) terms: Vec<(Level, i64)>,
    pub(super) classes: Vec<Class>,
    pub(super) groups: Vec<ClassGroup>,
    pub(super) roots: Vec<Root>,
    /// Positions in the heaps: a transfer in its class, a class in its group, a group in its root.
    pub(super) transfer_places: Vec<u32>,
    pub(super) class_places: Vec<u32>,
    pub(super) group_places: Vec<u32>,
    /// Roots by the first end below them.
    pub(super) due: Soonest,
    /// Transfers that share no link, by their ends.
    pub(super) alone: Soonest,
    /// Whether transfers may run alone.
    pub(super) may_be_alone: bool,
    /// Whether any level has been 0: for how long each transfer had none is not known then.
    has_blocked: bool,
    /// Roots whose level or first end may have changed in this instant.
    pub(super) moved: Vec<u32>,
    /// Transfers of this instant, not placed yet.
    pub(super) arrivals: Vec<u32>,
    /// Transfers that are not alone any more.
    pub(super) joining: Vec<u32>,
    /// Changes that the arbiter gets next.
    pub(super) removed: Vec<WeightChange>,
    pub(super) added: Vec<WeightChange>,
    pub(super) answer: Answer,
    /// Entries of answers since all loads were summed up, and after how many that will be done again.
    pub(super) unsummed: usize,
    pub(super) sum_after: usize,
    pub(super) fabric_links: u32,
    pub(super) free_transfers: Vec<u32>,
    pub(super) free_classes: Vec<u32>,
    /// Classes that will be free once the arbiter has these changes.
    pub(super) emptied: Vec<u32>,
    pub(super) active: usize,
    /// Kept for their memory.
    pub(super) ids: Vec<LinkId>,
    pub(super) leaving: Vec<u32>,
    pub(super) placed: Vec<u32>,
    pub(super) loads: Vec<u128>,
}

impl Clocks {
    /// For a fabric of so many links, with room for so many that are crossed, and paths.
    pub(crate) fn with_room(fabric_links: usize, links: usize, paths: usize) -> Self {
        Self {
            fabric_links: fabric_links as u32,
            links: Vec::with_capacity(links),
            paths: Vec::with_capacity(paths),
            may_be_alone: true,
            ..Self::default()
        }
    }

    /// Adds a link of this capacity in units.
    pub(crate) fn add_link(&mut self, id: LinkId, capacity: u64) -> u32 {
        self.links.push(Crossed { capacity, weight: 0, busy_since: 0, busy: 0, peak: 0, alone: NONE, id });
        (self.links.len() - 1) as u32
    }

    pub(crate) fn active(&self) -> usize {
        self.active
    }

    /// Whether any level has been 0.
    pub(crate) fn has_blocked(&self) -> bool {
        self.has_blocked
    }

    /// What the clock of a group shows.
    #[inline]
    pub(super) fn clock_of(&self, group: u32, now: u64) -> i128 {
        let group = &self.groups[group as usize];
        self.roots[group.root as usize].clock_at(now) - group.offset
    }

    /// Does what an answer says.
    pub(super) fn apply(&mut self, now: u64) -> Result<(), CallError> {
        for at in 0..self.answer.groups.len() {
            let GroupMove { group, root } = self.answer.groups[at];
            self.put_group(group, root, now);
        }
        for at in 0..self.answer.classes.len() {
            let ClassMove { class, group } = self.answer.classes[at];
            self.put_class(class, group, now)?;
        }
        for at in 0..self.answer.dropped.len() {
            self.drop_group(self.answer.dropped[at])?;
        }
        for at in 0..self.answer.levels.len() {
            let RootLevel { root: index, link, level } = self.answer.levels[at];
            self.has_blocked |= level == 0;
            let root = self.root(index);
            root.advance(now);
            (root.level, root.link) = (level, link);
            if !root.is_moved {
                root.is_moved = true;
                self.moved.push(index);
            }
        }
        Ok(())
    }

    #[inline]
    fn root(&mut self, root: u32) -> &mut Root {
        while self.roots.len() <= root as usize {
            let (link, heap) = (LinkId::NONE, Heap::default());
            self.roots.push(Root { clock: 0, since: 0, level: INF, link, is_moved: false, heap });
        }
        &mut self.roots[root as usize]
    }

    /// Hangs a group below a root. Its clock goes on; nothing inside it is touched.
    fn put_group(&mut self, group: u32, root: u32, now: u64) {
        while self.groups.len() <= group as usize {
            self.groups.push(ClassGroup { root: NONE, offset: 0, since: 0, heap: Heap::default() });
            self.group_places.push(OUT);
        }
        let clock = self.root(root).clock_at(now);
        let before = self.groups[group as usize].root;
        if before == root {
            return;
        }
        if before == NONE {
            let record = &mut self.groups[group as usize];
            (record.root, record.offset, record.since) = (root, 0, now);
            return;
        }
        let offset = clock - self.clock_of(group, now);
        self.roots[before as usize].heap.remove(group, &mut self.group_places);
        self.mark(before);
        let record = &mut self.groups[group as usize];
        (record.root, record.offset, record.since) = (root, offset, now);
        self.key_group(group);
    }

    /// Puts a class into a group. Its clock goes on, and so does the time for which the same root has limited it.
    fn put_class(&mut self, class: u32, group: u32, now: u64) -> Result<(), CallError> {
        let root = self.check_group(class, group)?;
        let record = &mut self.classes[class as usize];
        let from = record.group;
        if record.weight == 0 {
            (record.group, record.offset, record.since) = (group, 0, now);
            return Ok(());
        }
        if from == group {
            return Ok(());
        }
        let (holder, since) = self.root_and_since(class);
        let clock = self.clock_of(from, now) - self.classes[class as usize].offset;
        let offset = self.clock_of(group, now) - clock;
        self.groups[from as usize].heap.remove(class, &mut self.class_places);
        self.key_group(from);
        if holder == root && self.groups[group as usize].heap.first().is_none() {
            self.groups[group as usize].since = since;
        }
        let record = &mut self.classes[class as usize];
        (record.group, record.offset) = (group, offset);
        record.since = if root == holder { record.since } else { now };
        self.key_class(class);
        Ok(())
    }

    fn drop_group(&mut self, group: u32) -> Result<(), CallError> {
        let Some(record) = self.groups.get_mut(group as usize).filter(|group| group.heap.first().is_none()) else {
            return Err(Self::still_used(group));
        };
        let root = std::mem::replace(&mut record.root, NONE);
        if root != NONE {
            self.roots[root as usize].heap.remove(group, &mut self.group_places);
            self.mark(root);
        }
        Ok(())
    }

    /// The root that limits a class, and since when.
    pub(super) fn root_and_since(&self, class: u32) -> (u32, u64) {
        let class = &self.classes[class as usize];
        let group = &self.groups[class.group as usize];
        (group.root, group.since.max(class.since))
    }

    #[inline]
    pub(super) fn mark(&mut self, root: u32) {
        let record = &mut self.roots[root as usize];
        if !record.is_moved {
            record.is_moved = true;
            self.moved.push(root);
        }
    }

    /// Sets the place of a class in its group by its first end, and that of the group below its root.
    pub(super) fn key_class(&mut self, class: u32) {
        let record = &self.classes[class as usize];
        let (group, key) = (record.group, record.heap.first().map(|(end, _)| end + record.offset));
        let heap = &mut self.groups[group as usize].heap;
        match key {
            Some(key) => heap.set(key, class, &mut self.class_places),
            None => heap.remove(class, &mut self.class_places),
        }
        self.key_group(group);
    }

    fn key_group(&mut self, group: u32) {
        let record = &self.groups[group as usize];
        let (root, key) = (record.root, record.heap.first().map(|(end, _)| end + record.offset));
        if root == NONE {
            return;
        }
        let heap = &mut self.roots[root as usize].heap;
        match key {
            Some(key) => heap.set(key, group, &mut self.group_places),
            None => heap.remove(group, &mut self.group_places),
        }
        self.mark(root);
    }

    /// Finds the next ends below the roots that have changed.
    pub(super) fn conclude(&mut self, now: u64) -> Result<(), CallError> {
        for at in 0..self.moved.len() {
            let root = self.moved[at];
            let record = &mut self.roots[root as usize];
            record.is_moved = false;
            let next = match record.heap.first() {
                Some(_) if record.level == INF => return Err(Self::without_level(root)),
                Some((end, _)) if record.level > 0 => {
                    let next = now.saturating_add(time_until(end, record.clock_at(now), record.level));
                    next.min(NEVER - 1)
                }
                _ => NEVER,
            };
            self.due.set(next, root);
        }
        self.moved.clear();
        Ok(())
    }
}
