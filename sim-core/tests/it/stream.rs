//! A streamed run is the run of the same transfers as tasks of a graph: to the picosecond, to the last bit.

use crate::common::{ARBITERS, Case, World, arbiter, case};
use crate::packets::settings;
use proptest::prelude::*;
use weir_arbiters::{Layers, Shares};
use weir_sim_core::api::{CallError, Flags, Grant, IncrementalEntry, PhaseView, RateArbiter, SimDuration, SimTime};
use weir_sim_core::{
    Arrival, Arrivals, Census, Departure, Departures, Halt, Outcome, PacketSettings, RunOptions, Sharing, SimError,
    Simulation, Stop, TaskGraph, TaskGraphBuilder, TaskId, Traffic, Work,
};

/// Transfers in the order in which they come; fails after some.
struct Queue {
    rows: std::vec::IntoIter<Arrival>,
    fails_after: Option<usize>,
}

impl Arrivals for Queue {
    fn next(&mut self) -> Result<Option<Arrival>, Halt> {
        if let Some(left) = &mut self.fails_after {
            *left = left.checked_sub(1).ok_or(Halt)?;
        }
        Ok(self.rows.next())
    }
}

/// Keeps all; full after some.
#[derive(Default)]
struct Kept {
    all: Vec<Departure>,
    room: Option<usize>,
}

impl Departures for Kept {
    fn take(&mut self, departure: &Departure) -> Result<(), Halt> {
        if self.room.is_some_and(|room| self.all.len() >= room) {
            return Err(Halt);
        }
        self.all.push(departure.clone());
        Ok(())
    }
}

/// The transfers of a world by (start, id), and what a run must know of them before.
fn arrivals(world: &World) -> (Vec<Arrival>, Census) {
    let (mut rows, mut census) = (Vec::new(), Census::default());
    for (i, task) in world.tasks.tasks().iter().enumerate() {
        let Work::Carries { bytes, class } = task.work else { panic!("a transfer") };
        census.add(class, task.engine, bytes);
        rows.push(Arrival { task: TaskId(i as u32), start: task.start, engine: task.engine, class, bytes });
    }
    rows.sort_by_key(|row| (row.start, row.task));
    (rows, census)
}

/// Engines and classes of a graph, without its tasks.
fn empty(world: &World) -> TaskGraph {
    let mut graph = TaskGraphBuilder::new();
    world.tasks.engines().iter().for_each(|engine| {
        graph.own_engine(engine.clone());
    });
    let table = world.tasks.classes().table();
    for (((&route, &limit), &weight), &priority) in
        table.route.iter().zip(table.limit.iter()).zip(table.weight.iter()).zip(table.priority.iter())
    {
        graph.classes().intern(route, limit, weight, priority);
    }
    graph.build().expect("there are no waits")
}

fn stream(
    world: &World,
    name: &str,
    options: RunOptions<'_>,
    fails_after: Option<usize>,
    kept: &mut Kept,
) -> Result<Outcome, SimError> {
    let (mut arbiter, flags) = arbiter(name, &world.fabric.view());
    stream_under(world, (arbiter.as_mut(), flags), options, fails_after, kept)
}

fn stream_under(
    world: &World,
    (arbiter, flags): (&mut dyn RateArbiter, Flags),
    options: RunOptions<'_>,
    fails_after: Option<usize>,
    kept: &mut Kept,
) -> Result<Outcome, SimError> {
    let (rows, census) = arrivals(world);
    let tasks = &empty(world);
    let mut queue = Queue { rows: rows.into_iter(), fails_after };
    let traffic = Traffic { census: &census, arrivals: &mut queue, departures: kept };
    let simulation = Simulation { fabric: &world.fabric, routes: &world.routes, tasks };
    simulation.stream(traffic, arbiter, flags, options)
}

/// Gives nobody anything.
struct Stalled;

impl RateArbiter for Stalled {
    fn allocate(&mut self, _: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        grant.rates.fill(0.0);
        Ok(())
    }
}

/// Without waits, which a stream cannot have.
fn world(mut case: Case) -> Option<World> {
    case.transfers.iter_mut().for_each(|t| t.after = 0);
    case.world()
}

fn any_arbiter() -> impl Strategy<Value = &'static str> {
    prop::sample::select(ARBITERS.to_vec())
}

/// Who computes rates.
#[derive(Clone, Copy, Debug)]
enum Way {
    PhaseByPhase,
    /// Incrementally, with all links awake.
    Awake,
    /// Incrementally, with quiet links.
    Quiet,
    /// Packet by packet.
    Packets,
}

fn any_way() -> impl Strategy<Value = Way> {
    prop::sample::select(vec![Way::PhaseByPhase, Way::Awake, Way::Quiet, Way::Packets])
}

fn side(name: &str) -> Option<IncrementalEntry> {
    match name {
        "max-min" => Some(IncrementalEntry::of::<Shares>()),
        "strict-priority" => Some(IncrementalEntry::of::<Layers>()),
        _ => None,
    }
}

fn sharing<'a>(way: Way, side: Option<&'a IncrementalEntry>, packets: &'a PacketSettings) -> Sharing<'a> {
    let incremental = |peaks_below| {
        side.map(|entry| Sharing::Incremental { entry, params: "{}", from: 0, peaks_below }).unwrap_or_default()
    };
    match way {
        Way::PhaseByPhase => Sharing::ByArbiter,
        Way::Awake => incremental(usize::MAX),
        Way::Quiet => incremental(0),
        Way::Packets => Sharing::Packets(packets),
    }
}

