//! Random trees and loads, and what follows from answers.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use weir_plugin_api::{
    Answer, ClassId, ClassInfo, Direction, FabricColumns, Grant, IncrementalArbiter as _, IncrementalPlugin as _,
    Level, LinkId, LinkKind, NO_ID, NO_LEVEL, NodeKind, PhaseColumns, RateArbiter as _, RouteId, Setting, SimTime,
    TransferId, WeightChange,
};
use weir_plugin_api::{ArbiterPlugin as _, Binding, Cause, Change};

use super::super::Factors;
use crate::PcieCongestion;

pub(super) const BITS: u32 = 20;
/// Ids of classes are below this.
const CLASSES: u32 = 1 << 16;

#[derive(Clone)]
pub(super) struct Dice(pub(super) ChaCha8Rng);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0.next_u64() % n
    }

    pub(super) fn part(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A tree: per node above the root its parent and the bandwidths of its links; then lateral links.
#[derive(Clone, Default)]
pub(super) struct Tree {
    pub(super) parent: Vec<u32>,
    pub(super) columns: FabricColumns,
}

impl Tree {
    /// Joins two nodes beside the tree, in this direction.
    pub(super) fn join(&mut self, from: u32, to: u32, bandwidth: f64) {
        self.columns.bandwidth.push(bandwidth);
        self.columns.from.push(from);
        self.columns.to.push(to);
        self.columns.direction.push(Direction::Lateral);
        self.columns.depth.push(0);
        self.columns.kind.push(LinkKind::QPI);
    }

    /// The routes from `a` to `b` over a lateral link.
    pub(super) fn lateral_routes(&self, a: u32, b: u32) -> Vec<Vec<LinkId>> {
        let (first, FabricColumns { from, to, .. }) = (2 * (self.parent.len() - 1), &self.columns);
        let laterals = (first..from.len()).filter(|&l| self.is_above(from[l], a) && self.is_above(to[l], b));
        let over = |l: usize| [self.route(a, from[l]), vec![LinkId(l as u32)], self.route(to[l], b)].concat();
        laterals.map(over).collect()
    }

    /// Whether a node is another one or above it.
    fn is_above(&self, node: u32, mut other: u32) -> bool {
        while other != node && other != 0 {
            other = self.parent[other as usize];
        }
        other == node
    }

    /// Node n has the links 2 (n − 1) up and 2 (n − 1) + 1 down; `bandwidths` are by node.
    pub(super) fn new(parent: Vec<u32>, kinds: Vec<NodeKind>, bandwidths: &[(f64, f64)]) -> Self {
        let mut columns = FabricColumns { node_kind: kinds, ..FabricColumns::default() };
        let (nodes, mut depths) = (parent, vec![0]);
        for node in 1..nodes.len() as u32 {
            let parent = nodes[node as usize];
            let (up, down) = bandwidths[node as usize];
            depths.push(depths[parent as usize] + 1);
            columns.bandwidth.extend([up, down]);
            columns.from.extend([node, parent]);
            columns.to.extend([parent, node]);
            columns.direction.extend([Direction::Up, Direction::Down]);
            columns.depth.extend([depths[node as usize]; 2]);
            columns.kind.extend([LinkKind::PCIE; 2]);
        }
        Self { parent: nodes, columns }
    }

    /// A regular tree whose links above the hosts carry the sum of those below over `oversubscription`.
    pub(super) fn regular(fanouts: &[u32], oversubscription: f64) -> Self {
        let (mut parent, mut first, mut end) = (vec![0], 0, 1);
        let mut capacity = vec![1.25e9; fanouts.len() + 1];
        for depth in (1..fanouts.len()).rev() {
            capacity[depth] = capacity[depth + 1] * f64::from(fanouts[depth]) / oversubscription;
        }
        let mut bandwidths = vec![(0.0, 0.0)];
        for (depth, &fanout) in fanouts.iter().enumerate() {
            for above in first..end {
                parent.extend(std::iter::repeat_n(above, fanout as usize));
            }
            (first, end) = (end, parent.len() as u32);
            bandwidths.resize(parent.len(), (capacity[depth + 1], capacity[depth + 1]));
        }
        let kinds = vec![NodeKind::Switch; parent.len()];
        Self::new(parent, kinds, &bandwidths)
    }

    /// Up from `a` to the common ancestor, and down to `b`.
    pub(super) fn route(&self, a: u32, b: u32) -> Vec<LinkId> {
        let chain = |mut node: u32| {
            let mut chain = vec![node];
            while node != 0 {
                node = self.parent[node as usize];
                chain.push(node);
            }
            chain
        };
        let (mut up, mut down) = (chain(a), chain(b));
        while let (Some(x), Some(y)) = (up.last(), down.last())
            && x == y
        {
            up.pop();
            down.pop();
        }
        let link = |node: u32, down: u32| LinkId(2 * (node - 1) + down);
        up.into_iter().map(|node| link(node, 0)).chain(down.into_iter().rev().map(|node| link(node, 1))).collect()
    }

    pub(super) fn leaves(&self) -> Vec<u32> {
        (1..self.parent.len() as u32).filter(|node| !self.parent[1..].contains(node)).collect()
    }
}

/// The two sides of the policy, and the transfers that both see.
pub(super) struct Both {
    pub(super) side: Factors,
    plain: PcieCongestion,
    capacity: Vec<f64>,
    /// Per class its route, limit and transfers.
    pub(super) classes: Vec<(Vec<LinkId>, Level, u32)>,
    free: Vec<u32>,
    /// Per node what it hangs below, and its level.
    below: Vec<u32>,
    levels: Vec<Level>,
    pub(super) answer: Answer,
    pub(super) rates: u64,
    pub(super) worst: f64,
    removed: Vec<WeightChange>,
    added: Vec<WeightChange>,
    ended: Vec<u32>,
    pub(super) told: usize,
    /// Whether a link other than the narrowest one sets the last lone rate.
    pub(super) is_reduced: bool,
    /// What the rate arbiter has taken.
    pub(super) plain_time: std::time::Duration,
}

impl Both {
    /// All in the fast way, as far as it serves.
    pub(super) fn new(tree: &Tree, params: &str) -> Self {
        let capacities: Vec<u64> = tree.columns.bandwidth.iter().map(|b| (b * f64::from(BITS).exp2()) as u64).collect();
        let setting = Setting {
            fabric: tree.columns.view(),
            capacities: &capacities,
            shared: 0,
            links: capacities.len() as u32,
            classes: CLASSES,
            priorities: 1,
            bits: BITS,
            wants_peaks: false,
        };
        let side = Factors::create(&setting, params).expect("it is served");
        Self {
            side: Factors { few: 0, ..side },
            plain: PcieCongestion::create(&tree.columns.view(), params).expect("good parameters"),
            capacity: tree.columns.bandwidth.clone(),
            classes: Vec::new(),
            free: Vec::new(),
            below: vec![NO_ID; 2 * CLASSES as usize + capacities.len()],
            levels: vec![NO_LEVEL; 2 * CLASSES as usize + capacities.len()],
            answer: Answer::default(),
            rates: 0,
            worst: 0.0,
            removed: Vec::new(),
            added: Vec::new(),
            ended: Vec::new(),
            told: 0,
            is_reduced: false,
            plain_time: std::time::Duration::ZERO,
        }
    }

    /// A transfer begins; returns its class.
    pub(super) fn begin(&mut self, route: &[LinkId], limit: Level) -> u32 {
        let known = self.classes.iter().position(|(r, l, n)| *n > 0 && r == route && *l == limit);
        let class = known.unwrap_or_else(|| self.new_class(route, limit) as usize);
        self.classes[class].2 += 1;
        self.added.push(WeightChange { class: class as u32, weight: 1 });
        class as u32
    }

    pub(super) fn new_class(&mut self, route: &[LinkId], limit: Level) -> u32 {
        let id = self.free.pop().unwrap_or(self.classes.len() as u32);
        if id as usize == self.classes.len() {
            self.classes.push((Vec::new(), 0, 0));
        }
        self.classes[id as usize] = (route.to_vec(), limit, 0);
        self.side.add_class(id, &ClassInfo { links: route, limit, priority: 0 });
        (self.below[id as usize], self.levels[id as usize]) = (NO_ID, NO_LEVEL);
        id
    }

    pub(super) fn add(&mut self, class: u32) {
        self.classes[class as usize].2 += 1;
        self.added.push(WeightChange { class, weight: 1 });
    }

    pub(super) fn end(&mut self, class: u32) {
        self.classes[class as usize].2 -= 1;
        self.removed.push(WeightChange { class, weight: 1 });
        if self.classes[class as usize].2 == 0 {
            self.ended.push(class);
        }
    }

    /// Tells the side what has changed, and follows its answer.
    pub(super) fn settle(&mut self) {
        self.answer.clear();
        let change = Change { now: SimTime::ZERO, removed: &self.removed, added: &self.added };
        self.side.settle(&change, &mut self.answer).expect("an answer");
        self.removed.clear();
        self.added.clear();
        self.free.append(&mut self.ended);
        self.told += self.answer.len();
        for hang in &self.answer.hung {
            self.below[hang.node as usize] = hang.below;
            self.levels[hang.node as usize] = NO_LEVEL;
        }
        for level in &self.answer.levels {
            assert_eq!(self.below[level.root as usize], NO_ID, "only roots have levels");
            self.levels[level.root as usize] = level.level;
        }
    }

    pub(super) fn level(&self, class: u32) -> Level {
        let mut node = class;
        for _ in 0..100 {
            match self.below[node as usize] {
                NO_ID => return self.levels[node as usize],
                below => node = below,
            }
        }
        panic!("a circle");
    }

    /// The rate of a transfer that shares no link, as the host has it.
    pub(super) fn alone(&mut self, route: &[LinkId], limit: Level) -> f64 {
        let unit = f64::from(BITS).exp2();
        let links = route.iter().map(|link| self.capacity[link.index()]);
        let limited = if limit == NO_LEVEL { f64::INFINITY } else { limit as f64 / unit };
        let alone = self.side.alone(&ClassInfo { links: route, limit, priority: 0 });
        self.is_reduced = alone.is_some();
        alone.map_or_else(|| links.fold(limited, f64::min), |(_, level)| level as f64 / unit)
    }

    pub(super) fn active(&self) -> Vec<u32> {
        (0..self.classes.len() as u32).filter(|&class| self.classes[class as usize].2 > 0).collect()
    }

    /// Compares all rates with those of the rate arbiter.
    pub(super) fn compare(&mut self, what: &dyn Fn() -> String) {
        if let Err(text) = self.side.verify() {
            panic!("{text}: {}", what());
        }
        let active = self.active();
        let (rates, bindings) = self.expected(&active);
        let mut loads = vec![0.0; self.capacity.len()];
        for ((&class, &rate), binding) in active.iter().zip(&rates).zip(&bindings) {
            self.compare_holder(class, rate, binding, what);
            let level = self.level(class);
            assert_ne!(level, NO_LEVEL, "class {class} has a level: {}", what());
            let found = level as f64 / f64::from(BITS).exp2();
            let difference = ((found - rate).abs() - f64::from(BITS).exp2().recip()).max(0.0) / rate;
            self.worst = self.worst.max(difference);
            self.rates += 1;
            assert!(difference < 2e-12, "class {class}: {found}, not {rate}: {}", what());
            for link in &self.classes[class as usize].0 {
                loads[link.index()] += f64::from(self.classes[class as usize].2) * found;
            }
        }
        assert!(loads.iter().zip(&self.capacity).all(|(load, capacity)| *load <= capacity * (1.0 + 2e-9)));
    }

    /// What holds a class back is what binds it.
    fn compare_holder(&self, class: u32, rate: f64, binding: &Binding, what: &dyn Fn() -> String) {
        let holder = self.side.holder(class);
        let links = &self.classes[class as usize].0;
        let narrowest = links.iter().map(|link| self.capacity[link.index()]).fold(f64::INFINITY, f64::min);
        if (rate - narrowest).abs() <= 1e-12 * narrowest {
            return;
        }
        assert_eq!(holder.cause, binding.cause(), "{holder:?}, not {binding:?}, holds {class}: {}", what());
        if holder.cause == Cause::HeadOfLine {
            assert!(links.contains(&holder.link) && holder.by != class, "{}", what());
            let by = self.level(holder.by) as f64 / f64::from(BITS).exp2();
            let is_held = by >= rate * (1.0 - 1e-11) - 1e-9 * narrowest;
            assert!(is_held, "{rate} of {class} is held at {by} by {}: {}", holder.by, what());
        } else {
            assert_eq!(holder.link, binding.link, "{holder:?}, not {binding:?}, {}", what());
            assert_eq!(holder.by == NO_ID, binding.by == u32::MAX, "{holder:?}, not {binding:?}, {}", what());
        }
        assert!(holder.by == NO_ID || self.classes[holder.by as usize].2 > u32::from(holder.by == class));
    }

    /// The rate of each active class, and what binds it, by the rate arbiter.
    pub(super) fn expected(&mut self, active: &[u32]) -> (Vec<f64>, Vec<Binding>) {
        let mut phase = PhaseColumns::default();
        phase.clear();
        for (number, &id) in (0..).zip(active) {
            let (route, level, transfers) = &self.classes[id as usize];
            phase.class.extend(std::iter::repeat_n(ClassId(number), *transfers as usize));
            phase.links.extend(route);
            phase.offsets.push(phase.links.len() as u64);
            let unit = f64::from(BITS).exp2();
            phase.limit.push(if *level == NO_LEVEL { f64::INFINITY } else { *level as f64 / unit });
            phase.route.push(RouteId(number));
        }
        (phase.weight, phase.priority) = (vec![1.0; active.len()], vec![0; active.len()]);
        phase.id = (0..phase.class.len() as u32).map(TransferId).collect();
        phase.arrival = vec![0; phase.class.len()];
        let class = &phase.class;
        let (mut rates, mut bindings) = (vec![f64::NAN; class.len()], vec![Binding::NONE; class.len()]);
        let view = phase.view(SimTime::ZERO);
        if view.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let mut grant = Grant { rates: &mut rates, bindings: &mut bindings, recheck: SimTime::NEVER };
        let clock = std::time::Instant::now();
        self.plain.allocate(&view, &mut grant).expect("rates");
        self.plain_time += clock.elapsed();
        let first = |number| class.partition_point(|class| class.index() < number);
        let firsts: Vec<usize> = (0..active.len()).map(first).collect();
        (firsts.iter().map(|&at| rates[at]).collect(), firsts.iter().map(|&at| bindings[at]).collect())
    }
}
