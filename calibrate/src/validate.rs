//! Simulated against measured times of a scenario's transfers, as Martinasso et al. (SC16) do in Fig. 6.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ordered_float::OrderedFloat;

use weir_report::{ErrorBin, ErrorHistogram};

use crate::read::MeasuredRow;

/// Share of a measured time within which a prediction counts as good (Martinasso et al., SC16, section VII: ±15 %).
pub(crate) const GOOD: f64 = 0.15;

/// A transfer or operation as it was simulated.
#[derive(Clone, PartialEq, Debug)]
pub struct Simulated {
    /// As the scenario wrote it; unique within the run.
    pub id: String,
    /// Source and destination by name, and size; `None` for an operation of a model.
    pub transfer: Option<(String, String, u64)>,
    /// The time that is compared, from its start or from being ready to its end, seconds.
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

/// Which measured row is of which simulated transfer, and what is left over.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Matched {
    /// What belongs together, in the order of the rows.
    pub pairs: Vec<Pair>,
    /// Rows that belong to no transfer.
    pub rows_left: Vec<usize>,
    /// Rows that belong to transfers which earlier rows measured.
    pub rows_again: Vec<usize>,
    /// Rows of transfers that measured nothing.
    pub rows_without: Vec<usize>,
    /// Transfers that no row measured.
    pub simulated_left: Vec<usize>,
}

/// Places among the simulated, the last first, by id and by source, destination and bytes.
struct Candidates<'a> {
    by_id: BTreeMap<&'a str, Vec<usize>>,
    by_ends: BTreeMap<(String, String, u64), Vec<usize>>,
}

impl<'a> Candidates<'a> {
    fn of(simulated: &'a [Simulated], plain: impl Fn(&str) -> String) -> Self {
        let mut all = Self { by_id: BTreeMap::new(), by_ends: BTreeMap::new() };
        for (at, one) in simulated.iter().enumerate().rev() {
            all.by_id.entry(&one.id).or_default().push(at);
            if let Some((from, to, bytes)) = &one.transfer {
                all.by_ends.entry((plain(from), plain(to), *bytes)).or_default().push(at);
            }
        }
        all
    }

    /// Those that a row may be of; `None` where there is no such transfer.
    fn of_row(&mut self, row: &MeasuredRow, plain: impl Fn(&str) -> String) -> Option<&mut Vec<usize>> {
        match (row.id.is_empty(), row.bytes) {
            (false, _) => self.by_id.get_mut(&*row.id),
            (true, Some(bytes)) => self.by_ends.get_mut(&(plain(&row.from), plain(&row.to), bytes)),
            (true, None) => None,
        }
    }
}

/// Matches rows with an id by that id, others by from, to and bytes: the k-th such row is the k-th such transfer. A row
/// that measured nothing takes its transfer all the same. `plain` is the one name of a node that has several.
#[must_use]
pub fn matched(rows: &[MeasuredRow], simulated: &[Simulated], plain: impl Fn(&str) -> String) -> Matched {
    let mut candidates = Candidates::of(simulated, &plain);
    let (mut found, mut taken) = (Matched::default(), vec![false; simulated.len()]);
    for (at, row) in rows.iter().enumerate() {
        let Some(candidates) = candidates.of_row(row, &plain) else {
            found.rows_left.push(at);
            continue;
        };
        // The first that is left; rows with ids may have taken some.
        let next = std::iter::from_fn(|| candidates.pop()).find(|&i| !taken[i]);
        match next {
            Some(i) => {
                taken[i] = true;
                match row.seconds {
                    Some(measured) => {
                        let error = simulated[i].seconds / measured - 1.0;
                        found.pairs.push(Pair { row: at, measured, simulated: i, error });
                    }
                    None => found.rows_without.push(at),
                }
            }
            None => found.rows_again.push(at),
        }
    }
    let mut left: Vec<bool> = simulated.iter().map(|one| one.transfer.is_some()).collect();
    found.pairs.iter().for_each(|pair| left[pair.simulated] = false);
    found.simulated_left = (0..left.len()).filter(|&at| left[at]).collect();
    found
}

/// Rows with an id of a transfer that has other ends or another size than the row says.
#[must_use]
pub fn disagreeing(
    rows: &[MeasuredRow],
    simulated: &[Simulated],
    pairs: &[Pair],
    plain: impl Fn(&str) -> String,
) -> Vec<Pair> {
    let differs = |pair: &&Pair| {
        let (row, Some((from, to, bytes))) = (&rows[pair.row], &simulated[pair.simulated].transfer) else {
            return false;
        };
        let other = |said: &str, is: &str| !said.is_empty() && plain(said) != plain(is);
        other(&row.from, from) || other(&row.to, to) || row.bytes.is_some_and(|said| said != *bytes)
    };
    pairs.iter().filter(differs).copied().collect()
}

