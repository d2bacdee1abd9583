//! How far the ends of a run move when every transfer starts a little later: what is measured by running again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_plugin_api::{SimDuration, SimTime};
use weir_scenario::PlannedOperation;
use weir_sim_core::TaskId;

use crate::schemas::time;

/// The end of one thing in several runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct EndSpread {
    /// The earliest.
    pub min: SimTime,
    /// The one in the middle, or the mean of the two there.
    pub median: SimTime,
    /// The latest.
    pub max: SimTime,
}

impl EndSpread {
    /// Of ends in any order, which are sorted; `None` of none.
    #[must_use]
    pub fn of(ends: &mut [SimTime]) -> Option<Self> {
        ends.sort_unstable();
        let (min, max) = (*ends.first()?, *ends.last()?);
        let (before, middle) = (ends[(ends.len() - 1) / 2], ends[ends.len() / 2]);
        Some(Self { min, median: SimTime(before.0.midpoint(middle.0)), max })
    }

    /// The latest less the earliest.
    #[must_use]
    pub fn width(&self) -> SimDuration {
        self.max - self.min
    }
}

/// The ends of further runs of a scenario, in each of which every transfer starts later by a random time.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Spread {
    /// A transfer starts later by less than this.
    pub jitter: SimDuration,
    /// Number of runs: with the seeds from 0.
    pub seeds: u32,
    /// The makespans.
    pub makespan: EndSpread,
    /// Of all transfers, and by their releases of the operations that models planned; ascending.
    all: Vec<(TaskId, OwnSpread)>,
}

/// Of one transfer or operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OwnSpread {
    /// Its ends.
    pub end: EndSpread,
    /// The longest less the shortest time from ready to end: what happens before it is ready is none of it.
    pub time: SimDuration,
}

impl Spread {
    /// Of runs with so many seeds, in which a transfer starts later by less than `jitter`. `all` has the transfers by id,
    /// and the operations that models planned by the ids of their releases.
    #[must_use]
    pub fn new(jitter: SimDuration, seeds: u32, makespan: EndSpread, mut all: Vec<(TaskId, OwnSpread)>) -> Self {
        all.sort_by_key(|&(task, _)| task);
        Self { jitter, seeds, makespan, all }
    }

    /// Of a transfer; `None` of other tasks.
    #[must_use]
    pub fn transfer(&self, task: TaskId) -> Option<OwnSpread> {
        let at = self.all.binary_search_by_key(&task, |&(task, _)| task).ok()?;
        Some(self.all[at].1)
    }

    /// Of an operation that a model planned.
    #[must_use]
    pub fn operation(&self, operation: &PlannedOperation) -> Option<OwnSpread> {
        self.transfer(operation.release)
    }
}

/// Further runs in which every transfer starts later by a random time: how far the makespan moves.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Spread")]
pub(crate) struct SpreadJson {
    /// A transfer starts later by less than this, seconds.
    #[serde(deserialize_with = "time")]
    pub(crate) jitter_s: f64,
    /// Number of runs.
    pub(crate) seeds: u32,
    /// Their makespans, seconds.
    pub(crate) makespan_s: EndSpreadJson,
}

impl From<&Spread> for SpreadJson {
    fn from(spread: &Spread) -> Self {
        Self { jitter_s: spread.jitter.seconds(), seeds: spread.seeds, makespan_s: spread.makespan.into() }
    }
}

/// The end of one thing in several runs, seconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "EndSpread")]
pub(crate) struct EndSpreadJson {
    /// The earliest.
    #[serde(deserialize_with = "time")]
    pub(crate) min: f64,
    /// The one in the middle, or the mean of the two there.
    #[serde(deserialize_with = "time")]
    pub(crate) median: f64,
    /// The latest.
    #[serde(deserialize_with = "time")]
    pub(crate) max: f64,
}

impl From<EndSpread> for EndSpreadJson {
    fn from(EndSpread { min, median, max }: EndSpread) -> Self {
        Self { min: min.seconds(), median: median.seconds(), max: max.seconds() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_two() {
        let mut ends = [7, 1, 9, 3].map(SimTime);
        let (min, median, max) = (SimTime(1), SimTime(5), SimTime(9));
        assert_eq!(EndSpread::of(&mut ends), Some(EndSpread { min, median, max }));
        assert_eq!(EndSpread::of(&mut []), None);
    }
}
