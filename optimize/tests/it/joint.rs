//! Searches over orders, placements and values together, beside nested loops.

use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use weir_optimize::joint::{Candidate, Evaluate, JointFound, LocalSearch, Space, visit_all};

/// Values from a table by a mixture of all of a candidate; some candidates have none.
struct Mixed {
    seed: u64,
    /// One of so many candidates has no value; 0 for none.
    holes: u64,
}

impl Mixed {
    fn of(&self, candidate: &Candidate) -> Option<f64> {
        let all = candidate.order.iter().flatten().chain(&candidate.placement).chain(&candidate.values);
        let hash =
            all.fold(self.seed, |hash, &part| (hash ^ part as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
        (self.holes == 0 || !hash.is_multiple_of(self.holes)).then_some(((hash >> 40) % 1000) as f64)
    }
}

impl Evaluate for Mixed {
    type State = ();
    type Error = String;

    fn start(&self) {}

    fn value(&self, (): &mut (), candidate: &Candidate) -> Result<Option<f64>, String> {
        Ok(self.of(candidate))
    }
}

/// All orders of the numbers below `n`, in lexicographic order.
fn permutations(n: usize, most: usize) -> Vec<Vec<usize>> {
    if most == 0 {
        return vec![Vec::new()];
    }
    let begin = permutations(n, most - 1);
    let longer = |head: &Vec<usize>| {
        let free: Vec<usize> = (0..n).filter(|i| !head.contains(i)).collect();
        free.into_iter().map(|next| [head.as_slice(), &[next]].concat()).collect::<Vec<_>>()
    };
    begin.iter().flat_map(longer).collect()
}

/// Every combination of one of each list.
fn combinations(lists: &[Vec<Vec<usize>>]) -> Vec<Vec<Vec<usize>>> {
    lists.iter().fold(vec![Vec::new()], |all, list| {
        let longer = |head: &Vec<Vec<usize>>| {
            list.iter().map(|last| [head.as_slice(), std::slice::from_ref(last)].concat()).collect::<Vec<_>>()
        };
        all.iter().flat_map(longer).collect()
    })
}

/// The slow twin: values, placements, orders, one in another.
fn nested(space: &Space, mixed: &Mixed) -> (Option<(f64, Candidate)>, u64) {
    let values: Vec<Vec<Vec<usize>>> = space.axes.iter().map(|&n| (0..n).map(|i| vec![i]).collect()).collect();
    let orders: Vec<Vec<Vec<usize>>> = space.sources.iter().map(|&n| permutations(n, n)).collect();
    let (mut best, mut evaluated): (Option<(f64, Candidate)>, u64) = (None, 0);
    for values in combinations(&values) {
        for placement in permutations(space.devices, space.ranks) {
            for order in combinations(&orders) {
                let candidate = Candidate { order, placement: placement.clone(), values: values.concat() };
                let Some(value) = mixed.of(&candidate) else { continue };
                evaluated += 1;
                if best.as_ref().is_none_or(|(least, _)| value < *least) {
                    best = Some((value, candidate));
                }
            }
        }
    }
    (best, evaluated)
}

fn spaces() -> impl Strategy<Value = Space> {
    let sources = prop::collection::vec(0..4_usize, 0..3);
    let axes = prop::collection::vec(1..4_usize, 0..3);
    (sources, 0..4_usize, 0..2_usize, axes).prop_map(|(sources, ranks, free, axes)| Space {
        sources,
        ranks,
        devices: ranks + free,
        axes,
    })
}

fn local(space: &Space, mixed: &Mixed, limit: u64, seed: u64, starts: &[Candidate]) -> Option<JointFound> {
    let cancel = &AtomicBool::new(false);
    LocalSearch { space, evaluate: mixed, starts, bound: None, limit: Some(limit), seed, cancel }
        .run()
        .expect("no error")
}

proptest! {
    #[test]
    fn all_candidates_are_those_of_nested_loops(space in spaces(), seed: u64, holes in 0..5_u64) {
        let mixed = Mixed { seed, holes };
        let mut seen = Vec::new();
        let found = visit_all(&space, &mixed, &AtomicBool::new(false), |value| seen.push(value)).expect("no error");
        let (best, evaluated) = nested(&space, &mixed);
        prop_assert_eq!(Some(seen.len() as u128), space.candidates());
        prop_assert_eq!(seen.iter().flatten().count() as u64, evaluated);
        let expected = best.map(|(value, candidate)| JointFound { candidate, value, evaluated, all: true, complete: true });
        prop_assert_eq!(found, expected);
    }

    /// Never worse than where it begins, within its limit, and the same again; a value is that of its candidate.
    #[test]
    fn local_search_is_not_worse_than_its_start(
        space in spaces(), seed: u64, holes in 0..5_u64, limit in 1..300_u64, at: u64,
    ) {
        let mixed = Mixed { seed, holes };
        let all = space.candidates().expect("few");
        let start = space.candidate(u128::from(at) % all);
        let found = local(&space, &mixed, limit, seed, std::slice::from_ref(&start));
        if let Some(value) = mixed.of(&start) {
            prop_assert!(found.as_ref().expect("the start has a value").value <= value);
        }
        if let Some(found) = &found {
            prop_assert!(found.complete && found.evaluated <= limit);
            prop_assert_eq!(mixed.of(&found.candidate), Some(found.value));
        }
        prop_assert_eq!(found, local(&space, &mixed, limit, seed, &[start]));
    }
}

/// Six sources with three pairs of transfers each, and a barrier between pairs: other orders contradict it. What costs is the
/// second of a pair before the first.
struct Pairs;

impl Evaluate for Pairs {
    type State = ();
    type Error = String;

    fn start(&self) {}

    fn value(&self, (): &mut (), candidate: &Candidate) -> Result<Option<f64>, String> {
        let pairs = || candidate.order.iter().flat_map(|order| order.chunks(2).enumerate());
        let is_candidate = pairs().all(|(at, pair)| pair.iter().all(|item| item / 2 == at));
        Ok(is_candidate.then(|| pairs().filter(|(_, pair)| pair[0] > pair[1]).count() as f64))
    }
}

/// One order in 90 of a source keeps the barriers, and they alone are tried.
#[test]
fn orders_that_contradict_a_wait_take_no_tries() {
    let space = Space { sources: vec![6; 6], ..Space::default() };
    let start = Candidate { order: vec![vec![1, 0, 3, 2, 5, 4]; 6], ..Candidate::default() };
    for seed in 0..5 {
        let cancel = &AtomicBool::new(false);
        let starts = std::slice::from_ref(&start);
        let search =
            LocalSearch { space: &space, evaluate: &Pairs, starts, bound: Some(0.0), limit: Some(4000), seed, cancel };
        assert_eq!(search.run().expect("no error").expect("the start has a value").value, 0.0, "seed {seed}");
    }
}

/// Every place in an order, every rank and every value costs something of its own, so that single moves lead on.
struct Separate(u64);

impl Evaluate for Separate {
    type State = ();
    type Error = String;

    fn start(&self) {}

    fn value(&self, (): &mut (), candidate: &Candidate) -> Result<Option<f64>, String> {
        let all = candidate.order.iter().flatten().chain(&candidate.placement).chain(&candidate.values);
        let cost = |(place, &part): (usize, &usize)| {
            let hash = (self.0 + 1 + 31 * place as u64 + 1009 * part as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (hash >> 40) % 1000
        };
        Ok(Some(all.enumerate().map(cost).sum::<u64>() as f64))
    }
}

/// 3! · 4 · 3 · 2 · 3 candidates: every seed finds the best with some thousand moves.
#[test]
fn local_search_finds_the_best_of_a_small_space() {
    let space = Space { sources: vec![3], ranks: 3, devices: 4, axes: vec![3] };
    let never = &AtomicBool::new(false);
    for seed in 0..20 {
        let evaluate = &Separate(seed);
        let best = visit_all(&space, evaluate, never, |_| ()).expect("no error").expect("a result");
        let starts = &[space.first()][..];
        let local =
            LocalSearch { space: &space, evaluate, starts, bound: None, limit: Some(8_000), seed, cancel: never };
        let found = local.run().expect("no error").expect("a result");
        assert_eq!(found.value, best.value);
        // Each candidate counts once.
        assert!(found.evaluated <= 432 && found.complete && found.all == (found.evaluated == 432), "{found:?}");
    }
}

/// A search that is told what cannot be undercut ends there; one whose bound is wrong does not.
#[test]
fn local_search_ends_at_its_bound() {
    let space = Space { sources: vec![4], ranks: 4, devices: 5, axes: vec![5] };
    let (evaluate, never) = (&Separate(3), &AtomicBool::new(false));
    let least = visit_all(&space, evaluate, never, |_| ()).expect("no error").expect("a result").value;
    let starts = &[space.first()][..];
    let with = |bound| {
        let local = LocalSearch { space: &space, evaluate, starts, bound, limit: Some(20_000), seed: 1, cancel: never };
        local.run().expect("no error").expect("a result")
    };
    let (free, bounded, wrong) = (with(None), with(Some(least)), with(Some(least * 1.5 + 0.25)));
    assert_eq!((free.value, bounded.value, wrong.value), (least, least, least));
    assert!(bounded.evaluated < free.evaluated && bounded.complete && !bounded.all, "{bounded:?} {free:?}");
    assert_eq!(wrong.evaluated, free.evaluated);
}

/// Two candidates are two, however often they are tried.
#[test]
fn candidates_count_once() {
    let space = Space { axes: vec![2], ..Space::default() };
    let mixed = Mixed { seed: 1, holes: 0 };
    let found = local(&space, &mixed, 10_000, 0, &[space.first()]).expect("a result");
    assert_eq!((found.evaluated, found.all), (2, true));
}

#[test]
fn the_same_on_any_number_of_threads() {
    let space = Space { sources: vec![5, 4, 6], ranks: 6, devices: 8, axes: vec![4, 9] };
    let mixed = Mixed { seed: 7, holes: 3 };
    let starts: Vec<Candidate> = (0..3).map(|i| space.candidate(i * 12_345)).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| local(&space, &mixed, 3_000, 5, &starts))
    };
    let one = on(1).expect("a result");
    assert!(one.value < starts.iter().filter_map(|start| mixed.of(start)).fold(1000.0, f64::min));
    assert_eq!(Some(&one), on(2).as_ref());
    assert_eq!(Some(one), on(7));
}

/// Ends with the best so far when it is told to, or with nothing; an error names itself.
#[test]
fn ends_early() {
    struct Ending<'a>(&'a AtomicBool, u64);
    impl Evaluate for Ending<'_> {
        type State = u64;
        type Error = String;

