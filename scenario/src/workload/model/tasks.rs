//! A checked plan as tasks of the graph.

use weir_plugin_api::{EngineScope, Moment, Plan, PlannedTask, PlannedWork, Queue, SimDuration, SimTime};
use weir_sim_core::{Engine, EngineId, Fabric, Routes, Service, ServiceId, Task, TaskGraphBuilder, TaskId, Work};

use crate::topology::{DeviceEngines, SlotsDiffer};

/// What carried bytes are told apart by beside what the plan says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shares {
    /// Weight of every transfer.
    pub weight: f64,
    /// Priority of every transfer.
    pub priority: i64,
}

/// Where the tasks of a plan go.
pub struct PlanTarget<'a> {
    /// What carried bytes cross.
    pub fabric: &'a Fabric,
    /// The engines of its devices.
    pub engines: &'a DeviceEngines,
    /// Gets the tasks and their engines.
    pub builder: &'a mut TaskGraphBuilder,
    /// Gets the routes of carried bytes.
    pub routes: &'a mut Routes,
}

/// The nearest whole number of picoseconds, halves up; the time is finite, at least 0 and within the horizon.
pub(super) fn nearest_ps(ps: f64) -> SimDuration {
    let whole = ps.floor();
    // The difference is exact; a sum with 0.5 would not be.
    SimDuration(whole as u64 + u64::from(ps - whole >= 0.5))
}

impl PlanTarget<'_> {
    /// Adds the release and after it, in order, the tasks of a plan that was checked; returns the release.
    ///
    /// # Errors
    /// A device that has an engine of the plan with another number of slots.
    pub fn add(&mut self, plan: &Plan, start: SimTime, shares: Shares) -> Result<TaskId, SlotsDiffer> {
        let engines = self.engines(plan)?;
        let work = Work::Nothing { counted: false };
        let release = self.builder.task(Task { start, engine: EngineId::NONE, service: ServiceId::PLAIN, work });
        let after = |task: u32| TaskId(release.0 + 1 + task);
        for planned in plan.iter() {
            let task = self.task(&planned, &engines, shares);
            if planned.waits.is_empty() {
                self.builder.wait(task, release);
            }
            for wait in planned.waits {
                match wait.moment {
                    Moment::End => self.builder.wait(task, after(wait.task)),
                    Moment::Start => self.builder.wait_start(task, after(wait.task)),
                }
            }
            if planned.engine.is_some() && planned.queue == Queue::Issued {
                self.builder.issue(task, release);
            }
        }
        Ok(release)
    }

    fn engines(&mut self, plan: &Plan) -> Result<Vec<EngineId>, SlotsDiffer> {
        let engine = |planned: &weir_plugin_api::PlannedEngine| match planned.scope {
            EngineScope::Device(device) => self.engines.engine(self.builder, device, &planned.name, planned.slots),
            scope @ EngineScope::Operation => {
                Ok(self.builder.own_engine(Engine { scope, name: planned.name.as_str().into(), slots: planned.slots }))
            }
        };
        plan.engines().iter().map(engine).collect()
    }

    fn task(&mut self, planned: &PlannedTask<'_>, engines: &[EngineId], shares: Shares) -> TaskId {
        let engine = planned.engine.map_or(EngineId::NONE, |engine| engines[engine as usize]);
        // Without an engine there is no queue.
        let queue = if planned.engine.is_some() { planned.queue } else { Queue::Ready };
        let (lead, gap) = (nearest_ps(planned.lead_ps), nearest_ps(planned.gap_ps));
        let service = self.builder.service(Service { queue, class: planned.class, lead, gap });
        let work = match planned.work {
            PlannedWork::Nothing => Work::Nothing { counted: false },
            PlannedWork::Lasts(ps) => Work::Lasts(nearest_ps(ps)),
            PlannedWork::Carries { from, to, bytes, limit } => {
                let route = if bytes == 0 { None } else { self.routes.between(self.fabric, from, to) };
                // The check has found a route for all but nothing.
                route.map_or(Work::Lasts(SimDuration::ZERO), |route| {
                    let class = self.builder.classes().intern(route, limit, shares.weight, shares.priority);
                    Work::Carries { bytes, class }
                })
            }
        };
        self.builder.task(Task { start: SimTime::ZERO, engine, service, work })
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use num_rational::BigRational;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rounds_halves_up() {
        // 0.49999999999999994 is the number below 0.5: a sum with 0.5 would round to 1.
        let cases = [
            (0.0, 0),
            (0.49999999999999994, 0),
            (0.5, 1),
            (1.5, 2),
            (2.5, 3),
            (2.499, 2),
            (8.64e18, 8_640_000_000_000_000_000),
        ];
        for (ps, whole) in cases {
            assert_eq!(nearest_ps(ps), SimDuration(whole), "{ps}");
        }
        // Above 2^52 every number is whole.
        assert_eq!(nearest_ps(4_503_599_627_370_497.0), SimDuration(4_503_599_627_370_497));
    }

    proptest! {
        #[test]
        fn rounds_as_exact_arithmetic_does(ps in 0.0..8.64e18_f64, scale in 0..70_i32) {
            let ps = ps * 0.5_f64.powi(scale);
            let half = BigRational::new(1.into(), 2.into());
            let exact = (BigRational::from_float(ps).unwrap() + half).floor().to_integer();
            prop_assert_eq!(BigInt::from(nearest_ps(ps).0), exact);
        }
    }
}
