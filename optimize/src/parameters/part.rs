//! What a search found, as data: shards written to files merge into the whole.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use super::axis::Axis;
use super::error::{MergeError, ParameterError};
use super::grid::Grid;
use super::shard::Shard;

/// Version of the format of parts.
const FORMAT: u32 = 1;

/// The makespans of one shard of a grid, finished or not. Equal searches give equal bytes, on any number of threads and
/// however often they were interrupted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    weir_parameter_part: u32,
    version: String,
    input: String,
    axes: Vec<Axis>,
    shard: u64,
    shards: u64,
    /// Makespan of the scenario as it is, ps.
    baseline: Option<NonZeroU64>,
    /// ps, by position in the shard; null where the search was interrupted before, or that candidate stops.
    pub(super) makespans: Vec<Option<NonZeroU64>>,
    /// Of positions that stop before their end: why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) stopped: BTreeMap<u64, String>,
}

impl Part {
    pub(super) fn empty(grid: &Grid, input: &str, shard: Shard, baseline: Option<NonZeroU64>) -> Self {
        Self {
            weir_parameter_part: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            input: input.to_owned(),
            axes: grid.axes().to_vec(),
            shard: shard.index(),
            shards: shard.count(),
            baseline,
            makespans: Vec::new(),
            stopped: BTreeMap::new(),
        }
    }

    /// Whether all of the shard was evaluated.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.tried() == self.makespans.len()
    }

    /// Whether a position was evaluated.
    pub(super) fn knows(&self, position: u64) -> bool {
        self.makespans.get(position as usize).is_some_and(Option::is_some) || self.stopped.contains_key(&position)
    }

    /// How many were evaluated.
    pub(super) fn tried(&self) -> usize {
        self.makespans.iter().flatten().count() + self.stopped.len()
    }

    /// Whether it holds all candidates of the grid: shard 1 of 1.
    #[must_use]
    pub fn whole(&self) -> bool {
        (self.shard, self.shards) == (1, 1)
    }

    /// Makespan of the scenario as it is, ps.
    pub(super) fn baseline(&self) -> Option<NonZeroU64> {
        self.baseline
    }

    /// The version of weir that wrote it, where that is not this one. A newer format counts as another version.
    pub(super) fn foreign(&self) -> Option<String> {
        let same = self.version == env!("CARGO_PKG_VERSION") && self.weir_parameter_part == FORMAT;
        (!same).then(|| format!("{} (format {})", self.version, self.weir_parameter_part))
    }

    /// What differs between the searches of two parts, apart from the shard.
    pub(super) fn differs(&self, other: &Self) -> Option<&'static str> {
        if self.input != other.input {
            return Some("scenario");
        }
        if self.axes != other.axes {
            return Some("list of parameters");
        }
        if self.shards != other.shards {
            return Some("division into shards");
        }
        (self.baseline != other.baseline).then_some("makespan of the scenario as it is")
    }

    /// The same without its makespans.
    pub(super) fn head(&self) -> Self {
        Self {
            version: self.version.clone(),
            input: self.input.clone(),
            axes: self.axes.clone(),
            makespans: Vec::new(),
            stopped: BTreeMap::new(),
            ..*self
        }
    }

    fn name(&self) -> String {
        format!("{}/{}", self.shard, self.shards)
    }

    fn changed(&self, why: impl ToString) -> MergeError {
        MergeError::Changed { shard: self.name(), why: why.to_string() }
    }

    /// Grid and shard, with as many makespans as these have candidates.
    pub(super) fn checked(&self) -> Result<(Grid, Shard), MergeError> {
        if let Some(found) = self.foreign() {
            return Err(MergeError::Version { shard: self.name(), found });
        }
        let changed = |error: ParameterError| self.changed(error);
        let grid = Grid::new(self.axes.clone()).map_err(changed)?;
        let shard = Shard::new(self.shard, self.shards).map_err(changed)?;
        let (found, size) = (self.makespans.len(), shard.size(grid.candidates()));
        let only_once = |at: &u64| self.makespans.get(*at as usize).is_some_and(Option::is_none);
        match found as u64 == size {
            true if !self.stopped.keys().all(only_once) => Err(self.changed("it holds a candidate twice")),
            true => Ok((grid, shard)),
            false => Err(self.changed(format!("it holds {found} candidates instead of {size}"))),
        }
    }
}

/// The whole of all shards, in any order: the same bytes as of one search without shards.
///
/// # Errors
/// A shard that is missing, unfinished or there twice; parts of different searches or of another version.
pub fn merge(parts: &[Part]) -> Result<Part, MergeError> {
    let first = parts.first().ok_or(MergeError::Nothing)?;
    let mut shards = BTreeMap::new();
    for part in parts {
        if let Some(found) = part.foreign() {
            return Err(MergeError::Version { shard: part.name(), found });
        }
        if let Some(what) = part.differs(first) {
            return Err(MergeError::Other { shard: part.name(), what });
        }
        let missing = part.makespans.len().saturating_sub(part.tried());
        if missing > 0 {
            return Err(MergeError::Unfinished { shard: part.name(), missing });
        }
        if shards.insert(part.shard, part).is_some() {
            return Err(MergeError::Twice { shard: part.name() });
        }
    }
    if let Some(missing) = (1..=first.shards).find(|index| !shards.contains_key(index)) {
        return Err(MergeError::Missing { shard: format!("{missing}/{}", first.shards) });
    }
    let (grid, _) = first.checked()?;
    let (mut makespans, mut stopped) = (vec![None; grid.candidates() as usize], BTreeMap::new());
    for part in shards.into_values() {
        let (_, shard) = part.checked()?;
        stopped.extend(part.stopped.iter().map(|(&at, reason)| (shard.candidate(at), reason.clone())));
        for (position, makespan) in (0..).zip(&part.makespans) {
            makespans[shard.candidate(position) as usize] = *makespan;
        }
    }
    Ok(Part { shard: 1, shards: 1, makespans, stopped, ..first.head() })
}
