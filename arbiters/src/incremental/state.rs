//! What max-min keeps: classes, bundles of them, links, and the cells between, as tables of records.
//!
//! ```text
//! class (equal links) ─► bundle (equal awake links) ─► the link that holds it back
//! ```
//!
//! Bundles are nodes of the answer, each below that of its link or limit.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use weir_plugin_api::LinkId;

use super::queue::Queue;
use super::{INF, Level, NONE};
use crate::common::cells::Cells;

/// Transfers over the same links, the limit link included, whatever their weights.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// Where its links begin in `class_links`, and how many there are.
    pub(super) first: u32,
    pub(super) count: u32,
    /// How many there is room for.
    pub(super) room: u32,
    /// Its bundle; [`NONE`] while it has no weight.
    pub(super) bundle: u32,
    /// Its neighbours in the list of its bundle.
    pub(super) next: u32,
    pub(super) before: u32,
    /// Whether it is in `moved_classes`.
    pub(super) is_moved: bool,
    /// Sum of the weights of its transfers.
    pub(super) weight: u64,
    /// At least its level: what its links reserve per unit of its weight. 0 while it has no weight.
    pub(super) promise: Level,
}

/// Classes that cross the same awake links: they have the same share, whatever it is.
#[derive(Clone, Debug)]
pub(super) struct Bundle {
    /// Where its hops begin in `cells.hops`, and how many there are: one per awake link.
    pub(super) first: u32,
    pub(super) count: u32,
    /// The link that holds it back; [`NONE`] for a free record.
    pub(super) link: u32,
    /// The first of its classes.
    pub(super) head: u32,
    pub(super) weight: u64,
    /// At most the promise of each of its classes.
    pub(super) floor: Level,
    /// As the host knows it.
    pub(super) node: u32,
    /// Whether it is in `moved_bundles`.
    pub(super) is_moved: bool,
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
    /// Largest load so far, in units.
    pub(super) peak: u64,
    /// Changes that reached it since it woke.
    pub(super) touches: u16,
    pub(super) is_limit: bool,
    /// Whether it takes part; else it is quiet, and has no bundles.
    pub(super) is_awake: bool,
    /// Whether it is in `touched`.
    pub(super) is_touched: bool,

    /// Weight of all transfers on it.
    pub(super) weight: u64,
    /// Key in the queue of the relaxation; [`INF`] when it is not in.
    pub(super) queued: Level,
    /// The share that the host knows, and the node that has it.
    pub(super) reported: Level,
    pub(super) node: u32,
    /// The link of the fabric; [`LinkId::NONE`] for a limit.
    pub(super) id: LinkId,
    /// The first hop of the bundles that it holds back, where links may be quiet.
    pub(super) own_head: u32,
    /// At most the promise of each class that it holds back.
    pub(super) floor: Level,
    /// How often its share was set in this instant.
    pub(super) updates: u32,
    /// How often it went quiet.
    pub(super) sleeps: u8,
    /// Whether it is in `broken`.
    pub(super) is_broken: bool,

    /// R: weight times promise, summed over all classes on it.
    pub(super) reserved: i128,
    /// The classes on it, each with the position of this link in `class_links`.
    pub(super) classes: SmallVec<[(u32, u32); 2]>,
}

