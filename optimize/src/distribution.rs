//! All makespans with how often each occurs, and what follows from them.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::compact;

/// "Equal" for counting the best: the tolerance of published makespans.
pub(crate) const EQUAL: f64 = 1e-9;

/// Makespans in ps with weights, sorted and each once. As data it is a short text (see `compact.rs`).
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Distribution {
    pairs: Vec<(u64, u64)>,
    /// Sum of the weights.
    count: u128,
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&compact::write(&self.pairs))
    }
}

/// Refuses makespans that are not in order: a text may come from a file.
impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let pairs = compact::read(&String::deserialize(from)?);
        let changed = || D::Error::custom("the saved makespans are not as they were written; the file was changed");
        pairs.map(Self::new).ok_or_else(changed)
    }
}

impl Distribution {
    pub(crate) fn new(pairs: Vec<(u64, u64)>) -> Self {
        Self { count: pairs.iter().map(|p| u128::from(p.1)).sum(), pairs }
    }

    pub(crate) fn into_pairs(self) -> Vec<(u64, u64)> {
        self.pairs
    }

    /// The sorted (makespan, how many orders) pairs.
    #[must_use]
    pub fn pairs(&self) -> &[(u64, u64)] {
        &self.pairs
    }

    /// How many candidates have a makespan here.
    #[must_use]
    pub fn count(&self) -> u128 {
        self.count
    }

    /// Adds all orders of another distribution.
    pub fn merge(&mut self, other: Self) {
        let count = self.count + other.count;
        let pairs = match (self.pairs.is_empty(), other.pairs.is_empty()) {
            (true, _) => other.pairs,
            (false, true) => return,
            (false, false) => merged(&self.pairs, &other.pairs),
        };
        *self = Self { pairs, count };
    }

    /// The largest makespan, ps; none without candidates.
    #[must_use]
    pub fn worst(&self) -> Option<u64> {
        self.pairs.last().map(|p| p.0)
    }

    /// The makespan at a position among all, sorted.
    #[must_use]
    pub fn at(&self, position: u128) -> Option<u64> {
        let mut before = 0;
        let found = self.pairs.iter().find(|p| {
            before += u128::from(p.1);
            before > position
        });
        found.map(|p| p.0)
    }

    /// Mean of the middle two (of the middle one twice), ps.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        let count = self.count();
        let lower = self.at(count.checked_sub(1)? / 2)?;
        let upper = self.at(count / 2)?;
        Some((lower as f64 + upper as f64) / 2.0)
    }

    /// Exact sum divided by the count, ps.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let terms = self.pairs.iter().map(|p| u128::from(p.0) * u128::from(p.1));
        let sum = terms.fold(0, u128::saturating_add);
        let count = self.count();
        (count > 0).then(|| sum as f64 / count as f64)
    }

    /// sorted\[count · percent / 100\].
    #[must_use]
    pub fn percentile(&self, percent: u32) -> Option<u64> {
        let count = self.count();
        // By parts, as the product may be more than 128 bits.
        let position = count / 100 * u128::from(percent) + count % 100 * u128::from(percent) / 100;
        self.at(position)
    }

    /// Orders within 1e-9 of the best.
    #[must_use]
    pub fn best_count(&self) -> u128 {
        let Some(best) = self.pairs.first().map(|p| p.0 as f64) else { return 0 };
        self.pairs.iter().take_while(|p| p.0 as f64 <= best * (1.0 + EQUAL)).map(|p| u128::from(p.1)).sum()
    }

    /// How many orders lie in each of `bins` equal parts from the best to the worst.
    #[must_use]
    pub fn histogram(&self, bins: usize) -> Vec<u128> {
        let mut counts = vec![0; bins];
        let (Some(first), Some(last)) = (self.pairs.first(), self.pairs.last()) else { return counts };
        let span = u128::from(last.0 - first.0) + 1;
        for (makespan, weight) in &self.pairs {
            let at = u128::from(makespan - first.0) * bins as u128 / span;
            if let Some(count) = counts.get_mut(at as usize) {
                *count += u128::from(*weight);
            }
        }
        counts
    }
}

/// Makespans that each count once.
impl FromIterator<u64> for Distribution {
    fn from_iter<I: IntoIterator<Item = u64>>(makespans: I) -> Self {
        let mut loose: Vec<(u64, u64)> = makespans.into_iter().map(|makespan| (makespan, 1)).collect();
        loose.sort_unstable();
        Self::new(merged(&[], &loose))
    }
}

pub(crate) fn merged(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = if j == b.len() || (i < a.len() && a[i].0 <= b[j].0) {
            i += 1;
            a[i - 1]
        } else {
            j += 1;
            b[j - 1]
        };
        match all.last_mut() {
            Some((makespan, weight)) if *makespan == next.0 => *weight = weight.saturating_add(next.1),
            _ => all.push(next),
        }
    }
    all
}
