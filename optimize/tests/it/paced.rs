//! Messages with leads, gaps and tails, as `loggp` over the fabric plans them: every search against the simulation.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::common::{World, all_orders, halo_on_t2, tree};
use proptest::prelude::*;
use weir_optimize::order::{
    AnnealOptions, BranchOptions, Enumeration, OrderError, OrderProblem, Part, Rule, TaskRefusal, anneal,
    branch_and_bound, root_bound,
};
use weir_sim_core::api::{CallError, Flags, NodeId, NodeKind, Queue, SimDuration, SimTime};
use weir_sim_core::{
    EngineId, Fabric, FabricBuilder, Routes, RunOptions, Service, ServiceId, Simulation, Task, TaskGraph,
    TaskGraphBuilder, TaskId, Work,
};

static GO: AtomicBool = AtomicBool::new(false);
const EXACT: BranchOptions = BranchOptions { rule: Rule::Exact, nodes: u64::MAX };
const MS: u64 = 1_000_000_000;
const MANY: u128 = 1 << 14;

/// One message: ends (positions among the GPUs), bytes, times in ps. Without any time it is a plain transfer.
#[derive(Clone, Copy, Debug)]
struct Sent {
    from: usize,
    to: usize,
    bytes: u64,
    lead: u64,
    gap: u64,
    tail: u64,
}

impl Sent {
    fn plain(&self) -> bool {
        (self.lead, self.gap, self.tail) == (0, 0, 0)
    }
}

fn free(work: Work) -> Task {
    Task { start: SimTime::ZERO, engine: EngineId::NONE, service: ServiceId::PLAIN, work }
}

/// Adds the tasks of an operation of `loggp`, as the reader of scenarios does: release, send, arrival.
fn add(graph: &mut TaskGraphBuilder, sent: &Sent, send: Task) {
    if sent.plain() {
        graph.task(send);
        return;
    }
    let release = graph.task(free(Work::Nothing { counted: false }));
    let (lead, gap) = (SimDuration(sent.lead), SimDuration(sent.gap));
    let service = graph.service(Service { queue: Queue::Ready, class: 0, lead, gap });
    let send = graph.task(Task { service, ..send });
    let arrival = graph.task(free(Work::Lasts(SimDuration(sent.tail))));
    graph.wait(send, release);
    graph.wait(arrival, send);
}

/// A world of such messages; the first GPU sends up to `slots` at once.
fn world(fabric: Fabric, gpus: Vec<NodeId>, all: &[Sent], slots: u32, arbiter: &'static str, tau: f64) -> World {
    let (mut routes, mut graph) = (Routes::new(), TaskGraphBuilder::new());
    for sent in all {
        let engine = graph.engine(gpus[sent.from], "send", if sent.from == 0 { slots } else { 1 }).expect("one number");
        let route = routes.between(&fabric, gpus[sent.from], gpus[sent.to]).expect("connected");
        let class = graph.classes().intern(route, f64::INFINITY, 1.0, 0);
        add(&mut graph, sent, Task { engine, ..free(Work::Carries { bytes: sent.bytes, class }) });
    }
    let tasks = graph.build().expect("no cycle");
    let params = if arbiter == "pcie-congestion" { format!("{{\"tau\":{tau}}}") } else { "{}".to_owned() };
    World { fabric, gpus, routes, tasks, arbiter, params, tau }
}

/// The makespan of an order through the simulation.
fn simulate(world: &World, order: &[Vec<TaskId>]) -> u64 {
    let mut tasks = world.tasks.clone();
    order.iter().for_each(|sequence| tasks.set_order(sequence));
    let simulation = Simulation { fabric: &world.fabric, routes: &world.routes, tasks: &tasks };
    let (mut arbiter, flags) = world.make();
    simulation.run(&mut *arbiter, flags, RunOptions::default()).expect("it ends").makespan.0
}

/// In units of so many orders: of few, first choices are visited subtree by subtree.
fn whole(problem: &OrderProblem<'_>, symmetries: bool, unit: u128) -> (Part, usize) {
    let all = Enumeration::new(problem, symmetries).expect("covered").in_units(unit, Duration::from_secs(1));
    let mut part = all.part(1, 1).expect("one shard");
    all.go_on(&mut part, &GO, &mut ()).expect("it ends");
    (part, all.symmetry().order())
}

