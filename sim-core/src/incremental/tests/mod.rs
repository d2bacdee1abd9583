//! Beside exact rationals, with everything recomputed after every event.

mod cases;
mod faults;
mod invariants;
mod nested;
mod twin;

use std::collections::BTreeMap;

use weir_arbiters::{Layers, Shares};
use weir_plugin_api::{CallError, IncrementalArbiter, IncrementalPlugin, LinkId, PS_PER_S, Setting};

use crate::fabric::Fabric;

use super::clocks::Clocks;
use super::events::Gone;
use super::numbers::{INF, Scale};
use cases::{Case, Offer};

/// Adds the links and paths of a case; the path of each transfer.
fn build(case: &Case, scale: Scale, clocks: &mut Clocks, arbiter: &dyn IncrementalArbiter) -> Vec<u32> {
    for (link, &capacity) in case.capacities.iter().enumerate() {
        clocks.add_link(LinkId::from_index(link), scale.units(capacity as f64));
    }
    let mut paths = BTreeMap::new();
    let mut path_of = |offer: &Offer| {
        let limit = offer.limit.map_or(INF, |limit| scale.units(limit as f64) / u64::from(offer.weight));
        let priority = offer.priority;
        *paths
            .entry((offer.route.clone(), limit, priority))
            .or_insert_with(|| clocks.add_path(offer.route.iter().map(|&l| l as u32), limit, priority, arbiter))
    };
    case.offers.iter().map(&mut path_of).collect()
}

/// How a case is run.
#[derive(Clone, Copy)]
struct How {
    /// With quiet links.
    sleepy: bool,
    /// Whether transfers that share no link are left to the clocks.
    alone: bool,
    /// Whether everything is recomputed after every event.
    checked: bool,
}

/// The scale of a case with so many ticks per second, and its capacities in units.
fn scaled(case: &Case, ticks: u64) -> (Scale, Vec<u64>) {
    let widest = case.capacities.iter().copied().fold(0, u64::max) as f64;
    let scale = Scale::ticking(ticks, widest, 1 << 24, &[1.0]).expect("it fits");
    (scale, case.capacities.iter().map(|&c| scale.units(c as f64)).collect())
}

/// An instance for a case.
fn create<A: IncrementalPlugin>(case: &Case, ticks: u64, wants_peaks: bool) -> A {
    let capacities = scaled(case, ticks).1;
    // The policies here do not look at the fabric.
    let fabric = Fabric::default();
    let classes = case.offers.len() as u32;
    let setting = Setting {
        fabric: fabric.view(),
        capacities: &capacities,
        shared: 0,
        links: 0,
        classes,
        priorities: 3,
        bits: 30,
        wants_peaks,
    };
    A::create(&setting, "{}").expect("it needs nothing")
}

/// Runs a case under max-min; the ends by transfer.
fn run(case: &Case, how: How) -> Vec<u64> {
    let mut shares: Shares = create(case, PS_PER_S, !how.sleepy);
    run_under((case, PS_PER_S), &mut shares, how.alone, |clocks, shares| {
        if how.checked {
            shares.verify().expect("shares are right");
            clocks.check(shares);
            clocks.check_max_min(shares);
        }
    })
}

/// Runs a case; the ends by transfer, in ticks of which a second has so many. `check` is called after every event.
fn run_under<A: IncrementalArbiter>(
    (case, ticks): (&Case, u64),
    arbiter: &mut A,
    alone: bool,
    check: impl Fn(&mut Clocks, &A),
) -> Vec<u64> {
    let ran = try_run((case, ticks), arbiter, alone, check);
    let (ends, active) = ran.expect("the arbiter is right");
    assert_eq!(active, 0);
    ends
}

/// As [`run_under`], as long as the answers are accepted; the ends, and how many transfers were active in the end.
fn try_run<A: IncrementalArbiter>(
    (case, ticks): (&Case, u64),
    arbiter: &mut A,
    alone: bool,
    check: impl Fn(&mut Clocks, &A),
) -> Result<(Vec<u64>, usize), CallError> {
    let (scale, mut clocks) = (scaled(case, ticks).0, Clocks::with_room(case.capacities.len(), 0, case.offers.len()));
    clocks.may_be_alone = alone;
    let paths = build(case, scale, &mut clocks, arbiter);
    let (mut ends, mut gone) = (vec![0; case.offers.len()], Vec::<Gone>::new());
    let mut next = 0;
    let start_of = |offer: &Offer| offer.start * (ticks / PS_PER_S);
    loop {
        let start = case.offers.get(next).map_or(u64::MAX, start_of);
        let now = start.min(clocks.next_end());
        if now == u64::MAX {
            return Ok((ends, clocks.active()));
        }
        clocks.take_ended(now, arbiter, &mut gone);
        for g in gone.drain(..) {
            ends[g.id as usize] = now;
        }
        while let Some(offer) = case.offers.get(next).filter(|o| start_of(o) == now) {
            clocks.admit(now, next as u32, paths[next], offer.weight, scale.work(offer.bytes, offer.weight));
            next += 1;
        }
        clocks.arbitrate(now, arbiter)?;
        check(&mut clocks, arbiter);
    }
}

