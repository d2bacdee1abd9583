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

    /// Gives free slots to waiting tasks; appends those that start.
    pub(crate) fn dispatch(&mut self, started: &mut Vec<TaskId>) {
        for engine in self.dirty.drain(..) {
            let state = &mut self.states[engine.0 as usize];
            state.dirty = false;
            while state.free > 0 {
                let Some(Reverse((_, task))) = state.waiting.pop() else { break };
                state.free -= 1;
                started.push(task);
            }
        }
    }

    fn mark(&mut self, engine: EngineId) {
        let state = &mut self.states[engine.0 as usize];
        if !state.dirty {
            state.dirty = true;
            self.dirty.push(engine);
        }
    }
}
