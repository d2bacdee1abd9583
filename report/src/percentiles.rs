//! Percentiles of large loads.

use ordered_float::OrderedFloat;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use weir_plugin_api::SimDuration;
use weir_sim_core::Stop;

use crate::Run;
use crate::pairs::Pairs;
use crate::schemas::Amount;

/// Values by per cent, ascending.
pub type ByPercent = Pairs<usize, f64>;

/// Loads of at least this many transfers get percentiles (*assumed*: below, the table itself says more).
pub const LARGE: usize = 100;

/// Which percentiles a result has.
const PER_CENT: [usize; 7] = [1, 5, 25, 50, 75, 95, 99];

fn times<'de, D: Deserializer<'de>>(from: D) -> Result<ByPercent, D::Error> {
    let Pairs(times) = Pairs::<usize, Amount>::deserialize(from)?;
    Ok(Pairs(times.into_iter().map(|(percent, Amount(time))| (percent, time)).collect()))
}

/// Percentiles over the transfers that ended: value number ⌊count·p/100⌋ of the ascending values, from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Percentiles {
    /// From ready to end, seconds, by per cent.
    #[serde(deserialize_with = "times")]
    pub completion_s: ByPercent,
    /// From ready to end, over the time of the same transfer alone, by per cent.
    pub slowdown: ByPercent,
}

impl Percentiles {
    /// The percentiles of a run; `None` for fewer than [`LARGE`] transfers, and after an interrupt, whose user does not
    /// want to wait for the values to be sorted.
    #[must_use]
    pub fn of(run: &Run<'_>) -> Option<Self> {
        wanted(run).then(|| Self { completion_s: completion(run), slowdown: slowdown(run) })
    }
}

/// Whether a run gets percentiles.
pub(crate) fn wanted(run: &Run<'_>) -> bool {
    run.outcome.stop != Stop::Cancelled && run.transfers().nth(LARGE - 1).is_some()
}

/// Completion times alone: no arbiter is asked.
pub(crate) fn completion(run: &Run<'_>) -> ByPercent {
    let times = &run.outcome.tasks;
    let ended = run.transfers().map(|t| times[t.index()]).filter(|t| !t.end.is_never());
    let mut took: Vec<SimDuration> = ended.map(|t| t.end - t.ready).collect();
    took.sort_unstable();
    picked(&took, |took| took.seconds())
}

fn slowdown(run: &Run<'_>) -> ByPercent {
    let mut all: Vec<f64> = run.transfers().filter_map(|task| crate::run::slowdown(run, task)).collect();
    all.sort_unstable_by_key(|&value| OrderedFloat(value));
    picked(&all, |value| value)
}

/// Of ascending values.
fn picked<V: Copy>(values: &[V], value: impl Fn(V) -> f64) -> ByPercent {
    let pick = |p: usize| Some((p, value(*values.get(values.len() * p / 100)?)));
    Pairs(PER_CENT.iter().filter_map(|&p| pick(p)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_by_rank_and_is_empty_without_values() {
        let values: Vec<f64> = (0..200).map(f64::from).collect();
        let expected = [(1, 2.0), (5, 10.0), (25, 50.0), (50, 100.0), (75, 150.0), (95, 190.0), (99, 198.0)];
        assert_eq!(picked(&values, |value| value).0, expected);
        assert_eq!(picked(&[], |value: f64| value).0, []);
        assert_eq!(
            serde_json::to_string(&picked(&[3.0], |value| value)).expect("writes"),
            r#"{"1":3.0,"5":3.0,"25":3.0,"50":3.0,"75":3.0,"95":3.0,"99":3.0}"#
        );
    }
}
