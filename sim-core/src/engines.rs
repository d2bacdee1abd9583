//! Engines of endpoints: each serves up to `slots` tasks, first come, first served by (ready time, task).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_plugin_api::SimTime;

use crate::tasks::{Engine, EngineId, TaskId};

#[derive(Clone, Debug)]
struct State {
    free: u32,
    waiting: BinaryHeap<Reverse<(SimTime, TaskId)>>,
    /// Whether it is in `Engines::dirty`.
    dirty: bool,
}

/// All engines of a run.
#[derive(Clone, Debug)]
pub(crate) struct Engines {
    states: Vec<State>,
    dirty: Vec<EngineId>,
}

impl Engines {
    pub(crate) fn new(engines: &[Engine]) -> Self {
        let state = |e: &Engine| State { free: e.slots, waiting: BinaryHeap::new(), dirty: false };
        Self { states: engines.iter().map(state).collect(), dirty: Vec::new() }
    }

    /// A task waits for its engine from `ready` on.
    pub(crate) fn wait(&mut self, engine: EngineId, ready: SimTime, task: TaskId) {
        self.states[engine.0 as usize].waiting.push(Reverse((ready, task)));
        self.mark(engine);
    }

    /// A task gives its slot back.
    pub(crate) fn release(&mut self, engine: EngineId) {
        self.states[engine.0 as usize].free += 1;
        self.mark(engine);
    }

    /// Gives free slots to waiting tasks that `may` start, first come, first served; appends those that start. An engine
    /// whose first task may not start yet keeps all of its tasks for the next call.
    pub(crate) fn dispatch(&mut self, started: &mut Vec<TaskId>, may: impl Fn(TaskId) -> bool) {
        let states = &mut self.states;
        self.dirty.retain(|engine| {
            let state = &mut states[engine.0 as usize];
            while state.free > 0
                && let Some(&Reverse((_, task))) = state.waiting.peek()
            {
                if !may(task) {
                    return true;
                }
                state.waiting.pop();
                state.free -= 1;
                started.push(task);
            }
            state.dirty = false;
            false
        });
    }

    fn mark(&mut self, engine: EngineId) {
        let state = &mut self.states[engine.0 as usize];
        if !state.dirty {
            state.dirty = true;
            self.dirty.push(engine);
        }
    }
}
