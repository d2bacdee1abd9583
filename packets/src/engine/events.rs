//! Pending events of packets.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{Engine, HeldCause, REQUESTS};

/// What happens, at most once each at an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Event {
    /// A transfer's next packet is ready.
    Ready(u32),
    /// The head of a queue can be sent on.
    Visible(u32),
    /// A packet of a transfer with a window has come.
    Come(u32),
    /// An output looks at who asks.
    Wake(u32),
    /// The last byte of a transfer has left its source.
    Sent(u32),
    /// The last byte of a transfer is at its destination.
    Ended(u32),
}

/// Rows at most; what fits in none goes to a heap (*assumed*: packets of few sizes over few kinds of links have few different
/// delays).
const ROWS: usize = 8;

/// Events by time, then kind, then number.
///
/// Events with the same delay are due in the order in which they are added. So each is appended to the first row whose times stay
/// in order with it. The events of the current instant are sorted.
#[derive(Debug)]
pub(super) struct Events {
    rows: [Row; ROWS],
    /// How many rows from the first on may have events; those behind them have none.
    used: usize,
    rest: BinaryHeap<Reverse<(u64, u64)>>,
    /// The first time of all of these; [`u64::MAX`] for none.
    next: u64,
    /// The events of the current instant by kind and number, descending; and its time.
    due: Vec<u64>,
    due_time: u64,
}

/// Times, ascending, each with the kind and number of an event.
#[derive(Debug, Default)]
struct Row {
    last: u64,
    events: VecDeque<(u64, u64)>,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            rows: Default::default(),
            used: 0,
            rest: BinaryHeap::new(),
            next: u64::MAX,
            due: Vec::new(),
            due_time: 0,
        }
    }
}

impl Events {
    #[inline]
    pub(super) fn push(&mut self, time: u64, event: Event) {
        let word = event.word();
        if time <= self.due_time && !self.due.is_empty() {
            return self.add_due(time, word);
        }
        self.next = self.next.min(time);
        match self.rows.iter_mut().enumerate().find(|(_, row)| row.last <= time) {
            Some((at, row)) => {
                row.last = time;
                row.events.push_back((time, word));
                self.used = self.used.max(at + 1);
            }
            None => self.rest.push(Reverse((time, word))),
        }
    }

    /// Adds an event to the current instant, or to one before it.
    #[cold]
    fn add_due(&mut self, time: u64, word: u64) {
        if time < self.due_time {
            let of = self.due_time;
            self.rest.extend(self.due.drain(..).map(|word| Reverse((of, word))));
            self.rest.push(Reverse((time, word)));
            self.next = time;
            return;
        }
        let at = self.due.partition_point(|&other| other > word);
        self.due.insert(at, word);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next_time() == u64::MAX && self.iter().next().is_none()
    }

    /// When the next is due; [`u64::MAX`] for none.
    #[inline]
    pub(super) fn next_time(&self) -> u64 {
        if self.due.is_empty() { self.next } else { self.due_time }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, Event)> {
        let waiting =
            self.rows.iter().flat_map(|row| &row.events).copied().chain(self.rest.iter().map(|event| event.0));
        let all = waiting.chain(self.due.iter().map(|&word| (self.due_time, word)));
        all.map(|(time, word)| (time, Event::of_word(word)))
    }

    #[inline]
    pub(super) fn pop_due(&mut self, now: u64) -> Option<Event> {
        if self.due.is_empty() {
            if self.next > now {
                return None;
            }
            self.gather();
        } else if self.due_time > now {
            return None;
        }
        self.due.pop().map(Event::of_word)
    }

    /// Takes out the events of the next instant.
    fn gather(&mut self) {
        let time = self.next;
        (self.due_time, self.next) = (time, u64::MAX);
        let mut used = 0;
        for (at, row) in self.rows[..self.used].iter_mut().enumerate() {
            while let Some(&(next, word)) = row.events.front() {
                if next > time {
                    self.next = self.next.min(next);
                    break;
                }
                self.due.push(word);
                row.events.pop_front();
            }
            if row.events.is_empty() {
                row.last = 0;
            } else {
                used = at + 1;
            }
        }
        self.used = used;
        while let Some(&Reverse((next, word))) = self.rest.peek() {
            if next > time {
                self.next = self.next.min(next);
                break;
            }
            self.due.push(word);
            self.rest.pop();
        }
        self.due.sort_unstable_by(|a, b| b.cmp(a));
    }
}

