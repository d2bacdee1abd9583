//! Subtrees that no route leaves: an event looks at those only that it touches. Where few transfers are below one, or some that
//! the fast way does not serve, the rate arbiter is asked for their rates: of few, for those connected with what has changed.
//!
//! An edge is a node's link up and its link down, of one number. Edges of a subtree are side by side at each depth. Lateral
//! links, with the numbers after these, belong to the subtree below the roots.

use super::tables::{Class, Up};
use super::{Factors, NONE};

/// The most transfers that are few (*assumed*). For 140 in 50 classes the rate arbiter takes twice the instructions of the fast
/// way, for 4 less than half of them.
pub(super) const FEW: u32 = 32;
/// The most edges among which few transfers are sought (*assumed*: a look at each costs less than an event).
const MOST_EDGES: u32 = 256;

/// The subtrees that an event touches.
#[derive(Debug, Default)]
pub(super) struct Subtrees {
    /// Edges of routes that have changed.
    pub(super) changed: Vec<u32>,
    /// Per link, up ones first, the last event that changes what is on it or on a link that is connected with it.
    reached: Vec<u64>,
    /// Counts events.
    event: u64,
    /// Per subtree, by the edge above it, the first one for that below the roots: the last event that touched it, and the last
    /// one that treats it in the fast way.
    touched: Vec<u64>,
    fast: Vec<u64>,
    /// Those with more than few transfers.
    large: Vec<usize>,
    /// Of those of the fast way: `first..end`, per subtree and depth.
    pub(super) ranges: Vec<(u32, u32)>,
    /// Classes of the others.
    pub(super) asked: Vec<u32>,
}

impl Subtrees {
    pub(super) fn new(edges: usize, links: usize) -> Self {
        let (touched, fast, reached) = (vec![0; edges + 1], vec![0; edges + 1], vec![0; links]);
        Self { touched, fast, reached, ..Self::default() }
    }

    /// Begins an event.
    pub(super) fn begin(&mut self) {
        self.event += 1;
    }

    /// Notes a class that has changed.
    pub(super) fn change(&mut self, class: &Class) {
        self.changed.extend(&class.route);
        self.reach(class);
    }

    fn reach(&mut self, class: &Class) {
        let first_down = self.touched.len() - 1;
        class.up_links().iter().for_each(|&link| self.reached[link as usize] = self.event);
        class.down_links().iter().for_each(|&link| self.reached[first_down + link as usize] = self.event);
    }

    fn is_reached(&self, class: &Class) -> bool {
        let first_down = self.touched.len() - 1;
        class.up_links().iter().any(|&link| self.reached[link as usize] == self.event)
            || class.down_links().iter().any(|&link| self.reached[first_down + link as usize] == self.event)
    }

