//! The searches of a sweep by point, and their totals.

use crate::parameters::Grid;
use crate::search::SearchResult;

/// The searches of a grid.
#[derive(Clone, PartialEq, Debug)]
pub struct Sweep<S> {
    pub(super) grid: Grid,
    /// By distinct point; none where the sweep was ended before.
    pub(super) searches: Vec<Option<SearchResult<S>>>,
    /// Per point its search.
    pub(super) of: Vec<u32>,
}

/// The sums over the first axis, for one combination of values of the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Total {
    /// The combination: its number in the grid of the other axes, and that of its first point.
    pub combination: u64,
    /// Points of which the search has ended; sums are over these.
    pub finished: u64,
    /// Makespans of the baseline, ps.
    pub baseline: u128,
    /// Makespans of the best found, ps.
    pub best: u128,
    /// Whether all points are finished.
    pub complete: bool,
    /// Whether each best that is counted is proved to be so.
    pub proved: bool,
}

impl Total {
    /// What the best gain in total.
    #[must_use]
    pub fn gain(&self) -> f64 {
        gain(self.baseline as f64, self.best as f64)
    }
}

/// How much longer the baseline takes than the best: baseline / best − 1. Martinasso et al., SC16, section VIII,
/// report their gains as this ratio.
#[must_use]
pub fn gain(baseline: f64, best: f64) -> f64 {
    baseline / best - 1.0
}

impl<S> Sweep<S> {
    /// The axes whose values the points combine.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Number of combinations of the axes but the first: points that follow each other differ in these.
    #[must_use]
    pub fn combinations(&self) -> u64 {
        self.grid.axes().iter().skip(1).map(|axis| axis.values.len() as u64).product()
    }

    /// The search of a point; none where the sweep was ended before.
    #[must_use]
    pub fn point(&self, point: u64) -> Option<&SearchResult<S>> {
        let search = *self.of.get(usize::try_from(point).ok()?)?;
        self.searches[search as usize].as_ref()
    }

    /// The searches that have ended, by number of point.
    pub fn points(&self) -> impl Iterator<Item = (u64, &SearchResult<S>)> {
        (0..self.grid.candidates()).filter_map(|point| Some((point, self.point(point)?)))
    }

    /// Number of searches that have ended.
    #[must_use]
    pub fn finished(&self) -> usize {
        self.searches.iter().flatten().count()
    }

    /// Number of searches that there are to do.
    #[must_use]
    pub fn distinct(&self) -> usize {
        self.searches.len()
    }

    /// Whether all searches have ended.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.searches.iter().all(Option::is_some)
    }

    /// Whether the best of every point is known and proved.
    #[must_use]
    pub fn proved(&self) -> bool {
        self.searches.iter().all(|search| search.as_ref().is_some_and(|search| search.proved_optimal))
    }

    /// The total of a combination of the axes but the first.
    #[must_use]
    pub fn total(&self, combination: u64) -> Total {
        let empty = Total { combination, finished: 0, baseline: 0, best: 0, complete: true, proved: true };
        let points = (combination..self.grid.candidates()).step_by(self.combinations().max(1) as usize);
        points.fold(empty, |total, point| match self.point(point) {
            Some(search) => Total {
                finished: total.finished + 1,
                baseline: total.baseline + search.baseline as u128,
                best: total.best + search.best as u128,
                proved: total.proved && search.proved_optimal,
                ..total
            },
            None => Total { complete: false, ..total },
        })
    }

    /// The totals of all combinations.
    pub fn totals(&self) -> impl Iterator<Item = Total> {
        (0..self.combinations()).map(|combination| self.total(combination))
    }
}
