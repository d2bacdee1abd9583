//! How an engine serves a task, and when its work begins.

use weir_plugin_api::{Queue, SimDuration, SimTime};

/// How an engine serves a task: where it queues, and what the start costs. Tasks of equal service share one entry.
///
/// The work of a task begins at `max(ready + lead, end of the previous + gap)` after a task of the same `class` on its
/// slot, at `max(ready, end of the previous) + lead` after one of another class, and at `ready + lead` when it is the
/// first there, or has no engine. The end of a task that carries bytes is here the instant its last byte leaves. A task
/// that was delayed by the one ahead of it in the queue has no slot before that one: its work begins no earlier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Service {
    /// When it takes its place in the queue.
    pub queue: Queue,
    /// Its direction: after a task of the same class `gap` applies, after another one does not.
    pub class: u32,
    /// Time before its work that may overlap the task before it.
    pub lead: SimDuration,
    /// Time after the task before it that cannot be overlapped.
    pub gap: SimDuration,
}

impl Service {
    /// Queues when ready, starts at once.
    pub const PLAIN: Self = Self { queue: Queue::Ready, class: 0, lead: SimDuration::ZERO, gap: SimDuration::ZERO };

    /// Queues when ready, and takes its slot this long before its work begins (o in LogP: Culler et al., *LogP: Towards a
    /// Realistic Model of Parallel Computation*, PPoPP 1993, section 3).
    #[must_use]
    pub const fn issued_in(overhead: SimDuration) -> Self {
        Self { lead: overhead, gap: overhead, ..Self::PLAIN }
    }

    /// When the work of a task begins that was ready at `ready`, after a task that freed the slot at this instant and
    /// was of this class.
    pub(crate) fn begin(&self, ready: SimTime, before: Option<(SimTime, u32)>) -> SimTime {
        match before {
            None => ready.after(self.lead),
            Some((freed, class)) if class == self.class => ready.after(self.lead).max(freed.after(self.gap)),
            Some((freed, _)) => ready.max(freed).after(self.lead),
        }
    }
}

/// A [`Service`] by its number in the task graph, where equal ones share it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ServiceId(pub u32);

impl ServiceId {
    /// The number of [`Service::PLAIN`] in every task graph.
    pub const PLAIN: Self = Self(0);
}
