//! Quiet links: links that cannot be what holds anybody back are left out of every share change.
//!
//! Each class has a *promise* p, at least its level; a link reserves R = Σ weight · p over the classes on it. While
//! R ≤ C it cannot be full, so it may sleep: no cells, no share. Classes that cross the same awake links form one bundle.
//! When a level rises above its promise, the promise is renewed, and links whose reservations no longer fit wake.
//!
//! Nothing here is inlined elsewhere: where all links are awake, what an event runs through should fit into the cache.

use super::state::{Link, Shares, product};
use super::{INF, Level, NONE};

/// Touches per class that a link must have had since it woke before it may sleep, twice as many each time it slept:
/// moving its classes to other bundles must be worth it (assumed; small busy trees would wake and sleep for ever).
const TOUCHES: u64 = 8;
/// After so many sleeps the touches that are needed grow no more.
const MOST_SLEEPS: u8 = 8;

impl Link {
    /// Whether its reservations may not fit.
    #[inline]
    fn is_overbooked(&self, promise: Level) -> bool {
        !self.is_awake
            && if self.is_limit { promise > self.capacity } else { self.reserved > i128::from(self.capacity) }
    }

    /// Whether it may sleep, and has been a burden for long enough.
    fn is_sleepy(&self) -> bool {
        let part = |x: i128, sixteenths: i128| 16 * x <= sixteenths * i128::from(self.capacity);
        self.is_awake
            && self.own == 0
            && u64::from(self.touches)
                >= ((TOUCHES * self.classes.len() as u64) << self.sleeps).min(u64::from(u16::MAX))
            && (self.is_limit || part(self.reserved, 15) && part(self.others, 10))
    }
}

impl Shares {
    /// Puts a class on the lists of its links.
    #[inline(never)]
    pub(super) fn list_class(&mut self, class: u32) {
        for at in self.links_of(class) {
            let list = &mut self.links[self.class_links[at] as usize].classes;
            self.list_places[at] = list.len() as u32;
            list.push((class, at as u32));
        }
    }

    /// Takes a class off the lists of its links, and what they reserve for it.
    #[inline(never)]
    pub(super) fn forget_class(&mut self, class: u32) {
        for at in self.links_of(class) {
            let list = &mut self.links[self.class_links[at] as usize].classes;
            let place = self.list_places[at];
            list.swap_remove(place as usize);
            if let Some(&(_, moved)) = list.get(place as usize) {
                self.list_places[moved as usize] = place;
            }
        }
        self.classes[class as usize].promise = 0;
    }

    /// Reserves for `change` more (or less) weight of a class.
    #[inline(never)]
    pub(super) fn reserve(&mut self, class: u32, change: i64) {
        let promise = self.classes[class as usize].promise;
        let more = product(change.unsigned_abs(), promise) * i128::from(change.signum());
        self.reserve_units(class, more, promise);
    }

    fn reserve_units(&mut self, class: u32, more: i128, promise: Level) {
        for at in self.links_of(class) {
            let link = self.class_links[at];
            let record = &mut self.links[link as usize];
            record.reserved += more;
            if more > 0 && record.is_overbooked(promise) {
                self.overbooked.push(link);
            }
        }
    }

    /// Promises a class a quarter more than its level, or as much as its quiet links can reserve.
    #[inline(never)]
    pub(super) fn promise(&mut self, class: u32, level: Level) {
        let (weight, before) = (self.classes[class as usize].weight, self.classes[class as usize].promise);
        let mut promise = level + level / 4;
        for at in self.links_of(class) {
            let link = &self.links[self.class_links[at] as usize];
            if link.is_awake {
                continue;
            }
            let room = i128::from(link.capacity) - link.reserved + product(weight, before);
            let most = if link.is_limit { link.capacity } else { u64::try_from(room).unwrap_or(0) / weight };
            promise = promise.min(most);
        }
        promise = promise.max(level);
        self.classes[class as usize].promise = promise;
        self.reserve_units(class, product(weight, promise) - product(weight, before), promise);
    }

    /// Notes that a link holds classes back that were promised `floor` at least.
    #[inline]
    pub(super) fn lower_floor(&mut self, link: u32, floor: Level) {
        let record = &mut self.links[link as usize];
        record.floor = record.floor.min(floor);
        if record.share > record.floor && !record.is_broken {
            record.is_broken = true;
            self.broken.push(link);
        }
    }

    /// Renews the promises that shares have outgrown.
    pub(super) fn keep_promises(&mut self) {
        while let Some(link) = self.broken.pop() {
            let record = &mut self.links[link as usize];
            record.is_broken = false;
            let (share, mut hop, mut floor) = (record.share, record.own_head, INF);
            while hop != NONE {
                floor = floor.min(self.keep_promises_in(self.cells.hops[hop as usize].member, share));
                hop = self.cells.hops[hop as usize].next;
            }
            self.links[link as usize].floor = floor;
        }
    }

    fn keep_promises_in(&mut self, bundle: u32, share: Level) -> Level {
        if self.bundles[bundle as usize].floor < share {
            let (mut class, mut floor) = (self.bundles[bundle as usize].head, INF);
            while class != NONE {
                if self.classes[class as usize].promise < share {
                    self.promise(class, share);
                }
                floor = floor.min(self.classes[class as usize].promise);
                class = self.classes[class as usize].next;
            }
            self.bundles[bundle as usize].floor = floor;
        }
        self.bundles[bundle as usize].floor
    }

