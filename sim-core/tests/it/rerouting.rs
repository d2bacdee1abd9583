//! Transfers that take another route when a link goes down: cases worked out by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_sim_core::api::{Cause, LinkId, LinkKind, NodeId, NodeKind, SimDuration, SimTime};
use weir_sim_core::{
    ChangeSource, Changing, Division, EngineId, Fabric, FabricBuilder, LinkChanges, LinkSpec, LinkState, OnFailure,
    Outcome, RegionPolicy, Routes, RunOptions, Selection, ServiceId, SimError, Simulation, Steps, Task,
    TaskGraphBuilder, TaskId, Way, Work, region_arbiter,
};

use crate::common::{World, arbiter, registry};

const MS: u64 = 1_000_000_000;
const US: u64 = 1_000_000;

pub fn try_run(world: &World, name: &str, links: &LinkChanges) -> Result<Outcome, SimError> {
    let make = |fabric: &Fabric| Ok(arbiter(name, &fabric.view()).0);
    let changing = Some(Changing { links, make: &make });
    let (mut first, flags) = arbiter(name, &world.fabric.view());
    let simulation = Simulation { fabric: &world.fabric, routes: &world.routes, tasks: &world.tasks };
    simulation.run(&mut *first, flags, RunOptions { changing, phases: true, ..RunOptions::default() })
}

fn link(bandwidth: f64) -> LinkSpec {
    LinkSpec { up: bandwidth, down: bandwidth, latency: SimDuration(10 * US), kind: LinkKind::PCIE }
}

/// ```text
///        root              links of 1 GB/s and 10 us each; those to the root have 0.5 GB/s
///   0.5 /    \ 0.5
///     s0 ──── s1
///     |        |
///     g0      g1
/// ```
/// Links: 0/1 s0 ↔ root, 2/3 g0 ↔ s0, 4/5 s1 ↔ root, 6/7 g1 ↔ s1, 8/9 s0 ↔ s1.
fn triangle() -> (Fabric, [NodeId; 2]) {
    let mut builder = FabricBuilder::new();
    let root = builder.root(NodeKind::RootComplex).expect("a root");
    let mut side = || {
        let switch = builder.child(root, NodeKind::Switch, link(0.5e9)).expect("a switch");
        (switch, builder.child(switch, NodeKind::Gpu, link(1e9)).expect("a gpu"))
    };
    let ((s0, g0), (s1, g1)) = (side(), side());
    builder.lateral(s0, s1, link(1e9)).expect("a link");
    (builder.build(), [g0, g1])
}

/// Transfers of 1 MB from g0 to g1 of the triangle.
fn world(starts: &[u64]) -> World {
    let (fabric, [from, to]) = triangle();
    let (mut routes, mut tasks) = (Routes::new(), TaskGraphBuilder::new());
    let route = routes.between(&fabric, from, to).expect("a route");
    let class = tasks.classes().intern(route, f64::INFINITY, 1.0, 0);
    for &start in starts {
        let (engine, service, work) = (EngineId::NONE, ServiceId::PLAIN, Work::Carries { bytes: 1_000_000, class });
        tasks.task(Task { start: SimTime(start), engine, service, work });
    }
    World { fabric, routes, tasks: tasks.build().expect("no cycle") }
}

/// Both directions of links change: (first of the two, time, state).
pub fn listed(steps: &[(u32, u64, LinkState)], on_failure: OnFailure) -> LinkChanges {
    let mut of_link: BTreeMap<u32, Vec<(SimTime, LinkState)>> = BTreeMap::new();
    steps.iter().for_each(|&(link, time, state)| of_link.entry(link).or_default().push((SimTime(time), state)));
    let sources = of_link.into_iter().map(|(link, mut steps)| {
        steps.sort_by_key(|step| step.0);
        ChangeSource { links: vec![LinkId(link), LinkId(link + 1)], steps: Steps::Listed(steps) }
    });
    LinkChanges { sources: sources.collect(), on_failure }
}

