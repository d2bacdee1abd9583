//! Fast arbiters against slow twins on random fabrics.

use crate::common::random::{Case, cases};
use crate::common::{Phase, Transfer, assert_close, board_tree, make, pcie_twin, rates, rational_twin};
use proptest::prelude::*;
use weir_plugin_api::{LinkId, NodeKind};

/// The transfers whose routes `pcie-congestion` admits.
fn admitted(case: &Case, params: &str) -> Vec<Transfer> {
    let mut arbiter = make("pcie-congestion", &case.fabric, params);
    let all = Phase::new(&case.fabric, &case.transfers);
    (0..all.len()).filter(|&p| arbiter.admit(all.links(p)).is_ok()).map(|p| all.transfers[p]).collect()
}

fn check_pcie(case: &Case, tau: f64, hol: bool) {
    let params = format!(r#"{{"tau": {tau}, "hol": {hol}}}"#);
    let transfers = admitted(case, &params);
    if transfers.is_empty() {
        return;
    }
    let phase = Phase::new(&case.fabric, &transfers);
    let routes: Vec<Vec<LinkId>> = (0..phase.len()).map(|p| phase.links(p).to_vec()).collect();
    let limits: Vec<f64> = transfers.iter().map(|t| t.limit).collect();
    let slow = pcie_twin::rates(&case.fabric, tau, hol, &routes, &limits);
    let mut arbiter = make("pcie-congestion", &case.fabric, &params);
    assert_close(&rates(&mut *arbiter, &phase), &slow, 1e-12);
}

fn tau() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(0.2), Just(21.0 / 121.0), 0.0..0.499_f64]
}

/// Sixty transfers settle one after the other at their limits; the last, of small weight, gets a small remainder. Plain
/// sums lose a thousand roundings there.
#[test]
fn max_min_keeps_small_remainders_exact() {
    let (fabric, gpus) = board_tree(NodeKind::Switch, &[2, 64], 11.6e9);
    let mut transfers: Vec<Transfer> = (0..60)
        .map(|i| {
            let weight = 1.0 + 0.137 * f64::from(i % 7);
            let limit = 0.19e9 + 1.234_567_89e3 * f64::from(i);
            Transfer { weight, limit, ..Transfer::new(gpus[i as usize], gpus[64 + i as usize]) }
        })
        .collect();
    transfers.push(Transfer { weight: 0.001, ..Transfer::new(gpus[60], gpus[124]) });
    transfers.push(Transfer { weight: 0.0013, ..Transfer::new(gpus[61], gpus[125]) });
    transfers.iter_mut().take(60).for_each(|t| t.limit *= 1.0 + 1.0 / 60.0 - 1e-6);
    let phase = Phase::new(&fabric, &transfers);
    let mut arbiter = make("max-min", &fabric, "{}");
    assert_close(&rates(&mut *arbiter, &phase), &rational_twin::max_min(&fabric, &phase), 1e-13);
}

/// What a higher priority leaves is used down to 1e-9 of the bandwidth (docs/arbiters.md).
#[test]
fn strict_priority_uses_small_remainders() {
    let (fabric, gpus) = board_tree(NodeKind::Switch, &[2, 2], 1e9);
    let mut arbiter = make("strict-priority", &fabric, "{}");
    for (left, expected) in [(0.5e6, 0.5e6), (10.0, 10.0), (0.5, 0.0)] {
        let first = Transfer { limit: 1e9 - left, priority: 1, ..Transfer::new(gpus[0], gpus[2]) };
        let phase = Phase::new(&fabric, &[first, Transfer::new(gpus[1], gpus[3])]);
        let found = rates(&mut *arbiter, &phase);
        assert!((found[1] - expected).abs() <= 1e-6 * expected, "{left}: {found:?}");
    }
}

