//! What a search found, as data: shards written to files merge into the whole.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use super::axis::Axis;
use super::error::{MergeError, ParameterError};
use super::grid::Grid;
use super::search::{Ran, Search};
use super::shard::Shard;
use crate::problem::Objective;

/// Version of the format of parts.
const FORMAT: u32 = 2;

/// The makespans of one shard of a grid, finished or not. Equal searches give equal bytes, on any number of threads and
/// however often they were interrupted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    weir_parameter_part: u32,
    version: String,
    input: String,
    axes: Vec<Axis>,
    shard: u64,
    shards: u64,
    objective: Objective,
    /// The baseline; none where it stops before its end.
    baseline: Option<Ran>,
    /// ps, by position in the shard; null where the search was interrupted before, or that candidate stops.
    pub(super) makespans: Vec<Option<NonZeroU64>>,
    /// By another objective than the makespan: its values, likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) values: Vec<Option<f64>>,
    /// Of positions that stop before their end: why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) stopped: BTreeMap<u64, String>,
}

impl Part {
    /// Nothing of a search's shard is known yet.
    pub(super) fn unknown(search: &Search<'_>) -> Self {
        let Search { grid, input, shard, objective, baseline, .. } = *search;
        let size = shard.size(grid.candidates()) as usize;
        Self {
            weir_parameter_part: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            input: input.to_owned(),
            axes: grid.axes().to_vec(),
            shard: shard.index(),
            shards: shard.count(),
            objective,
            baseline,
            makespans: vec![None; size],
            values: if objective == Objective::Makespan { Vec::new() } else { vec![None; size] },
            stopped: BTreeMap::new(),
        }
    }

    /// Keeps what a position comes to; `None` where there is no such position, or the value is missing or too much.
    pub(super) fn keep(&mut self, position: u64, ran: Ran) -> Option<()> {
        let position = usize::try_from(position).ok()?;
        if ran.value.is_some() == self.values.is_empty() {
            return None;
        }
        *self.makespans.get_mut(position)? = Some(ran.makespan);
        if ran.value.is_some() {
            *self.values.get_mut(position)? = ran.value;
        }
        Some(())
    }

    /// By what candidates are compared.
    pub(super) fn objective(&self) -> Objective {
        self.objective
    }

    /// The least value of all that is known; infinite where nothing is.
    pub(super) fn least(&self) -> f64 {
        let makespans = self.makespans.iter().flatten().map(|makespan| makespan.get() as f64);
        let values = self.values.iter().flatten().copied();
        if self.values.is_empty() {
            makespans.fold(f64::INFINITY, f64::min)
        } else {
            values.fold(f64::INFINITY, f64::min)
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

    /// The baseline.
    pub(super) fn baseline(&self) -> Option<Ran> {
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
        if self.objective != other.objective {
            return Some("objective");
        }
        (self.baseline != other.baseline).then_some("makespan of the baseline")
    }

    /// The same without its makespans.
    pub(super) fn head(&self) -> Self {
        Self {
            version: self.version.clone(),
            input: self.input.clone(),
            axes: self.axes.clone(),
            makespans: Vec::new(),
            values: Vec::new(),
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

    /// Whether it has the values of its objective, and no others.
    fn has_its_values(&self) -> bool {
        let is_own = |value: Option<f64>| value.is_some_and(|value| value > 0.0 && value.is_finite());
        let fits = |value: Option<f64>, ran: bool| if ran { is_own(value) } else { value.is_none() };
        if self.objective == Objective::Makespan {
            return self.values.is_empty() && self.baseline.is_none_or(|ran| ran.value.is_none());
        }
        self.values.len() == self.makespans.len()
            && self.values.iter().zip(&self.makespans).all(|(&value, makespan)| fits(value, makespan.is_some()))
            && self.baseline.is_none_or(|ran| is_own(ran.value))
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
            true if !self.has_its_values() => Err(self.changed("its values are not those of its candidates")),
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
    let (all, mut stopped) = (grid.candidates() as usize, BTreeMap::new());
    let (mut makespans, mut values) = (vec![None; all], vec![None; if first.values.is_empty() { 0 } else { all }]);
    for part in shards.into_values() {
        let (_, shard) = part.checked()?;
        stopped.extend(part.stopped.iter().map(|(&at, reason)| (shard.candidate(at), reason.clone())));
        for (position, makespan) in (0..).zip(&part.makespans) {
            makespans[shard.candidate(position) as usize] = *makespan;
        }
        for (position, value) in (0..).zip(&part.values) {
            values[shard.candidate(position) as usize] = *value;
        }
    }
    Ok(Part { shard: 1, shards: 1, makespans, values, stopped, ..first.head() })
}
