//! Methods by name, the common result, and what the search refuses.

use std::sync::atomic::AtomicBool;

use crate::common::{LONE, halo_on_t2, random_on_t2};
use weir_optimize::order::{OrderError, OrderOptions, OrderProblem, TaskRefusal, largest_potential, search};
use weir_optimize::parameters::Shard;
use weir_optimize::search::{Method, Vary};
use weir_sim_core::api::{CallError, Flags, Grant, NodeKind, PhaseView, RateArbiter, SimTime};
use weir_sim_core::{
    AnswerError, EngineId, FabricBuilder, Routes, ServiceId, Task, TaskGraph, TaskGraphBuilder, TaskId, Work,
};

static GO: AtomicBool = AtomicBool::new(false);

/// Martinasso et al., SC16, VIII.A. The order on the slides is a fastest one; 4.84 lone messages.
#[test]
fn auto_visits_small_spaces() {
    let world = halo_on_t2(&[4, 2], "pcie-congestion");
    let found = search(&world.problem(), &OrderOptions::default(), &GO, &mut ()).expect("covered").result;
    assert_eq!((found.vary, found.method), (Vary::Order, Method::Exhaustive));
    assert_eq!((found.candidates, found.evaluated), (Some(20_736), 20_736));
    assert!(found.complete && found.proved_optimal && found.bound == Some(found.best));
    assert!((found.best / LONE - 4.84).abs() < 1e-6);
    assert_eq!(world.simulate(&found.solution) as f64, found.best);
    let sorted = found.percentiles.expect("all were visited");
    assert!(sorted.is_sorted() && found.best <= sorted[0] && Some(sorted[5]) <= found.worst);
    assert!(found.median > Some(sorted[2]) && found.median < Some(sorted[3]));
    assert!(found.best_count.is_some_and(|count| count > 0 && count < 20_736));
    assert!(found.mean.is_some_and(|mean| mean > found.best));
}

/// 24^8 orders: by branch and bound where it ends, else by annealing; either way with a bound.
#[test]
fn auto_goes_on_to_other_methods() {
    let world = random_on_t2(4, 3, "max-min");
    let found = search(&world.problem(), &OrderOptions::default(), &GO, &mut ()).expect("covered").result;
    assert_eq!(found.method, Method::BranchAndBound);
    assert!(found.proved_optimal && found.bound >= Some(found.best * (1.0 - 2e-9)));
    let few = OrderOptions { nodes: 1, ..OrderOptions::default() };
    let world = random_on_t2(4, 1, "pcie-congestion");
    let found = search(&world.problem(), &few, &GO, &mut ()).expect("covered").result;
    assert!(found.bound <= Some(found.best) && found.best <= found.baseline);
    assert_eq!(world.simulate(&found.solution) as f64, found.best);
}

#[test]
fn too_large_a_space_is_refused_with_its_size() {
    let world = random_on_t2(4, 3, "max-min");
    let options = OrderOptions { method: Method::Exhaustive, ..OrderOptions::default() };
    let error = search(&world.problem(), &options, &GO, &mut ()).expect_err("24^8 orders").to_string();
    assert!(error.contains("110075314176") && error.contains("`anneal`"), "{error}");
}

/// A shard that was visited to its end proves nothing of the whole.
#[test]
fn a_shard_proves_nothing() {
    let world = halo_on_t2(&[4, 2], "pcie-congestion");
    let shard = Some(Shard::new(1, 2).expect("a shard"));
    let options = OrderOptions { method: Method::Exhaustive, shard, ..OrderOptions::default() };
    let found = search(&world.problem(), &options, &GO, &mut ()).expect("covered").result;
    assert!(found.complete && !found.proved_optimal && found.evaluated < 20_736, "{found:?}");
    assert!(found.bound.is_some_and(|bound| bound < found.best));
}

/// Interrupted before the first order was visited: the workload's own is the best so far, and nothing is proved.
#[test]
fn an_interrupted_enumeration_is_not_complete() {
    let world = halo_on_t2(&[4, 2], "pcie-congestion");
    let options = OrderOptions { method: Method::Exhaustive, ..OrderOptions::default() };
    let found = search(&world.problem(), &options, &AtomicBool::new(true), &mut ()).expect("covered").result;
    assert!(!found.complete && !found.proved_optimal && found.best == found.baseline, "{found:?}");
    assert!(found.bound.is_some_and(|bound| bound <= found.best));
}

