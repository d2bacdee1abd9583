//! A queue of events that can be scheduled, moved and cancelled; first in, first out among equal keys.
//!
//! Events leave in the order (time, phase, entity, sequence): at one instant completions precede arrivals and timers,
//! lower ids precede higher ones, and what was scheduled first leaves first. Built on
//! `priority-queue` with a fast hasher; all operations are O(log n).

use std::cmp::Reverse;
use std::hash::Hash;

use priority_queue::PriorityQueue;
use rustc_hash::FxBuildHasher;
use weir_plugin_api::SimTime;

/// The order of events within an instant, before arbitration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EventPhase {
    /// The last byte of a transfer left, or a task's time has passed.
    Completion,
    /// A transfer's last byte arrived.
    Arrival,
    /// A start, a recheck.
    Timer,
}

/// What can be an event: small, and with an id that orders it among its equals.
pub trait Event: Copy + Eq + Hash {
    /// When within its instant.
    fn phase(&self) -> EventPhase;
    /// Its entity, lowest first within a phase.
    fn entity(&self) -> u32;
}

/// Position of an event in the queue's order; lowest first.
type Key = (SimTime, EventPhase, u32, u64);

/// The queue. An event is in it at most once.
#[derive(Clone)]
pub struct EventQueue<E: Event> {
    heap: PriorityQueue<E, Reverse<Key>, FxBuildHasher>,
    sequence: u64,
}

impl<E: Event> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: PriorityQueue::with_default_hasher(), sequence: 0 }
    }
}

impl<E: Event> EventQueue<E> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Schedules an event, or moves it if it is in the queue. A moved event counts as scheduled now.
    #[inline]
    pub fn schedule(&mut self, time: SimTime, event: E) {
        self.sequence += 1;
        self.heap.push(event, Reverse((time, event.phase(), event.entity(), self.sequence)));
    }

    /// Takes an event out; returns when it was due.
    #[inline]
    pub fn cancel(&mut self, event: E) -> Option<SimTime> {
        self.heap.remove(&event).map(|(_, Reverse(key))| key.0)
    }

    /// When the first event is due; [`SimTime::NEVER`] when the queue is empty.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> SimTime {
        self.heap.peek().map_or(SimTime::NEVER, |(_, Reverse(key))| key.0)
    }

    /// The first event and when it is due.
    #[inline]
    pub fn pop(&mut self) -> Option<(SimTime, E)> {
        self.heap.pop().map(|(event, Reverse(key))| (key.0, event))
    }

    /// The first event if it is due at `now` and belongs to `phase`.
    #[inline]
    pub fn pop_due(&mut self, now: SimTime, phase: EventPhase) -> Option<E> {
        let (_, &Reverse((time, first, _, _))) = self.heap.peek()?;
        if (time, first) == (now, phase) { self.pop().map(|(_, event)| event) } else { None }
    }

    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no event is scheduled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}