/// What a whole run knows of a task, as a streamed one reports it.
fn expected(world: &World, outcome: &Outcome, task: usize) -> Departure {
    let times = outcome.tasks[task];
    Departure {
        task: TaskId(task as u32),
        class: world.class_of(task),
        engine: world.tasks.tasks()[task].engine,
        lead: SimDuration::ZERO,
        bytes: world.bytes_of(task),
        times,
        sent_bytes: outcome.sent_bytes[task],
        bottleneck: outcome.bottlenecks[task],
        queued_behind: outcome.queued_behind[task],
        held: outcome.held.get(task).cloned().unwrap_or_default(),
        at: if times.end.is_never() { outcome.now } else { times.end },
    }
}

/// Everything but what is known task by task is equal.
fn same_totals(streamed: &Outcome, whole: &Outcome) -> Result<(), TestCaseError> {
    prop_assert!(streamed.tasks.is_empty() && streamed.sent_bytes.is_empty() && streamed.bottlenecks.is_empty());
    let Outcome { tasks, sent_bytes, bottlenecks, queued_behind, held, .. } = whole.clone();
    let streamed = Outcome { tasks, sent_bytes, bottlenecks, queued_behind, held, ..streamed.clone() };
    prop_assert_eq!(streamed, whole.clone());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn equals_the_whole_run(case in case(3..16, 1..60), name in any_arbiter(), way in any_way()) {
        let Some(world) = world(case) else { return Ok(()) };
        let side = side(name);
        let packets = settings(&world.fabric);
        let sharing = sharing(way, side.as_ref(), &packets);
        let options = RunOptions { sharing, ..RunOptions::default() };
        let (mut arbiter, flags) = arbiter(name, &world.fabric.view());
        let whole = world.run(arbiter.as_mut(), flags, options);
        let mut kept = Kept::default();
        let streamed = stream(&world, name, options, None, &mut kept).expect("the run ends");
        same_totals(&streamed, &whole)?;
        prop_assert!(kept.all.is_sorted_by_key(|d| (d.times.end, d.task)));
        prop_assert_eq!(kept.all.len(), world.tasks.tasks().len());
        for departure in &kept.all {
            prop_assert_eq!(departure, &expected(&world, &whole, departure.task.index()));
        }
    }

    /// A run that stops leaves the same: what has ended, what is under way, and the next to come.
    #[test]
    fn stops_as_the_whole_run(case in case(3..16, 1..60), name in any_arbiter(), way in any_way(), until in 0..2_500_000_000_u64) {
        let Some(world) = world(case) else { return Ok(()) };
        let side = side(name);
        let packets = settings(&world.fabric);
        let sharing = sharing(way, side.as_ref(), &packets);
        let options = RunOptions { sharing, until: SimTime(until), ..RunOptions::default() };
        let (mut arbiter, flags) = arbiter(name, &world.fabric.view());
        let whole = world.run(arbiter.as_mut(), flags, options);
        let mut kept = Kept::default();
        let streamed = stream(&world, name, options, None, &mut kept).expect("the run ends");
        same_totals(&streamed, &whole)?;
        let ended = kept.all.iter().take_while(|d| !d.times.end.is_never()).count();
        let (ended, rest) = kept.all.split_at(ended);
        prop_assert_eq!(ended.len(), whole.tasks.iter().filter(|t| !t.end.is_never()).count());
        prop_assert!(rest.is_sorted_by_key(|d| d.task) && rest.iter().all(|d| d.times.end.is_never()));
        prop_assert_eq!(rest.is_empty(), whole.stop == Stop::Finished);
        let coming = whole.tasks.iter().filter(|t| t.ready.is_never()).count();
        let under_way = whole.tasks.iter().filter(|t| !t.ready.is_never() && t.end.is_never()).count();
        prop_assert_eq!(rest.len(), under_way + coming.min(1));
        for departure in ended.iter().chain(rest) {
            prop_assert_eq!(departure, &expected(&world, &whole, departure.task.index()));
        }
    }

    /// A source or a sink that fails ends the run, wherever that happens.
    #[test]
    fn halts_where_the_caller_fails(case in case(3..10, 2..30), name in any_arbiter(), at in 0..30_usize, source: bool) {
        let Some(world) = world(case) else { return Ok(()) };
        let count = world.tasks.tasks().len();
        let mut kept = Kept { room: (!source).then_some(at), ..Kept::default() };
        let result = stream(&world, name, RunOptions::default(), source.then_some(at), &mut kept);
        // The source is asked once more than there are transfers.
        let fails = if source { at <= count } else { at < count };
        prop_assert_eq!(matches!(result, Err(SimError::Halted)), fails);
        prop_assert_eq!(result.is_ok(), !fails);
    }
    /// Where nothing moves, it names the same transfers: those under way, and those that queue for an engine.
    #[test]
    fn hangs_as_the_whole_run(case in case(3..10, 1..20)) {
        let Some(world) = world(case) else { return Ok(()) };
        let simulation = Simulation { fabric: &world.fabric, routes: &world.routes, tasks: &world.tasks };
        let whole = simulation.run(&mut Stalled, Flags::default(), RunOptions::default()).expect_err("it hangs");
        let under = (&mut Stalled as &mut dyn RateArbiter, Flags::default());
        let streamed = stream_under(&world, under, RunOptions::default(), None, &mut Kept::default());
        prop_assert_eq!(streamed.expect_err("it hangs"), whole);
    }
}
