//! A 4-ary heap of small ids whose keys can change; the caller keeps the positions, one column per kind of id.
//!
//! Most classes have one transfer and most bundles one class, so the first item is stored in place.

use smallvec::SmallVec;

pub(crate) const OUT: u32 = u32::MAX;

/// Children of a node: shallow, and a level of them is one or two cache lines.
const ARITY: usize = 4;

/// An id with its key in two halves, since a whole one would be aligned to 16 bytes and take a third more.
#[derive(Clone, Copy, Debug)]
struct Item {
    high: u64,
    low: u64,
    id: u32,
}

impl Item {
    #[inline]
    fn new(key: i128, id: u32) -> Self {
        Self { high: (key >> 64) as u64, low: key as u64, id }
    }

    #[inline]
    fn key(&self) -> i128 {
        (u128::from(self.high) << 64 | u128::from(self.low)) as i128
    }
}

/// Where ids are in the heap that each is in; [`OUT`] for none.
pub(crate) trait Places {
    fn place(&self, id: u32) -> u32;
    fn place_mut(&mut self, id: u32) -> &mut u32;
}

impl Places for Vec<u32> {
    #[inline]
    fn place(&self, id: u32) -> u32 {
        self[id as usize]
    }

    #[inline]
    fn place_mut(&mut self, id: u32) -> &mut u32 {
        &mut self[id as usize]
    }
}

/// Ids with keys, the least first. Equal keys leave in an order that depends on nothing but the calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heap {
    items: SmallVec<[Item; 1]>,
}

impl Heap {
    /// The least key and its id.
    #[inline]
    pub(crate) fn first(&self) -> Option<(i128, u32)> {
        self.items.first().map(|item| (item.key(), item.id))
    }

    /// All ids, in no particular order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.items.iter().map(|item| item.id)
    }

    /// The key of an id that is in the heap.
    pub(crate) fn key(&self, id: u32, places: &impl Places) -> i128 {
        self.items[places.place(id) as usize].key()
    }

    /// Puts an id in, or changes its key.
    pub(crate) fn set(&mut self, key: i128, id: u32, places: &mut impl Places) {
        let place = places.place(id);
        if place == OUT {
            let place = self.items.len();
            self.items.push(Item::new(key, id));
            if place == 0 {
                *places.place_mut(id) = 0;
            } else {
                self.rise(place, places);
            }
        } else if let [only] = self.items.as_mut_slice() {
            *only = Item::new(key, id);
        } else {
            let place = place as usize;
            let before = std::mem::replace(&mut self.items[place], Item::new(key, id)).key();
            if key < before {
                self.rise(place, places);
            } else if key > before {
                self.sink(place, places);
            }
        }
    }

    /// Takes an id out, if it is in.
    pub(crate) fn remove(&mut self, id: u32, places: &mut impl Places) {
        let place = std::mem::replace(places.place_mut(id), OUT);
        if place == OUT {
            return;
        }
        let place = place as usize;
        let gone = self.items.swap_remove(place);
        if let Some(item) = self.items.get(place) {
            if item.key() < gone.key() {
                self.rise(place, places);
            } else {
                self.sink(place, places);
            }
        }
    }

    fn rise(&mut self, mut at: usize, places: &mut impl Places) {
        let items = self.items.as_mut_slice();
        let item = items[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if items[parent].key() <= item.key() {
                break;
            }
            put(items, at, items[parent], places);
            at = parent;
        }
        put(items, at, item, places);
    }

    fn sink(&mut self, mut at: usize, places: &mut impl Places) {
        let items = self.items.as_mut_slice();
        let item = items[at];
        loop {
            let first = at * ARITY + 1;
            let Some((&(mut least), others)) = items.get(first..).and_then(<[_]>::split_first) else { break };
            let mut next = first;
            for (beside, &child) in others.iter().take(ARITY - 1).enumerate() {
                if child.key() < least.key() {
                    (next, least) = (first + 1 + beside, child);
                }
            }
            if least.key() >= item.key() {
                break;
            }
            put(items, at, least, places);
            at = next;
        }
        put(items, at, item, places);
    }
}

#[inline]
fn put(items: &mut [Item], at: usize, item: Item, places: &mut impl Places) {
    *places.place_mut(item.id) = at as u32;
    items[at] = item;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Beside a sorted map, under any puts, changes and removals.
        #[test]
        fn it_is_a_sorted_map(steps in prop::collection::vec((0..24_u32, prop::option::of(0..50_i128)), 1..200)) {
            let (mut heap, mut places) = (Heap::default(), vec![OUT; 24]);
            let mut map = BTreeMap::new();
            for (id, key) in steps {
                match key {
                    Some(key) => {
                        heap.set(key, id, &mut places);
                        map.insert(id, key);
                        prop_assert_eq!(heap.key(id, &places), key);
                    }
                    None => {
                        heap.remove(id, &mut places);
                        map.remove(&id);
                    }
                }
                prop_assert_eq!(heap.first().map(|(k, _)| k), map.values().min().copied());
                let mut ids: Vec<u32> = heap.ids().collect();
                ids.sort_unstable();
                prop_assert_eq!(ids, map.keys().copied().collect::<Vec<_>>());
            }
        }
    }
}
