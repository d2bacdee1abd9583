//! The slow twin of `max-min` and `strict-priority`: plain progressive filling in exact rationals.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use weir_plugin_api::LinkId;
use weir_sim_core::Fabric;

use super::Phase;

fn exact(x: f64) -> BigRational {
    BigRational::from_float(x).expect("a finite number")
}

/// A quotient of big integers as f64, correct to a few units in the last place.
pub fn approximate(x: &BigRational) -> f64 {
    let (n, d) = (x.numer(), x.denom());
    let shift = 80 - (n.bits() as i64 - d.bits() as i64);
    let (n, d) = if shift > 0 { (n << shift as u64, d.clone()) } else { (n.clone(), d << (-shift) as u64) };
    let q: BigInt = n / d;
    let value: f64 = q.to_string().parse().expect("digits");
    value * 2_f64.powi(-shift as i32)
}

/// Raises all levels together; at each round, settles those whose link or limit is reached.
fn fill(capacity: &BTreeMap<LinkId, BigRational>, phase: &Phase, members: &[usize]) -> BTreeMap<usize, BigRational> {
    let zero = exact(0.0);
    let mut fixed: BTreeMap<usize, BigRational> = BTreeMap::new();
    while fixed.len() < members.len() {
        let open: Vec<usize> = members.iter().copied().filter(|c| !fixed.contains_key(c)).collect();
        let weight = |c: usize| exact(phase.transfers[c].weight);
        let level = |l: &LinkId| {
            let on = |c: &&usize| phase.links(**c).contains(l);
            let used = members.iter().filter(on).filter_map(|c| fixed.get(c)).fold(zero.clone(), |a, r| a + r);
            let weights = open.iter().filter(on).fold(zero.clone(), |a, &c| a + weight(c));
            (&capacity[l] - used) / weights
        };
        let levels: BTreeMap<LinkId, BigRational> =
            open.iter().flat_map(|&c| phase.links(c)).map(|&l| (l, level(&l))).collect();
        let limits = open.iter().filter(|&&c| phase.transfers[c].limit.is_finite());
        let own: BTreeMap<usize, BigRational> =
            limits.map(|&c| (c, exact(phase.transfers[c].limit) / weight(c))).collect();
        let lowest = levels.values().chain(own.values()).min().expect("every route has links").clone();
        for c in open {
            let reached = own.get(&c) == Some(&lowest) || phase.links(c).iter().any(|l| levels[l] == lowest);
            if reached {
                fixed.insert(c, &lowest * weight(c));
            }
        }
    }
    fixed
}

fn capacities(fabric: &Fabric, phase: &Phase) -> BTreeMap<LinkId, BigRational> {
    let used = (0..phase.len()).flat_map(|c| phase.links(c));
    used.map(|&l| (l, exact(fabric.link(l).bandwidth))).collect()
}

/// The weighted max-min allocation.
pub fn max_min(fabric: &Fabric, phase: &Phase) -> Vec<f64> {
    let members: Vec<usize> = (0..phase.len()).collect();
    fill(&capacities(fabric, phase), phase, &members).values().map(approximate).collect()
}

/// Max-min per priority, highest first, over what is left; a remainder ≤ 1e-9 of the bandwidth counts as 0.
pub fn strict_priority(fabric: &Fabric, phase: &Phase) -> Vec<f64> {
    let mut left = capacities(fabric, phase);
    let mut classes: BTreeMap<std::cmp::Reverse<i64>, Vec<usize>> = BTreeMap::new();
    for c in 0..phase.len() {
        classes.entry(std::cmp::Reverse(phase.transfers[c].priority)).or_default().push(c);
    }
    let mut rates = vec![0.0; phase.len()];
    for members in classes.values() {
        for (c, rate) in fill(&left, phase, members) {
            rates[c] = approximate(&rate);
            for l in phase.links(c) {
                *left.get_mut(l).expect("a used link") -= &rate;
            }
        }
        for (l, rest) in &mut left {
            if *rest <= exact(1e-9) * exact(fabric.link(*l).bandwidth) {
                *rest = exact(0.0);
            }
        }
    }
    rates
}