/// Times of a message: none, equal ones, or its own; lead and gap up to the time of the largest message.
fn times() -> impl Strategy<Value = (u64, u64, u64)> {
    let any = || prop_oneof![Just(0), Just(MS / 2), 1..3 * MS];
    prop_oneof![1 => Just((0, 0, 0)), 2 => Just((MS / 3, MS / 2, MS)), 5 => (any(), any(), any())]
}

/// Three to five sources of one to three messages; file order by source or in turns.
fn worlds() -> impl Strategy<Value = World> {
    let parents = prop::collection::vec(0..1000_usize, 2..8);
    let message = (0..1000_usize, prop_oneof![Just(1_000_000_u64), 1_000..3_000_000_u64], times());
    let sources = prop::collection::vec(prop::collection::vec(message, 1..4), 3..6);
    let flags = any::<(bool, bool, bool)>();
    (parents, sources, flags, prop_oneof![4 => Just(1_u32), 1 => Just(3)], 0..5_u32, 0..3_u64).prop_map(
        |(mut parents, sources, (equal, max_min, shuffled), slots, tau, latency)| {
            // Three more children of the root: five leaves at least.
            parents.extend([0; 3]);
            let (fabric, gpus) = tree(&parents, &[0, 1, 2, 1, 0], equal, latency * 700_000);
            let mut all: Vec<(usize, Sent)> = Vec::new();
            for (from, messages) in sources.iter().enumerate() {
                for (k, &(to, bytes, (lead, gap, tail))) in messages.iter().enumerate() {
                    let to = (from + 1 + to % (gpus.len() - 1)) % gpus.len();
                    all.push((k, Sent { from, to, bytes, lead, gap, tail }));
                }
            }
            if shuffled {
                all.sort_by_key(|(k, _)| *k);
            }
            let orders = |all: &[(usize, Sent)]| -> usize {
                let count = |from| all.iter().filter(|(_, s)| s.from == from).count();
                (0..5).map(|from| (1..=count(from)).product::<usize>()).product()
            };
            // One by one through the simulation: not too many.
            while orders(&all) > 300 {
                all.pop();
            }
            let all: Vec<Sent> = all.into_iter().map(|(_, sent)| sent).collect();
            let arbiter = if max_min { "max-min" } else { "pcie-congestion" };
            world(fabric, gpus, &all, slots, arbiter, f64::from(tau) / 10.0)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn every_search_agrees_with_the_simulation(world in worlds(), seed: u64) {
        let problem = world.problem();
        let orders = all_orders(&problem);
        let brute: Vec<u64> = orders.iter().map(|order| simulate(&world, order)).collect();
        let best = *brute.iter().min().expect("an order");

        let mut sorted = brute.clone();
        sorted.sort_unstable();
        for (symmetries, unit) in [(false, MANY), (true, MANY), (true, 1)] {
            let (part, _) = whole(&problem, symmetries, unit);
            let visited: Vec<u64> =
                part.distribution.pairs().iter().flat_map(|&(makespan, weight)| vec![makespan; weight as usize]).collect();
            prop_assert_eq!(&visited, &sorted);
            prop_assert_eq!(part.best.map(|b| b.number as usize), brute.iter().position(|&m| m == best));
            prop_assert_eq!(part.baseline, brute[0]);
        }

        let bound = root_bound(&problem);
        prop_assert!(bound <= best as f64 * (1.0 + 1e-12), "{} {}", bound, best);
        let found = branch_and_bound(&problem, EXACT, &GO).expect("covered");
        prop_assert!(found.proved);
        prop_assert_eq!(found.best.makespan, best);
        let order = problem.order(found.best.number).expect("an order");
        prop_assert_eq!(simulate(&world, &order), best);
        let one = BranchOptions { nodes: 1, ..BranchOptions::default() };
        let stopped = branch_and_bound(&problem, one, &GO).expect("covered");
        prop_assert!(stopped.bound <= best as f64 * (1.0 + 1e-12));

        let options = AnnealOptions { evaluations: 500, chains: 2, seed, ..AnnealOptions::default() };
        let found = anneal(&problem, &options, &GO).expect("it runs");
        prop_assert_eq!(simulate(&world, &found.order), found.makespan);
        prop_assert!(best <= found.makespan && found.makespan <= brute[0] && found.bound <= best as f64 * (1.0 + 1e-12));
    }
}

/// The 2-D halo on T2, every message with the same times: the group is that without them. A gap of its own of one message
/// leaves only the identity.
#[test]
fn symmetries_need_equal_times() {
    let halo: Vec<Sent> = crate::common::halo(&[4, 2], 300_000_000)
        .into_iter()
        .map(|(from, to, bytes)| Sent { from, to, bytes, lead: MS, gap: 2 * MS, tail: 3 * MS })
        .collect();
    for (own, order) in [
        (halo[0], 4),
        (Sent { lead: 2 * MS, ..halo[0] }, 1),
        (Sent { gap: MS, ..halo[0] }, 1),
        (Sent { tail: MS, ..halo[0] }, 1),
    ] {
        let t2 = halo_on_t2(&[4, 2], "pcie-congestion");
        let mut all = halo.clone();
        all[0] = own;
        let world = world(t2.fabric, t2.gpus, &all, 1, "pcie-congestion", crate::common::TAU);
        let problem = world.problem();
        assert_eq!(Enumeration::new(&problem, true).expect("covered").symmetry().order(), order);
        if order > 1 {
            let (with, without) = (whole(&problem, true, MANY).0, whole(&problem, false, MANY).0);
            assert_eq!((&with.distribution, with.best), (&without.distribution, without.best));
            let best = with.best.expect("an order");
            assert_eq!(simulate(&world, &problem.order(best.number).expect("an order")), best.makespan);
        }
    }
}

/// A switch with two GPUs at 1 GB/s.
fn pair() -> (Fabric, Vec<NodeId>) {
    let mut b = FabricBuilder::new();
    let root = b.root(NodeKind::Switch).expect("root");
    let gpus = [(); 2].map(|()| b.child(root, NodeKind::Gpu, crate::common::link(1e9)).expect("gpu"));
    (b.build(), gpus.to_vec())
}

/// Two messages of 10 MB, 10 ms each. First a: 1 (its lead) + 10 + 3 (the gap of b) + 10, then 2 of b's tail: 26 ms. First
/// b: 2 + 10 + 5 + 10, then nothing after a, b's tail is over: 27 ms.
#[test]
fn pauses_are_those_of_the_next_message() {
    let (fabric, gpus) = pair();
    let sent = Sent { from: 0, to: 1, bytes: 10_000_000, lead: MS, gap: 5 * MS, tail: 0 };
    let world =
        world(fabric, gpus, &[sent, Sent { lead: 2 * MS, gap: 3 * MS, tail: 2 * MS, ..sent }], 1, "max-min", 0.0);
    let problem = world.problem();
    assert_eq!(whole(&problem, true, MANY).0.distribution.pairs(), [(26 * MS, 1), (27 * MS, 1)]);
    // 20 ms of bytes, the lead of a and the gap of b; no tail at all follows a.
    assert_eq!(root_bound(&problem), 24e9);
}

/// 24² orders of two GPUs that send each other four messages with pauses: subtree by subtree below a first choice, as whole
/// first choices.
#[test]
fn subtrees_keep_pauses() {
    let (fabric, gpus) = pair();
    let sent = |k: usize| {
        let (k, times) = (k as u64, k as u64 * MS);
        Sent {
            from: k as usize % 2,
            to: 1 - k as usize % 2,
            bytes: 1_000_000 * (1 + k % 3),
            lead: times / 5,
            gap: 2 * MS - times / 7,
            tail: times / 3,
        }
    };
    let world = world(fabric, gpus, &(0..8).map(sent).collect::<Vec<_>>(), 1, "max-min", 0.0);
    let problem = world.problem();
    let (by_first, by_subtree) = (whole(&problem, false, MANY).0, whole(&problem, false, 1).0);
    assert_eq!((&by_first.distribution, by_first.best), (&by_subtree.distribution, by_subtree.best));
    let mut brute: Vec<u64> = all_orders(&problem).iter().map(|order| simulate(&world, order)).collect();
    brute.sort_unstable();
    let pairs = by_subtree.distribution.pairs().iter();
    assert_eq!(pairs.flat_map(|&(makespan, weight)| vec![makespan; weight as usize]).collect::<Vec<_>>(), brute);
}

/// One source whose pauses are all that is lost: the bound at the root is the optimum.
#[test]
fn the_root_bound_counts_pauses() {
    let (fabric, gpus) = pair();
    let all = [Sent { from: 0, to: 1, bytes: 10_000_000, lead: MS, gap: 3 * MS, tail: 2 * MS }; 2];
    let world = world(fabric, gpus, &all, 1, "max-min", 0.0);
    // 1 + 10 + 3 + 10 + 2 ms.
    assert_eq!((root_bound(&world.problem()), simulate(&world, &[])), (26e9, 26 * MS));
    // Beside another source, which sends little.
    let (fabric, gpus) = pair();
    let little = Sent { from: 1, to: 0, bytes: 1000, lead: 0, gap: 0, tail: 2 * MS };
    let world = self::world(fabric, gpus, &[all[0], all[1], little], 1, "max-min", 0.0);
    assert_eq!((root_bound(&world.problem()), simulate(&world, &[])), (26e9, 26 * MS));
}

/// What is said of a graph on the pair, whose first engine is the `send` of the first GPU.
fn refusal(build: impl Fn(&mut TaskGraphBuilder, Task)) -> Option<OrderError> {
    let (fabric, gpus) = pair();
    let (mut routes, mut graph) = (Routes::new(), TaskGraphBuilder::new());
    let engine = graph.engine(gpus[0], "send", 1).expect("an engine");
    let route = routes.between(&fabric, gpus[0], gpus[1]).expect("connected");
    let class = graph.classes().intern(route, f64::INFINITY, 1.0, 0);
    build(&mut graph, Task { engine, ..free(Work::Carries { bytes: 1_000, class }) });
    let tasks: TaskGraph = graph.build().expect("no cycle");
    let make = || Err(CallError::Failed("made".to_owned()));
    OrderProblem::new(&fabric, &routes, &tasks, make, Flags::PURE).err()
}

#[test]
fn other_shapes_are_refused_by_name() {
    const PACED: Sent = Sent { from: 0, to: 1, bytes: 1_000, lead: 1, gap: 2, tail: 3 };
    let why = |task, why| Some(OrderError::Task { task: TaskId(task), why });
    let made = Some(OrderError::Arbiter(CallError::Failed("made".to_owned())));
    // Two messages (release, send, arrival each) and a join of no time after both: covered.
    let two = |graph: &mut TaskGraphBuilder, send: Task| {
        add(graph, &PACED, send);
        add(graph, &PACED, send);
    };
    assert_eq!(refusal(two), made);
    let after = |task: fn() -> Task, earlier: &'static [u32], later: Option<u32>| {
        refusal(move |graph, send| {
            two(graph, send);
            let last = graph.task(task());
            earlier.iter().for_each(|&e| graph.wait(last, TaskId(e)));
            later.into_iter().for_each(|l| graph.wait(TaskId(l), last));
        })
    };
    assert_eq!(after(|| free(Work::Nothing { counted: false }), &[2, 5], None), made);
    // A barrier is the user's; a release that waits; a send that waits for another.
    assert_eq!(after(|| free(Work::Nothing { counted: true }), &[2, 5], None), why(6, TaskRefusal::NotATransfer));
    assert_eq!(after(|| free(Work::Nothing { counted: false }), &[2], Some(4)), why(4, TaskRefusal::Waits));
    assert_eq!(refusal(|g, s| (two(g, s), g.wait(TaskId(3), TaskId(2))).1), why(3, TaskRefusal::Waits));
    assert_eq!(refusal(|g, s| (two(g, s), g.wait_start(TaskId(5), TaskId(1))).1), why(5, TaskRefusal::Waits));
    // A fixed time after two, after another fixed time, or after nothing.
    let fixed = || free(Work::Lasts(SimDuration(5)));
    assert_eq!(after(fixed, &[1, 4], None), why(6, TaskRefusal::NotATransfer));
    assert_eq!(after(fixed, &[2], None), why(6, TaskRefusal::NotATransfer));
    assert_eq!(after(fixed, &[], None), why(6, TaskRefusal::NotATransfer));
    assert_eq!(after(fixed, &[1], None), made);
    // A time per byte on the engine that sends; a place taken in advance; another class.
    let own = |graph: &mut TaskGraphBuilder, send: Task, queue, class| {
        let service = Service { queue, class, lead: SimDuration(1), gap: SimDuration(1) };
        let service = graph.service(service);
        graph.task(send);
        graph.task(Task { service, ..send });
    };
    let per_byte = Work::Lasts(SimDuration(9));
    assert_eq!(refusal(|g, s| _ = g.task(Task { work: per_byte, ..s })), why(0, TaskRefusal::NoBytes));
    assert_eq!(refusal(|g, s| own(g, s, Queue::Issued, 0)), why(1, TaskRefusal::Service));
    assert_eq!(refusal(|g, s| own(g, s, Queue::Ready, 1)), why(1, TaskRefusal::Service));
    assert_eq!(refusal(|g, s| own(g, s, Queue::Ready, 0)), made);
}
