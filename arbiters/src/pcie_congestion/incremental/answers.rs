//! What has changed is told: links below the next ones up, levels of trees, classes that are at home or have a rate of their
//! own.

use weir_plugin_api::{Answer, Hang, Level, NO_ID, RootLevel};

use super::exceptions::{Exception, Member};
use super::tables::Up;
use super::{Factors, NONE, UNTOLD};

impl Factors {
    /// Levels round down.
    pub(super) fn level(&self, rate: f64) -> Level {
        (rate * self.scale) as Level
    }

    /// The node of an up link.
    fn node(&self, up: u32) -> u32 {
        self.first_node + up
    }

    /// Tells what the fast way found.
    #[inline(never)]
    pub(super) fn tell(&mut self, answer: &mut Answer) {
        self.tell_links(answer);
        for at in 0..self.away.len() {
            let class = self.away[at];
            if self.classes[class as usize].listed != self.event {
                self.tell_below(class, self.classes[class as usize].route[0], answer);
            }
        }
        for at in 0..self.members.len() {
            let Member { class, exception, rate } = self.members[at];
            let Exception { blocked_at, .. } = self.exceptions[exception as usize];
            let of = &mut self.classes[class as usize];
            (of.blocked_at, of.rate, of.asked) = (blocked_at, rate, None);
            if blocked_at < of.ups {
                let below = of.route[blocked_at as usize];
                self.tell_below(class, below, answer);
            } else {
                self.tell_root(class, self.level(rate), answer);
            }
            self.watch(class);
        }
    }

    /// Tells that a class has the level of an up link.
    fn tell_below(&mut self, class: u32, up: u32, answer: &mut Answer) {
        let of = &mut self.classes[class as usize];
        of.asked = None;
        if of.told_below != up {
            (of.told_below, of.told_level) = (up, UNTOLD);
            answer.hung.push(Hang { node: class, below: self.first_node + up });
        }
    }

    /// Tells that a class is a root, and its level.
    pub(super) fn tell_root(&mut self, class: u32, level: Level, answer: &mut Answer) {
        let of = &mut self.classes[class as usize];
        if of.told_below != NONE {
            (of.told_below, of.told_level) = (NONE, UNTOLD);
            answer.hung.push(Hang { node: class, below: NO_ID });
        }
        if of.told_level != level {
            of.told_level = level;
            answer.levels.push(RootLevel { root: class, level });
        }
    }

    fn tell_links(&mut self, answer: &mut Answer) {
        while let Some(link) = self.moved.pop() {
            let up = &mut self.links.ups[link as usize];
            let below = if up.branch.merged { up.parent } else { NONE };
            if up.told_below != below {
                (up.told_below, up.told_level) = (below, UNTOLD);
                let below = if below == NONE { NO_ID } else { self.node(below) };
                answer.hung.push(Hang { node: self.node(link), below });
            }
        }
        while let Some(top) = self.touched.pop() {
            let Up { branch, told_level, .. } = self.links.ups[top as usize];
            let level = self.level(branch.level);
            if !branch.merged && branch.level.is_finite() && told_level != level {
                self.links.ups[top as usize].told_level = level;
                answer.levels.push(RootLevel { root: self.node(top), level });
            }
        }
    }
}
