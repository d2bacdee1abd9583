//! Engines of endpoints: each serves up to `slots` tasks in order of (when its place was taken, task), and nobody
//! overtakes.
//!
//! Most engines serve plain tasks only, up to a million: such an engine is a queue and a number of free slots. Where any
//! task has a lead, a gap, a class or a place from its issue on, the engine also knows its slots ([`Slots`]).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_plugin_api::SimTime;

use crate::outcome::TaskTimes;
use crate::service::ServiceId;
use crate::slots::Slots;
use crate::tasks::{EngineId, Task, TaskGraph, TaskId};

#[derive(Clone, Debug)]
struct State {
    free: u32,
    queue: BinaryHeap<Reverse<(SimTime, TaskId)>>,
    /// None where all tasks are plain: any free slot is as good as another, and all in the queue are ready.
    slots: Option<Box<Slots>>,
    /// The last task that made way for others: it gave a slot back, or was the head of the queue and not ready while slots
    /// were free.
    made_way: TaskId,
    /// Whether slots are free and the head of the queue is not ready.
    is_held_up: bool,
    /// Whether it is in `Engines::dirty`.
    dirty: bool,
}

impl State {
    /// Gives a slot to a task; when its work begins.
    #[inline(never)]
    fn begin(&mut self, look: &Look<'_>, task: TaskId) -> SimTime {
        let service = look.graph.service(task);
        let before = self.slots.as_mut().and_then(|slots| slots.take(task, service.class));
        service.begin(look.times[task.index()].ready, before).max(look.now)
    }
}

/// What a grant of slots looks at.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a> {
    pub(crate) now: SimTime,
    pub(crate) graph: &'a TaskGraph,
    pub(crate) times: &'a [TaskTimes],
}

impl Look<'_> {
    fn is_ready(&self, task: TaskId) -> bool {
        !self.times[task.index()].ready.is_never()
    }
}

/// All engines of a run.
#[derive(Clone, Debug)]
pub(crate) struct Engines {
    states: Vec<State>,
    dirty: Vec<EngineId>,
}

/// Tasks that need nothing more than time until their work begins.
#[derive(Debug, Default)]
pub(crate) struct Begins {
    /// It begins now.
    pub(crate) now: Vec<TaskId>,
    /// It begins later; a slot is theirs from now on.
    pub(crate) later: Vec<(SimTime, TaskId)>,
}

impl Begins {
    pub(crate) fn add(&mut self, now: SimTime, begin: SimTime, task: TaskId) {
        if begin == now {
            self.now.push(task);
        } else {
            self.later.push((begin, task));
        }
    }
}

impl Engines {
    pub(crate) fn new(graph: &TaskGraph) -> Self {
        let state = |free| State {
            free,
            queue: BinaryHeap::new(),
            slots: None,
            made_way: TaskId::NONE,
            is_held_up: false,
            dirty: false,
        };
        let mut states: Vec<State> = graph.engines.iter().map(|e| state(e.slots)).collect();
        if graph.services.len() > 1 {
            let paced = |t: &&Task| t.service != ServiceId::PLAIN && t.engine != EngineId::NONE;
            for task in graph.tasks.iter().filter(paced) {
                let state = &mut states[task.engine.0 as usize];
                let count = state.free;
                state.slots.get_or_insert_with(|| Box::new(Slots::new(count)));
            }
        }
        Self { states, dirty: Vec::new() }
    }

    /// A task takes its place in the queue of its engine.
    pub(crate) fn enqueue(&mut self, engine: EngineId, now: SimTime, task: TaskId) {
        self.states[engine.0 as usize].queue.push(Reverse((now, task)));
        self.mark(engine);
    }

    /// A task gives its slot back.
    pub(crate) fn release(&mut self, engine: EngineId, now: SimTime, task: TaskId) {
        let state = &mut self.states[engine.0 as usize];
        state.free += 1;
        state.made_way = task;
        if let Some(slots) = &mut state.slots {
            slots.release(now, task);
        }
        self.mark(engine);
    }

    /// The last task that made way for others on this engine; [`TaskId::NONE`] for none.
    pub(crate) fn made_way(&self, engine: EngineId) -> TaskId {
        self.states.get(engine.0 as usize).map_or(TaskId::NONE, |state| state.made_way)
    }

    /// The engine may have something to do: a slot is free, its queue has grown, or the head has become ready.
    pub(crate) fn mark(&mut self, engine: EngineId) {
        let state = &mut self.states[engine.0 as usize];
        if !state.dirty {
            state.dirty = true;
            self.dirty.push(engine);
        }
    }

    /// Gives free slots to the heads of the queues that are ready and `may` have one. An engine whose head may not have
    /// one yet keeps all of its tasks for the next call; one whose head is not ready, until it is marked.
    pub(crate) fn dispatch(&mut self, look: &Look<'_>, begins: &mut Begins, may: impl Fn(TaskId) -> bool) {
        let states = &mut self.states;
        self.dirty.retain(|engine| {
            let state = &mut states[engine.0 as usize];
            while state.free > 0
                && let Some(&Reverse((_, task))) = state.queue.peek()
            {
                let paced = state.slots.is_some();
                if paced && !look.is_ready(task) {
                    state.is_held_up = true;
                    break;
                }
                if !may(task) {
                    return true;
                }
                state.queue.pop();
                state.free -= 1;
                if std::mem::take(&mut state.is_held_up) {
                    state.made_way = task;
                }
                if paced {
                    begins.add(look.now, state.begin(look, task), task);
                } else {
                    begins.now.push(task);
                }
            }
            state.dirty = false;
            false
        });
    }

    /// Whether no engine has been given anything to do since the last [`Self::dispatch`].
    #[inline]
    pub(crate) fn all_served(&self) -> bool {
        self.dirty.is_empty()
    }

    /// All tasks that have a place in a queue and no slot, in no particular order.
    pub(crate) fn queued(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.states.iter().flat_map(|state| state.queue.iter().map(|&Reverse((_, task))| task))
    }
}