pub fn ends(outcome: &Outcome) -> Vec<u64> {
    outcome.tasks.iter().map(|times| times.end.0).collect()
}

const DIRECT: [LinkId; 3] = [LinkId(2), LinkId(8), LinkId(7)];
const BY_ROOT: [LinkId; 4] = [LinkId(2), LinkId(0), LinkId(5), LinkId(7)];

/// The link between the switches is down from 0.4 to 0.7 ms. 0.4 MB are sent by then; 0.6 MB at 0.5 GB/s take 1.2 ms, and
/// four links have 40 us. One that starts at 0.7 ms has the link to itself, and three links: it ends at 1.73 ms.
#[test]
fn the_rest_goes_another_way_and_stays_there() {
    let steps = [(8, 4 * MS / 10, LinkState::Down), (8, 7 * MS / 10, LinkState::Up)];
    let outcome = try_run(&world(&[0]), "max-min", &listed(&steps, OnFailure::Reroute)).expect("it ends");
    assert_eq!(ends(&outcome), [16 * MS / 10 + 40 * US]);
    let [reroute] = &outcome.reroutes[..] else { panic!("{:?}", outcome.reroutes) };
    assert_eq!((reroute.time, reroute.task, reroute.sent), (SimTime(4 * MS / 10), TaskId(0), 400_000));
    assert_eq!((reroute.down, &reroute.links[..]), (LinkId(8), &BY_ROOT[..]));
    let bytes = |link: u32| outcome.links[link as usize].bytes;
    assert_eq!([2, 8, 0, 5, 7].map(bytes), [1_000_000, 400_000, 600_000, 600_000, 1_000_000]);
    // What it lost, it lost there.
    assert_eq!(outcome.bottlenecks[0].binding.link, LinkId(0));

    // Both share the link of g0: 0.5 GB/s each are what the detour has.
    let outcome = try_run(&world(&[0, 7 * MS / 10]), "max-min", &listed(&steps, OnFailure::Reroute)).expect("it ends");
    let first = 16 * MS / 10 + 40 * US;
    // The second one sends 0.45 MB until 1.6 ms, and 0.55 MB alone.
    assert_eq!(ends(&outcome), [first, 16 * MS / 10 + 55 * MS / 100 + 30 * US]);
    assert_eq!(outcome.reroutes.len(), 1, "the second one begins when the link is up");
}

/// As above, but all of it goes the other way: 1 MB at 0.5 GB/s from 0.4 ms on, and four links. What was sent in vain does not
/// count, and is lost at the link that failed.
#[test]
fn all_of_it_may_go_another_way() {
    let steps = [(8, 4 * MS / 10, LinkState::Down), (8, 7 * MS / 10, LinkState::Up)];
    let outcome = try_run(&world(&[0]), "max-min", &listed(&steps, OnFailure::RerouteRestart)).expect("it ends");
    assert_eq!(ends(&outcome), [24 * MS / 10 + 40 * US]);
    let [reroute] = &outcome.reroutes[..] else { panic!("{:?}", outcome.reroutes) };
    assert_eq!((reroute.time, reroute.sent, &reroute.links[..]), (SimTime(4 * MS / 10), 0, &BY_ROOT[..]));
    let bytes = |link: u32| outcome.links[link as usize].bytes;
    assert_eq!([2, 8, 0, 5, 7].map(bytes), [1_000_000, 0, 1_000_000, 1_000_000, 1_000_000]);
    // The detour loses 1 MB against 1 GB/s for 2 ms, the failed link the 0.4 MB that it carried.
    assert_eq!(outcome.bottlenecks[0].binding.link, LinkId(0));

    // Both ways are down from 0.5 to 0.9 ms: then all of it goes its own way.
    let steps = [(8, 4 * MS / 10, LinkState::Down), (0, 5 * MS / 10, LinkState::Down), (8, 9 * MS / 10, LinkState::Up)];
    let outcome = try_run(&world(&[0]), "max-min", &listed(&steps, OnFailure::RerouteRestart)).expect("it ends");
    assert_eq!(ends(&outcome), [19 * MS / 10 + 30 * US]);
    let steps: Vec<_> = outcome.link_steps.iter().map(|step| (step.time.0, step.link.0, step.bandwidth)).collect();
    assert_eq!(steps[..2], [(4 * MS / 10, 8, 0.0), (4 * MS / 10, 9, 0.0)]);
    assert_eq!(steps.len(), 6, "both directions of three changes: {steps:?}");
}

