//! The rules of one run, on cases small enough to work out by hand.

use std::sync::atomic::AtomicBool;

use weir_sim_core::api::{
    Binding, CallError, Cause, Flags, Grant, LinkId, LinkKind, NodeKind, PhaseView, RateArbiter, Remark, SimDuration,
    SimTime,
};
use weir_sim_core::{
    AdmissionError, AnswerError, EngineId, Fabric, FabricBuilder, LinkSpec, MOST_ROUNDS, Outcome, RemarkCount, Routes,
    RunOptions, ServiceId, SimError, Simulation, Stop, Task, TaskGraph, TaskGraphBuilder, TaskId, Work, admit,
};

/// One microsecond, in ps.
const US: u64 = 1_000_000;

/// Calls a closure: `rates[i] = f(number of transfers, position, now)`.
pub(crate) struct Fixed<F>(pub(crate) F);

impl<F: FnMut(&PhaseView<'_>, &mut Grant<'_>) + Send> RateArbiter for Fixed<F> {
    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        (self.0)(phase, grant);
        Ok(())
    }
}

/// The whole 1 GB/s shared equally among all that are active.
fn equal() -> Fixed<impl FnMut(&PhaseView<'_>, &mut Grant<'_>) + Send> {
    Fixed(|phase: &PhaseView<'_>, grant: &mut Grant<'_>| grant.rates.fill(1e9 / phase.len() as f64))
}

/// Two gpus, one on each side of a switch; every link 1 GB/s and `latency` ps.
pub(crate) struct Pair {
    fabric: Fabric,
    routes: Routes,
    graph: TaskGraphBuilder,
    class: weir_sim_core::api::ClassId,
    engine: EngineId,
}

pub(crate) fn pair(latency: u64) -> Pair {
    let mut b = FabricBuilder::new();
    let link = LinkSpec { up: 1e9, down: 1e9, latency: SimDuration(latency), kind: LinkKind::PCIE };
    let root = b.root(NodeKind::Switch).expect("root");
    let from = b.child(root, NodeKind::Gpu, link).expect("gpu0");
    let to = b.child(root, NodeKind::Gpu, link).expect("gpu1");
    let fabric = b.build();
    let (mut routes, mut graph) = (Routes::new(), TaskGraphBuilder::new());
    let route = routes.between(&fabric, from, to).expect("connected");
    let class = graph.classes().intern(route, f64::INFINITY, 1.0, 0);
    let engine = graph.engine(from, "send", 1).expect("one number of slots");
    Pair { fabric, routes, graph, class, engine }
}

impl Pair {
    pub(crate) fn send(&mut self, start: u64, bytes: u64, queued: bool) -> TaskId {
        let engine = if queued { self.engine } else { EngineId::NONE };
        let work = Work::Carries { bytes, class: self.class };
        self.graph.task(Task { start: SimTime(start), engine, service: ServiceId::PLAIN, work })
    }

    fn task(&mut self, work: Work) -> TaskId {
        self.graph.task(Task { start: SimTime::ZERO, engine: EngineId::NONE, service: ServiceId::PLAIN, work })
    }

    fn run(self, arbiter: &mut dyn RateArbiter, options: RunOptions<'_>) -> Result<Outcome, SimError> {
        self.run_with(arbiter, Flags::default(), options)
    }

    pub(crate) fn run_with(
        self,
        arbiter: &mut dyn RateArbiter,
        flags: Flags,
        options: RunOptions<'_>,
    ) -> Result<Outcome, SimError> {
        let tasks: TaskGraph = self.graph.build().expect("no cycle");
        let simulation = Simulation { fabric: &self.fabric, routes: &self.routes, tasks: &tasks };
        simulation.run(arbiter, flags, options)
    }
}

fn times(outcome: &Outcome) -> Vec<[u64; 4]> {
    outcome.tasks.iter().map(|t| [t.ready.0, t.start.0, t.sent.0, t.end.0]).collect()
}

