//! Engines with lead, gap, classes, slots and places in the queue, on cases small enough to work out by hand. All times
//! are in ps; the links carry 1 byte in 1000 ps.

use weir_arbiters::MaxMin;
use weir_sim_core::api::{
    ArbiterPlugin, ClassId, EngineScope, HORIZON, LinkKind, NodeKind, Queue, SimDuration, SimTime,
};
use weir_sim_core::{
    Engine, EngineId, Fabric, FabricBuilder, LinkSpec, Outcome, Routes, RunOptions, Service, SimError, Simulation,
    Task, TaskGraphBuilder, TaskId, Work,
};

/// Two gpus on a switch, links of 1 GB/s and 50 ps.
struct Desk {
    fabric: Fabric,
    routes: Routes,
    graph: TaskGraphBuilder,
    class: ClassId,
}

/// A service by (class, lead, gap).
fn paced(queue: Queue, (class, lead, gap): (u32, u64, u64)) -> Service {
    Service { queue, class, lead: SimDuration(lead), gap: SimDuration(gap) }
}

fn ready(class: u32, lead: u64, gap: u64) -> Service {
    paced(Queue::Ready, (class, lead, gap))
}

fn issued(class: u32, lead: u64, gap: u64) -> Service {
    paced(Queue::Issued, (class, lead, gap))
}

fn lasts(span: u64) -> Work {
    Work::Lasts(SimDuration(span))
}

const JOIN: Work = Work::Nothing { counted: false };

impl Desk {
    fn new() -> Self {
        let mut b = FabricBuilder::new();
        let link = LinkSpec { up: 1e9, down: 1e9, latency: SimDuration(50), kind: LinkKind::PCIE };
        let root = b.root(NodeKind::Switch).expect("root");
        let [from, to] = [0, 1].map(|_| b.child(root, NodeKind::Gpu, link).expect("a gpu"));
        let fabric = b.build();
        let (mut routes, mut graph) = (Routes::new(), TaskGraphBuilder::new());
        let route = routes.between(&fabric, from, to).expect("connected");
        let class = graph.classes().intern(route, f64::INFINITY, 1.0, 0);
        Self { fabric, routes, graph, class }
    }

    fn engine(&mut self, slots: u32) -> EngineId {
        self.graph.own_engine(Engine { scope: EngineScope::Operation, name: "e".into(), slots })
    }

    /// A task that starts at `start` at the earliest and waits for the ends of others.
    fn at(&mut self, start: u64, engine: EngineId, service: Service, work: Work, waits: &[TaskId]) -> TaskId {
        let service = self.graph.service(service);
        let task = self.graph.task(Task { start: SimTime(start), engine, service, work });
        waits.iter().for_each(|&earlier| self.graph.wait(task, earlier));
        task
    }

    fn add(&mut self, engine: EngineId, service: Service, work: Work, waits: &[TaskId]) -> TaskId {
        self.at(0, engine, service, work, waits)
    }

    /// A release at `time`: a join that issues others.
    fn release(&mut self, time: u64) -> TaskId {
        self.at(time, EngineId::NONE, Service::PLAIN, JOIN, &[])
    }

    /// A task issued by `release`, for which it also waits.
    fn issue(&mut self, release: TaskId, engine: EngineId, service: Service, work: Work, waits: &[TaskId]) -> TaskId {
        let task = self.add(engine, service, work, waits);
        self.graph.wait(task, release);
        self.graph.issue(task, release);
        task
    }

    fn try_run(self, options: RunOptions<'_>) -> Result<Outcome, SimError> {
        let tasks = self.graph.build().expect("no cycle");
        let mut arbiter = MaxMin::create(&self.fabric.view(), "{}").expect("no parameters");
        let simulation = Simulation { fabric: &self.fabric, routes: &self.routes, tasks: &tasks };
        simulation.run(&mut arbiter, MaxMin::FLAGS, options)
    }

    fn run(self) -> Outcome {
        self.try_run(RunOptions::default()).expect("all tasks end")
    }

    /// Who waits when nothing can go on, and since when.
    fn deadlock(self) -> (u64, Vec<TaskId>) {
        match self.try_run(RunOptions::default()) {
            Err(SimError::Deadlock { time, waiting, queued }) if waiting.is_empty() => (time.0, queued),
            other => panic!("not a deadlock of engines: {other:?}"),
        }
    }
}