    /// Of the classes from one on, keeps those that are connected with changed ones, as no other rates change, and those whose
    /// rates are the fast way's.
    fn keep_connected(&mut self, mut from: usize, classes: &[Class]) {
        let mut at = from;
        while at < self.asked.len() {
            let class = &classes[self.asked[at] as usize];
            if self.is_reached(class) || class.asked.is_none() {
                self.reach(class);
                self.asked.swap(from, at);
                from += 1;
                at = from;
            } else {
                at += 1;
            }
        }
        self.asked.truncate(from);
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

    /// Finds the subtrees that have changed, and which way each of them goes; does step B where one goes the fast way.
    #[inline(never)]
    pub(super) fn touch_subtrees(&mut self) {
        self.subtrees.ranges.clear();
        self.subtrees.asked.clear();
        while let Some(edge) = self.subtrees.changed.pop() {
            self.touch_subtree(self.subtree(edge));
            // What was connected over an edge may not be any more.
            if self.links.ups.get(edge as usize).is_some_and(|up| up.children.0 < up.children.1) && self.is_closed(edge)
            {
                self.touch_subtree(edge as usize + 1);
            }
        }
        if !self.subtrees.large.is_empty() {
            self.divide_upward();
        }
        while let Some(subtree) = self.subtrees.large.pop() {
            self.treat_large(subtree);
        }
    }

    fn touch_subtree(&mut self, subtree: usize) {
        if self.subtrees.touched[subtree] == self.subtrees.event {
            return;
        }
        self.subtrees.touched[subtree] = self.subtrees.event;
        if !self.list_few(subtree) {
            self.subtrees.large.push(subtree);
        }
    }

    /// Lists classes of a subtree for the rate arbiter if few transfers are below it.
    fn list_few(&mut self, subtree: usize) -> bool {
        let (ranges, classes) = (self.subtrees.ranges.len(), self.subtrees.asked.len());
        self.list_ranges(subtree);
        let edges: u32 = self.subtrees.ranges[ranges..].iter().map(|&(first, end)| end - first).sum();
        // A transfer crosses one of the topmost links up, if any.
        let topmost = self.subtrees.ranges.get(ranges).map_or(0..0, |&(first, end)| first as usize..end as usize);
        let least: u32 = self.links.ups.get(topmost).map_or(0, |ups| ups.iter().map(|up| up.transfers).sum());
        let is_few =
            edges <= MOST_EDGES && least <= self.few && self.list_classes(subtree, ranges, self.few).0 <= self.few;
        self.subtrees.ranges.truncate(ranges);
        if is_few {
            self.subtrees.keep_connected(classes, &self.classes);
        } else {
            self.subtrees.asked.truncate(classes);
        }
        is_few
    }

    /// Lets a subtree go the fast way if that serves all of its transfers.
    fn treat_large(&mut self, subtree: usize) {
        let (ranges, classes) = (self.subtrees.ranges.len(), self.subtrees.asked.len());
        self.list_ranges(subtree);
        if (self.limited > 0 || self.clamped > 0) && self.list_classes(subtree, ranges, u32::MAX).1 {
            self.subtrees.ranges.truncate(ranges);
        } else {
            self.subtrees.asked.truncate(classes);
            self.subtrees.fast[subtree] = self.subtrees.event;
        }
    }

    /// `first..end` of the edges of a subtree at each depth; then of lateral links.
    fn list_ranges(&mut self, subtree: usize) {
        let ups = &self.links.ups;
        let (mut first, mut end) = match subtree.checked_sub(1) {
            Some(edge) => ups[edge].children,
            None => (0, self.links.roots),
        };
        while first < end {
            self.subtrees.ranges.push((first, end));
            (first, end) = (ups[first as usize].children.0, ups[end as usize - 1].children.1);
        }
        if subtree == 0 && ups.len() < self.links.downs.len() {
            self.subtrees.ranges.push((ups.len() as u32, self.links.downs.len() as u32));
        }
    }

    /// Lists the classes of a subtree, in the ranges from one on, until there are more than `most` transfers. Returns how many
    /// transfers these are, and whether the fast way does not serve some.
    fn list_classes(&mut self, subtree: usize, ranges: usize, most: u32) -> (u32, bool) {
        let (mut transfers, mut is_odd) = (0, false);
        for at in ranges..self.subtrees.ranges.len() {
            let (first, end) = self.subtrees.ranges[at];
            for edge in first..end {
                let up = self.links.ups.get(edge as usize);
                let (above, below) = (up.map_or(&[][..], |up| &up.sources), &self.links.downs[edge as usize].starting);
                let is_clamped = up.is_some_and(|up| up.clamped);
                // Subtrees may lie within others.
                let is_idle = !is_clamped && above.is_empty() && below.is_empty();
                if is_idle || at > ranges && self.subtree(edge) != subtree {
                    continue;
                }
                is_odd |= is_clamped;
                let above = above.iter().flat_map(|&source| &self.sources[source as usize].classes);
                for &class in above.chain(below) {
                    transfers += self.classes[class as usize].transfers;
                    is_odd |= self.classes[class as usize].is_limited;
                    self.subtrees.asked.push(class);
                }
                if transfers > most {
                    return (transfers, is_odd);
                }
            }
        }
        (transfers, is_odd)
    }

    /// Whether an event treats what begins at an edge in the fast way.
    pub(super) fn is_touched(&self, edge: u32) -> bool {
        self.subtrees.fast[self.subtree(edge)] == self.subtrees.event
    }
}
