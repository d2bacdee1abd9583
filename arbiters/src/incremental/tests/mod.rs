//! Random changes: everything is recomputed after each, and the answers, followed one by one, lead to what is kept.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use weir_plugin_api::{
    Answer, Cause, Change, ClassInfo, FabricView, IncrementalArbiter, IncrementalPlugin, LinkId, Setting, SimTime,
    WeightChange,
};

use super::{INF, Layers, Level, NONE, Shares};
use crate::{Lines, Parts};

/// More classes than a case has at once.
const CLASSES: u32 = 1000;

struct Dice(ChaCha8Rng);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0.next_u64() % n
    }
}

/// What answers say, and nothing else.
#[derive(Default)]
struct Follower {
    /// Per node what it hangs below, and its level as a root.
    below: Vec<u32>,
    levels: Vec<Level>,
}

impl Follower {
    fn follow(&mut self, answer: &Answer) {
        let named = answer.hung.iter().map(|h| h.node.max(h.below)).chain(answer.levels.iter().map(|l| l.root));
        let nodes = named.max().map_or(0, |id| id as usize + 1).max(self.below.len());
        self.below.resize(nodes, NONE);
        self.levels.resize(nodes, INF);
        answer.hung.iter().for_each(|h| self.below[h.node as usize] = h.below);
        answer.levels.iter().for_each(|l| self.levels[l.root as usize] = l.level);
    }

    fn level(&self, class: u32) -> Level {
        let mut node = class as usize;
        while self.below[node] != NONE {
            node = self.below[node] as usize;
        }
        self.levels[node]
    }
}

/// Links, limit, priority.
type Terms = (Vec<LinkId>, Level, i64);

/// Transfers on a few paths over a few links. A path has a class while it has transfers; ids are used again.
struct Case {
    capacities: Vec<u64>,
    paths: Vec<Terms>,
    /// Per path the class and the number of its transfers.
    class_of: Vec<Option<(u32, usize)>>,
    free: Vec<u32>,
    classes: u32,
    /// Each with its path.
    transfers: Vec<(usize, WeightChange)>,
    /// Weights are up to this.
    weights: u64,
    /// The transfers of a class go one after the other.
    in_turn: bool,
    dice: Dice,
}

/// What happens at once: classes that are new, transfers that end and begin.
struct Step {
    new: Vec<(u32, usize)>,
    removed: Vec<WeightChange>,
    added: Vec<WeightChange>,
}

