//! The contract of a rate arbiter: it divides the bandwidth of one instant among the active transfers.

use crate::{CallError, FabricView, LinkId, PhaseView, RouteTable, SimTime};

/// Properties an arbiter claims; the host relies on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct Flags(pub u32);

impl Flags {
    /// The answer depends only on the fabric, the parameters and the classes of the phase's transfers, in their order; not on
    /// earlier calls, the time, ids, or arrivals (with [`Self::READS_ARRIVAL`]: only on their order). The host may remember
    /// answers.
    pub const PURE: Self = Self(1);
    /// No link that could raise a transfer is left idle.
    pub const WORK_CONSERVING: Self = Self(2);
    /// Every phase must hold all active transfers. Without it, a phase holds only those connected to a change, and a union
    /// of unconnected sets must give the same bits as each set alone.
    pub const WHOLE_SET: Self = Self(4);
    /// Reads `PhaseView::arrival`, by rank only.
    pub const READS_ARRIVAL: Self = Self(8);
    /// Reads the weights of transfers; without it a scenario that sets some is warned about.
    pub const READS_WEIGHT: Self = Self(16);
    /// Reads the priorities of transfers; without it a scenario that sets some is warned about.
    pub const READS_PRIORITY: Self = Self(32);
    /// Made for the links of a PCIe tree: a scenario whose transfers take others under it (host memory, NVLink, a network)
    /// is warned about.
    pub const FOR_PCIE: Self = Self(64);
    /// Cut into regions, each with an instance of it, it gives the rates that it gives as a whole: touching regions may be
    /// served as one.
    pub const CUT_ANYWHERE: Self = Self(128);
    /// Every bit this version knows.
    pub const KNOWN: Self = Self(255);
    /// Those that a port arbiter can have.
    pub const OF_PORTS: Self = Self::READS_ARRIVAL.union(Self::READS_WEIGHT).union(Self::READS_PRIORITY);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of bits.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Why a transfer has the rate it has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u32)]
pub enum Cause {
    /// The arbiter did not say; the host names the most loaded link of the route.
    Unknown = 0,
    /// Nothing else: the full rate of the narrowest link of its route.
    FullRate = 1,
    /// Its own `limit`.
    OwnLimit = 2,
    /// Its share of a link that others use too.
    SharedLink = 3,
    /// A proportional cut at a contended upstream (or lateral) port.
    Upstream = 4,
    /// Its group's quota at a contended downstream port.
    Downstream = 5,
    /// The reduced capacity of the root complex's port.
    RootComplex = 6,
    /// Head-of-line blocking behind a transfer that is cut further on.
    HeadOfLine = 7,
    /// Another transfer is served first (order of arrival).
    Waiting = 8,
    /// A transfer of higher priority is served first.
    Priority = 9,
    /// A buffer further on is full of its own packets, or smaller than what is under way on its link.
    Credit = 10,
    /// As many of its packets are under way as its window allows.
    Window = 11,
    /// A link of its route is down.
    LinkDown = 12,
    /// The full rate of a link that carries less for a while than it was built for.
    LinkReduced = 13,
    /// As many requests of a read are unanswered as it has tags.
    Tags = 14,
    /// The link sends DLLPs: acknowledgements and credit of the opposite direction.
    Dllp = 15,
}

impl Cause {
    /// All causes, by number.
    pub const ALL: [Self; 16] = [
        Self::Unknown,
        Self::FullRate,
        Self::OwnLimit,
        Self::SharedLink,
        Self::Upstream,
        Self::Downstream,
        Self::RootComplex,
        Self::HeadOfLine,
        Self::Waiting,
        Self::Priority,
        Self::Credit,
        Self::Window,
        Self::LinkDown,
        Self::LinkReduced,
        Self::Tags,
        Self::Dllp,
    ];
}

/// What binds a transfer's rate in one phase: a link, why, and by whom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(C)]
pub struct Binding {
    /// The link that holds the transfer back; one of its route, or [`LinkId::NONE`].
    pub link: LinkId,
    /// A number of [`Cause`]; unknown numbers are read as [`Cause::Unknown`]. Those from [`Self::SHARED`] on are the host's.
    pub cause: u32,
    /// Position *in the phase* of a transfer that is responsible, or `u32::MAX`.
    pub by: u32,
}

impl Binding {
    /// Causes from this number on: its share of a bandwidth that several links have together, which has this number less
    /// this one.
    pub const SHARED: u32 = 1 << 16;

    /// Says nothing of why the transfer has its rate.
    pub const NONE: Self = Self { link: LinkId::NONE, cause: 0, by: u32::MAX };

    /// A binding by a link and a responsible transfer (position in the phase, `u32::MAX` for none).
    #[inline]
    #[must_use]
    pub const fn new(link: LinkId, cause: Cause, by: u32) -> Self {
        Self { link, cause: cause as u32, by }
    }

    /// A binding by a bandwidth that several links have together, by its number; `link` is one of them.
    #[must_use]
    pub const fn of_shared(link: LinkId, number: u32, by: u32) -> Self {
        Self { link, cause: Self::SHARED + number, by }
    }

    /// The number of the bandwidth that several links have together, where that is what binds.
    #[must_use]
    pub const fn shared(&self) -> Option<u32> {
        self.cause.checked_sub(Self::SHARED)
    }

