//! The pending events of tasks, in the order (time, phase, task).
//!
//! At one instant completions precede arrivals and timers, and lower ids precede higher ones. No two pending events are
//! equal in all three: a task has one event of a phase at a time. Built on `priority-queue` with a fast hasher, O(log n).
//! Ends of transfers are not here: they move with every change of rate, so they live with the rates.

use std::cmp::Reverse;

use priority_queue::PriorityQueue;
use rustc_hash::FxBuildHasher;
use weir_plugin_api::SimTime;

use crate::tasks::TaskId;

/// The order of events within an instant, before arbitration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EventPhase {
    /// A task's time has passed.
    Completion,
    /// A transfer's last byte arrived.
    Arrival,
    /// A start, or the begin of work.
    Timer,
}

/// A pending event of a task.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TaskEvent {
    /// A task of fixed time is over.
    Over(TaskId),
    /// The last byte of a transfer arrives.
    Arrives(TaskId),
    /// The start of a task whose waits have ended.
    Starts(TaskId),
    /// The work of a task begins: its lead has passed, or its gap after the task before.
    Begins(TaskId),
}

impl TaskEvent {
    /// When it happens within its instant.
    #[inline]
    #[must_use]
    pub fn phase(self) -> EventPhase {
        match self {
            Self::Over(_) => EventPhase::Completion,
            Self::Arrives(_) => EventPhase::Arrival,
            Self::Starts(_) | Self::Begins(_) => EventPhase::Timer,
        }
    }

    /// The task it happens to.
    #[inline]
    #[must_use]
    pub fn task(self) -> TaskId {
        match self {
            Self::Over(task) | Self::Arrives(task) | Self::Starts(task) | Self::Begins(task) => task,
        }
    }
}

/// Position of an event in the order; lowest first.
type Key = Reverse<(SimTime, EventPhase, TaskId)>;

/// The queue. An event is in it at most once.
#[derive(Clone, Default)]
pub struct EventQueue {
    heap: PriorityQueue<TaskEvent, Key, FxBuildHasher>,
}

impl EventQueue {
    /// Adds an event that is not in the queue.
    #[inline]
    pub fn schedule(&mut self, time: SimTime, event: TaskEvent) {
        let before = self.heap.push(event, Reverse((time, event.phase(), event.task())));
        debug_assert!(before.is_none(), "{event:?} is pending already");
    }

    /// When the first event is due; [`SimTime::NEVER`] when the queue is empty.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> SimTime {
        self.heap.peek().map_or(SimTime::NEVER, |(_, Reverse(key))| key.0)
    }

    /// Takes out the first event if it is due at `now` and belongs to `phase`.
    #[inline]
    pub fn pop_due(&mut self, now: SimTime, phase: EventPhase) -> Option<TaskEvent> {
        let (_, &Reverse((time, first, _))) = self.heap.peek()?;
        if (time, first) == (now, phase) { self.heap.pop().map(|(event, _)| event) } else { None }
    }
}