/// (start, end) of tasks.
fn spans<const N: usize>(outcome: &Outcome, tasks: [TaskId; N]) -> [(u64, u64); N] {
    tasks.map(|t| (outcome.tasks[t.index()].start.0, outcome.tasks[t.index()].end.0))
}

/// When a task d[i] of a stream may copy out.
#[derive(Clone, Copy, PartialEq)]
enum Out {
    /// After its own kernel.
    OwnKernel,
    /// After the last kernel.
    LastKernel,
    /// When the last kernel has started.
    LastKernelStarted,
}

/// Three streams issued breadth-first: in h[i] 10 + 30, gap 2; kernels k[i] 5; out d[i] 20 + 40, gap 3.
fn streams(copy_engines: usize, out: Out) -> [[(u64, u64); 3]; 3] {
    let mut d = Desk::new();
    let release = d.release(0);
    let (copy_in, compute) = (d.engine(1), d.engine(1));
    let copy_out = if copy_engines == 2 { d.engine(1) } else { copy_in };
    let h = [0; 3].map(|_| d.issue(release, copy_in, issued(0, 10, 2), lasts(30), &[]));
    let k = h.map(|h| d.issue(release, compute, issued(0, 0, 0), lasts(5), &[h]));
    let o = k.map(|k_own| match out {
        Out::OwnKernel => d.issue(release, copy_out, issued(1, 20, 3), lasts(40), &[k_own]),
        Out::LastKernel => d.issue(release, copy_out, issued(1, 20, 3), lasts(40), &[k[2]]),
        Out::LastKernelStarted => {
            let task = d.issue(release, copy_out, issued(1, 20, 3), lasts(40), &[]);
            d.graph.wait_start(task, k[2]);
            task
        }
    });
    let outcome = d.run();
    [h, k, o].map(|tasks| spans(&outcome, tasks))
}

/// h: 0 + 10 → 40; then the gap of 2 counts, since the lead passed long ago: 42 → 72, 74 → 104. k follows each h.
const H: [(u64, u64); 3] = [(10, 40), (42, 72), (74, 104)];
const K: [(u64, u64); 3] = [(40, 45), (72, 77), (104, 109)];

#[test]
fn streams_on_one_copy_engine_turn_round_once() {
    // d[0] is ready at 45, the engine is free at 104 and turns round: 104 + 20. Then gaps: 164 + 3, 207 + 3.
    assert_eq!(streams(1, Out::OwnKernel), [H, K, [(124, 164), (167, 207), (210, 250)]]);
}

#[test]
fn streams_on_two_copy_engines_overlap() {
    // d[0] is the first on its engine: 45 + 20. d[1] is ready at 77: max(97, 105 + 3); d[2] at 109: max(129, 148 + 3).
    assert_eq!(streams(2, Out::OwnKernel), [H, K, [(65, 105), (108, 148), (151, 191)]]);
}

#[test]
fn implicit_synchronisation_holds_the_copies_out() {
    // All d are ready at 109, when the last kernel ends: 109 + 20 on one engine and on two.
    let out = [(129, 169), (172, 212), (215, 255)];
    assert_eq!(streams(1, Out::LastKernel), [H, K, out]);
    assert_eq!(streams(2, Out::LastKernel), [H, K, out]);
    // Released at its start, 104: 5 earlier.
    let out = out.map(|(start, end)| (start - 5, end - 5));
    assert_eq!(streams(2, Out::LastKernelStarted), [H, K, out]);
}

#[test]
fn every_change_of_class_pays_the_lead_and_a_join_is_a_task_like_others() {
    let mut d = Desk::new();
    let e = d.engine(1);
    let a = d.add(e, ready(0, 10, 1), lasts(5), &[]);
    let b = d.add(e, ready(1, 7, 1), lasts(5), &[]);
    let c = d.add(e, ready(0, 10, 1), JOIN, &[]);
    let last = d.add(e, ready(0, 10, 4), lasts(5), &[]);
    // 0 + 10; 15 + 7; 27 + 10 for no time; then of the same class: max(0 + 10, 37 + 4).
    assert_eq!(spans(&d.run(), [a, b, c, last]), [(10, 15), (22, 27), (37, 37), (41, 46)]);
}