impl Case {
    fn random(seed: u64) -> Self {
        let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed));
        let links = 2 + dice.below(12) as usize;
        let tied = dice.below(2) == 0;
        let unit = 1 << 40;
        let capacities = (0..links).map(|_| if tied { unit << dice.below(3) } else { unit + dice.below(4 * unit) });
        let capacities: Vec<u64> = capacities.collect();
        let paths: Vec<Terms> = (0..2 + dice.below(20))
            .map(|_| {
                let mut route: Vec<LinkId> = Vec::new();
                for _ in 0..=dice.below(4) {
                    let link = LinkId(dice.below(links as u64) as u32);
                    if !route.contains(&link) {
                        route.push(link);
                    }
                }
                let limit = if dice.below(3) == 0 { 1 + dice.below(unit / 2) } else { INF };
                (route, limit, dice.below(3) as i64)
            })
            .collect();
        let class_of = vec![None; paths.len()];
        Self {
            capacities,
            paths,
            class_of,
            free: Vec::new(),
            classes: 0,
            transfers: Vec::new(),
            weights: 5,
            in_turn: false,
            dice,
        }
    }

    /// Some transfers end, of those at some places, and some begin.
    fn step(&mut self, mut may_end: Vec<usize>) -> Step {
        let (mut removed, mut emptied) = (Vec::new(), Vec::new());
        let count = self.dice.below(4).min(may_end.len() as u64);
        let mut ends: Vec<usize> =
            (0..count).map(|_| may_end.swap_remove(self.dice.below(may_end.len() as u64) as usize)).collect();
        ends.sort_unstable();
        for at in ends.into_iter().rev() {
            let (path, change) = self.transfers.remove(at);
            removed.push(change);
            let Some((class, count)) = &mut self.class_of[path] else { panic!("it has transfers") };
            *count -= 1;
            if *count == 0 {
                emptied.push(*class);
                self.class_of[path] = None;
            }
        }
        let most = if self.dice.below(20) == 0 { 100 } else { 4 };
        let (mut new, mut added) = (Vec::new(), Vec::new());
        for _ in 0..self.dice.below(most) {
            let path = self.dice.below(self.paths.len() as u64) as usize;
            let class = self.class_on(path, &mut new);
            added.push(WeightChange { class, weight: 1 + self.dice.below(self.weights) as u32 });
            self.transfers.extend(added.last().map(|&change| (path, change)));
        }
        self.free.extend(emptied);
        Step { new, removed, added }
    }

    /// The class of one more transfer on a path.
    fn class_on(&mut self, path: usize, new: &mut Vec<(u32, usize)>) -> u32 {
        let (class, count) = self.class_of[path].unwrap_or_else(|| {
            let class = self.free.pop().unwrap_or_else(|| {
                self.classes += 1;
                self.classes - 1
            });
            new.push((class, path));
            (class, 0)
        });
        self.class_of[path] = Some((class, count + 1));
        class
    }

    /// Runs a hundred changes; `check` sees the follower after each.
    fn run<I: IncrementalPlugin>(&mut self, peaks: bool, check: impl Fn(&Self, &I, &Follower)) -> I {
        let setting = Setting {
            capacities: &self.capacities,
            shared: 0,
            links: 0,
            classes: CLASSES,
            fabric: FabricView::default(),
            priorities: 3,
            bits: 30,
            wants_peaks: peaks,
        };
        let mut arbiter = I::create(&setting, "{}").expect("it takes no parameters");
        self.in_turn = I::IN_TURN;
        let (mut follower, mut answer) = (Follower::default(), Answer::default());
        for now in 0..100 {
            let all = 0..self.transfers.len();
            let may_end = if I::IN_TURN { self.served(&follower) } else { all.collect() };
            let Step { new, removed, added } = self.step(may_end);
            for (class, path) in new {
                let (links, limit, priority) = &self.paths[path];
                arbiter.add_class(class, &ClassInfo { links, limit: *limit, priority: *priority });
            }
            let change = Change { now: SimTime(now), removed: &removed, added: &added };
            answer.clear();
            arbiter.settle(&change, &mut answer).expect("it serves all");
            assert!(self.classes <= CLASSES);
            follower.follow(&answer);
            arbiter.verify().expect("all sums are right");
            check(self, &arbiter, &follower);
        }
        arbiter
    }

    /// The places of the first transfers of classes that have a rate.
    fn served(&self, follower: &Follower) -> Vec<usize> {
        let is_served = |at: &usize| self.is_first(*at) && follower.level(self.transfers[*at].1.class) > 0;
        (0..self.transfers.len()).filter(is_served).collect()
    }

    /// Whether a transfer is the first of its class.
    fn is_first(&self, at: usize) -> bool {
        let class = |at: usize| self.transfers[at].1.class;
        (0..at).all(|other| class(other) != class(at))
    }

    /// Sum of weight times level on each link, as the answers have it. In turn only the first of a class has its level.
    fn loads(&self, follower: &Follower) -> Vec<u128> {
        let mut loads = vec![0; self.capacities.len()];
        let all = self.transfers.iter().enumerate();
        for (_, (path, t)) in all.filter(|&(at, _)| !self.in_turn || self.is_first(at)) {
            let level = follower.level(t.class);
            for link in &self.paths[*path].0 {
                loads[link.index()] += u128::from(t.weight) * u128::from(level);
            }
        }
        loads
    }

    /// No link is overloaded, no limit exceeded, and the link that is named is on the route.
    fn is_fair(&self, arbiter: &dyn IncrementalArbiter, follower: &Follower) {
        for (load, &capacity) in self.loads(follower).iter().zip(&self.capacities) {
            assert!(*load <= u128::from(capacity));
        }
        for (path, t) in &self.transfers {
            let (links, limit, _) = &self.paths[*path];
            let (link, level) = (arbiter.holder(t.class).link, follower.level(t.class));
            assert!(level <= *limit && (link.is_none() && level == *limit || links.contains(&link)));
        }
    }
}

