//! The queue of the relaxation: links by the level at which they must be looked at.
//!
//! Most events queue a few links only; those are looked through, which a processor foresees better than the way through a
//! heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Level;

/// Entries that are looked through; more are in a heap (assumed).
const FEW: usize = 4;

/// Entries (level, link), the least first.
#[derive(Debug, Default)]
pub(super) struct Queue {
    few: Vec<u128>,
    rest: BinaryHeap<Reverse<u128>>,
}

impl Queue {
    #[inline]
    pub(super) fn push(&mut self, level: Level, link: u32) {
        let entry = u128::from(level) << 32 | u128::from(link);
        if self.few.len() < FEW {
            self.few.push(entry);
        } else {
            self.rest.push(Reverse(entry));
        }
    }

    /// Takes the least entry out.
    pub(super) fn pop(&mut self) -> Option<(Level, u32)> {
        let (mut place, mut least) = (0, *self.few.first()?);
        for (at, &entry) in self.few.iter().enumerate().skip(1) {
            (place, least) = if entry < least { (at, entry) } else { (place, least) };
        }
        match self.rest.peek() {
            Some(&Reverse(first)) if first < least => {
                least = first;
                self.rest.pop();
            }
            Some(_) => self.few[place] = self.rest.pop().map_or(least, |Reverse(first)| first),
            None => {
                self.few.swap_remove(place);
            }
        }
        Some(((least >> 32) as Level, least as u32))
    }

    pub(super) fn level(&self) -> Option<Level> {
        let rest = self.rest.peek().map(|&Reverse(entry)| entry);
        self.few.iter().copied().chain(rest).min().map(|entry| (entry >> 32) as Level)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.few.is_empty() && self.rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Beside a sorted list.
        #[test]
        fn it_is_a_sorted_list(steps in prop::collection::vec(prop::option::weighted(0.6, (0..30_u64, 0..30_u32)), 1..300)) {
            let (mut queue, mut list) = (Queue::default(), Vec::new());
            for step in steps {
                match step {
                    Some((level, link)) => {
                        queue.push(level, link);
                        list.push((level, link));
                        list.sort_unstable();
                    }
                    None => prop_assert_eq!(queue.pop(), (!list.is_empty()).then(|| list.remove(0))),
                }
                prop_assert_eq!((queue.level(), queue.is_empty()), (list.first().map(|first| first.0), list.is_empty()));
            }
        }
    }
}