    /// The cause, [`Cause::Unknown`] for a number this version does not know.
    #[must_use]
    pub fn cause(&self) -> Cause {
        if self.shared().is_some() {
            return Cause::SharedLink;
        }
        Cause::ALL.get(self.cause as usize).copied().unwrap_or(Cause::Unknown)
    }
}

/// The arbiter's answer for one phase; slots are in the phase's order.
#[derive(Debug)]
pub struct Grant<'a> {
    /// Rate of each transfer in bytes per second; pre-filled with NaN, every slot must be written.
    pub rates: &'a mut [f64],
    /// Why each rate is what it is; pre-filled with [`Binding::NONE`], may be left.
    pub bindings: &'a mut [Binding],
    /// Ask to be called again at this instant even if nothing changes; [`SimTime::NEVER`] by default.
    pub recheck: SimTime,
}

/// One line of an explanation: a transfer's rate after a step of the policy.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// Position of the transfer in the phase.
    pub transfer: u32,
    /// Number of the region in which the step was taken; the host sets it, arbiters leave 0.
    pub region: u32,
    /// Name of the step, short: a column of the printed table.
    pub step: String,
    /// The link that decided, or [`LinkId::NONE`].
    pub link: LinkId,
    /// Rate after the step, bytes per second.
    pub rate: f64,
    /// Positions in the phase of the transfers responsible.
    pub because: Vec<u32>,
}

/// What a step of an explanation means: one entry of a policy's legend.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LegendEntry {
    /// Name of the step, as in [`Step::step`].
    pub step: String,
    /// The step in a few words that can stand for its name: where it is a cause of results, in the cause's words, such as
    /// `downstream port shared`.
    pub short: String,
    /// What it does, in one plain sentence.
    pub meaning: String,
}

impl LegendEntry {
    /// An entry of these words.
    #[must_use]
    pub fn new(step: impl Into<String>, short: impl Into<String>, meaning: impl Into<String>) -> Self {
        Self { step: step.into(), short: short.into(), meaning: meaning.into() }
    }
}

/// What a reader of the results should know of an arbiter's last answer. The host counts the phases with such an answer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Remark {
    /// Number of the region whose policy has answered; the host sets it, arbiters leave 0.
    pub region: u32,
    /// A main clause in lower case, without a full stop: it is printed after `in 3 of 120 phases`.
    pub text: String,
}

/// A policy that gives each active transfer a rate.
///
/// Rates must be finite, ≥ 0, at most the transfer's limit, and sum to at most the bandwidth on each link; the host
/// checks every answer and refuses, never repairs. `allocate` should not allocate memory: keep scratch buffers in `self`.
pub trait RateArbiter: Send {
    /// Whether transfers may use this route; asked once per distinct route before the run.
    ///
    /// # Errors
    /// [`CallError::Refused`] with a text for a person: why, and which arbiter to use instead.
    fn admit(&mut self, _route: &[LinkId]) -> Result<(), CallError> {
        Ok(())
    }

    /// Gives a rate to each transfer of the phase.
    ///
    /// # Errors
    /// Any [`CallError`]; the run ends with its text.
    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError>;

    /// Appends the steps by which `allocate` reaches its rates for this phase, transfer by transfer in phase order.
    /// Returns false where the policy has no explanation; the host then derives one from the bindings.
    ///
    /// # Errors
    /// As `allocate`.
    fn explain(&mut self, _phase: &PhaseView<'_>, _steps: &mut Vec<Step>) -> Result<bool, CallError> {
        Ok(false)
    }

    /// The most that `link` can carry in total, in bytes per second, at any moment when a transfer of each of `routes` is
    /// active, whatever else is. `None` where the policy promises no more than the check of every answer demands. Searches
    /// for the best order prove with it: too low a bound makes their proofs wrong.
    ///
    /// # Errors
    /// As `allocate`.
    fn capacity(&mut self, _link: LinkId, _routes: &RouteTable<'_>) -> Result<Option<f64>, CallError> {
        Ok(None)
    }

    /// What there is to say of the last answer of `allocate`; mostly nothing. Not part of the C tables: the host hears no
    /// remarks of loaded arbiters.
    fn remarks(&self) -> Vec<Remark> {
        Vec::new()
    }

    /// Forgets everything learnt from earlier calls: routes may have other ids from now on.
    fn reset(&mut self) {}
}

/// A rate arbiter that can be registered under a name, or exported by [`crate::export_arbiters!`].
pub trait ArbiterPlugin: RateArbiter + Sized + 'static {
    /// Name in scenarios: lower case words joined by `-`.
    const NAME: &'static str;
    /// Version of the policy, shown in results.
    const VERSION: &'static str;
    /// What it claims.
    const FLAGS: Flags;

    /// JSON Schema (an object) of its parameters. Beside the usual keywords, `"x-weir-quantity": "bytes" | "bandwidth" |
    /// "time"` marks a number that the scenario writes as text with a unit; it arrives in B, B/s or ps. `"x-weir-fit"` marks
    /// a number that `weir calibrate` may fit, `"x-weir-by-pcie"` a parameter that depends on the generation of PCIe
    /// (docs/plugin-abi.md).
    fn params_schema() -> String;

    /// What the steps that `explain` names mean, in the order in which they are taken; empty where names say enough.
    fn legend() -> Vec<LegendEntry> {
        Vec::new()
    }

    /// Builds an instance for a fabric.
    ///
    /// # Errors
    /// [`CallError::Refused`] when the parameters (a JSON object) or the fabric do not fit.
    fn create(fabric: &FabricView<'_>, params: &str) -> Result<Self, CallError>;
}
