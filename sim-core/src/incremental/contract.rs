//! What passes between an incremental arbiter, which knows shares, and the clocks, which know transfers and times.
//!
//! ```text
//! class (equal route and limit) ─► group (equal share, whatever it is) ─► root (has the level)
//! ```
//!
//! The arbiter is told which classes gain and lose weight, and answers with what changes: levels of roots, roots of groups,
//! groups of classes. A rate is a transfer's weight times the level of its root. Everything in one answer happens at one
//! instant, so only where things end up counts: [`Answer::groups`] first, then `classes`, `dropped`, `levels`.

use weir_plugin_api::LinkId;

use super::numbers::Level;

/// No record.
pub(super) const NONE: u32 = u32::MAX;

/// What has changed since the last call: (class, weight), one entry per transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    /// The instant, in ps.
    pub(crate) now: u64,
    pub(crate) removed: &'a [(u32, u32)],
    pub(crate) added: &'a [(u32, u32)],
}

/// A new level of a root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RootLevel {
    pub(crate) root: u32,
    /// The link that holds its members back; [`LinkId::NONE`] where it is their limit.
    pub(crate) link: LinkId,
    /// [`super::numbers::INF`] where it has no members.
    pub(crate) level: Level,
}

/// What changes; empty before every call. Ids of roots and groups are the arbiter's, counted from 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// (group, root): groups that are new or hang below another root now.
    pub(crate) groups: Vec<(u32, u32)>,
    /// (class, group): classes that have weight again or are in another group now.
    pub(crate) classes: Vec<(u32, u32)>,
    /// Groups that have no class any more; their ids may be used again in a later answer.
    pub(crate) dropped: Vec<u32>,
    pub(crate) levels: Vec<RootLevel>,
}

impl Answer {
    pub(crate) fn clear(&mut self) {
        self.groups.clear();
        self.classes.clear();
        self.dropped.clear();
        self.levels.clear();
    }
}

/// What an arbiter is told of a class of transfers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassInfo<'a> {
    /// What it crosses, all different.
    pub(crate) links: &'a [LinkId],
    /// The most its level may be; [`super::numbers::INF`] for any.
    pub(crate) limit: Level,
    /// As in the scenario: larger first.
    pub(crate) priority: i64,
}

/// A policy whose answers are changes. A transfer that shares no link with any other runs at the full rate of its narrowest
/// link, or at its limit; the policy does not see it.
pub(crate) trait IncrementalArbiter {
    /// Classes are counted from 0, in the order of calls.
    fn add_class(&mut self, class: ClassInfo<'_>);

    /// Takes a change in, and says what it changes.
    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer);

    /// A class that is served before those of a root on its link, for results that say who holds them back.
    fn above(&self, _root: u32) -> Option<u32> {
        None
    }

    /// Another class that crosses the link of a root, for results that say who shares it; `None` where none is at hand.
    fn beside(&self, root: u32, class: u32) -> Option<u32>;

    /// For how long up to `now`, in ps, a link has had transfers none of which moved.
    fn stalled(&self, _link: LinkId, _now: u64) -> u64 {
        0
    }

    /// Largest load of a link so far, in units, as far as it is known, and whether it was its capacity.
    fn peak(&self, link: LinkId) -> (Option<Level>, bool);
}