impl Link {
    pub(super) fn new(node: u32, id: LinkId, capacity: u64, is_limit: bool) -> Self {
        Self {
            node,
            capacity,
            is_limit,
            share: INF,
            id,
            reported: INF,
            own_head: NONE,
            others: 0,
            hint: 0,
            own: 0,
            weight: 0,
            queued: INF,
            is_touched: false,
            updates: 0,
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

    /// What all on it are given, in units.
    #[inline]
    pub(super) fn load(&self) -> i128 {
        let own = if self.own > 0 { product(self.own, self.share) } else { 0 };
        own + self.others
    }

    /// Counts a bundle, or a change of one, among those that others hold back.
    #[inline]
    pub(super) fn count_other(&mut self, weight: u64, share: Level) {
        self.others += product(weight, share);
        self.hint = self.hint.max(share);
    }
}

#[inline]
pub(super) fn product(weight: u64, level: Level) -> i128 {
    (u128::from(weight) * u128::from(level)) as i128
}

/// The incremental side of weighted max-min.
#[derive(Debug, Default)]
pub struct Shares {
    pub(super) links: Vec<Link>,
    pub(super) classes: Vec<Class>,
    pub(super) class_links: Vec<u32>,
    pub(super) bundles: Vec<Bundle>,
    /// Which bundles cross which links, and who holds them back. A hop whose link holds the bundle back is in that link's own
    /// list, where links may be quiet.
    pub(super) cells: Cells,
    /// Links that may not be consistent, by a lower bound of what their share will be.
    pub(super) queue: Queue,
    /// Links whose load or share may have changed in this instant.
    pub(super) touched: Vec<u32>,
    /// What must be reported to the host.
    pub(super) moved_bundles: Vec<u32>,
    pub(super) moved_classes: Vec<u32>,
    pub(super) dissolved: Vec<u32>,
    pub(super) free_bundles: Vec<u32>,
    /// Free runs of hops, by their length.
    pub(super) free_hops: Vec<Vec<u32>>,
    /// Kept for their memory.
    pub(super) claims: Vec<u32>,
    pub(super) stirred: Vec<u32>,
    pub(super) key: Vec<u32>,
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
    /// Whether it says what it uses: loads in units of the links whose load may have changed in the last call.
    pub(super) is_layer: bool,
    /// Whether links that hold nobody back are noted, too, when a share on them changes: they may sleep, or their loads are asked for.
    pub(super) notes_idle: bool,
    pub(super) loads: Vec<(LinkId, Level)>,
    /// Links that no class crosses any more, perhaps.
    pub(super) emptied: Vec<u32>,
    pub(super) free_links: Vec<u32>,
    /// Capacities of the fabric's links in units, and their records here; [`NONE`] while no class crosses them.
    pub(super) capacities: Vec<u64>,
    pub(super) record_of: Vec<u32>,
    /// Largest loads of the fabric's links without a record so far, in units.
    pub(super) peaks: Vec<u64>,
    pub(super) limit_of: FxHashMap<Level, u32>,
    /// The id of the next node.
    pub(super) next_node: u32,
}

impl Shares {
    /// For links of these capacities, in units; its nodes are counted from `first_node` on. Where links may be quiet, an event
    /// costs less in large runs, and the peaks of their loads are not known.
    pub(super) fn new(capacities: Vec<u64>, first_node: u32, quiet: bool) -> Self {
        Self {
            next_node: first_node,
            peaks: vec![0; capacities.len()],
            record_of: vec![NONE; capacities.len()],
            capacities,
            sleepy: quiet,
            notes_idle: quiet,
            ..Self::default()
        }
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

    /// Makes this the shares of one priority, which say what they use of each link.
    pub(super) fn be_layer(mut self) -> Self {
        (self.is_layer, self.notes_idle) = (true, true);
        self
    }

    /// Gives a link another capacity, in units, from the next call on.
    pub(super) fn set_capacity(&mut self, link: LinkId, capacity: u64) {
        self.capacities[link.index()] = capacity;
        let record = self.record_of[link.index()];
        if record != NONE {
            self.links[record as usize].capacity = capacity;
            self.touch(record);
        }
    }

    /// A class that crosses a link, if there is one.
    pub(super) fn any_on(&self, link: LinkId) -> Option<u32> {
        let index = self.record_of[link.index()];
        let record = self.links.get(index as usize)?;
        let own = Some(record.own_head).filter(|&hop| hop != NONE);
        let crossing = || self.cells.of(index).ins.first().map(|cell| self.cells.at(cell.cell).head);
        let hop = own.or_else(crossing)?;
        Some(self.bundles[self.cells.hops[hop as usize].member as usize].head)
    }

    /// Whether a link holds anybody back.
    pub(super) fn is_full(&self, link: LinkId) -> bool {
        self.links.get(self.record_of[link.index()] as usize).is_some_and(|record| record.share != INF)
    }

    /// The capacity of a link as last given.
    pub(super) fn capacity(&self, link: LinkId) -> u64 {
        self.capacities[link.index()]
    }

    /// Whether a class crosses a link.
    pub(super) fn has_weight(&self, link: LinkId) -> bool {
        self.links.get(self.record_of[link.index()] as usize).is_some_and(|record| record.weight > 0)
    }

    /// A new node.
    pub(super) fn add_node(&mut self) -> u32 {
        self.next_node += 1;
        self.next_node - 1
    }

    /// The record of the link that holds a class back.
    pub(super) fn link_record_of(&self, class: u32) -> u32 {
        self.bundles[self.classes[class as usize].bundle as usize].link
    }

    /// The most updates of one link in one instant so far.
    #[cfg(test)]
    pub(super) fn most_updates(&self) -> u32 {
        self.most_updates
    }
}

/// The part of a link that changes of other links' shares touch is one cache line.
const _: () = assert!(std::mem::offset_of!(Link, weight) == 64);
