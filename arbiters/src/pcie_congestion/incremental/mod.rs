//! The incremental side of `pcie-congestion`.
//!
//! ```text
//! classes ─► slots of up links (B) ─► pairs at ports (C) ─► trees of merged links (D1) ─► exceptions (D2, D3) ─► answer
//! ```
//!
//! Nearly all transfers are blocked at the rate of a few. So rates hang on *levels of up links*: each link is a node, below
//! the next one up where both are blocked together. Classes that start at one link and turn at one pair are a *source*
//! ([`sources`]): a node, too, which hangs below its first link unless it is an *exception*. What is counted of classes:
//! - A *slot* of an up link: its classes that turn at one pair of last up link and port. Step B sums slots, from the slots of
//!   the links that lead there ([`upward`]); only links above a change are summed anew, never by differences.
//! - A *pair* is an input of a port: step C needs no classes ([`ports`]). Further down they are looked at one by one, on links
//!   that may be overloaded: each up link and pair *promises* a factor that it does not exceed, and seldom changes it; where
//!   the classes from above reserve no more than a link carries, it cannot cut.
//! - Step D1 ([`trees`]): the links that a class throttles are a prefix of its route, and have one level. So each is of one set,
//!   with one level: the least rate of those that throttle it.
//! - Exceptions ([`exceptions`]) are not blocked, or not at their first link. Steps D2 and D3 ([`raises`]) are for these; what
//!   the others have on a link is summed over slots.
//!
//! An event looks at exceptions in the subtrees that it touches only ([`subtrees`]). Where one of these has few transfers,
//! limited ones, or a class that brings more to an up link than that carries, the rate arbiter is asked for rates
//! ([`fallback`]).
//! Lateral links are ports that come before all others. Bandwidth that links share, and the policy without head-of-line blocking
//! are refused: the host goes phase by phase.
//!
//! Rates are those of the rate arbiter but for rounding, and a function of the active classes, to the bit: sums are formed in a
//! fixed order, promises are compared only.

mod answers;
mod bits;
mod exceptions;
mod fallback;
mod holders;
mod members;
mod ports;
mod raises;
mod sources;
mod specials;
mod subtrees;
mod tables;
#[cfg(test)]
mod tests;
mod trees;
mod upward;
mod verify;

use weir_plugin_api::{
    Answer, ArbiterPlugin, CallError, Change, ClassInfo, Holder, IncrementalArbiter, IncrementalPlugin, Level, LinkId,
    NO_ID as NONE, NO_LEVEL, Setting,
};

use super::{EPS, PcieCongestion, PcieCongestionParams};
use crate::common::params::decode;
use crate::common::ports::Port;
use bits::BitSet;
use exceptions::Exception;
use ports::{Cut, Inputs, Mark};
use raises::{Extra, Hop};
use sources::Source;
use specials::Sets;
use subtrees::Subtrees;
use tables::{Class, Links, Pair};
use trees::By;

/// A level that was not told.
const UNTOLD: Level = NO_LEVEL;
/// What a class hangs below: its source, or what the host has after it was without transfers.
const AT_SOURCE: u32 = NONE - 1;
const UNKNOWN: u32 = NONE - 2;

/// How often each way was taken.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    fast: u64,
    asked: u64,
    /// Down links that were looked at closely, and classes there.
    awake: u64,
    classes: u64,
    /// Steps to unblocked classes, and sums over slots.
    descents: u64,
    bases: u64,
    exceptions: u64,
    raised: u64,
    /// Classes that are cut or clamped one by one.
    specials: u64,
    /// Lateral links that are overloaded.
    laterals: u64,
}

#[cfg(test)]
impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.fast += other.fast;
        self.asked += other.asked;
        self.awake += other.awake;
        self.classes += other.classes;
        self.descents += other.descents;
        self.bases += other.bases;
        self.exceptions += other.exceptions;
        self.raised += other.raised;
        self.specials += other.specials;
        self.laterals += other.laterals;
    }
}

/// The incremental side of `pcie-congestion`.
#[derive(Debug)]
pub struct Factors {
    tau: f64,
    /// 2 to the power of the host's bits.
    scale: f64,
    first_node: u32,
    ports: Vec<Port>,
    links: Links,
    pairs: Vec<Pair>,
    free_pairs: Vec<u32>,
    classes: Vec<Class>,
    sources: Vec<Source>,
    free_sources: Vec<u32>,
    dirty_ups: BitSet,
    dirty_downs: BitSet,
    /// Down links that are divided in each event; those where classes start.
    awake: BitSet,
    starts_below: BitSet,
    changed_slots: Vec<(u64, u32, bool)>,
    /// Up links with clamped classes, limited classes: the fast way does not serve these.
    clamped: u32,
    limited: u32,
    /// Counts events of the fast way; what is marked with another number is of the past.
    event: u64,
    marks: Vec<Mark>,
    specials: Vec<u32>,
    cuts: Vec<Cut>,
    inputs: Inputs,
    /// Step D1: up links that must be looked at, added up, and trees that must get their levels; links that have left a
    /// tree or joined one, and trees whose level may have changed.
    to_grow: BitSet,
    to_fold: BitSet,
    to_level: BitSet,
    moved: Vec<u32>,
    touched: Vec<u32>,
    /// Per up link, where the level of its tree comes from.
    level_by: Vec<By>,
    sets: Sets,
    /// Far more than eps of any link.
    tolerance: f64,
    subtrees: Subtrees,
    /// Sources that have come.
    fresh: Vec<u32>,
    /// Up links with sources that may be exceptions or do not hang there, or classes apart; those of the latter that the event
    /// looks at.
    watched: BitSet,
    away: Vec<u32>,
    apart: Vec<u32>,
    exceptions: Vec<Exception>,
    extras: Vec<Extra>,
    raised: Vec<usize>,
    /// Links that these cross, and others without room for raises; up links first.
    begun: Vec<u32>,
    /// Classes of these with a rate of their own, as some link after the port has no room for all raises.
    unlike: Vec<(u32, f64)>,
    links_below: Vec<u32>,
    /// Σ of raises per link down or lateral; 0 between uses.
    raises_below: Vec<f64>,
    is_tight: bool,
    hops: Vec<Hop>,
    plain: PcieCongestion,
    phase: fallback::Phase,
    /// The most transfers of a subtree for whose rates the rate arbiter is asked.
    few: u32,
    /// Whether the last answers were the rate arbiter's only: what has changed since is not divided yet.
    is_behind: bool,
    counters: Counters,
}