        fn start(&self) -> u64 {
            0
        }

        fn value(&self, state: &mut u64, _: &Candidate) -> Result<Option<f64>, String> {
            *state += 1;
            if *state > self.1 {
                self.0.store(true, Ordering::Relaxed);
                return Err("cut off".to_owned());
            }
            Ok(Some(10.0 - *state as f64))
        }
    }
    let space = Space { sources: vec![5], ..Space::default() };
    let start = [space.candidate(0)];
    let run = |most| {
        let cancel = &AtomicBool::new(false);
        LocalSearch {
            space: &space,
            evaluate: &Ending(cancel, most),
            starts: &start,
            bound: None,
            limit: None,
            seed: 0,
            cancel,
        }
        .run()
    };
    let found = run(3).expect("no error").expect("a result");
    assert!(!found.complete && found.value < 10.0);
    assert_eq!(run(0), Ok(None));

    struct Failing;
    impl Evaluate for Failing {
        type State = ();
        type Error = String;

        fn start(&self) {}

        fn value(&self, (): &mut (), candidate: &Candidate) -> Result<Option<f64>, String> {
            if candidate.order[0][0] == 0 { Ok(Some(1.0)) } else { Err(format!("{:?}", candidate.order[0])) }
        }
    }
    let never = &AtomicBool::new(false);
    let local = LocalSearch {
        space: &space,
        evaluate: &Failing,
        starts: &start,
        bound: None,
        limit: None,
        seed: 0,
        cancel: never,
    };
    assert!(local.run().is_err());
    // The first of those that do not begin with 0.
    assert_eq!(visit_all(&space, &Failing, never, |_| ()), Err("[1, 0, 2, 3, 4]".to_owned()));
}