impl FromIterator<(u64, Event)> for Events {
    fn from_iter<I: IntoIterator<Item = (u64, Event)>>(events: I) -> Self {
        let mut all: Vec<(u64, Event)> = events.into_iter().collect();
        all.sort_unstable();
        let mut made = Self::default();
        all.into_iter().for_each(|(time, event)| made.push(time, event));
        made
    }
}

impl Event {
    /// Kind and number.
    pub(super) fn word(self) -> u64 {
        let (kind, number) = match self {
            Self::Ready(number) => (0, number),
            Self::Visible(number) => (1, number),
            Self::Come(number) => (2, number),
            Self::Wake(number) => (3, number),
            Self::Sent(number) => (4, number),
            Self::Ended(number) => (5, number),
        };
        kind << 32 | u64::from(number)
    }

    fn of_word(word: u64) -> Self {
        let number = word as u32;
        match word >> 32 {
            0 => Self::Ready(number),
            1 => Self::Visible(number),
            2 => Self::Come(number),
            3 => Self::Wake(number),
            4 => Self::Sent(number),
            _ => Self::Ended(number),
        }
    }
}

impl Engine {
    pub(super) fn happen(&mut self, now: u64, event: Event) {
        match event {
            Event::Ready(id) => self.ask_from_source(now, id),
            Event::Visible(queue) => self.ask_from_queue(now, (queue, self.queues[queue as usize].first)),
            Event::Come(id) => self.come(now, id),
            // One that was put off, or brought forward, has happened already.
            Event::Wake(out) => {
                let port = &mut self.ports[out as usize];
                if port.wake_at <= now {
                    port.wake_at = u64::MAX;
                    self.mark(out);
                }
            }
            Event::Sent(_) | Event::Ended(_) => {}
        }
    }

    /// A packet of a transfer with a window is at its destination, or a request at its source, or is answered.
    fn come(&mut self, now: u64, id: u32) {
        if id >= REQUESTS {
            return self.request_came(now, id & !REQUESTS);
        }
        let is_read = self.transfer(id).read.is_some();
        let (id, cause) = if is_read { (id | REQUESTS, HeldCause::Tags) } else { (id, HeldCause::Window) };
        let transfer = self.transfer_mut(id);
        transfer.come += 1;
        if let Some(since) = transfer.shut.take() {
            transfer.opened = now;
            let (first, ready) = (transfer.first, transfer.ready);
            self.hold(since, now, id, cause);
            self.source_ready(now, ready, self.ports[first as usize].wire.from, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn event(kind: u8, number: u32) -> Event {
        let made = [Event::Ready, Event::Visible, Event::Come, Event::Wake, Event::Sent, Event::Ended];
        made[usize::from(kind) % made.len()](number)
    }

    proptest! {
        /// As a sorted set: few and many different delays, events of the current instant, and of ones before it.
        #[test]
        fn they_come_by_time_kind_and_number(
            steps in prop::collection::vec((0_u64..2000, 0_u8..6, 0_u32..8, 0_u8..4), 1..300),
            delays in 1_u64..2000,
        ) {
            let (mut own, mut set, mut now) = (Events::default(), BTreeSet::new(), 0_u64);
            for (delay, kind, number, what) in steps {
                let time = if what == 0 { now.saturating_sub(delay % 3) } else { now + delay % delays };
                let event = event(kind, number);
                if set.insert((time, event)) {
                    own.push(time, event);
                }
                prop_assert_eq!(own.next_time(), set.first().map_or(u64::MAX, |first| first.0));
                prop_assert_eq!(own.iter().collect::<BTreeSet<_>>(), set.clone());
                if what > 1 {
                    let first = set.first().copied();
                    now = now.max(first.map_or(now, |first| first.0));
                    let expected = first.filter(|first| first.0 <= now);
                    prop_assert_eq!(own.pop_due(now), expected.map(|first| first.1));
                    expected.map(|first| set.remove(&first));
                }
                prop_assert_eq!(own.is_empty(), set.is_empty());
            }
            let again: Events = own.iter().collect();
            prop_assert_eq!(again.iter().collect::<BTreeSet<_>>(), set);
        }
    }
}
