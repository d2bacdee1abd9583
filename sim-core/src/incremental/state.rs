//! The four levels and the links between them, as tables of records.
//!
//! ```text
//! transfer ─► class (equal links) ─► bundle (equal awake links) ─► the link that holds it back
//!    end       offset, weight          offset, weight                  clock, share
//! ```
//!
//! Each level stores only an offset to the clock above it: when a bundle moves to another link, none of its members is
//! touched.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::heap::{Heap, OUT};
use super::numbers::{INF, Level};

/// No record.
pub(super) const NONE: u32 = u32::MAX;

/// One transfer; its end is its key in the heap of its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) id: u32,
    pub(super) class: u32,
    pub(super) weight: u32,
    pub(super) start: u64,
    pub(super) work: i128,
    /// The link that holds it back while it is alone on all of its links.
    pub(super) holder: u32,
}

/// Transfers over the same links, the limit link included, whatever their weights.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// Where its links begin in `class_links`, and how many there are.
    pub(super) first: u32,
    pub(super) count: u32,
    /// Its bundle; [`NONE`] while it has no transfers.
    pub(super) bundle: u32,
    /// Clock of its bundle less its own.
    pub(super) offset: i128,
    /// Sum of the weights of its transfers.
    pub(super) weight: u64,
    /// Its transfers by their ends on its clock.
    pub(super) heap: Heap<i128>,
    /// Since when it is in its bundle.
    pub(super) since: u64,
    /// At least its level: what its links reserve per unit of its weight. 0 while it has no transfers.
    pub(super) promise: Level,
}

/// Classes that cross the same awake links: they have the same share, whatever it is.
#[derive(Clone, Debug)]
pub(super) struct Bundle {
    /// Where its hops begin in `hops`, and how many there are: one per awake link.
    pub(super) first: u32,
    pub(super) count: u32,
    /// The link that holds it back; [`NONE`] for a free record.
    pub(super) link: u32,
    /// Clock of that link less its own.
    pub(super) offset: i128,
    pub(super) weight: u64,
    /// Its classes by their first ends on its clock.
    pub(super) heap: Heap<i128>,
    /// Since when `link` holds it back.
    pub(super) since: u64,
    /// At most the promise of each of its classes.
    pub(super) floor: Level,
}

/// A bundle on one of its links: a member of the cell there, except on the link that holds it back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) link: u32,
    pub(super) bundle: u32,
    pub(super) cell: u32,
    pub(super) next: u32,
    pub(super) before: u32,
}

/// The bundles that cross link `on` and are held back by another link, `by`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) on: u32,
    pub(super) by: u32,
    pub(super) weight: u64,
    pub(super) head: u32,
    /// Positions in `cells_in` of `on` and in `cells_out` of `by`.
    pub(super) place_in: u32,
    pub(super) place_out: u32,
    /// Whether it is in `cell_of`.
    pub(super) is_listed: bool,
}

/// A link, or the common limit of some transfers: a link whose share cannot be anything else. What every change of a
/// share elsewhere touches comes first: one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Link {
    /// A: weight times share, summed over the bundles that others hold back.
    pub(super) others: i128,
    /// Bandwidth in units; of a limit link, its level.
    pub(super) capacity: u64,
    /// Level of what it holds back; [`INF`] while that is nothing.
    pub(super) share: Level,
    /// At least every share counted in `others`.
    pub(super) hint: Level,
    /// Weight of the bundles that it holds back.
    pub(super) own: u64,
    /// Key in the queue of the relaxation; [`INF`] when it is not in.
    pub(super) queued: Level,
    /// Changes that reached it since it woke.
    pub(super) touches: u16,
    pub(super) is_limit: bool,
    /// Whether it takes part; else it is quiet, and has no bundles.
    pub(super) is_awake: bool,
    /// Whether it is in `touched`.
    pub(super) is_touched: bool,
    /// Whether its share or the first end on it may have changed in this instant.
    pub(super) is_moved: bool,

    /// Its clock at `since`; it runs at `share`.
    pub(super) clock: i128,
    pub(super) since: u64,
    /// Weight of all transfers on it.
    pub(super) weight: u64,
    /// The transfer on it that shares none of its links; [`NONE`] for none.
    pub(super) alone: u32,
    /// Since when it has transfers, and for how long it had some before.
    pub(super) busy_since: u64,
    pub(super) busy: u64,
    /// At most the promise of each class that it holds back.
    pub(super) floor: Level,
    /// How often its share was set in this instant.
    pub(super) updates: u32,
    /// How often it went quiet.
    pub(super) sleeps: u8,
    /// Whether it is in `broken`.
    pub(super) is_broken: bool,

    /// The bundles that it holds back, by their first ends on its clock.
    pub(super) heap: Heap<i128>,
    pub(super) cells_in: SmallVec<[u32; 4]>,
    pub(super) cells_out: SmallVec<[u32; 4]>,
    /// Largest load so far, in units.
    pub(super) peak: u64,
    /// R: weight times promise, summed over all classes on it.
    pub(super) reserved: i128,
    /// The classes on it, each with the position of this link in `class_links`.
    pub(super) classes: SmallVec<[(u32, u32); 2]>,
}