#[test]
fn the_later_of_lead_and_gap_counts() {
    let mut d = Desk::new();
    let e = d.engine(1);
    let a = d.add(e, ready(0, 10, 3), lasts(5), &[]);
    let b = d.add(e, ready(0, 10, 3), lasts(5), &[]);
    let c = d.at(20, e, ready(0, 10, 3), lasts(5), &[]);
    // a: 10. b: max(0 + 10, 15 + 3). c: max(20 + 10, 23 + 3).
    let outcome = d.run();
    assert_eq!(spans(&outcome, [a, b, c]), [(10, 15), (18, 23), (30, 35)]);
    assert_eq!(outcome.tasks[b.index()].ready.0, 0);
}

#[test]
fn the_gap_counts_from_the_last_byte_and_not_from_its_arrival() {
    let mut d = Desk::new();
    let (e, work) = (d.engine(1), Work::Carries { bytes: 1, class: d.class });
    let [a, b] = [0; 2].map(|_| d.add(e, ready(0, 10, 5), work, &[]));
    let outcome = d.run();
    // 10 + 1000, and two links of 50; the next begins at 1010 + 5.
    assert_eq!(spans(&outcome, [a, b]), [(10, 1110), (1015, 2115)]);
    assert_eq!(outcome.links[0].busy.0, 2000);
}

#[test]
fn the_slot_free_for_longest_is_taken_and_the_lowest_among_equals() {
    // Slot 0 serves class 0, slot 1 class 1; which one the third task (class 1) gets, its start tells.
    let third = |first: u64, second: u64, start: u64| {
        let mut d = Desk::new();
        let e = d.engine(2);
        d.add(e, ready(0, 0, 0), lasts(first), &[]);
        d.add(e, ready(1, 0, 0), lasts(second), &[]);
        let task = d.at(start, e, ready(1, 5, 30), lasts(1), &[]);
        d.run().tasks[task.index()].start.0
    };
    // Both free at 10: slot 0, another class: 10 + 5. Slot 1 would give max(0 + 5, 10 + 30).
    assert_eq!(third(10, 10, 0), 15);
    // Slot 1 free since 10, slot 0 since 20: slot 1, max(22 + 5, 10 + 30). Slot 0 would give 22 + 5.
    assert_eq!(third(20, 10, 22), 40);
    // The other way round: slot 0 free since 10.
    assert_eq!(third(10, 20, 22), 27);
}

#[test]
fn a_slot_that_was_never_used_is_taken_first() {
    for (slots, expected) in [(1, 130), (2, 55), (u32::MAX, 55)] {
        let mut d = Desk::new();
        let e = d.engine(slots);
        d.add(e, ready(0, 0, 0), lasts(30), &[]);
        let task = d.at(50, e, ready(0, 5, 100), lasts(1), &[]);
        // After the first on its slot: 30 + 100. On a fresh slot: 50 + 5.
        assert_eq!(d.run().tasks[task.index()].start.0, expected, "{slots} slots");
    }
}

#[test]
fn an_issued_head_that_is_not_ready_holds_the_others_back() {
    for (service, slots, expected) in [
        (issued(0, 0, 0), 1, [(50, 60), (60, 70)]),
        (ready(0, 0, 0), 1, [(50, 60), (0, 10)]),
        (issued(0, 0, 0), 2, [(50, 60), (50, 60)]),
        // The second has been ready since 0: its lead is over when it gets the second slot at 50.
        (issued(0, 20, 0), 2, [(70, 80), (50, 60)]),
    ] {
        let mut d = Desk::new();
        let e = d.engine(slots);
        let release = d.release(0);
        let late = d.add(EngineId::NONE, Service::PLAIN, lasts(50), &[]);
        let a = d.issue(release, e, service, lasts(10), &[late]);
        let b = d.issue(release, e, service, lasts(10), &[]);
        assert_eq!(spans(&d.run(), [a, b]), expected, "{service:?} on {slots}");
    }
}

