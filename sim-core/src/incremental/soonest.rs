//! Which of many small ids is due first.
//!
//! A tree of the least times of halves (a tournament; Knuth, *The Art of Computer Programming* 3, section 5.4.1). A change
//! passes from a leaf to the root and compares with one neighbour at each level, whose place is known beforehand: unlike in
//! a heap, where an entry goes does not depend on what is compared, so a processor does not guess wrong;
//! it goes to the root even where nothing changes any more.

pub(crate) const NEVER: u64 = u64::MAX;

/// Fewest ids that there is room for.
const FEWEST: usize = 16;

/// Ids with times; equal times in the order of ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Soonest {
    /// The root at 1, the halves of `i` at 2i and 2i + 1, then the times of ids from `size` on.
    nodes: Vec<u64>,
    /// Ids that there is room for, a power of two, or 0.
    size: usize,
}

impl Soonest {
    /// The least time; [`NEVER`] where there is none.
    #[inline]
    pub(crate) fn time(&self) -> u64 {
        self.nodes.get(1).copied().unwrap_or(NEVER)
    }

    /// The least time and its id.
    #[inline]
    pub(crate) fn first(&self) -> Option<(u64, u32)> {
        let time = self.time();
        if time == NEVER {
            return None;
        }
        let mut at = 1;
        while at < self.size {
            at = 2 * at + usize::from(self.nodes[2 * at] != time);
        }
        Some((time, (at - self.size) as u32))
    }

    /// Sets the time of an id; [`NEVER`] takes it out.
    pub(crate) fn set(&mut self, time: u64, id: u32) {
        let id = id as usize;
        if id >= self.size {
            self.grow(id);
        }
        let (mut at, mut least) = (self.size + id, time);
        if std::mem::replace(&mut self.nodes[at], time) == time {
            return;
        }
        while at > 1 {
            least = least.min(self.nodes[at ^ 1]);
            at /= 2;
            self.nodes[at] = least;
        }
    }

    /// All ids that are due, ascending.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        let times = self.nodes.get(self.size..).unwrap_or(&[]);
        times.iter().enumerate().filter(|&(_, &time)| time != NEVER).map(|(id, _)| id as u32)
    }

    #[cold]
    fn grow(&mut self, id: usize) {
        let size = (id + 1).next_power_of_two().max(FEWEST);
        let mut nodes = vec![NEVER; 2 * size];
        nodes[size..size + self.size].copy_from_slice(self.nodes.get(self.size..).unwrap_or(&[]));
        for at in (1..size).rev() {
            nodes[at] = nodes[2 * at].min(nodes[2 * at + 1]);
        }
        (self.nodes, self.size) = (nodes, size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Beside a sorted map, under any changes and removals.
        #[test]
        fn it_is_a_sorted_map(steps in prop::collection::vec((0..70_u32, prop::option::of(0..50_u64)), 1..300)) {
            let (mut soonest, mut map) = (Soonest::default(), BTreeMap::new());
            for (id, time) in steps {
                soonest.set(time.unwrap_or(NEVER), id);
                match time {
                    Some(time) => map.insert(id, time),
                    None => map.remove(&id),
                };
                let first = map.iter().map(|(&id, &time)| (time, id)).min();
                prop_assert_eq!((soonest.first(), soonest.time()), (first, first.map_or(NEVER, |(time, _)| time)));
                prop_assert_eq!(soonest.ids().collect::<Vec<_>>(), map.keys().copied().collect::<Vec<_>>());
            }
        }
    }
}