/// What all errors come to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    /// Share of the rows within ±15 %.
    pub within: f64,
    /// Mean of the absolute errors.
    pub mean: f64,
    /// The error of the row whose time is most underestimated; below 0 where any is.
    pub lowest: f64,
    /// The error of the row whose time is most overestimated.
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

/// Width of a bin of a histogram, and the error from which on all are one bin; *assumed*, so that ±5, 10 and 15 % are edges.
const BIN: f64 = 0.05;
const LAST_BIN: f64 = 0.3;

/// The errors in bins of 5 %, with the shares within ±5, 10 and 15 %, as in Fig. 6 of Martinasso et al. (SC16).
#[must_use]
pub fn histogram(pairs: &[Pair]) -> ErrorHistogram {
    let share = |most: f64| {
        let good = pairs.iter().filter(|p| p.error.abs() <= most + 1e-12).count();
        good as f64 / pairs.len().max(1) as f64
    };
    let steps = (LAST_BIN / BIN).round() as i32;
    let edge = |step: i32| f64::from(step) / f64::from(steps) * LAST_BIN;
    // Right at an edge an error belongs to the bin nearer to 0.
    let step_of = |error: f64| {
        let step = (error / BIN).round();
        let on_edge = (error - step * BIN).abs() < 1e-12;
        let step = if on_edge { if error > 0.0 { step - 1.0 } else { step } } else { (error / BIN).floor() };
        step.clamp(f64::from(-steps - 1), f64::from(steps)) as i32
    };
    let bins = (-steps - 1..=steps).map(|step| ErrorBin {
        from: (step >= -steps).then(|| edge(step)),
        to: (step < steps).then(|| edge(step + 1)),
        count: pairs.iter().filter(|p| step_of(p.error) == step).count() as u64,
    });
    ErrorHistogram {
        within_5_percent: share(0.05),
        within_10_percent: share(0.1),
        within_15_percent: share(GOOD),
        bins: bins.collect(),
    }
}

/// Columns of the longest bar of a histogram.
const BAR: u64 = 50;

/// The shares within ±5, 10 and 15 % for a person.
pub(crate) fn shares_text(histogram: &ErrorHistogram) -> String {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    format!(
        "within ±5 %: {}, ±10 %: {}, ±15 %: {}",
        percent(histogram.within_5_percent),
        percent(histogram.within_10_percent),
        percent(histogram.within_15_percent)
    )
}

/// The edge of a bin in percent; nothing where the bin has no edge.
pub(crate) fn bin_edge(edge: Option<f64>) -> String {
    edge.map_or_else(String::new, |edge| format!("{:+.0} %", edge * 100.0))
}

