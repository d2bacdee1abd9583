//! Incremental max-min beside the arbiter asked phase by phase, in whole runs.

mod common;

use common::{Case, World, arbiter, case};
use proptest::prelude::*;
use weir_sim_core::api::{Cause, LinkId, SimTime};
use weir_sim_core::{Outcome, RunOptions, Sharing, Stop};

const INCREMENTAL: RunOptions<'_> = RunOptions {
    until: SimTime::NEVER,
    phases: false,
    explain: false,
    sharing: Sharing::MaxMin { from: 0, quiet_from: usize::MAX },
    cancel: None,
};

const QUIET: RunOptions<'_> = RunOptions { sharing: Sharing::MaxMin { from: 0, quiet_from: 0 }, ..INCREMENTAL };

fn run(world: &World, options: RunOptions<'_>) -> Outcome {
    let (mut arbiter, flags) = arbiter("max-min", &world.fabric.view());
    world.run(arbiter.as_mut(), flags, options)
}

/// The case without what turns a picosecond into many: queues, waits, limits far below the bandwidths.
fn steady(mut case: Case) -> Option<World> {
    case.queued = false;
    for t in &mut case.transfers {
        (t.after, t.limit) = (0, t.limit.map(|limit| limit.max(1e9)));
    }
    case.world()
}

/// A bandwidth is at most 400 times another, and each event rounds once in both ways.
fn slack(outcome: &Outcome) -> u64 {
    2 * outcome.events + 2
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn ends_bytes_and_loads_are_those_of_the_arbiter(case in case(3..16, 1..60)) {
        let Some(world) = steady(case) else { return Ok(()) };
        let (a, b) = (run(&world, RunOptions::default()), run(&world, INCREMENTAL));
        prop_assert_eq!((a.stop, a.events, &a.sent_bytes), (b.stop, b.events, &b.sent_bytes));
        for (x, y) in a.tasks.iter().zip(&b.tasks) {
            prop_assert_eq!((x.ready, x.start), (y.ready, y.start));
            prop_assert!(x.end.0.abs_diff(y.end.0) <= slack(&a), "{} and {}", x.end, y.end);
        }
        for (x, y) in a.links.iter().zip(&b.links) {
            prop_assert_eq!(x.bytes, y.bytes);
            prop_assert!(x.busy.0.abs_diff(y.busy.0) <= slack(&a) * a.events, "{} and {}", x.busy.0, y.busy.0);
        }
    }

    /// What `peak` and bottlenecks must be, whatever the order of events a picosecond apart.
    #[test]
    fn results_are_complete_and_repeatable(case in case(3..16, 1..60)) {
        let Some(world) = case.world() else { return Ok(()) };
        let outcome = run(&world, INCREMENTAL);
        prop_assert_eq!(outcome.stop, Stop::Finished);
        prop_assert_eq!(&outcome, &run(&world, INCREMENTAL));
        for (task, (times, held)) in outcome.tasks.iter().zip(&outcome.bottlenecks).enumerate() {
            prop_assert_eq!(outcome.sent_bytes[task], world.bytes_of(task));
            prop_assert!(held.time <= times.sent - times.start);
            let route = world.routes.links(world.tasks.classes().route(world.class_of(task)));
            prop_assert!(route.contains(&held.binding.link));
            prop_assert!(held.binding.by == u32::MAX || held.binding.cause == Cause::SharedLink as u32);
            prop_assert!(held.binding.by as usize != task);
        }
        for (link, total) in outcome.links.iter().enumerate() {
            let bandwidth = world.fabric.link(LinkId(link as u32)).bandwidth;
            let peak = total.peak.expect("all links are awake");
            prop_assert!(peak <= bandwidth);
            prop_assert!(total.bytes as f64 <= peak * total.busy.seconds() * (1.0 + 1e-6) + 1.0);
        }
    }

    /// Links that cannot be full change nothing but what is known of their peaks.
    #[test]
    fn quiet_links_change_no_result_but_peaks(case in case(3..16, 1..60)) {
        let Some(world) = steady(case) else { return Ok(()) };
        let (a, b) = (run(&world, INCREMENTAL), run(&world, QUIET));
        for (x, y) in a.tasks.iter().zip(&b.tasks) {
            prop_assert!(x.end.0.abs_diff(y.end.0) <= slack(&a), "{} and {}", x.end, y.end);
        }
        for (link, (x, y)) in a.links.iter().zip(&b.links).enumerate() {
            prop_assert_eq!(x.bytes, y.bytes);
            prop_assert!(y.peak.is_none_or(|peak| Some(peak) == x.peak), "{:?} and {:?} on {}", x.peak, y.peak, link);
        }
    }

    /// All at once and nothing ever again: peaks are the loads of one filling, so both ways must agree on them.
    #[test]
    fn peaks_of_a_first_moment_are_the_loads(case in case(3..16, 1..30)) {
        let Some(world) = steady(case) else { return Ok(()) };
        let until = SimTime(1);
        let (a, b) = (run(&world, RunOptions { until, ..RunOptions::default() }), run(&world, RunOptions { until, ..INCREMENTAL }));
        for (x, y) in a.links.iter().zip(&b.links) {
            let (p, q) = (x.peak.expect("always known"), y.peak.expect("all links are awake"));
            prop_assert!((p - q).abs() <= 1e-9 * p, "{} and {}", p, q);
            prop_assert_eq!(x.busy, y.busy);
        }
    }

    /// A run that stops early has sent what the other way has sent.
    #[test]
    fn what_is_sent_until_then_is_the_same(case in case(3..16, 1..40), until in 1..3_000_000_000_u64) {
        let Some(world) = steady(case) else { return Ok(()) };
        let until = SimTime(until);
        let (a, b) = (run(&world, RunOptions { until, ..RunOptions::default() }), run(&world, RunOptions { until, ..INCREMENTAL }));
        for (x, y) in a.sent_bytes.iter().zip(&b.sent_bytes) {
            // A picosecond at 40 GB/s is 0.04 bytes.
            prop_assert!(x.abs_diff(*y) <= 1 + slack(&a) / 20, "{} and {}", x, y);
        }
    }
}

/// Who asks for phases gets them, and with them the arbiter's own ends.
#[test]
fn phases_are_the_arbiters() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let world = loop {
        let drawn = case(6..12, 20..30).new_tree(&mut runner).expect("a case");
        if let Some(world) = proptest::strategy::ValueTree::current(&drawn).world() {
            break world;
        }
    };
    let phases = RunOptions { phases: true, ..RunOptions::default() };
    assert_eq!(run(&world, phases), run(&world, RunOptions { phases: true, ..INCREMENTAL }));
    let few = RunOptions { sharing: Sharing::MaxMin { from: 31, quiet_from: 0 }, ..RunOptions::default() };
    assert_eq!(run(&world, RunOptions::default()), run(&world, few));
}
