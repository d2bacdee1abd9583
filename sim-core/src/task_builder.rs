//! Builds a task graph, and refuses waits that form a cycle.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use weir_plugin_api::{EngineScope, NodeId};

use crate::classes::Classes;
use crate::cycle::find_cycle;
use crate::service::{Service, ServiceId};
use crate::tasks::{Engine, EngineId, Follows, SlotsError, Task, TaskGraph, TaskId};

/// Builds a [`TaskGraph`]. Waits may name tasks that are added later.
#[derive(Debug, Default)]
pub struct TaskGraphBuilder {
    graph: TaskGraph,
    /// Names of engines, each once: there are few.
    names: Vec<Arc<str>>,
    engines: FxHashMap<(NodeId, usize), EngineId>,
    services: FxHashMap<Service, ServiceId>,
    ends: Vec<(TaskId, TaskId)>,
    starts: Vec<(TaskId, TaskId)>,
    issued: Vec<(TaskId, TaskId)>,
}

impl TaskGraphBuilder {
    /// A graph without tasks, engines and classes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The engine of this name on a device, made at its first use.
    ///
    /// # Errors
    /// It has another number of slots.
    pub fn engine(&mut self, device: NodeId, name: &str, slots: u32) -> Result<EngineId, SlotsError> {
        let at = self.names.iter().position(|known| **known == *name).unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        });
        let name = &self.names[at];
        if let Some(&id) = self.engines.get(&(device, at)) {
            let before = self.graph.engines[id.0 as usize].slots;
            return if before == slots {
                Ok(id)
            } else {
                Err(SlotsError { name: Arc::clone(name), before, now: slots })
            };
        }
        let engine = Engine { scope: EngineScope::Device(device), name: Arc::clone(name), slots };
        let id = self.own_engine(engine);
        self.engines.insert((device, at), id);
        Ok(id)
    }

    /// A new engine that nobody else finds by its name.
    pub fn own_engine(&mut self, engine: Engine) -> EngineId {
        self.graph.engines.push(engine);
        EngineId(self.graph.engines.len() as u32 - 1)
    }

    /// The engines made so far, by id.
    #[must_use]
    pub fn engines(&self) -> &[Engine] {
        &self.graph.engines
    }

    /// Gives the tasks of engines to others, by (whose tasks, who gets them).
    pub fn move_tasks(&mut self, moved: &FxHashMap<EngineId, EngineId>) {
        if moved.is_empty() {
            return;
        }
        for task in &mut self.graph.tasks {
            task.engine = moved.get(&task.engine).copied().unwrap_or(task.engine);
        }
    }

    /// The entry of a service.
    pub fn service(&mut self, service: Service) -> ServiceId {
        if service == Service::PLAIN {
            return ServiceId::PLAIN;
        }
        let services = &mut self.graph.services;
        *self.services.entry(service).or_insert_with(|| {
            services.push(service);
            ServiceId(services.len() as u32 - 1)
        })
    }

    /// The classes of the transfers.
    pub fn classes(&mut self) -> &mut Classes {
        Arc::make_mut(&mut self.graph.classes)
    }

    /// Adds a task.
    ///
    /// # Panics
    /// At more than 2^32 − 1 tasks; loads are bounded before.
    pub fn task(&mut self, task: Task) -> TaskId {
        let id = u32::try_from(self.graph.tasks.len()).expect("fewer than 2^32 tasks");
        self.graph.tasks.push(task);
        TaskId(id)
    }

    /// Number of tasks so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.graph.tasks.len()
    }

    /// Whether no task was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.graph.tasks.is_empty()
    }

    /// `task` is not ready before `earlier` has ended.
    pub fn wait(&mut self, task: TaskId, earlier: TaskId) {
        self.ends.push((earlier, task));
    }

    /// `task` is not ready before `earlier` has started.
    pub fn wait_start(&mut self, task: TaskId, earlier: TaskId) {
        self.starts.push((earlier, task));
    }

    /// `task`, whose service is [`Queue::Issued`](weir_plugin_api::Queue::Issued) and which has an engine, takes its place there when `release` ends. It
    /// is issued once: only the first call for a task counts, and none for other tasks. One that is never issued never
    /// starts. Issued tasks must wait, directly or not, for what issues them.
    pub fn issue(&mut self, task: TaskId, release: TaskId) {
        self.issued.push((release, task));
    }

    /// The finished graph, or the tasks of one cycle of waits, in order.
    ///
    /// # Errors
    /// A cycle of waits.
    pub fn build(self) -> Result<TaskGraph, Vec<TaskId>> {
        let Self { mut graph, ends, starts, mut issued, .. } = self;
        let count = graph.tasks.len();
        issued.retain(|&(_, task)| graph.queues_when_issued(task));
        issued.sort_by_key(|&(_, task)| task);
        issued.dedup_by_key(|&mut (_, task)| task);
        let waiting = !(ends.is_empty() && starts.is_empty());
        graph.after_end = Follows::new(ends, count);
        graph.after_start = Follows::new(starts, count);
        graph.issued = Follows::new(issued, count);
        if waiting {
            graph.waits = vec![0; count];
            for task in graph.after_end.tasks.iter().chain(&graph.after_start.tasks) {
                graph.waits[task.index()] += 1;
            }
            if let Some(cycle) = find_cycle(&graph) {
                return Err(cycle);
            }
        }
        Ok(graph)
    }
}
