//! What must hold for random trees, transfers and arbiters.

use crate::common::{ARBITERS, World, arbiter, case, slow};
use proptest::prelude::*;
use weir_sim_core::api::SimTime;
use weir_sim_core::{Outcome, RunOptions, Stop, TaskId};

pub(crate) fn run(world: &World, name: &str, options: RunOptions<'_>) -> Outcome {
    let (mut arbiter, flags) = arbiter(name, &world.fabric.view());
    world.run(arbiter.as_mut(), flags, options)
}

fn plain(world: &World, name: &str) -> Outcome {
    run(world, name, RunOptions::default())
}

/// Bytes per link, from the sizes and routes alone.
fn expected_bytes(world: &World) -> Vec<u64> {
    let mut bytes = vec![0; world.fabric.links().len()];
    for task in 0..world.tasks.tasks().len() {
        for link in world.routes.links(world.tasks.classes().route(world.class_of(task))) {
            bytes[link.index()] += world.bytes_of(task);
        }
    }
    bytes
}

/// The policies that know neither arrival nor priority.
const SHARING: [&str; 3] = ["equal-share", "max-min", "pcie-congestion"];

pub(crate) fn any_arbiter() -> impl Strategy<Value = &'static str> {
    prop::sample::select(ARBITERS.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The slow simulator looks at everything at every instant; remembered sets, connected parts and untouched
    /// transfers must not change a single picosecond.
    #[test]
    fn equals_the_slow_twin_to_the_picosecond(case in case(3..16, 1..40), name in any_arbiter()) {
        let Some(world) = case.world() else { return Ok(()) };
        let outcome = plain(&world, name);
        let (mut twin, _) = arbiter(name, &world.fabric.view());
        prop_assert_eq!(&outcome.tasks, &slow::run(&world, twin.as_mut()).expect("all end"));
    }

    #[test]
    fn delivers_exactly_the_bytes_in_order_of_time(case in case(3..16, 1..40), name in any_arbiter()) {
        let Some(world) = case.world() else { return Ok(()) };
        let outcome = run(&world, name, RunOptions { phases: true, ..RunOptions::default() });
        prop_assert_eq!(outcome.stop, Stop::Finished);
        prop_assert_eq!(outcome.events, 2 * world.tasks.tasks().len() as u64);
        for (task, t) in outcome.tasks.iter().enumerate() {
            prop_assert!(t.ready <= t.start && t.start < t.sent && t.sent <= t.end && t.end <= outcome.makespan);
            prop_assert_eq!(outcome.sent_bytes[task], world.bytes_of(task));
            prop_assert!(outcome.bottlenecks[task].time <= t.sent - t.start);
            prop_assert!(!outcome.bottlenecks[task].binding.link.is_none());
        }
        let bytes: Vec<u64> = outcome.links.iter().map(|l| l.bytes).collect();
        prop_assert_eq!(bytes, expected_bytes(&world));
        check_phases(&world, &outcome)?;
    }

    #[test]
    fn the_same_run_has_the_same_fingerprint(case in case(3..12, 1..24), name in any_arbiter()) {
        let Some(world) = case.world() else { return Ok(()) };
        let first = plain(&world, name);
        for _ in 0..3 {
            prop_assert_eq!(plain(&world, name), first.clone());
        }
    }

    /// Sizes × k, everything started at 0 and nothing waiting: times × k within 1 ps per event. (A limit far below the
    /// bandwidths would turn one picosecond of a neighbour into many of its own, and so would a higher priority that takes
    /// all from a transfer just before its last byte. There are none here.)
    #[test]
    fn scaling_sizes_scales_times(mut case in case(3..12, 1..24), name in any_arbiter(), k in 2..9_u64) {
        (case.tree.latency, case.queued) = (0, false);
        case.transfers.iter_mut().for_each(|t| (t.start, t.after, t.limit, t.priority) = (0, 0, None, 0));
        let Some(small) = case.world() else { return Ok(()) };
        case.transfers.iter_mut().for_each(|t| t.bytes *= k);
        let large = case.world().expect("the same tree");
        let (a, b) = (plain(&small, name), plain(&large, name));
        for (x, y) in a.tasks.iter().zip(&b.tasks) {
            let slack = k * a.events + b.events;
            prop_assert!((x.end.0 * k).abs_diff(y.end.0) <= slack, "{} · {} against {}", x.end, k, y.end);
        }
    }

    /// The same world under other ids: each end within 1 ps per event (for the policies without an order of
    /// arrival or priority; limits left out as above).
    #[test]
    fn relabelling_nodes_changes_nothing(mut case in case(3..14, 1..24), name in prop::sample::select(SHARING.to_vec())) {
        case.transfers.iter_mut().for_each(|t| t.limit = None);
        let Some(world) = case.world() else { return Ok(()) };
        case.mirrored = true;
        let mirror = case.world().expect("the same tree");
        let (a, b) = (plain(&world, name), plain(&mirror, name));
        prop_assert_eq!(a.events, b.events);
        for (x, y) in a.tasks.iter().zip(&b.tasks) {
            prop_assert!(x.end.0.abs_diff(y.end.0) <= a.events, "{} and {}", x.end, y.end);
        }
    }

    /// Another order in the file of transfers of different sources: the same within 1 ps per event.
    #[test]
    fn file_order_between_sources_does_not_matter(mut case in case(3..14, 1..24), name in prop::sample::select(SHARING.to_vec())) {
        case.transfers.iter_mut().for_each(|t| (t.limit, t.after) = (None, 0));
        let Some(world) = case.world() else { return Ok(()) };
        let leaves = crate::common::fabric(&case.tree, false).1.len();
        let mut order: Vec<usize> = (0..case.transfers.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(case.transfers[i].from % leaves));
        case.transfers = order.iter().map(|&i| case.transfers[i].clone()).collect();
        let sorted = case.world().expect("the same tree");
        let (a, b) = (plain(&world, name), plain(&sorted, name));
        for (place, &i) in order.iter().enumerate() {
            let (x, y) = (a.tasks[i].end.0, b.tasks[place].end.0);
            prop_assert!(x.abs_diff(y) <= a.events, "{} and {}", x, y);
        }
    }

    /// An order that is set runs like a file written in that order, to the bit, and reports under the old ids.
    #[test]
    fn a_set_order_is_that_of_a_file_written_so(mut case in case(3..12, 2..24), name in any_arbiter(), seed in any::<u64>()) {
        case.transfers.iter_mut().for_each(|t| t.after = 0);
        let Some(mut world) = case.world() else { return Ok(()) };
        let mut order: Vec<usize> = (0..case.transfers.len()).collect();
        order.sort_by_key(|&i| (i as u64 + 1).wrapping_mul(seed | 1).rotate_left(17));
        let mut written = case.clone();
        written.transfers = order.iter().map(|&i| case.transfers[i].clone()).collect();
        let written = written.world().expect("the same tree");
        world.tasks.set_order(&order.iter().map(|&i| TaskId(i as u32)).collect::<Vec<_>>());
        let options = RunOptions { phases: true, ..RunOptions::default() };
        let (set, plain) = (run(&world, name, options), run(&written, name, options));
        let old = |place: TaskId| TaskId(order[place.index()] as u32);
        for (place, &task) in order.iter().enumerate() {
            prop_assert_eq!(set.tasks[task], plain.tasks[place]);
            let (mut b, by) = (plain.bottlenecks[place], plain.bottlenecks[place].binding.by);
            b.binding.by = order.get(by as usize).map_or(by, |&task| task as u32);
            prop_assert_eq!(set.bottlenecks[task], b);
        }
        for (set, plain) in set.phases.iter().flatten().zip(plain.phases.iter().flatten()) {
            let mut rates: Vec<_> = plain.rates.iter().map(|&(place, rate)| (old(place), rate)).collect();
            rates.sort_by_key(|&(task, _)| task);
            prop_assert_eq!((set.start, set.end, &set.rates), (plain.start, plain.end, &rates));
        }
    }

    /// Two copies of a world in one fabric run like one alone, bit for bit.
    #[test]
    fn disjoint_transfers_do_not_affect_each_other(case in case(3..10, 1..16), other in case(3..10, 1..16), name in any_arbiter()) {
        let (Some(alone), Some(_)) = (case.world(), other.world()) else { return Ok(()) };
        let both = crate::common::join(&case, &other);
        let (a, b) = (plain(&alone, name), plain(&both, name));
        let count = alone.tasks.tasks().len();
        prop_assert_eq!(&a.tasks[..], &b.tasks[..count]);
    }

    /// A run stopped at any instant is the beginning of the whole run.
    #[test]
    fn a_stopped_run_is_the_beginning_of_the_whole(case in case(3..12, 1..24), name in any_arbiter(), part in 0.0..1.2_f64) {
        let Some(world) = case.world() else { return Ok(()) };
        let whole = plain(&world, name);
        let until = SimTime((whole.makespan.0 as f64 * part) as u64);
        let stopped = run(&world, name, RunOptions { until, ..RunOptions::default() });
        let seen = |t: SimTime| if t <= until { t } else { SimTime::NEVER };
        for (task, (s, w)) in stopped.tasks.iter().zip(&whole.tasks).enumerate() {
            prop_assert_eq!((s.ready, s.start, s.sent, s.end), (seen(w.ready), seen(w.start), seen(w.sent), seen(w.end)));
            prop_assert!(stopped.sent_bytes[task] <= world.bytes_of(task));
            prop_assert!(s.sent.is_never() || stopped.sent_bytes[task] == world.bytes_of(task));
        }
        let finished = whole.tasks.iter().all(|t| t.end <= until);
        prop_assert_eq!(stopped.stop == Stop::Finished, finished);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5, ..ProptestConfig::default() })]

    #[test]
    fn a_hundred_runs_have_one_fingerprint(case in case(20..40, 60..80), name in any_arbiter()) {
        let Some(world) = case.world() else { return Ok(()) };
        let first = plain(&world, name).fingerprint;
        prop_assert!((1..100).all(|_| plain(&world, name).fingerprint == first));
    }

    /// Larger cases, in which connected parts, the whole set and its pauses all occur.
    #[test]
    fn large_cases_equal_the_slow_twin(case in case(40..90, 150..200), name in any_arbiter()) {
        let Some(world) = case.world() else { return Ok(()) };
        let (mut twin, _) = arbiter(name, &world.fabric.view());
        prop_assert_eq!(&plain(&world, name).tasks, &slow::run(&world, twin.as_mut()).expect("all end"));
    }
}

