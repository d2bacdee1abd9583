//! The loads: the trees and distributions of `benches/peers/gen.py`, drawn from ChaCha8, as a task graph and as the text
//! that the peer reads.

#![allow(dead_code, reason = "each bench uses a part")]

use std::fmt::Write as _;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use weir_sim_core::api::{ClassId, LinkKind, NodeId, NodeKind, SimDuration, SimTime};
use weir_sim_core::{
    EngineId, Fabric, FabricBuilder, LinkSpec, Routes, ServiceId, Task, TaskGraph, TaskGraphBuilder, Work,
};

/// Host links, B/s, and mean size, bytes: those of gen.py.
pub const HOST: f64 = 1.25e9;
pub const MEAN: f64 = 10e6;

/// One load.
#[derive(Clone, Copy)]
pub struct Load {
    pub name: &'static str,
    /// Fan-outs from the root down; every uplink has half of what is below it.
    fanouts: &'static [usize],
    pub transfers: usize,
    /// Utilisation of the busiest link; nothing is drawn for it where all start at 0.
    utilisation: f64,
    pub at_once: bool,
    /// Whether every transfer stays below its leaf switch.
    local: bool,
    pub on_simgrid: bool,
    pub takes_minutes: bool,
    /// How many times faster than SimGrid it has to be; without SimGrid beside it, the most CPU seconds.
    pub must: f64,
}

const fn po(name: &'static str, fanouts: &'static [usize], utilisation: f64, must: f64) -> Load {
    let (transfers, at_once, local) = (10_000, false, false);
    Load { name, fanouts, transfers, utilisation, at_once, local, on_simgrid: true, takes_minutes: false, must }
}

const fn lo(name: &'static str, fanouts: &'static [usize], utilisation: f64, must: f64) -> Load {
    Load { local: true, ..po(name, fanouts, utilisation, must) }
}

const fn t0(name: &'static str, fanouts: &'static [usize], transfers: usize, must: f64) -> Load {
    let on_simgrid = transfers <= 10_000;
    let takes_minutes = transfers == 10_000;
    Load { transfers, at_once: true, on_simgrid, takes_minutes, ..po(name, fanouts, 1.0, must) }
}

const H8: &[usize] = &[2, 2, 2];
const H64: &[usize] = &[4, 4, 4];
const H1024: &[usize] = &[4, 4, 8, 8];
const H4096: &[usize] = &[8, 8, 8, 8];

pub const LOADS: &[Load] = &[
    po("po 8", H8, 0.98, 8.0),
    po("po 64", H64, 0.95, 7.0),
    po("po 1024", H1024, 0.9, 14.0),
    po("po 4096", H4096, 0.8, 50.0),
    lo("lo 1024", H1024, 1.5, 9.0),
    lo("lo 4096", H4096, 0.5, 9.0),
    t0("t0 8 x 1k", H8, 1_000, 10.0),
    t0("t0 8 x 3k", H8, 3_000, 100.0),
    t0("t0 64 x 3k", H64, 3_000, 20.0),
    t0("t0 8 x 10k", H8, 10_000, 1000.0),
    t0("t0 8 x 100k", H8, 100_000, 0.3),
    t0("t0 8 x 1M", H8, 1_000_000, 4.0),
    t0("t0 1024 x 1k", H1024, 1_000, 3.0),
    t0("t0 1024 x 3k", H1024, 3_000, 20.0),
    t0("t0 1024 x 10k", H1024, 10_000, 150.0),
    t0("t0 4096 x 1k", H4096, 1_000, 1.0),
    t0("t0 1024 x 100k", H1024, 100_000, 5.0),
    Load { takes_minutes: true, ..t0("t0 1024 x 1M", H1024, 1_000_000, 60.0) },
];

/// A load, built.
pub struct Size {
    pub fabric: Fabric,
    pub routes: Routes,
    pub tasks: TaskGraph,
    pub hosts: usize,
    /// Starts in ps, by transfer.
    pub starts: Vec<u64>,
    /// As the peer reads it.
    pub text: String,
}

/// The tree in the numbering of the text (level by level) and as a fabric.
struct Tree {
    fabric: Fabric,
    /// Per number: parent and bandwidth.
    rows: Vec<(usize, f64)>,
    hosts: Vec<(usize, NodeId)>,
    /// Utilisation of the busiest link per B/s of uniform traffic.
    busiest: f64,
}

