//! What a run keeps of its tasks: all of them from the beginning to the end, or only the active ones of a stream.

use weir_packets::Held;
use weir_plugin_api::{Binding, SimDuration, SimTime};

use crate::outcome::{Bottleneck, TaskTimes};
use crate::tasks::{EngineId, Task, TaskGraph, TaskId};

/// Nothing has limited a task.
pub(crate) const NO_BOTTLENECK: Bottleneck =
    Bottleneck { binding: Binding::NONE, time: SimDuration::ZERO, blocked: SimDuration::ZERO };

/// The tasks of a run that are released and have not ended, those to be released, and what is known of them.
pub(crate) trait Store {
    fn task(&self, task: TaskId) -> &Task;
    /// What has happened to a task.
    fn times(&mut self, task: TaskId) -> &mut TaskTimes;
    /// What has happened to all tasks, by id, where engines may ask for it.
    fn all_times(&self) -> &[TaskTimes];
    /// A transfer has sent so much, and this limited it.
    fn note(&mut self, task: TaskId, sent_bytes: u64, bottleneck: Bottleneck);
    /// A task got the slot that another one has given back.
    fn note_queued(&mut self, task: TaskId, behind: TaskId);
    /// What the source of a transfer has waited for that went packet by packet.
    fn note_held(&mut self, task: TaskId, held: Vec<Held>);
    /// When the next task that waits for nothing is released; [`SimTime::NEVER`] after the last.
    fn next_release(&self) -> SimTime;
    /// The next task to be released, if that is due.
    fn release(&mut self, now: SimTime) -> Option<TaskId>;
    /// A task has ended now; nobody asks for it again.
    fn ended(&mut self, now: SimTime, task: TaskId);
    /// Number of tasks that have not ended.
    fn left(&self) -> usize;
    /// Whether tasks cannot be had, or given away, any more.
    fn halted(&self) -> bool;
    /// Tasks that have an engine, are ready and have not started, in id order.
    fn unserved(&self) -> Vec<TaskId>;
}

/// All tasks of a graph.
pub(crate) struct Whole<'a> {
    graph: &'a TaskGraph,
    /// Tasks that wait for nothing, by (start, task); a cursor instead of a million queued events.
    releases: Vec<TaskId>,
    released: usize,
    pub(crate) times: Vec<TaskTimes>,
    pub(crate) sent_bytes: Vec<u64>,
    pub(crate) bottlenecks: Vec<Bottleneck>,
    pub(crate) queued_behind: Vec<TaskId>,
    /// Empty until one is noted.
    pub(crate) held: Vec<Vec<Held>>,
    left: usize,
}

impl<'a> Whole<'a> {
    pub(crate) fn new(graph: &'a TaskGraph) -> Self {
        let count = graph.tasks.len();
        let mut releases: Vec<TaskId> = (0..count as u32).map(TaskId).filter(|&t| graph.waits(t) == 0).collect();
        if !releases.is_sorted_by_key(|t| graph.tasks[t.index()].start) {
            releases.sort_by_key(|t| graph.tasks[t.index()].start);
        }
        Self {
            graph,
            releases,
            released: 0,
            times: vec![TaskTimes::NEVER; count],
            sent_bytes: vec![0; count],
            bottlenecks: vec![NO_BOTTLENECK; count],
            queued_behind: vec![TaskId::NONE; count],
            held: Vec::new(),
            left: count,
        }
    }
}

impl Store for Whole<'_> {
    #[inline]
    fn task(&self, task: TaskId) -> &Task {
        &self.graph.tasks[task.index()]
    }

    #[inline]
    fn times(&mut self, task: TaskId) -> &mut TaskTimes {
        &mut self.times[task.index()]
    }

    #[inline]
    fn all_times(&self) -> &[TaskTimes] {
        &self.times
    }

    #[inline]
    fn note(&mut self, task: TaskId, sent_bytes: u64, bottleneck: Bottleneck) {
        self.sent_bytes[task.index()] = sent_bytes;
        self.bottlenecks[task.index()] = bottleneck;
    }

    #[inline]
    fn note_queued(&mut self, task: TaskId, behind: TaskId) {
        self.queued_behind[task.index()] = behind;
    }

    fn note_held(&mut self, task: TaskId, held: Vec<Held>) {
        self.held.resize(self.times.len(), Vec::new());
        self.held[task.index()] = held;
    }

    #[inline]
    fn next_release(&self) -> SimTime {
        self.releases.get(self.released).map_or(SimTime::NEVER, |t| self.graph.tasks[t.index()].start)
    }

    #[inline]
    fn release(&mut self, now: SimTime) -> Option<TaskId> {
        let &task = self.releases.get(self.released)?;
        if self.graph.tasks[task.index()].start > now {
            return None;
        }
        self.released += 1;
        Some(task)
    }

    #[inline]
    fn ended(&mut self, _: SimTime, _: TaskId) {
        self.left -= 1;
    }

    fn left(&self) -> usize {
        self.left
    }

    #[inline]
    fn halted(&self) -> bool {
        false
    }

    fn unserved(&self) -> Vec<TaskId> {
        let waits = |t: &TaskId| {
            let times = &self.times[t.index()];
            self.graph.tasks[t.index()].engine != EngineId::NONE && !times.ready.is_never() && times.start.is_never()
        };
        (0..self.times.len() as u32).map(TaskId).filter(waits).collect()
    }
}
