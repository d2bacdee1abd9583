//! Links that change, with a slow twin: at every instant all is done anew.

use std::collections::BTreeMap;

use proptest::prelude::*;
use weir_sim_core::api::{
    Binding, Grant, LinkId, LinkKind, NodeId, PhaseView, RouteId, RouteTable, SimDuration, SimTime, TransferId,
};
use weir_sim_core::{
    Classes, EngineId, Fabric, FabricBuilder, LinkSpec, LinkState, OnFailure, Routes, Selection, ServiceId, Task,
    TaskGraphBuilder, Way, Work, remaining_after, time_to_send,
};

use crate::common::{DrawTree, World, arbiter, fabric, tree};
use crate::rerouting::{ends, listed, try_run};
use crate::routes::{brute_all, picked};

const MS: u64 = 1_000_000_000;

/// A random tree with links beside it, so that many nodes have a second way up.
#[derive(Clone, Debug)]
struct Drawn {
    tree: DrawTree,
    laterals: Vec<(usize, usize)>,
    /// From, to, bytes, start, and the hash that picks among equal routes.
    transfers: Vec<(usize, usize, u64, u64, Option<u128>)>,
    /// Link, time, state.
    changes: Vec<(usize, u64, u32)>,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let laterals = prop::collection::vec((0..100_usize, 0..100_usize), 1..6);
    let start = prop_oneof![Just(0_u64), 0..2 * MS];
    let transfers =
        prop::collection::vec((0..100_usize, 0..100_usize, 1..3_000_000_u64, start, any::<Option<u128>>()), 1..10);
    let changes = prop::collection::vec((0..100_usize, 0..4 * MS, 0..5_u32), 1..16);
    (tree(3..9), laterals, transfers, changes).prop_map(|(tree, laterals, transfers, changes)| Drawn {
        tree,
        laterals,
        transfers,
        changes,
    })
}

impl Drawn {
    /// With the hash by which each route was found first; `None` where the tree has one leaf.
    fn world(&self) -> Option<(World, BTreeMap<RouteId, u128>)> {
        let (plain, leaves) = fabric(&self.tree, false);
        let mut builder = FabricBuilder::new();
        let mut ids: Vec<NodeId> = Vec::new();
        for node in plain.nodes() {
            ids.push(if node.parent.is_none() {
                builder.root(node.kind).expect("a root")
            } else {
                let (up, down) = (plain.link(node.up), plain.link(LinkId(node.up.0 + 1)));
                let (latency, kind) = (up.latency, LinkKind::PCIE);
                let link = LinkSpec { up: up.bandwidth, down: down.bandwidth, latency, kind };
                builder.child(ids[node.parent.index()], node.kind, link).expect("depth-first")
            });
        }
        for &(a, b) in &self.laterals {
            let link = LinkSpec { up: 0.8e9, down: 0.8e9, latency: SimDuration(123_456), kind: LinkKind::PCIE };
            _ = builder.lateral(ids[a % ids.len()], ids[b % ids.len()], link);
        }
        let fabric = builder.build();
        let (mut routes, mut tasks) = (Routes::new(), TaskGraphBuilder::new());
        let mut hashes = BTreeMap::new();
        for &(from, to, bytes, start, hash) in self.transfers.iter().filter(|_| leaves.len() > 1) {
            let from = from % leaves.len();
            let to = (from + 1 + to % (leaves.len() - 1)) % leaves.len();
            let route = match hash {
                None => routes.between(&fabric, leaves[from], leaves[to]).expect("a tree connects"),
                Some(hash) => {
                    let way = Way::through(&[leaves[from], leaves[to]], Selection::Hashed(hash));
                    let route = routes.select(&fabric, &[way], &[]).expect("a tree connects");
                    hashes.entry(route).or_insert(hash);
                    route
                }
            };
            let class = tasks.classes().intern(route, f64::INFINITY, 1.0, 0);
            let (engine, service, work) = (EngineId::NONE, ServiceId::PLAIN, Work::Carries { bytes, class });
            tasks.task(Task { start: SimTime(start), engine, service, work });
        }
        (leaves.len() > 1).then(|| (World { fabric, routes, tasks: tasks.build().expect("no cycle") }, hashes))
    }

    /// What is drawn, and all links up in the end.
    fn steps(&self, links: usize) -> Vec<(u32, u64, LinkState)> {
        let state = |state| match state {
            0 | 1 => LinkState::Down,
            2 => LinkState::Up,
            3 => LinkState::Share(0.5),
            _ => LinkState::Bandwidth(0.3e9),
        };
        let pairs = links / 2;
        let mut steps: Vec<_> =
            self.changes.iter().map(|&(at, time, of)| (2 * (at % pairs) as u32, time, state(of))).collect();
        steps.extend((0..pairs as u32).map(|pair| (2 * pair, 5 * MS, LinkState::Up)));
        // Of two at one time the last one stands.
        steps.sort_by_key(|step| step.1);
        steps
    }
}

