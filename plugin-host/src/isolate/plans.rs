//! What models answer, as it travels from a child.

use serde::{Deserialize, Serialize};
use weir_plugin_api::{
    Alternative, EngineScope, Estimate, Estimates, Moment, NodeId, Plan, PlannedTask, PlannedWork, Queue, Relation,
    Wait,
};

#[derive(Serialize, Deserialize)]
pub(crate) struct PlanFrame {
    /// Name, slots, and the device that it belongs to, if it is not the operation's own.
    engines: Vec<(String, u32, Option<u32>)>,
    tasks: Vec<TaskFrame>,
}

#[derive(Serialize, Deserialize)]
struct TaskFrame {
    name: String,
    /// The task, and whether its start is waited for instead of its end.
    waits: Vec<(u32, bool)>,
    engine: Option<u32>,
    queues_when_ready: bool,
    class: u32,
    lead_ps: f64,
    gap_ps: f64,
    work: WorkFrame,
}

#[derive(Serialize, Deserialize)]
enum WorkFrame {
    Nothing,
    Lasts(f64),
    Carries { from: u32, to: u32, bytes: u64, limit: f64 },
}

impl From<&Plan> for PlanFrame {
    fn from(plan: &Plan) -> Self {
        let engines = plan.engines().iter().map(|engine| {
            let device = match engine.scope {
                EngineScope::Device(node) => Some(node.0),
                EngineScope::Operation => None,
            };
            (engine.name.clone(), engine.slots, device)
        });
        Self { engines: engines.collect(), tasks: plan.iter().map(TaskFrame::from).collect() }
    }
}

impl From<PlannedTask<'_>> for TaskFrame {
    fn from(task: PlannedTask<'_>) -> Self {
        Self {
            name: task.name.to_owned(),
            waits: task.waits.iter().map(|wait| (wait.task, wait.moment == Moment::Start)).collect(),
            engine: task.engine,
            queues_when_ready: task.queue == Queue::Ready,
            class: task.class,
            lead_ps: task.lead_ps,
            gap_ps: task.gap_ps,
            work: match task.work {
                PlannedWork::Nothing => WorkFrame::Nothing,
                PlannedWork::Lasts(ps) => WorkFrame::Lasts(ps),
                PlannedWork::Carries { from, to, bytes, limit } => {
                    WorkFrame::Carries { from: from.0, to: to.0, bytes, limit }
                }
            },
        }
    }
}

impl PlanFrame {
    pub(crate) fn add_to(self, plan: &mut Plan) {
        for (name, slots, device) in self.engines {
            plan.engine(name, slots, device.map_or(EngineScope::Operation, |node| EngineScope::Device(NodeId(node))));
        }
        let mut waits = Vec::new();
        for task in self.tasks {
            let moment = |is_start| if is_start { Moment::Start } else { Moment::End };
            waits.clear();
            waits.extend(task.waits.into_iter().map(|(task, is_start)| Wait { task, moment: moment(is_start) }));
            plan.task(&PlannedTask {
                name: &task.name,
                waits: &waits,
                engine: task.engine,
                queue: if task.queues_when_ready { Queue::Ready } else { Queue::Issued },
                class: task.class,
                lead_ps: task.lead_ps,
                gap_ps: task.gap_ps,
                work: match task.work {
                    WorkFrame::Nothing => PlannedWork::Nothing,
                    WorkFrame::Lasts(ps) => PlannedWork::Lasts(ps),
                    WorkFrame::Carries { from, to, bytes, limit } => {
                        PlannedWork::Carries { from: NodeId(from), to: NodeId(to), bytes, limit }
                    }
                },
            });
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct EstimatesFrame {
    /// Formula, seconds, the number of the relation, and because of what.
    list: Vec<(String, f64, u32, String)>,
    details: String,
}

impl From<Estimates> for EstimatesFrame {
    fn from(estimates: Estimates) -> Self {
        let list = estimates.list.into_iter().map(|e| (e.formula, e.seconds, e.relation as u32, e.because));
        Self { list: list.collect(), details: estimates.details }
    }
}

impl EstimatesFrame {
    pub(crate) fn add_to(self, estimates: &mut Estimates) {
        let relation = |number| match number {
            1 => Relation::Equal,
            2 => Relation::AtMost,
            3 => Relation::AtLeast,
            _ => Relation::Unstated,
        };
        estimates.list.extend(self.list.into_iter().map(|(formula, seconds, number, because)| Estimate {
            formula,
            seconds,
            relation: relation(number),
            because,
        }));
        estimates.details = self.details;
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct AlternativesFrame(Vec<(String, String)>);

impl From<Vec<Alternative>> for AlternativesFrame {
    fn from(alternatives: Vec<Alternative>) -> Self {
        Self(alternatives.into_iter().map(|a| (a.label, a.operation)).collect())
    }
}

impl AlternativesFrame {
    pub(crate) fn add_to(self, alternatives: &mut Vec<Alternative>) {
        alternatives.extend(self.0.into_iter().map(|(label, operation)| Alternative { label, operation }));
    }
}
