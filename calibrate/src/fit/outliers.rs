//! Rows that do not count: far slower than all rows like them, as where something else ran on the machine.
//!
//! Least squares moves every value towards such a row. It is told by the residuals of a fit: below their median by more than
//! [`FAR`] times s = 1.4826 · median |r − median|, which is the standard deviation of a normal distribution and which few rows
//! do not move (Davies and Gather, "The identification of multiple outliers", JASA 88, 1993: the Hampel identifier), and
//! [`SLOW`] times as slow as simulated. The fit is then made again without them.
//!
//! What the model does not describe looks the same in one row, but not in several. So rows are compared with those of
//! experiments of as many transfers: where more than one in ten would be outliers, none is. Nor is a row where most of the
//! rows between the same ends are.

use std::collections::{BTreeMap, BTreeSet};

use super::error::FitError;
use super::problem::{Problem, Row};
use super::solve::Solved;
use crate::measurement::MeasuredEnd;

/// Standard deviations from the median; *assumed*, one row in a million of a normal distribution is that far below.
const FAR: f64 = 5.0;
/// 1 / Φ⁻¹(3/4): from the median of absolute values to the standard deviation of a normal distribution.
const NORMAL: f64 = 1.4826;
/// Measured over simulated time from which a row can be an outlier; *assumed*, far above what copies vary by themselves.
const SLOW: f64 = 1.15;
/// The fewest rows that tell what is usual; *assumed*.
const FEWEST: usize = 20;
/// The fewest rows of experiments of as many transfers; *assumed*.
const ALIKE: usize = 10;
/// At most one row in so many of all, and of those alike, is an outlier; *assumed*.
const OF_ALL: usize = 20;
const OF_ALIKE: usize = 10;
/// Rows that a note names.
const NAMED: usize = 5;

/// Rows by experiment and place in it.
pub(super) type Outliers = BTreeSet<(usize, usize)>;

/// The outliers among all fitted rows, by a fit to all of them or without some.
pub(super) fn outliers(problem: &Problem<'_>, solved: &Solved) -> Result<Outliers, FitError> {
    let none = Outliers::new();
    let all = Problem { outliers: &none, ..*problem };
    let residuals = all.all_residuals(&solved.setting(problem, &solved.at))?;
    let rows: Vec<(Row, f64)> = all.fitted_rows().zip(residuals).collect();
    let Some((median, deviation)) = usual(&rows) else { return Ok(none) };
    let is_far = |&(row, residual): &(Row, f64)| {
        residual < median - FAR * deviation && residual < -libm::log(SLOW) * problem.weight(&row)
    };
    let far: BTreeSet<(usize, usize)> = rows.iter().filter(|row| is_far(row)).map(|(row, _)| row.place()).collect();
    let is_odd = rare(problem, &rows, &far);
    let found: Outliers = far.iter().copied().filter(|place| is_odd(*place)).collect();
    Ok(if found.len() * OF_ALL > rows.len() { none } else { found })
}

/// The median of residuals, and the standard deviation that their distances from it show; `None` of few.
fn usual(rows: &[(Row, f64)]) -> Option<(f64, f64)> {
    let median = |mut values: Vec<f64>| {
        values.sort_unstable_by(f64::total_cmp);
        values[values.len() / 2]
    };
    if rows.len() < FEWEST {
        return None;
    }
    let middle = median(rows.iter().map(|row| row.1).collect());
    Some((middle, NORMAL * median(rows.iter().map(|row| (row.1 - middle).abs()).collect())))
}

/// Whether few of the rows that are like one are as far off: those of as many transfers, and those between the same ends.
fn rare(problem: &Problem<'_>, rows: &[(Row, f64)], far: &BTreeSet<(usize, usize)>) -> impl Fn((usize, usize)) -> bool {
    let count = |(experiment, _): (usize, usize)| problem.experiments[experiment].transfers.len();
    let ends = |(experiment, row): (usize, usize)| {
        let e = &problem.experiments[experiment];
        let at = if let MeasuredEnd::Transfer(at) = e.rows[row].end { at } else { 0 };
        e.transfers.get(at).map(|transfer| (e.transfers.len(), transfer.from, transfer.to))
    };
    let (mut alike, mut same) = (BTreeMap::<_, [usize; 2]>::new(), BTreeMap::<_, [usize; 2]>::new());
    for (row, _) in rows {
        let is_far = usize::from(far.contains(&row.place()));
        for [all, odd] in [alike.entry(count(row.place())).or_default(), same.entry(ends(row.place())).or_default()] {
            (*all, *odd) = (*all + 1, *odd + is_far);
        }
    }
    move |place| {
        let [all, odd] = alike.get(&count(place)).copied().unwrap_or_default();
        let [between, off] = same.get(&ends(place)).copied().unwrap_or_default();
        all >= ALIKE && odd * OF_ALIKE <= all && (between < 2 || off * 2 <= between)
    }
}

/// For a person: which rows do not count.
pub(super) fn note(problem: &Problem<'_>, solved: &Solved) -> Result<Option<String>, FitError> {
    if problem.outliers.is_empty() {
        return Ok(None);
    }
    let simulated = problem.simulator.seconds(&solved.setting(problem, &solved.at), |e| problem.fitted[e])?;
    let named = problem.outliers.iter().take(NAMED).map(|&(experiment, row)| {
        let measured = &problem.experiments[experiment].rows[row];
        format!("{} ({:.2} times)", measured.place, measured.seconds / simulated[experiment][row])
    });
    let named: Vec<String> = named.collect();
    let count = problem.outliers.len();
    let (rows, they) = if count == 1 { ("row does", "it is") } else { ("rows do", "they are") };
    let more = if count > NAMED { format!(" and {} more", count - NAMED) } else { String::new() };
    Ok(Some(format!(
        "{count} {rows} not count, as {they} far slower than the model and all rows alike: {}{more}; something else may have \
         run then, or the model lacks what slows them: measure them again",
        named.join(", ")
    )))
}
