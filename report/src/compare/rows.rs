//! The rows of a comparison: times, ratios to the first column, and whether a difference is within the spread.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher as _};

use rustc_hash::FxHasher;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// A time of one column, in ps.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Timed {
    /// The time, where it ended.
    pub time: Option<u64>,
    /// The latest less the earliest end in further runs whose transfers start later, where there were some.
    pub spread: Option<u64>,
    /// What it is the time of; none of a makespan.
    pub(super) subject: Option<Subject>,
}

impl Timed {
    /// Whether two times differ by less than the larger of their spreads; `None` where a time or both spreads are missing.
    pub(super) fn within_spread(&self, other: &Self) -> Option<bool> {
        Some(self.time?.abs_diff(other.time?) < self.spread.max(other.spread)?)
    }
}

/// What tells whether two rows are of one thing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Subject {
    /// A digest of the names of source and target, or of the kind of an operation.
    names: u64,
    /// Of a transfer.
    bytes: Option<u64>,
}

impl Subject {
    pub(super) fn transfer(from: &str, to: &str, bytes: u64) -> Self {
        Self { names: digest((from, to)), bytes: Some(bytes) }
    }

    pub(super) fn operation(kind: &str) -> Self {
        Self { names: digest(kind), bytes: None }
    }

    /// A load keeps its ends where sizes change, and its sizes on another machine.
    pub(super) fn is_like(self, other: Self) -> bool {
        self.names == other.names || (self.bytes.is_some() && self.bytes == other.bytes)
    }
}

fn digest(names: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    names.hash(&mut hasher);
    hasher.finish()
}

/// One row of a comparison: an operation, a transfer, or the makespan.
#[derive(Clone, PartialEq, Debug)]
pub struct CompareRow {
    /// What each column says.
    pub times: Vec<Timed>,
}

impl CompareRow {
    /// Per column: the ratio to the first; `None` where either is missing or the first is 0.
    #[must_use]
    pub fn ratios(&self) -> Vec<Option<f64>> {
        let first = self.first().time.filter(|&t| t > 0);
        self.times.iter().map(|timed| Some(timed.time? as f64 / first? as f64)).collect()
    }

    /// Per column: whether it differs from the first by less than the larger spread of the two; `None` where a time or both
    /// spreads are missing.
    #[must_use]
    pub fn within_spread(&self) -> Vec<Option<bool>> {
        let first = self.first();
        self.times.iter().map(|timed| timed.within_spread(&first)).collect()
    }

    fn first(&self) -> Timed {
        self.times.first().copied().unwrap_or_default()
    }
}

/// Rows by id, in order of first appearance.
#[derive(Default)]
pub(super) struct RowsById {
    ids: Vec<String>,
    rows: Vec<CompareRow>,
    index: BTreeMap<String, usize>,
}

impl RowsById {
    /// Adds the times of column `at` of `count`.
    pub(super) fn add(&mut self, times: Vec<(String, Timed)>, at: usize, count: usize) {
        for (id, time) in times {
            let row = *self.index.entry(id).or_insert_with_key(|id| {
                self.ids.push(id.clone());
                self.rows.push(CompareRow { times: vec![Timed::default(); count] });
                self.rows.len() - 1
            });
            self.rows[row].times[at] = time;
        }
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &CompareRow)> {
        self.ids.iter().map(String::as_str).zip(&self.rows)
    }
}

/// A list for each row by id, such as its ratios.
pub(super) struct ById<'a, T>(pub(super) &'a RowsById, pub(super) fn(&CompareRow) -> Vec<T>);

impl<T: Serialize> Serialize for ById<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.ids.len()))?;
        for (id, row) in self.0.iter() {
            map.serialize_entry(id, &(self.1)(row))?;
        }
        map.end()
    }
}
