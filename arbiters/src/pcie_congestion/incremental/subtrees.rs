//! Subtrees that no route leaves: an event looks at those only that it touches. Where few transfers are below one, or some that
//! the fast way does not serve, the rate arbiter is asked for their rates.
//!
//! An edge is a node's link up and its link down, of one number. Edges of a subtree are side by side at each depth. Lateral
//! links, with the numbers after these, belong to the subtree below the roots.

use super::tables::Up;
use super::{Factors, NONE};

/// The most transfers that are few: from here on the rate arbiter takes longer (*measured*, on random pairs of 8 hosts).
pub(super) const FEW: u32 = 32;
/// The most edges among which few transfers are sought (*assumed*: a look at each costs less than an event).
const MOST_EDGES: u32 = 256;

/// The subtrees that an event touches.
#[derive(Debug, Default)]
pub(super) struct Subtrees {
    /// Edges of routes that have changed.
    pub(super) changed: Vec<u32>,
    /// Counts events.
    event: u64,
    /// Per subtree, by the edge above it, the first one for that below the roots: the last event that touched it, and the last
    /// one that treats it in the fast way.
    touched: Vec<u64>,
    fast: Vec<u64>,
    /// Of those of the fast way: `first..end`, per subtree and depth.
    pub(super) ranges: Vec<(u32, u32)>,
    /// Classes of the others.
    pub(super) asked: Vec<u32>,
}

impl Subtrees {
    pub(super) fn new(edges: usize) -> Self {
        Self { touched: vec![0; edges + 1], fast: vec![0; edges + 1], ..Self::default() }
    }
}

impl Factors {
    /// The subtree of an edge: 0, or one more than the edge below which it is.
    fn subtree(&self, mut edge: u32) -> usize {
        while let Some(&Up { parent, .. }) = self.links.ups.get(edge as usize)
            && parent != NONE
        {
            if self.is_closed(parent) {
                return parent as usize + 1;
            }
            edge = parent;
        }
        0
    }

    /// Whether no route leaves what is below an edge.
    fn is_closed(&self, edge: u32) -> bool {
        let (up, down) = (&self.links.ups[edge as usize], &self.links.downs[edge as usize]);
        up.classes.is_empty() && down.classes.is_empty() && !up.is_open
    }

    /// Finds the subtrees that have changed, and which way each of them goes.
    #[inline(never)]
    pub(super) fn touch_subtrees(&mut self) {
        self.subtrees.ranges.clear();
        self.subtrees.asked.clear();
        self.subtrees.event += 1;
        while let Some(edge) = self.subtrees.changed.pop() {
            self.touch_subtree(self.subtree(edge));
            // What was connected over an edge may not be any more.
            if self.links.ups.get(edge as usize).is_some_and(|up| up.children.1 > 0) && self.is_closed(edge) {
                self.touch_subtree(edge as usize + 1);
            }
        }
    }

    fn touch_subtree(&mut self, subtree: usize) {
        if self.subtrees.touched[subtree] == self.subtrees.event {
            return;
        }
        self.subtrees.touched[subtree] = self.subtrees.event;
        let (ranges, classes) = (self.subtrees.ranges.len(), self.subtrees.asked.len());
        self.list_ranges(subtree);
        if self.list_asked(subtree, ranges) {
            self.subtrees.ranges.truncate(ranges);
        } else {
            self.subtrees.asked.truncate(classes);
            self.subtrees.fast[subtree] = self.subtrees.event;
        }
    }

    fn list_ranges(&mut self, subtree: usize) {
        let ups = &self.links.ups;
        let (mut first, mut end) = match subtree.checked_sub(1) {
            Some(edge) => ups[edge].children,
            None => (0, ups.partition_point(|up| up.parent == NONE) as u32),
        };
        if subtree == 0 && ups.len() < self.links.downs.len() {
            self.subtrees.ranges.push((ups.len() as u32, self.links.downs.len() as u32));
        }
        while first < end {
            self.subtrees.ranges.push((first, end));
            let has_children = |edge: &u32| ups[*edge as usize].children.1 > 0;
            let (Some(a), Some(b)) = ((first..end).find(has_children), (first..end).rev().find(has_children)) else {
                break;
            };
            (first, end) = (ups[a as usize].children.0, ups[b as usize].children.1);
        }
    }

    /// Lists the classes of a subtree, in the ranges from one on, for the rate arbiter; `false` where it goes the fast way.
    fn list_asked(&mut self, subtree: usize, ranges: usize) -> bool {
        let edges: u32 = self.subtrees.ranges[ranges..].iter().map(|&(first, end)| end - first).sum();
        let (may_be_few, may_be_odd) = (edges <= MOST_EDGES, self.limited > 0 || self.clamped > 0);
        let (mut transfers, mut is_odd) = (0, false);
        for at in ranges..self.subtrees.ranges.len() {
            let (first, end) = self.subtrees.ranges[at];
            for edge in first..end {
                if !may_be_odd && (!may_be_few || transfers > self.few) {
                    return false;
                }
                let up = self.links.ups.get(edge as usize);
                let starting = (up.map_or(&[][..], |up| &up.starting), &self.links.downs[edge as usize].starting);
                let is_clamped = up.is_some_and(|up| up.clamped);
                // Subtrees may lie within others.
                if starting.0.len() + starting.1.len() > 0 && self.subtree(edge) == subtree {
                    for &class in starting.0.iter().chain(starting.1) {
                        transfers += self.classes[class as usize].transfers;
                        is_odd |= self.classes[class as usize].is_limited;
                        self.subtrees.asked.push(class);
                    }
                }
                is_odd |= is_clamped && self.subtree(edge) == subtree;
            }
        }
        is_odd || may_be_few && transfers <= self.few
    }

    /// Whether an event treats what begins at an edge in the fast way.
    pub(super) fn is_touched(&self, edge: u32) -> bool {
        self.subtrees.fast[self.subtree(edge)] == self.subtrees.event
    }
}