/// All ways to run a case, checked.
fn ways() -> impl Iterator<Item = How> {
    let both = [false, true];
    both.into_iter().flat_map(move |sleepy| both.map(|alone| How { sleepy, alone, checked: true }))
}

/// Ends that differ from the exact ones, by the way in which most do; none by more than a picosecond or two.
fn compare(case: &Case) -> usize {
    let exact = twin::ends(case, false, PS_PER_S);
    let count = |how: How| {
        let ours = run(case, how);
        assert_eq!(ours.len(), exact.len());
        for (i, (&a, &b)) in ours.iter().zip(&exact).enumerate() {
            assert!(a.abs_diff(b) <= 2, "transfer {i} of {case:?} ends at {a}, not {b} (quiet links: {})", how.sleepy);
        }
        ours.iter().zip(&exact).filter(|(a, b)| a != b).count()
    };
    ways().map(count).max().unwrap_or(0)
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
        for how in ways() {
            let how = How { checked: false, ..how };
            assert_eq!(run(&case, how), run(&case, how));
        }
    }
}

#[test]
fn larger_cases_keep_every_sum() {
    for seed in 0..6 {
        let case = Case::large(seed);
        let all: Vec<Vec<u64>> = ways().map(|how| run(&case, how)).collect();
        for other in &all[1..] {
            let furthest = all[0].iter().zip(other).map(|(a, b)| a.abs_diff(*b)).max();
            assert!(furthest <= Some(2), "ends differ by {furthest:?} ps");
        }
    }
}

/// One priority after the other, beside exact rationals. A starved transfer makes much of a picosecond, so ends may differ
/// by as many as there are events.
#[test]
fn priorities_are_served_one_after_the_other() {
    let (mut all, mut differ) = (0, 0);
    for seed in 0..cases::COUNT {
        let case = Case::random(seed);
        let exact = twin::ends(&case, true, PS_PER_S);
        for alone in [false, true] {
            let mut layers: Layers = create(&case, PS_PER_S, true);
            let ours = run_under((&case, PS_PER_S), &mut layers, alone, |clocks, layers| {
                clocks.check(layers);
                layers.verify().expect("every priority is right");
            });
            let slack = 2 * case.offers.len() as u64;
            all += ours.len();
            differ += ours.iter().zip(&exact).filter(|(a, b)| a.abs_diff(**b) > slack).count();
        }
    }
    println!("{differ} of {all} ends differ by more than rounding");
    assert!(differ * 500 <= all, "{differ} of {all} ends differ");
}

/// What is left of the distance to exact rationals is the picosecond that ends are rounded up to: with a thousandth of it, a
/// thousandth is left.
#[test]
fn the_distance_to_exact_ends_is_the_tick() {
    const ATTOSECONDS: u64 = 1_000_000 * PS_PER_S;
    let (mut distance, mut count) = ([0.0, 0.0], 0);
    for seed in 0..cases::COUNT / 4 {
        let case = Case::random(seed);
        let exact = twin::ends(&case, false, ATTOSECONDS);
        count += exact.len();
        for (sum, ticks) in distance.iter_mut().zip([PS_PER_S, 1000 * PS_PER_S]) {
            let mut shares: Shares = create(&case, ticks, true);
            let ours = run_under((&case, ticks), &mut shares, true, |_, _| ());
            let tick = ATTOSECONDS / ticks;
            *sum += ours.iter().zip(&exact).map(|(a, b)| (a * tick).abs_diff(*b) as f64).sum::<f64>();
        }
    }
    let [ps, fs] = distance.map(|sum| sum / count as f64 / 1e6);
    println!("mean distance {ps} ps, with femtoseconds {fs} ps");
    assert!(ps < 2.0 && fs < ps / 500.0, "{ps} ps, {fs} ps");
}
