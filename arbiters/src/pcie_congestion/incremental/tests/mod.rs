//! Random changes; each rate beside the rate arbiter's after each.

mod case;
mod loads;

use weir_plugin_api::{LinkId, NO_LEVEL, NodeKind};

use super::Counters;
use super::subtrees::FEW;
use case::{Both, Dice, Tree};

/// What random trees have.
#[derive(Clone, Copy)]
struct Wanted {
    nodes: u64,
    /// Further root complexes.
    inner_root_complexes: bool,
    limits: bool,
    /// Links up are never narrower than those below.
    wider_upwards: bool,
    /// Links beside the tree.
    laterals: bool,
    /// So many connected transfers go the old way.
    few: u32,
}

const BANDWIDTHS: [f64; 4] = [12e9, 8e9, 16e9, 25e9];

fn random_tree(dice: &mut Dice, wanted: Wanted) -> (Tree, f64) {
    let nodes = 3 + dice.below(wanted.nodes - 2);
    let (equal, deep) = (dice.below(2) == 0, dice.below(3));
    let mut parent = vec![0];
    for node in 1..nodes {
        let least = if deep == 0 { node.saturating_sub(3) } else { 0 };
        let most = if deep == 1 { node.div_ceil(3) } else { node };
        parent.push((least + dice.below(most.max(least + 1) - least)) as u32);
    }
    let tau = [0.0, 0.2, 21.0 / 121.0, 0.4][dice.below(4) as usize];
    let mut kinds = vec![[NodeKind::Switch, NodeKind::RootComplex][dice.below(2) as usize]];
    for node in 1..nodes as u32 {
        let is_leaf = !parent[1..].contains(&node);
        kinds.push(match (is_leaf, dice.below(5)) {
            (true, 0) => NodeKind::Cpu,
            (true, _) => NodeKind::Gpu,
            (false, 0) if wanted.inner_root_complexes => NodeKind::RootComplex,
            _ => NodeKind::Switch,
        });
    }
    let mut bandwidths: Vec<(f64, f64)> = Vec::new();
    for _ in 0..nodes {
        let mut one = || match (equal, dice.below(3)) {
            (true, _) => BANDWIDTHS[0],
            (_, 0) => BANDWIDTHS[0] * (0.5 + dice.part()),
            _ => BANDWIDTHS[dice.below(4) as usize],
        };
        bandwidths.push((one(), one()));
    }
    if wanted.wider_upwards {
        for node in (1..nodes as usize).rev() {
            let above = parent[node] as usize;
            bandwidths[above].0 = bandwidths[above].0.max(bandwidths[node].0);
        }
    }
    let mut tree = Tree::new(parent, kinds, &bandwidths);
    for _ in 0..if wanted.laterals { 1 + dice.below(4) } else { 0 } {
        let (from, to) = (dice.below(nodes) as u32, dice.below(nodes) as u32);
        if from != to {
            tree.join(from, to, BANDWIDTHS[dice.below(4) as usize] * 2.0);
            tree.join(to, from, BANDWIDTHS[dice.below(4) as usize] * 2.0);
        }
    }
    (tree, tau)
}

/// A route over a lateral link where there is one, as a rule; else through the tree.
fn any_route(tree: &Tree, dice: &mut Dice, wanted: Wanted, from: u32, to: u32) -> Vec<LinkId> {
    let mut over = if wanted.laterals { tree.lateral_routes(from, to) } else { Vec::new() };
    if over.is_empty() || dice.below(4) == 0 {
        return tree.route(from, to);
    }
    let at = dice.below(over.len() as u64);
    over.swap_remove(at as usize)
}

/// What was compared, and how often each way was taken.
#[derive(Debug, Default)]
struct Sum {
    events: u64,
    rates: u64,
    worst: f64,
    counters: Counters,
}

