//! Events that wait for servers that are busy.
//!
//! All of a key find their server busy or free together, and are tried in the order of their numbers. So only the first of them
//! needs to be tried when the server may be free; the others follow one by one as it is served. An incast of n messages takes
//! n · log n steps that way, not n².
//!
//! An event may ask for several servers. Then the key of [`Queues`] is all that it asks for; and of the first ones of these keys
//! each waits at one server that is busy, in a second queue, so that of n keys with a server in common one is tried at a time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// What waits, by key.
struct Queues<K, E>(BTreeMap<K, Queue<E>>);

struct Queue<E> {
    /// Numbers of the events that are due when the server may be free.
    due: BTreeSet<u64>,
    /// Those that follow, the lowest number first.
    others: BinaryHeap<Reverse<(u64, E)>>,
}

impl<K: Ord, E: Ord> Queues<K, E> {
    /// An event found its server busy; returns it where it is to be tried again when that is free.
    fn wait(&mut self, key: K, number: u64, event: E) -> Option<E> {
        let queue = self.0.entry(key).or_insert_with(|| Queue { due: BTreeSet::new(), others: BinaryHeap::new() });
        queue.due.remove(&number);
        if queue.due.first().is_some_and(|&first| first < number) {
            queue.others.push(Reverse((number, event)));
            return None;
        }
        queue.due.insert(number);
        Some(event)
    }

    /// An event is served, or waits elsewhere; returns the next one of its key, which is to be tried at once.
    fn served(&mut self, key: K, number: u64) -> Option<(u64, E)> {
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

/// Events that wait for one of the servers that they ask for.
pub(super) struct Waiting<A, S, E> {
    /// By what they ask for.
    alike: Queues<A, E>,
    /// The first ones of these, by the server that each found busy.
    at: Queues<S, E>,
    /// That server, by their numbers.
    servers: BTreeMap<u64, S>,
}

impl<A, S, E> Default for Waiting<A, S, E> {
    fn default() -> Self {
        Self { alike: Queues(BTreeMap::new()), at: Queues(BTreeMap::new()), servers: BTreeMap::new() }
    }
}

impl<A: Ord, S: Ord + Copy, E: Ord> Waiting<A, S, E> {
    /// An event found a server busy, of all that it asks for the one that is free last; returns it where it is to be tried again
    /// when that is free, and the next one, to be tried at once, of the server at which it has waited before.
    pub(super) fn wait(&mut self, (asks, server): (A, S), number: u64, event: E) -> (Option<E>, Option<(u64, E)>) {
        let before = self.servers.remove(&number);
        let first = self.alike.wait(asks, number, event);
        let now = first.is_some().then_some(server);
        let next = before.filter(|_| before != now).and_then(|before| self.at.served(before, number));
        let again = first.and_then(|event| {
            self.servers.insert(number, server);
            self.at.wait(server, number, event)
        });
        (again, next)
    }

    /// An event is served; returns the next ones of its server and of those that ask for the same, which are to be tried at once.
    pub(super) fn served(&mut self, asks: A, number: u64) -> [Option<(u64, E)>; 2] {
        let before = self.servers.remove(&number);
        [before.and_then(|server| self.at.served(server, number)), self.alike.served(asks, number)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An event: its time, the processor and the interface that it asks for, and how long it holds each.
    type Event = (u64, [usize; 2], [u64; 2]);

    /// When processors (0) and interfaces (1) are free, by number.
    #[derive(Default)]
    struct Servers(BTreeMap<(usize, usize), u64>);

    impl Servers {
        fn free_at(&self, server: (usize, usize)) -> u64 {
            self.0.get(&server).copied().unwrap_or(0)
        }

        /// The one that is free last, and when.
        fn last(&self, (_, [cpu, nic], _): Event) -> ((usize, usize), u64) {
            let (of_cpu, of_nic) = (self.free_at((0, cpu)), self.free_at((1, nic)));
            if of_cpu >= of_nic { ((0, cpu), of_cpu) } else { ((1, nic), of_nic) }
        }

        fn hold(&mut self, time: u64, (_, [cpu, nic], holds): Event) {
            self.0.extend([((0, cpu), time + holds[0]), ((1, nic), time + holds[1])]);
        }
    }

    fn all(events: &[Event]) -> BTreeSet<(u64, usize)> {
        events.iter().enumerate().map(|(i, event)| (event.0, i)).collect()
    }

    /// Each is tried whenever its servers may be free: the plain way.
    fn plain(events: &[Event]) -> Vec<(u64, usize)> {
        let (mut due, mut servers, mut served) = (all(events), Servers::default(), Vec::new());
        while let Some((time, number)) = due.pop_first() {
            let (_, free_at) = servers.last(events[number]);
            if free_at > time {
                due.insert((free_at, number));
            } else {
                served.push((time, number));
                servers.hold(time, events[number]);
            }
        }
        served
    }

    /// What is served when, and how many events were tried.
    fn queued(events: &[Event]) -> (Vec<(u64, usize)>, usize) {
        let (mut due, mut servers, mut served, mut tried) = (all(events), Servers::default(), Vec::new(), 0);
        let mut waiting = Waiting::default();
        while let Some((time, number)) = due.pop_first() {
            tried += 1;
            let (asks, (server, free_at)) = (events[number].1, servers.last(events[number]));
            if free_at > time {
                let (again, next) = waiting.wait((asks, server), number as u64, ());
                due.extend(again.map(|()| (free_at, number)));
                due.extend(next.map(|(next, ())| (time, next as usize)));
                continue;
            }
            served.push((time, number));
            servers.hold(time, events[number]);
            let next = waiting.served(asks, number as u64).into_iter().flatten();
            due.extend(next.map(|(next, ())| (time, next as usize)));
        }
        (served, tried)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn events_are_served_as_if_all_were_tried(
            events in prop::collection::vec((0..20_u64, [0..2_usize, 0..2_usize], [0..6_u64, 0..6_u64]), 1..40)
        ) {
            prop_assert_eq!(queued(&events).0, plain(&events));
        }
    }

    /// 1000 events at once, each with a processor of its own and one interface for all, or the other way round: each is tried as
    /// it comes, when the one before it is served, and when the interface is free.
    #[test]
    fn events_with_one_server_in_common_are_tried_one_by_one() {
        for turn in [|i: usize| [i, 0], |i: usize| [0, i], |i: usize| [1000 - i, 0]] {
            let events: Vec<Event> = (0..1000).map(|i| (0, turn(i), [5, 10])).collect();
            assert!(queued(&events).1 <= 3 * events.len());
        }
    }
}