/// A transfer of the twin.
struct Flying {
    task: usize,
    own: Vec<LinkId>,
    hash: u128,
    /// Where it goes now; nothing while it waits.
    on: Option<Vec<LinkId>>,
    left: f64,
    rate: f64,
    since: u64,
    end: SimTime,
    arrival: u64,
    /// Bytes counted on links so far.
    counted: u64,
    /// When all of these have arrived.
    arrives: u64,
}

/// All over again at every instant: states of links, routes by enumeration, a new arbiter, the rates of all.
struct Twin<'w> {
    world: &'w World,
    hashes: &'w BTreeMap<RouteId, u128>,
    on_failure: OnFailure,
    fabric: Fabric,
    down: Vec<bool>,
    flying: Vec<Flying>,
    ends: Vec<u64>,
    carried: Vec<u64>,
    now: u64,
}

impl Twin<'_> {
    /// The ends of all transfers, and the bytes of all links.
    fn run(
        (world, hashes): (&World, &BTreeMap<RouteId, u128>),
        steps: &[(u32, u64, LinkState)],
        on_failure: OnFailure,
        name: &str,
    ) -> (Vec<u64>, Vec<u64>) {
        let tasks = world.tasks.tasks();
        let (links, fabric) = (world.fabric.links().len(), world.fabric.clone());
        let (down, ends, carried) = (vec![false; links], vec![u64::MAX; tasks.len()], vec![0; links]);
        let mut twin = Twin { world, hashes, on_failure, fabric, down, flying: Vec::new(), ends, carried, now: 0 };
        let mut times: Vec<u64> =
            steps.iter().map(|step| step.1).chain(tasks.iter().map(|task| task.start.0)).collect();
        times.sort_unstable();
        loop {
            let due = times.iter().copied().find(|&time| time >= twin.now).unwrap_or(u64::MAX);
            let end = twin.flying.iter().map(|f| f.end.0).min().unwrap_or(u64::MAX);
            twin.now = due.min(end);
            if twin.now == u64::MAX {
                return (twin.ends, twin.carried);
            }
            times.retain(|&time| time > twin.now);
            twin.instant(steps, name);
        }
    }

    fn instant(&mut self, steps: &[(u32, u64, LinkState)], name: &str) {
        let now = self.now;
        let ended: Vec<Flying> = self.flying.extract_if(.., |f| f.end.0 == now).collect();
        for mut f in ended {
            f.left = 0.0;
            self.count(&mut f);
            self.ends[f.task] = f.arrives;
        }
        for &(link, _, state) in steps.iter().filter(|step| step.1 == now) {
            for link in [LinkId(link), LinkId(link + 1)] {
                let own = *self.world.fabric.link(link);
                self.down[link.index()] = state == LinkState::Down;
                let bandwidth = match state {
                    LinkState::Share(share) => own.bandwidth * share,
                    LinkState::Bandwidth(bandwidth) => bandwidth,
                    LinkState::Up => own.bandwidth,
                    LinkState::Down => continue,
                };
                self.fabric.set_link(link, bandwidth, own.latency).expect("a bandwidth");
            }
        }
        let tasks = self.world.tasks.tasks();
        for task in (0..tasks.len()).filter(|&task| tasks[task].start.0 == now) {
            let Work::Carries { bytes, class } = tasks[task].work else { panic!("all carry bytes") };
            let route = self.world.tasks.classes().route(class);
            let own = self.world.routes.links(route).to_vec();
            let hash = self.hashes.get(&route).copied().unwrap_or(0);
            let (on, left, end) = (Some(own.clone()), bytes as f64, SimTime::NEVER);
            let (since, arrival) = (now, now);
            self.flying.push(Flying {
                task,
                own,
                hash,
                on,
                left,
                rate: 0.0,
                since,
                end,
                arrival,
                counted: 0,
                arrives: 0,
            });
        }
        self.flying.sort_by_key(|f| f.task);
        self.find_ways();
        self.rate(name);
    }

    fn count(&mut self, f: &mut Flying) {
        let bytes = self.world.bytes_of(f.task);
        let sent = bytes - (f.left.ceil() as u64).min(bytes);
        let Some(on) = &f.on else { return };
        if sent > f.counted {
            on.iter().for_each(|link| self.carried[link.index()] += sent - f.counted);
            let latency: u64 = on.iter().map(|&link| self.fabric.link(link).latency.0).sum();
            f.arrives = f.arrives.max(self.now + latency);
        }
        f.counted = sent;
    }

    fn find_ways(&mut self) {
        let mut flying = std::mem::take(&mut self.flying);
        for f in &mut flying {
            let is_up = |links: &[LinkId]| links.iter().all(|link| !self.down[link.index()]);
            if f.on.as_deref().is_some_and(is_up) {
                continue;
            }
            if f.rate > 0.0 {
                f.left = remaining_after(f.left, f.rate, SimDuration(self.now - f.since));
            }
            (f.rate, f.since, f.end) = (0.0, self.now, SimTime::NEVER);
            let other = || {
                let (from, to) = (self.fabric.link(f.own[0]).from, self.fabric.link(*f.own.last().expect("a link")).to);
                let all = brute_all(&self.fabric, from, to, |link| !self.down[link.index()]);
                (!all.is_empty()).then(|| picked(&all, f.hash))
            };
            let way = match is_up(&f.own) {
                true => Some(f.own.clone()),
                false if self.on_failure == OnFailure::Reroute => other(),
                false => None,
            };
            self.count(f);
            f.on = way;
        }
        self.flying = flying;
    }

    fn rate(&mut self, name: &str) {
        let (mut offsets, mut links, mut classes) = (vec![0_u64], Vec::new(), Classes::default());
        let (mut ids, mut class_of, mut arrivals, mut places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut known: BTreeMap<Vec<LinkId>, RouteId> = BTreeMap::new();
        for (place, f) in self.flying.iter().enumerate() {
            let Some(on) = &f.on else { continue };
            let route = *known.entry(on.clone()).or_insert_with(|| {
                links.extend_from_slice(on);
                offsets.push(links.len() as u64);
                RouteId::from_index(offsets.len() - 2)
            });
            ids.push(TransferId(f.task as u32));
            class_of.push(classes.intern(route, f64::INFINITY, 1.0, 0));
            arrivals.push(f.arrival);
            places.push(place);
        }
        if ids.is_empty() {
            return;
        }
        let view = PhaseView {
            now: SimTime(self.now),
            id: (&ids).into(),
            class: (&class_of).into(),
            arrival: (&arrivals).into(),
            classes: classes.table(),
            routes: RouteTable { offsets: (&offsets).into(), links: (&links).into() },
        };
        let (mut rates, mut bindings) = (vec![f64::NAN; ids.len()], vec![Binding::NONE; ids.len()]);
        let mut grant = Grant { rates: &mut rates, bindings: &mut bindings, recheck: SimTime::NEVER };
        arbiter(name, &self.fabric.view()).0.allocate(&view, &mut grant).expect("rates");
        let mut load = vec![0.0; self.down.len()];
        for (place, rate) in places.into_iter().zip(rates) {
            let f = &mut self.flying[place];
            f.on.iter().flatten().for_each(|link| load[link.index()] += rate);
            if f.rate.to_bits() != rate.to_bits() {
                f.left = remaining_after(f.left, f.rate, SimDuration(self.now - f.since));
                (f.since, f.rate) = (self.now, rate);
                let lasted = SimDuration(self.now - f.arrival);
                f.end = SimTime(self.now).after(time_to_send(f.left, rate, lasted));
            }
        }
        let over = load.iter().zip(self.fabric.bandwidths()).any(|(load, most)| *load > most * (1.0 + 1e-8));
        assert!(!over, "a link carries more than it can");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Ends and the bytes of all links are those of the twin, whether transfers wait or take another way. Rates may differ in
    /// their last bits where classes have other ids: 2 ps for each change of rate, a byte for each change of route.
    #[test]
    fn all_is_as_if_done_anew_at_every_change(
        drawn in drawn(), name in prop::sample::select(NAMES), reroutes in any::<bool>(),
    ) {
        let Some((world, hashes)) = drawn.world() else { return Ok(()) };
        let steps = drawn.steps(world.fabric.links().len());
        let on_failure = if reroutes { OnFailure::Reroute } else { OnFailure::Wait };
        let outcome = try_run(&world, name, &listed(&steps, on_failure)).expect("all links come up");
        let (expected, carried) = Twin::run((&world, &hashes), &steps, on_failure, name);
        let phases = outcome.phases.as_ref().map_or(0, Vec::len) as u64;
        for (task, (end, expected)) in ends(&outcome).into_iter().zip(expected).enumerate() {
            prop_assert!(end.abs_diff(expected) <= 2 * phases, "{task}: {end} {expected}");
        }
        let changes = outcome.reroutes.len() as u64;
        for (link, (totals, carried)) in outcome.links.iter().zip(carried).enumerate() {
            prop_assert!(totals.bytes.abs_diff(carried) <= changes, "{link}: {} {carried}", totals.bytes);
        }
        let total = |task: usize| world.bytes_of(task);
        prop_assert!((0..drawn.transfers.len()).all(|task| outcome.sent_bytes[task] == total(task)));
    }
}

/// Arbiters whose rates depend on who is active alone, or on the order of arrival.
const NAMES: &[&str] = &["max-min", "equal-share", "strict-priority", "fcfs", "input-fifo"];
