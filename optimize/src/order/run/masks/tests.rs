//! Masks against the arbiter itself, and against published numbers.

use proptest::prelude::*;
use weir_sim_core::api::{NodeId, NodeKind, SimTime};
use weir_sim_core::{Fabric, FabricBuilder, Routes, ServiceId, Task, TaskGraphBuilder, Work};

use super::MaskRates;
use crate::order::OrderProblem;
use crate::order::run::oracle::Oracle;
use crate::order::run::plan::{Plan, splitmix};

#[path = "../../../../tests/common/mod.rs"]
mod common;
use common::{BANDWIDTH, World, halo_on_t2, link, t2, world};

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

/// A random machine: two or three root complexes under a switch, neighbours joined by lateral links, each with endpoints
/// of its own and below switches; some ends are cpus, some messages have limits, links are unequal.
fn sockets(mut seed: u64) -> World {
    let mut draw = |below: u64| (splitmix(&mut seed) >> 33) % below;
    let (mut b, mut ends, mut complexes) = (FabricBuilder::new(), Vec::new(), Vec::new());
    let root = b.root(NodeKind::Switch).expect("root");
    let widths = [1.0, 1.0, 2.0, 1.3].map(|factor| link(factor * BANDWIDTH));
    for _ in 0..2 + draw(2) {
        let complex = b.child(root, NodeKind::RootComplex, widths[draw(4) as usize]).expect("complex");
        complexes.push(complex);
        for _ in 0..1 + draw(3) {
            let inner = draw(3) > 0;
            let width = widths[draw(4) as usize];
            let parent = if inner { b.child(complex, NodeKind::Switch, width).expect("switch") } else { complex };
            for _ in 0..1 + draw(3) {
                let kind = if draw(4) == 0 { NodeKind::Cpu } else { NodeKind::Gpu };
                ends.push(b.child(parent, kind, widths[draw(4) as usize]).expect("end"));
            }
        }
    }
    for pair in complexes.windows(2) {
        b.lateral(pair[0], pair[1], widths[draw(4) as usize]).expect("lateral");
    }
    let count = ends.len() as u64;
    let mut sent = Vec::new();
    for from in 0..count {
        for _ in 0..1 + draw(3) {
            let to = (from + 1 + draw(count - 1)) % count;
            let limit = if draw(3) == 0 { (1 + draw(20)) as f64 / 10.0 } else { f64::INFINITY };
            sent.push((from as usize, to as usize, limit));
        }
    }
    let tau = draw(5) as f64 / 10.0;
    limited(b.build(), ends, &sent, tau)
}

/// Messages with limits in parts of the common bandwidth.
fn limited(fabric: Fabric, ends: Vec<NodeId>, sent: &[(usize, usize, f64)], tau: f64) -> World {
    let world = World::new(fabric, ends, &[], "pcie-congestion", tau);
    let (mut routes, mut graph) = (Routes::new(), TaskGraphBuilder::new());
    for &(from, to, limit) in sent {
        let engine = graph.engine(world.gpus[from], "send", 1).expect("one number of slots");
        let route = routes.between(&world.fabric, world.gpus[from], world.gpus[to]).expect("connected");
        let class = graph.classes().intern(route, limit * BANDWIDTH, 1.0, 0);
        let work = Work::Carries { bytes: 1_000_000, class };
        graph.task(Task { start: SimTime::ZERO, engine, service: ServiceId::PLAIN, work });
    }
    World { routes, tasks: graph.build().expect("no waits"), ..world }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Lateral links, limits and cpu ends.
    #[test]
    fn random_sockets(seed: u64) {
        let largest = largest_difference(&sockets(seed), 50, seed);
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

/// The factors of messages of distinct sources that are all active: after step C, and at the end.
fn both_factors(world: &World) -> (Vec<f64>, Vec<f64>) {
    let problem = world.problem().with_quick_rates();
    let plan = Plan::new(&problem);
    let (mut digits, mut rates) = ([0; 64], [0.0; 64]);
    digits[..plan.sources].fill(1);
    let mut masks = masks(&problem, &plan);
    masks.ask(&plan, &digits, &mut rates);
    let of = |rates: &[f64]| rates[..plan.sources].iter().map(|rate| rate / BANDWIDTH).collect();
    (of(&masks.arrived), of(&rates))
}

/// The factors of lone messages of distinct sources on T2 that are all active.
fn factors(pairs: &[(usize, usize)], tau: f64) -> Vec<f64> {
    let sent: Vec<(usize, usize, f64)> = pairs.iter().map(|&(from, to)| (from, to, f64::INFINITY)).collect();
    let (fabric, gpus) = t2_fabric();
    both_factors(&limited(fabric, gpus, &sent, tau)).1
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

/// Section V-B, example 1: factors 0.6 and 0.4 enter by one port, 0.3 and 0.5 by another; upstream 1 / 1.8 of each is left.
#[test]
fn example_1_upstream() {
    let (mut b, mut gpus) = (FabricBuilder::new(), Vec::new());
    let root = b.root(NodeKind::Switch).expect("root");
    for inner in [true, false] {
        let half = b.child(root, NodeKind::Switch, link(BANDWIDTH)).expect("half");
        for _ in 0..2 {
            let parent = if inner { b.child(half, NodeKind::Switch, link(BANDWIDTH)).expect("board") } else { half };
            gpus.extend([(); 2].map(|()| b.child(parent, NodeKind::Gpu, link(BANDWIDTH)).expect("gpu")));
        }
    }
    let limits = [0.6, 0.4, 0.3, 0.5];
    let sent: Vec<(usize, usize, f64)> = (0..4).map(|i| (i, i + 4, limits[i])).collect();
    let (arrived, _) = both_factors(&limited(b.build(), gpus, &sent, 0.2));
    close(&arrived, &limits.map(|limit| limit / 1.8));
}

/// Section V-C, example 2: 0.7 across the root complex and 0.9 from the neighbour; tau = 1/5 gives 0.3 and 0.7.
#[test]
fn example_2_downstream() {
    let (fabric, gpus) = t2_fabric();
    close(&both_factors(&limited(fabric, gpus, &[(4, 1, 0.7), (0, 1, 0.9)], 0.2)).1, &[0.3, 0.7]);
}

/// Section V-D, example 3: a, b and c come by one port; a is cut where d comes from beside. Then b and c get at most what
/// a has: b is held back, c is slower anyway.
#[test]
fn example_3_head_of_line() {
    let mut b = FabricBuilder::new();
    let root = b.root(NodeKind::RootComplex).expect("root");
    let mut gpus = [(); 3].map(|()| b.child(root, NodeKind::Gpu, link(BANDWIDTH)).expect("gpu")).to_vec();
    let switch = b.child(root, NodeKind::Switch, link(BANDWIDTH)).expect("switch");
    gpus.extend([(); 4].map(|()| b.child(switch, NodeKind::Gpu, link(BANDWIDTH)).expect("gpu")));
    let sent = [(0, 3, 0.4), (1, 4, 0.35), (2, 5, 0.04), (6, 3, f64::INFINITY)];
    close(&both_factors(&limited(b.build(), gpus, &sent, 0.2)).1, &[0.3, 0.3, 0.04, 0.7]);
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
