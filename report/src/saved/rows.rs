//! What a search over parameters says of each candidate, and once more of all together.

use std::collections::BTreeMap;

use weir_optimize::Distribution;
use weir_optimize::search::Objective;
use weir_plugin_api::PS_PER_S;

use super::amounts::{differ, found, other};
use super::run::unequal;
use super::search::best;
use crate::json::{CandidateRow, SearchJson};
use crate::search::seconds;

/// The first contradiction, with its place.
pub(super) fn contradiction(search: &SearchJson<'_>) -> Option<String> {
    let rows = search.rows.as_ref()?.at_hand();
    let (_, best) = best(search)?;
    of_numbers(search, rows)
        .or_else(|| found("rows", rows, |row| of_row(search.objective, row, best)))
        .or_else(|| of_best(search, rows))
        .or_else(|| of_count(search, rows))
        .or_else(|| if search.objective.is_time() { of_statistics(search, rows) } else { None })
}

/// Each candidate of the grid is listed once, by number.
fn of_numbers(search: &SearchJson<'_>, rows: &[CandidateRow<'_>]) -> Option<String> {
    let candidates = search.candidates?;
    let place = |i: usize, what: &str| Some(format!("rows[{i}].candidate: {} {what}", rows[i].candidate));
    if let Some(i) = rows.iter().position(|row| u128::from(row.candidate) >= candidates) {
        return place(i, &format!("of {candidates}, which are numbered from 0"));
    }
    let i = rows.windows(2).position(|pair| pair[1].candidate <= pair[0].candidate)?;
    place(i + 1, &format!("after {}", rows[i].candidate))
}

/// The value of a candidate against that of the best, and whether it is that.
fn of_row(objective: Objective, row: &CandidateRow<'_>, best: f64) -> Option<String> {
    let CandidateRow { value, makespan_s, makespan_ps, ratio, .. } = row;
    if value.is_some() == (objective == Objective::Makespan) {
        let has = if value.is_some() { "has" } else { "lacks" };
        return Some(format!("it {has} `value`, and the objective is `{}`", objective.word()));
    }
    let value = value.unwrap_or(*makespan_s).0;
    let expected = if objective == Objective::Throughput { best / value } else { value / best };
    let is_better = expected < 1.0 && differ(expected, 1.0);
    unequal("makespan", Some(makespan_s.0), Some(*makespan_ps))
        .or_else(|| is_better.then(|| format!("its value {value} is better than the best, {best}")))
        .or_else(|| {
            differ(ratio.0, expected)
                .then(|| format!("ratio {}, but {value} of the best {best} are {expected}", ratio.0))
        })
        .or_else(|| (row.best && differ(value, best)).then(|| format!("its value {value} is not the best, {best}")))
}

/// One row is the best, with the values that were found and the makespan.
fn of_best(search: &SearchJson<'_>, rows: &[CandidateRow<'_>]) -> Option<String> {
    let mut bests = rows.iter().enumerate().filter(|(_, row)| row.best);
    let (i, row) = match (bests.next(), bests.next()) {
        (Some(one), None) => one,
        (None, _) if rows.is_empty() => return None,
        (None, _) => return Some("rows: none of them is the best".to_owned()),
        (_, Some((other, _))) => return Some(format!("rows[{other}].best: an earlier row is the best")),
    };
    if search.best_ps.is_some_and(|ps| ps != row.makespan_ps) {
        return Some(format!("rows[{i}].makespan_ps: {}, but best_ps is another", row.makespan_ps));
    }
    let own: BTreeMap<&str, &str> = row.parameters.0.iter().map(|(path, value)| (&*path.0, &*value.0)).collect();
    let found = search.solution.parameters.iter().flatten().map(|(path, value)| (&**path, &**value)).collect();
    (own != found).then(|| format!("rows[{i}].parameters: those of the best are not those of `solution`"))
}

/// All that were evaluated are listed; of a search that came to its end, all that do not stop, and then the best is proved.
fn of_count(search: &SearchJson<'_>, rows: &[CandidateRow<'_>]) -> Option<String> {
    let SearchJson { evaluated, candidates, complete, proved_optimal, .. } = *search;
    if rows.len() as u128 != evaluated {
        return Some(format!("rows: {}, but {evaluated} candidates were evaluated", rows.len()));
    }
    let stopped = search.stopped.as_ref().map_or(0, |stopped| stopped.candidates);
    let known = evaluated.saturating_add(stopped.into());
    if let Some(candidates) = candidates.filter(|&candidates| complete != (known == candidates)) {
        return Some(format!("complete: {complete}, with {known} of {candidates} candidates"));
    }
    (complete != proved_optimal).then(|| format!("proved_optimal: {proved_optimal}, with complete: {complete}"))
}

/// Median, mean, worst and percentiles are those of the candidates that are listed, and so is the number of the best by the makespan;
/// other values may be parts of picoseconds.
fn of_statistics(search: &SearchJson<'_>, rows: &[CandidateRow<'_>]) -> Option<String> {
    let ps = |row: &CandidateRow<'_>| row.value.map_or(row.makespan_ps, |value| (value.0 * PS_PER_S as f64) as u64);
    let all: Distribution = rows.iter().map(ps).collect();
    let sums = [
        ("median", search.median.or(search.median_s), all.median()),
        ("mean", search.mean.or(search.mean_s), all.mean()),
        ("worst", search.worst.or(search.worst_s), all.worst().map(|worst| worst as f64)),
    ];
    let sums = sums.into_iter().map(|(key, given, expected)| (key.to_owned(), given, expected));
    let percentiles = search.percentiles.as_ref().or(search.percentiles_s.as_ref());
    let percentiles = percentiles.into_iter().flat_map(|percentiles| &percentiles.0.0).map(|&(percent, value)| {
        (format!("percentile {percent}"), Some(value), all.percentile(percent).map(|ps| ps as f64))
    });
    let mut known = sums.chain(percentiles).filter(|(_, given, _)| given.is_some());
    let counted =
        search.best_count.filter(|&count| search.objective == Objective::Makespan && count != all.best_count());
    known.find_map(|(key, given, expected)| other(&key, given.map(|given| given.0), expected.map(seconds))).or_else(
        || counted.map(|count| format!("best_count: {count}, but {} of the rows are the best", all.best_count())),
    )
}