impl Link {
    fn new(capacity: u64, is_limit: bool) -> Self {
        Self {
            capacity,
            is_limit,
            share: INF,
            clock: 0,
            since: 0,
            others: 0,
            hint: 0,
            own: 0,
            weight: 0,
            alone: NONE,
            heap: Heap::default(),
            cells_in: SmallVec::new(),
            cells_out: SmallVec::new(),
            queued: INF,
            is_touched: false,
            is_moved: false,
            updates: 0,
            busy_since: 0,
            busy: 0,
            peak: 0,
            is_awake: true,
            reserved: 0,
            classes: SmallVec::new(),
            floor: INF,
            is_broken: false,
            touches: 0,
            sleeps: 0,
        }
    }

    /// What its clock shows at `now`.
    #[inline]
    pub(super) fn clock_at(&self, now: u64) -> i128 {
        if self.own == 0 { self.clock } else { self.clock + i128::from(self.share) * i128::from(now - self.since) }
    }

    /// Lets its clock run up to `now`.
    #[inline]
    pub(super) fn advance(&mut self, now: u64) {
        if self.since != now {
            self.clock = self.clock_at(now);
            self.since = now;
        }
    }

    /// Equal shares of its capacity; no share of a filling is below this.
    #[inline]
    pub(super) fn equal_share(&self) -> Level {
        if self.is_limit { self.capacity } else { self.capacity.checked_div(self.weight).unwrap_or(INF) }
    }

    /// ⌊(C − A) / own⌋, not below 0; `own` must not be 0.
    #[inline]
    pub(super) fn quotient(&self, others: i128, own: u64) -> Level {
        match u64::try_from(others) {
            Ok(others) => self.capacity.saturating_sub(others) / own,
            Err(_) => 0,
        }
    }

    /// Counts a bundle, or a change of one, among those that others hold back.
    #[inline]
    pub(super) fn count_other(&mut self, weight: u64, share: Level) {
        self.others += product(weight, share);
        self.hint = self.hint.max(share);
    }
}

/// Weight times level.
#[inline]
pub(super) fn product(weight: u64, level: Level) -> i128 {
    (u128::from(weight) * u128::from(level)) as i128
}