/// One that begins while the link is down takes the other way from its start.
#[test]
fn a_detour_may_begin_with_the_transfer() {
    let steps = [(8, 4 * MS / 10, LinkState::Down), (8, 7 * MS / 10, LinkState::Up)];
    let outcome = try_run(&world(&[5 * MS / 10]), "max-min", &listed(&steps, OnFailure::Reroute)).expect("it ends");
    assert_eq!(ends(&outcome), [25 * MS / 10 + 40 * US]);
    assert_eq!((outcome.reroutes[0].time, outcome.reroutes[0].sent), (SimTime(5 * MS / 10), 0));
}

/// Both ways are down from 0.5 to 0.9 ms: it waits, then takes what comes up first.
#[test]
fn without_another_way_it_waits() {
    let down = |link, at| (link, at, LinkState::Down);
    let up = |link, at| (link, at, LinkState::Up);
    let steps = [down(8, 4 * MS / 10), down(0, 5 * MS / 10), up(8, 9 * MS / 10)];
    let outcome = try_run(&world(&[0]), "max-min", &listed(&steps, OnFailure::Reroute)).expect("it ends");
    // 0.4 MB, 0.05 MB, and 0.55 MB at 1 GB/s on its own way again.
    assert_eq!(ends(&outcome), [9 * MS / 10 + 55 * MS / 100 + 30 * US]);
    let took: Vec<_> = outcome.reroutes.iter().map(|reroute| (&reroute.links[..], reroute.sent)).collect();
    assert_eq!(took, [(&BY_ROOT[..], 400_000), (&DIRECT[..], 450_000)]);
    assert_eq!(outcome.bottlenecks[0].blocked, SimDuration(4 * MS / 10));
    assert_eq!(outcome.bottlenecks[0].binding.cause(), Cause::LinkDown);

    let steps = [down(8, 4 * MS / 10), down(2, 5 * MS / 10)];
    let error = try_run(&world(&[0]), "max-min", &listed(&steps, OnFailure::Reroute)).expect_err("it hangs");
    let SimError::StaysDown { time, waiting, .. } = error else { panic!("{error}") };
    assert_eq!((time, waiting), (SimTime(5 * MS / 10), vec![TaskId(0)]));
}

/// What was sent over a long way has arrived no sooner because the rest takes a short one.
#[test]
fn the_last_byte_may_be_one_that_was_sent_before() {
    let (mut fabric, [from, to]) = triangle();
    fabric.set_link(LinkId(8), 1e9, SimDuration(5 * MS)).expect("a latency");
    let (mut routes, mut tasks) = (Routes::new(), TaskGraphBuilder::new());
    let route = routes.between(&fabric, from, to).expect("a route");
    let class = tasks.classes().intern(route, f64::INFINITY, 1.0, 0);
    let (engine, service, work) = (EngineId::NONE, ServiceId::PLAIN, Work::Carries { bytes: 1_000_000, class });
    tasks.task(Task { start: SimTime(0), engine, service, work });
    let world = World { fabric, routes, tasks: tasks.build().expect("no cycle") };
    let steps = [(8, 4 * MS / 10, LinkState::Down)];
    let outcome = try_run(&world, "max-min", &listed(&steps, OnFailure::Reroute)).expect("it ends");
    assert_eq!((outcome.tasks[0].sent.0, outcome.tasks[0].end.0), (16 * MS / 10, 4 * MS / 10 + 5 * MS + 20 * US));
}

