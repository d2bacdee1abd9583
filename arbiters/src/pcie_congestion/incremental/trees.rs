//! Step D1 on links. The links that a class throttles are a prefix of its route with one level; up links that some class
//! throttles together are merged into trees. What is kept of a link is found anew where something changes: first from the root
//! down, then what trees add up to from the leaves up, then levels from the root down.

use super::tables::{Slot, Up};
use super::{Factors, NONE};

/// Where the level of a tree comes from.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) enum By {
    #[default]
    Nobody,
    /// The slowest class of those over a link that goes on over the contended next one.
    Over(u32),
    /// The slowest class of a pair that is cut.
    Turn(u32),
    Class(u32),
}

/// What step D1 keeps of an up link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch {
    /// Depth of the next contended link above, 0 for none.
    pub(super) cut_above: u32,
    /// Some class throttles it together with the next one up.
    pub(super) merged: bool,
    /// The least rate after the cut behind it, of classes that throttle nothing further up.
    pub(super) own: f64,
    pub(super) own_by: By,
    /// The least of them in its tree, from here down, and where that is.
    pub(super) least: f64,
    pub(super) by: By,
    /// How far up those go, from here down, that the contended next link cuts: least depth in its tree, and in those below.
    pub(super) reach: u32,
    pub(super) reach_below: u32,
    /// Level of the tree of which it is the topmost link; what it was after the last event.
    pub(super) level: f64,
    pub(super) level_before: f64,
}

impl Branch {
    pub(super) const NEW: Self = Self {
        cut_above: 0,
        merged: false,
        own: f64::INFINITY,
        own_by: By::Nobody,
        least: f64::INFINITY,
        by: By::Nobody,
        reach: NONE,
        reach_below: NONE,
        level: f64::INFINITY,
        level_before: f64::INFINITY,
    };
}

impl Factors {
    /// Levels of all trees.
    pub(super) fn block(&mut self) {
        self.grow_trees();
        self.fold_trees();
        self.mark_moved();
        self.forget_specials();
        self.set_levels();
        self.block_specials();
    }

    /// Whether classes of a slot are cut at a contended link after this one: up links above, or the port.
    #[inline]
    pub(super) fn throttles(&self, cut_above: u32, slot: &Slot) -> bool {
        slot.turn() <= cut_above || self.pairs[slot.pair as usize].cut
    }

    /// The topmost link of a link's tree.
    #[inline]
    pub(super) fn top(&self, mut link: u32) -> u32 {
        loop {
            let up = &self.links.ups[link as usize];
            if !up.branch.merged {
                return link;
            }
            link = up.parent;
        }
    }

    /// m of an up link, infinite where nobody throttles it.
    #[inline]
    pub(super) fn up_level(&self, link: u32) -> f64 {
        self.links.ups[self.top(link) as usize].branch.level
    }

    /// From the root down.
    #[inline(never)]
    fn grow_trees(&mut self) {
        let mut from = 0;
        while let Some(link) = self.to_grow.next(from) {
            self.to_grow.remove(link);
            self.grow(link);
            from = link + 1;
        }
    }

    fn grow(&mut self, link: u32) {
        let Up { parent, children, branch: before, .. } = self.links.ups[link as usize];
        let branch = self.branch(link);
        let up = &mut self.links.ups[link as usize];
        (up.branch.cut_above, up.branch.merged) = (branch.cut_above, branch.merged);
        (up.branch.own, up.branch.own_by) = (branch.own, branch.own_by);
        self.to_fold.insert(link);
        if branch.cut_above != before.cut_above {
            self.grow_children(children);
            for at in 0..self.links.ups[link as usize].sources.len() {
                self.count_anew(self.links.ups[link as usize].sources[at]);
            }
        }
        if branch.merged != before.merged {
            self.to_fold.insert(parent);
            if before.merged {
                // It was no tree of its own, so nothing is known of its level.
                self.links.ups[link as usize].branch.level_before = f64::NAN;
            }
            self.moved.push(link);
        }
    }

    /// Marks the used ones of some links.
    pub(super) fn grow_children(&mut self, children: (u32, u32)) {
        for child in children.0..children.1 {
            if !self.links.ups[child as usize].slots.is_empty() {
                self.to_grow.insert(child);
            }
        }
    }

    /// What a link is by itself.
    pub(super) fn branch(&self, link: u32) -> Branch {
        let Up { depth, parent, factor, least_over, .. } = self.links.ups[link as usize];
        let slots = &self.links.ups[link as usize].slots;
        let mut branch = Branch::NEW;
        if let Some(above) = self.links.ups.get(parent as usize) {
            branch.cut_above = above.branch.cut_above;
            let mut over = slots.iter().take_while(|slot| slot.turn() < depth);
            branch.merged = over.any(|slot| self.throttles(branch.cut_above, slot));
            if above.contended {
                (branch.cut_above, branch.own) = (above.depth, least_over * factor * above.factor);
                branch.own_by = By::Over(link);
            }
        }
        for slot in slots.iter().rev().take_while(|slot| slot.turn() == depth) {
            let pair = &self.pairs[slot.pair as usize];
            let own = slot.least * factor * pair.factor;
            if pair.cut && own < branch.own {
                (branch.own, branch.own_by) = (own, By::Turn(slot.pair));
            }
        }
        branch
    }