/// Phases are in order, do not overlap, list who is active, and no link is above its bandwidth; integrated rates give
/// the bytes.
fn check_phases(world: &World, outcome: &Outcome) -> Result<(), TestCaseError> {
    let phases = outcome.phases.as_ref().expect("phases were asked for");
    let mut last = SimTime::ZERO;
    let mut carried = vec![0.0; outcome.tasks.len()];
    for phase in phases {
        prop_assert!(phase.start >= last && phase.end > phase.start);
        last = phase.end;
        let mut load = vec![0.0; world.fabric.links().len()];
        for &(task, rate) in &phase.rates {
            let t = &outcome.tasks[task.index()];
            prop_assert!(t.start <= phase.start && phase.end <= t.sent);
            carried[task.index()] += rate * (phase.end - phase.start).seconds();
            let class = world.class_of(task.index());
            prop_assert!(rate <= world.tasks.classes().limit(class));
            for link in world.routes.links(world.tasks.classes().route(class)) {
                load[link.index()] += rate;
            }
        }
        for (load, bandwidth) in load.iter().zip(world.fabric.bandwidths()) {
            prop_assert!(*load <= bandwidth * (1.0 + 2e-9));
        }
    }
    for (task, carried) in carried.iter().enumerate() {
        // Ends are rounded up by less than 1 ps a phase: at most bandwidth · 1 ps each.
        let slack = 0.04 * (phases.len() as f64 + 1.0) + 1e-9 * carried;
        prop_assert!((carried - world.bytes_of(task) as f64).abs() <= slack, "{} of {}", carried, world.bytes_of(task));
    }
    Ok(())
}
