//! The contract of an incremental arbiter: the policy of the rate arbiter of its name, event by event.
//!
//! ```text
//! class (equal route, limit, priority) ─► node ─► … ─► root (has the level)
//! ```
//!
//! A rate arbiter gets a phase and answers with all its rates. An incremental one keeps its state: it learns which
//! classes gain and lose weight, and answers with what changes: levels of roots, and what hangs below what. The rate of a
//! transfer is its weight times the level of the root above its class. So an event costs what it changes, not what is active;
//! what clocks, sizes and ends do with levels is the host's. The simplest arbiter hangs nothing: every class is a root.
//!
//! It is an interface inside of the program: shared libraries have none (docs/plugin-abi.md says why).
//!
//! All numbers are integers, so that sums of them are exact: a *level* is a rate per unit of weight, in units of the host's
//! choice (a power of two of them make 1 B/s), and so are capacities; every capacity is below 2^61. Weights are scaled to
//! integers. The mathematics of fair shares in this form is in docs/incremental.md.

use crate::{CallError, Cause, FabricView, LinkId, SimTime};

/// A rate per unit of weight, in the host's units.
pub type Level = u64;

/// The level of a root with nothing below it; as a limit, none.
pub const NO_LEVEL: Level = u64::MAX;

/// The id of no class and no node.
pub const NO_ID: u32 = u32::MAX;

/// What an instance is built for.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The fabric, as the rate arbiter sees it.
    pub fabric: FabricView<'a>,
    /// Bandwidth of each directed link of the fabric, in units; then of each bandwidth that links share, as a further link of
    /// the classes that take it.
    pub capacities: &'a [u64],
    /// How many of the last capacities links share. They are divided by weights so that no transfer can get more unless one
    /// with as little gets less; a policy that would divide them otherwise refuses.
    pub shared: u32,
    /// At most so many of them will be crossed.
    pub links: u32,
    /// Ids of classes are below this; nodes of the arbiter's own are numbered from here on.
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
    /// The weight of the transfer, a whole number of at least 1; 1 where the rate arbiter lacks
    /// [`READS_WEIGHT`](crate::Flags::READS_WEIGHT).
    pub weight: u32,
}

/// What has changed since the last call.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The instant; not before that of the last call.
    pub now: SimTime,
    /// One entry per transfer that has ended.
    pub removed: &'a [WeightChange],
    /// One entry per transfer that has begun, in order of (arrival, id) where classes are served in turn. A class that loses its
    /// last weight gets none in the same change.
    pub added: &'a [WeightChange],
}

/// A node that hangs below another one from now on.
///
/// Nodes are the classes, by their ids, and nodes of the arbiter's own, with ids from [`Setting::classes`] on, below that + the
/// fabric's links + twice the classes + the links of all classes together. A node runs on the clock of the one that it hangs
/// below; one that hangs below none is a root, as all are in the beginning, and a class again when it gets weight after it had
/// none. A node that nothing hangs below costs nothing, and may be used for something else later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hang {
    /// A class, or a node of the arbiter's own.
    pub node: u32,
    /// What it hangs below, a node of the arbiter's own; [`NO_ID`] for nothing: then it is a root.
    pub below: u32,
}

/// A new level of a root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RootLevel {
    /// The root.
    pub root: u32,
    /// [`NO_LEVEL`] where no class is below it.
    pub level: Level,
}

/// What changes, all of it at the instant of the change: only where things end up counts. First all nodes are hung, in the
/// order of the list and at no time in a circle; then roots get their levels. Classes that are forgotten need not be listed.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Nodes that hang elsewhere.
    pub hung: Vec<Hang>,
    /// Roots whose level has changed, or that were none before.
    pub levels: Vec<RootLevel>,
}

impl Answer {
    /// Empties it; memory is kept.
    pub fn clear(&mut self) {
        self.hung.clear();
        self.levels.clear();
    }

    /// Entries of both lists together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hung.len() + self.levels.len()
    }

    /// Whether all levels and nodes stay as they are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What holds a class back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Holder {
    /// The link, one of its route; [`LinkId::NONE`] where it is its limit.
    pub link: LinkId,
    /// Why. [`Cause::SharedLink`] says that all below the same root share the link: the host names one of them, if there is
    /// another one.
    pub cause: Cause,
    /// A class that holds it back, perhaps itself (then another transfer of it is meant); [`NO_ID`] where none is at hand.
    pub by: u32,
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
/// The host does not tell the arbiter of a transfer that shares no link with another: it runs at the full rate of its narrowest
/// link, at its limit, or as [`Self::alone`] says. Of the others, the sum of weight times level must be at most the capacity on each
/// link, and a level at most the class's limit. The host checks every answer for ids that do not exist, circles, and classes
/// without a level, and sums up all links now and then, as often as that costs no more than the answers themselves; it refuses,
/// and never repairs.
pub trait IncrementalArbiter: Send {
    /// The level of a class whose one transfer shares no link, and the link that sets it, where that is not its narrowest link
    /// at its full capacity; asked once for equal classes.
    fn alone(&self, _class: &ClassInfo<'_>) -> Option<(LinkId, Level)> {
        None
    }

    /// Announces a class that gets weight in the next call of [`Self::settle`]. It is forgotten with the call that takes its
    /// last weight. Ids are counted from 0; those of forgotten classes are used again.
    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>);

    /// Takes a change in, and says what it changes; `answer` is empty.
    ///
    /// # Errors
    /// Any [`CallError`]; the run ends with its text.
    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError>;

    /// What holds a class with weight back; of a class in turn, its first transfer.
    fn holder(&self, class: u32) -> Holder;

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
    /// Whether the transfers of a class are served one after the other, in order of (arrival, id): only the first one moves,
    /// at the level of the class, and it alone counts in the loads of links.
    const IN_TURN: bool = false;

    /// Whether it knows the largest loads of links where they are wanted ([`Setting::wants_peaks`]); else
    /// [`IncrementalArbiter::link_use`] does not say, and whoever asks for those of all links has the rate arbiter asked phase by
    /// phase.
    const KNOWS_PEAKS: bool = true;

    /// Builds an instance; `params` are those of the rate arbiter.
    ///
    /// # Errors
    /// [`CallError::Refused`] where it does not serve these parameters: the host then asks the rate arbiter phase by phase.
    fn create(setting: &Setting<'_>, params: &str) -> Result<Self, CallError>;
}