    /// From the leaves up.
    #[inline(never)]
    fn fold_trees(&mut self) {
        let mut before = self.links.ups.len() as u32;
        while let Some(link) = self.to_fold.previous(before) {
            self.to_fold.remove(link);
            self.fold(link);
            before = link;
        }
    }

    fn fold(&mut self, link: u32) {
        let Up { depth, parent, children, branch, .. } = self.links.ups[link as usize];
        let mut folded = Branch { least: branch.own, by: branch.own_by, reach_below: NONE, ..branch };
        folded.reach = self.own_reach(link, depth);
        for child in &self.links.ups[children.0 as usize..children.1 as usize] {
            let below = &child.branch;
            folded.reach_below = folded.reach_below.min(below.reach_below);
            if !below.merged {
                folded.reach_below = folded.reach_below.min(below.reach);
                continue;
            }
            folded.reach = folded.reach.min(below.reach);
            if below.least < folded.least {
                (folded.least, folded.by) = (below.least, below.by);
            }
        }
        let is_same = branch.least.to_bits() == folded.least.to_bits()
            && (branch.by, branch.reach, branch.reach_below) == (folded.by, folded.reach, folded.reach_below);
        self.links.ups[link as usize].branch = folded;
        if !is_same && parent != NONE {
            self.to_fold.insert(parent);
        }
        let top = self.top(link);
        self.to_level.insert(top);
        self.links.ups[top as usize].looked = self.event;
    }

    /// How far up classes go that the contended next link cuts.
    pub(super) fn own_reach(&self, link: u32, depth: u32) -> u32 {
        let Up { parent, ref slots, .. } = self.links.ups[link as usize];
        match slots.first() {
            Some(slot) if slot.turn() < depth && self.links.ups[parent as usize].contended => slot.turn(),
            _ => NONE,
        }
    }

    /// Trees below a link that has moved to another tree.
    fn mark_moved(&mut self) {
        for at in 0..self.moved.len() {
            let link = self.moved[at];
            self.mark_dependent(link, self.links.ups[link as usize].depth, true);
        }
    }

    /// Levels of trees whose sums have changed, and of trees below that depend on these, as if no class were looked at one
    /// by one.
    #[inline(never)]
    fn set_levels(&mut self) {
        let mut from = 0;
        while let Some(top) = self.to_level.next(from) {
            self.to_level.remove(top);
            self.touched.push(top);
            let Up { branch, .. } = self.links.ups[top as usize];
            if !branch.merged {
                let (level, by) = self.bounded(top, branch.least, branch.by);
                self.set_level(top, level, by);
            }
            from = top + 1;
        }
    }

    /// A level of a tree, bounded by those that its classes cross further up.
    pub(super) fn bounded(&self, top: u32, mut level: f64, mut by: By) -> (f64, By) {
        let Up { parent, branch, .. } = self.links.ups[top as usize];
        let mut above = parent;
        while above != NONE && self.links.ups[above as usize].depth >= branch.reach {
            let bound = self.top(above);
            let bound_branch = &self.links.ups[bound as usize].branch;
            if bound_branch.level < level {
                (level, by) = (bound_branch.level, self.level_by[bound as usize]);
            }
            above = self.links.ups[bound as usize].parent;
        }
        (level, by)
    }

    /// Sets the level of a tree; trees below that depend on it are marked.
    pub(super) fn set_level(&mut self, top: u32, level: f64, by: By) {
        let branch = &mut self.links.ups[top as usize].branch;
        let before = std::mem::replace(&mut self.level_by[top as usize], by);
        if branch.level.to_bits() != level.to_bits() || before != by {
            branch.level = level;
            let depth = self.links.ups[top as usize].depth;
            self.mark_dependent(top, depth, true);
        }
    }

    /// Marks trees below `link` whose classes cross a tree up to it; `depth` is that of the lowest link of the tree above.
    fn mark_dependent(&mut self, link: u32, depth: u32, is_inside: bool) {
        let Up { children, branch, .. } = self.links.ups[link as usize];
        if branch.reach_below == NONE || !is_inside && branch.reach_below > depth {
            return;
        }
        for child in children.0..children.1 {
            let Up { branch, depth: own, .. } = self.links.ups[child as usize];
            if !branch.merged && branch.reach <= depth {
                self.to_level.insert(child);
            }
            let is_inside = is_inside && branch.merged;
            self.mark_dependent(child, if is_inside { own } else { depth }, is_inside);
        }
    }
}
