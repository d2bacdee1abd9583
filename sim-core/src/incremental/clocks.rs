//! Who is where and when it ends: the transfers, and the clocks that run at the levels an arbiter gives.
//!
//! Classes hang below nodes of the arbiter's, these below others, up to the roots, whose clocks run (`nodes`).

use weir_plugin_api::{Answer, CallError, Hang, LinkId, RootLevel, WeightChange};

use super::NONE;
use super::answers::FREE_SUMS;
use super::nodes::{Nodes, Root};
use super::numbers::{INF, Level, time_of};
use super::soonest::{NEVER, Soonest};
use super::turns::Turns;

/// One transfer; its end is its key in the heap of its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) id: u32,
    pub(super) path: u32,
    /// Its class; [`NONE`] while it is alone.
    pub(super) class: u32,
    pub(super) weight: u32,
    /// The link that limits it while it is alone on all of its links; [`NONE`] while it is not alone.
    pub(super) holder: u32,
    pub(super) start: u64,
    /// How far the clock of its class goes for it, from when it was placed on.
    pub(super) work: i128,
}

/// What transfers cross, and the most that their level may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// Where its links begin in `path_links`, and how many there are.
    pub(super) first: u32,
    pub(super) count: u32,
    /// The class of its transfers that share links; [`NONE`] while there is none.
    pub(super) class: u32,
    /// Its place in `terms`.
    pub(super) terms: u32,
}

/// Transfers of one path that share links with others, whatever their weights; its node has its clock.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) path: u32,
    /// Sum of the weights of its transfers.
    pub(super) weight: u64,
}

/// What equal paths share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Terms {
    /// The most that a level may be.
    pub(super) limit: Level,
    /// As in the scenario.
    pub(super) priority: i64,
    /// The level of a transfer alone, and the record of the link that sets it, where the arbiter says so.
    pub(super) alone: Option<(u32, Level)>,
}

/// What the clocks know of a link: who crosses it.
#[derive(Clone, Debug)]
pub(super) struct Crossed {
    pub(super) capacity: u64,
    /// Weight of all transfers on it.
    pub(super) weight: u64,
    /// Since when it has transfers, and for how long it had some before.
    pub(super) busy_since: u64,
    pub(super) busy: u64,
    /// Largest load of a transfer alone on it, in units.
    pub(super) peak: u64,
    /// The transfer on it that shares none of its links; [`NONE`] for none.
    pub(super) alone: u32,
    pub(super) id: LinkId,
}

/// All transfers and their clocks.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    pub(super) links: Vec<Crossed>,
    pub(super) transfers: Vec<Transfer>,
    pub(super) paths: Vec<Path>,
    pub(super) path_links: Vec<u32>,
    /// Each once while it repeats.
    pub(super) terms: Vec<Terms>,
    pub(super) classes: Vec<Class>,
    pub(super) nodes: Nodes,
    /// Positions of transfers in the heaps of their classes.
    pub(super) transfer_places: Vec<u32>,
    /// Where the transfers of a class are served one after the other.
    pub(super) turns: Option<Turns>,
    /// Roots by the first end below them.
    pub(super) due: Soonest,
    /// Transfers that share no link, by their ends.
    pub(super) alone: Soonest,
    /// Whether transfers may run alone.
    pub(super) may_be_alone: bool,
    /// Whether any level has been 0: for how long each transfer had none is not known then.
    has_blocked: bool,
    /// Transfers of this instant, not placed yet.
    pub(super) arrivals: Vec<u32>,
    /// Transfers that are not alone any more.
    pub(super) joining: Vec<u32>,
    /// Changes that the arbiter gets next.
    pub(super) removed: Vec<WeightChange>,
    pub(super) added: Vec<WeightChange>,
    pub(super) answer: Answer,
    /// Entries of answers since all loads were summed up, and after how many that will be done again.
    pub(super) unsummed: usize,
    pub(super) sum_after: usize,
    /// What may be summed up after each answer until then.
    pub(super) free_sums: usize,
    pub(super) fabric_links: u32,
    pub(super) free_transfers: Vec<u32>,
    pub(super) free_classes: Vec<u32>,
    /// Classes that will be free once the arbiter has these changes.
    pub(super) emptied: Vec<u32>,
    pub(super) active: usize,
    /// Kept for their memory.
    pub(super) ids: Vec<LinkId>,
    pub(super) leaving: Vec<u32>,
    pub(super) placed: Vec<u32>,
    pub(super) loads: Vec<u128>,
}

