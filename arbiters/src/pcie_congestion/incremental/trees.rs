//! Step D1 on links. The links that a class throttles are a prefix of its route with one level; up links that some class
//! throttles together are merged into trees.

use super::tables::{Slot, Up};
use super::{Factors, NONE};

/// Where the level of a set of links comes from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum By {
    #[default]
    Nobody,
    /// The slowest class of those over a link that goes on over the contended next one.
    Over(u32),
    /// The slowest class of a pair that is cut.
    Turn(u32),
    Class(u32),
}

/// The sets of links with one level: trees of up links, by their topmost link, and throttled down links, numbered after the
/// up links; some joined by classes that are cut far down.
#[derive(Debug, Default)]
pub(super) struct Sets {
    /// What a set is joined to; itself where it is not.
    joined: Vec<u32>,
    pub(super) level: Vec<f64>,
    pub(super) by: Vec<By>,
    /// Event in which a down link was throttled.
    throttled: Vec<u64>,
    /// Sets that were joined to others; throttled down links.
    changed: Vec<u32>,
    downs: Vec<u32>,
    /// (set, one with a level that it may not exceed)
    edges: Vec<(u32, u32)>,
}

impl Sets {
    pub(super) fn new(links: usize) -> Self {
        Self {
            joined: (0..links as u32).collect(),
            level: vec![f64::INFINITY; links],
            by: vec![By::Nobody; links],
            throttled: vec![0; links],
            ..Self::default()
        }
    }

    #[inline]
    pub(super) fn find(&self, mut set: u32) -> u32 {
        while self.joined[set as usize] != set {
            set = self.joined[set as usize];
        }
        set
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.joined[b as usize] = a;
            self.changed.push(b);
            self.lower(a, self.level[b as usize], self.by[b as usize]);
        }
    }

    #[inline]
    fn lower(&mut self, set: u32, level: f64, by: By) {
        if level < self.level[set as usize] {
            (self.level[set as usize], self.by[set as usize]) = (level, by);
        }
    }

    /// To the fixed point.
    fn relax(&mut self) {
        loop {
            let mut is_done = true;
            for at in 0..self.edges.len() {
                let (set, bound) = self.edges[at];
                let (set, bound) = (self.find(set), self.find(bound));
                if self.level[bound as usize] < self.level[set as usize] {
                    self.lower(set, self.level[bound as usize], self.by[bound as usize]);
                    is_done = false;
                }
            }
            if is_done {
                return;
            }
        }
    }

    fn reset(&mut self) {
        for set in self.changed.drain(..) {
            self.joined[set as usize] = set;
        }
        self.downs.clear();
        self.edges.clear();
    }
}

impl Factors {
    /// Levels of all sets.
    pub(super) fn block(&mut self) {
        self.sets.reset();
        self.grow_trees();
        self.join_specials();
        self.bound_by_links_above();
        self.bound_by_links_below();
        self.sets.relax();
    }

    /// Whether classes of a slot are cut at a contended link after this one: up links above, or the port.
    #[inline]
    pub(super) fn throttles(&self, cut_above: u32, slot: &Slot) -> bool {
        slot.turn() <= cut_above || self.pairs[slot.pair as usize].cut
    }

    fn grow_trees(&mut self) {
        let mut next = self.used_ups.next(0);
        while let Some(link) = next {
            next = self.used_ups.next(link + 1);
            self.grow_tree(link);
        }
    }

    fn grow_tree(&mut self, link: u32) {
        let Up { depth, parent, factor, least_over, .. } = self.links.ups[link as usize];
        let (mut cut_above, mut merged, mut tree, mut own) = (0, false, link, f64::INFINITY);
        let slots = &self.links.ups[link as usize].slots;
        if let Some(above) = self.links.ups.get(parent as usize) {
            let mut over = slots.iter().take_while(|slot| slot.turn() < depth);
            merged = over.any(|slot| self.throttles(above.cut_above, slot));
            (cut_above, tree) = (above.cut_above, if merged { above.tree } else { link });
            if above.contended {
                (cut_above, own) = (above.depth, least_over * factor * above.factor);
            }
        }
        if !merged {
            (self.sets.level[link as usize], self.sets.by[link as usize]) = (f64::INFINITY, By::Nobody);
        }
        self.sets.lower(tree, own, By::Over(link));
        for slot in slots.iter().rev().take_while(|slot| slot.turn() == depth) {
            let pair = &self.pairs[slot.pair as usize];
            if pair.cut {
                self.sets.lower(tree, slot.least * factor * pair.factor, By::Turn(slot.pair));
            }
        }
        let up = &mut self.links.ups[link as usize];
        (up.cut_above, up.merged, up.tree, up.own) = (cut_above, merged, tree, own);
    }