/// Every potential uses at most the whole of every moment: g(S) ≤ 1 + 1e-9 on all active sets.
#[test]
fn potentials_hold_on_all_active_sets() {
    for arbiter in ["pcie-congestion", "max-min", "equal-share"] {
        for world in [halo_on_t2(&[2, 2, 2], arbiter), random_on_t2(2, 7, arbiter)] {
            let largest = largest_potential(&world.problem()).expect("no error").expect("a table");
            assert!(largest <= 1.0 + 1e-9 && largest > 0.99, "{arbiter}: {largest}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn potentials_hold_with_root_complexes_below_the_root(world in crate::common::world()) {
        if let Some(largest) = largest_potential(&world.problem()).expect("no error") {
            proptest::prop_assert!(largest <= 1.0 + 1e-9, "{}", largest);
        }
    }
}

/// Two transfers from one device to another, changed by the caller; what is said about them.
fn refusal(slots: u32, change: impl Fn(&mut TaskGraphBuilder, &mut [Task])) -> Option<OrderError> {
    let mut b = FabricBuilder::new();
    let root = b.root(NodeKind::Switch).expect("root");
    let gpus = [(); 2].map(|()| b.child(root, NodeKind::Gpu, crate::common::link(1e9)).expect("gpu"));
    let (fabric, mut routes, mut graph) = (b.build(), Routes::new(), TaskGraphBuilder::new());
    let engine = graph.engine(gpus[0], "send", slots).expect("an engine");
    let route = routes.between(&fabric, gpus[0], gpus[1]).expect("connected");
    let class = graph.classes().intern(route, f64::INFINITY, 1.0, 0);
    let work = Work::Carries { bytes: 1_000, class };
    let mut tasks = [Task { start: SimTime::ZERO, engine, service: ServiceId::PLAIN, work }; 3];
    change(&mut graph, &mut tasks);
    tasks.into_iter().for_each(|task| {
        graph.task(task);
    });
    let tasks: TaskGraph = graph.build().expect("no cycle");
    let make = || Err(CallError::Failed("made".to_owned()));
    OrderProblem::new(&fabric, &routes, &tasks, make, Flags::PURE).err()
}

#[test]
fn what_is_not_covered_is_named() {
    let task = |error: Option<OrderError>| match error {
        Some(OrderError::Task { task, why }) => (task, why),
        other => panic!("{other:?}"),
    };
    let of = |slots, change: &dyn Fn(&mut TaskGraphBuilder, &mut [Task])| task(refusal(slots, change));
    assert_eq!(of(1, &|_, t| t[1].start = SimTime(1)), (TaskId(1), TaskRefusal::StartsLater));
    assert_eq!(of(1, &|g, _| g.wait(TaskId(2), TaskId(0))), (TaskId(2), TaskRefusal::Waits));
    assert_eq!(of(1, &|g, _| g.wait_start(TaskId(1), TaskId(0))), (TaskId(1), TaskRefusal::Waits));
    let nothing = Work::Nothing { counted: true };
    assert_eq!(of(1, &|_, t| t[2].work = nothing), (TaskId(2), TaskRefusal::NotATransfer));
    assert_eq!(of(2, &|_, _| ()), (TaskId(0), TaskRefusal::Slots { slots: 2, count: 3 }));
    // A slot for each, or no engine: nothing to order, but covered, so that the arbiter is made (and fails here).
    let made = Some(OrderError::Arbiter(CallError::Failed("made".to_owned())));
    assert_eq!(refusal(3, |_, _| ()), made);
    assert_eq!(refusal(1, |_, t| t[0].engine = EngineId::NONE), made);
}

#[test]
fn arbiters_with_a_memory_are_refused() {
    let world = halo_on_t2(&[4, 2], "max-min");
    let make = || Ok(world.make().0);
    let with = |flags| OrderProblem::new(&world.fabric, &world.routes, &world.tasks, make, flags).err();
    assert_eq!(with(Flags::default()), Some(OrderError::NotPure));
    assert_eq!(with(Flags::PURE.union(Flags::READS_ARRIVAL)), Some(OrderError::ReadsArrival));
    assert_eq!(with(Flags::PURE), None);
}

/// An arbiter with a fixed answer, right or wrong.
struct Fixed {
    rate: f64,
    recheck: SimTime,
}

impl RateArbiter for Fixed {
    fn allocate(&mut self, _: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        grant.rates.fill(self.rate);
        grant.recheck = self.recheck;
        Ok(())
    }
}

/// It claims to be pure, and gives every other answer half of the rate.
#[derive(Default)]
struct Alternating(u32);

impl RateArbiter for Alternating {
    fn allocate(&mut self, _: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        self.0 += 1;
        grant.rates.fill(if self.0.is_multiple_of(2) { 5e8 } else { 1e9 });
        Ok(())
    }
}

/// Nothing is proved by the answers of an arbiter that only claims to be pure.
#[test]
fn an_arbiter_that_is_not_as_pure_as_it_claims_is_found_out() {
    let world = halo_on_t2(&[4, 2], "max-min");
    let make = || Ok(Box::new(Alternating::default()) as Box<dyn RateArbiter>);
    let problem = OrderProblem::new(&world.fabric, &world.routes, &world.tasks, make, Flags::PURE).expect("covered");
    for method in [Method::Exhaustive, Method::BranchAndBound, Method::Anneal] {
        let options = OrderOptions { method, ..OrderOptions::default() };
        let error = search(&problem, &options, &GO, &mut ()).expect_err("another answer");
        let impure = matches!(error, OrderError::Answer(AnswerError::Impure { rate: 1e9, again: 5e8, .. }));
        assert!(impure, "{method:?}: {error}");
    }
}

/// Wrong answers end every method with what is wrong, as they end a run.
#[test]
fn wrong_answers_are_refused() {
    let world = halo_on_t2(&[4, 2], "max-min");
    let with = |rate, recheck, method| {
        let make = move || Ok(Box::new(Fixed { rate, recheck }) as Box<dyn RateArbiter>);
        let problem =
            OrderProblem::new(&world.fabric, &world.routes, &world.tasks, make, Flags::PURE).expect("covered");
        search(&problem, &OrderOptions { method, ..OrderOptions::default() }, &GO, &mut ()).expect_err("a wrong answer")
    };
    let never = SimTime::NEVER;
    for method in [Method::Exhaustive, Method::BranchAndBound, Method::Anneal] {
        assert!(matches!(with(f64::NAN, never, method), OrderError::Answer(AnswerError::NotARate { .. })));
        assert!(matches!(with(-1.0, never, method), OrderError::Answer(AnswerError::NotARate { .. })));
        assert!(matches!(with(11.6e9, never, method), OrderError::Answer(AnswerError::OverCapacity { .. })));
        assert_eq!(with(1e9, SimTime(5), method), OrderError::Recheck);
        assert_eq!(with(0.0, never, method), OrderError::Stuck);
        // 300 MB at 1 kB/s are 83 hours.
        assert_eq!(with(1e3, never, method), OrderError::TooLong);
    }
}
