//! Phases that a listener takes one by one, of both ways, each of them or some.

use crate::common::{World, arbiter, case};
use crate::incremental::{incremental, policies};
use crate::properties::{any_arbiter, run};
use proptest::prelude::*;
use weir_sim_core::api::{SimDuration, SimTime};
use weir_sim_core::{Listener, Outcome, PhaseRecord, RunOptions, Simulation, TaskId};

fn run_with(world: &World, name: &str, options: RunOptions<'_>, listener: Listener<'_>) -> Outcome {
    let (mut arbiter, flags) = arbiter(name, &world.fabric.view());
    let simulation = Simulation { fabric: &world.fabric, routes: &world.routes, tasks: &world.tasks };
    simulation.run_with_listener(arbiter.as_mut(), flags, options, listener).expect("all end")
}

/// A run whose phases are handed over.
fn listened(world: &World, name: &str, options: RunOptions<'_>) -> (Outcome, Vec<PhaseRecord>) {
    let mut taken = Vec::new();
    let outcome = run_with(world, name, options, Listener::Phases(&mut |phase| taken.push(phase)));
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
        let (outcome, taken) = listened(&world, name, options);
        prop_assert_eq!(Outcome { phases: Some(taken), ..outcome }, run(&world, name, options));
    }

    /// What has been sent at an instant is the rates of the phases until then, in both ways.
    #[test]
    fn progress_is_that_of_the_rates(case in case(3..12, 1..24), which in 0..5_usize, both in any::<bool>(), part in 1..40_u64) {
        let Some(world) = case.world() else { return Ok(()) };
        let (entry, name) = policies().into_iter().nth(which).expect("five policies");
        let options = if both { incremental(&entry) } else { RunOptions::default() };
        let (all, phases) = listened(&world, name, options);
        let every = SimDuration((all.now.0 / part).max(1));
        let mut told = Vec::new();
        let take = &mut |time: SimTime, sent: &[(TaskId, u64)]| told.push((time, sent.to_vec()));
        let outcome = run_with(&world, name, options, Listener::Progress { every, take });
        prop_assert_eq!((outcome.fingerprint, outcome.phases), (all.fingerprint, None));
        prop_assert!(told.len() as u64 >= part - 1 && told.len() as u64 <= part + 1);
        for (number, (time, sent)) in (1..).zip(&told) {
            prop_assert_eq!(*time, SimTime(number * every.0));
            for &(task, bytes) in sent {
                let until = |phase: &PhaseRecord| (phase.end.min(*time) - phase.start.min(*time)).seconds();
                let of = |phase: &PhaseRecord| phase.rates.iter().find(|of| of.0 == task).map_or(0.0, |of| of.1);
                let expected: f64 = phases.iter().map(|phase| of(phase) * until(phase)).sum();
                prop_assert!((bytes as f64 - expected).abs() <= expected * 1e-6 + 1.0, "{name}: {bytes}, {expected}");
            }
        }
    }

    /// Rates times their phases are the bytes that were sent, and no link carries more than its bandwidth.
    #[test]
    fn phases_of_changes_add_up(case in case(3..12, 1..40)) {
        let Some(world) = case.world() else { return Ok(()) };
        for (entry, name) in policies() {
            let (outcome, phases) = listened(&world, name, incremental(&entry));
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
