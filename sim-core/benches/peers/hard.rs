//! Cases in which every share that changes really changes: what an event costs at worst. No peer beside them.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use weir_arbiters::Shares;
use weir_sim_core::api::{IncrementalEntry, NodeId, NodeKind, SimTime};
use weir_sim_core::{Fabric, FabricBuilder, Routes, Sharing, TaskGraph, TaskGraphBuilder};

use crate::load::{HOST, MEAN, exponential, link, transfer, unit};
use crate::{median, run_tasks};

/// A case while it is built.
struct Case {
    fabric: Fabric,
    hosts: Vec<NodeId>,
    routes: Routes,
    graph: TaskGraphBuilder,
    random: ChaCha8Rng,
}

impl Case {
    fn new(fabric: Fabric, hosts: Vec<NodeId>) -> Self {
        let (routes, graph) = (Routes::new(), TaskGraphBuilder::new());
        Self { fabric, hosts, routes, graph, random: ChaCha8Rng::seed_from_u64(7) }
    }

    /// A transfer of a random size, between hosts given by their numbers.
    fn send(&mut self, from: usize, to: usize, start_s: f64, limit: f64) {
        let route = self.routes.between(&self.fabric, self.hosts[from], self.hosts[to]).expect("connected");
        let class = self.graph.classes().intern(route, limit, 1.0, 0);
        let bytes = exponential(&mut self.random, MEAN) as u64 + 1000;
        self.graph.task(transfer(bytes, class, SimTime((start_s * 1e12) as u64)));
    }

    /// Transfers of random pairs, so many per second.
    fn arrive(&mut self, count: usize, per_second: f64) {
        let (hosts, mut time) = (self.hosts.len(), 0.0);
        for _ in 0..count {
            let from = (unit(&mut self.random) * hosts as f64) as usize;
            let to = (from + 1 + (unit(&mut self.random) * (hosts - 1) as f64) as usize) % hosts;
            time += exponential(&mut self.random, 1.0 / per_second);
            self.send(from, to, time, f64::INFINITY);
        }
    }

    fn finish(self) -> (Fabric, Routes, TaskGraph) {
        (self.fabric, self.routes, self.graph.build().expect("no waits"))
    }
}

/// Hosts around one switch.
fn star(hosts: usize) -> Case {
    let mut builder = FabricBuilder::new();
    let root = builder.root(NodeKind::Network).expect("a root");
    let hosts = (0..hosts).map(|_| builder.child(root, NodeKind::Host, link(HOST)).expect("depth-first")).collect();
    Case::new(builder.build(), hosts)
}

/// Switches in a row, each with one host.
fn row(switches: usize, width: impl Fn(usize) -> f64) -> Case {
    let mut builder = FabricBuilder::new();
    let mut at = builder.root(NodeKind::Network).expect("a root");
    let mut row = vec![at];
    for i in 1..switches {
        at = builder.child(at, NodeKind::Switch, link(width(i))).expect("depth-first");
        row.push(at);
    }
    // Depth first: the deepest switch gets its host first.
    let hosts = row.iter().rev().map(|&s| builder.child(s, NodeKind::Host, link(HOST)).expect("depth-first"));
    let mut hosts: Vec<NodeId> = hosts.collect();
    hosts.reverse();
    Case::new(builder.build(), hosts)
}

fn crossbar() -> Case {
    let mut case = star(100);
    for from in 0..100 {
        (0..100).filter(|&to| to != from).for_each(|to| case.send(from, to, 0.0, f64::INFINITY));
    }
    case
}

fn open_crossbar() -> Case {
    let mut case = star(100);
    case.arrive(10_000, 0.9 * 100.0 * HOST / MEAN);
    case
}

/// One transfer over the whole row, and one over each link of it: each share follows from its neighbour's.
fn parking_lot() -> Case {
    let mut case = row(1000, |_| HOST);
    for _ in 0..10 {
        case.send(0, 999, 0.0, f64::INFINITY);
        (1..1000).for_each(|i| case.send(i - 1, i, 0.0, f64::INFINITY));
    }
    case
}

/// Every transfer crosses two links of a row of ever wider ones, and shares each with one neighbour.
fn chain() -> Case {
    let mut case = row(1000, |i| HOST * (1.0 + i as f64 / 1000.0) / 4.0);
    for _ in 0..10 {
        (2..1000).for_each(|i| case.send(i - 2, i, 0.0, f64::INFINITY));
    }
    case
}

/// One link, 10^4 transfers with as many limits.
fn limits() -> Case {
    let mut case = star(2);
    for i in 0..10_000 {
        case.send(0, 1, 0.0, HOST / 10_000.0 * (0.5 + f64::from(i) / 10_000.0));
    }
    case
}

/// More arrives than leaves: 1.3 times what 1,024 hosts around a switch of links can take.
fn overload() -> Case {
    let mut case = star(1024);
    case.arrive(20_000, 1.3 * 1024.0 * HOST / MEAN);
    case
}

/// A name, and how the case is built.
type Named = (&'static str, fn() -> Case);

/// Prints a row per case.
pub fn table(runs: usize) {
    let cases: [Named; 6] = [
        ("crossbar 100 x 100, all pairs at once", crossbar),
        ("crossbar 100 x 100, open, 10^4 transfers", open_crossbar),
        ("parking lot of 1000 links, 10 rounds", parking_lot),
        ("chain of 1000 links, 10 rounds", chain),
        ("one link, 10^4 limits", limits),
        ("overload, 1024 hosts, 2 * 10^4 transfers", overload),
    ];
    println!("\n| hard case | events | us per event |\n|---|---|---|");
    for (name, build) in cases {
        let (fabric, routes, tasks) = build().finish();
        let side = IncrementalEntry::of::<Shares>();
        let sharing = Sharing::Incremental { entry: &side, params: "{}", from: 0, peaks_below: usize::MAX };
        let all: Vec<_> = (0..runs).map(|_| run_tasks((&fabric, &routes, &tasks), sharing)).collect();
        let events = all[0].1.events;
        let time = median(all.iter().map(|(time, _)| *time).collect()).unwrap_or(0.0);
        println!("| {name} | {events} | {:.2} |", time / events as f64 * 1e6);
    }
}
