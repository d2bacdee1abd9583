//! Beside exact rationals, with everything recomputed after every event.

mod cases;
mod invariants;
mod twin;

use std::collections::BTreeMap;

use super::events::Gone;
use super::numbers::Scale;
use super::state::Shares;
use cases::{Case, Offer};

/// Adds the links and classes of a case; the class of each transfer.
fn build(case: &Case, scale: Scale, shares: &mut Shares) -> Vec<u32> {
    let links: Vec<u32> = case.capacities.iter().map(|&c| shares.add_link(scale.units(c as f64))).collect();
    let (mut limits, mut classes) = (BTreeMap::new(), BTreeMap::new());
    let mut class_of = |offer: &Offer| {
        let level = offer.limit.map(|limit| scale.units(limit as f64) / u64::from(offer.weight));
        let mut on: Vec<u32> = offer.route.iter().map(|&l| links[l]).collect();
        on.extend(level.map(|level| *limits.entry(level).or_insert_with(|| shares.add_limit(level))));
        *classes.entry(on.clone()).or_insert_with(|| shares.add_class(&on))
    };
    case.offers.iter().map(&mut class_of).collect()
}

/// Runs a case, with quiet links or without; the ends by transfer. Invariants are checked after every event where asked.
fn run(case: &Case, sleepy: bool, checked: bool) -> Vec<u64> {
    let widest = case.capacities.iter().copied().fold(0, u64::max) as f64;
    let scale = Scale::new(widest, 1 << 24, &[1.0]).expect("it fits");
    let mut shares = Shares::default();
    if sleepy {
        shares.allow_sleep();
    }
    let classes = build(case, scale, &mut shares);
    let (mut ends, mut gone) = (vec![0; case.offers.len()], Vec::<Gone>::new());
    let mut next = 0;
    loop {
        let start = case.offers.get(next).map_or(u64::MAX, |o| o.start);
        let now = start.min(shares.next_end());
        if now == u64::MAX {
            break;
        }
        shares.take_ended(now, &mut gone);
        for g in gone.drain(..) {
            ends[g.id as usize] = now;
        }
        while let Some(offer) = case.offers.get(next).filter(|o| o.start == now) {
            shares.admit(now, next as u32, classes[next], offer.weight, scale.work(offer.bytes, offer.weight));
            next += 1;
        }
        shares.settle(now);
        if checked {
            shares.check();
        }
    }
    assert_eq!(shares.active(), 0);
    assert!(shares.most_updates() <= 16, "{} updates of one link", shares.most_updates());
    ends
}

/// Ends that differ from the exact ones; none by more than a picosecond or two.
fn compare(case: &Case) -> usize {
    let (ours, exact) = (run(case, false, true), twin::ends(case));
    assert_eq!(ours.len(), exact.len());
    let sleepy = run(case, true, true);
    for (i, (&a, &b)) in sleepy.iter().zip(&exact).enumerate() {
        assert!(a.abs_diff(b) <= 2, "with quiet links, transfer {i} of {case:?} ends at {a}, not {b}");
    }
    for (i, (&a, &b)) in ours.iter().zip(&exact).enumerate() {
        assert!(a.abs_diff(b) <= 2, "transfer {i} of {case:?} ends at {a}, not {b}");
    }
    ours.iter().zip(&exact).filter(|(a, b)| a != b).count()
}

#[test]
fn ends_are_the_exact_ones() {
    let (mut all, mut differ) = (0, 0);
    for seed in 0..cases::COUNT {
        let case = Case::random(seed);
        all += case.offers.len();
        differ += compare(&case);
    }
    println!("{differ} of {all} ends differ by rounding");
    assert!(differ * 500 <= all, "{differ} of {all} ends differ");
}

#[test]
fn the_same_calls_give_the_same_ends() {
    for seed in 0..20 {
        let case = Case::random(seed);
        for sleepy in [false, true] {
            assert_eq!(run(&case, sleepy, false), run(&case, sleepy, false));
        }
    }
}

#[test]
fn larger_cases_keep_every_sum() {
    for seed in 0..6 {
        let case = Case::large(seed);
        let (awake, sleepy) = (run(&case, false, true), run(&case, true, true));
        let furthest = awake.iter().zip(&sleepy).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(furthest <= Some(2), "ends differ by {furthest:?} ps");
    }
}
