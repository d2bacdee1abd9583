//! Makespans on their way from walks into one distribution.

use crate::distribution::{Distribution, merged};
use crate::order::run::best::{Best, better};

/// Unsorted makespans kept before they are merged into the sorted ones; *assumed*: half a MiB, which stays in the cache.
const LOOSE: usize = 1 << 16;

/// Sorted makespans of pieces of work on their way into one distribution. Those of about equal size are merged, as in merge
/// sort: n makespans take n · log n steps, however small the pieces.
#[derive(Default)]
pub(crate) struct Runs(Vec<Vec<(u64, u64)>>);

impl Runs {
    pub(crate) fn add(&mut self, distribution: Distribution) {
        let mut run = distribution.into_pairs();
        while let Some(last) = self.0.pop_if(|last| last.len() < 2 * run.len()) {
            run = merged(&last, &run);
        }
        if !run.is_empty() {
            self.0.push(run);
        }
    }

    pub(crate) fn merged(self) -> Distribution {
        // The shortest first.
        let pairs = self.0.into_iter().rev().reduce(|all, run| merged(&run, &all));
        Distribution::new(pairs.unwrap_or_default())
    }
}

/// Collects makespans of one walk.
pub(crate) struct Counter<'p> {
    pub(crate) best: Option<Best>,
    /// The least number among an order and its images under some symmetries.
    lowest: &'p (dyn Fn(u128, u128) -> u128 + Sync),
    loose: Vec<(u64, u64)>,
    sorted: Vec<(u64, u64)>,
}

impl<'p> Counter<'p> {
    pub(crate) fn new(lowest: &'p (dyn Fn(u128, u128) -> u128 + Sync)) -> Self {
        Self { best: None, lowest, loose: Vec::new(), sorted: Vec::new() }
    }

    fn sort(&mut self) {
        self.loose.sort_unstable_by_key(|p| p.0);
        let sorted = std::mem::take(&mut self.sorted);
        self.sorted = merged(&sorted, &self.loose);
        self.loose.clear();
    }

    pub(crate) fn finish(mut self) -> Distribution {
        self.sort();
        Distribution::new(self.sorted)
    }

    /// The order of this number, and its images under some symmetries (a bit each), take `makespan` ps.
    #[inline]
    pub(crate) fn add(&mut self, makespan: u64, number: u128, images: u128) {
        if self.loose.len() >= LOOSE.max(self.sorted.len()) {
            self.sort();
        }
        self.loose.push((makespan, u64::from(images.count_ones())));
        if self.best.is_none_or(|best| makespan <= best.makespan) {
            let number = if images > 1 { (self.lowest)(number, images) } else { number };
            self.best = better(self.best, Some(Best { makespan, number }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of orders that take equally long the one with the least number is the best, whichever comes first.
    #[test]
    fn of_equal_orders_the_first_is_the_best() {
        let lowest = |number: u128, _: u128| number;
        for numbers in [[3, 5, 4], [5, 3, 4], [4, 5, 3]] {
            let mut counter = Counter::new(&lowest);
            counter.add(20, 1, 1);
            numbers.iter().for_each(|&number| counter.add(10, number, 1));
            counter.add(30, 0, 1);
            assert_eq!(counter.best, Some(Best { makespan: 10, number: 3 }));
        }
    }
}
