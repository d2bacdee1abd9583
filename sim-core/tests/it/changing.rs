//! Links that change while transfers are on them: cases worked out by hand, and runs that must come to the same.

use proptest::prelude::*;
use weir_arbiters::Shares;
use weir_sim_core::api::{Cause, IncrementalEntry, LinkId, SimDuration, SimTime};
use weir_sim_core::{
    ChangeSource, Changing, Fabric, LinkChanges, LinkState, OnFailure, Outcome, RunOptions, Sharing, SimError,
    Simulation, Steps, TaskId,
};

use crate::common::{Case, Draw, DrawTree, World, arbiter, case};

const MS: u64 = 1_000_000_000;

fn try_run(world: &World, name: &str, links: &LinkChanges) -> Result<Outcome, SimError> {
    run_with(world, name, links, RunOptions { phases: true, ..RunOptions::default() })
}

fn run_with(world: &World, name: &str, links: &LinkChanges, options: RunOptions<'_>) -> Result<Outcome, SimError> {
    let make = |fabric: &Fabric| Ok(arbiter(name, &fabric.view()).0);
    let changing = Some(Changing { links, make: &make });
    let (mut first, flags) = arbiter(name, &world.fabric.view());
    let simulation = Simulation { fabric: &world.fabric, routes: &world.routes, tasks: &world.tasks };
    simulation.run(&mut *first, flags, RunOptions { changing, ..options })
}

/// A gpu on each side of a switch; links of 1 GB/s. A transfer of 1 MB for each start takes 1 ms alone.
fn pair(starts: &[u64]) -> World {
    let tree = DrawTree { parents: vec![0, 0], bandwidths: vec![(1e9, 1e9); 2], latency: 0 };
    let draw =
        |&start: &u64| Draw { from: 0, to: 0, bytes: 1_000_000, start, limit: None, weight: 1, priority: 0, after: 0 };
    let case = Case { tree, transfers: starts.iter().map(draw).collect(), queued: false, mirrored: false };
    case.world().expect("two leaves")
}

/// The first link of the pair's route.
fn changes(steps: Steps, on_failure: OnFailure) -> LinkChanges {
    LinkChanges { sources: vec![ChangeSource { links: vec![LinkId(0)], steps }], on_failure }
}

fn listed(steps: &[(u64, LinkState)]) -> Steps {
    Steps::Listed(steps.iter().map(|&(time, state)| (SimTime(time), state)).collect())
}

fn ends(outcome: &Outcome) -> Vec<u64> {
    outcome.tasks.iter().map(|times| times.end.0).collect()
}

/// Down from 0.4 to 0.7 ms: what waits goes on from its bytes, or begins again. One that starts while the link is down
/// waits, too.
#[test]
fn transfers_wait_for_links_that_are_down() {
    let steps = || listed(&[(4 * MS / 10, LinkState::Down), (7 * MS / 10, LinkState::Up)]);
    for (on_failure, end) in [(OnFailure::Wait, 13 * MS / 10), (OnFailure::Restart, 17 * MS / 10)] {
        let outcome = try_run(&pair(&[0]), "max-min", &changes(steps(), on_failure)).expect("it ends");
        assert_eq!(ends(&outcome), [end]);
        assert_eq!(outcome.bottlenecks[0].binding.cause(), Cause::LinkDown);
        assert_eq!(outcome.bottlenecks[0].blocked, SimDuration(3 * MS / 10));
        assert_eq!((outcome.link_changes[0].changes, outcome.link_changes[0].down), (2, SimDuration(3 * MS / 10)));
        assert_eq!(outcome.phases.expect("recorded").len(), 3, "at rate 0 in between");
    }
    let outcome = try_run(&pair(&[5 * MS / 10]), "max-min", &changes(steps(), OnFailure::Wait)).expect("it ends");
    assert_eq!(ends(&outcome), [17 * MS / 10]);
}

