//! What has changed is told: links below the next ones up, levels of trees, sources that are at home or have a rate of their
//! own, classes apart.

use weir_plugin_api::{Answer, Hang, Level, NO_ID, RootLevel};

use super::exceptions::Exception;
use super::sources::Source;
use super::tables::{Class, Up};
use super::{AT_SOURCE, Factors, NONE, UNTOLD};

impl Factors {
    /// Levels round down, but not to none: the clocks refuse those that are too small to be exact.
    pub(super) fn level(&self, rate: f64) -> Level {
        ((rate * self.scale) as Level).max(Level::from(rate > 0.0))
    }

    /// The node of an up link.
    fn node(&self, up: u32) -> u32 {
        self.first_node + up
    }

    /// The node of a source.
    fn source_node(&self, source: u32) -> u32 {
        self.first_node + self.links.ups.len() as u32 + source
    }

    /// Tells what the fast way found.
    #[inline(never)]
    pub(super) fn tell(&mut self, answer: &mut Answer) {
        self.tell_links(answer);
        for at in 0..self.away.len() {
            let source = self.away[at];
            let Source { listed, link, .. } = self.sources[source as usize];
            if listed != self.event {
                self.tell_source(source, link, answer);
            }
        }
        for at in 0..self.exceptions.len() {
            self.tell_exception(at, answer);
        }
        for at in 0..self.unlike.len() {
            let (class, rate) = self.unlike[at];
            let of = &mut self.classes[class as usize];
            (of.listed, of.blocked_at, of.rate, of.asked) = (self.event, NONE, rate, None);
            self.tell_root(class, self.level(rate), answer);
        }
        for at in 0..self.apart.len() {
            self.tell_unlisted(self.apart[at], answer);
        }
        for at in 0..self.specials.len() {
            let class = self.specials[at];
            if self.is_touched(self.classes[class as usize].route[0]) {
                self.tell_unlisted(class, answer);
            }
        }
    }

    fn tell_exception(&mut self, at: usize, answer: &mut Answer) {
        let Exception { source, class, rate, blocked_at, .. } = self.exceptions[at];
        let level = self.level(rate);
        let Class { ups, ref route, .. } = self.classes[class as usize];
        let below = if blocked_at < ups { route[blocked_at as usize] } else { NONE };
        if source == NONE {
            let of = &mut self.classes[class as usize];
            (of.blocked_at, of.rate, of.asked) = (blocked_at, rate, None);
            return if below == NONE {
                self.tell_root(class, level, answer)
            } else {
                self.tell_apart(class, below, answer)
            };
        }
        self.tell_source(source, below, answer);
        let node = self.source_node(source);
        let of = &mut self.sources[source as usize];
        (of.blocked_at, of.rate) = (blocked_at, rate);
        if below == NONE && of.told_level != level {
            of.told_level = level;
            answer.levels.push(RootLevel { root: node, level });
        }
        self.watch(source);
    }

    /// Tells that a class is no exception by itself: it hangs below its source, or below its first link where others of that are
    /// exceptions.
    fn tell_unlisted(&mut self, class: u32, answer: &mut Answer) {
        let Class { source, listed, ref route, .. } = self.classes[class as usize];
        let Some(&Source { listed: source_listed, .. }) = self.sources.get(source as usize) else { return };
        if listed == self.event {
            return;
        }
        let first = route[0];
        self.classes[class as usize].asked = None;
        if source_listed == self.event && self.is_looked_at(class) {
            self.tell_apart(class, first, answer);
        } else {
            self.hang_class(class, AT_SOURCE, answer);
        }
    }

    /// Tells that a class has the level of an up link, by itself.
    fn tell_apart(&mut self, class: u32, up: u32, answer: &mut Answer) {
        self.hang_class(class, up, answer);
        self.part(class);
    }

    /// Tells that a class is a root, and its level.
    pub(super) fn tell_root(&mut self, class: u32, level: Level, answer: &mut Answer) {
        self.hang_class(class, NONE, answer);
        self.part(class);
        let of = &mut self.classes[class as usize];
        if of.told_level != level {
            of.told_level = level;
            answer.levels.push(RootLevel { root: class, level });
        }
    }

    fn hang_class(&mut self, class: u32, below: u32, answer: &mut Answer) {
        let of = &mut self.classes[class as usize];
        if of.told_below == below {
            return;
        }
        (of.told_below, of.told_level) = (below, UNTOLD);
        let below = match below {
            NONE => NO_ID,
            AT_SOURCE => self.source_node(self.classes[class as usize].source),
            up => self.node(up),
        };
        answer.hung.push(Hang { node: class, below });
    }

    /// Tells what a source hangs below: an up link or nothing.
    fn tell_source(&mut self, source: u32, below: u32, answer: &mut Answer) {
        let node = self.source_node(source);
        let of = &mut self.sources[source as usize];
        if of.told_below != below {
            (of.told_below, of.told_level) = (below, UNTOLD);
            let below = if below == NONE { NO_ID } else { self.node(below) };
            answer.hung.push(Hang { node, below });
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
