//! The slow and obvious twin: progressive filling in exact rationals at every event; ends rounded up to ticks.

use num_bigint::BigInt;
use num_rational::BigRational;
use weir_plugin_api::PS_PER_S;

use super::cases::Case;

fn exact(x: u64) -> BigRational {
    BigRational::from_integer(BigInt::from(x))
}

/// Rates of the active transfers, per second: one priority after the other over what is left, or all as one.
fn rates(case: &Case, active: &[usize], by_priority: bool) -> Vec<BigRational> {
    let mut rates: Vec<Option<BigRational>> = vec![None; active.len()];
    let priority = |i: usize| if by_priority { case.offers[active[i]].priority } else { 0 };
    let mut priorities: Vec<i64> = (0..active.len()).map(priority).collect();
    priorities.sort_unstable_by_key(|&p| std::cmp::Reverse(p));
    priorities.dedup();
    for now in priorities {
        fill(case, active, &mut rates, &|i| priority(i) == now);
    }
    rates.into_iter().flatten().collect()
}

/// Progressive filling of those that belong, over what the others with rates leave.
fn fill(case: &Case, active: &[usize], rates: &mut [Option<BigRational>], belongs: &dyn Fn(usize) -> bool) {
    let weight = |i: usize| exact(u64::from(case.offers[active[i]].weight));
    while (0..rates.len()).any(|i| rates[i].is_none() && belongs(i)) {
        let mut levels: Vec<(BigRational, Vec<usize>)> = Vec::new();
        for (link, &capacity) in case.capacities.iter().enumerate() {
            let on: Vec<usize> = (0..active.len()).filter(|&i| case.offers[active[i]].route.contains(&link)).collect();
            let used: BigRational = on.iter().filter_map(|&i| rates[i].clone()).sum();
            let open: Vec<usize> = on.into_iter().filter(|&i| rates[i].is_none() && belongs(i)).collect();
            if !open.is_empty() {
                let total: BigRational = open.iter().map(|&i| weight(i)).sum();
                levels.push(((exact(capacity) - used) / total, open));
            }
        }
        for i in (0..active.len()).filter(|&i| rates[i].is_none() && belongs(i)) {
            levels.extend(case.offers[active[i]].limit.map(|limit| (exact(limit) / weight(i), vec![i])));
        }
        let least = levels.iter().map(|(level, _)| level.clone()).min().expect("someone is open");
        for i in levels.into_iter().filter(|(level, _)| *level == least).flat_map(|(_, open)| open) {
            rates[i] = Some(&least * weight(i));
        }
    }
}

fn whole(x: &BigRational) -> u64 {
    u64::try_from(x.ceil().to_integer()).expect("in range")
}

/// The end of every transfer, rounded up to ticks, of which a second has so many.
pub(super) fn ends(case: &Case, by_priority: bool, ticks: u64) -> Vec<u64> {
    let start_of = |i: usize| case.offers[i].start * (ticks / PS_PER_S);
    let mut left: Vec<BigRational> = case.offers.iter().map(|o| exact(o.bytes)).collect();
    let (mut ends, mut active) = (vec![0; left.len()], Vec::new());
    let (mut now, mut next) = (0, 0);
    while next < left.len() || !active.is_empty() {
        let rates = rates(case, &active, by_priority);
        let moves = active.iter().zip(&rates).filter(|(_, rate)| **rate > exact(0));
        let spans = moves.map(|(&i, rate): (&usize, _)| whole(&(&left[i] / rate * exact(ticks))));
        let end = spans.min().map_or(u64::MAX, |span| now + span);
        let instant = end.min(if next < left.len() { start_of(next) } else { u64::MAX });
        let span = exact(instant - now) / exact(ticks);
        for (&i, rate) in active.iter().zip(&rates) {
            left[i] -= rate * &span;
        }
        now = instant;
        active.retain(|&i| {
            let ended = left[i] <= exact(0);
            if ended {
                ends[i] = now;
            }
            !ended
        });
        while next < left.len() && start_of(next) == now {
            active.push(next);
            next += 1;
        }
    }
    ends
}