fn tree(fanouts: &[usize]) -> Tree {
    let mut width = vec![HOST; fanouts.len()];
    for level in (0..fanouts.len() - 1).rev() {
        width[level] = width[level + 1] * fanouts[level + 1] as f64 / 2.0;
    }
    let hosts: usize = fanouts.iter().product();
    let mut builder = FabricBuilder::new();
    let root = builder.root(NodeKind::Network).expect("a root");
    let mut found = Vec::new();
    grow(&mut builder, root, fanouts, &width, &mut found);
    // Numbers go level by level, the fabric depth first: both keep the order within a level.
    let (mut rows, mut first, mut level_size, mut busiest) = (vec![(0, 0.0)], 0, 1, 0.0_f64);
    for (&fanout, &width) in fanouts.iter().zip(&width) {
        for child in 0..level_size * fanout {
            rows.push((first + child / fanout, width));
        }
        first += level_size;
        level_size *= fanout;
        let inside = (hosts / level_size) as f64;
        let all = hosts as f64;
        busiest = busiest.max(inside * (all - inside) / (all * (all - 1.0)) / width);
    }
    let hosts = found.into_iter().enumerate().map(|(i, node)| (first + i, node)).collect();
    Tree { fabric: builder.build(), rows, hosts, busiest }
}

fn grow(builder: &mut FabricBuilder, parent: NodeId, fanouts: &[usize], width: &[f64], hosts: &mut Vec<NodeId>) {
    let link = link(width[0]);
    for _ in 0..fanouts[0] {
        if fanouts.len() == 1 {
            hosts.push(builder.child(parent, NodeKind::Host, link).expect("depth-first"));
        } else {
            let child = builder.child(parent, NodeKind::Switch, link).expect("depth-first");
            grow(builder, child, &fanouts[1..], &width[1..], hosts);
        }
    }
}

/// A link of this many B/s each way, without latency.
pub fn link(width: f64) -> LinkSpec {
    LinkSpec { up: width, down: width, latency: SimDuration::ZERO, kind: LinkKind::NETWORK }
}

/// A transfer that no engine serves.
pub fn transfer(bytes: u64, class: ClassId, start: SimTime) -> Task {
    Task { start, engine: EngineId::NONE, service: ServiceId::PLAIN, work: Work::Carries { bytes, class } }
}

/// Uniform in [0, 1).
pub fn unit(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Exponentially distributed.
pub fn exponential(random: &mut ChaCha8Rng, mean: f64) -> f64 {
    -mean * (1.0 - unit(random)).ln()
}

impl Load {
    /// The same with so many transfers.
    pub fn of(self, transfers: usize) -> Self {
        Self { transfers, ..self }
    }

    /// Draws the load, seed 7.
    pub fn build(&self) -> Size {
        let Tree { fabric, rows, hosts, busiest } = tree(self.fanouts);
        let random = &mut ChaCha8Rng::seed_from_u64(7);
        let (mut routes, mut graph) = (Routes::new(), TaskGraphBuilder::new());
        let mut text = format!("{} {}\n", rows.len(), self.transfers);
        for &(parent, width) in &rows[1..] {
            writeln!(text, "{parent} {width} {width}").expect("a string grows");
        }
        let (mut time, mut starts) = (0.0, Vec::new());
        for _ in 0..self.transfers {
            let (from, to) = self.ends(hosts.len(), random);
            let bytes = exponential(random, MEAN) as u64 + 1000;
            if !self.at_once {
                time += exponential(random, busiest * MEAN / self.utilisation);
            }
            let (source, target) = (hosts[from], hosts[to]);
            writeln!(text, "{} {} {bytes} {time}", source.0, target.0).expect("a string grows");
            let route = routes.between(&fabric, source.1, target.1).expect("connected");
            let class = graph.classes().intern(route, f64::INFINITY, 1.0, 0);
            let start = SimTime((time * 1e12).round() as u64);
            starts.push(start.0);
            graph.task(transfer(bytes, class, start));
        }
        let tasks = graph.build().expect("no waits");
        Size { fabric, routes, tasks, hosts: hosts.len(), starts, text }
    }

    fn ends(&self, hosts: usize, random: &mut ChaCha8Rng) -> (usize, usize) {
        let from = (unit(random) * hosts as f64) as usize;
        let leaf = self.fanouts.last().copied().unwrap_or(1);
        let (first, range) = if self.local { (from / leaf * leaf, leaf) } else { (0, hosts) };
        let step = 1 + (unit(random) * (range - 1) as f64) as usize;
        (from, first + (from - first + step) % range)
    }
}
