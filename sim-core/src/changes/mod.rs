//! Links whose bandwidth changes while a run goes on: they fail, are mended, slow down, or carry other traffic.
//!
//! Each source of changes keeps a state for its links. What a link carries follows from all of them: the least bandwidth that
//! one gives, else its own, times the shares that the others leave. At 0 the link is down, and transfers over it wait.

mod cursor;
mod steps;

use weir_plugin_api::{LinkId, SimDuration, SimTime};

pub(crate) use cursor::{ChangeCursor, LinkChange};
pub use steps::Steps;

use crate::fabric::Fabric;
use crate::tasks::TaskId;

/// Changes of links in one run at most: each costs a new arbiter (*assumed*: some minutes on small fabrics).
pub const MOST_CHANGES: u64 = 10_000_000;
/// Changes that are kept with their times, the first ones; *assumed*, more than a picture shows.
pub const MOST_STEPS: usize = 20_000;

/// What a source of changes leaves of a link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LinkState {
    /// All of it.
    Up,
    /// Nothing.
    Down,
    /// A part of its bandwidth, above 0.
    Share(f64),
    /// Another bandwidth, bytes per second, above 0.
    Bandwidth(f64),
}

/// Directed links that change together, and when.
#[derive(Clone, PartialEq, Debug)]
pub struct ChangeSource {
    /// The links.
    pub links: Vec<LinkId>,
    /// Their states over time; up before the first.
    pub steps: Steps,
}

/// What becomes of a transfer when a link of its route goes down.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum OnFailure {
    /// It waits until the link is up again, and goes on from the bytes that have been sent.
    #[default]
    Wait,
    /// It waits, and begins again from its first byte.
    Restart,
    /// What it has not sent goes over another route, on which all links are up; where there is none, it waits.
    Reroute,
    /// All of it goes over another route, from its first byte; where there is none, it waits, and begins again then.
    RerouteRestart,
    /// The run ends with an error.
    Fail,
}

impl OnFailure {
    /// Whether a transfer takes another route, where there is one.
    #[must_use]
    pub fn reroutes(self) -> bool {
        matches!(self, Self::Reroute | Self::RerouteRestart)
    }

    /// Whether a transfer begins again from its first byte.
    #[must_use]
    pub fn restarts(self) -> bool {
        matches!(self, Self::Restart | Self::RerouteRestart)
    }
}

/// All changes of the links of a fabric.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct LinkChanges {
    /// Their sources.
    pub sources: Vec<ChangeSource>,
    /// What becomes of transfers.
    pub on_failure: OnFailure,
}

impl LinkChanges {
    /// Whether no link changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The fabric with the highest bandwidth that each link may have; `None` where none is raised.
    pub(crate) fn highest(&self, fabric: &Fabric) -> Option<Fabric> {
        let mut highest = None;
        for source in &self.sources {
            let states: Vec<LinkState> = source.steps.states().collect();
            for &link in &source.links {
                let own = fabric.link(link);
                let whole = states
                    .iter()
                    .map(|state| if let LinkState::Bandwidth(of) = state { of / own.bandwidth } else { 1.0 });
                let share = states.iter().map(|state| if let LinkState::Share(part) = state { *part } else { 1.0 });
                let ratio = whole.fold(1.0, f64::max) * share.fold(1.0, f64::max);
                if ratio > 1.0 {
                    let raised = highest.get_or_insert_with(|| fabric.clone());
                    let bandwidth = raised.link(link).bandwidth * ratio;
                    // One that is beyond all numbers is refused when it is due.
                    _ = raised.set_link(link, bandwidth, own.latency);
                }
            }
        }
        highest
    }
}

/// A transfer that goes on over another route than before, because a link is down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reroute {
    /// From when on.
    pub time: SimTime,
    /// The transfer.
    pub task: TaskId,
    /// A link of the route before that is down then.
    pub down: LinkId,
    /// Bytes that it has sent before, in all.
    pub sent: u64,
    /// The links that carry the others, as [`crate::Routes::links`] has them.
    pub links: Vec<LinkId>,
}

/// What a link carries from a moment on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkStep {
    /// From when on.
    pub time: SimTime,
    /// The directed link.
    pub link: LinkId,
    /// Bytes per second; 0 where it is down.
    pub bandwidth: f64,
}

/// How often links changed in a run, and how long they were down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkChangeTotals {
    /// The directed link.
    pub link: LinkId,
    /// Changes of what it carries.
    pub changes: u64,
    /// Time for which it was down.
    pub down: SimDuration,
    /// Since when it is down; [`SimTime::NEVER`] if it is up.
    pub(crate) since: SimTime,
}
