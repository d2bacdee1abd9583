//! Simulated against measured times of a scenario's transfers, as the paper of `pcie-congestion` does in its Fig. 6.

use crate::read::MeasuredRow;

/// Share of a measured time within which a prediction counts as good (Martinasso et al., SC16, section VII: ±15 %).
pub const GOOD: f64 = 0.15;

/// A transfer or operation as it was simulated.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulated {
    /// Its id.
    pub id: String,
    /// Source and destination by name, and size; `None` for an operation of a model.
    pub transfer: Option<(String, String, u64)>,
    /// Seconds.
    pub seconds: f64,
}

/// A measured row with the transfer that it is of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair {
    /// Place among the rows.
    pub row: usize,
    /// Seconds of the row.
    pub measured: f64,
    /// Place among the simulated.
    pub simulated: usize,
    /// Simulated over measured, less 1.
    pub error: f64,
}

/// Measured against simulated.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Matched {
    /// What belongs together, in the order of the rows.
    pub pairs: Vec<Pair>,
    /// Rows that belong to no transfer.
    pub rows_left: Vec<usize>,
    /// Transfers that no row measured.
    pub simulated_left: Vec<usize>,
}

/// Matches rows with an id by that id, others by from, to and bytes: the k-th such row is the k-th such transfer. A row
/// that measured nothing takes its transfer all the same.
/// `same` says whether two names are of one node.
#[must_use]
pub fn matched(rows: &[MeasuredRow], simulated: &[Simulated], same: impl Fn(&str, &str) -> bool) -> Matched {
    let mut found = Matched::default();
    let mut taken = vec![false; simulated.len()];
    for (at, row) in rows.iter().enumerate() {
        let fits = |s: &Simulated| match (row.id.is_empty(), &s.transfer) {
            (false, _) => s.id == row.id,
            (true, Some((from, to, bytes))) => Some(*bytes) == row.bytes && same(&row.from, from) && same(&row.to, to),
            (true, None) => false,
        };
        match (0..simulated.len()).find(|&i| !taken[i] && fits(&simulated[i])) {
            Some(i) => {
                taken[i] = true;
                let error = |measured: f64| simulated[i].seconds / measured - 1.0;
                found.pairs.extend(row.seconds.map(|s| Pair { row: at, measured: s, simulated: i, error: error(s) }));
            }
            None => found.rows_left.push(at),
        }
    }
    let free = taken.iter().enumerate().filter(|(i, taken)| !**taken && simulated[*i].transfer.is_some());
    found.simulated_left = free.map(|(at, _)| at).collect();
    found
}

/// What all errors come to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    /// Share of the rows within ±15 %.
    pub within: f64,
    /// Mean of the absolute errors.
    pub mean: f64,
    /// The lowest error.
    pub lowest: f64,
    /// The highest error.
    pub highest: f64,
}

/// Sums errors up; `None` for no errors.
#[must_use]
pub fn summary(pairs: &[Pair]) -> Option<Summary> {
    if pairs.is_empty() {
        return None;
    }
    let n = pairs.len() as f64;
    // A prediction right at the border is within, whatever its last bit.
    let good = pairs.iter().filter(|p| p.error.abs() <= GOOD + 1e-12).count() as f64;
    Some(Summary {
        within: good / n,
        mean: pairs.iter().map(|p| p.error.abs()).sum::<f64>() / n,
        lowest: pairs.iter().map(|p| p.error).fold(f64::INFINITY, f64::min),
        highest: pairs.iter().map(|p| p.error).fold(f64::NEG_INFINITY, f64::max),
    })
}

/// The pairs by falling absolute error, among equals in the order of the rows.
#[must_use]
pub fn worst_first(pairs: &[Pair]) -> Vec<Pair> {
    let mut all = pairs.to_vec();
    all.sort_by(|a, b| b.error.abs().total_cmp(&a.error.abs()).then(a.row.cmp(&b.row)));
    all
}
