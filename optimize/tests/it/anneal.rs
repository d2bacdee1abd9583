//! Annealing: the simulation reproduces what it finds, seeds repeat, bounds hold.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{LONE, coordinates, halo_on_t2, two_t2};
use proptest::prelude::*;
use weir_optimize::order::{AnnealOptions, ClassOrders, Enumeration, anneal, root_bound};

static GO: AtomicBool = AtomicBool::new(false);

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Thousands of swaps restarted from snapshots: were one of them not a full run, the simulation would differ.
    #[test]
    fn the_simulation_reproduces_it(world in crate::common::world(), seed: u64) {
        let problem = world.problem();
        let options = AnnealOptions { evaluations: 2_000, chains: 2, seed, ..AnnealOptions::default() };
        let found = anneal(&problem, &options, &GO).expect("it runs");
        prop_assert_eq!(world.simulate(&found.order), found.makespan);
        prop_assert!(found.makespan <= found.baseline && found.bound <= found.makespan as f64);
        prop_assert!(root_bound(&problem) <= found.makespan as f64 * (1.0 + 1e-12));
        prop_assert_eq!(anneal(&problem, &options, &GO).expect("it runs"), found);
    }
}

/// Section VIII.A: the best of 20,736 orders, which is also the bound, so that it proves itself.
#[test]
fn the_2d_halo_reaches_its_bound() {
    let world = halo_on_t2(&[4, 2], "pcie-congestion");
    let problem = world.problem();
    let found =
        anneal(&problem, &AnnealOptions { evaluations: 50_000, chains: 2, seed: 1, ..AnnealOptions::default() }, &GO)
            .expect("it runs");
    assert!(found.proved() && found.complete, "{}", found.makespan as f64 / LONE);
    let all = Enumeration::new(&problem, true).expect("covered");
    let mut part = all.part(1, 1).expect("a shard");
    let best = all.go_on(&mut part, &GO, &mut ()).expect("it ends").expect("an order");
    assert!(found.makespan as f64 <= best.makespan as f64 * (1.0 + 1e-9));
}

/// A 4 × 2 × 2 halo on two T2 trees, root bounds in units of one lone message. Under a switch: into each board switch
/// below a root complex go 4 messages of the same half and 4 of the other, all of which have crossed that root complex,
/// at 1 − tau each: 8 · 1.21 = 9.68. Under one root complex: the 8 messages between the halves, at the same.
#[test]
fn sixteen_gpus() {
    for one_root in [false, true] {
        let world = two_t2(one_root, "pcie-congestion");
        let problem = world.problem();
        let bound = root_bound(&problem) / LONE;
        assert!((bound - 9.68).abs() < 1e-6, "{bound}");
        let found = anneal(
            &problem,
            &AnnealOptions { evaluations: 20_000, chains: 1, seed: 1, ..AnnealOptions::default() },
            &GO,
        )
        .expect("it runs");
        assert_eq!(world.simulate(&found.order), found.makespan);
        assert!(found.makespan < found.baseline);
        assert!(found.makespan as f64 / LONE < bound * 1.1, "{}", found.makespan as f64 / LONE);
    }
}

/// 64 GPUs: from four classes by (x + y) mod 2 and z mod 2 a few hundred orders do better than from a random one.
#[test]
fn classes_are_a_good_start_for_large_grids() {
    let world = crate::common::four_sockets("max-min");
    let problem = world.problem();
    let classes = ClassOrders::by_parity(&problem, |node| coordinates(&world, &[4, 4, 4], node), &[0b011, 0b100]);
    let of = |classes| AnnealOptions { evaluations: 600, chains: 2, seed: 1, classes, ..AnnealOptions::default() };
    let by_class = anneal(&problem, &of(vec![classes.expect("coordinates")]), &GO).expect("it runs");
    let random = anneal(&problem, &of(Vec::new()), &GO).expect("it runs");
    assert!(by_class.makespan < random.makespan, "{} {}", by_class.makespan, random.makespan);
    assert_eq!(world.simulate(&by_class.order), by_class.makespan);
    assert!(ClassOrders::by_parity(&problem, |_| None, &[1]).is_none());
}

/// Classes of a 4 × 2 × 2 halo on two T2 reach the bound, and one seed gives one order on 1 and 2 threads.
#[test]
fn the_same_on_any_number_of_threads() {
    let world = two_t2(false, "pcie-congestion");
    let problem = world.problem();
    let by = |masks: &[u32]| ClassOrders::by_parity(&problem, |node| coordinates(&world, &[4, 2, 2], node), masks);
    let classes: Vec<ClassOrders> = [[0b011, 0b100], [0b110, 0b001]].iter().filter_map(|masks| by(masks)).collect();
    assert_eq!(classes.len(), 2);
    let on = |threads: usize, classes: &[ClassOrders], evaluations| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let options =
            AnnealOptions { evaluations, chains: 3, seed: 5, classes: classes.to_vec(), ..AnnealOptions::default() };
        pool.install(|| anneal(&problem, &options, &GO)).expect("it runs")
    };
    for classes in [&classes[..], &[]] {
        let one = on(1, classes, 2_000);
        assert_eq!(one, on(2, classes, 2_000));
        assert_eq!(world.simulate(&one.order), one.makespan);
    }
    let long = on(2, &classes, 60_000);
    assert!(long.makespan as f64 <= long.bound * 1.02, "{}", long.makespan as f64 / LONE);
}

/// A time ends a search that no number of orders would.
#[test]
fn a_time_is_an_end() {
    let world = two_t2(true, "pcie-congestion");
    let time = Some(Duration::from_millis(100));
    let options = AnnealOptions { evaluations: 1 << 40, time, chains: 2, seed: 3, ..AnnealOptions::default() };
    let found = anneal(&world.problem(), &options, &GO).expect("it ends");
    assert!(found.complete && found.evaluated > 2);
    assert_eq!(world.simulate(&found.order), found.makespan);
}

/// The flag ends lists of classes of 64 sources, whose runs are long; what was found is kept.
#[test]
fn a_flag_that_is_raised_later_ends_it() {
    let world = crate::common::four_sockets("pcie-congestion");
    let problem = world.problem();
    let classes = ClassOrders::by_parity(&problem, |node| coordinates(&world, &[4, 4, 4], node), &[0b011, 0b100]);
    let classes = vec![classes.expect("coordinates")];
    let (stop, seed) = (AtomicBool::new(false), 2);
    let options = AnnealOptions { evaluations: 1 << 40, chains: 2, seed, classes, ..AnnealOptions::default() };
    let found = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            stop.store(true, Ordering::Relaxed);
        });
        anneal(&problem, &options, &stop).expect("it stops")
    });
    assert!(!found.complete && found.makespan <= found.baseline);
    assert_eq!(world.simulate(&found.order), found.makespan);
}

#[test]
fn a_cancelled_search_keeps_its_best() {
    let world = halo_on_t2(&[2, 2, 2], "max-min");
    let stop = AtomicBool::new(true);
    let found = anneal(
        &world.problem(),
        &AnnealOptions { evaluations: 1 << 40, chains: 2, seed: 0, ..AnnealOptions::default() },
        &stop,
    );
    let found = found.expect("it stops");
    assert!(!found.complete && found.makespan <= found.baseline);
}
