//! A set order of tasks: tasks exchange their ids for a run, and get them back in its result.
//!
//! Ids decide among equals: in the queues of engines, and in the order in which an arbiter is shown transfers, hence in
//! the last bits of its sums. A task that is to come k-th must be the k-th in all of these, so it runs under that id.

use weir_packets::{Held, PacketError};
use weir_plugin_api::Binding;

use crate::answer::AnswerError;
use crate::audit_error::AuditError;
use crate::changes::Reroute;
use crate::outcome::{Bottleneck, Outcome, PhaseRecord, SimError};
use crate::packets::PacketCounts;
use crate::tasks::{Follows, Places, TaskGraph, TaskId};

impl Places {
    /// The graph under the ids of the run.
    pub(crate) fn relabelled(&self, graph: &TaskGraph) -> TaskGraph {
        let follows = |follows: &Follows| follows.relabelled(graph.tasks.len(), |task| self.placed(task));
        TaskGraph {
            tasks: self.task.iter().map(|task| graph.tasks[task.index()]).collect(),
            engines: graph.engines.clone(),
            services: graph.services.clone(),
            classes: graph.classes.clone(),
            waits: if graph.waits.is_empty() {
                Vec::new()
            } else {
                self.task.iter().map(|task| graph.waits[task.index()]).collect()
            },
            after_end: follows(&graph.after_end),
            after_start: follows(&graph.after_start),
            issued: follows(&graph.issued),
            places: Self::default(),
        }
    }

    /// The result under the tasks' own ids.
    pub(crate) fn restored(&self, outcome: Outcome) -> Outcome {
        let at = |task: &u32| *task as usize;
        let original = |task: TaskId| self.task.get(task.index()).copied().unwrap_or(task);
        Outcome {
            tasks: self.place.iter().map(|p| outcome.tasks[at(p)]).collect(),
            sent_bytes: self.place.iter().map(|p| outcome.sent_bytes[at(p)]).collect(),
            bottlenecks: self.place.iter().map(|p| self.bottleneck(outcome.bottlenecks[at(p)])).collect(),
            queued_behind: self.place.iter().map(|p| original(outcome.queued_behind[at(p)])).collect(),
            phases: outcome.phases.map(|phases| phases.into_iter().map(|phase| self.phase(phase)).collect()),
            reroutes: self.reroutes(outcome.reroutes),
            packets: outcome.packets.map(|packets| self.packets(packets)),
            held: self.place.iter().filter_map(|p| outcome.held.get(at(p))).map(|held| self.held(held)).collect(),
            ..outcome
        }
    }

    fn bottleneck(&self, bottleneck: Bottleneck) -> Bottleneck {
        let binding = bottleneck.binding;
        let by = self.task.get(binding.by as usize).map_or(binding.by, |task| task.0);
        Bottleneck { binding: Binding { by, ..binding }, ..bottleneck }
    }

    fn reroutes(&self, mut reroutes: Vec<Reroute>) -> Vec<Reroute> {
        reroutes.iter_mut().for_each(|reroute| reroute.task = self.original(reroute.task));
        reroutes.sort_by_key(|reroute| (reroute.task, reroute.time));
        reroutes
    }

    fn held(&self, held: &[Held]) -> Vec<Held> {
        let by = |by: u32| self.task.get(by as usize).map_or(by, |task| task.0);
        held.iter().map(|held| Held { by: held.by.map(by), ..*held }).collect()
    }

    fn packets(&self, packets: PacketCounts) -> PacketCounts {
        let mut phases = packets.phases;
        for port in phases.iter_mut().flatten().flat_map(|phase| &mut phase.ports) {
            let grants = port.cycle.iter_mut().flat_map(|cycle| &mut cycle.grants);
            grants.for_each(|grant| grant.transfer = self.original(TaskId(grant.transfer)).0);
            for (id, held) in &mut port.waits {
                (*id, *held) = (self.original(TaskId(*id)).0, self.held(std::slice::from_ref(held))[0]);
            }
        }
        PacketCounts { phases, ..packets }
    }

    pub(crate) fn phase(&self, mut phase: PhaseRecord) -> PhaseRecord {
        phase.rates.iter_mut().for_each(|(task, _)| *task = self.original(*task));
        phase.rates.sort_unstable_by_key(|&(task, _)| task);
        for step in &mut phase.steps {
            step.task = self.original(step.task);
            step.because.iter_mut().for_each(|task| *task = self.original(*task));
        }
        phase
    }

    pub(crate) fn progress(&self, sent: &[(TaskId, u64)]) -> Vec<(TaskId, u64)> {
        let mut sent: Vec<_> = sent.iter().map(|&(task, bytes)| (self.original(task), bytes)).collect();
        sent.sort_unstable();
        sent
    }

    /// The error under the tasks' own ids.
    pub(crate) fn restored_error(&self, mut error: SimError) -> SimError {
        let many = |tasks: &mut Vec<TaskId>| {
            tasks.iter_mut().for_each(|task| *task = self.original(*task));
            tasks.sort_unstable();
        };
        match &mut error {
            SimError::Arbiter(
                AnswerError::NotARate { task, .. }
                | AnswerError::Impure { task, .. }
                | AnswerError::OverLimit { task, .. }
                | AnswerError::OverCapacity { task, .. },
            ) => *task = self.original(*task),
            SimError::LinkDown { task, .. }
            | SimError::DetourRefused { task, .. }
            | SimError::Audit(AuditError::TooFast { task, .. }) => *task = self.original(*task),
            SimError::Arbiter(AnswerError::Failed { .. })
            | SimError::Audit(_)
            | SimError::Halted
            | SimError::TooManyChanges { .. }
            | SimError::TooManyPhases { .. } => {}
            SimError::StaysDown { waiting, .. } => many(waiting),
            SimError::Deadlock { waiting, queued, .. } => {
                many(waiting);
                many(queued);
            }
            SimError::BeyondHorizon { tasks, .. } => many(tasks),
            SimError::Stuck { active, .. } => many(active),
            SimError::Packets { error: PacketError::Engines { transfer }, .. } => {
                *transfer = self.original(TaskId(*transfer)).0;
            }
            SimError::Packets { .. } => {}
        }
        error
    }
}
