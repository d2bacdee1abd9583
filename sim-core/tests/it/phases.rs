//! Phases that a listener takes one by one, of both ways, each of them or some.

use crate::common::{World, arbiter, case};
use crate::incremental::{incremental, policies};
use crate::properties::{any_arbiter, run};
use proptest::prelude::*;
use weir_sim_core::api::SimDuration;
use weir_sim_core::{Outcome, PhaseListener, PhaseRecord, RunOptions, Simulation, TaskId};

/// A run whose phases are handed over, read at most once in `every`.
fn listened(world: &World, name: &str, options: RunOptions<'_>, every: SimDuration) -> (Outcome, Vec<PhaseRecord>) {
    let (mut arbiter, flags) = arbiter(name, &world.fabric.view());
    let simulation = Simulation { fabric: &world.fabric, routes: &world.routes, tasks: &world.tasks };
    let mut taken = Vec::new();
    let listener = PhaseListener { every, take: &mut |phase| taken.push(phase) };
    let outcome = simulation.run_with_listener(arbiter.as_mut(), flags, options, listener).expect("all end");
    (outcome, taken)
}

proptest! {
    #[test]
    fn phases_are_told_as_they_are_kept(case in case(3..12, 1..24), name in any_arbiter(), turned in any::<bool>()) {
        let Some(mut world) = case.world() else { return Ok(()) };
        if turned {
            let all: Vec<TaskId> = (0..world.tasks.tasks().len()).rev().map(|task| TaskId(task as u32)).collect();
            world.tasks.set_order(&all);
        }
        let options = RunOptions { phases: true, explain: true, ..RunOptions::default() };
        let (outcome, taken) = listened(&world, name, options, SimDuration::ZERO);
        prop_assert_eq!(Outcome { phases: Some(taken), ..outcome }, run(&world, name, options));
    }

    /// A phase that is read has the rates of its first instant, and the next is read as soon as rates differ and it is due.
    #[test]
    fn phases_are_read_once_in_a_while(case in case(3..12, 1..24), name in any_arbiter(), part in 1..40_u64) {
        let Some(world) = case.world() else { return Ok(()) };
        let all = run(&world, name, RunOptions { phases: true, ..RunOptions::default() });
        let phases = all.phases.expect("are recorded");
        let every = SimDuration(all.now.0 / part);
        let (outcome, read) = listened(&world, name, RunOptions::default(), every);
        prop_assert_eq!((outcome.fingerprint, outcome.phases), (all.fingerprint, None));
        prop_assert!(read.len() as u64 <= part + 1);
        for phase in &read {
            let of = phases.iter().find(|of| (of.start..of.end).contains(&phase.start));
            prop_assert_eq!(of.map(|of| &of.rates), Some(&phase.rates));
        }
        for pair in read.windows(2) {
            prop_assert!(pair[1].start >= pair[0].start.after(every));
        }
        // Whoever moves bytes for so long is seen.
        for phase in phases.iter().filter(|phase| phase.end - phase.start > every) {
            prop_assert!(read.iter().any(|one| one.rates == phase.rates), "{phase:?} {read:?}");
        }
    }

    /// Rates times their phases are the bytes that were sent, and no link carries more than its bandwidth.
    #[test]
    fn phases_of_changes_add_up(case in case(3..12, 1..40)) {
        let Some(world) = case.world() else { return Ok(()) };
        for (entry, name) in policies() {
            let (outcome, phases) = listened(&world, name, incremental(&entry), SimDuration::ZERO);
            prop_assert!(outcome.phases.is_none());
            let mut sent = vec![0.0; outcome.tasks.len()];
            for phase in &phases {
                prop_assert!(phase.steps.is_empty() && phase.rates.is_sorted_by_key(|&(task, _)| task));
                let mut loads = vec![0.0; world.fabric.links().len()];
                for &(task, rate) in &phase.rates {
                    sent[task.index()] += rate * (phase.end - phase.start).seconds();
                    let route = world.tasks.classes().route(world.class_of(task.index()));
                    world.routes.links(route).iter().for_each(|link| loads[link.index()] += rate);
                }
                for (load, link) in loads.iter().zip(world.fabric.links()) {
                    prop_assert!(*load <= link.bandwidth * (1.0 + 1e-9), "{name}: {load} over {}", link.bandwidth);
                }
            }
            for (task, sent) in sent.iter().enumerate() {
                // Ends are rounded up to picoseconds.
                let bytes = outcome.sent_bytes[task] as f64;
                prop_assert!((sent - bytes).abs() <= bytes * 1e-6 + 1.0, "{name}: {sent} of {bytes}");
            }
        }
    }
}
