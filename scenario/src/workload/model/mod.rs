//! Operations of models: `offload`, `put`, `gather`, transfers with a `model`, and what loaded models serve.
//!
//! ```text
//! item ─► params (by the model's schema) ─► model: plan ─► check ─► release, tasks
//!                                                └ auto: each alternative in a simulation, alone or under load; the fastest
//! ```

pub(super) mod check;
mod choice;
pub(super) mod load;
pub(super) mod names;
mod nearest;
mod order;
pub(super) mod planner;
pub(super) mod read;
mod request;
mod table;
pub(super) mod tasks;

use weir_plugin_api::{EngineScope, Estimate, NodeId, Plan, PlannedEngine, PlannedWork, Relation};
use weir_sim_core::TaskId;

use check::TaskNames;
use choice::Chosen;
use request::Request;
use tasks::PlanTarget;

use super::expansion::{Expansion, TRANSFERS};
use super::group::{Names, TaskKind};
use super::planned::PlannedOperation;
use crate::context::{Context, Read};
use crate::topology::Topology;

impl<'a> Expansion<'a> {
    /// Plans an operation and adds its tasks, as an item of the workload.
    fn operation(&mut self, context: &mut Context, mut request: Request<'a>) -> Read<()> {
        let (first, after) = (self.next(), std::mem::take(&mut request.after));
        let names = self.planned(context, &request)?;
        self.wait(first, 1, after);
        let names = Names::Planned { names, repeated: request.repeat.is_some() };
        self.add(context, request.id, TaskKind::Planned, first, names)
    }

    /// Plans an operation and adds its tasks; returns their names, of one repetition.
    fn planned(&mut self, context: &mut Context, request: &Request<'a>) -> Read<TaskNames> {
        let Chosen { operation, plan, names, choice } = self.choose(context, request)?;
        let (mut estimates, details) = self.models.estimate(context, request, &operation)?;
        self.qualify(&mut estimates, &plan);
        self.qualify_shared(&mut estimates, &plan);
        let repeat = request.repeat.unwrap_or(1);
        self.reserve(context, request.id.span, (plan.len() as u64).saturating_mul(repeat))?;
        let id = &request.id.text;
        for i in 0..repeat {
            let release = self.released(context, request, &plan)?;
            if i > 0 {
                (1..=plan.len() as u32).for_each(|back| self.builder.wait(release, TaskId(release.0 - back)));
            }
            let id = if request.repeat.is_some() { format!("{id}#{}", i + 1).into() } else { id.clone() };
            self.operations.push(PlannedOperation {
                id,
                kind: request.key.into(),
                model: request.entry.name.as_str().into(),
                version: request.entry.version.as_str().into(),
                sha256: request.entry.origin.sha256().map(Into::into),
                release,
                tasks: release.0 + 1..self.next().0,
                estimates: estimates.clone(),
                details: details.clone(),
                choice: choice.clone(),
            });
        }
        Ok(names)
    }

    /// Formulas know the engines as the model planned them. Where the topology gives other ones, nothing is claimed.
    fn qualify(&self, estimates: &mut [Estimate], plan: &Plan) {
        let differs = |engine: &PlannedEngine| match engine.scope {
            EngineScope::Device(device) => {
                let slots = self.topology.engines.slots(device, &engine.name, engine.slots);
                (slots != engine.slots).then(|| (device, engine.name.clone(), engine.slots, slots))
            }
            EngineScope::Operation => None,
        };
        let Some((device, name, planned, slots)) = plan.engines().iter().find_map(differs) else { return };
        let device = self.node_name(device);
        let line = format!(
            "? `engines` of the topology: `{name}` of {device} serves {slots} at once, the formula assumes {planned}"
        );
        for estimate in estimates {
            estimate.relation = Relation::Unstated;
            estimate.because = format!("{}\n{line}", estimate.because).trim_start().to_owned();
        }
    }

    /// Models know each link by itself. Where a route crosses links that share a bandwidth, the time may be longer
    /// than they claim.
    fn qualify_shared(&mut self, estimates: &mut [Estimate], plan: &Plan) {
        let fabric = &self.topology.fabric;
        let claims = |relation| matches!(relation, Relation::Equal | Relation::AtMost);
        if fabric.shared().is_empty() || !estimates.iter().any(|estimate| claims(estimate.relation)) {
            return;
        }
        let mut crosses = |from, to| {
            let route = self.tried.between(fabric, from, to);
            route.is_some_and(|route| self.tried.links(route).iter().any(|&link| !fabric.shared_by(link).is_empty()))
        };
        let shares = plan.iter().any(|task| match task.work {
            PlannedWork::Carries { from, to, bytes, .. } => bytes > 0 && crosses(from, to),
            _ => false,
        });
        for estimate in estimates.iter_mut().filter(|estimate| shares && claims(estimate.relation)) {
            let line =
                "+topology: its routes share bandwidths (`shared`, `memory`), the formula gives each link its own";
            estimate.relation =
                if estimate.relation == Relation::Equal { Relation::AtLeast } else { Relation::Unstated };
            estimate.because = format!("{}\n{line}", estimate.because).trim_start().to_owned();
        }
    }

    /// The plan of an operation, checked.
    fn checked(&mut self, context: &mut Context, request: &Request<'a>, operation: &str) -> Read<(Plan, TaskNames)> {
        let plan = self.models.plan(context, request, operation)?;
        self.check(context, request, plan)
    }

    fn check(&mut self, context: &mut Context, request: &Request<'a>, plan: Plan) -> Read<(Plan, TaskNames)> {
        if plan.len() as u64 > TRANSFERS {
            let message = format!("{} has {} tasks; {TRANSFERS} are allowed", request.what(), plan.len());
            return Err(context.error(request.id.span, message, "give larger parts"));
        }
        let devices = check::Devices { topology: self.topology, outside: &self.known.outside };
        match check::check(&plan, devices, &mut self.tried) {
            Ok(names) => Ok((plan, names)),
            Err(error) => Err(request.wrong_plan(context, &error, |node| self.node_name(node).to_owned())),
        }
    }

    /// Adds one release with the tasks of a plan.
    fn released(&mut self, context: &mut Context, request: &Request<'a>, plan: &Plan) -> Read<TaskId> {
        let Topology { fabric, engines, .. } = self.topology;
        let target = &mut PlanTarget { fabric, engines, builder: &mut self.builder, routes: &mut self.routes };
        target.add(plan, request.start, request.shares).map_err(|differ| {
            let problem = self.slots_differ(&differ);
            context.problem(request.id.span, &request.what(), problem)
        })
    }

    /// The name of a device of the topology, or outside.
    pub(super) fn node_name(&self, node: NodeId) -> &str {
        let nodes = self.topology.fabric.nodes().len();
        match self.known.outside.name(node, nodes) {
            Some(name) => name,
            None => self.topology.names.unique_name(node),
        }
    }
}
