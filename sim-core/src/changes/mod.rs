//! Links whose bandwidth changes while a run goes on: they fail, are mended, slow down, or carry other traffic.
//!
//! Each source of changes keeps a state for its links. What a link carries follows from all of them: the bandwidth that one
//! gives, else its own, times the shares that the others leave. At 0 the link is down, and transfers over it wait.

mod cursor;
mod steps;

use weir_plugin_api::{LinkId, SimDuration, SimTime};

pub(crate) use cursor::ChangeCursor;
pub use steps::Steps;

use crate::fabric::Fabric;

/// Changes of links in one run at most: each costs a new arbiter (*assumed*: some minutes on small fabrics).
pub const MOST_CHANGES: u64 = 10_000_000;

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
    /// The run ends with an error.
    Fail,
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

    /// By how much the bandwidth of a link is raised at most: 1 where none is.
    #[must_use]
    pub(crate) fn highest_ratio(&self, fabric: &Fabric) -> f64 {
        let ratio = |state: LinkState, link: LinkId| match state {
            LinkState::Bandwidth(bandwidth) => bandwidth / fabric.link(link).bandwidth,
            LinkState::Share(share) => share,
            LinkState::Up | LinkState::Down => 1.0,
        };
        let ratios = self.sources.iter().flat_map(|source| {
            source.steps.states().flat_map(move |state| source.links.iter().map(move |&link| ratio(state, link)))
        });
        ratios.fold(1.0, f64::max)
    }
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
