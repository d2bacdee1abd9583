//! A 4-ary heap of small ids whose keys can change; the caller keeps the positions, one column per kind of id.
//!
//! Most classes have one transfer and most bundles one class, so the first item is stored in place.

use smallvec::SmallVec;

/// Not in the heap.
pub(crate) const OUT: u32 = u32::MAX;

/// Children of a node: shallow, and a level of them is one or two cache lines.
const ARITY: usize = 4;

/// Ids with keys, the least first. Equal keys leave in an order that depends on nothing but the calls.
#[derive(Clone, Debug)]
pub(crate) struct Heap<K> {
    items: SmallVec<[(K, u32); 1]>,
}

impl<K> Default for Heap<K> {
    fn default() -> Self {
        Self { items: SmallVec::new() }
    }
}

impl<K: Copy + Ord> Heap<K> {
    /// The least key and its id.
    #[inline]
    pub(crate) fn first(&self) -> Option<(K, u32)> {
        self.items.first().copied()
    }

    /// All ids, in no particular order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.items.iter().map(|&(_, id)| id)
    }

    /// The key of an id that is in the heap.
    pub(crate) fn key(&self, id: u32, places: &[u32]) -> K {
        self.items[places[id as usize] as usize].0
    }

    /// Puts an id in, or changes its key.
    pub(crate) fn set(&mut self, key: K, id: u32, places: &mut [u32]) {
        let place = places[id as usize];
        if place == OUT {
            self.items.push((key, id));
            self.rise(self.items.len() - 1, places);
        } else {
            let place = place as usize;
            let before = std::mem::replace(&mut self.items[place].0, key);
            if key < before {
                self.rise(place, places);
            } else if key > before {
                self.sink(place, places);
            }
        }
    }

    /// Takes an id out, if it is in.
    pub(crate) fn remove(&mut self, id: u32, places: &mut [u32]) {
        let place = std::mem::replace(&mut places[id as usize], OUT);
        if place == OUT {
            return;
        }
        let place = place as usize;
        let (gone, _) = self.items.swap_remove(place);
        if let Some(&(key, _)) = self.items.get(place) {
            if key < gone {
                self.rise(place, places);
            } else {
                self.sink(place, places);
            }
        }
    }

    fn rise(&mut self, mut at: usize, places: &mut [u32]) {
        let items = self.items.as_mut_slice();
        let item = items[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if items[parent].0 <= item.0 {
                break;
            }
            put(items, at, items[parent], places);
            at = parent;
        }
        put(items, at, item, places);
    }

    fn sink(&mut self, mut at: usize, places: &mut [u32]) {
        let items = self.items.as_mut_slice();
        let item = items[at];
        loop {
            let first = at * ARITY + 1;
            let children = first..(first + ARITY).min(items.len());
            let Some(least) = children.min_by_key(|&c| items[c].0) else { break };
            if items[least].0 >= item.0 {
                break;
            }
            put(items, at, items[least], places);
            at = least;
        }
        put(items, at, item, places);
    }
}

#[inline]
fn put<K>(items: &mut [(K, u32)], at: usize, item: (K, u32), places: &mut [u32]) {
    places[item.1 as usize] = at as u32;
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
