//! What a search over parameters found.

use super::error::ParameterError;
use super::grid::Grid;
use super::part::Part;
use crate::distribution::Distribution;
use crate::problem::Objective;

/// What the candidates of a grid come to, the best of them and statistics over all.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    grid: Grid,
    part: Part,
    distribution: Option<Distribution>,
    best: Option<u64>,
}

/// A candidate that runs to its end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Known {
    pub(super) number: u64,
    /// ps.
    pub(super) makespan: u64,
    /// By the objective, the smaller the better.
    pub(super) value: f64,
}

impl Known {
    /// By value, among equals by number.
    pub(super) fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.value.total_cmp(&other.value).then(self.number.cmp(&other.number))
    }
}

impl Outcome {
    /// The outcome of a whole search, interrupted or not, or of merged parts.
    ///
    /// # Errors
    /// A part that is one of several shards, was written by another version or was changed.
    pub fn new(part: Part) -> Result<Self, ParameterError> {
        let (grid, shard) = part.checked()?;
        if !part.whole() {
            return Err(ParameterError::NotWhole { shard: shard.to_string() });
        }
        let objective = part.objective();
        let best = known(&part).min_by(Known::order).map(|known| known.number);
        let values = known(&part).map(|known| if part.values.is_empty() { known.makespan } else { known.value as u64 });
        let distribution = objective.is_time().then(|| values.collect());
        Ok(Self { grid, best, distribution, part })
    }

    /// The axes that the candidates' numbers count through.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// By what candidates are compared.
    #[must_use]
    pub fn objective(&self) -> Objective {
        self.part.objective()
    }

    /// Whether all candidates were evaluated; if so the best is proven to be so.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.part.complete()
    }

    /// Number of candidates that were evaluated and have a makespan.
    #[must_use]
    pub fn evaluated(&self) -> u64 {
        known(&self.part).count() as u64
    }

    /// Candidates that stop before their end, by number, and why.
    pub fn stopped(&self) -> impl ExactSizeIterator<Item = (u64, &str)> {
        self.part.stopped.iter().map(|(&number, reason)| (number, &**reason))
    }

    /// Makespan of the baseline, ps; none where it stops before its end.
    #[must_use]
    pub fn baseline(&self) -> Option<u64> {
        self.part.baseline().map(|ran| ran.makespan.get())
    }

    /// Value of the baseline by the objective, the smaller the better; none where it stops before its end.
    #[must_use]
    pub fn baseline_value(&self) -> Option<f64> {
        self.part.baseline().map(|ran| ran.value.unwrap_or(ran.makespan.get() as f64))
    }

    /// The candidates that run to their end, by number.
    pub(super) fn known(&self) -> impl Iterator<Item = Known> {
        known(&self.part)
    }

    /// Number of the best candidate: of those of the least value by the objective, the lowest.
    #[must_use]
    pub fn best(&self) -> Option<u64> {
        self.best
    }

    /// Makespan of a candidate, ps; none where the search was interrupted before, or it stops.
    #[must_use]
    pub fn makespan(&self, candidate: u64) -> Option<u64> {
        self.part.makespans.get(usize::try_from(candidate).ok()?)?.map(u64::from)
    }

    /// Value of a candidate by the objective, the smaller the better, where it has a makespan.
    #[must_use]
    pub fn value(&self, candidate: u64) -> Option<f64> {
        let makespan = self.makespan(candidate)?;
        let own = usize::try_from(candidate).ok().and_then(|at| *self.part.values.get(at)?);
        Some(own.unwrap_or(makespan as f64))
    }

    /// Path and value of each axis for the best candidate, to be set in this order.
    #[must_use]
    pub fn solution(&self) -> Option<Vec<(&str, &str)>> {
        self.best.map(|number| self.grid.values(number))
    }

    /// All values by the objective, where they are times: for median, mean, percentiles, the number of best ones and a histogram.
    #[must_use]
    pub fn distribution(&self) -> Option<&Distribution> {
        self.distribution.as_ref()
    }
}

fn known(part: &Part) -> impl Iterator<Item = Known> {
    let values = part.values.iter().copied().chain(std::iter::repeat(None));
    (0..).zip(part.makespans.iter().zip(values)).filter_map(|(number, (makespan, value))| {
        let makespan = (*makespan)?.get();
        Some(Known { number, makespan, value: value.unwrap_or(makespan as f64) })
    })
}
