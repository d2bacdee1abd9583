//! Transfers under way by their numbers, which several steps of each packet ask for.

use rustc_hash::FxHashMap;

use super::{NONE, REQUESTS};

/// Empty entries that may stand at the start of the row (*assumed*: to move it for fewer is not worth it).
const SPARE: usize = 1 << 10;

/// Transfers, or what is kept of each, by number.
///
/// Numbers rise as transfers begin. So where each one is stands in a row from about the lowest that is under way, which costs less
/// than a hash. Memory does not grow with those that have ended, but for 4 B for each since the oldest under way began.
#[derive(Debug)]
pub(super) struct ByNumber<T> {
    /// The number of the first entry of `places`.
    first: u32,
    /// How many entries from the first on are empty.
    passed: usize,
    /// Where a transfer is among all; [`NONE`] for nowhere.
    places: Vec<u32>,
    /// Where the requests of reads are among all.
    requests: FxHashMap<u32, u32>,
    all: Vec<T>,
    /// The number of each of all.
    ids: Vec<u32>,
}

impl<T> Default for ByNumber<T> {
    fn default() -> Self {
        let (places, requests) = (Vec::new(), FxHashMap::default());
        Self { first: 0, passed: 0, places, requests, all: Vec::new(), ids: Vec::new() }
    }
}

impl<T> ByNumber<T> {
    #[inline]
    fn place(&self, id: u32) -> Option<usize> {
        // Requests have numbers beyond the row.
        let place = self.places.get(id.wrapping_sub(self.first) as usize).or_else(|| self.requests.get(&id))?;
        Some(*place as usize)
    }

    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<&T> {
        self.all.get(self.place(id)?)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        let place = self.place(id)?;
        self.all.get_mut(place)
    }

    /// Adds one under a number that no other has.
    pub(super) fn insert(&mut self, id: u32, of: T) {
        self.put(id, self.all.len() as u32);
        self.all.push(of);
        self.ids.push(id);
    }

    /// Notes where the one of a number is now.
    fn put(&mut self, id: u32, place: u32) {
        if id >= REQUESTS {
            self.requests.insert(id, place);
            return;
        }
        if self.places.is_empty() {
            self.first = id;
        } else if id < self.first {
            self.begin_before(id);
        }
        let at = (id - self.first) as usize;
        self.places.resize(self.places.len().max(at + 1), NONE);
        self.places[at] = place;
        self.passed = self.passed.min(at);
    }

    /// Makes room for lower numbers: for as many as there are entries, so that falling numbers take few moves.
    fn begin_before(&mut self, id: u32) {
        let more = (self.first - id).max((self.places.len() as u32).min(self.first));
        self.places.splice(..0, std::iter::repeat_n(NONE, more as usize));
        self.first -= more;
        self.passed += more as usize;
    }

    pub(super) fn remove(&mut self, id: u32) {
        let Some(place) = self.place(id).filter(|&place| place < self.all.len()) else { return };
        if id >= REQUESTS {
            self.requests.remove(&id);
        } else {
            self.places[(id - self.first) as usize] = NONE;
        }
        self.all.swap_remove(place);
        self.ids.swap_remove(place);
        if let Some(&moved) = self.ids.get(place) {
            self.put(moved, place as u32);
        }
        while self.places.get(self.passed) == Some(&NONE) {
            self.passed += 1;
        }
        if self.passed >= SPARE && 2 * self.passed >= self.places.len() {
            self.places.drain(..self.passed);
            self.first += self.passed as u32;
            self.passed = 0;
        }
    }

    /// All of them, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.ids.iter().copied().zip(&self.all)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As a map, for rising and falling numbers and for those of requests.
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0_u32..6000, any::<bool>(), 0_u8..4), 1..400), rises: bool) {
            let (mut own, mut map) = (ByNumber::default(), BTreeMap::new());
            for (at, (number, is_request, what)) in (0_u32..).zip(steps) {
                let number = if rises { 16 * at + number % 64 } else { number };
                let id = if is_request { number | REQUESTS } else { number };
                if what == 0 {
                    own.remove(id);
                    map.remove(&id);
                } else if let std::collections::btree_map::Entry::Vacant(free) = map.entry(id) {
                    own.insert(id, at);
                    free.insert(at);
                }
                if let Some(value) = own.get_mut(id) {
                    *value += 1;
                    map.entry(id).and_modify(|value| *value += 1);
                }
                prop_assert_eq!(own.get(id), map.get(&id));
                let all: BTreeMap<u32, u32> = own.iter().map(|(id, &value)| (id, value)).collect();
                prop_assert_eq!(&all, &map);
                prop_assert!(map.iter().all(|(&id, value)| own.get(id) == Some(value)));
            }
        }
    }

    /// Of a million that come and go one after another, the row is as long as those that are left need.
    #[test]
    fn memory_does_not_grow_with_those_that_have_ended() {
        let mut own = ByNumber::default();
        for id in 0..1_000_000 {
            own.insert(id, ());
            if let Some(ended) = u32::checked_sub(id, 3) {
                own.remove(ended);
            }
        }
        assert!(own.places.capacity() <= 8 * SPARE, "{}", own.places.capacity());
        assert_eq!(own.iter().count(), 3);
    }

    /// Falling numbers move the row seldom: it is not moved once for each.
    #[test]
    fn falling_numbers_take_few_moves() {
        let mut own = ByNumber::default();
        let mut moves = 0;
        for id in (0..100_000).rev() {
            let first = own.first;
            own.insert(id, ());
            moves += u32::from(own.first != first);
        }
        assert!(moves < 40, "{moves}");
    }
}