    /// Wakes the links whose reservations do not fit, not even without stale ones. Returns whether any woke.
    pub(super) fn wake_overbooked(&mut self) -> bool {
        let mut woke = false;
        while let Some(link) = self.overbooked.pop() {
            if !self.links[link as usize].is_awake && !self.has_room(link) {
                self.wake(link);
                woke = true;
            }
        }
        woke
    }

    /// Lowers the promises of the classes on a link that are far above their levels; whether the rest fits, with some
    /// room so that the next arrival does not ask again.
    fn has_room(&mut self, link: u32) -> bool {
        let (capacity, is_limit) = (self.links[link as usize].capacity, self.links[link as usize].is_limit);
        let mut fits = true;
        for at in 0..self.links[link as usize].classes.len() {
            let (class, _) = self.links[link as usize].classes[at];
            let level = self.level_of(class);
            let record = &self.classes[class as usize];
            let (weight, before) = (record.weight, record.promise);
            let stale = if is_limit { before.min(capacity) } else { before.min(level + level / 4) };
            let promise = stale.max(level).min(before.max(level));
            fits &= !is_limit || promise <= capacity;
            if promise < before {
                self.classes[class as usize].promise = promise;
                self.reserve_units(class, product(weight, promise) - product(weight, before), promise);
                self.note_promise(class);
            }
        }
        fits && (is_limit || 16 * self.links[link as usize].reserved <= 15 * i128::from(capacity))
    }

    fn level_of(&self, class: u32) -> Level {
        let bundle = &self.bundles[self.classes[class as usize].bundle as usize];
        self.links[bundle.link as usize].share
    }

    /// Lowers the floors above a class to its promise.
    #[inline(never)]
    pub(super) fn note_promise(&mut self, class: u32) {
        let (bundle, promise) = (self.classes[class as usize].bundle, self.classes[class as usize].promise);
        let record = &mut self.bundles[bundle as usize];
        record.floor = record.floor.min(promise);
        self.lower_floor(self.bundles[bundle as usize].link, promise);
    }

    /// Wakes a link: its classes move to bundles that cross it.
    #[inline(never)]
    pub(super) fn wake(&mut self, link: u32) {
        let record = &mut self.links[link as usize];
        (record.is_awake, record.touches) = (true, 0);
        self.rebundle(link);
        self.touch(link);
    }

    /// Lets those of the touched links sleep that may. Returns whether any did.
    pub(super) fn go_to_sleep(&mut self) -> bool {
        let sleepy: Vec<u32> = self.touched.iter().copied().filter(|&l| self.links[l as usize].is_sleepy()).collect();
        for &link in &sleepy {
            let record = &self.links[link as usize];
            let fits = |&(class, _): &(u32, u32)| self.classes[class as usize].promise <= record.capacity;
            let may = !record.is_limit || record.classes.iter().all(fits);
            let record = &mut self.links[link as usize];
            record.touches = 0;
            record.sleeps = (record.sleeps + 1).min(MOST_SLEEPS);
            if may {
                record.is_awake = false;
                self.rebundle(link);
                let record = &mut self.links[link as usize];
                debug_assert!(record.others == 0 && record.own == 0 && self.cells.of(link).ins.is_empty());
                (record.hint, record.share) = (0, INF);
            }
        }
        !sleepy.is_empty()
    }

    /// Moves every class on a link to the bundle that its awake links now ask for.
    fn rebundle(&mut self, link: u32) {
        for at in 0..self.links[link as usize].classes.len() {
            let (class, _) = self.links[link as usize].classes[at];
            self.move_class(class);
        }
    }

    /// Moves a class to the bundle of its awake links: into it before out of the other, so that weights of links do not
    /// pass zero.
    fn move_class(&mut self, class: u32) {
        let from = self.classes[class as usize].bundle;
        let holder = self.bundles[from as usize].link;
        let to = self.bundle_for(class);
        let weight = self.classes[class as usize].weight;
        if self.bundles[to as usize].link == NONE {
            self.bundles[to as usize].weight = weight;
            self.attach(to, holder);
        } else {
            self.change_weight(to, weight as i64);
        }
        self.leave(class);
        if self.bundles[from as usize].weight == weight {
            self.dissolve(from);
        } else {
            self.change_weight(from, -(weight as i64));
        }
        self.enter(class, to);
        self.note_promise(class);
    }

    /// The bundle of the awake links of a class; a new one is not attached yet.
    pub(super) fn bundle_for(&mut self, class: u32) -> u32 {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        let links = self.class_links[self.links_of(class)].iter().copied();
        key.extend(links.filter(|&l| self.links[l as usize].is_awake));
        key.sort_unstable();
        let known = self.bundle_by.get(key.as_slice()).copied();
        let bundle = known.unwrap_or_else(|| {
            let bundle = self.add_bundle(&key);
            self.bundle_by.insert(key.as_slice().into(), bundle);
            bundle
        });
        self.key = key;
        bundle
    }
}