#[test]
fn a_source_sends_one_after_another_and_the_slot_is_free_at_the_last_byte() {
    let mut p = pair(3);
    // In file order, though the second is ready first; the third waits for both.
    p.send(2 * US, 1000, true);
    p.send(0, 4000, true);
    p.send(2 * US, 1000, true);
    let outcome = p.run(&mut equal(), RunOptions::default()).expect("runs");
    let us = |ready: u64, start: u64, sent: u64| [ready * US, start * US, sent * US, sent * US + 6];
    assert_eq!(times(&outcome), [us(2, 4, 5), us(0, 0, 4), us(2, 5, 6)]);
    assert_eq!((outcome.makespan.0, outcome.events), (6 * US + 6, 6));
    assert_eq!((outcome.links[0].bytes, outcome.links[0].busy.0, outcome.links[0].peak), (6000, 6 * US, Some(1e9)));
    assert_eq!(outcome.links[1].bytes, 0);
}

#[test]
fn two_at_once_share_and_the_longer_speeds_up() {
    let mut p = pair(0);
    p.send(0, 1000, false);
    p.send(0, 3000, false);
    let outcome = p.run(&mut equal(), RunOptions { phases: true, ..RunOptions::default() }).expect("runs");
    // 1000 B each at 0.5 GB/s: 2 µs; then 2000 B at 1 GB/s.
    assert_eq!(times(&outcome), [[0, 0, 2 * US, 2 * US], [0, 0, 4 * US, 4 * US]]);
    let phases = outcome.phases.expect("asked for");
    let rates: Vec<_> = phases.iter().map(|p| (p.start.0, p.end.0, p.rates.clone())).collect();
    let expected =
        vec![(0, 2 * US, vec![(TaskId(0), 5e8), (TaskId(1), 5e8)]), (2 * US, 4 * US, vec![(TaskId(1), 1e9)])];
    assert_eq!(rates, expected);
}

#[test]
fn waits_are_for_the_end_and_joins_take_no_time() {
    let mut p = pair(US);
    let first = p.send(0, 1000, true);
    let barrier = p.task(Work::Nothing { counted: true });
    let compute = p.task(Work::Lasts(SimDuration(5 * US)));
    let hidden = p.task(Work::Nothing { counted: false });
    let last = p.send(0, 1000, true);
    for (task, earlier) in [(barrier, first), (compute, barrier), (hidden, compute), (last, hidden)] {
        p.graph.wait(task, earlier);
    }
    let outcome = p.run(&mut equal(), RunOptions::default()).expect("runs");
    let end: Vec<u64> = outcome.tasks.iter().map(|t| t.end.0 / US).collect();
    assert_eq!(end, [3, 3, 8, 8, 11]);
    assert_eq!(outcome.events, 8, "the hidden join does not count");
}

#[test]
fn what_is_ready_after_a_join_keeps_its_place_in_the_queue() {
    for join in [Work::Nothing { counted: true }, Work::Lasts(SimDuration::ZERO)] {
        let mut p = pair(0);
        let compute = p.graph.engine(weir_sim_core::api::NodeId(1), "compute", 1).expect("one number of slots");
        let engine = if matches!(join, Work::Lasts(_)) { compute } else { EngineId::NONE };
        let barrier = p.graph.task(Task { start: SimTime::ZERO, engine, service: ServiceId::PLAIN, work: join });
        let first = p.send(0, 1000, true);
        let second = p.send(0, 1000, true);
        p.graph.wait(first, barrier);
        let outcome = p.run(&mut equal(), RunOptions::default()).expect("runs");
        // Both are ready at 0; the lower task is first.
        assert_eq!(outcome.tasks[first.index()].start.0, 0, "{join:?}");
        assert_eq!(outcome.tasks[second.index()].start.0, US, "{join:?}");
    }
}

#[test]
fn a_cycle_of_waits_is_named() {
    let mut p = pair(0);
    let [a, b, c] = [0, 1, 2].map(|_| p.send(0, 1, false));
    p.graph.wait(b, a);
    p.graph.wait(c, b);
    p.graph.wait(b, c);
    let mut cycle = p.graph.build().expect_err("a cycle");
    cycle.sort();
    assert_eq!(cycle, [b, c]);
}

