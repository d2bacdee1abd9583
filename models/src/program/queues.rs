//! Events that wait for a server that is busy.
//!
//! All of a key find the server busy or free together, and are tried in the order of their numbers. So only the first of them
//! needs to be tried when the server may be free; the others follow one by one as it is served. An incast of n messages takes
//! n · log n steps that way, not n².

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Who is served by the same servers: rank, processor, interface, and whether for a send, a computation or a message.
pub(super) type Key = (u32, u32, u32, u8);

/// What waits, by key.
pub(super) struct Queues<E>(BTreeMap<Key, Queue<E>>);

struct Queue<E> {
    /// Numbers of the events that are due when the server may be free.
    due: BTreeSet<u64>,
    /// Those that follow, the lowest number first.
    others: BinaryHeap<Reverse<(u64, E)>>,
}

impl<E> Default for Queues<E> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<E: Ord> Queues<E> {
    /// An event found its server busy; returns it where it is to be tried again when that is free.
    pub(super) fn wait(&mut self, key: Key, number: u64, event: E) -> Option<E> {
        let queue = self.0.entry(key).or_insert_with(|| Queue { due: BTreeSet::new(), others: BinaryHeap::new() });
        queue.due.remove(&number);
        if queue.due.first().is_some_and(|&first| first < number) {
            queue.others.push(Reverse((number, event)));
            return None;
        }
        queue.due.insert(number);
        Some(event)
    }

    /// An event is served; returns the next one of its key, which is to be tried at once.
    pub(super) fn served(&mut self, key: Key, number: u64) -> Option<(u64, E)> {
        let queue = self.0.get_mut(&key)?;
        if !queue.due.remove(&number) {
            return None;
        }
        let next = queue.others.pop();
        if let Some(Reverse((number, _))) = &next {
            queue.due.insert(*number);
        } else if queue.due.is_empty() {
            self.0.remove(&key);
        }
        next.map(|Reverse(next)| next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Events with their times and numbers, on one server, each tried again at once whenever it is free: the plain way.
    fn plain(events: &[(u64, u64)], holds: &[u64]) -> Vec<(u64, usize)> {
        let mut due: BTreeSet<(u64, usize)> = events.iter().enumerate().map(|(i, event)| (event.0, i)).collect();
        let (mut free_at, mut served) = (0, Vec::new());
        while let Some((time, number)) = due.pop_first() {
            if free_at > time {
                due.insert((free_at, number));
            } else {
                served.push((time, number));
                free_at = time + holds[number];
            }
        }
        served
    }

    fn queued(events: &[(u64, u64)], holds: &[u64]) -> Vec<(u64, usize)> {
        let key = (0, 0, 0, 0);
        let mut due: BTreeSet<(u64, usize)> = events.iter().enumerate().map(|(i, event)| (event.0, i)).collect();
        let (mut queues, mut free_at, mut served) = (Queues::default(), 0, Vec::new());
        while let Some((time, number)) = due.pop_first() {
            if free_at > time {
                due.extend(queues.wait(key, number as u64, ()).map(|()| (free_at, number)));
                continue;
            }
            served.push((time, number));
            free_at = time + holds[number];
            due.extend(queues.served(key, number as u64).map(|(next, ())| (time, next as usize)));
        }
        served
    }

    proptest! {
        #[test]
        fn events_are_served_as_if_all_were_tried(events in prop::collection::vec((0..20_u64, 0..6_u64), 1..40)) {
            let holds: Vec<u64> = events.iter().map(|event| event.1).collect();
            prop_assert_eq!(queued(&events, &holds), plain(&events, &holds));
        }
    }
}
