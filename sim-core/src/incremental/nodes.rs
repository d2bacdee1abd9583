//! Nodes: what runs on the clock of what. Classes are nodes, and so are those of the arbiter's own.
//!
//! A node stores only an offset to the clock of the one that it hangs below: when it moves, nothing below it is touched. A root
//! has a clock; it runs at the level that the arbiter gives.

use super::NONE;
use super::heap::{Heap, OUT, Places};
use super::numbers::{INF, Level};

/// A class, or a node of the arbiter's own.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// What it hangs below, never a class; [`NONE`] for a root.
    pub(super) below: u32,
    /// The record of a root, once it has one; else [`NONE`].
    pub(super) root: u32,
    /// Since when it hangs there.
    pub(super) since: u64,
    /// Clock of the node that it hangs below less its own.
    pub(super) offset: i128,
    /// What hangs below it by first ends on its clock: nodes, or the transfers of a class.
    pub(super) heap: Heap,
}

impl Node {
    fn new() -> Self {
        Self { below: NONE, root: NONE, since: 0, offset: 0, heap: Heap::default() }
    }
}

/// A clock that runs.
#[derive(Clone, Debug)]
pub(super) struct Root {
    /// What it shows at `since`; it runs at `level`, or stands while that is [`INF`].
    pub(super) clock: i128,
    pub(super) since: u64,
    pub(super) level: Level,
    /// The node whose clock it is.
    pub(super) node: u32,
    /// Whether its level or the first end below it may have changed in this instant.
    pub(super) is_moved: bool,
}

impl Root {
    fn new(node: u32, clock: i128, since: u64) -> Self {
        Self { clock, since, level: INF, node, is_moved: false }
    }

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

/// All nodes by their ids, with those of classes apart: there may be many ids of classes that are never used.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// The first id of the arbiter's own nodes.
    pub(super) first_own: u32,
    classes: Vec<Node>,
    own: Vec<Node>,
    places: NodePlaces,
    pub(super) roots: Vec<Root>,
    free_roots: Vec<u32>,
    /// Roots whose level or first end may have changed in this instant.
    pub(super) moved: Vec<u32>,
}

/// Where each node is in the heap of the one that it hangs below.
#[derive(Debug, Default)]
struct NodePlaces {
    first_own: u32,
    classes: Vec<u32>,
    own: Vec<u32>,
}

impl Places for NodePlaces {
    #[inline]
    fn place(&self, id: u32) -> u32 {
        if id < self.first_own { self.classes[id as usize] } else { self.own[(id - self.first_own) as usize] }
    }

    #[inline]
    fn place_mut(&mut self, id: u32) -> &mut u32 {
        if id < self.first_own { &mut self.classes[id as usize] } else { &mut self.own[(id - self.first_own) as usize] }
    }
}

impl Nodes {
    /// For classes with ids below `first_own`.
    pub(super) fn new(first_own: u32) -> Self {
        let places = NodePlaces { first_own, ..NodePlaces::default() };
        Self { first_own, places, ..Self::default() }
    }

    #[inline]
    pub(super) fn at(&self, id: u32) -> &Node {
        if id < self.first_own { &self.classes[id as usize] } else { &self.own[(id - self.first_own) as usize] }
    }

    #[inline]
    pub(super) fn at_mut(&mut self, id: u32) -> &mut Node {
        if id < self.first_own { &mut self.classes[id as usize] } else { &mut self.own[(id - self.first_own) as usize] }
    }

    /// Adds the node of the next class.
    pub(super) fn add_class(&mut self) {
        self.classes.push(Node::new());
        self.places.classes.push(OUT);
    }

    /// Makes a node of the arbiter's own known.
    pub(super) fn ensure(&mut self, id: u32) {
        while id >= self.first_own && self.own.len() <= (id - self.first_own) as usize {
            self.own.push(Node::new());
            self.places.own.push(OUT);
        }
    }

    /// Whether a node is known.
    #[inline]
    pub(super) fn has(&self, id: u32) -> bool {
        match id.checked_sub(self.first_own) {
            None => (id as usize) < self.classes.len(),
            Some(own) => (own as usize) < self.own.len(),
        }
    }

    /// Whether there is a class of this id.
    pub(super) fn has_class(&self, id: u32) -> bool {
        (id as usize) < self.classes.len()
    }

    /// The root above a node, and since when it has been without a break.
    pub(super) fn root_and_since(&self, mut id: u32) -> (u32, u64) {
        let mut since = 0;
        loop {
            let node = self.at(id);
            since = since.max(node.since);
            if node.below == NONE {
                return (id, since);
            }
            id = node.below;
        }
    }

    /// The record of the root above a node; `None` where that has had no level yet.
    #[inline]
    pub(super) fn root_of(&self, mut id: u32) -> Option<&Root> {
        while self.at(id).below != NONE {
            id = self.at(id).below;
        }
        self.roots.get(self.at(id).root as usize)
    }

    /// The level of a node; [`INF`] for none.
    pub(super) fn level_of(&self, id: u32) -> Level {
        self.root_of(id).map_or(INF, |root| root.level)
    }

