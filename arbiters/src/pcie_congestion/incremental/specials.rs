//! Step D1 for classes that are cut far down, one by one: what they throttle has one level, too, whatever trees it is in.

use super::tables::{Class, Up};
use super::trees::By;
use super::{Factors, NONE};

/// Trees that are joined, by their topmost links, and throttled down links, numbered after the up links.
#[derive(Debug, Default)]
pub(super) struct Sets {
    /// Per set what it is joined to, itself where it is not; and its level.
    joined: Vec<u32>,
    level: Vec<f64>,
    by: Vec<By>,
    /// Event in which a set was listed.
    listed: Vec<u64>,
    trees: Vec<u32>,
    downs: Vec<u32>,
    /// (set, one with a level that it may not exceed)
    edges: Vec<(u32, u32)>,
}

impl Sets {
    pub(super) fn new(links: usize) -> Self {
        let (level, by) = (vec![f64::INFINITY; links], vec![By::Nobody; links]);
        let (joined, listed) = ((0..links as u32).collect(), vec![0; links]);
        Self { joined, level, by, listed, ..Self::default() }
    }

    /// Whether down links are throttled.
    pub(super) fn throttles_below(&self) -> bool {
        !self.downs.is_empty()
    }

    #[inline]
    fn find(&self, mut set: u32) -> u32 {
        while self.joined[set as usize] != set {
            set = self.joined[set as usize];
        }
        set
    }

    fn join(&mut self, a: u32, b: u32) {
        let (set, other) = (self.find(a), self.find(b));
        if set != other {
            self.joined[other as usize] = set;
            self.lower(set, self.level[other as usize], self.by[other as usize]);
        }
        // So that ways stay short.
        (self.joined[a as usize], self.joined[b as usize]) = (set, set);
    }

    /// Lowers a level; whether that does anything.
    #[inline]
    fn lower(&mut self, set: u32, level: f64, by: By) -> bool {
        let set = self.find(set) as usize;
        let is_lower = level < self.level[set];
        if is_lower {
            (self.level[set], self.by[set]) = (level, by);
        }
        is_lower
    }
}

impl Factors {
    /// Puts back what classes of the last event have joined.
    #[inline(never)]
    pub(super) fn forget_specials(&mut self) {
        for set in self.sets.downs.drain(..) {
            self.sets.joined[set as usize] = set;
        }
        for tree in self.sets.trees.drain(..) {
            self.sets.joined[tree as usize] = tree;
            self.to_level.insert(tree);
        }
        self.sets.edges.clear();
    }

    /// Levels of all that classes throttle which are cut one by one.
    #[inline(never)]
    pub(super) fn block_specials(&mut self) {
        for at in 0..self.specials.len() {
            self.join_special(self.specials[at]);
        }
        self.bound_by_links_below();
        if !self.sets.trees.is_empty() || !self.sets.downs.is_empty() {
            while self.relax() {
                self.lower_trees();
            }
        }
    }

    /// Joins what a class throttles.
    fn join_special(&mut self, class: u32) {
        let last = self.last_contended(class);
        if last == 0 {
            return;
        }
        let first = self.set_of_hop(class, 0);
        for hop in 0..last {
            let set = self.set_of_hop(class, hop);
            self.list_set(set);
            self.sets.join(first, set);
        }
        self.sets.lower(first, self.marks[class as usize].rate, By::Class(class));
    }

    /// The set of a class's hop.
    fn set_of_hop(&self, class: u32, hop: u32) -> u32 {
        let class = &self.classes[class as usize];
        let link = class.route[hop as usize];
        if hop < class.ups { self.top(link) } else { self.links.ups.len() as u32 + link }
    }

    /// Takes a set in, with the level that it has so far.
    fn list_set(&mut self, set: u32) {
        if self.sets.listed[set as usize] == self.event {
            return;
        }
        self.sets.listed[set as usize] = self.event;
        let (level, by) = match self.links.ups.get(set as usize) {
            Some(up) => (up.branch.level, self.level_by[set as usize]),
            None => (f64::INFINITY, By::Nobody),
        };
        (self.sets.level[set as usize], self.sets.by[set as usize]) = (level, by);
        if (set as usize) < self.links.ups.len() {
            self.sets.trees.push(set);
            self.touched.push(set);
        } else {
            self.sets.downs.push(set);
        }
    }

