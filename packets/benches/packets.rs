//! Packet-hops: runs without skipping ahead, on T2 and on trees in which every host sends; and what skipping ahead saves.

#[path = "../tests/it/net.rs"]
#[allow(dead_code, reason = "tests use the rest")]
mod net;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use net::{Tree, at_once, link, spec};
use weir_packets::arbiter::built_in;
use weir_packets::{Engine, Notice, WireRate};

/// A tree, and its transfers of (source, destination, bytes).
struct Load {
    name: String,
    tree: Tree,
    transfers: Vec<(u32, u32, u64)>,
    begins: Begins,
}

/// When transfers begin.
#[derive(Clone, Copy)]
enum Begins {
    AtOnce,
    /// Those of a source one after another, as its one engine sends them.
    InTurn,
}

fn wire() -> weir_packets::LinkSettings {
    link(WireRate::wire(15.753846153e9).expect("a rate"))
}

/// The first `count` devices of T2 send to the third after them.
fn t2(count: u32) -> Load {
    let transfers = (0..count).map(|gpu| (7 + gpu, 7 + (gpu + 3) % 8, 4_000_000)).collect();
    Load { name: format!("t2-{count}"), tree: Tree::t2(wire()), transfers, begins: Begins::AtOnce }
}

/// Four levels below a root, and each host sends to one far from it and from those of its neighbours.
fn tree(hosts: u32, bytes: u64) -> Load {
    let fan = [4, 4, hosts.isqrt() / 4, hosts.isqrt() / 4].map(|fan: u32| fan.max(1));
    let mut parents = vec![None];
    let mut level = 0..1;
    for fan in fan {
        let above = level.clone();
        level = parents.len() as u32..parents.len() as u32 + above.len() as u32 * fan;
        parents.extend(above.flat_map(|parent| (0..fan).map(move |_| Some(parent))));
    }
    let host = |number: u32| level.start + number % hosts;
    let step = (hosts / 3) | 1;
    let transfers = (0..hosts).map(|from| (host(from), host(from * step + step), bytes));
    let transfers = transfers.filter(|t| t.0 != t.1).collect();
    Load { name: format!("tree-{hosts}"), tree: Tree::new(parents, wire()), transfers, begins: Begins::AtOnce }
}

/// All devices of T2 to all others, each to the one after it first. In turn it is scenarios/pcie/all-to-all-t2.yaml.
fn all_to_all(bytes: u64, begins: Begins) -> Load {
    let pairs = (0..8_u32).flat_map(|from| (1..8).map(move |step| (from, (from + step) % 8)));
    let transfers = pairs.map(|(from, to)| (7 + from, 7 + to, bytes)).collect();
    let how = match begins {
        Begins::AtOnce => "at-once",
        Begins::InTurn => "in-turn",
    };
    Load { name: format!("all-to-all-{}MB-{how}", bytes / 1_000_000), tree: Tree::t2(wire()), transfers, begins }
}

impl Load {
    fn engine(&self, arbiter: usize) -> Engine {
        self.tree.engine_of(&built_in()[arbiter])
    }

    /// Packets times links.
    fn hops(&self) -> u64 {
        let of = |&(from, to, bytes): &(u32, u32, u64)| {
            bytes.div_ceil(u64::from(self.tree.link.payload)) * self.tree.route(from, to).len() as u64
        };
        self.transfers.iter().map(of).sum()
    }

    fn run(&self, mut engine: Engine) -> (u64, u64) {
        match self.begins {
            Begins::AtOnce => drop(at_once(&self.tree, &mut engine, &self.transfers)),
            Begins::InTurn => self.send_in_turn(&mut engine),
        }
        (engine.hops(), engine.skipped_hops())
    }

    /// Each transfer begins when the one before it of its source has been sent.
    fn send_in_turn(&self, engine: &mut Engine) {
        let begin = |engine: &mut Engine, now: u64, id: usize| {
            let (from, to, bytes) = self.transfers[id];
            engine.admit(now, id as u32, &spec(bytes, &self.tree.route(from, to))).expect("its engine is free");
        };
        let has_source = |id: usize, of: usize| self.transfers.get(id).is_some_and(|t| t.0 == self.transfers[of].0);
        let firsts = (0..self.transfers.len()).filter(|&id| id == 0 || !has_source(id, id - 1));
        firsts.for_each(|id| begin(engine, 0, id));
        engine.step(0).expect("a run");
        loop {
            let next = engine.advance(u64::MAX, &|| false).expect("a run");
            if next == u64::MAX {
                return;
            }
            while let Some((time, notice)) = engine.take_notice(next) {
                match notice {
                    Notice::Sent(id) if has_source(id as usize + 1, id as usize) => {
                        begin(engine, time, id as usize + 1)
                    }
                    _ => (),
                }
            }
            engine.step(next).expect("a run");
        }
    }
}

fn hops(c: &mut Criterion) {
    let mut group = c.benchmark_group("hops");
    group.sample_size(10);
    for load in [t2(1), t2(8), tree(64, 256_000), tree(1024, 64_000), tree(3600, 32_000)] {
        group.throughput(Throughput::Elements(load.hops()));
        group.bench_function(BenchmarkId::from_parameter(&load.name), |b| {
            b.iter_batched(|| load.engine(0).without_skipping(), |engine| load.run(engine), BatchSize::LargeInput);
        });
    }
    group.finish();
}

fn arbiters(c: &mut Criterion) {
    let mut group = c.benchmark_group("arbiters");
    group.sample_size(10);
    let load = t2(8);
    for (arbiter, entry) in built_in().iter().enumerate() {
        group.throughput(Throughput::Elements(load.hops()));
        group.bench_function(BenchmarkId::from_parameter(&entry.name), |b| {
            b.iter_batched(
                || load.engine(arbiter).without_skipping(),
                |engine| load.run(engine),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn skipping(c: &mut Criterion) {
    let mut group = c.benchmark_group("skipping");
    group.sample_size(10);
    let load = all_to_all(3_000_000, Begins::AtOnce);
    group.bench_function(format!("{}/off", load.name), |b| b.iter(|| load.run(load.engine(0).without_skipping())));
    let long = [Begins::AtOnce, Begins::InTurn].map(|begins| all_to_all(300_000_000, begins));
    for load in [load].into_iter().chain(long) {
        let mut simulated = 0;
        group.bench_function(format!("{}/on", load.name), |b| {
            b.iter(|| {
                let (hops, skipped) = load.run(load.engine(0));
                simulated = hops - skipped;
            });
        });
        println!("{}: {} hops, {simulated} simulated", load.name, load.hops());
    }
    group.finish();
}

criterion_group!(benches, hops, arbiters, skipping);
criterion_main!(benches);