    /// What the clock of a node shows.
    #[inline]
    pub(super) fn clock_of(&self, mut id: u32, now: u64) -> i128 {
        let mut offset = 0;
        loop {
            let node = self.at(id);
            if node.below == NONE {
                return self.roots.get(node.root as usize).map_or(0, |root| root.clock_at(now)) - offset;
            }
            offset += node.offset;
            id = node.below;
        }
    }

    /// The record of a root, a new one if it has none.
    #[inline]
    pub(super) fn root_record(&mut self, id: u32, now: u64) -> u32 {
        let root = self.at(id).root;
        if root != NONE {
            return root;
        }
        self.add_root(id, 0, now)
    }

    fn add_root(&mut self, id: u32, clock: i128, now: u64) -> u32 {
        let record = Root::new(id, clock, now);
        let root = if let Some(root) = self.free_roots.pop() {
            self.roots[root as usize] = record;
            root
        } else {
            self.roots.push(record);
            (self.roots.len() - 1) as u32
        };
        self.at_mut(id).root = root;
        root
    }

    /// Takes a root's record; its clock stops being one. The host must know that it is never due.
    fn free_root(&mut self, id: u32) {
        let root = std::mem::replace(&mut self.at_mut(id).root, NONE);
        if root != NONE {
            // It is looked at once more at the end of the instant, and found without members.
            self.roots[root as usize].level = INF;
            self.roots[root as usize].node = NONE;
            self.mark(root);
        }
    }

    /// Frees the records that no node has any more.
    pub(super) fn forget(&mut self, root: u32) {
        self.free_roots.push(root);
    }

    /// Notes that a root must be looked at.
    #[inline]
    pub(super) fn mark(&mut self, root: u32) {
        let record = &mut self.roots[root as usize];
        if !record.is_moved {
            record.is_moved = true;
            self.moved.push(root);
        }
    }

    /// Hangs a node elsewhere. Its clock goes on; nothing below it is touched.
    pub(super) fn hang(&mut self, id: u32, below: u32, now: u64) {
        let before = self.at(id).below;
        if before == below {
            return;
        }
        if self.at(id).heap.first().is_none() {
            self.hang_empty(id, below, now);
            return;
        }
        let clock = self.clock_of(id, now);
        let (root, since) = self.root_and_since(id);
        if before == NONE {
            self.free_root(id);
        } else {
            self.own[(before - self.first_own) as usize].heap.remove(id, &mut self.places);
            self.pass_on(before);
        }
        if below == NONE {
            let record = self.add_root(id, clock, now);
            let node = self.at_mut(id);
            (node.below, node.offset, node.since) = (NONE, 0, now);
            self.mark(record);
            return;
        }
        let offset = self.clock_of(below, now) - clock;
        // What the same root goes on to hold back has been held back without a break.
        let stays = self.root_and_since(below).0 == root;
        if stays && self.at(below).heap.first().is_none() {
            self.at_mut(below).since = since;
        }
        let node = self.at_mut(id);
        (node.below, node.offset, node.since) = (below, offset, if stays { since } else { now });
        self.pass_on(id);
    }

    /// Hangs a node that nothing is below: its clock may start anew.
    fn hang_empty(&mut self, id: u32, below: u32, now: u64) {
        self.free_root(id);
        let node = self.at_mut(id);
        (node.below, node.offset, node.since) = (below, 0, now);
    }

    /// Whether `above` is on the way from `id` up.
    pub(super) fn is_above(&self, above: u32, mut id: u32) -> bool {
        while id != NONE {
            if id == above {
                return true;
            }
            id = self.at(id).below;
        }
        false
    }

    /// A class without weight hangs below nothing.
    pub(super) fn release(&mut self, id: u32) {
        self.free_root(id);
        let node = self.at_mut(id);
        (node.below, node.offset) = (NONE, 0);
    }

    /// Sets the place of a node below another one, and so on up to the root, as far as that changes first ends.
    pub(super) fn pass_on(&mut self, mut id: u32) {
        let mut end = self.at(id).heap.first().map(|(end, _)| end);
        loop {
            let node = self.at(id);
            let (below, offset, root) = (node.below, node.offset, node.root);
            if below == NONE {
                // A clock that has no level yet stands, and its members are refused at the end of the instant.
                let root = if root == NONE { self.add_root(id, 0, 0) } else { root };
                self.mark(root);
                return;
            }
            let (list, places) = (&mut self.own[(below - self.first_own) as usize].heap, &mut self.places);
            let before = list.first().map(|(first, _)| first);
            match end {
                Some(end) => list.set(end + offset, id, places),
                None => list.remove(id, places),
            }
            let after = list.first().map(|(first, _)| first);
            if before == after {
                return;
            }
            (id, end) = (below, after);
        }
    }

    /// The key of a node in the heap of the one that it hangs below.
    #[cfg(test)]
    pub(super) fn key(&self, id: u32) -> i128 {
        self.at(self.at(id).below).heap.key(id, &self.places)
    }

    /// All ids that are known.
    #[cfg(test)]
    pub(super) fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        let own = self.first_own..self.first_own + self.own.len() as u32;
        (0..self.classes.len() as u32).chain(own)
    }
}
