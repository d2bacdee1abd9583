//! What a search says of its candidates: values that contradict each other, counts of more than there are, an order that is
//! none.
//!
//! Only what every method keeps is compared: annealing evaluates a candidate twice, a baseline may be no candidate, and
//! what is known of all before the end of a search is of those that it has visited.

use weir_optimize::placement::payback;
use weir_optimize::search::{Method, Objective, PERCENTILES};

use super::amounts::{ROOM, above, differ, found};
use super::run::{orphan, twice, unequal};
use super::{Consistent, flows, rows};
use crate::json::{List, SearchJson};
use crate::schemas::Amount;

impl Consistent for SearchJson<'_> {
    fn contradiction(&self) -> Option<String> {
        let lacks = || self.lacks().map(|key| format!("missing field `{key}`"));
        lacks()
            .or_else(|| of_stopped(self))
            .or_else(|| of_keys(self))
            .or_else(|| of_times(self))
            .or_else(|| of_bound(self))
            .or_else(|| of_statistics(self))
            .or_else(|| of_counts(self))
            .or_else(|| rows::contradiction(self))
            .or_else(|| of_curve(self))
            .or_else(|| of_histogram(self))
            .or_else(|| of_payback(self))
            .or_else(|| of_places(self))
    }
}

/// A value under its key of the two that there are for it, one for makespans and one for other objectives.
type Valued = (&'static str, f64);

fn valued(own: (&'static str, Option<Amount>), time: (&'static str, Option<Amount>)) -> Option<Valued> {
    [own, time].into_iter().find_map(|(key, value)| Some((key, value?.0)))
}

pub(super) fn best(search: &SearchJson<'_>) -> Option<Valued> {
    valued(("best", search.best), ("best_s", search.best_s))
}

fn worst(search: &SearchJson<'_>) -> Option<Valued> {
    valued(("worst", search.worst), ("worst_s", search.worst_s))
}

/// A baseline that stops before its end has no value.
fn of_stopped(search: &SearchJson<'_>) -> Option<String> {
    search.baseline_stopped.as_ref()?;
    let values = [
        ("baseline", search.baseline.is_some()),
        ("baseline_s", search.baseline_s.is_some()),
        ("baseline_ps", search.baseline_ps.is_some()),
    ];
    let (key, _) = values.into_iter().find(|&(_, is_there)| is_there)?;
    Some(format!("{key}: the baseline stops before its end, and has none"))
}

/// Values of the objective stand under the keys of that.
fn of_keys(search: &SearchJson<'_>) -> Option<String> {
    let own = [
        ("bound", search.bound.is_some()),
        ("baseline", search.baseline.is_some()),
        ("best", search.best.is_some()),
        ("median", search.median.is_some()),
        ("mean", search.mean.is_some()),
        ("worst", search.worst.is_some()),
        ("percentiles", search.percentiles.is_some()),
    ];
    let of_makespans = [
        ("bound_s", search.bound_s.is_some()),
        ("median_s", search.median_s.is_some()),
        ("mean_s", search.mean_s.is_some()),
        ("worst_s", search.worst_s.is_some()),
        ("worst_ps", search.worst_ps.is_some()),
        ("percentiles_s", search.percentiles_s.is_some()),
    ];
    let objective = search.objective;
    let others = if objective == Objective::Makespan { &own[..] } else { &of_makespans };
    let (key, _) = others.iter().find(|(_, is_there)| *is_there)?;
    Some(format!("{key}: the objective is `{}`, whose values have other keys", objective.word()))
}

/// The two of each makespan are one.
fn of_times(search: &SearchJson<'_>) -> Option<String> {
    let same = |what: &str, seconds: Option<Amount>, ps: Option<u64>| unequal(what, seconds.map(|time| time.0), ps);
    same("baseline", search.baseline_s, search.baseline_ps)
        .or_else(|| same("best", search.best_s, search.best_ps))
        .or_else(|| same("worst", search.worst_s, search.worst_ps))
}

/// Nothing is better than the bound, and what is proved to be the best reaches it.
fn of_bound(search: &SearchJson<'_>) -> Option<String> {
    let bound = valued(("bound", search.bound), ("bound_s", search.bound_s));
    if let (None, Some(by)) = (bound, &search.bound_by) {
        return Some(format!("bound_by: `{by}`, but the search has no bound"));
    }
    let ((key, bound), (_, best)) = (bound?, best(search)?);
    if let Some(why) = &search.no_bound {
        return Some(format!("no_bound: `{why}`, but {key} is {bound}"));
    }
    let is_better = if search.objective == Objective::Throughput { above(best, bound) } else { above(bound, best) };
    if is_better {
        return Some(format!("{key}: {bound}, but the best found is {best}"));
    }
    let is_open = search.proved_optimal && differ(bound, best);
    is_open.then(|| format!("proved_optimal: true, but {key} is {bound} and the best found is {best}"))
}

/// The best, the percentiles with the median among them, and the worst are in order; the mean is between the ends. Only times
/// have them.
fn of_statistics(search: &SearchJson<'_>) -> Option<String> {
    let median = valued(("median", search.median), ("median_s", search.median_s));
    let mean = valued(("mean", search.mean), ("mean_s", search.mean_s));
    let percentiles = search.percentiles.as_ref().or(search.percentiles_s.as_ref());
    let percentiles = percentiles.map_or(&[][..], |percentiles| &percentiles.0.0);
    let are_others = !percentiles.is_empty() && !percentiles.iter().map(|&(percent, _)| percent).eq(PERCENTILES);
    if are_others {
        return Some(format!("percentiles: those of {PERCENTILES:?} per cent are not all there, in this order"));
    }
    let (best, worst) = match search.objective {
        Objective::Throughput => (None, None),
        _ => (best(search), worst(search)),
    };
    let named = |&(percent, Amount(value)): &(u32, Amount)| (format!("percentile {percent}"), value);
    let plain = |(key, value): Valued| (key.to_owned(), value);
    let (low, high) = percentiles.split_at(percentiles.len() / 2);
    let all: Vec<(String, f64)> = best
        .map(plain)
        .into_iter()
        .chain(low.iter().map(named))
        .chain(median.map(plain))
        .chain(high.iter().map(named))
        .chain(worst.map(plain))
        .collect();
    let ends = [best, mean, worst].into_iter().flatten().map(plain).collect();
    [all, ends].iter().find_map(|row| disorder(row))
}

fn disorder(values: &[(String, f64)]) -> Option<String> {
    let pair = values.windows(2).find(|pair| above(pair[0].1, pair[1].1))?;
    let [(first, low), (then, high)] = pair else { return None };
    Some(format!("{then}: {high}, below {first} {low}"))
}

/// Of no search more candidates are known than it has. Only those that visit them one by one count each once.
fn of_counts(search: &SearchJson<'_>) -> Option<String> {
    let SearchJson { evaluated, candidates, best_count, .. } = *search;
    let stopped = search.stopped.as_ref().map(|stopped| stopped.candidates);
    if stopped == Some(0) {
        return Some("stopped.candidates: 0, but the first of them is named".to_owned());
    }
    let counts_once = search.method == Method::Exhaustive && !search.objective.is_cost();
    let known = evaluated.saturating_add(stopped.unwrap_or(0).into());
    if let Some(candidates) = candidates.filter(|&candidates| counts_once && known > candidates) {
        return Some(format!("evaluated: with those that stop {known} of {candidates} candidates"));
    }
    let best_count = best_count.filter(|&count| count == 0 || count > evaluated)?;
    Some(format!("best_count: {best_count} of {evaluated} candidates that were evaluated"))
}

/// The curve of all goes up from the best to the worst.
fn of_curve(search: &SearchJson<'_>) -> Option<String> {
    let curve = search.curve_s.as_deref()?;
    if !search.complete {
        return Some("curve_s: not all candidates are known".to_owned());
    }
    if let Some(i) = curve.windows(2).position(|pair| above(pair[0].0, pair[1].0)) {
        return Some(format!("curve_s[{}]: {} is below the one before it", i + 1, curve[i + 1].0));
    }
    let ends = [(curve.first(), best(search)), (curve.last(), worst(search))];
    let mut known = ends.into_iter().filter_map(|(end, value)| Some((end?.0, value?)));
    let (end, (key, value)) = known.find(|&(end, (_, value))| differ(end, value))?;
    Some(format!("curve_s: it ends at {end}, but {key} is {value}"))
}

/// The bins hold all that were evaluated, from the best to just behind the worst.
fn of_histogram(search: &SearchJson<'_>) -> Option<String> {
    let histogram = search.histogram.as_ref()?;
    let held = histogram.counts.iter().fold(0_u128, |sum, &count| sum.saturating_add(count));
    if held != search.evaluated {
        return Some(format!("histogram.counts: {held} in all of {} that were evaluated", search.evaluated));
    }
    let ends = [("from_s", histogram.from_s, best(search)), ("to_s", histogram.to_s, worst(search))];
    let mut known = ends.into_iter().filter_map(|(end, at, value)| Some((end, at.0, value?)));
    let (end, at, (key, value)) = known.find(|&(_, at, (_, value))| differ(at, value))?;
    Some(format!("histogram.{end}: {at}, but {key} is {value}"))
}

/// The time of the search is paid back by what the best saves of the baseline.
fn of_payback(search: &SearchJson<'_>) -> Option<String> {
    let given = search.payback_exchanges?;
    let times = search.wall_s.zip(search.baseline_ps.zip(search.best_ps));
    let expected = times.and_then(|(Amount(wall_s), (before, after))| payback(wall_s, before, after));
    let is_off = |expected: u64| given.abs_diff(expected) as f64 > 1.0 + expected as f64 * ROOM;
    if expected.is_some_and(|expected| !is_off(expected)) {
        return None;
    }
    let expected = expected.map_or("nothing is saved".to_owned(), |expected| format!("it is after {expected}"));
    Some(format!("payback_exchanges: {given}, but by wall_s and the makespans {expected}"))
}

/// Ranks are on nodes of the topology, where that is there.
fn of_places(search: &SearchJson<'_>) -> Option<String> {
    let nodes = search.nodes.as_ref()?.at_hand();
    let links = search.links.as_ref().map_or(&[][..], List::at_hand);
    let names = flows::names(nodes);
    let lost = |list: &str, places: &[&str]| {
        found(list, places, |place| (!names.contains(place)).then(|| format!("there is no node `{place}`")))
    };
    let own: Vec<&str> = search.solution.placement.iter().flatten().map(|place| &**place).collect();
    let before: Vec<&str> = search.baseline_placement.iter().flatten().map(|place| &**place).collect();
    twice("nodes", nodes.iter().map(|node| Some(node.id)))
        .or_else(|| orphan(nodes))
        .or_else(|| flows::of_topology(nodes, links, &names))
        .or_else(|| lost("solution.placement", &own))
        .or_else(|| lost("baseline_placement", &before))
}