/// Random events on random trees.
fn run(seeds: std::ops::Range<u64>, wanted: Wanted) -> Sum {
    let mut sum = Sum::default();
    for seed in seeds {
        let mut dice = Dice::new(seed);
        let (tree, tau) = random_tree(&mut dice, wanted);
        let mut both = Both::new(&tree, &format!("{{\"tau\": {tau}}}"));
        both.side.few = wanted.few;
        let nodes = tree.parent.len() as u64;
        let inner = dice.below(2) == 0;
        let ends: Vec<u32> = if inner { (0..nodes as u32).collect() } else { tree.leaves() };
        if ends.len() < 2 {
            continue;
        }
        let is_local = dice.below(3) == 0;
        let hot = ends[dice.below(ends.len() as u64) as usize];
        let aim = 2 + dice.below(40) as usize;
        let mut transfers: Vec<u32> = Vec::new();
        for event in 0..45 {
            for _ in 0..[1, 1, 1, 3][dice.below(4) as usize] {
                if dice.below(2 * aim as u64) < transfers.len() as u64 {
                    both.end(transfers.swap_remove(dice.below(transfers.len() as u64) as usize));
                }
            }
            for _ in 0..[1, 1, 1, 8][dice.below(4) as usize] {
                let from = ends[dice.below(ends.len() as u64) as usize];
                let to = if dice.below(4) == 0 { hot } else { ends[dice.below(ends.len() as u64) as usize] };
                // A near one, so that parts of the tree keep to themselves.
                let near = ends
                    .iter()
                    .copied()
                    .find(|&end| end != from && tree.parent[end as usize] == tree.parent[from as usize]);
                let to = if is_local && dice.below(8) > 0 { near.unwrap_or(to) } else { to };
                if from != to && dice.below(2 * aim as u64) >= transfers.len() as u64 {
                    let limit = if wanted.limits && dice.below(40) == 0 { (1 + dice.below(8)) << 50 } else { NO_LEVEL };
                    transfers.push(both.begin(&any_route(&tree, &mut dice, wanted, from, to), limit));
                }
            }
            both.settle();
            both.compare(&|| format!("seed {seed}, event {event}"));
            sum.events += 1;
        }
        sum.rates += both.rates;
        sum.worst = sum.worst.max(both.worst);
        sum.counters += both.side.counters;
    }
    println!("{sum:?}");
    sum
}

#[test]
fn every_rate_after_every_event_is_the_rate_arbiters() {
    let plain =
        Wanted { nodes: 32, inner_root_complexes: false, limits: false, wider_upwards: true, laterals: false, few: 0 };
    let Counters { fast, asked, awake, classes, descents, bases, raised, specials, .. } = run(0..400, plain).counters;
    assert!(asked == 0 && fast > 10_000, "the fast way serves all: {fast}, {asked}");
    for ways in [awake, classes, descents, bases, raised, specials] {
        assert!(ways > 2_000, "each way is taken: {ways}");
    }
    let narrow = run(1000..1400, Wanted { wider_upwards: false, ..plain }).counters;
    assert!(narrow.asked > 1_000 && narrow.fast > 2 * narrow.asked, "classes are clamped now and then: {narrow:?}");
    let inner = run(2000..2400, Wanted { inner_root_complexes: true, ..plain }).counters;
    assert!(inner.asked == 0 && inner.specials > 2_000);
    let limited = Wanted { inner_root_complexes: true, limits: true, wider_upwards: false, ..plain };
    let limited = run(3000..3200, limited).counters;
    assert!(limited.asked > 1_000 && limited.fast > 1_000, "limits come and go: {limited:?}");
    let beside = Wanted { inner_root_complexes: true, laterals: true, ..plain };
    let beside = run(4000..4600, beside).counters;
    assert!(beside.asked == 0 && beside.fast > 10_000 && beside.laterals > 2_000, "lateral links are cut: {beside:?}");
    let narrow = Wanted { inner_root_complexes: true, laterals: true, limits: true, wider_upwards: false, ..plain };
    let narrow = run(5000..5300, narrow).counters;
    assert!(narrow.asked > 1_000 && narrow.fast > 1_000, "the rate arbiter is asked now and then: {narrow:?}");
    for (seeds, laterals, few) in [(6000..6300, false, 3), (6300..6600, true, 8), (6600..6900, false, 20)] {
        let mixed = run(seeds, Wanted { inner_root_complexes: true, laterals, few, ..plain }).counters;
        assert!(mixed.asked > 1_000 && mixed.fast > 1_000, "subtrees grow and shrink: {mixed:?}");
    }
}