#[test]
fn places_are_taken_at_issue_or_when_ready() {
    // The engine is busy until 30. x: ready at 20, its operation released at 10. y: ready at 15.
    let order = |x_service: Service, release_at: u64| {
        let mut d = Desk::new();
        let e = d.engine(1);
        d.add(e, Service::PLAIN, lasts(30), &[]);
        let release = d.release(release_at);
        let y = d.at(15, e, Service::PLAIN, lasts(5), &[]);
        let late = d.add(EngineId::NONE, Service::PLAIN, lasts(20), &[]);
        let x = d.issue(release, e, x_service, lasts(5), &[late]);
        spans(&d.run(), [x, y])
    };
    assert_eq!(order(issued(0, 0, 0), 10), [(30, 35), (35, 40)]);
    assert_eq!(order(ready(0, 0, 0), 10), [(35, 40), (30, 35)]);
    // Both places at 15: the lower task is first, and that is y.
    assert_eq!(order(issued(0, 0, 0), 15), [(35, 40), (30, 35)]);
    assert_eq!(order(issued(0, 0, 0), 16), [(35, 40), (30, 35)]);
}

#[test]
fn a_task_is_issued_once_and_only_if_its_service_says_so() {
    let mut d = Desk::new();
    let e = d.engine(1);
    let [first, second] = [d.release(0), d.release(5)];
    let a = d.issue(first, e, issued(0, 0, 0), lasts(10), &[]);
    d.graph.issue(a, second);
    let b = d.issue(first, e, ready(1, 0, 0), lasts(10), &[]);
    let c = d.issue(first, EngineId::NONE, issued(0, 3, 0), lasts(10), &[]);
    assert_eq!(spans(&d.run(), [a, b, c]), [(0, 10), (10, 20), (3, 13)]);
}

#[test]
fn waits_for_a_start_end_when_the_work_begins() {
    let mut d = Desk::new();
    let (e, other) = (d.engine(1), d.engine(1));
    let a = d.add(e, ready(0, 10, 0), lasts(50), &[]);
    let b = d.add(other, ready(0, 0, 0), lasts(7), &[]);
    let join = d.add(EngineId::NONE, Service::PLAIN, JOIN, &[]);
    let c = d.add(other, ready(0, 4, 0), Work::Carries { bytes: 1, class: d.class }, &[]);
    let last = d.add(EngineId::NONE, Service::PLAIN, lasts(1), &[]);
    for (task, earlier) in [(b, a), (join, b), (c, join), (last, c)] {
        d.graph.wait_start(task, earlier);
    }
    let outcome = d.run();
    // b with a's work at 10, the join with b's; c is ready then, its engine free at 17: max(10 + 4, 17).
    assert_eq!(spans(&outcome, [a, b, join, c, last]), [(10, 60), (10, 17), (10, 10), (17, 1117), (17, 18)]);
    assert_eq!(outcome.tasks[c.index()].ready.0, 10);
}

#[test]
fn a_task_without_engine_pays_its_lead() {
    let mut d = Desk::new();
    let none = EngineId::NONE;
    let a = d.at(5, none, ready(0, 10, 99), lasts(20), &[]);
    let join = d.add(none, ready(0, 3, 99), JOIN, &[a]);
    let b = d.add(none, ready(0, 0, 99), Work::Carries { bytes: 1, class: d.class }, &[join]);
    let outcome = d.run();
    assert_eq!(spans(&outcome, [a, join, b]), [(15, 35), (38, 38), (38, 1138)]);
    assert_eq!(outcome.tasks[a.index()].ready.0, 5);
}

#[test]
fn transfers_with_and_without_lead_keep_the_order_of_their_places() {
    // first becomes ready at 0 after a join, and yet stands before second, whose id is higher.
    let mut d = Desk::new();
    let (e, work) = (d.engine(1), Work::Carries { bytes: 1, class: d.class });
    let join = d.release(0);
    let first = d.add(e, ready(0, 10, 0), work, &[join]);
    let second = d.add(e, Service::PLAIN, work, &[]);
    assert_eq!(spans(&d.run(), [first, second]), [(10, 1110), (1010, 2110)]);
}

