//! Policies whose answers are changes beside the arbiters of the same names asked phase by phase, in whole runs.

use crate::common::{Case, Draw, DrawTree, World, arbiter, case};
use proptest::prelude::*;
use weir_arbiters::{Factors, Layers, Lines, Parts, Shares};
use weir_sim_core::api::{
    Answer, CallError, Cause, Change, ClassInfo, Holder, IncrementalArbiter, IncrementalEntry, LinkId, LinkKind,
    NodeKind, RootLevel, Setting, SimDuration, SimTime,
};
use weir_sim_core::{
    AnswerError, EngineId, FabricBuilder, LinkSpec, Outcome, Routes, RunOptions, ServiceId, Sharing, SimError,
    Simulation, Stop, Task, TaskGraphBuilder, Work,
};

/// The incremental sides of arbiters, and their names.
pub(crate) fn policies() -> [(IncrementalEntry, &'static str); 5] {
    [
        (IncrementalEntry::of::<Shares>(), "max-min"),
        (IncrementalEntry::of::<Layers>(), "strict-priority"),
        (IncrementalEntry::of::<Parts>(), "equal-share"),
        (IncrementalEntry::of::<Lines>(), "fcfs"),
        (IncrementalEntry::of::<Factors>(), "pcie-congestion"),
    ]
}

pub(crate) fn incremental(entry: &IncrementalEntry) -> RunOptions<'_> {
    let peaks_below = if entry.knows_peaks { usize::MAX } else { 0 };
    RunOptions { sharing: sharing(entry, 0, peaks_below), ..RunOptions::default() }
}

fn sharing(entry: &IncrementalEntry, from: usize, peaks_below: usize) -> Sharing<'_> {
    Sharing::Incremental { entry, params: "{}", from, peaks_below }
}

fn run_as(world: &World, name: &str, options: RunOptions<'_>) -> Outcome {
    let (mut arbiter, flags) = arbiter(name, &world.fabric.view());
    world.run(arbiter.as_mut(), flags, options)
}

