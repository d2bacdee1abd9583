//! A search as a page holds it: of many candidates the best rows, and the curve of all.

use weir_optimize::Distribution;

use crate::json::{List, SearchJson};
use crate::pictures::{Histogram, curve, histogram};

/// Rows of candidates that a page holds (*assumed*: it shows 300).
pub(super) const MOST_ROWS: usize = 300;

/// The makespans of a search that has seen all its candidates and lists them.
fn listed(search: &SearchJson<'_>) -> Option<Distribution> {
    let Some(List::AtHand(rows)) = &search.rows else { return None };
    (search.complete && !rows.is_empty()).then(|| rows.iter().map(|row| row.makespan_ps).collect())
}

/// The makespans of all candidates in bins, where they are known.
pub(super) fn bins(search: &SearchJson<'_>) -> Option<Histogram> {
    search.histogram.clone().or_else(|| listed(search).map(|all| histogram(&all)))
}

/// Keeps the best rows of many, in their order, and says how many there were; of a search that has seen all, `curve_s` and
/// `histogram` are made of all.
pub(super) fn shorten(search: &mut SearchJson<'_>) -> Option<usize> {
    let all = listed(search).filter(|_| search.curve_s.is_none());
    let Some(List::AtHand(rows)) = &mut search.rows else { return None };
    let count = rows.len();
    if count <= MOST_ROWS {
        return None;
    }
    if let Some(all) = all {
        search.curve_s = Some(curve(&all));
        search.histogram = Some(histogram(&all));
    }
    let mut makespans: Vec<(u64, usize)> = rows.iter().zip(0..).map(|(row, place)| (row.makespan_ps, place)).collect();
    let worst_kept = *makespans.select_nth_unstable(MOST_ROWS - 1).1;
    let mut place = 0..;
    rows.retain(|row| (row.makespan_ps, place.next().unwrap_or_default()) <= worst_kept);
    Some(count)
}
