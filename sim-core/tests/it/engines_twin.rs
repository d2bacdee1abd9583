//! Random task graphs on engines against the slow twin.

use crate::common::{ARBITERS, World, arbiter, graphs, slow};
use proptest::prelude::*;
use weir_sim_core::api::SimTime;
use weir_sim_core::{Outcome, RunOptions, SimError, Simulation, Stop};

fn run(world: &World, name: &str, until: SimTime) -> Result<Outcome, SimError> {
    let (mut arbiter, flags) = arbiter(name, &world.fabric.view());
    let simulation = Simulation { fabric: &world.fabric, routes: &world.routes, tasks: &world.tasks };
    simulation.run(arbiter.as_mut(), flags, RunOptions { until, ..RunOptions::default() })
}

/// Equal times; or the same tasks wait for engines for ever.
fn equals_the_twin(world: &World, name: &str) -> Result<(), TestCaseError> {
    let (mut twin, _) = arbiter(name, &world.fabric.view());
    match (run(world, name, SimTime::NEVER), slow::run(world, twin.as_mut())) {
        (Ok(outcome), Ok(times)) => {
            prop_assert_eq!(outcome.stop, Stop::Finished);
            prop_assert_eq!(&outcome.tasks, &times);
        }
        (Err(SimError::Deadlock { waiting, queued, .. }), Err(stuck)) => {
            prop_assert_eq!((waiting, queued), (vec![], stuck));
        }
        (found, expected) => prop_assert!(false, "{found:?}\nbut the twin says {expected:?}"),
    }
    Ok(())
}

fn any_arbiter() -> impl Strategy<Value = &'static str> {
    prop_oneof![1 => Just("max-min"), 1 => prop::sample::select(ARBITERS.to_vec())]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn small_graphs_equal_the_slow_twin(graph in graphs::graph(2..12), name in any_arbiter()) {
        let Some(world) = graph.world() else { return Ok(()) };
        equals_the_twin(&world, name)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn larger_graphs_equal_the_slow_twin(graph in graphs::graph(20..60), name in any_arbiter()) {
        let Some(world) = graph.world() else { return Ok(()) };
        equals_the_twin(&world, name)?;
    }

    /// A run stopped at any instant is the beginning of the whole run, with tasks that hold a slot and have not begun.
    #[test]
    fn a_stopped_run_is_the_beginning_of_the_whole(graph in graphs::graph(2..30), name in any_arbiter(), part in 0.0..1.2_f64) {
        let Some(world) = graph.world() else { return Ok(()) };
        let Ok(whole) = run(&world, name, SimTime::NEVER) else { return Ok(()) };
        let until = SimTime((whole.makespan.0 as f64 * part) as u64);
        let stopped = run(&world, name, until).expect("the whole run ends");
        let seen = |t: SimTime| if t <= until { t } else { SimTime::NEVER };
        for (s, w) in stopped.tasks.iter().zip(&whole.tasks) {
            prop_assert_eq!((s.ready, s.start, s.sent, s.end), (seen(w.ready), seen(w.start), seen(w.sent), seen(w.end)));
        }
    }
}
