//! A model that uses everything a plan, estimates and alternatives can say; the tests run it built in and loaded.

use weir_plugin_api::{
    Alternative, CallError, EngineScope, Estimate, Estimates, Model, ModelPlugin, Moment, NodeId, Plan, PlannedTask,
    PlannedWork, Queue, Relation, Surroundings, Wait,
};

/// Serves `faithful` and plain transfers.
pub struct Faithful;

impl Model for Faithful {
    fn plan(&mut self, operation: &str, around: &Surroundings<'_>, plan: &mut Plan) -> Result<(), CallError> {
        let route = around.routes.route(NodeId(1), NodeId(2)).ok_or_else(|| refused("from: has no route"))?;
        let lacking = around.routes.route(NodeId(1), NodeId(99));
        let device = plan.engine("größe", 2, EngineScope::Device(NodeId(3)));
        let own = plan.engine("", 1, EngineScope::Operation);
        plan.task(&PlannedTask::new(operation, &[], PlannedWork::Nothing));
        let waits = [Wait::end(0), Wait::start(2), Wait { task: 7, moment: Moment::End }];
        let lasts = PlannedWork::Lasts(route.bandwidth + route.latency_ps + f64::from(route.links));
        plan.task(&PlannedTask::new("é", &waits, lasts).on(device, Queue::Issued).paced(5, 0.25, f64::NAN));
        let carries = PlannedWork::Carries {
            from: NodeId(around.fabric.node_kind.len() as u32),
            to: NodeId(u32::MAX),
            bytes: u64::MAX,
            limit: if lacking.is_none() { f64::INFINITY } else { 0.0 },
        };
        plan.task(&PlannedTask::new("", &waits[..1], carries).on(own, Queue::Ready).paced(u32::MAX, 1.0, 2.0));
        Ok(())
    }

    fn estimate(&mut self, operation: &str, _: &Surroundings<'_>, out: &mut Estimates) -> Result<(), CallError> {
        let relations = [Relation::Unstated, Relation::Equal, Relation::AtMost, Relation::AtLeast];
        out.list.extend(relations.map(|relation| Estimate {
            formula: format!("{operation}-{relation:?}"),
            seconds: 0.1 + f64::from(relation as u32),
            relation,
            because: if relation == Relation::AtMost { "größer".to_owned() } else { String::new() },
        }));
        out.details = r#"{"dominant": "kernel"}"#.to_owned();
        Ok(())
    }

    fn alternatives(
        &mut self,
        operation: &str,
        _: &Surroundings<'_>,
        alternatives: &mut Vec<Alternative>,
    ) -> Result<(), CallError> {
        let of = |label: &str| {
            let chosen = format!(r#"{{"packet":"{label}",{}"#, &operation[1..]);
            Alternative { label: label.to_owned(), operation: chosen }
        };
        alternatives.extend(["none", "512KiB"].map(of));
        Ok(())
    }
}

fn refused(text: &str) -> CallError {
    CallError::Refused(text.to_owned())
}

impl ModelPlugin for Faithful {
    const NAME: &'static str = "faithful";
    const VERSION: &'static str = "0.1.0";
    const OPERATIONS: &'static [&'static str] = &["faithful", "transfer"];

    fn schema() -> String {
        r#"{"type": "object", "properties": {"faithful": {"type": "object"}, "transfer": {"type": "object"}}}"#
            .to_owned()
    }

    fn create() -> Result<Self, CallError> {
        Ok(Self)
    }
}
