//! Pending events of packets.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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

/// Events by time, then kind, then number: one number each, which is fast to compare.
#[derive(Debug, Default)]
pub(super) struct Events(BinaryHeap<Reverse<u128>>);

fn key(time: u64, event: Event) -> u128 {
    u128::from(time) << 64 | u128::from(event.word())
}

fn event(Reverse(key): Reverse<u128>) -> (u64, Event) {
    ((key >> 64) as u64, Event::of_word(key as u64))
}

impl Events {
    #[inline]
    pub(super) fn push(&mut self, time: u64, event: Event) {
        self.0.push(Reverse(key(time, event)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// When the next is due; [`u64::MAX`] for none.
    pub(super) fn next_time(&self) -> u64 {
        self.0.peek().map_or(u64::MAX, |Reverse(key)| (key >> 64) as u64)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, Event)> {
        self.0.iter().copied().map(event)
    }

    pub(super) fn into_iter(self) -> impl Iterator<Item = (u64, Event)> {
        self.0.into_iter().map(event)
    }

    pub(super) fn pop_due(&mut self, now: u64) -> Option<Event> {
        if self.next_time() > now {
            return None;
        }
        self.0.pop().map(|key| event(key).1)
    }
}

impl FromIterator<(u64, Event)> for Events {
    fn from_iter<I: IntoIterator<Item = (u64, Event)>>(events: I) -> Self {
        Self(events.into_iter().map(|(time, event)| Reverse(key(time, event))).collect())
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
            Event::Visible(queue) => self.ask_from_queue(now, queue),
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
            let node = self.ports[self.transfer(id).first as usize].wire.from;
            self.hold(since, now, id, cause);
            self.source_ready(now, node, id);
        }
    }
}
