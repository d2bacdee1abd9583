//! Exact search against all placements, one by one; bisection against exact search.

use crate::placement_support::{Below, fabric, fabric_of, link};
use proptest::prelude::*;
use weir_optimize::placement::{Effort, Machine, Measured, Options, Pattern, objective, search};
use weir_optimize::search::Method;
use weir_sim_core::{LinkSpec, Routes};

/// Trees of up to `most` devices, some deep, some wide.
fn trees(most: u32) -> impl Strategy<Value = Below> {
    let leaf = Just(Below::Device);
    let tree = leaf.prop_recursive(3, most, 4, |inner| prop::collection::vec(inner, 1..=4).prop_map(Below::Node));
    prop::collection::vec(tree, 2..=3).prop_map(Below::Node)
}

fn messages(ranks: usize) -> impl Strategy<Value = Vec<(usize, usize, u64)>> {
    prop::collection::vec((0..ranks, 0..ranks, 1..5_u64), 0..3 * ranks)
}

/// The first best placement in lexicographic order, by trying them all.
fn brute(pattern: &Pattern, cost: &dyn Fn(usize, usize) -> f64, devices: usize) -> (Vec<usize>, f64) {
    fn go(
        at: &mut Vec<usize>,
        ranks: usize,
        devices: usize,
        best: &mut (Vec<usize>, f64),
        value: &dyn Fn(&[usize]) -> f64,
    ) {
        if at.len() == ranks {
            let v = value(at);
            if v < best.1 {
                *best = (at.clone(), v);
            }
            return;
        }
        for d in 0..devices {
            if !at.contains(&d) {
                at.push(d);
                go(at, ranks, devices, best, value);
                at.pop();
            }
        }
    }
    let value = |p: &[usize]| {
        let edges = pattern.edges().iter();
        edges.map(|&(u, v, b)| b as f64 / 2.0 * cost(p[u as usize], p[v as usize])).sum()
    };
    let mut best = (Vec::new(), f64::INFINITY);
    go(&mut Vec::new(), pattern.ranks(), devices, &mut best, &value);
    best
}

/// A tree, a seed, a number of ranks, messages, latencies of links.
type Case = (Below, u64, usize, Vec<(usize, usize, u64)>, Vec<u64>);

/// A tree of 2 to `most` devices, the order of its devices, messages among some ranks, latencies of links.
fn cases(most: usize) -> impl Strategy<Value = Case> {
    let count = |tree: &Below| fabric(tree, &[1]).1.len();
    let sized = trees(most as u32).prop_filter("too large or too small", move |t| (2..=most).contains(&count(t)));
    sized.prop_flat_map(move |tree| {
        let devices = count(&tree);
        (devices.saturating_sub(3).max(1)..=devices).prop_flat_map(move |ranks| {
            (Just(tree.clone()), any::<u64>(), Just(ranks), messages(ranks), prop::collection::vec(0..4_u64, 5))
        })
    })
}