#[test]
#[ignore = "minutes"]
fn every_rate_on_many_trees() {
    let plain =
        Wanted { nodes: 32, inner_root_complexes: false, limits: false, wider_upwards: true, laterals: false, few: 0 };
    run(10_000..22_000, plain);
    run(30_000..36_000, Wanted { wider_upwards: false, ..plain });
    run(40_000..52_000, Wanted { inner_root_complexes: true, ..plain });
    run(60_000..64_000, Wanted { inner_root_complexes: true, limits: true, wider_upwards: false, ..plain });
    run(70_000..82_000, Wanted { inner_root_complexes: true, laterals: true, ..plain });
    for few in 1..20 {
        let first = 100_000 + 1_000 * u64::from(few);
        run(first..first + 600, Wanted { inner_root_complexes: true, laterals: few % 2 == 0, few, ..plain });
    }
}

/// The levels of classes after the same transfers have come in another order, and others have come and gone.
fn levels_after(both: &mut Both, routes: &[Vec<LinkId>], order: &[usize], disturb: &mut Dice) -> Vec<u64> {
    // Ids of classes are those of the routes in both runs.
    let classes: Vec<u32> = routes.iter().map(|route| both.new_class(route, NO_LEVEL)).collect();
    for (number, &at) in order.iter().enumerate() {
        both.add(classes[at]);
        let passing = order[disturb.below(number as u64 + 1) as usize];
        if disturb.below(2) == 0 {
            both.add(classes[passing]);
            both.settle();
            both.end(classes[passing]);
        }
        if disturb.below(2) == 0 {
            both.settle();
        }
    }
    both.settle();
    classes.iter().map(|&class| both.level(class)).collect()
}

/// Rates are a function of the active classes, to the bit: whatever was before, and however few links are awake.
#[test]
fn the_same_transfers_have_the_same_levels_however_they_came() {
    let wanted =
        Wanted { nodes: 32, inner_root_complexes: true, limits: false, wider_upwards: true, laterals: false, few: 0 };
    for seed in 0..600 {
        let wanted = Wanted { laterals: seed >= 300, few: [0, 0, 5, 20][seed as usize % 4], ..wanted };
        let mut dice = Dice::new(seed);
        let (tree, tau) = random_tree(&mut dice, wanted);
        let nodes = tree.parent.len() as u64;
        let (mut pairs, mut routes) = (Vec::new(), Vec::new());
        for _ in 0..2 + dice.below(40) {
            let (from, to) = (dice.below(nodes) as u32, dice.below(nodes) as u32);
            if from != to && !pairs.contains(&(from, to)) {
                pairs.push((from, to));
                routes.push(any_route(&tree, &mut dice, wanted, from, to));
            }
        }
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        let both = || {
            let mut both = Both::new(&tree, &format!("{{\"tau\": {tau}}}"));
            both.side.few = wanted.few;
            both
        };
        let levels = levels_after(&mut both(), &routes, &order, &mut Dice::new(seed));
        for at in (1..order.len()).rev() {
            order.swap(at, dice.below(at as u64 + 1) as usize);
        }
        assert_eq!(levels, levels_after(&mut both(), &routes, &order, &mut dice), "seed {seed}");
    }
}