#[test]
fn all_rates_zero_is_a_deadlock_that_names_who_waits() {
    let mut p = pair(0);
    p.send(7, 10, false);
    p.send(7, 10, false);
    let mut stall = Fixed(|_: &PhaseView<'_>, grant: &mut Grant<'_>| grant.rates.fill(0.0));
    let error = p.run(&mut stall, RunOptions::default()).expect_err("deadlock");
    assert_eq!(error, SimError::Deadlock { time: SimTime(7), waiting: vec![TaskId(0), TaskId(1)], queued: vec![] });
}

#[test]
fn an_end_beyond_the_horizon_is_an_error_only_when_nothing_else_is_left() {
    let mut p = pair(0);
    p.send(0, 1 << 40, false);
    p.send(US, 1000, false);
    // Crawls alone, but is served well once the second is there.
    let mut crawl = Fixed(|phase: &PhaseView<'_>, grant: &mut Grant<'_>| {
        let rates: &[f64] = if phase.len() == 2 { &[0.0, 1e9] } else { &[1e-3] };
        grant.rates.copy_from_slice(rates);
    });
    let error = p.run(&mut crawl, RunOptions::default()).expect_err("beyond");
    assert_eq!(error, SimError::BeyondHorizon { time: SimTime(2 * US), tasks: vec![TaskId(0)] });
}

#[test]
fn a_recheck_that_does_not_let_the_clock_move_is_stopped() {
    let mut p = pair(0);
    p.send(5, 10, false);
    let mut stuck = Fixed(|phase: &PhaseView<'_>, grant: &mut Grant<'_>| {
        grant.rates.fill(1.0);
        grant.recheck = phase.now;
    });
    let error = p.run(&mut stuck, RunOptions::default()).expect_err("stuck");
    assert_eq!(error, SimError::Stuck { time: SimTime(5), passed: SimDuration(0), active: vec![TaskId(0)] });
}

/// A picosecond is no progress, but a policy may decide anew every nanosecond: 2 ms at 1 B/ns are 2·10^6 times.
#[test]
fn a_recheck_that_hardly_lets_the_clock_move_is_stopped() {
    let run = |step: u64, rate: f64| {
        let mut p = pair(0);
        p.send(5, 2_000_000, false);
        let mut again = Fixed(move |phase: &PhaseView<'_>, grant: &mut Grant<'_>| {
            grant.rates.fill(rate);
            grant.recheck = SimTime(phase.now.0 + step);
        });
        p.run(&mut again, RunOptions::default())
    };
    let stuck = |passed: u64| {
        let (time, passed) = (SimTime(passed + 5), SimDuration(passed));
        SimError::Stuck { time, passed, active: vec![TaskId(0)] }
    };
    assert_eq!(run(1, 1e9).expect_err("stuck"), stuck(MOST_ROUNDS.into()));
    assert_eq!(run(1000, 1e9).expect("it goes on").makespan, SimTime(2_000 * US + 5));
    // Where nothing moves, or nothing would end within the horizon, no step is large enough.
    for rate in [0.0, f64::MIN_POSITIVE, 0.2] {
        assert_eq!(run(1000, rate).expect_err("stuck"), stuck(1000 * u64::from(MOST_ROUNDS)), "{rate}");
    }
    let SimError::Arbiter(AnswerError::NotARate { rate, .. }) = run(1000, 5e-324).expect_err("no rate") else {
        panic!("another error")
    };
    assert_eq!(rate, 5e-324);
}

#[test]
fn an_arbiter_may_ask_to_be_called_again() {
    let mut p = pair(0);
    p.send(0, 3000, false);
    // 1 GB/s until 1 µs, half of it afterwards: 1 µs + 2000 B at 0.5 GB/s.
    let mut slows = Fixed(|phase: &PhaseView<'_>, grant: &mut Grant<'_>| {
        let early = phase.now.0 < US;
        grant.rates.fill(if early { 1e9 } else { 5e8 });
        grant.recheck = if early { SimTime(US) } else { SimTime::NEVER };
    });
    let outcome = p.run(&mut slows, RunOptions::default()).expect("runs");
    assert_eq!(outcome.tasks[0].end.0, 5 * US);
}