#[test]
fn shares_are_followed_and_converge_within_few_updates() {
    for seed in 0..150 {
        for peaks in [false, true] {
            let shares = Case::random(seed).run(peaks, |case, shares: &Shares, follower| {
                case.is_fair(shares, follower);
                for (_, t) in &case.transfers {
                    let class = &shares.classes[t.class as usize];
                    let link = &shares.links[shares.bundles[class.bundle as usize].link as usize];
                    assert_eq!(follower.level(t.class), link.share);
                }
            });
            assert!(shares.most_updates() <= 16, "{} updates of one link", shares.most_updates());
        }
    }
}

#[test]
fn layers_are_followed_and_the_first_is_max_min() {
    for seed in 0..150 {
        Case::random(seed).run(true, |case, layers: &Layers, follower| case.is_fair(layers, follower));
    }
}

/// The share of a class, recomputed: equal parts of each link, or its limit.
fn equal_share(case: &Case, path: &Terms) -> Level {
    let on =
        |link: &LinkId| case.transfers.iter().filter(|(path, _)| case.paths[*path].0.contains(link)).count() as u64;
    path.0.iter().map(|link| case.capacities[link.index()] / on(link)).fold(path.1, Level::min)
}

#[test]
fn equal_parts_are_followed() {
    for seed in 0..300 {
        let mut case = Case::random(seed);
        case.weights = 1;
        case.run(seed % 2 == 0, |case, parts: &Parts, follower| {
            for (path, t) in &case.transfers {
                let terms = &case.paths[*path];
                assert_eq!(follower.level(t.class), equal_share(case, terms), "class {}", t.class);
                let holder = parts.holder(t.class);
                let own = if holder.link.is_none() { terms.1 } else { equal_share(case, &(vec![holder.link], INF, 0)) };
                assert_eq!(own, equal_share(case, terms), "what holds class {} back", t.class);
            }
        });
    }
}

/// The least of capacities and limit for whoever came first on all links of its path, nothing for the others.
#[test]
fn lines_are_followed() {
    for seed in 0..300 {
        let mut case = Case::random(seed);
        case.weights = 1;
        case.run(seed % 2 == 0, |case, lines: &Lines, follower| {
            for (at, (path, t)) in case.transfers.iter().enumerate() {
                if !case.is_first(at) {
                    continue;
                }
                let (links, limit, _) = &case.paths[*path];
                let shares = |&(path, _): &(usize, WeightChange)| links.iter().any(|l| case.paths[path].0.contains(l));
                let waits = case.transfers[..at].iter().any(shares);
                let alone = links.iter().map(|link| case.capacities[link.index()]).fold(*limit, Level::min);
                assert_eq!(follower.level(t.class), if waits { 0 } else { alone }, "class {}", t.class);
                let holder = lines.holder(t.class);
                assert_eq!(holder.cause == Cause::Waiting, waits, "class {}: {holder:?}", t.class);
            }
        });
    }
}

/// What a link has carried at most, and whether it was full, as the loads say.
fn peaks_are_the_largest_loads<I: IncrementalPlugin>(most_weight: u64) {
    for seed in 0..100 {
        let peaks = std::cell::RefCell::new(Vec::new());
        let mut case = Case::random(seed);
        case.weights = most_weight;
        let arbiter: I = case.run(true, |case, _, follower| {
            let mut peaks = peaks.borrow_mut();
            peaks.resize(case.capacities.len(), 0);
            for (peak, load) in peaks.iter_mut().zip(case.loads(follower)) {
                *peak = load.max(*peak);
            }
        });
        for (link, &peak) in peaks.borrow().iter().enumerate() {
            let reported = arbiter.link_use(LinkId::from_index(link), SimTime(100));
            let (reported, capacity) =
                (u128::from(reported.peak.expect("peaks are kept")), u128::from(case.capacities[link]));
            // A full link carries its capacity but for rounding, a unit per unit of weight.
            assert!(
                reported == peak || reported == capacity && capacity - peak < 2000,
                "{reported}, not {peak} on {link}"
            );
        }
    }
}

#[test]
fn peaks_of_shares_are_the_largest_loads() {
    peaks_are_the_largest_loads::<Shares>(5);
}

#[test]
fn peaks_of_parts_are_the_largest_loads() {
    peaks_are_the_largest_loads::<Parts>(1);
}

/// Of classes that wait nothing counts: the one that is served has the link.
#[test]
fn peaks_of_lines_are_the_largest_loads() {
    peaks_are_the_largest_loads::<Lines>(1);
}