/// A histogram for a person: a bar for each bin.
#[must_use]
pub fn histogram_text(histogram: &ErrorHistogram) -> String {
    let mut out = format!("{}\n", shares_text(histogram));
    let most = histogram.bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    for ErrorBin { from, to, count } in &histogram.bins {
        let bar = "█".repeat((count * BAR).div_ceil(most) as usize);
        let line = format!("{:>6} to {:>6} {count:>6} {bar}", bin_edge(*from), bin_edge(*to));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// The pairs by falling absolute error, among equals in the order of the rows.
#[must_use]
pub fn worst_first(pairs: &[Pair]) -> Vec<Pair> {
    let mut all = pairs.to_vec();
    all.sort_by_key(|pair| (Reverse(OrderedFloat(pair.error.abs())), pair.row));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::measured_rows;

    fn simulated() -> Vec<Simulated> {
        let one = |id: &str, ends: Option<(&str, &str, u64)>, seconds| Simulated {
            id: id.to_owned(),
            transfer: ends.map(|(a, b, bytes)| (a.to_owned(), b.to_owned(), bytes)),
            seconds,
        };
        vec![
            one("a", Some(("g0", "g1", 100)), 1.0),
            one("b", Some(("g0", "g1", 100)), 2.0),
            one("c", Some(("g0", "g1", 200)), 3.0),
            one("d", Some(("g1", "g0", 100)), 4.0),
            one("m", None, 5.0),
        ]
    }

    fn of(text: &str) -> Matched {
        let rows = measured_rows("x", &format!("id,from,to,bytes,seconds\n{text}")).expect("a table").rows;
        matched(&rows, &simulated(), |name| name.trim_start_matches("rc/").to_owned())
    }

    #[test]
    fn rows_take_transfers_in_their_order() {
        let found = of(",g0,g1,100,2\n,rc/g0,g1,100,2\nm,,,,4\n,g1,g0,100,nan\n");
        let pairs: Vec<_> = found.pairs.iter().map(|p| (p.row, p.simulated, p.error)).collect();
        assert_eq!(pairs, [(0, 0, -0.5), (1, 1, 0.0), (2, 4, 0.25)]);
        // The last row measured nothing, so its transfer was not measured.
        assert_eq!((found.rows_left, found.rows_again, found.rows_without), (vec![], vec![], vec![3]));
        assert_eq!(found.simulated_left, [2, 3]);
    }

    #[test]
    fn errors_are_counted_in_bins_that_are_edges_of_the_shares() {
        let pair = |error| Pair { row: 0, measured: 1.0, simulated: 0, error };
        let errors = [0.05, -0.05, 0.0, 0.100_001, -0.15, 0.15, 7.0, -0.9];
        let found = histogram(&errors.map(pair));
        let shares = [found.within_5_percent, found.within_10_percent, found.within_15_percent];
        assert_eq!(shares, [3.0 / 8.0, 3.0 / 8.0, 6.0 / 8.0]);
        let counts: Vec<u64> = found.bins.iter().map(|bin| bin.count).collect();
        assert_eq!(counts, [1, 0, 0, 0, 1, 0, 1, 2, 0, 2, 0, 0, 0, 1]);
        assert_eq!((found.bins[0].to, found.bins[7].from, found.bins[13].to), (Some(-0.3), Some(0.0), None));
        let text = histogram_text(&found);
        assert!(text.starts_with("within ±5 %: 37.5 %, ±10 %: 37.5 %, ±15 %: 75.0 %\n"), "{text}");
        assert!(text.contains("  +0 % to   +5 %      2 █"), "{text}");
        assert_eq!(histogram(&[]).within_5_percent, 0.0);
    }

    /// The longest bar has 50 columns; a third and two thirds of them are rounded up, so that one row is always seen.
    #[test]
    fn bars_are_as_long_as_their_counts() {
        let errors = [[0.01; 3].as_slice(), &[0.06; 2], &[0.11]].concat();
        let pairs = errors.into_iter().map(|error| Pair { row: 0, measured: 1.0, simulated: 0, error });
        let text = histogram_text(&histogram(&pairs.collect::<Vec<_>>()));
        let bars: Vec<usize> = text.lines().skip(1).map(|line| line.matches('█').count()).filter(|&n| n > 0).collect();
        assert_eq!(bars, [50, 34, 17], "{text}");
    }

    #[test]
    fn shares_end_at_5_10_and_15_percent() {
        let pair = |error| Pair { row: 0, measured: 1.0, simulated: 0, error };
        let pairs = [0.051, -0.101, 0.151, -0.2].map(pair);
        let found = histogram(&pairs);
        let shares = [found.within_5_percent, found.within_10_percent, found.within_15_percent];
        assert_eq!(shares, [0.0, 0.25, 0.5]);
        let Summary { within, mean, lowest, highest } = summary(&pairs).expect("pairs");
        assert!((mean - 0.503 / 4.0).abs() < 1e-12, "{mean}");
        assert_eq!((within, lowest, highest), (0.5, -0.2, 0.151));
        assert_eq!(summary(&[]), None);
    }

    /// A row that names a transfer may leave out its ends and size; what it says must be those of the transfer.
    #[test]
    fn rows_disagree_where_ends_or_sizes_differ() {
        let text = "a,g0,g1,100,1\nb,rc/g0,,,1\nc,g1,g1,200,1\nd,,g1,,1\nm,g0,g1,7,1\n";
        let rows = measured_rows("x", &format!("id,from,to,bytes,seconds\n{text}")).expect("a table").rows;
        let plain = |name: &str| name.trim_start_matches("rc/").to_owned();
        let names = |rows: &[MeasuredRow]| -> Vec<String> {
            let pairs = matched(rows, &simulated(), plain).pairs;
            disagreeing(rows, &simulated(), &pairs, plain).iter().map(|pair| rows[pair.row].id.clone()).collect()
        };
        assert_eq!(names(&rows), ["c", "d"]);
        let size = measured_rows("x", "id,from,to,bytes,seconds\na,,,101,1\nb,,,100,1\n").expect("a table").rows;
        assert_eq!(names(&size), ["a"]);
    }

    #[test]
    fn an_id_comes_before_the_order_and_counts_once() {
        let found = of("a,,,,1\n,g0,g1,100,1\n,g0,g1,100,1\na,,,,1\nx,,,,1\n,g0,g2,100,1\n,g0,g1,,1\n");
        let pairs: Vec<_> = found.pairs.iter().map(|p| (p.row, p.simulated)).collect();
        assert_eq!(pairs, [(0, 0), (1, 1)]);
        assert_eq!((found.rows_again, found.rows_left), (vec![2, 3], vec![4, 5, 6]));
        assert_eq!(found.simulated_left, [2, 3]);
    }
}
