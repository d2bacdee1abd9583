//! Branch and bound: published and measured optima, brute force, bounds below every order, threads.

use std::sync::atomic::AtomicBool;

use crate::common::{LONE, World, all_orders, halo_on_t2, tree};
use proptest::prelude::*;
use weir_optimize::order::{BranchOptions, OrderError, OrderProblem, Rule, branch_and_bound, root_bound};
use weir_sim_core::api::{CallError, Flags, Grant, PhaseView, RateArbiter};
use weir_sim_core::{RunOptions, Simulation};

static GO: AtomicBool = AtomicBool::new(false);
const EXACT: BranchOptions = BranchOptions { rule: Rule::Exact, nodes: u64::MAX };

/// Optima of the paper's halo exchanges on T2 in units of one lone message: 3-D as in the published enumeration; 2-D
/// and, under `max-min`, both equal the root bound: each of the two root complex ports down carries 4 messages at
/// 1 − tau, 4 · 1.21 = 4.84 (under `pcie-congestion`).
#[test]
fn proven_halos_on_t2() {
    for (grid, arbiter, best, tight) in
        [(vec![2, 2, 2], "pcie-congestion", 4.863795506, false), (vec![4, 2], "pcie-congestion", 4.84, true)]
    {
        let world = halo_on_t2(&grid, arbiter);
        let problem = world.problem();
        assert!((root_bound(&problem) / LONE - 4.84).abs() < 1e-6, "{}", root_bound(&problem) / LONE);
        let found = branch_and_bound(&problem, BranchOptions::default(), &GO).expect("covered");
        assert!(found.proved);
        let ratio = found.best.makespan as f64 / LONE;
        assert!((ratio - best).abs() < 1e-8, "{ratio}");
        assert!(found.bound <= found.best.makespan as f64 && found.nodes < 5_000, "{found:?}");
        assert_eq!(tight, root_bound(&problem) >= found.best.makespan as f64 * (1.0 - 1e-9));
        let order = problem.order(found.best.number).expect("a number of an order");
        assert_eq!(world.simulate(&order), found.best.makespan);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_best_is_that_of_brute_force(world in crate::common::world()) {
        let problem = world.problem();
        let brute = all_orders(&problem).iter().map(|order| world.simulate(order)).min().expect("an order");
        let exact = branch_and_bound(&problem, EXACT, &GO).expect("covered");
        prop_assert!(exact.proved);
        prop_assert_eq!(exact.best.makespan, brute);
        let order = problem.order(exact.best.number).expect("an order");
        prop_assert_eq!(world.simulate(&order), brute);
        prop_assert_eq!(problem.number(&order), Some(exact.best.number));
        prop_assert!(root_bound(&problem) <= brute as f64 * (1.0 + 1e-12));
        prop_assert_eq!(exact.bound, brute as f64);
        let close = branch_and_bound(&problem, BranchOptions::default(), &GO).expect("covered");
        let found = close.best.makespan as f64;
        prop_assert!(close.proved && found <= brute as f64 * (1.0 + 1e-9) + 1.0);
        prop_assert!(close.bound <= found && close.bound >= found * (1.0 - 1e-9));
        // Stopped at once, the bound holds all the same.
        let one = BranchOptions { nodes: 1, ..BranchOptions::default() };
        let stopped = branch_and_bound(&problem, one, &GO).expect("covered");
        prop_assert!(stopped.bound <= brute as f64 * (1.0 + 1e-12), "{:?} {}", stopped, brute);
        prop_assert!(stopped.nodes <= 1 && stopped.bound >= root_bound(&problem).min(stopped.best.makespan as f64));
    }
}

/// 8 GPUs of T2 with three messages each, drawn once: enough nodes for several batches of subtrees.
#[test]
fn the_number_of_threads_changes_nothing() {
    let world = crate::common::random_on_t2(3, 5, "pcie-congestion");
    let problem = world.problem();
    let options = BranchOptions { rule: Rule::Exact, nodes: 150_000 };
    let found = [1, 2, 8].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| branch_and_bound(&problem, options, &GO).expect("covered"))
    });
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

/// Cancelled before it begins, only what is known without a search is said.
#[test]
fn a_cancelled_search_knows_the_baseline_and_the_root_bound() {
    let world = halo_on_t2(&[4, 2], "pcie-congestion");
    let problem = world.problem();
    let found = branch_and_bound(&problem, EXACT, &AtomicBool::new(true)).expect("covered");
    let own: Vec<_> = (0..problem.sources()).map(|source| problem.transfers(source)).collect();
    assert_eq!((found.baseline, found.best.makespan, found.runs), (world.simulate(&own), found.baseline, 1));
    assert!(!found.proved && root_bound(&problem) < found.baseline as f64);
    assert_eq!(found.bound, root_bound(&problem));
}

/// Gives every transfer a billionth more than its link of 1 GB/s has, which the check of answers lets pass.
struct Generous;

impl RateArbiter for Generous {
    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        grant.rates[..phase.len()].fill(1e9 * (1.0 + 1e-9));
        Ok(())
    }
}

/// Where a policy does not say what its links can carry, they may carry as much more as the check of its answers lets pass.
#[test]
fn the_root_bound_holds_for_rates_within_the_tolerance() {
    let (fabric, gpus) = tree(&[], &[0], true, 0);
    let world = World::new(fabric, gpus, &[(0, 1, 10_000_000), (0, 1, 10_000_000)], "max-min", 0.0);
    let make = || Ok(Box::new(Generous) as Box<dyn RateArbiter>);
    let problem = OrderProblem::new(&world.fabric, &world.routes, &world.tasks, make, Flags::PURE).expect("covered");
    let simulation = Simulation { fabric: &world.fabric, routes: &world.routes, tasks: &world.tasks };
    let makespan = simulation.run(&mut Generous, Flags::PURE, RunOptions::default()).expect("it ends").makespan.0;
    assert!(makespan < 20_000_000_000);
    let bound = root_bound(&problem);
    assert!(bound <= makespan as f64 && bound >= 20e9 * (1.0 - 3e-9), "{bound} of {makespan}");
}

/// A source may have 32 messages left, a bit each, even where the number of orders fits: 33! is below 2^128.
#[test]
fn more_messages_of_a_source_than_a_tree_covers_are_refused() {
    let world = |messages: u64| {
        let (fabric, gpus) = tree(&[], &[0], true, 0);
        let sent: Vec<_> = (0..messages).map(|i| (0, 1, 1_000_000 + i)).collect();
        World::new(fabric, gpus, &sent, "max-min", 0.0)
    };
    let search = |world: &World| branch_and_bound(&world.problem(), EXACT, &AtomicBool::new(true));
    assert!(search(&world(32)).is_ok());
    let refused = search(&world(33)).expect_err("too many");
    assert!(matches!(refused, OrderError::TooManyOrders { candidates: Some(_), instead: "anneal", .. }), "{refused:?}");
}
