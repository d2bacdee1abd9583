//! Sources: classes that start at one up link and turn at one pair. Up to their port they cross the same links, so they are cut,
//! throttle and are blocked alike. Each is a node: it hangs below its first link, or is an exception, and its classes hang
//! below it. *Apart* are classes that do not, as they have a rate or a place of their own.

use weir_plugin_api::Level;

use super::tables::{Class, insert, remove};
use super::{AT_SOURCE, Factors, NONE, UNKNOWN, UNTOLD};

#[derive(Debug)]
pub(super) struct Source {
    /// Of its slot: the order of the sources of a link. 0 for limited classes, which have no slot.
    pub(super) key: u64,
    /// The event in which it was found to be as slow as its tree, perhaps; that in which it was listed as an exception.
    pub(super) slow: u64,
    pub(super) listed: u64,
    pub(super) exception: u32,
    /// Where its classes start, and where they turn.
    pub(super) link: u32,
    pub(super) pair: u32,
    /// What was told: the node it hangs below, its level where it is a root.
    pub(super) told_below: u32,
    pub(super) told_level: Level,
    /// No contended link cuts it after its first one, with all of its slot: it is listed.
    pub(super) is_free: bool,
    pub(super) is_watched: bool,
    /// It is among those that have come.
    is_fresh: bool,
    /// Where it was an exception the last time: the hop at which it was blocked, and its rate.
    pub(super) blocked_at: u32,
    pub(super) rate: f64,
    /// Of the narrowest link up to the port.
    pub(super) narrowest: f64,
    /// The last event with classes that are looked at one by one, and how many transfers these have.
    pub(super) looked_at: (u64, u32),
    /// Ascending.
    pub(super) classes: Vec<u32>,
    pub(super) apart: Vec<u32>,
}

impl Source {
    const NEW: Self = Self {
        key: 0,
        slow: u64::MAX,
        listed: 0,
        exception: NONE,
        link: NONE,
        pair: NONE,
        told_below: NONE,
        told_level: UNTOLD,
        is_free: false,
        is_watched: false,
        is_fresh: false,
        blocked_at: NONE,
        rate: 0.0,
        narrowest: 0.0,
        looked_at: (0, 0),
        classes: Vec::new(),
        apart: Vec::new(),
    };

    /// Depth of the last up link.
    #[inline]
    pub(super) fn turn(&self) -> u32 {
        (self.key >> 32) as u32
    }
}

impl Factors {
    /// Takes a class with up links into the source of a key, which turns at this pair.
    pub(super) fn enter_source(&mut self, class: u32, key: u64, pair: u32) {
        let link = self.classes[class as usize].route[0];
        let source = self.source_at(link, key).unwrap_or_else(|| self.new_source(class, key, pair));
        insert(&mut self.sources[source as usize].classes, class);
        let of = &mut self.classes[class as usize];
        (of.source, of.pair) = (source, pair);
        self.part(class);
    }

    fn new_source(&mut self, class: u32, key: u64, pair: u32) -> u32 {
        let id = self.free_sources.pop().unwrap_or(self.sources.len() as u32);
        if id as usize == self.sources.len() {
            self.sources.push(Source::NEW);
        }
        let Class { ref route, ups, bandwidth, .. } = self.classes[class as usize];
        let up = route[..ups as usize].iter().map(|&k| self.links.ups[k as usize].bandwidth);
        let port = route.get(ups as usize).map(|&d| self.links.downs[d as usize].bandwidth);
        let narrowest = up.chain(port).fold(bandwidth, f64::min);
        let of = &mut self.sources[id as usize];
        // The host's node is as it was told the last time.
        (of.key, of.pair, of.link, of.narrowest) = (key, pair, route[0], narrowest);
        (of.slow, of.listed, of.looked_at) = (u64::MAX, 0, (0, 0));
        if !std::mem::replace(&mut of.is_fresh, true) {
            self.fresh.push(id);
        }
        let list = &mut self.links.ups[route[0] as usize].sources;
        let at = list.partition_point(|&other| self.sources[other as usize].key < key);
        list.insert(at, id);
        id
    }

