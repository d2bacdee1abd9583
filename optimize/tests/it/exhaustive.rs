//! All orders: published numbers, brute force through the simulation, symmetries, shards, going on after a stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{LONE, World, all_orders, halo_on_t2};
use proptest::prelude::*;
use weir_optimize::order::{Enumeration, Keeper, OrderError, Part};

static GO: AtomicBool = AtomicBool::new(false);

fn whole(world: &World, symmetries: bool) -> (Part, usize) {
    let problem = world.problem();
    let all = Enumeration::new(&problem, symmetries).expect("covered");
    let mut part = all.part(1, 1).expect("one shard");
    all.go_on(&mut part, &GO, &mut ()).expect("it ends");
    (part, all.symmetry().order())
}

/// Martinasso et al., SC16, section VIII.B: 1,679,616 orders; slowest / fastest 2.57, slowest / median 1.44. The fastest
/// order is the value of the reference enumeration in units of one lone message.
#[test]
fn the_3d_halo_on_t2() {
    let world = halo_on_t2(&[2, 2, 2], "pcie-congestion");
    let (part, symmetries) = whole(&world, true);
    assert_eq!(symmetries, 8, "xor of the device number");
    assert_eq!(part.distribution.count(), 1_679_616);
    let best = part.best.expect("there is one").makespan as f64;
    let worst = part.distribution.pairs().last().expect("not empty").0 as f64;
    let median = part.distribution.median().expect("not empty");
    assert!((best / LONE - 4.863795506).abs() < 1e-8, "{}", best / LONE);
    assert!((worst / best - 2.57).abs() < 0.005, "{}", worst / best);
    assert!((worst / median - 1.44).abs() < 0.005, "{}", worst / median);
    let plain = whole(&world, false).0;
    assert!(
        plain.distribution == part.distribution && plain.best == part.best,
        "pair by pair the same without symmetries"
    );
}

/// Section VIII.A: 20,736 orders, the fastest 4.84 lone messages; slowest / fastest 2.045 in this reading of the model.
#[test]
fn the_2d_halo_on_t2() {
    let world = halo_on_t2(&[4, 2], "pcie-congestion");
    let (part, symmetries) = whole(&world, true);
    assert_eq!(symmetries, 4, "xor with 0, 3, 4, 7");
    assert_eq!(part.distribution.count(), 20_736);
    let best = part.best.expect("there is one").makespan as f64;
    assert!((best / LONE - 4.84).abs() < 1e-6, "{}", best / LONE);
    let worst = part.distribution.pairs().last().expect("not empty").0 as f64;
    assert!((worst / best - 2.05).abs() < 0.01, "{}", worst / best);
    let plain = whole(&world, false).0;
    assert_eq!((&plain.distribution, plain.best), (&part.distribution, part.best));
}

/// Every (makespan, number) by the simulation, one order after another.
fn brute_force(world: &World) -> Vec<u64> {
    all_orders(&world.problem()).iter().map(|order| world.simulate(order)).collect()
}

/// Keeps each state, and stops the search after some.
struct Kept<'c> {
    text: String,
    left: usize,
    cancel: &'c AtomicBool,
}

impl Keeper for Kept<'_> {
    type Error = OrderError;

    fn save(&mut self, part: &Part) {
        self.text = serde_json::to_string(part).expect("plain data");
        self.left -= 1;
        self.cancel.store(self.left == 0, Ordering::Relaxed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn makespans_are_those_of_the_simulation(world in crate::common::world(), symmetries: bool) {
        let brute = brute_force(&world);
        let (part, _) = whole(&world, symmetries);
        let mut sorted = brute.clone();
        sorted.sort_unstable();
        let visited: Vec<u64> =
            part.distribution.pairs().iter().flat_map(|&(makespan, weight)| vec![makespan; weight as usize]).collect();
        prop_assert_eq!(visited, &sorted[..]);
        // The lowest number among the best, and number 0 is the workload's own order.
        let best = part.best.expect("there is one");
        prop_assert_eq!(Some(best.number as usize), brute.iter().position(|&m| m == best.makespan));
        prop_assert_eq!(part.baseline, brute[0]);
    }

    #[test]
    fn shards_and_stops_leave_the_same_bytes(
        world in crate::common::world(),
        shards in 1_u64..5,
        symmetries: bool,
        stops in prop::collection::vec(1_usize..5, 4),
        // Small units also divide the orders below one first choice.
        orders in 1_u128..40,
    ) {
        let problem = world.problem();
        let all = Enumeration::new(&problem, symmetries).expect("covered").in_units(orders, Duration::ZERO);
        let mut parts = Vec::new();
        for shard in 1..=shards {
            let mut part = all.part(shard, shards).expect("a shard");
            for stop in stops.iter().chain([&usize::MAX]) {
                // Killed after some checkpoints: what was written goes on.
                let (cancel, left) = (AtomicBool::new(false), *stop);
                let mut text = serde_json::to_string(&part).expect("plain data");
                let mut kept = Kept { text, left, cancel: &cancel };
                all.go_on(&mut part, &cancel, &mut kept).expect("no error");
                text = kept.text;
                prop_assert_eq!(&serde_json::to_string(&part).expect("plain data"), &text, "kept and saved alike");
                part = serde_json::from_str(&text).expect("what was written");
            }
            prop_assert!(part.complete());
            parts.push(part);
        }
        parts.reverse();
        let merged = Part::merge(&parts).expect("all shards");
        let plain = whole(&world, symmetries).0;
        prop_assert_eq!(serde_json::to_string(&merged).ok(), serde_json::to_string(&plain).ok());
        if shards > 1 {
            prop_assert!(Part::merge(&parts[1..]).is_err(), "one is missing");
            parts[0] = parts[1].clone();
            prop_assert!(Part::merge(&parts).is_err(), "one is there twice");
        }
    }
}

/// Stopped at any moment, a part has what was finished, and goes on from there.
#[test]
fn a_stop_keeps_what_was_finished() {
    let world = halo_on_t2(&[2, 2, 2], "max-min");
    let problem = world.problem();
    for orders in [16, 2000] {
        let all = Enumeration::new(&problem, true).expect("covered").in_units(orders, Duration::from_millis(5));
        let (mut part, mut stops) = (all.part(1, 1).expect("a shard"), 0);
        while !part.complete() {
            let (before, cancel) = ((part.next, part.inside), AtomicBool::new(false));
            let best = std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(20));
                    cancel.store(true, Ordering::Relaxed);
                });
                all.go_on(&mut part, &cancel, &mut ()).expect("no error")
            });
            assert!((part.next, part.inside) >= before && (part.best.is_none() || best <= part.best));
            stops += 1;
        }
        assert!(stops > 1 && part == whole(&world, true).0, "{stops} stops");
    }
}