fn refusal(rates: impl Fn(usize) -> f64 + Send) -> AnswerError {
    let mut p = pair(0);
    let limited = p.graph.classes().intern(weir_sim_core::api::RouteId(0), 4e8, 1.0, 0);
    p.send(0, 10, false);
    p.class = limited;
    p.send(0, 10, false);
    let mut bad = Fixed(move |_: &PhaseView<'_>, grant: &mut Grant<'_>| {
        grant.rates.iter_mut().enumerate().for_each(|(i, r)| *r = rates(i));
    });
    match p.run(&mut bad, RunOptions::default()) {
        Err(SimError::Arbiter(error)) => error,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn wrong_answers_are_refused_by_name() {
    for rate in [f64::NAN, f64::INFINITY, -1.0, -0.0, -f64::MIN_POSITIVE] {
        let error = refusal(|i| if i == 0 { rate } else { 1.0 });
        assert!(matches!(error, AnswerError::NotARate { task: TaskId(0), .. }), "{error}");
    }
    let error = refusal(|_| 4.5e8);
    assert!(matches!(error, AnswerError::OverLimit { task: TaskId(1), limit: 4e8, .. }), "{error}");
    let error = refusal(|i| if i == 0 { 7e8 } else { 3.1e8 });
    let AnswerError::OverCapacity { link: LinkId(0), load, bandwidth: 1e9, .. } = error else { panic!("{error}") };
    assert!((load - 1.01e9).abs() < 1.0);
    // A little more than the tolerance of 2e-9 is refused, within it it is accepted.
    let mut p = pair(0);
    p.send(0, 10, false);
    let mut over = Fixed(|_: &PhaseView<'_>, grant: &mut Grant<'_>| grant.rates.fill(1e9 * (1.0 + 3e-9)));
    assert!(matches!(
        p.run(&mut over, RunOptions::default()),
        Err(SimError::Arbiter(AnswerError::OverCapacity { .. }))
    ));
    let mut p = pair(0);
    p.send(0, 10, false);
    let mut just = Fixed(|_: &PhaseView<'_>, grant: &mut Grant<'_>| grant.rates.fill(1e9 * (1.0 + 1e-9)));
    assert!(p.run(&mut just, RunOptions::default()).is_ok());
}

#[test]
fn cancelling_keeps_what_was_computed() {
    let mut p = pair(0);
    p.send(0, 1000, true);
    p.send(0, 1000, true);
    let cancel = AtomicBool::new(true);
    let outcome = p.run(&mut equal(), RunOptions { cancel: Some(&cancel), ..RunOptions::default() }).expect("stops");
    assert_eq!(outcome.stop, Stop::Cancelled);
    assert_eq!(outcome.tasks[0].start, SimTime::NEVER);
}

#[test]
fn a_stopped_run_counts_the_whole_bytes_sent() {
    let mut p = pair(0);
    p.send(0, 1000, true);
    p.send(0, 1000, true);
    let until = SimTime(US + US / 4);
    let outcome = p.run(&mut equal(), RunOptions { until, ..RunOptions::default() }).expect("stops");
    assert_eq!((outcome.stop, outcome.now, outcome.sent_bytes), (Stop::Until, until, vec![1000, 250]));
    assert_eq!((outcome.links[0].bytes, outcome.links[0].busy.0), (1250, US + US / 4));
}

#[test]
fn the_bottleneck_is_where_most_was_lost() {
    let mut p = pair(0);
    p.send(0, 3000, false);
    p.send(US, 1000, false);
    let mut says = Fixed(|phase: &PhaseView<'_>, grant: &mut Grant<'_>| {
        grant.rates.fill(1e9 / phase.len() as f64);
        if phase.len() == 2 {
            grant.bindings[0] = Binding::new(LinkId(3), Cause::Downstream, 1);
            grant.bindings[1] = Binding::new(LinkId(9), Cause::Waiting, 0);
        } else {
            grant.bindings[0] = Binding::new(LinkId(0), Cause::FullRate, u32::MAX);
        }
    });
    let outcome = p.run(&mut says, RunOptions { explain: true, ..RunOptions::default() }).expect("runs");
    // The first: 2 µs alone at full rate, 2 µs shared at half of it.
    let b = outcome.bottlenecks[0];
    assert_eq!((b.binding.link, b.binding.cause(), b.time.0), (LinkId(3), Cause::Downstream, 2 * US));
    // The second names a link that is not on its route: the most loaded one is taken instead, here a tie.
    let b = outcome.bottlenecks[1];
    assert_eq!((b.binding.link, b.binding.cause(), b.binding.by), (LinkId(0), Cause::Waiting, 0));
    let phases = outcome.phases.expect("asked for");
    let step = &phases[1].steps[0];
    assert_eq!((step.link, step.rate, step.because.as_slice()), (LinkId(3), 5e8, [TaskId(1)].as_slice()));
}

/// Counts the routes that it is asked about, and accepts at most so many.
struct Choosy {
    asked: usize,
    accepted: usize,
}

impl RateArbiter for Choosy {
    fn admit(&mut self, _: &[LinkId]) -> Result<(), CallError> {
        self.asked += 1;
        if self.asked > self.accepted { Err(CallError::Refused("one too many".to_owned())) } else { Ok(()) }
    }

    fn allocate(&mut self, _: &PhaseView<'_>, _: &mut Grant<'_>) -> Result<(), CallError> {
        Ok(())
    }
}

#[test]
fn each_route_is_admitted_once_and_a_refusal_names_its_first_transfer() {
    let mut p = pair(0);
    let (first, last) = (p.fabric.link(LinkId(1)).to, p.fabric.link(LinkId(3)).to);
    let back = p.routes.between(&p.fabric, last, first).expect("connected");
    p.send(0, 1, false);
    p.send(0, 2, true);
    p.class = p.graph.classes().intern(back, f64::INFINITY, 1.0, 0);
    let refused = p.send(0, 3, false);
    p.send(0, 4, false);
    let tasks = p.graph.build().expect("no cycle");
    let ask = |accepted| {
        let mut arbiter = Choosy { asked: 0, accepted };
        (admit(&mut arbiter, &p.routes, tasks.classes(), tasks.transfers()), arbiter.asked)
    };
    assert_eq!(ask(2), (Ok(()), 2));
    let (answer, asked) = ask(1);
    let Err(AdmissionError { task, error: CallError::Refused(_) }) = answer else { panic!("it refuses") };
    assert_eq!((task, asked), (Some(refused), 2));
}

/// Remarks on every phase with two transfers.
struct Remarks {
    last: usize,
}

impl RateArbiter for Remarks {
    fn allocate(&mut self, phase: &PhaseView<'_>, grant: &mut Grant<'_>) -> Result<(), CallError> {
        self.last = phase.len();
        grant.rates.fill(1e9 / phase.len() as f64);
        Ok(())
    }

    fn remarks(&self) -> Vec<Remark> {
        let two = Remark { region: 0, text: "there were two".to_owned() };
        if self.last == 2 { vec![two] } else { Vec::new() }
    }
}

#[test]
fn remarks_are_counted_by_phase_also_on_remembered_answers() {
    for flags in [Flags::default(), Flags::PURE] {
        let mut p = pair(0);
        // One alone, two, one alone; three times the same.
        for round in 0..3 {
            p.send(round * 100 * US, 4000, false);
            p.send((round * 100 + 1) * US, 9000, false);
        }
        let outcome = p.run_with(&mut Remarks { last: 0 }, flags, RunOptions::default()).expect("runs");
        assert_eq!(outcome.arbitrations, if flags == Flags::PURE { 2 } else { 9 });
        let remark = Remark { region: 0, text: "there were two".to_owned() };
        assert_eq!(outcome.remarks, [RemarkCount { remark, phases: 3, of: 9 }]);
    }
}

/// Who waits for a cycle, and is in none, is not named.
#[test]
fn a_cycle_is_named_without_those_behind_it() {
    let mut p = pair(0);
    let [behind, a, b] = [0, 1, 2].map(|_| p.send(0, 1, false));
    p.graph.wait(behind, a);
    p.graph.wait(a, b);
    p.graph.wait(b, a);
    let mut cycle = p.graph.build().expect_err("a cycle");
    cycle.sort();
    assert_eq!(cycle, [a, b]);
}