/// Both ways under each policy.
fn both(world: &World, until: SimTime) -> impl Iterator<Item = (Outcome, Outcome)> + '_ {
    policies().into_iter().map(move |(entry, name)| {
        let plain = run_as(world, name, RunOptions { until, ..RunOptions::default() });
        (plain, run_as(world, name, RunOptions { until, ..incremental(&entry) }))
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

/// Picoseconds at most between both ways: each event rounds once in both; of transfers that take seconds floats do not tell the last
/// ones, and clocks of small shares lose some.
fn most(outcome: &Outcome, end: SimTime) -> u64 {
    (2 * outcome.events + 2).min(10 + (end.0 >> 40))
}

/// What must be true of any finished run.
fn complete(world: &World, name: &str, outcome: &Outcome) -> Result<(), TestCaseError> {
    for (task, (times, bottleneck)) in outcome.tasks.iter().zip(&outcome.bottlenecks).enumerate() {
        prop_assert_eq!(outcome.sent_bytes[task], world.bytes_of(task));
        prop_assert!(bottleneck.time <= times.sent - times.start);
        let route = world.routes.links(world.tasks.classes().route(world.class_of(task)));
        prop_assert!(route.contains(&bottleneck.binding.link));
        let cause = bottleneck.binding.cause;
        let named = match name {
            "max-min" | "equal-share" => &[Cause::SharedLink][..],
            "strict-priority" => &[Cause::SharedLink, Cause::Priority],
            "fcfs" => &[Cause::Waiting],
            _ => &[Cause::Upstream, Cause::Downstream, Cause::HeadOfLine, Cause::RootComplex],
        };
        let (is_named, may_be) = (bottleneck.binding.by != u32::MAX, named.iter().any(|&named| named as u32 == cause));
        // Who holds back by a root complex, or is cut there, may have gone in the same instant.
        prop_assert!(is_named == may_be || !is_named && name == "pcie-congestion", "{} {}", cause, name);
        prop_assert!(bottleneck.binding.by as usize != task);
        // Where all have a share, nobody is blocked.
        prop_assert!(bottleneck.blocked == SimDuration::ZERO || !["max-min", "equal-share"].contains(&name));
    }
    for (link, total) in outcome.links.iter().enumerate() {
        let bandwidth = world.fabric.link(LinkId(link as u32)).bandwidth;
        let Some(peak) = total.peak else {
            prop_assert_eq!(name, "pcie-congestion");
            continue;
        };
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
                prop_assert!(x.end.0.abs_diff(y.end.0) <= most(&a, x.end), "{} and {}", x.end, y.end);
            }
            for (x, y) in a.links.iter().zip(&b.links) {
                prop_assert_eq!(x.bytes, y.bytes);
                prop_assert!(x.busy.0.abs_diff(y.busy.0) <= most(&a, SimTime(x.busy.0)), "{} and {}", x.busy.0, y.busy.0);
            }
        }
    }

    /// What `peak` and bottlenecks must be, whatever the order of events a picosecond apart.
    #[test]
    fn results_are_complete_and_repeatable(case in case(3..16, 1..60)) {
        let Some(world) = case.world() else { return Ok(()) };
        for (entry, name) in policies() {
            let outcome = run_as(&world, name, incremental(&entry));
            prop_assert_eq!(outcome.stop, Stop::Finished);
            prop_assert_eq!(&outcome, &run_as(&world, name, incremental(&entry)));
            complete(&world, name, &outcome)?;
        }
    }

    /// So many that `pcie-congestion` computes what changes itself, and asks its rate arbiter for few.
    #[test]
    fn results_of_many_transfers_are_complete_and_repeatable(case in case(5..12, 90..160)) {
        let Some(world) = case.world() else { return Ok(()) };
        let entry = IncrementalEntry::of::<Factors>();
        let outcome = run_as(&world, "pcie-congestion", incremental(&entry));
        prop_assert_eq!(outcome.stop, Stop::Finished);
        prop_assert_eq!(&outcome, &run_as(&world, "pcie-congestion", incremental(&entry)));
        complete(&world, "pcie-congestion", &outcome)?;
    }

    /// Links that cannot be full change nothing but what is known of their peaks.
    #[test]
    fn quiet_links_change_no_result_but_peaks(case in case(3..16, 1..60)) {
        let Some(world) = steady(case) else { return Ok(()) };
        let entry = IncrementalEntry::of::<Shares>();
        let a = run_as(&world, "max-min", incremental(&entry));
        let b = run_as(&world, "max-min", RunOptions { sharing: sharing(&entry, 0, 0), ..RunOptions::default() });
        for (x, y) in a.tasks.iter().zip(&b.tasks) {
            prop_assert!(x.end.0.abs_diff(y.end.0) <= most(&a, x.end), "{} and {}", x.end, y.end);
        }
        for (link, (x, y)) in a.links.iter().zip(&b.links).enumerate() {
            prop_assert_eq!(x.bytes, y.bytes);
            // A link that others fill to the last unit counts as full in one way, as nearly full in the other.
            let near = |peak: f64| x.peak.is_some_and(|other| (other - peak).abs() <= 1e-9 * peak);
            prop_assert!(y.peak.is_none_or(near), "{:?} and {:?} on {}", x.peak, y.peak, link);
        }
    }

    /// All at once and nothing ever again: peaks are the loads of one filling, so both ways must agree on them.
    #[test]
    fn peaks_of_a_first_moment_are_the_loads(case in case(3..16, 1..30)) {
        let Some(world) = steady(case) else { return Ok(()) };
        for (a, b) in both(&world, SimTime(1)) {
            for (x, y) in a.links.iter().zip(&b.links) {
                let p = x.peak.expect("always known");
                prop_assert!(y.peak.is_none_or(|q| (p - q).abs() <= 2e-9 * p), "{} and {:?}", p, y.peak);
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
                prop_assert!(x.abs_diff(*y) <= 1, "{} and {}", x, y);
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
    for (entry, name) in policies() {
        let with_phases = RunOptions { phases: true, ..incremental(&entry) };
        assert_eq!(run_as(&world, name, phases), run_as(&world, name, with_phases));
        let few = RunOptions { sharing: sharing(&entry, 31, 0), ..RunOptions::default() };
        assert_eq!(run_as(&world, name, RunOptions::default()), run_as(&world, name, few));
    }
}

/// Gives each class a level of its own, as high as the link can bear for one.
struct Greedy {
    capacities: Vec<u64>,
    /// Per class its narrowest link.
    links: Vec<LinkId>,
}

impl IncrementalArbiter for Greedy {
    fn add_class(&mut self, id: u32, class: &ClassInfo<'_>) {
        assert_eq!(id as usize, self.links.len(), "none is forgotten here");
        let narrowest = class.links.iter().min_by_key(|link| self.capacities[link.index()]);
        self.links.extend(narrowest);
    }

    fn settle(&mut self, change: &Change<'_>, answer: &mut Answer) -> Result<(), CallError> {
        for added in change.added {
            let level = self.capacities[self.links[added.class as usize].index()];
            answer.levels.push(RootLevel { root: added.class, level });
        }
        Ok(())
    }

    fn holder(&self, class: u32) -> Holder {
        Holder { link: self.links[class as usize], cause: Cause::SharedLink, by: class }
    }
}

fn entry(make: fn(&Setting<'_>) -> Result<Greedy, CallError>) -> IncrementalEntry {
    IncrementalEntry {
        make: std::sync::Arc::new(move |setting, _| Ok(Box::new(make(setting)?))),
        in_turn: false,
        knows_peaks: true,
    }
}

/// Two transfers at once over the one link of 1000 B/s.
fn two_at_once() -> World {
    let mut fabric = FabricBuilder::new();
    let root = fabric.root(NodeKind::Switch).expect("the first");
    let link = LinkSpec { up: 1000.0, down: 1000.0, latency: SimDuration(0), kind: LinkKind::PCIE };
    let leaf = fabric.child(root, NodeKind::Gpu, link).expect("the second");
    let (fabric, mut routes, mut tasks) = (fabric.build(), Routes::new(), TaskGraphBuilder::new());
    let route = routes.between(&fabric, leaf, root).expect("there is one");
    let class = tasks.classes().intern(route, f64::INFINITY, 1.0, 0);
    for _ in 0..2 {
        let (engine, service) = (EngineId::NONE, ServiceId::PLAIN);
        tasks.task(Task { start: SimTime(0), engine, service, work: Work::Carries { bytes: 1000, class } });
    }
    World { fabric, routes, tasks: tasks.build().expect("no cycle") }
}

#[test]
fn an_overload_is_refused_and_a_refusal_is_served_phase_by_phase() {
    let world = two_at_once();
    let simulation = Simulation { fabric: &world.fabric, routes: &world.routes, tasks: &world.tasks };
    let run = |entry: &IncrementalEntry| {
        let (mut arbiter, flags) = arbiter("max-min", &world.fabric.view());
        simulation.run(arbiter.as_mut(), flags, incremental(entry))
    };
    let greedy = entry(|setting| Ok(Greedy { capacities: setting.capacities.to_vec(), links: Vec::new() }));
    let Err(SimError::Arbiter(AnswerError::Failed { time, error })) = run(&greedy) else { panic!("it is noticed") };
    assert_eq!(time, SimTime(0));
    assert_eq!(error.to_string(), "its changes are wrong: link 0 carries 2 times its bandwidth");

    let refusing = entry(|_| Err(CallError::Refused("not like this".to_owned())));
    assert_eq!(run(&refusing).expect("the arbiter serves it").makespan, SimTime(2_000_000_000_000));
    let failing = entry(|_| Err(CallError::Failed("no memory".to_owned())));
    let Err(SimError::Arbiter(AnswerError::Failed { error, .. })) = run(&failing) else { panic!("it is told") };
    assert_eq!(error.to_string(), "no memory");
}

/// What cannot be computed as exactly, or as cheaply, incrementally is asked phase by phase: limits far below the bandwidths, and
/// many priorities. Then both ways are the same to the bit.
#[test]
fn what_does_not_fit_is_asked_phase_by_phase() {
    for (limits, priorities, same) in [(0, 1, false), (0, 32, false), (0, 33, true), (1, 1, true)] {
        let world = crowd(limits > 0, priorities);
        for (entry, name) in policies() {
            let (a, b) = (run_as(&world, name, RunOptions::default()), run_as(&world, name, incremental(&entry)));
            let falls_back = same && (limits > 0 || name == "strict-priority");
            assert_eq!(b.incremental, !falls_back, "{name}, limits {limits}, {priorities} priorities");
            assert!(!a.incremental && (!falls_back || a == b));
        }
    }
}

/// `from` transfers are enough, and from `peaks_below` on the largest loads of links that are never full are unknown.
#[test]
fn counts_of_transfers_decide_from_the_number_itself_on() {
    let mut fabric = FabricBuilder::new();
    let root = fabric.root(NodeKind::Switch).expect("the first");
    let mut leaf = |bandwidth: f64| {
        let link = LinkSpec { up: bandwidth, down: bandwidth, latency: SimDuration(0), kind: LinkKind::PCIE };
        fabric.child(root, NodeKind::Gpu, link).expect("another")
    };
    let (narrow, wide) = (leaf(1e9), leaf(4e9));
    let (fabric, mut routes, mut tasks) = (fabric.build(), Routes::new(), TaskGraphBuilder::new());
    let route = routes.between(&fabric, narrow, wide).expect("there is one");
    let quiet = routes.links(route)[1];
    let class = tasks.classes().intern(route, f64::INFINITY, 1.0, 0);
    for _ in 0..5 {
        let (engine, service) = (EngineId::NONE, ServiceId::PLAIN);
        tasks.task(Task { start: SimTime(0), engine, service, work: Work::Carries { bytes: 1000, class } });
    }
    let world = World { fabric, routes, tasks: tasks.build().expect("no cycle") };
    let (shares, factors) = (IncrementalEntry::of::<Shares>(), IncrementalEntry::of::<Factors>());
    let run = |name: &str, entry: &IncrementalEntry, from: usize, peaks_below: usize| {
        run_as(&world, name, RunOptions { sharing: sharing(entry, from, peaks_below), ..RunOptions::default() })
    };
    for (from, incremental) in [(4, true), (5, true), (6, false)] {
        assert_eq!(run("max-min", &shares, from, 0).incremental, incremental, "from {from}");
    }
    for (peaks_below, peak) in [(5, None), (6, Some(1e9)), (usize::MAX, Some(1e9))] {
        let outcome = run("max-min", &shares, 0, peaks_below);
        assert!(outcome.incremental);
        assert_eq!(outcome.links[quiet.index()].peak, peak, "below {peaks_below}");
    }
    // Who has to know all loads, and whose policy does not, is served phase by phase.
    assert!(!run("pcie-congestion", &factors, 0, usize::MAX).incremental);
    assert!(run("pcie-congestion", &factors, 0, usize::MAX - 1).incremental);
}

/// What a higher priority leaves of a link is used, down to 1e-9 of it (docs/arbiters.md): 1 GB over a link that is 500 kB/s
/// narrower leaves 500 kB/s to another priority for 1.0005 s.
#[test]
fn small_remainders_are_used() {
    let mut fabric = FabricBuilder::new();
    let root = fabric.root(NodeKind::Switch).expect("the first");
    let mut leaf = |up: f64| {
        let link = LinkSpec { up, down: 1e9, latency: SimDuration(0), kind: LinkKind::PCIE };
        fabric.child(root, NodeKind::Gpu, link).expect("another")
    };
    let (first, second, to) = (leaf(0.9995e9), leaf(1e9), leaf(1e9));
    let (fabric, mut routes, mut tasks) = (fabric.build(), Routes::new(), TaskGraphBuilder::new());
    for (from, priority, bytes) in [(first, 1, 1_000_000_000), (second, 0, 400_000)] {
        let route = routes.between(&fabric, from, to).expect("there is one");
        let class = tasks.classes().intern(route, f64::INFINITY, 1.0, priority);
        let (engine, service) = (EngineId::NONE, ServiceId::PLAIN);
        tasks.task(Task { start: SimTime(0), engine, service, work: Work::Carries { bytes, class } });
    }
    let world = World { fabric, routes, tasks: tasks.build().expect("no cycle") };
    let entry = IncrementalEntry::of::<Layers>();
    for options in [RunOptions::default(), incremental(&entry)] {
        let outcome = run_as(&world, "strict-priority", options);
        let ends = [outcome.tasks[0].end.0, outcome.tasks[1].end.0];
        assert!(ends[0].abs_diff(1_000_500_250_125) <= 1 && ends[1].abs_diff(800_000_000_000) <= 1000, "{ends:?}");
    }
}

/// 66 transfers of one class each over a link of 400 GB/s, one after the other and by two.
pub(crate) fn crowd(limited: bool, priorities: i64) -> World {
    let mut fabric = FabricBuilder::new();
    let root = fabric.root(NodeKind::Switch).expect("the first");
    let link = LinkSpec { up: 4e11, down: 4e11, latency: SimDuration(0), kind: LinkKind::PCIE };
    let leaf = fabric.child(root, NodeKind::Gpu, link).expect("the second");
    let (fabric, mut routes, mut tasks) = (fabric.build(), Routes::new(), TaskGraphBuilder::new());
    let route = routes.between(&fabric, leaf, root).expect("there is one");
    for i in 0..66 {
        let limit = if limited { 0.5 + f64::from(i) * 0.3 } else { f64::INFINITY };
        let class = tasks.classes().intern(route, limit, 1.0, i64::from(i) % priorities);
        let (engine, service, bytes) = (EngineId::NONE, ServiceId::PLAIN, 49 + i as u64);
        tasks.task(Task { start: SimTime(i as u64 / 2 * 7), engine, service, work: Work::Carries { bytes, class } });
    }
    World { fabric, routes, tasks: tasks.build().expect("no cycle") }
}

/// All classes are active, and one ends where another transfer of it begins: the arbiter knows both for an instant.
#[test]
fn a_class_ends_and_begins_at_once() {
    let draw = |from, to, weight, priority| {
        let (bytes, start, limit, after) = (1_000_000, 0, None, 0);
        Draw { from, to, bytes, start, limit, weight, priority, after }
    };
    // Three leaves; the second has one send slot, in which two transfers follow each other.
    let case = Case {
        tree: DrawTree { parents: vec![0, 0, 0], bandwidths: vec![(1e9, 1e9); 3], latency: 0 },
        transfers: vec![draw(1, 0, 2, 1), draw(1, 0, 2, 1), draw(0, 1, 1, 0)],
        queued: true,
        mirrored: false,
    };
    let world = case.world().expect("two leaves");
    let ends = |entry: &IncrementalEntry, name| {
        let outcome = run_as(&world, name, incremental(entry));
        outcome.tasks.iter().map(|task| task.end.0 / 1_000_000).collect::<Vec<_>>()
    };
    // 1 GB/s: one after the other by priority; 2/3 to 1/3 by weights, then all at once.
    assert_eq!(ends(&IncrementalEntry::of::<Layers>(), "strict-priority"), [1000, 2000, 3000]);
    assert_eq!(ends(&IncrementalEntry::of::<Shares>(), "max-min"), [1500, 3000, 3000]);
}
