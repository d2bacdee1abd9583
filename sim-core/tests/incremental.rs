//! Policies whose answers are changes beside the arbiters of the same names asked phase by phase, in whole runs.

mod common;

use common::{Case, World, arbiter, case};
use proptest::prelude::*;
use weir_sim_core::api::{Cause, LinkId, SimTime};
use weir_sim_core::{Outcome, Policy, RunOptions, Sharing, Stop};

/// A policy, and the arbiter that does the same.
const POLICIES: [(Policy, &str); 2] = [(Policy::MaxMin, "max-min"), (Policy::StrictPriority, "strict-priority")];

fn incremental(policy: Policy) -> RunOptions<'static> {
    let sharing = Sharing::Incremental { policy, from: 0, quiet_from: usize::MAX };
    RunOptions { sharing, ..RunOptions::default() }
}

fn run_as(world: &World, name: &str, options: RunOptions<'_>) -> Outcome {
    let (mut arbiter, flags) = arbiter(name, &world.fabric.view());
    world.run(arbiter.as_mut(), flags, options)
}

/// Both ways under each policy.
fn both(world: &World, until: SimTime) -> impl Iterator<Item = (Outcome, Outcome)> + '_ {
    POLICIES.into_iter().map(move |(policy, name)| {
        let plain = run_as(world, name, RunOptions { until, ..RunOptions::default() });
        (plain, run_as(world, name, RunOptions { until, ..incremental(policy) }))
    })
}

/// The case without what turns a picosecond into many: queues, waits, limits far below the bandwidths, and ties, since the
/// loser of one can starve under `strict-priority`.
fn steady(mut case: Case) -> Option<World> {
    case.queued = false;
    for (i, t) in (1..).zip(&mut case.transfers) {
        (t.after, t.limit) = (0, t.limit.map(|limit| limit.max(1e9)));
        t.bytes = t.bytes * 1009 + 7919 * i * i;
    }
    case.world()
}

/// A bandwidth is at most 400 times another, and each event rounds once in both ways.
fn slack(outcome: &Outcome) -> u64 {
    2 * outcome.events + 2
}

/// What must be true of any finished run.
fn complete(world: &World, policy: Policy, outcome: &Outcome) -> Result<(), TestCaseError> {
    for (task, (times, held)) in outcome.tasks.iter().zip(&outcome.bottlenecks).enumerate() {
        prop_assert_eq!(outcome.sent_bytes[task], world.bytes_of(task));
        prop_assert!(held.time <= times.sent - times.start);
        let route = world.routes.links(world.tasks.classes().route(world.class_of(task)));
        prop_assert!(route.contains(&held.binding.link));
        let cause = held.binding.cause;
        let by_priority = cause == Cause::Priority as u32 && policy == Policy::StrictPriority;
        prop_assert!(held.binding.by == u32::MAX || cause == Cause::SharedLink as u32 || by_priority);
        prop_assert!(held.binding.by as usize != task);
    }
    for (link, total) in outcome.links.iter().enumerate() {
        let bandwidth = world.fabric.link(LinkId(link as u32)).bandwidth;
        let peak = total.peak.expect("all links are awake");
        prop_assert!(peak <= bandwidth);
        prop_assert!(total.bytes as f64 <= peak * total.busy.seconds() * (1.0 + 1e-6) + 1.0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn ends_bytes_and_loads_are_those_of_the_arbiter(case in case(3..16, 1..60)) {
        let Some(world) = steady(case) else { return Ok(()) };
        for (a, b) in both(&world, SimTime::NEVER) {
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
    }

    /// What `peak` and bottlenecks must be, whatever the order of events a picosecond apart.
    #[test]
    fn results_are_complete_and_repeatable(case in case(3..16, 1..60)) {
        let Some(world) = case.world() else { return Ok(()) };
        for (policy, name) in POLICIES {
            let outcome = run_as(&world, name, incremental(policy));
            prop_assert_eq!(outcome.stop, Stop::Finished);
            prop_assert_eq!(&outcome, &run_as(&world, name, incremental(policy)));
            complete(&world, policy, &outcome)?;
        }
    }

    /// Links that cannot be full change nothing but what is known of their peaks.
    #[test]
    fn quiet_links_change_no_result_but_peaks(case in case(3..16, 1..60)) {
        let Some(world) = steady(case) else { return Ok(()) };
        let sharing = Sharing::Incremental { policy: Policy::MaxMin, from: 0, quiet_from: 0 };
        let a = run_as(&world, "max-min", incremental(Policy::MaxMin));
        let b = run_as(&world, "max-min", RunOptions { sharing, ..RunOptions::default() });
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
        for (a, b) in both(&world, SimTime(1)) {
            for (x, y) in a.links.iter().zip(&b.links) {
                let (p, q) = (x.peak.expect("always known"), y.peak.expect("all links are awake"));
                prop_assert!((p - q).abs() <= 2e-9 * p, "{} and {}", p, q);
                prop_assert_eq!(x.busy, y.busy);
            }
        }
    }

    /// A run that stops early has sent what the other way has sent.
    #[test]
    fn what_is_sent_until_then_is_the_same(case in case(3..16, 1..40), until in 1..3_000_000_000_u64) {
        let Some(world) = steady(case) else { return Ok(()) };
        for (a, b) in both(&world, SimTime(until)) {
            for (x, y) in a.sent_bytes.iter().zip(&b.sent_bytes) {
                // A picosecond at 40 GB/s is 0.04 bytes.
                prop_assert!(x.abs_diff(*y) <= 1 + slack(&a) / 20, "{} and {}", x, y);
            }
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
    for (policy, name) in POLICIES {
        let with_phases = RunOptions { phases: true, ..incremental(policy) };
        assert_eq!(run_as(&world, name, phases), run_as(&world, name, with_phases));
        let few = Sharing::Incremental { policy, from: 31, quiet_from: 0 };
        let few = RunOptions { sharing: few, ..RunOptions::default() };
        assert_eq!(run_as(&world, name, RunOptions::default()), run_as(&world, name, few));
    }
}
