//! Goes through all changes of a run in the order of time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use weir_plugin_api::{LinkId, SimDuration, SimTime};

use super::steps::Walk;
use super::{LinkChangeTotals, LinkChanges, LinkState, LinkStep, MOST_CHANGES, MOST_STEPS};
use crate::fabric::Fabric;
use crate::outcome::SimError;

/// A link that changes: the sources that it has a state of, and what that makes of it.
#[derive(Debug)]
struct LinkNow {
    sources: Vec<u32>,
    /// Bytes per second; 0 while it is down.
    bandwidth: f64,
    /// What it carried from when on, in order of time, as far as it is kept.
    steps: Vec<(SimTime, f64)>,
    totals: LinkChangeTotals,
}

/// A link that has another bandwidth than before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkChange {
    pub(crate) link: LinkId,
    /// Bytes per second from now on; 0 while it is down.
    pub(crate) bandwidth: f64,
    /// Whether it was down.
    pub(crate) comes_up: bool,
}

impl LinkChange {
    /// Whether it went down or came up.
    pub(crate) fn turns(&self) -> bool {
        self.comes_up || self.bandwidth == 0.0
    }
}

/// The changes that are still to come.
#[derive(Debug)]
pub(crate) struct ChangeCursor<'a> {
    changes: &'a LinkChanges,
    walks: Vec<Walk<'a>>,
    states: Vec<LinkState>,
    /// (time, source) of the next step of each source.
    next: BinaryHeap<Reverse<(SimTime, u32)>>,
    links: BTreeMap<LinkId, LinkNow>,
    /// Sources that have changed at this instant.
    due: Vec<u32>,
    /// Steps taken.
    steps: u64,
    /// Of links, how many are kept, and how many are at most.
    kept: usize,
    most_kept: usize,
}

impl<'a> ChangeCursor<'a> {
    pub(crate) fn new(changes: &'a LinkChanges, fabric: &Fabric) -> Self {
        let walks: Vec<_> = changes.sources.iter().map(|source| Walk::new(&source.steps)).collect();
        let next = (0..).zip(&walks).filter(|(_, walk)| !walk.next().is_never());
        let next = next.map(|(at, walk)| Reverse((walk.next(), at))).collect();
        let mut links = BTreeMap::new();
        for (at, source) in (0..).zip(&changes.sources) {
            for &link in &source.links {
                let own = links.entry(link).or_insert_with(|| LinkNow {
                    sources: Vec::new(),
                    bandwidth: fabric.link(link).bandwidth,
                    steps: Vec::new(),
                    totals: LinkChangeTotals { link, changes: 0, down: SimDuration::ZERO, since: SimTime::NEVER },
                });
                if own.sources.last() != Some(&at) {
                    own.sources.push(at);
                }
            }
        }
        let states = vec![LinkState::Up; walks.len()];
        Self { changes, walks, states, next, links, due: Vec::new(), steps: 0, kept: 0, most_kept: MOST_STEPS }
    }

    /// Keeps all of what links carry, for [`Self::steps_of`].
    pub(crate) fn with_all_steps(mut self) -> Self {
        self.most_kept = usize::MAX;
        self
    }

    /// When links change next; [`SimTime::NEVER`] for not any more.
    pub(crate) fn next_time(&self) -> SimTime {
        self.next.peek().map_or(SimTime::NEVER, |next| next.0.0)
    }

    /// Whether a link is down.
    pub(crate) fn is_down(&self, link: LinkId) -> bool {
        self.links.get(&link).is_some_and(|own| own.bandwidth == 0.0)
    }

    /// Whether a link is up, or may come up again.
    pub(crate) fn is_up_in_time(&self, link: LinkId) -> bool {
        !self.is_down(link) || self.may_rise(link)
    }

    /// Whether a link that is down may come up again.
    pub(crate) fn may_rise(&self, link: LinkId) -> bool {
        // Each source that holds it down must let it go.
        let lets_go = |&at: &u32| self.states[at as usize] != LinkState::Down || self.walks[at as usize].goes_on();
        self.links.get(&link).is_none_or(|own| own.sources.iter().all(lets_go))
    }

