//! Masks against the arbiter itself, and against published numbers.

use proptest::prelude::*;
use weir_sim_core::api::NodeKind;
use weir_sim_core::{Fabric, FabricBuilder};

use super::MaskRates;
use crate::order::OrderProblem;
use crate::order::plan::{Plan, splitmix};
use crate::order::rates::Oracle;

#[path = "../../../tests/common/mod.rs"]
mod common;
use common::{BANDWIDTH, Sent, World, halo_on_t2, t2, world};

fn masks(problem: &OrderProblem<'_>, plan: &Plan) -> MaskRates<64> {
    MaskRates::new(problem, plan).expect("a known arbiter")
}

/// The largest relative difference to the arbiter's rates over random sets, one after another. Each source goes on with
/// what it did one time in two, and is idle one time in four.
fn largest_difference(world: &World, sets: usize, mut seed: u64) -> f64 {
    let problem = world.problem().with_quick_rates();
    let plan = Plan::new(&problem);
    let (mut fast, mut slow) = (masks(&problem, &plan), Oracle::new(&problem).expect("it is made"));
    let (mut digits, mut rates, mut exact) = ([0; 64], [0.0; 64], vec![0.0; plan.sources]);
    let mut largest = 0.0_f64;
    for _ in 0..sets {
        for (s, current) in digits.iter_mut().enumerate().take(plan.sources) {
            let draw = splitmix(&mut seed);
            let digit = 1 + (draw >> 32) % (plan.radix[s] - 1);
            *current = match draw % 4 {
                0 => 0,
                1 => digit as u16,
                _ => *current,
            };
        }
        fast.ask(&plan, &digits, &mut rates);
        slow.ask(&plan, &digits[..plan.sources], &mut exact).expect("right answers");
        for (s, &exact) in exact.iter().enumerate() {
            assert_eq!(exact > 0.0, rates[s] > 0.0);
            largest = largest.max((rates[s] - exact).abs() / exact.max(1.0));
        }
    }
    largest
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Trees with root complexes below the root and unequal links; tau 0 to 0.4.
    #[test]
    fn random_trees(world in world().prop_filter("the arbiter", |w| w.arbiter == "pcie-congestion"), seed: u64) {
        let largest = largest_difference(&world, 50, seed);
        prop_assert!(largest <= 1e-12, "{}", largest);
    }
}

#[test]
fn halos_on_t2_and_larger() {
    let worlds = [halo_on_t2(&[2, 2, 2], "pcie-congestion"), common::two_t2(false, "pcie-congestion")];
    let more = [common::two_t2(true, "pcie-congestion"), common::four_sockets("pcie-congestion")];
    for world in worlds.iter().chain(&more) {
        let largest = largest_difference(world, 2_000, 7);
        assert!(largest <= 1e-12, "{largest}");
    }
}

fn t2_fabric() -> (Fabric, Vec<weir_sim_core::api::NodeId>) {
    let (mut b, mut gpus) = (FabricBuilder::new(), Vec::new());
    let root = b.root(NodeKind::RootComplex).expect("root");
    t2(&mut b, root, &mut gpus);
    (b.build(), gpus)
}

/// The factors of lone messages of distinct sources on T2 that are all active.
fn factors(pairs: &[(usize, usize)], tau: f64) -> Vec<f64> {
    let (fabric, gpus) = t2_fabric();
    let sent: Vec<Sent> = pairs.iter().map(|&(from, to)| (from, to, 1_000_000)).collect();
    let world = World::new(fabric, gpus, &sent, "pcie-congestion", tau);
    let problem = world.problem().with_quick_rates();
    let plan = Plan::new(&problem);
    let (mut digits, mut rates) = ([0; 64], [0.0; 64]);
    digits[..pairs.len()].fill(1);
    masks(&problem, &plan).ask(&plan, &digits, &mut rates);
    rates[..pairs.len()].iter().map(|rate| rate / BANDWIDTH).collect()
}

fn close(found: &[f64], expected: &[f64]) {
    let near = found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-12);
    assert!(near && found.len() == expected.len(), "{found:?} {expected:?}");
}

/// Martinasso et al., SC16, Table I (tau = 1/5): 0→2, 1→4 at 3/10; 3→2, 6→4 at 7/10.
#[test]
fn table_1() {
    close(&factors(&[(0, 2), (1, 4), (3, 2), (6, 4)], 0.2), &[0.3, 0.3, 0.7, 0.7]);
}

/// A lone transfer has its full rate, or 1 − tau across the root complex. Beside 4→1, which arrives at 1 − tau at the
/// port of 1's board: 0→1 comes from within the board, so weights 1/2 + tau and 1/2 − tau, 1.485 times slower than alone.
#[test]
fn one_and_two_transfers() {
    let tau = common::TAU;
    close(&factors(&[(0, 1)], tau), &[1.0]);
    close(&factors(&[(4, 1)], tau), &[1.0 - tau]);
    close(&factors(&[(0, 1), (4, 1)], tau), &[0.5 + tau, 0.5 - tau]);
    assert!((1.0 / (0.5 + tau) - 1.485).abs() < 1e-3);
}

/// Another arbiter, or one that nobody vouches for, is asked itself.
#[test]
fn only_for_the_known_arbiter() {
    for world in [halo_on_t2(&[4, 2], "max-min"), halo_on_t2(&[4, 2], "pcie-congestion")] {
        let known = world.arbiter == "pcie-congestion";
        let problem = world.problem();
        let plan = Plan::new(&problem);
        assert!(MaskRates::<8>::new(&problem, &plan).is_none());
        let problem = problem.with_quick_rates();
        assert_eq!(MaskRates::<8>::new(&problem, &plan).is_some(), known);
        assert!(MaskRates::<256>::new(&problem, &plan).is_none());
    }
}
