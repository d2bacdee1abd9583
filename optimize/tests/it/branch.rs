//! Branch and bound: published and measured optima, brute force, bounds below every order, threads.

use std::sync::atomic::AtomicBool;

use crate::common::{LONE, all_orders, halo_on_t2};
use proptest::prelude::*;
use weir_optimize::order::{BranchOptions, Rule, branch_and_bound, root_bound};

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
        let close = branch_and_bound(&problem, BranchOptions::default(), &GO).expect("covered");
        prop_assert!(close.proved && close.best.makespan as f64 <= brute as f64 * (1.0 + 1e-9) + 1.0);
        // Stopped at once, the bound holds all the same.
        let one = BranchOptions { nodes: 1, ..BranchOptions::default() };
        let stopped = branch_and_bound(&problem, one, &GO).expect("covered");
        prop_assert!(stopped.bound <= brute as f64 * (1.0 + 1e-12), "{:?} {}", stopped, brute);
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