    /// Takes a class that has no transfers any more out of its source.
    pub(super) fn leave_source(&mut self, class: u32) {
        let of = &mut self.classes[class as usize];
        let id = std::mem::replace(&mut of.source, NONE);
        of.told_below = UNKNOWN;
        let is_apart = std::mem::take(&mut of.is_apart);
        let source = &mut self.sources[id as usize];
        remove(&mut source.classes, class);
        if is_apart {
            source.apart.retain(|&other| other != class);
        }
        if source.classes.is_empty() {
            (source.is_free, source.is_watched) = (false, false);
            let up = &mut self.links.ups[source.link as usize];
            up.sources.retain(|&other| other != id);
            up.watched.retain(|&other| other != id);
            self.free_sources.push(id);
        }
    }

    /// The source of a slot's classes that start at a link.
    pub(super) fn source_at(&self, link: u32, key: u64) -> Option<u32> {
        let list = &self.links.ups[link as usize].sources;
        list.binary_search_by_key(&key, |&source| self.sources[source as usize].key).ok().map(|at| list[at])
    }

    /// Sees which of the sources that have come are free.
    pub(super) fn take_fresh(&mut self) {
        while let Some(source) = self.fresh.pop() {
            self.sources[source as usize].is_fresh = false;
            if !self.sources[source as usize].classes.is_empty() {
                self.count_anew(source);
            }
        }
    }

    /// Lists a source, or no more, as one that no contended link cuts after its first one.
    pub(super) fn count_anew(&mut self, source: u32) {
        let is_free = !self.is_counted(source);
        if is_free != self.sources[source as usize].is_free {
            self.sources[source as usize].is_free = is_free;
            self.watch(source);
        }
    }

    /// Whether a contended link cuts a source after its first one, up to its port, with all of its slot.
    pub(super) fn is_counted(&self, source: u32) -> bool {
        let of = &self.sources[source as usize];
        of.turn() <= self.links.ups[of.link as usize].branch.cut_above || self.pairs[of.pair as usize].cut
    }

    /// Watches a source: it may be an exception, or hangs elsewhere than below its first link, or some of its classes do.
    #[inline]
    pub(super) fn watch(&mut self, source: u32) {
        if !self.sources[source as usize].is_watched {
            self.begin_to_watch(source);
        }
    }

    fn begin_to_watch(&mut self, source: u32) {
        let of = &mut self.sources[source as usize];
        of.is_watched = true;
        let (link, key) = (of.link, of.key);
        let list = &mut self.links.ups[link as usize].watched;
        let at = list.partition_point(|&other| self.sources[other as usize].key < key);
        list.insert(at, source);
        self.watched.insert(link);
    }

    /// Notes that a class does not hang below its source.
    pub(super) fn part(&mut self, class: u32) {
        let of = &mut self.classes[class as usize];
        let source = of.source;
        if source != NONE && !of.is_apart {
            of.is_apart = true;
            self.sources[source as usize].apart.push(class);
            self.watch(source);
        }
    }

    /// The first class of a source that is not looked at by itself, and how many transfers all those have.
    pub(super) fn alike(&self, source: u32) -> Option<(u32, u32)> {
        let of = &self.sources[source as usize];
        let up = &self.links.ups[of.link as usize];
        let transfers = up.slot(of.key).map_or(0, |at| up.slots[at].starting);
        if of.looked_at.0 != self.event {
            return of.classes.first().map(|&class| (class, transfers));
        }
        let first = of.classes.iter().find(|&&class| !self.is_looked_at(class));
        first.map(|&class| (class, transfers - of.looked_at.1))
    }

    /// Whether the event cuts or clamps a class by itself.
    #[inline]
    pub(super) fn is_looked_at(&self, class: u32) -> bool {
        self.marks[class as usize].event == self.event
    }

    /// Whether a class hangs below its source, and that below its first link.
    pub(super) fn is_home(&self, class: u32) -> bool {
        let of = &self.classes[class as usize];
        match of.told_below {
            AT_SOURCE => self.sources[of.source as usize].told_below == of.route[0],
            below => of.ups > 0 && below == of.route[0],
        }
    }
}