impl IncrementalArbiter for Factors {
    fn alone(&self, class: &ClassInfo<'_>) -> Option<(LinkId, Level)> {
        self.lone(class)
    }

    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>) {
        self.announce(id, class);
    }

    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError> {
        self.subtrees.begin();
        change.removed.iter().for_each(|change| self.count(change.class, -1));
        change.added.iter().for_each(|change| self.count(change.class, 1));
        self.touch_subtrees();
        if !self.subtrees.asked.is_empty() {
            self.counters.asked += 1;
            self.ask(answer)?;
        }
        self.is_behind = self.subtrees.ranges.is_empty();
        if self.is_behind {
            return Ok(());
        }
        self.counters.fast += 1;
        self.divide_downward();
        self.block();
        self.find_exceptions();
        self.counters.exceptions += self.exceptions.len() as u64;
        self.counters.specials += self.specials.len() as u64;
        self.hand_on();
        self.tell(answer);
        Ok(())
    }

    fn holder(&self, class: u32) -> Holder {
        self.held_back(class)
    }

    fn verify(&self) -> Result<(), String> {
        self.recompute()
    }
}

impl IncrementalPlugin for Factors {
    const KNOWS_PEAKS: bool = false;

    fn create(setting: &Setting<'_>, params: &str) -> Result<Self, CallError> {
        let PcieCongestionParams { tau, hol, root_penalty } = decode(PcieCongestion::NAME, params)?;
        let plain = PcieCongestion::create(&setting.fabric, params)?;
        let refuse = |what: &str| Err(CallError::Refused(what.to_owned()));
        if !hol {
            return refuse("without head-of-line blocking nearly all rates change in each event");
        }
        if setting.shared > 0 {
            return refuse("the policy does not divide what links share");
        }
        let tau = if root_penalty { tau } else { 0.0 };
        let ports = Port::table(&setting.fabric, tau);
        let links = Links::new(&setting.fabric, &ports)?;
        Ok(Self::new(setting, tau, plain, ports, links))
    }
}

impl Factors {
    fn new(setting: &Setting<'_>, tau: f64, plain: PcieCongestion, ports: Vec<Port>, links: Links) -> Self {
        let (ups, downs) = (links.ups.len(), links.downs.len());
        Self {
            tau,
            scale: f64::from(setting.bits).exp2(),
            first_node: setting.classes,
            pairs: Vec::new(),
            free_pairs: Vec::new(),
            classes: Vec::new(),
            sources: Vec::new(),
            free_sources: Vec::new(),
            dirty_ups: BitSet::new(ups),
            dirty_downs: BitSet::new(downs),
            awake: BitSet::new(downs),
            starts_below: BitSet::new(downs),
            changed_slots: Vec::new(),
            clamped: 0,
            limited: 0,
            event: 0,
            marks: Vec::new(),
            specials: Vec::new(),
            cuts: Vec::new(),
            inputs: Inputs::default(),
            to_grow: BitSet::new(ups),
            to_fold: BitSet::new(ups),
            to_level: BitSet::new(ups),
            moved: Vec::new(),
            touched: Vec::new(),
            level_by: vec![By::Nobody; ups],
            sets: Sets::new(ups + downs),
            tolerance: EPS * ports.iter().fold(0.0, |most: f64, port| most.max(port.bandwidth)),
            fresh: Vec::new(),
            subtrees: Subtrees::new(ups, ups + downs),
            watched: BitSet::new(ups),
            away: Vec::new(),
            apart: Vec::new(),
            exceptions: Vec::new(),
            raised: Vec::new(),
            begun: Vec::new(),
            unlike: Vec::new(),
            links_below: Vec::new(),
            raises_below: vec![0.0; downs],
            is_tight: false,
            hops: Vec::new(),
            extras: vec![Extra::default(); ups + downs],
            plain,
            phase: fallback::Phase::default(),
            few: subtrees::FEW,
            is_behind: false,
            counters: Counters::default(),
            ports,
            links,
        }
    }
}
