//! The contract of an incremental arbiter: the policy of the rate arbiter of its name, event by event.
//!
//! ```text
//! class (equal route, limit, priority) ─► group (equal level, whatever it is) ─► root (has the level)
//! ```
//!
//! A rate arbiter gets a phase and answers with all its rates. An incremental one keeps its state: it learns which
//! classes gain and lose weight, and answers with what changes, levels of roots, roots of groups, groups of classes. The rate
//! of a transfer is its weight times the level of its root. So an event costs what it changes, not what is active; what clocks,
//! sizes and ends do with levels is the host's.
//!
//! It is an interface inside of the program: shared libraries have none (docs/plugin-abi.md says why).
//!
//! All numbers are integers, so that sums of them are exact: a *level* is a rate per unit of weight, in units of the host's
//! choice (a power of two of them make 1 B/s), and so are capacities; every capacity is below 2^61. Weights are scaled to
//! integers. The mathematics of fair shares in this form is in docs/incremental.md.

use crate::{CallError, LinkId, SimTime};

/// A rate per unit of weight, in the host's units.
pub type Level = u64;

/// The level of a root without members; as a limit, none.
pub const NO_LEVEL: Level = u64::MAX;

/// The id of no class, group or root.
pub const NO_ID: u32 = u32::MAX;

/// What an instance is built for.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Bandwidth of each directed link of the fabric, in units; then of each bandwidth that links share, as a further link of
    /// the classes that take it.
    pub capacities: &'a [u64],
    /// How many of the last capacities links share. They are divided by weights so that no transfer can get more unless one
    /// with as little gets less; a policy that would divide them otherwise refuses.
    pub shared: u32,
    /// At most so many of them will be crossed.
    pub links: u32,
    /// At most so many classes will have weight at once.
    pub classes: u32,
    /// How many different priorities transfers have.
    pub priorities: u32,
    /// 2 to the power of this many units make 1 B/s.
    pub bits: u32,
    /// Whether the largest load of every link is asked for in the end ([`LinkUse::peak`]); else it may stay unknown where
    /// that makes events cheaper.
    pub wants_peaks: bool,
}

/// A class of transfers: those that agree in all of this. Weights may differ within it.
#[derive(Clone, Copy, Debug)]
pub struct ClassInfo<'a> {
    /// What it crosses, in order of travel, all different; never empty.
    pub links: &'a [LinkId],
    /// The most its level may be; [`NO_LEVEL`] for any.
    pub limit: Level,
    /// As in the scenario: larger first; 0 where the rate arbiter lacks
    /// [`READS_PRIORITY`](crate::Flags::READS_PRIORITY), and transfers of all priorities are of one class then.
    pub priority: i64,
}

/// Weight that a class gains or loses: that of one transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WeightChange {
    /// The class, below [`Setting::classes`].
    pub class: u32,
    /// The weight of the transfer, a whole number of at least 1.
    pub weight: u32,
}

/// What has changed since the last call.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The instant; not before that of the last call.
    pub now: SimTime,
    /// One entry per transfer that has ended.
    pub removed: &'a [WeightChange],
    /// One entry per transfer that has begun. A class that loses its last weight gets none in the same change.
    pub added: &'a [WeightChange],
}

/// A group that is new, or hangs below another root now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupMove {
    /// The group; ids are the arbiter's, below the fabric's links + twice the classes + the links of all classes together.
    pub group: u32,
    /// The root that it hangs below now, an id of the arbiter's in the same range.
    pub root: u32,
}

/// A class that is new, or in another group now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClassMove {
    /// The class, below [`Setting::classes`].
    pub class: u32,
    /// The group that it belongs to now.
    pub group: u32,
}

/// A new level of a root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RootLevel {
    /// The root, an id of the arbiter's.
    pub root: u32,
    /// The link that holds its members back, one of the route of each; [`LinkId::NONE`] where it is their limit.
    pub link: LinkId,
    /// [`NO_LEVEL`] where it has no members.
    pub level: Level,
}

/// What changes, all of it at the instant of the change: only where things end up counts. It is read in the order of the
/// fields; classes that are forgotten need not be listed.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Groups that are new or hang below another root.
    pub groups: Vec<GroupMove>,
    /// Classes that are new or in another group.
    pub classes: Vec<ClassMove>,
    /// Groups that have no class any more; their ids may be used again in a later answer.
    pub dropped: Vec<u32>,
    /// Roots whose level has changed.
    pub levels: Vec<RootLevel>,
}

impl Answer {
    /// Empties it; memory is kept.
    pub fn clear(&mut self) {
        self.groups.clear();
        self.classes.clear();
        self.dropped.clear();
        self.levels.clear();
    }

    /// Entries of all four lists together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.len() + self.classes.len() + self.dropped.len() + self.levels.len()
    }

    /// Whether all levels, groups and classes stay as they are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What an arbiter knows of the load of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkUse {
    /// The largest load so far, in units; `None` where it is not known.
    pub peak: Option<u64>,
    /// Whether the link has been full, whatever rounding leaves of it.
    pub is_full: bool,
    /// For how long it has had transfers none of which moved, ps.
    pub stalled_ps: u64,
}

impl LinkUse {
    /// Nothing is known, and nothing stood still.
    pub const UNKNOWN: Self = Self { peak: None, is_full: false, stalled_ps: 0 };
}

/// A policy whose answers are changes.
///
/// A transfer that shares no link with another runs at the full rate of its narrowest link, or at its limit: the host sees to
/// that, and does not tell the arbiter. Of the others, the sum of weight times level must be at most the capacity on each
/// link, and a level at most the class's limit. The host checks every answer for ids that do not exist and classes that are left out,
/// and sums up all links now and then, as often as that costs no more than the answers themselves; it refuses, and never
/// repairs.
pub trait IncrementalArbiter: Send {
    /// Announces a class that gets weight in the next call of [`Self::arbitrate`]. It is forgotten with the call that takes its last
    /// weight. Ids are counted from 0; those of forgotten classes are used again.
    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>);

    /// Takes a change in, and says what it changes; `answer` is empty.
    ///
    /// # Errors
    /// Any [`CallError`]; the run ends with its text.
    fn arbitrate(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError>;

    /// A class that is served before those of a root on its link, for results that say who holds them back. Like
    /// [`Self::beside`] asked of roots with members only.
    fn above(&self, _root: u32) -> Option<u32> {
        None
    }

    /// A class other than `class` that crosses the link of a root but hangs below another one, for results that say who shares
    /// it; `None` where none is at hand.
    fn beside(&self, _root: u32, _class: u32) -> Option<u32> {
        None
    }

    /// The use of a link up to `now`, by the transfers that the arbiter knows of.
    fn link_use(&self, _link: LinkId, _now: SimTime) -> LinkUse {
        LinkUse::UNKNOWN
    }

    /// Recomputes all that it keeps, and says what is not as it must be: slow, for tests.
    ///
    /// # Errors
    /// What is wrong.
    fn verify(&self) -> Result<(), String> {
        Ok(())
    }
}

/// An incremental arbiter that stands beside the rate arbiter of the same policy: that one accepts routes, explains phases,
/// and serves runs that record them.
pub trait IncrementalPlugin: IncrementalArbiter + Sized + 'static {
    /// Builds an instance; `params` are those of the rate arbiter.
    ///
    /// # Errors
    /// [`CallError::Refused`] where it does not serve these parameters: the host then asks the rate arbiter phase by phase.
    fn create(setting: &Setting<'_>, params: &str) -> Result<Self, CallError>;
}