/// The rate arbiter is asked for what is connected with a change: hosts 1 to 6 below one switch. 1→2 and 3→2 share the link
/// down to 2; 4→5 and 6→5 that to 5; 2→4 shares nothing. 1→5 shares the links up from 1 and down to 5, so it connects the
/// former four.
#[test]
fn only_what_is_connected_with_a_change_is_asked_for() {
    let tree = Tree::regular(&[6], 1.0);
    let mut both = Both::new(&tree, "{}");
    both.side.few = FEW;
    let mut begin = |pairs: &[(u32, u32)]| {
        let classes: Vec<u32> = pairs.iter().map(|&(from, to)| both.begin(&tree.route(from, to), NO_LEVEL)).collect();
        both.settle();
        both.compare(&|| format!("{pairs:?}"));
        let mut asked = both.side.subtrees.asked.clone();
        asked.sort_unstable();
        (classes, asked)
    };
    let (first, asked) = begin(&[(1, 2), (3, 2)]);
    assert_eq!(asked, first);
    let (second, asked) = begin(&[(4, 5), (6, 5)]);
    assert_eq!(asked, second);
    let (alone, asked) = begin(&[(2, 4)]);
    assert_eq!(asked, alone);
    let (last, asked) = begin(&[(1, 5)]);
    assert_eq!(asked, [first, second, last].concat());
}

/// Hosts 3 to 6 below the first of two switches send to each of the hosts 7 to 10 below the other one; the link between the
/// switches carries half of what they would. Classes of a host hang below one node: where it is cut and blocked by nobody, one
/// level is told for all four.
#[test]
fn classes_of_a_source_share_its_level() {
    let tree = Tree::regular(&[2, 4], 2.0);
    let mut both = Both::new(&tree, "{}");
    let mut classes = Vec::new();
    for (from, to) in (3..7).flat_map(|from| (7..11).map(move |to| (from, to))) {
        classes.push(both.begin(&tree.route(from, to), NO_LEVEL));
        both.settle();
        both.compare(&|| format!("{from} to {to}"));
    }
    // One transfer less of one host: the shares of all change.
    both.end(classes.pop().expect("16"));
    both.settle();
    both.compare(&|| "the last has ended".to_owned());
    let told: Vec<u32> = both.answer.levels.iter().map(|level| level.root).collect();
    assert!(!told.is_empty() && told.len() <= 5 && told.iter().all(|root| !classes.contains(root)), "{told:?}");
    assert!(both.answer.hung.iter().all(|hang| !classes.contains(&hang.node)), "{:?}", both.answer.hung);
}

/// A transfer that shares no link has the rate that the rate arbiter gives it alone.
#[test]
fn a_lone_transfer_has_the_rate_arbiters_rate() {
    let wanted =
        Wanted { nodes: 32, inner_root_complexes: true, limits: false, wider_upwards: false, laterals: false, few: 0 };
    let mut reduced = 0;
    for seed in 0..300 {
        let mut dice = Dice::new(seed);
        let (tree, tau) = random_tree(&mut dice, wanted);
        let nodes = tree.parent.len() as u64;
        for _ in 0..20 {
            let (from, to) = (dice.below(nodes) as u32, dice.below(nodes) as u32);
            if from == to {
                continue;
            }
            let mut both = Both::new(&tree, &format!("{{\"tau\": {tau}}}"));
            let limit = if dice.below(3) == 0 { (1 + dice.below(16)) << 50 } else { NO_LEVEL };
            let route = tree.route(from, to);
            let alone = both.alone(&route, limit);
            both.begin(&route, limit);
            let rate = both.expected(&[0]).0[0];
            assert!((alone - rate).abs() <= 1e-12 * rate, "{alone}, not {rate}: seed {seed}");
            reduced += u32::from(both.is_reduced);
        }
    }
    assert!(reduced > 100, "root complexes are crossed: {reduced}");
}
