//! Subtrees that no route leaves: an event looks at the exceptions of those that it touches only, and asks the rate
//! arbiter for the rates of these only.
//!
//! An edge is a node's link up and its link down, of one number. Edges of a subtree are side by side at each depth. Lateral
//! links, with the numbers after these, belong to the subtree below the roots.

use super::tables::Up;
use super::{Factors, NONE};

/// The subtrees that an event touches.
#[derive(Debug, Default)]
pub(super) struct Subtrees {
    /// Edges of routes that have changed.
    pub(super) changed: Vec<u32>,
    /// Everything may have changed.
    pub(super) all: bool,
    /// Counts events.
    event: u64,
    /// The last event that touched the subtree below an edge; the first one is that below the roots.
    touched: Vec<u64>,
    /// `first..end`, per subtree and depth.
    pub(super) ranges: Vec<(u32, u32)>,
}

impl Subtrees {
    pub(super) fn new(edges: usize) -> Self {
        Self { touched: vec![0; edges + 1], all: true, ..Self::default() }
    }
}

impl Factors {
    /// The subtree of an edge in use: 0, or one more than the edge below which it is.
    fn subtree(&self, mut edge: u32) -> usize {
        while let Some(&Up { parent, .. }) = self.links.ups.get(edge as usize)
            && parent != NONE
        {
            let (up, down) = (&self.links.ups[parent as usize], &self.links.downs[parent as usize]);
            if up.classes.is_empty() && down.classes.is_empty() && !up.is_open {
                return parent as usize + 1;
            }
            edge = parent;
        }
        0
    }

    /// Finds the subtrees that have changed.
    pub(super) fn touch_subtrees(&mut self) {
        self.subtrees.ranges.clear();
        self.subtrees.event += 1;
        if std::mem::take(&mut self.subtrees.all) {
            self.subtrees.changed.clear();
            return self.subtrees.ranges.push((0, self.links.downs.len() as u32));
        }
        while let Some(edge) = self.subtrees.changed.pop() {
            let subtree = self.subtree(edge);
            if self.subtrees.touched[subtree] != self.subtrees.event {
                self.subtrees.touched[subtree] = self.subtrees.event;
                self.list_ranges(subtree);
            }
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

    /// The classes that start in the subtrees that an event touches, ascending.
    pub(super) fn touched_classes(&self) -> Vec<u32> {
        let edges = self.subtrees.ranges.iter().flat_map(|&(first, end)| first as usize..end as usize);
        let up = |edge: usize| self.links.ups.get(edge).map_or(&[][..], |up| &up.starting);
        let starting = |edge: usize| up(edge).iter().chain(&self.links.downs[edge].starting);
        let mut classes: Vec<u32> = edges.flat_map(starting).copied().collect();
        // Subtrees may lie within others.
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Whether an event looks at the exceptions that start where a class does.
    pub(super) fn is_touched(&self, class: u32) -> bool {
        let edge = self.classes[class as usize].route[0];
        self.subtrees.ranges.iter().any(|&(first, end)| (first..end).contains(&edge))
    }
}