#[test]
fn operations_that_block_each_other_are_a_deadlock_that_names_who_queues() {
    let mut d = Desk::new();
    let (e, f) = (d.engine(1), d.engine(1));
    let (p, q) = (d.release(7), d.release(7));
    let s = issued(0, 0, 0);
    let q2 = d.issue(q, e, s, lasts(1), &[]);
    let p1 = d.issue(p, e, s, lasts(1), &[]);
    let p2 = d.issue(p, f, s, lasts(1), &[p1]);
    let q1 = d.issue(q, f, s, lasts(1), &[]);
    // Waits as well, but for no engine.
    d.add(EngineId::NONE, Service::PLAIN, lasts(1), &[q2]);
    // On e q2 stands before p1 and waits for q1; on f p2 stands before q1 and waits for p1.
    d.graph.wait(q2, q1);
    assert_eq!(d.deadlock(), (7, vec![q2, p1, p2, q1]));
}

#[test]
fn a_task_that_is_never_issued_is_a_deadlock_too() {
    let mut d = Desk::new();
    let e = d.engine(1);
    d.add(e, Service::PLAIN, lasts(3), &[]);
    let lost = d.add(e, issued(0, 0, 0), lasts(1), &[]);
    assert_eq!(d.deadlock(), (3, vec![lost]));
}

#[test]
fn a_lead_beyond_the_horizon_is_an_error_of_the_horizon() {
    for engine in [true, false] {
        let mut d = Desk::new();
        let e = if engine { d.engine(1) } else { EngineId::NONE };
        let a = d.at(1, e, ready(0, HORIZON.0, 0), lasts(1), &[]);
        let error = d.try_run(RunOptions::default()).expect_err("beyond the horizon");
        assert_eq!(error, SimError::BeyondHorizon { time: SimTime(1), tasks: vec![a] });
    }
}

#[test]
fn a_run_stopped_within_a_lead_has_not_begun_the_work() {
    let mut d = Desk::new();
    let e = d.engine(1);
    d.add(e, ready(0, 10, 0), lasts(5), &[]);
    let outcome = d.try_run(RunOptions { until: SimTime(9), ..RunOptions::default() }).expect("stops");
    assert_eq!((outcome.tasks[0].ready.0, outcome.tasks[0].start, outcome.events), (0, SimTime::NEVER, 0));
}

/// Tasks of 1, 2, 3, 4 ps on one slot, ready at once. A set order exchanges the places of its tasks with each other only.
#[test]
fn a_set_order_replaces_that_of_ids() {
    let starts = |orders: &[&[u32]]| {
        let mut d = Desk::new();
        let engine = d.engine(1);
        for span in 1..=4 {
            d.add(engine, Service::PLAIN, lasts(span), &[]);
        }
        let mut tasks = d.graph.build().expect("no cycle");
        orders.iter().for_each(|order| tasks.set_order(&order.iter().map(|&t| TaskId(t)).collect::<Vec<_>>()));
        let mut arbiter = MaxMin::create(&d.fabric.view(), "{}").expect("no parameters");
        let simulation = Simulation { fabric: &d.fabric, routes: &d.routes, tasks: &tasks };
        let outcome = simulation.run(&mut arbiter, MaxMin::FLAGS, RunOptions::default()).expect("all tasks end");
        outcome.tasks.iter().map(|t| t.start.0).collect::<Vec<_>>()
    };
    assert_eq!(starts(&[]), [0, 1, 3, 6]);
    // 2, 0, 1, 3.
    assert_eq!(starts(&[&[2, 0, 1]]), [3, 4, 0, 6]);
    // Task 3 takes the first place from task 2, which gets the last: 3, 0, 1, 2.
    assert_eq!(starts(&[&[2, 0, 1], &[3, 2]]), [4, 5, 7, 0]);
}

/// A task that is ready just when its engine's slot is free has not waited for anybody.
#[test]
fn who_comes_when_the_slot_is_free_is_queued_behind_nobody() {
    let mut d = Desk::new();
    let engine = d.engine(1);
    let first = d.add(engine, Service::PLAIN, lasts(10), &[]);
    let on_time = d.at(10, engine, Service::PLAIN, lasts(10), &[]);
    let early = d.at(15, engine, Service::PLAIN, lasts(10), &[]);
    let outcome = d.run();
    assert_eq!(spans(&outcome, [first, on_time, early]), [(0, 10), (10, 20), (20, 30)]);
    assert_eq!(outcome.queued_behind, [TaskId::NONE, TaskId::NONE, on_time]);
}