/// A half from 0.5 ms on: 0.5 MB at 0.5 GB/s. Then a bandwidth above its own.
#[test]
fn rates_follow_the_bandwidth() {
    let half = changes(listed(&[(MS / 2, LinkState::Share(0.5))]), OnFailure::Wait);
    let outcome = try_run(&pair(&[0]), "max-min", &half).expect("it ends");
    assert_eq!(ends(&outcome), [3 * MS / 2]);
    assert_eq!(outcome.bottlenecks[0].binding.cause(), Cause::LinkReduced);
    let faster = changes(listed(&[(0, LinkState::Bandwidth(2e9))]), OnFailure::Wait);
    let both = LinkChanges {
        sources: vec![faster.sources[0].clone(), ChangeSource { links: vec![LinkId(3)], ..faster.sources[0].clone() }],
        ..faster
    };
    assert_eq!(ends(&try_run(&pair(&[0]), "max-min", &both).expect("the audit knows")), [MS / 2]);
}

/// Down for 0.1 of every 0.5 ms, from 0.2 ms on: 1 ms of sending has two such pauses.
#[test]
fn periods_come_again() {
    let (first, every, lasts) = (SimTime(MS / 5), SimDuration(MS / 2), SimDuration(MS / 10));
    let steps = Steps::Periodic { first, every, lasts, state: LinkState::Down };
    let outcome = try_run(&pair(&[0]), "equal-share", &changes(steps, OnFailure::Wait)).expect("it ends");
    assert_eq!(ends(&outcome), [12 * MS / 10]);
}

#[test]
fn a_link_that_fails_may_end_the_run_and_one_that_stays_down_does() {
    let down = |on_failure| changes(listed(&[(MS / 2, LinkState::Down)]), on_failure);
    let error = try_run(&pair(&[0, 0]), "max-min", &down(OnFailure::Fail)).expect_err("it fails");
    assert_eq!(error, SimError::LinkDown { time: SimTime(MS / 2), link: LinkId(0), task: TaskId(0) });
    let error = try_run(&pair(&[0, MS]), "max-min", &down(OnFailure::Wait)).expect_err("it hangs");
    let waiting = vec![TaskId(0), TaskId(1)];
    assert_eq!(error, SimError::StaysDown { time: SimTime(MS), link: LinkId(0), waiting });
    // Nobody is on it by then.
    let late = changes(listed(&[(2 * MS, LinkState::Down)]), OnFailure::Fail);
    assert_eq!(ends(&try_run(&pair(&[0]), "max-min", &late).expect("it ends")), [MS]);
}

/// Two sources: a part of what the other one leaves.
#[test]
fn sources_multiply() {
    let mut both = changes(listed(&[(0, LinkState::Share(0.5))]), OnFailure::Wait);
    both.sources.push(ChangeSource { links: vec![LinkId(0)], steps: listed(&[(0, LinkState::Bandwidth(0.5e9))]) });
    assert_eq!(ends(&try_run(&pair(&[0]), "max-min", &both).expect("it ends")), [4 * MS]);
}