impl Clocks {
    /// For a fabric of so many links, with room for so many that are crossed; ids of classes are below `classes`.
    pub(crate) fn with_room(fabric_links: usize, links: usize, classes: usize) -> Self {
        Self {
            fabric_links: fabric_links as u32,
            links: Vec::with_capacity(links),
            nodes: Nodes::new(classes as u32),
            may_be_alone: true,
            free_sums: FREE_SUMS,
            ..Self::default()
        }
    }

    /// Lets the transfers of a class be served one after the other.
    pub(crate) fn serve_in_turn(&mut self) {
        self.turns = Some(Turns::default());
    }

    /// Adds a link of this capacity in units.
    pub(crate) fn add_link(&mut self, id: LinkId, capacity: u64) -> u32 {
        self.links.push(Crossed { capacity, weight: 0, busy_since: 0, busy: 0, peak: 0, alone: NONE, id });
        (self.links.len() - 1) as u32
    }

    pub(crate) fn active(&self) -> usize {
        self.active
    }

    /// Whether any level has been 0.
    pub(crate) fn has_blocked(&self) -> bool {
        self.has_blocked
    }

    /// Does what an answer says.
    pub(super) fn apply(&mut self, now: u64) -> Result<(), CallError> {
        for at in 0..self.answer.hung.len() {
            let Hang { node, below } = self.answer.hung[at];
            self.check_hang(node, below)?;
            self.nodes.hang(node, below, now);
        }
        for at in 0..self.answer.levels.len() {
            let RootLevel { root, level } = self.answer.levels[at];
            self.check_root(root)?;
            self.has_blocked |= level == 0;
            let record = self.nodes.root_record(root, now);
            let root = &mut self.nodes.roots[record as usize];
            root.advance(now);
            root.level = level;
            self.nodes.mark(record);
        }
        Ok(())
    }

    /// Finds the next ends below the roots that have changed.
    pub(super) fn conclude(&mut self, now: u64) -> Result<(), CallError> {
        for at in 0..self.nodes.moved.len() {
            let root = self.nodes.moved[at];
            let record = &mut self.nodes.roots[root as usize];
            record.is_moved = false;
            let Root { node, level, .. } = *record;
            let clock = record.clock_at(now);
            if node == NONE {
                self.due.set(NEVER, root);
                self.nodes.forget(root);
                continue;
            }
            let next = match self.nodes.at(node).heap.first() {
                Some(_) if level == INF => return Err(Self::without_level(node)),
                Some((end, _)) if level > 0 => {
                    time_of(end, clock, level, now, || self.first_start(node)).min(NEVER - 1)
                }
                _ => NEVER,
            };
            self.due.set(next, root);
        }
        self.nodes.moved.clear();
        Ok(())
    }
    /// When the transfer began that ends first below a node, of which there is one.
    fn first_start(&self, node: u32) -> u64 {
        self.first_below(node).map_or(0, |(_, slot)| self.transfers[slot as usize].start)
    }

    /// The transfer that ends first below a node, and its class.
    pub(super) fn first_below(&self, mut node: u32) -> Option<(u32, u32)> {
        while node >= self.nodes.first_own {
            node = self.nodes.at(node).heap.first()?.1;
        }
        Some((node, self.nodes.at(node).heap.first()?.1))
    }
}
