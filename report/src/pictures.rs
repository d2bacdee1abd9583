//! What pictures of a search need beside its result: all makespans in fewer numbers, and the tree of a placement.

use schemars::JsonSchema;
use weir_scenario::Scenario;

use serde::{Deserialize, Serialize};
use weir_optimize::Distribution;
use weir_plugin_api::PS_PER_S;

use crate::SearchReport;
use crate::schemas::{Amount, Whole};

/// Points of the curve of all makespans (*assumed*: a screen shows no more).
const POINTS: u128 = 1000;
/// Bins of the histogram (*assumed*).
const BINS: usize = 60;

/// Where the ranks of a scenario are before a search for better places.
pub struct Ranks<'a> {
    /// The scenario, for its topology.
    pub scenario: &'a Scenario,
    /// The device of each rank.
    pub devices: Vec<&'a str>,
}

/// Makespans in bins of equal width.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Histogram {
    pub(crate) from_s: Amount,
    pub(crate) to_s: Amount,
    #[schemars(with = "Vec<Whole>")]
    pub(crate) counts: Vec<u128>,
}

impl SearchReport {
    /// The makespans of all candidates, where they are known.
    pub(crate) fn all(&self) -> Option<Distribution> {
        self.distribution.clone().filter(|_| self.result.complete)
    }
}

/// All makespans ascending; of n > 1000 those at ⌊i·(n−1)/999⌋.
pub(crate) fn curve(distribution: &Distribution) -> Vec<Amount> {
    let (last, points) = (distribution.count() - 1, distribution.count().min(POINTS));
    // By parts, as the product may be more than 128 bits.
    let position = |i: u128| match points - 1 {
        0 => 0,
        steps => last / steps * i + last % steps * i / steps,
    };
    let (mut pairs, mut before) = (distribution.pairs().iter().copied(), 0);
    let mut makespan = 0;
    (0..points)
        .map(|i| {
            while before <= position(i) {
                let Some((next, weight)) = pairs.next() else { break };
                before += u128::from(weight);
                makespan = next;
            }
            Amount(seconds(makespan))
        })
        .collect()
}

pub(crate) fn histogram(distribution: &Distribution) -> Histogram {
    let (first, last) = (distribution.at(0).unwrap_or_default(), distribution.worst().unwrap_or_default());
    // The last bin ends behind the worst.
    Histogram { from_s: Amount(seconds(first)), to_s: Amount(seconds(last + 1)), counts: distribution.histogram(BINS) }
}

fn seconds(ps: u64) -> f64 {
    ps as f64 / PS_PER_S as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_makespans_are_all_there() {
        let distribution: Distribution = [3, 1, 2, 2].into_iter().map(|s| s * PS_PER_S).collect();
        assert_eq!(curve(&distribution), [1.0, 2.0, 2.0, 3.0].map(Amount));
        assert_eq!(curve(&[5 * PS_PER_S].into_iter().collect()), [Amount(5.0)]);
        let histogram = histogram(&distribution);
        assert_eq!((histogram.from_s.0, histogram.counts.iter().sum::<u128>()), (1.0, 4));
        assert_eq!((histogram.counts[0], histogram.counts[29], histogram.counts[59]), (1, 2, 1));
        assert!(histogram.to_s.0 > 3.0);
    }

    #[test]
    fn of_many_every_so_manieth_is_there() {
        let makespans: Vec<u64> = (0..2500).map(|i| i * i / 7).collect();
        let expected: Vec<Amount> = (0..1000).map(|i| Amount(seconds(makespans[i * 2499 / 999]))).collect();
        assert_eq!(curve(&makespans.iter().copied().collect()), expected);
    }
}
