//! What a search over parameters found.

use super::error::ParameterError;
use super::grid::Grid;
use super::part::Part;
use crate::distribution::Distribution;

/// The makespans of a grid, its best candidate and statistics over all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    grid: Grid,
    part: Part,
    distribution: Distribution,
    best: Option<(u64, u64)>,
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
        let known =
            || (0..).zip(&part.makespans).filter_map(|(number, makespan)| Some((makespan.as_ref()?.get(), number)));
        let (best, distribution) = (known().min(), known().map(|(makespan, _)| makespan).collect());
        Ok(Self { grid, best, distribution, part })
    }

    /// The axes that the candidates' numbers count through.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Whether all candidates were evaluated; if so the best is proven to be so.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.part.complete()
    }

    /// Number of candidates that were evaluated and have a makespan.
    #[must_use]
    pub fn evaluated(&self) -> u64 {
        self.makespans().filter(Option::is_some).count() as u64
    }

    /// Candidates that stop before their end, by number, and why.
    pub fn stopped(&self) -> impl ExactSizeIterator<Item = (u64, &str)> {
        self.part.stopped.iter().map(|(&number, reason)| (number, &**reason))
    }

    /// Makespan of the scenario as it is, ps, if it was given.
    #[must_use]
    pub fn baseline(&self) -> Option<u64> {
        self.part.baseline().map(u64::from)
    }

    /// Makespan by candidate, ps; none where the search was interrupted before, or the candidate stops.
    pub fn makespans(&self) -> impl Iterator<Item = Option<u64>> {
        self.part.makespans.iter().map(|makespan| makespan.map(u64::from))
    }

    /// Makespan in ps and number of the best candidate: the smallest makespan, among equals the lowest number.
    #[must_use]
    pub fn best(&self) -> Option<(u64, u64)> {
        self.best
    }

    /// Path and value of each axis for the best candidate, to be set in this order.
    #[must_use]
    pub fn solution(&self) -> Option<Vec<(&str, &str)>> {
        self.best.map(|(_, number)| self.grid.values(number))
    }

    /// All makespans, for median, mean, percentiles, the number of best ones and a histogram.
    #[must_use]
    pub fn distribution(&self) -> &Distribution {
        &self.distribution
    }

    /// The largest makespan, ps.
    #[must_use]
    pub fn worst(&self) -> Option<u64> {
        self.distribution.worst()
    }
}