/// Two equal ways at once, 1 GB/s each, from a link of 2 GB/s: 1 MB takes 0.5 ms. One is down from 0.25 ms on: the half that is
/// left takes another 0.5 ms over the other.
#[test]
fn of_several_ways_at_once_those_that_are_up_go_on() {
    let mut builder = FabricBuilder::new();
    let root = builder.root(NodeKind::Host).expect("a root");
    let top = builder.child(root, NodeKind::Switch, link(2e9)).expect("a switch");
    let left = builder.child(top, NodeKind::Switch, link(1e9)).expect("a switch");
    let end = builder.child(left, NodeKind::Host, link(1e9)).expect("a host");
    let right = builder.child(top, NodeKind::Switch, link(1e9)).expect("a switch");
    builder.lateral(right, end, link(1e9)).expect("a link");
    let fabric = builder.build();
    let (mut routes, mut tasks) = (Routes::new(), TaskGraphBuilder::new());
    let route = routes.select(&fabric, &[Way::through(&[root, end], Selection::All)], &[]).expect("two routes");
    let class = tasks.classes().intern(route, f64::INFINITY, 1.0, 0);
    let (engine, service, work) = (EngineId::NONE, ServiceId::PLAIN, Work::Carries { bytes: 1_000_000, class });
    tasks.task(Task { start: SimTime(0), engine, service, work });
    let world = World { fabric, routes, tasks: tasks.build().expect("no cycle") };
    let down = world.fabric.links().iter().position(|link| (link.from, link.to) == (top, right)).expect("a link");
    let changes = listed(&[(down as u32 & !1, MS / 4, LinkState::Down)], OnFailure::Reroute);
    let outcome = run_regions(&world, &changes).expect("it ends");
    assert_eq!(outcome.tasks[0].sent.0, MS / 4 + MS / 2);
    assert_eq!(outcome.links[down].bytes, 250_000);
}

/// Under max-min as the policy of one region, which knows several ways at once.
fn run_regions(world: &World, links: &LinkChanges) -> Result<Outcome, SimError> {
    let registry = registry();
    let entry = registry.get("max-min").expect("it is built in");
    let make = |fabric: &Fabric| {
        let division = Division::of(fabric, &vec![0; fabric.links().len()]);
        let policies =
            [RegionPolicy { name: "".into(), make: entry.make.clone(), flags: entry.flags, params: "{}".into() }];
        region_arbiter(&fabric.view(), Arc::new(division), &policies)
    };
    let mut first = make(&world.fabric).expect("it is made");
    let simulation = Simulation { fabric: &world.fabric, routes: &world.routes, tasks: &world.tasks };
    let changing = Some(Changing { links, make: &make });
    simulation.run(&mut *first, entry.flags, RunOptions { changing, ..RunOptions::default() })
}

/// The link stays down, and there is another way: who takes it ends, who waits hangs, and is told so.
#[test]
fn who_waits_for_a_link_that_stays_down_hangs_though_there_is_another_way() {
    let steps = [(8, 4 * MS / 10, LinkState::Down)];
    assert!(try_run(&world(&[0]), "max-min", &listed(&steps, OnFailure::Reroute)).is_ok());
    for on_failure in [OnFailure::Wait, OnFailure::Restart] {
        let error = try_run(&world(&[0]), "max-min", &listed(&steps, on_failure)).expect_err("it hangs");
        let (time, link, waiting) = (SimTime(4 * MS / 10), LinkId(8), vec![TaskId(0)]);
        assert_eq!(error, SimError::StaysDown { time, link, waiting });
    }
}

/// Each transfer knows its own other routes.
#[test]
fn other_routes_are_those_of_a_transfer() {
    let steps = [(8, 4 * MS / 10, LinkState::Down)];
    let outcome = try_run(&world(&[0, 0, 0]), "max-min", &listed(&steps, OnFailure::Reroute)).expect("it ends");
    assert_eq!(outcome.reroutes.len(), 3);
    for (task, reroute) in (0..).map(TaskId).zip(&outcome.reroutes) {
        assert_eq!((reroute.task, outcome.reroutes_of(task)), (task, std::slice::from_ref(reroute)));
    }
    assert_eq!(outcome.reroutes_of(TaskId(3)), []);
}