    /// Whether a contended link cuts a class after its first one, one by one.
    pub(super) fn throttles_one_by_one(&self, class: u32) -> bool {
        let mark = &self.marks[class as usize];
        mark.event == self.event && !matches!(mark.contended, 0 | NONE)
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

    /// Classes on throttled down links that throttle something have a level of at most that link's.
    fn bound_by_links_below(&mut self) {
        let first_down = self.links.ups.len() as u32;
        for at in 0..self.sets.downs.len() {
            let set = self.sets.downs[at];
            let port = set - first_down;
            for at in 0..self.links.downs[port as usize].pairs.len() {
                let from = self.pairs[self.links.downs[port as usize].pairs[at] as usize].from;
                self.bound_slot(from, u64::from(self.links.ups[from as usize].depth) << 32 | u64::from(port + 1), set);
            }
            let from_above = if self.links.downs[port as usize].above > 0 {
                self.links.downs[port as usize].classes.len()
            } else {
                0
            };
            for at in 0..from_above {
                let class = self.links.downs[port as usize].classes[at];
                if self.hop_from_above(class, port).is_some() && self.last_contended(class) > 0 {
                    self.bound_set(self.set_of_hop(class, 0), set);
                }
            }
        }
        self.bound_specials();
    }

    /// Bounds the trees of those classes of a slot that a contended link cuts after their first one.
    fn bound_slot(&mut self, link: u32, key: u64, set: u32) {
        let Up { branch, contended, children, .. } = self.links.ups[link as usize];
        let Ok(at) = self.links.ups[link as usize].slot(key) else { return };
        if self.throttles(branch.cut_above, &self.links.ups[link as usize].slots[at]) {
            return self.bound_set(self.top(link), set);
        }
        for child in children.0..children.1 {
            if !contended {
                self.bound_slot(child, key, set);
            } else if self.links.ups[child as usize].slot(key).is_ok() {
                self.bound_set(self.top(child), set);
            }
        }
    }

    /// Classes that are cut one by one cross throttled links after that, too.
    fn bound_specials(&mut self) {
        for at in 0..self.specials.len() {
            let class = self.specials[at];
            let last = self.last_contended(class);
            let Class { ups, ref route, .. } = self.classes[class as usize];
            if last > 0 {
                for hop in last.max(ups)..route.len() as u32 {
                    let set = self.set_of_hop(class, hop);
                    if self.sets.listed[set as usize] == self.event {
                        self.bound_set(self.set_of_hop(class, 0), set);
                    }
                }
            }
        }
    }

    fn bound_set(&mut self, tree: u32, set: u32) {
        self.list_set(tree);
        if self.sets.edges.last() != Some(&(tree, set)) {
            self.sets.edges.push((tree, set));
        }
    }

    /// Lowers sets to what bounds them; whether any tree has to follow.
    fn relax(&mut self) -> bool {
        loop {
            let mut has_moved = false;
            for at in 0..self.sets.edges.len() {
                let (set, bound) = self.sets.edges[at];
                let bound = self.sets.find(bound) as usize;
                has_moved |= self.sets.lower(set, self.sets.level[bound], self.sets.by[bound]);
            }
            if !has_moved {
                break;
            }
        }
        let is_lower =
            |&tree: &u32| self.sets.level[self.sets.find(tree) as usize] < self.links.ups[tree as usize].branch.level;
        self.sets.trees.iter().any(is_lower)
    }

    /// Lowers trees to their sets, and those below that depend on them.
    fn lower_trees(&mut self) {
        for at in 0..self.sets.trees.len() {
            let tree = self.sets.trees[at];
            let set = self.sets.find(tree) as usize;
            if self.sets.level[set] < self.links.ups[tree as usize].branch.level {
                self.set_level(tree, self.sets.level[set], self.sets.by[set]);
            }
        }
        let mut from = 0;
        while let Some(tree) = self.to_level.next(from) {
            self.to_level.remove(tree);
            from = tree + 1;
            self.touched.push(tree);
            let before = self.links.ups[tree as usize].branch.level;
            let (level, by) = self.bounded(tree, before, self.level_by[tree as usize]);
            if level < before {
                self.set_level(tree, level, by);
                if self.sets.listed[tree as usize] == self.event {
                    self.sets.lower(tree, level, by);
                }
            }
        }
    }

    /// Where that comes from.
    pub(super) fn level_by_hop(&self, class: u32, hop: u32) -> By {
        let of = &self.classes[class as usize];
        let link = of.route[hop as usize];
        if hop < of.ups {
            return self.level_by[self.top(link) as usize];
        }
        self.sets.by[self.sets.find(self.links.ups.len() as u32 + link) as usize]
    }

    /// m of a class's first hop.
    #[inline]
    pub(super) fn first_level(&self, class: u32) -> f64 {
        let of = &self.classes[class as usize];
        if of.ups > 0 { self.up_level(of.route[0]) } else { self.level_of_hop(class, 0) }
    }

    /// m of a class's hop, infinite where nobody throttles it.
    pub(super) fn level_of_hop(&self, class: u32, hop: u32) -> f64 {
        let of = &self.classes[class as usize];
        let link = of.route[hop as usize];
        if hop < of.ups {
            return self.up_level(link);
        }
        let set = self.links.ups.len() as u32 + link;
        if self.sets.listed[set as usize] == self.event {
            self.sets.level[self.sets.find(set) as usize]
        } else {
            f64::INFINITY
        }
    }
}