/// Limits that fit together leave a link alone; the smallest excess does not.
#[test]
fn max_min_sees_a_small_excess_of_limits() {
    let (fabric, gpus) = board_tree(NodeKind::Switch, &[2, 2], 1e9);
    let mut arbiter = make("max-min", &fabric, "{}");
    for (first, second, expected) in [(0.6e9, 0.4e9, 0.6e9), (0.6e9, 0.400_001e9, 0.599_999e9)] {
        let limited = |a: usize, b: usize, limit| Transfer { limit, ..Transfer::new(gpus[a], gpus[b]) };
        let phase = Phase::new(&fabric, &[limited(0, 2, first), limited(1, 3, second)]);
        assert_close(&rates(&mut *arbiter, &phase), &[expected, second], 1e-15);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn pcie_congestion_equals_its_twin(case in cases(10, 10, 0), tau in tau()) {
        check_pcie(&case, tau, true);
    }

    #[test]
    fn pcie_congestion_without_blocking_equals_its_twin(case in cases(12, 12, 1), tau in tau()) {
        check_pcie(&case, tau, false);
    }

    #[test]
    fn pcie_congestion_with_lateral_links_equals_its_twin(case in cases(14, 14, 3), tau in tau()) {
        check_pcie(&case, tau, true);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn pcie_congestion_equals_its_twin_on_larger_trees(case in cases(40, 60, 2), tau in tau()) {
        check_pcie(&case, tau, true);
    }

    #[test]
    fn max_min_equals_exact_rationals(case in cases(30, 64, 2)) {
        let phase = Phase::new(&case.fabric, &case.transfers);
        let mut arbiter = make("max-min", &case.fabric, "{}");
        assert_close(&rates(&mut *arbiter, &phase), &rational_twin::max_min(&case.fabric, &phase), 1e-12);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn max_min_equals_exact_rationals_on_small_trees(case in cases(8, 16, 1)) {
        let phase = Phase::new(&case.fabric, &case.transfers);
        let mut arbiter = make("max-min", &case.fabric, "{}");
        assert_close(&rates(&mut *arbiter, &phase), &rational_twin::max_min(&case.fabric, &phase), 1e-12);
    }

    #[test]
    fn strict_priority_equals_exact_rationals(case in cases(12, 20, 1)) {
        let phase = Phase::new(&case.fabric, &case.transfers);
        let mut arbiter = make("strict-priority", &case.fabric, "{}");
        let slow = rational_twin::strict_priority(&case.fabric, &phase);
        let fast = rates(&mut *arbiter, &phase);
        // What a higher class leaves is known to the rounding of its rates, an absolute error on the link.
        for (position, (f, s)) in fast.iter().zip(&slow).enumerate() {
            let widest = phase.links(position).iter().map(|&l| case.fabric.link(l).bandwidth).fold(0.0, f64::max);
            prop_assert!((f - s).abs() <= 1e-12 * s + 1e-14 * widest, "transfer {position}: {fast:?} {slow:?}");
        }
    }

    #[test]
    fn equal_share_equals_its_definition(case in cases(16, 40, 2)) {
        let phase = Phase::new(&case.fabric, &case.transfers);
        let on = |l: LinkId| (0..phase.len()).filter(|&p| phase.links(p).contains(&l)).count() as f64;
        let expected: Vec<f64> = (0..phase.len())
            .map(|p| {
                let shares = phase.links(p).iter().map(|&l| case.fabric.link(l).bandwidth / on(l));
                shares.fold(phase.transfers[p].limit, f64::min)
            })
            .collect();
        let mut arbiter = make("equal-share", &case.fabric, "{}");
        prop_assert_eq!(rates(&mut *arbiter, &phase), expected);
    }

    #[test]
    fn fcfs_equals_its_definition(case in cases(16, 24, 2)) {
        let phase = Phase::new(&case.fabric, &case.transfers);
        let rank = |p: usize| (phase.transfers[p].arrival, p);
        let share = |a: usize, b: usize| phase.links(a).iter().any(|l| phase.links(b).contains(l));
        let expected: Vec<f64> = (0..phase.len())
            .map(|p| {
                let waits = (0..phase.len()).any(|q| rank(q) < rank(p) && share(p, q));
                let full = phase.links(p).iter().map(|&l| case.fabric.link(l).bandwidth).fold(f64::INFINITY, f64::min);
                if waits { 0.0 } else { full.min(phase.transfers[p].limit) }
            })
            .collect();
        let mut arbiter = make("fcfs", &case.fabric, "{}");
        prop_assert_eq!(rates(&mut *arbiter, &phase), expected);
    }
}