fn all_links(world: &World, steps: &[(u64, LinkState)]) -> LinkChanges {
    let links = (0..world.fabric.links().len() as u32).map(LinkId).collect();
    LinkChanges { sources: vec![ChangeSource { links, steps: listed(steps) }], on_failure: OnFailure::Wait }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// All links at half from the start: as a fabric that was built so.
    #[test]
    fn a_change_at_the_start_is_another_fabric(case in case(2..12, 1..20), name in prop::sample::select(NAMES)) {
        let Some(world) = case.world() else { return Ok(()) };
        let changed = try_run(&world, name, &all_links(&world, &[(0, LinkState::Share(0.5))])).expect("it ends");
        let mut half = case.clone();
        half.tree.bandwidths.iter_mut().for_each(|(up, down)| (*up, *down) = (*up * 0.5, *down * 0.5));
        let built = try_run(&half.world().expect("as many leaves"), name, &LinkChanges::default()).expect("it ends");
        prop_assert_eq!(ends(&changed), ends(&built));
        prop_assert_eq!(changed.fingerprint, built.fingerprint);
    }

    /// All links down for a while: what all have sent by then has been sent, and all the rest ends later by that while.
    #[test]
    fn a_pause_of_all_links_moves_all_ends(case in case(2..12, 1..20), name in prop::sample::select(NAMES), at in 0..2_000_000_000_u64) {
        // All start at once, and nothing waits for a time of its own.
        let mut case = case;
        case.tree.latency = 0;
        case.transfers.iter_mut().for_each(|t| t.start = 0);
        let Some(world) = case.world() else { return Ok(()) };
        let pause = 123_456_789;
        let steps = [(at, LinkState::Down), (at + pause, LinkState::Up)];
        let with = try_run(&world, name, &all_links(&world, &steps)).expect("it ends");
        let without = try_run(&world, name, &LinkChanges::default()).expect("it ends");
        for (with, without) in ends(&with).into_iter().zip(ends(&without)) {
            let expected = if without <= at { without } else { without + pause };
            // Rounding: 1 ps per event.
            prop_assert!(with.abs_diff(expected) <= 40, "{with} {expected}");
        }
    }

    /// All transfers on one link: the last one ends once the link could have carried all bytes.
    #[test]
    fn a_link_carries_what_it_could(
        count in 1..6_usize, steps in prop::collection::vec((1..MS, 0..4_u32), 0..12),
    ) {
        let (mut time, mut state_of) = (0, Vec::new());
        for (span, state) in steps {
            time += span;
            state_of.push((time, [LinkState::Down, LinkState::Up, LinkState::Share(0.25), LinkState::Bandwidth(0.7e9)][state as usize]));
        }
        time += MS;
        state_of.push((time, LinkState::Up));
        let outcome = try_run(&pair(&vec![0; count]), "max-min", &changes(listed(&state_of), OnFailure::Wait)).expect("it ends");
        let (mut left, mut now, mut rate) = (count as f64 * 1e6, 0.0, 1e-3);
        let mut end = None;
        for (time, state) in state_of {
            let can = rate * (time as f64 - now);
            if can >= left {
                end.get_or_insert(now + left / rate);
            }
            left -= can;
            now = time as f64;
            rate = match state {
                LinkState::Down => 0.0,
                LinkState::Up => 1e-3,
                LinkState::Share(share) => share * 1e-3,
                LinkState::Bandwidth(bandwidth) => bandwidth / 1e12,
            };
        }
        let end = end.unwrap_or(now + left / rate);
        prop_assert!((outcome.makespan.0 as f64 - end).abs() <= 40.0, "{} {end}", outcome.makespan.0);
    }
}

/// Arbiters whose rates depend on who is active alone, or on the order of arrival.
const NAMES: &[&str] = &["max-min", "equal-share", "strict-priority", "fcfs"];

/// Changes are heeded in a run that could be incremental otherwise: half of the bandwidth from 0.5 ms on.
#[test]
fn runs_with_changes_are_not_incremental() {
    let entry = IncrementalEntry::of::<Shares>();
    let sharing = Sharing::Incremental { entry: &entry, params: "{}", from: 0, peaks_below: usize::MAX };
    let half = changes(listed(&[(MS / 2, LinkState::Share(0.5))]), OnFailure::Wait);
    let run = |links| run_with(&pair(&[0]), "max-min", links, RunOptions { sharing, ..RunOptions::default() });
    assert_eq!(ends(&run(&half).expect("it ends")), [3 * MS / 2]);
}

/// What is called reduced is the full rate of a link that carries less than it was built for, and nothing else.
#[test]
fn reduced_is_who_has_the_full_rate_of_a_link_that_carries_less() {
    let cause = |starts: &[u64], link: u32| {
        let steps = listed(&[(0, LinkState::Share(0.5))]);
        let sources = vec![ChangeSource { links: vec![LinkId(link)], steps }];
        let half = LinkChanges { sources, on_failure: OnFailure::Wait };
        try_run(&pair(starts), "max-min", &half).expect("it ends").bottlenecks[0].binding.cause()
    };
    // The first link of the route, the other direction, and two on the first link.
    assert_eq!(cause(&[0], 0), Cause::LinkReduced);
    assert_eq!(cause(&[0], 1), Cause::FullRate);
    assert_eq!(cause(&[0, 0], 0), Cause::SharedLink);
}
