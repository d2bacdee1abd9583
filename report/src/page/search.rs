//! A search as a page holds it: of many candidates the best rows, and the curve of all.

use weir_optimize::Distribution;

use crate::json::{List, SearchJson};
use crate::pictures::{curve, histogram};

/// Rows of candidates that a page holds (*assumed*: it shows 300).
pub(super) const MOST_ROWS: usize = 300;

/// Keeps the best rows of many, in their order, and says how many there were; of a search that has seen all, `curve_s` and
/// `histogram` are made of all.
pub(super) fn shorten(search: &mut SearchJson<'_>) -> Option<usize> {
    let Some(List::AtHand(rows)) = &mut search.rows else { return None };
    let count = rows.len();
    if count <= MOST_ROWS {
        return None;
    }
    if search.complete && search.curve_s.is_none() {
        let distribution: Distribution = rows.iter().map(|row| row.makespan_ps).collect();
        search.curve_s = Some(curve(&distribution));
        search.histogram = Some(histogram(&distribution));
    }
    let mut makespans: Vec<(u64, usize)> = rows.iter().zip(0..).map(|(row, place)| (row.makespan_ps, place)).collect();
    let worst_kept = *makespans.select_nth_unstable(MOST_ROWS - 1).1;
    let mut place = 0..;
    rows.retain(|row| (row.makespan_ps, place.next().unwrap_or_default()) <= worst_kept);
    Some(count)
}