    /// Does what is due at `now`. Returns the links whose bandwidth is another one from now on.
    ///
    /// # Errors
    /// Links have changed more than [`MOST_CHANGES`] times.
    pub(crate) fn take(&mut self, now: SimTime, fabric: &Fabric) -> Result<Vec<LinkChange>, SimError> {
        self.due.clear();
        while let Some(&Reverse((time, at))) = self.next.peek()
            && time <= now
        {
            self.next.pop();
            let walk = &mut self.walks[at as usize];
            self.states[at as usize] = walk.take();
            if !walk.next().is_never() {
                self.next.push(Reverse((walk.next(), at)));
            }
            self.due.push(at);
            self.steps += 1;
        }
        let touched = self.due.iter().flat_map(|&at| &self.changes.sources[at as usize].links);
        let mut touched: Vec<LinkId> = touched.copied().collect();
        touched.sort_unstable();
        touched.dedup();
        let mut changed = Vec::new();
        for link in touched {
            let Some(own) = self.links.get_mut(&link) else { continue };
            let states = own.sources.iter().map(|&at| self.states[at as usize]);
            let bandwidth = bandwidth(fabric.link(link).bandwidth, states);
            if bandwidth.to_bits() != own.bandwidth.to_bits() {
                changed.push(LinkChange { link, bandwidth, comes_up: own.bandwidth == 0.0 });
                own.change(now, bandwidth);
                if self.kept < self.most_kept {
                    self.kept += 1;
                    own.steps.push((now, bandwidth));
                }
            }
        }
        match changed.first() {
            Some(&LinkChange { link, .. }) if self.steps > MOST_CHANGES => {
                Err(SimError::TooManyChanges { time: now, link })
            }
            _ => Ok(changed),
        }
    }

    /// What links carried from when on, in order of time and of links; the first [`MOST_STEPS`].
    pub(crate) fn log(&self) -> Vec<LinkStep> {
        let steps = self.links.iter().flat_map(|(&link, own)| own.steps.iter().map(move |&step| (link, step)));
        let mut log: Vec<_> = steps.map(|(link, (time, bandwidth))| LinkStep { time, link, bandwidth }).collect();
        log.sort_by_key(|step| step.time);
        log.truncate(MOST_STEPS);
        log
    }

    /// What a link carried from when on, in order of time; nothing before its first change. All of it
    /// [with all steps](Self::with_all_steps).
    pub(crate) fn steps_of(&self, link: LinkId) -> &[(SimTime, f64)] {
        self.links.get(&link).map_or(&[], |own| &own.steps)
    }

    /// The links that have changed until `now`.
    pub(crate) fn totals(&self, now: SimTime) -> Vec<LinkChangeTotals> {
        let until = |own: &LinkNow| {
            let open = if own.totals.since.is_never() { SimDuration::ZERO } else { now - own.totals.since };
            LinkChangeTotals { down: own.totals.down.plus(open), ..own.totals }
        };
        self.links.values().filter(|own| own.totals.changes > 0).map(until).collect()
    }
}

impl LinkNow {
    fn change(&mut self, now: SimTime, bandwidth: f64) {
        let totals = &mut self.totals;
        totals.changes += 1;
        if bandwidth == 0.0 {
            totals.since = now;
        } else if !totals.since.is_never() {
            totals.down = totals.down.plus(now - totals.since);
            totals.since = SimTime::NEVER;
        }
        self.bandwidth = bandwidth;
    }
}

/// What the states leave of a link with this bandwidth: the least bandwidth that one gives, or its own where none does,
/// times all shares. The order of the states decides nothing, to the bit.
fn bandwidth(own: f64, states: impl Iterator<Item = LinkState>) -> f64 {
    let (mut least, mut shares) = (None, Vec::new());
    for state in states {
        match state {
            LinkState::Up => {}
            LinkState::Down => return 0.0,
            LinkState::Share(part) => shares.push(part),
            LinkState::Bandwidth(bandwidth) => least = Some(bandwidth.min(least.unwrap_or(bandwidth))),
        }
    }
    // Products of more than two numbers depend on their order in the last bit.
    shares.sort_unstable_by(f64::total_cmp);
    (least.unwrap_or(own) * shares.iter().product::<f64>()).min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn state() -> impl Strategy<Value = LinkState> {
        prop_oneof![
            4 => (0.1..20.0).prop_map(LinkState::Bandwidth),
            4 => (0.1..0.9).prop_map(LinkState::Share),
            2 => Just(LinkState::Up),
            1 => Just(LinkState::Down),
        ]
    }

    #[test]
    fn the_least_bandwidth_counts_and_shares_multiply_it() {
        let left = |states: &[LinkState]| bandwidth(10.0, states.iter().copied());
        let (of, share) = (LinkState::Bandwidth, LinkState::Share);
        assert_eq!(left(&[of(5.0), of(2.0)]), 2.0);
        assert_eq!(left(&[of(2.0), of(5.0)]), 2.0);
        assert_eq!(left(&[share(0.5), of(4.0), of(20.0), share(0.25)]), 0.5);
        // More than its own, where nothing else gives less.
        assert_eq!(left(&[of(20.0), LinkState::Up]), 20.0);
        assert_eq!(left(&[of(5.0), LinkState::Down]), 0.0);
        assert_eq!(left(&[]), 10.0);
    }

    proptest! {
        #[test]
        fn the_order_of_sources_changes_no_bit(
            (states, other) in proptest::collection::vec(state(), 0..8)
                .prop_flat_map(|states| (Just(states.clone()), Just(states).prop_shuffle())),
        ) {
            let (one, two) = (bandwidth(7.0, states.into_iter()), bandwidth(7.0, other.into_iter()));
            prop_assert_eq!(one.to_bits(), two.to_bits());
        }
    }
}