/// The devices in a seeded order: positions in the list need not follow the tree.
fn shuffled<T>(mut items: Vec<T>, mut seed: u64) -> Vec<T> {
    for i in (1..items.len()).rev() {
        items.swap(i, (seed % (i as u64 + 1)) as usize);
        seed = seed.rotate_right(7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    items
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Levels with any costs (also closer ones dearer): the proof holds and the placement is the smallest of the best.
    #[test]
    fn exact_is_the_best_of_all((tree, seed, ranks, messages, latencies) in cases(7), costs in prop::collection::vec(0..9_u32, 5)) {
        let (fabric, devices) = fabric(&tree, &latencies);
        let devices = shuffled(devices, seed);
        let pattern = Pattern::new(ranks, messages, 1).unwrap();
        let costs: Vec<f64> = costs.into_iter().map(f64::from).collect();
        let machine = Machine::distance(&fabric, &devices, Some(&costs)).unwrap();
        let found = search(&pattern, &machine, Options { method: Method::Exhaustive, ..Options::default() }).unwrap();
        let best = brute(&pattern, &|a, b| machine.cost(a, b), devices.len());
        prop_assert_eq!((found.placement, found.after), best);
    }

    /// Latencies of links that all differ are no levels, but exact all the same.
    #[test]
    fn exact_for_latencies((tree, seed, ranks, messages, latencies) in cases(6)) {
        let (fabric, devices) = fabric(&tree, &latencies);
        let devices = shuffled(devices, seed);
        let pattern = Pattern::new(ranks, messages, 1).unwrap();
        let machine = Machine::latency(&fabric, &devices).unwrap();
        prop_assert!(machine.is_tree());
        let found = search(&pattern, &machine, Options { method: Method::Exhaustive, ..Options::default() }).unwrap();
        let farthest = (0..devices.len()).flat_map(|a| (0..a).map(move |b| (a, b))).map(|(a, b)| machine.cost(a, b)).fold(0.0, f64::max);
        prop_assert!(farthest == 0.0 || (farthest - 1.0).abs() < 1e-12);
        // Whole picoseconds keep the twin's sums exact: undo the division by the farthest pair's latency.
        let mut routes = weir_sim_core::Routes::new();
        let mut latency = vec![0; devices.len() * devices.len()];
        for a in 0..devices.len() {
            for b in (0..devices.len()).filter(|&b| b != a) {
                let route = routes.between(&fabric, devices[a], devices[b]).unwrap();
                latency[a * devices.len() + b] = routes.latency(route).0;
            }
        }
        let (placement, least) = brute(&pattern, &|a, b| latency[a * devices.len() + b] as f64, devices.len());
        prop_assert_eq!(&found.placement, &placement);
        let most = latency.iter().copied().max().unwrap_or(0).max(1) as f64;
        prop_assert!((found.after - least / most).abs() <= 1e-12 * least);
    }

    /// Bandwidths of links over 12 orders of magnitude: what is proved is the least of all within 1e-9, and both values are
    /// those of the costs themselves, to the rounding of their sums.
    #[test]
    fn exact_for_bandwidths((tree, seed, ranks, messages, _) in cases(6), drawn in prop::collection::vec((0..12, 1.0..10.0_f64), 9)) {
        let bandwidths = drawn.into_iter().map(|(power, times)| times * 10_f64.powi(power));
        let (fabric, devices) = fabric_of(&tree, bandwidths.map(|b| LinkSpec { up: b, down: b, ..link(0) }).collect());
        let devices = shuffled(devices, seed);
        let pattern = Pattern::new(ranks, messages, 1).unwrap();
        let mut routes = Routes::new();
        let mut narrowest = |a: usize, b: usize| {
            let route = routes.between(&fabric, devices[a], devices[b]).unwrap();
            routes.links(route).iter().map(|&l| fabric.link(l).bandwidth).fold(f64::INFINITY, f64::min)
        };
        let n = devices.len();
        let bandwidth: Vec<f64> = (0..n * n).map(|at| if at / n == at % n { f64::INFINITY } else { narrowest(at / n, at % n) }).collect();
        let least = bandwidth.iter().copied().fold(f64::INFINITY, f64::min);
        let cost = |a: usize, b: usize| least / bandwidth[a * n + b];
        let machine = Machine::bandwidth(&fabric, &devices).unwrap();
        let found = search(&pattern, &machine, Options { method: Method::Exhaustive, ..Options::default() }).unwrap();
        let own = |placement: &[usize]| -> f64 {
            pattern.edges().iter().map(|&(u, v, b)| b as f64 / 2.0 * cost(placement[u as usize], placement[v as usize])).sum()
        };
        let baseline: Vec<usize> = (0..ranks).collect();
        prop_assert!((found.before - own(&baseline)).abs() <= 1e-13 * found.before);
        prop_assert!((found.after - own(&found.placement)).abs() <= 1e-13 * found.after);
        let best = brute(&pattern, &cost, n).1;
        prop_assert!(found.proved_optimal && found.after <= best * (1.0 + 1e-9), "{} of {best}", found.after);
    }

    /// Trees of up to 16 devices: never better than exact, a bijection, never worse than the baseline; the value is right.
    #[test]
    fn bisection_beside_exact((tree, seed, ranks, messages, latencies) in cases(16)) {
        let (fabric, devices) = fabric(&tree, &latencies);
        let devices = shuffled(devices, seed);
        let pattern = Pattern::new(ranks, messages, 1).unwrap();
        for machine in [Machine::distance(&fabric, &devices, None).unwrap(), Machine::latency(&fabric, &devices).unwrap()] {
            let exact = search(&pattern, &machine, Options::default()).unwrap();
            prop_assert!(exact.proved_optimal);
            let found = search(&pattern, &machine, Options { method: Method::Bisection, seed, ..Options::default() }).unwrap();
            let slack = 1e-12 * exact.before;
            prop_assert!(exact.after <= found.after + slack && found.after <= found.before + slack);
            prop_assert_eq!(exact.before, found.before);
            for result in [&exact, &found] {
                let value = objective(&pattern, &machine, &result.placement).unwrap();
                prop_assert!((value - result.after).abs() <= slack);
            }
        }
    }

    /// Trees of up to 8 devices: with enough kicks bisection finds what is proved.
    #[test]
    fn thorough_bisection_is_exact_on_eight((tree, seed, ranks, messages, latencies) in cases(8)) {
        let (fabric, devices) = fabric(&tree, &latencies);
        let devices = shuffled(devices, seed);
        let pattern = Pattern::new(ranks, messages, 1).unwrap();
        let machine = Machine::distance(&fabric, &devices, None).unwrap();
        let exact = search(&pattern, &machine, Options::default()).unwrap();
        let options = Options { method: Method::Bisection, effort: Some(Effort::THOROUGH), seed, ..Options::default() };
        prop_assert_eq!(search(&pattern, &machine, options).unwrap().after, exact.after);
    }

    /// Beyond exact search: a device of its own for each rank, never worse than the baseline, and the value is right.
    #[test]
    fn larger_placements_are_valid(sizes in prop::collection::vec(2..6_usize, 2..4), extra in 0..9_usize, seed in any::<u64>(), drawn in prop::collection::vec((0..1000_usize, 0..1000_usize, 1..9_u64), 0..200)) {
        let mut below = vec![Below::regular(&sizes), Below::regular(&sizes)];
        below.extend((0..extra).map(|_| Below::Device));
        let (fabric, devices) = fabric(&Below::Node(below), &[1]);
        let devices = shuffled(devices, seed);
        let ranks = devices.len() - extra.min(3);
        let messages = drawn.into_iter().map(|(from, to, bytes)| (from % ranks, to % ranks, bytes));
        let pattern = Pattern::new(ranks, messages, 1).unwrap();
        let machine = Machine::distance(&fabric, &devices, None).unwrap();
        let found = search(&pattern, &machine, Options { method: Method::Bisection, seed, ..Options::default() }).unwrap();
        let mut used = found.placement.clone();
        used.sort_unstable();
        used.dedup();
        prop_assert!(used.len() == ranks && used.iter().all(|&device| device < devices.len()));
        prop_assert!(found.after <= found.before);
        prop_assert_eq!(objective(&pattern, &machine, &found.placement), Ok(found.after));
    }

    /// Measured costs without a tree: with enough kicks the best of all is found on six devices.
    #[test]
    fn matrices(values in prop::collection::vec(1..20_u32, 36), messages in messages(6)) {
        let rows: Vec<Vec<f64>> = values.chunks(6).map(|row| row.iter().map(|&v| f64::from(v)).collect()).collect();
        let machine = Machine::measured(&rows, Measured::Cost).unwrap();
        let pattern = Pattern::new(6, messages, 1).unwrap();
        let options = Options { method: Method::Bisection, effort: Some(Effort::THOROUGH), ..Options::default() };
        let found = search(&pattern, &machine, options).unwrap();
        let mean = |a: usize, b: usize| if a == b { 0.0 } else { f64::midpoint(rows[a][b], rows[b][a]) };
        let best = brute(&pattern, &mean, 6);
        prop_assert_eq!(found.after, best.1);
        prop_assert_eq!(objective(&pattern, &machine, &found.placement), Ok(found.after));
        // Of 6! placements none is counted twice.
        prop_assert!((1..=720).contains(&found.evaluated));
        let exact = search(&pattern, &machine, Options { method: Method::Exhaustive, ..Options::default() }).unwrap();
        prop_assert!(exact.proved_optimal && (machine.is_tree() || exact.evaluated == 720));
        prop_assert_eq!((exact.placement, exact.after), best);
    }
}