    /// The set of a class's hop.
    pub(super) fn set_of_hop(&self, class: u32, hop: u32) -> u32 {
        let class = &self.classes[class as usize];
        let link = class.route[hop as usize];
        if hop < class.ups { self.links.ups[link as usize].tree } else { self.links.ups.len() as u32 + link }
    }

    /// The last hop at which a class is cut at a contended link: it throttles those before. 0 if there are none.
    pub(super) fn last_contended(&self, class: u32) -> u32 {
        let mark = &self.marks[class as usize];
        if mark.event == self.event && mark.contended != NONE {
            return mark.contended;
        }
        let class = &self.classes[class as usize];
        if self.pairs.get(class.pair as usize).is_some_and(|pair| pair.cut) {
            return class.ups;
        }
        let ups = class.up_links();
        ups.iter().rposition(|&k| self.links.ups[k as usize].contended).unwrap_or(0) as u32
    }

    /// Joins what classes throttle that are cut far down; levels of all that were looked at one by one.
    fn join_specials(&mut self) {
        for at in 0..self.specials.len() {
            let class = self.specials[at];
            let last = self.last_contended(class);
            if last == 0 {
                continue;
            }
            for hop in self.classes[class as usize].ups..last {
                self.throttle_down(self.set_of_hop(class, hop));
            }
            let first = self.set_of_hop(class, 0);
            for hop in 1..last {
                self.sets.join(first, self.set_of_hop(class, hop));
            }
            let set = self.sets.find(first);
            self.sets.lower(set, self.marks[class as usize].rate, By::Class(class));
        }
    }

    fn throttle_down(&mut self, set: u32) {
        let event = &mut self.sets.throttled[set as usize];
        if *event != self.event {
            *event = self.event;
            self.sets.level[set as usize] = f64::INFINITY;
            self.sets.downs.push(set);
        }
    }

    /// Classes that are cut at a link throttle those before, and cross those after it up to their highest turn.
    fn bound_by_links_above(&mut self) {
        let mut next = self.used_ups.next(0);
        while let Some(link) = next {
            next = self.used_ups.next(link + 1);
            let Up { parent, depth, tree, .. } = self.links.ups[link as usize];
            let turn = self.links.ups[link as usize].slots[0].turn();
            if turn == depth || !self.links.ups[parent as usize].contended {
                continue;
            }
            let (mut above, mut last) = (parent, tree);
            while above != NONE && self.links.ups[above as usize].depth >= turn {
                let Up { tree: bound, parent, .. } = self.links.ups[above as usize];
                if bound != last && bound != tree {
                    self.sets.edges.push((tree, bound));
                }
                (above, last) = (parent, bound);
            }
        }
    }

    /// Classes on throttled down links.
    fn bound_by_links_below(&mut self) {
        let first_down = self.links.ups.len() as u32;
        for at in 0..self.sets.downs.len() {
            let set = self.sets.downs[at];
            for &class in &self.links.downs[(set - first_down) as usize].classes {
                if self.last_contended(class) > 0 {
                    self.sets.edges.push((self.set_of_hop(class, 0), set));
                }
            }
        }
    }

    /// m of a class's hop, infinite where nobody throttles it.
    pub(super) fn level_of_hop(&self, class: u32, hop: u32) -> f64 {
        let set = self.set_of_hop(class, hop);
        let is_down = set as usize >= self.links.ups.len();
        if is_down && self.sets.throttled[set as usize] != self.event {
            return f64::INFINITY;
        }
        self.sets.level[self.sets.find(set) as usize]
    }
}