/// Keeps the last state, and is in a hurry.
struct Hurried(Part);

impl Keeper for Hurried {
    type Error = OrderError;

    fn save(&mut self, part: &Part) {
        self.0 = part.clone();
    }

    fn is_hurried(&self) -> bool {
        true
    }
}

/// Nothing is joined after the last state that was saved, and all goes on from there.
#[test]
fn whoever_is_in_a_hurry_has_the_last_state() {
    let world = halo_on_t2(&[2, 2, 2], "max-min");
    let problem = world.problem();
    for orders in [16, 2000] {
        let all = Enumeration::new(&problem, true).expect("covered").in_units(orders, Duration::from_millis(5));
        let mut part = all.part(1, 1).expect("a shard");
        let mut stops = 0;
        while !part.complete() {
            let (mut keeper, cancel) = (Hurried(part.clone()), AtomicBool::new(false));
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(50));
                    cancel.store(true, Ordering::Relaxed);
                });
                all.go_on(&mut part, &cancel, &mut keeper).expect("no error")
            });
            assert_eq!(part, keeper.0);
            stops += 1;
        }
        assert!(stops > 0 && part == whole(&world, true).0, "{stops} stops");
    }
}

#[test]
fn a_search_that_is_ended_before_it_begins_says_so() {
    let world = halo_on_t2(&[4, 2], "max-min");
    let ended = Enumeration::unless(&AtomicBool::new(true), &world.problem(), true).err();
    assert_eq!(ended, Some(OrderError::Cancelled));
}

/// Sizes that differ give as many makespans as orders: 3 or 4 characters each.
#[test]
fn a_part_of_unequal_sizes_is_short() {
    let sent: Vec<(usize, usize, u64)> = (0..4)
        .flat_map(|s| {
            (1..5).map(move |d| (s, (s + d) % 8, 1_000_003 * (3 + (s * 7 + d * 5) % 11) as u64 + 17 * d as u64))
        })
        .collect();
    let t2 = halo_on_t2(&[4, 2], "max-min");
    let world = World::new(t2.fabric, t2.gpus, &sent, "pcie-congestion", 0.2);
    let part = whole(&world, true).0;
    assert_eq!(part.distribution.count(), 24_u128.pow(4));
    let text = serde_json::to_string(&part).expect("plain data");
    assert!(
        text.len() < part.distribution.pairs().len() * 5 + 1000,
        "{} for {}",
        text.len(),
        part.distribution.pairs().len()
    );
    assert_eq!(serde_json::from_str::<Part>(&text).expect("what was written"), part);
    let wrong = text.replace("\"distribution\":\"", "\"distribution\":\"!");
    assert!(serde_json::from_str::<Part>(&wrong).is_err_and(|error| error.to_string().contains("was changed")));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let world = halo_on_t2(&[4, 2], "max-min");
    let texts = [1, 2, 8].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        serde_json::to_string(&pool.install(|| whole(&world, true).0)).expect("plain data")
    });
    assert_eq!(texts[0], texts[1]);
    assert_eq!(texts[0], texts[2]);
}

#[test]
fn parts_of_other_problems_are_refused() {
    let (a, b) = (halo_on_t2(&[4, 2], "max-min"), halo_on_t2(&[4, 2], "pcie-congestion"));
    let (problem_a, problem_b) = (a.problem(), b.problem());
    let [all_a, all_b] = [&problem_a, &problem_b].map(|p| Enumeration::new(p, false).expect("covered"));
    let mut part = all_a.part(1, 2).expect("a shard");
    assert!(all_b.go_on(&mut part, &GO, &mut ()).is_err());
    let other = all_b.part(2, 2).expect("a shard");
    assert!(Part::merge(&[part.clone(), other]).is_err());
    assert!(Part::merge(&[part]).is_err(), "unfinished");
    assert!(Part::merge(&[]).is_err());
    assert!(all_a.part(3, 2).is_err() && all_a.part(0, 2).is_err());
}

/// One message of another size breaks the symmetries that move it: none of xor 3, 4, 7 fixes a source.
#[test]
fn a_size_of_its_own_breaks_symmetries() {
    let mut sent = crate::common::halo(&[4, 2], 300_000_000);
    sent[0].2 += 1;
    let t2 = halo_on_t2(&[4, 2], "max-min");
    let world = World::new(t2.fabric, t2.gpus, &sent, "max-min", 0.0);
    let problem = world.problem();
    assert_eq!(Enumeration::new(&problem, true).expect("covered").symmetry().order(), 1);
}