/// All transfers and their shares.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    pub(super) links: Vec<Link>,
    pub(super) classes: Vec<Class>,
    pub(super) class_links: Vec<u32>,
    pub(super) bundles: Vec<Bundle>,
    pub(super) transfers: Vec<Transfer>,
    pub(super) hops: Vec<Hop>,
    pub(super) cells: Vec<Cell>,
    /// (on, by) → cell, for cells that were not among the first few on their link; for look-up only.
    pub(super) cell_of: FxHashMap<(u32, u32), u32>,
    /// Positions in the heaps: a transfer in its class (or in `alone`), a class in its bundle, a bundle in its link, a link in `due`.
    pub(super) transfer_places: Vec<u32>,
    pub(super) class_places: Vec<u32>,
    pub(super) bundle_places: Vec<u32>,
    pub(super) link_places: Vec<u32>,
    /// Links by the first end on them.
    pub(super) due: Heap<u64>,
    /// Transfers that share no link, by their ends; their positions are in `transfer_places`, too.
    pub(super) alone: Heap<u64>,
    /// Links that may not be consistent, by a lower bound of what their share will be.
    pub(super) queue: BinaryHeap<Reverse<(Level, u32)>>,
    /// Links whose ends, load or share may have changed in this instant.
    pub(super) touched: Vec<u32>,
    /// Transfers of this instant, not placed yet.
    pub(super) arrivals: Vec<u32>,
    /// Transfers that are not alone any more.
    pub(super) joining: Vec<u32>,
    pub(super) free_transfers: Vec<u32>,
    pub(super) free_bundles: Vec<u32>,
    pub(super) free_cells: Vec<u32>,
    /// Free runs of hops, by their length.
    pub(super) free_hops: Vec<Vec<u32>>,
    pub(super) active: usize,
    /// Kept for their memory.
    pub(super) claims: Vec<u32>,
    pub(super) key: Vec<u32>,
    pub(super) leaving: Vec<u32>,
    pub(super) candidates: Vec<(Level, u64, u32)>,
    /// Whether links may be quiet; else all stay awake and every class has a bundle of its own.
    pub(super) sleepy: bool,
    /// Awake links → bundle; for look-up only, and only while links may be quiet.
    pub(super) bundle_by: FxHashMap<Box<[u32]>, u32>,
    /// Per entry of `class_links`: where the class is in the list of that link.
    pub(super) list_places: Vec<u32>,
    /// Links with shares above a promise, and quiet links that may have reserved too much.
    pub(super) broken: Vec<u32>,
    pub(super) overbooked: Vec<u32>,
    /// The most updates of one link in one instant so far.
    pub(super) most_updates: u32,
}

impl Shares {
    /// Without links and classes, with room for so many.
    pub(crate) fn with_room(links: usize, classes: usize) -> Self {
        Self {
            links: Vec::with_capacity(links),
            link_places: Vec::with_capacity(links),
            classes: Vec::with_capacity(classes),
            class_places: Vec::with_capacity(classes),
            ..Self::default()
        }
    }

    /// Adds a link of this capacity in units.
    pub(crate) fn add_link(&mut self, capacity: u64) -> u32 {
        self.push_link(Link::new(capacity, false))
    }

    /// Adds a limit: a link on which every share is at most `level`.
    pub(crate) fn add_limit(&mut self, level: Level) -> u32 {
        self.push_link(Link::new(level, true))
    }

    fn push_link(&mut self, mut link: Link) -> u32 {
        link.is_awake = !self.sleepy;
        self.links.push(link);
        self.link_places.push(OUT);
        (self.links.len() - 1) as u32
    }

    /// Adds a class of transfers that cross these links, all different.
    pub(crate) fn add_class(&mut self, links: &[u32]) -> u32 {
        self.classes.push(Class {
            first: self.class_links.len() as u32,
            count: links.len() as u32,
            bundle: NONE,
            offset: 0,
            weight: 0,
            heap: Heap::default(),
            since: 0,
            promise: 0,
        });
        self.class_links.extend_from_slice(links);
        self.list_places.resize(self.class_links.len(), 0);
        self.class_places.push(OUT);
        (self.classes.len() - 1) as u32
    }

    /// Where the links of a class are in `class_links`.
    #[inline]
    pub(super) fn links_of(&self, class: u32) -> std::ops::Range<usize> {
        let class = &self.classes[class as usize];
        class.first as usize..(class.first + class.count) as usize
    }

    /// Where the hops of a bundle are in `hops`.
    #[inline]
    pub(super) fn hops_of(&self, bundle: u32) -> std::ops::Range<usize> {
        let bundle = &self.bundles[bundle as usize];
        bundle.first as usize..(bundle.first + bundle.count) as usize
    }

    /// Number of active transfers.
    pub(crate) fn active(&self) -> usize {
        self.active
    }

    /// The most updates of one link in one instant so far.
    #[cfg(test)]
    pub(crate) fn most_updates(&self) -> u32 {
        self.most_updates
    }
}

/// The part of a link that changes of other links' shares touch is one cache line.
const _: () = assert!(std::mem::offset_of!(Link, clock) == 64);
