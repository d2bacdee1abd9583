//! All makespans with how often each occurs, and what follows from them.

use serde::{Deserialize, Serialize};

use super::tree::Sink;

/// "Equal" for counting the best: the tolerance of published makespans.
pub(crate) const EQUAL: f64 = 1e-9;
/// Unsorted makespans kept before they are merged into the sorted ones.
const LOOSE: usize = 1 << 16;

/// Makespans in ps with weights, sorted and each once.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Tally {
    pairs: Vec<(u64, u64)>,
}

impl Tally {
    /// The sorted (makespan, how many orders) pairs.
    #[must_use]
    pub fn pairs(&self) -> &[(u64, u64)] {
        &self.pairs
    }

    /// Whether it is what it should be: it may come from a file.
    pub(crate) fn valid(&self) -> bool {
        self.pairs.is_sorted_by(|a, b| a.0 < b.0) && self.pairs.iter().all(|p| p.1 > 0)
    }

    /// Number of orders.
    #[must_use]
    pub fn count(&self) -> u128 {
        self.pairs.iter().map(|p| u128::from(p.1)).sum()
    }

    /// Adds all orders of another tally.
    pub fn merge(&mut self, other: &Self) {
        if !other.pairs.is_empty() {
            let mine = std::mem::take(&mut self.pairs);
            self.pairs = merged(&mine, &other.pairs);
        }
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
impl FromIterator<u64> for Tally {
    fn from_iter<I: IntoIterator<Item = u64>>(makespans: I) -> Self {
        let mut loose: Vec<(u64, u64)> = makespans.into_iter().map(|makespan| (makespan, 1)).collect();
        loose.sort_unstable();
        Self { pairs: merged(&[], &loose) }
    }
}

fn merged(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut all = Vec::with_capacity(a.len() + b.len());
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
            Some((makespan, weight)) if *makespan == next.0 => *weight += next.1,
            _ => all.push(next),
        }
    }
    all.shrink_to_fit();
    all
}

/// The best order seen: least (makespan, number).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Best {
    /// Makespan, ps.
    pub makespan: u64,
    /// Number of the order.
    #[serde(with = "super::text")]
    pub number: u128,
}

/// The lesser of two, where there are two.
pub(crate) fn better(a: Option<Best>, b: Option<Best>) -> Option<Best> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Collects makespans of one walk.
pub(crate) struct Counter<'p> {
    pub(crate) best: Option<Best>,
    /// The least number among an order and its images under some symmetries.
    lowest: &'p dyn Fn(u128, u128) -> u128,
    loose: Vec<(u64, u64)>,
    sorted: Vec<(u64, u64)>,
}

impl<'p> Counter<'p> {
    pub(crate) fn new(lowest: &'p dyn Fn(u128, u128) -> u128) -> Self {
        Self { best: None, lowest, loose: Vec::new(), sorted: Vec::new() }
    }

    fn settle(&mut self) {
        self.loose.sort_unstable_by_key(|p| p.0);
        let sorted = std::mem::take(&mut self.sorted);
        self.sorted = merged(&sorted, &self.loose);
        self.loose.clear();
    }

    pub(crate) fn finish(mut self) -> (Tally, Option<Best>) {
        self.settle();
        (Tally { pairs: self.sorted }, self.best)
    }
}

impl Sink for Counter<'_> {
    #[inline]
    fn add(&mut self, makespan: u64, number: u128, images: u128) {
        if self.loose.len() >= LOOSE.max(self.sorted.len()) {
            self.settle();
        }
        self.loose.push((makespan, u64::from(images.count_ones())));
        if self.best.is_none_or(|best| makespan <= best.makespan) {
            let number = if images > 1 { (self.lowest)(number, images) } else { number };
            self.best = better(self.best, Some(Best { makespan, number }));
        }
    }
}
