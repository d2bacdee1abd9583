//! What the changes of a scenario save, said in seconds, in picoseconds and in per cent.

use weir_plugin_api::SimTime;

use super::Consistent;
use super::amounts::{above, differ, found, other};
use super::run::unequal;
use crate::what_if::{Change, WhatIf, WhatIfBound, saved};

impl Consistent for WhatIf {
    fn contradiction(&self) -> Option<String> {
        let of = SimTime(self.makespan_ps);
        unequal("makespan", Some(self.makespan_s), Some(self.makespan_ps))
            .or_else(|| found("changes", &self.changes, |change| of_change(change, of)))
            .or_else(|| of_order(&self.changes))
            .or_else(|| Some(format!("bound: {}", of_bound(self.bound.as_ref()?, of)?)))
    }
}

/// A makespan, and what it saves of another: seconds and per cent.
type Saved = (f64, u64, f64, f64);

fn of_saved((makespan_s, makespan_ps, saved_s, saved_percent): Saved, of: SimTime) -> Option<String> {
    let (expected_s, expected_percent) = saved(of, SimTime(makespan_ps));
    unequal("makespan", Some(makespan_s), Some(makespan_ps))
        .or_else(|| other("saved_s", Some(saved_s), Some(expected_s)))
        .or_else(|| other("saved_percent", Some(saved_percent), Some(expected_percent)))
}

fn of_change(change: &Change, of: SimTime) -> Option<String> {
    let Change { makespan_s, makespan_ps, saved_s, saved_percent, cost, saved_s_per_cost, factor, .. } = *change;
    let none = [("factor", factor), ("cost", cost)].into_iter().find(|(_, number)| number.is_some_and(|n| n <= 0.0));
    let of_cost = || other("saved_s_per_cost", saved_s_per_cost, cost.map(|cost| saved_s / cost));
    none.map(|(key, number)| format!("{key}: {}", number.unwrap_or_default()))
        .or_else(|| of_saved((makespan_s, makespan_ps, saved_s, saved_percent), of))
        .or_else(of_cost)
}

/// The best first: by what is saved over its cost, those without one last, by their makespans.
fn of_order(changes: &[Change]) -> Option<String> {
    let is_better = |pair: &[Change]| match (pair[0].saved_s_per_cost, pair[1].saved_s_per_cost) {
        (Some(first), Some(then)) => then > first && differ(then, first),
        (None, None) => pair[1].makespan_ps < pair[0].makespan_ps,
        (first, _) => first.is_none(),
    };
    let i = changes.windows(2).position(is_better)?;
    Some(format!("changes[{}]: it is better than the one before it", i + 1))
}

/// The parts of the critical path are all of it.
fn of_bound(bound: &WhatIfBound, of: SimTime) -> Option<String> {
    let WhatIfBound { makespan_s, makespan_ps, saved_s, saved_percent, .. } = *bound;
    let parts = [bound.computing_s, bound.limited_s, bound.transfers_s, bound.waiting_s];
    let sum: f64 = parts.iter().sum();
    let is_off = parts.iter().any(|&part| above(0.0, part)) || differ(sum, makespan_s);
    of_saved((makespan_s, makespan_ps, saved_s, saved_percent), of)
        .or_else(|| is_off.then(|| format!("its parts are {sum} s of {makespan_s} s")))
}
