//! Errors that go with the size: one latency and one bandwidth do not describe copies whose library changes its protocol with it.
//!
//! **What is tested.** Of equal copies of eight sizes or more, each size has its mean error, ln(simulated / measured). In the
//! order of sizes neighbours are alike where the errors drift: their correlation is 0.6 or more. Independent errors of eight sizes
//! reach that in 3 of 1,000 cases, those of more sizes less often (10^5 simulated ones each). Errors below 10 % are let be, those
//! of rows that count less by how much they count.

use std::collections::BTreeMap;

use weir_plugin_api::NodeId;

use crate::fit::Fit;
use crate::measurement::{Experiment, MeasuredEnd};
use crate::text::percent;

/// Sizes from which errors can be said to drift; *assumed*.
const SIZES: usize = 8;
/// Correlation of the errors of neighbouring sizes; *assumed*, see above.
const ALIKE: f64 = 0.6;
/// Largest mean error of a size that is let be; *assumed*.
const SMALL: f64 = 0.1;
/// Share of the largest throughput from which on a size tells the bandwidth; *assumed*.
const FULL: f64 = 0.8;

/// What ran, but for its size: ends, messages, and whether the last end was measured.
type Kind = (Vec<(NodeId, NodeId)>, u32, bool);

/// The rows of one size.
#[derive(Default)]
struct OfSize {
    /// Sum of ln(simulated / measured), and of the measured throughput.
    logs: f64,
    throughput: f64,
    /// Sum of the weights.
    weights: f64,
    count: usize,
    /// An experiment of that size.
    experiment: usize,
}

impl OfSize {
    fn error(&self) -> f64 {
        self.logs / self.count as f64
    }

    fn weight(&self) -> f64 {
        self.weights / self.count as f64
    }

    fn rate(&self) -> f64 {
        self.throughput / self.count as f64
    }
}

/// Warnings of errors that drift with the size, with the sizes to leave out.
pub(crate) fn drifts(experiments: &[Experiment], fit: &Fit) -> Vec<String> {
    let mut kinds: BTreeMap<Kind, BTreeMap<u64, OfSize>> = BTreeMap::new();
    for row in &fit.rows {
        let experiment = &experiments[row.experiment];
        let ends = experiment.transfers.iter().map(|t| (t.from, t.to)).collect();
        let last = experiment.rows[row.row].end == MeasuredEnd::Last;
        let Some(bytes) = experiment.transfers.iter().map(|t| t.bytes).max() else { continue };
        let sizes = kinds.entry((ends, experiment.messages, last)).or_default();
        let size = sizes.entry(bytes).or_insert(OfSize { experiment: row.experiment, ..OfSize::default() });
        size.logs += libm::log(row.simulated / row.measured);
        size.throughput += bytes as f64 / row.measured;
        size.weights += fit.weight(row);
        size.count += 1;
    }
    kinds.values().filter_map(|sizes| drift(experiments, &sizes.values().collect::<Vec<_>>())).collect()
}

/// The warning of equal copies, in the order of their sizes.
fn drift(experiments: &[Experiment], sizes: &[&OfSize]) -> Option<String> {
    let errors: Vec<f64> = sizes.iter().map(|size| size.error()).collect();
    let largest = sizes.iter().map(|size| (size.error() * size.weight()).abs()).fold(0.0, f64::max);
    if sizes.len() < SIZES || largest < SMALL || neighbours(&errors) < ALIKE {
        return None;
    }
    let most = sizes.iter().map(|size| size.rate()).fold(0.0, f64::max);
    let kept = sizes.iter().position(|size| size.rate() >= FULL * most)?;
    let name = |at: usize| &experiments[sizes[at].experiment].name;
    let place =
        experiments[sizes[kept].experiment].rows.first().map_or_else(String::new, |row| format!(" ({})", row.place));
    let extreme = |better: fn(f64, f64) -> bool| {
        let all = (0..errors.len()).reduce(|a, b| if better(errors[b], errors[a]) { b } else { a });
        all.map_or_else(String::new, |at| format!("{} of `{}`", percent(libm::exp(errors[at]) - 1.0), name(at)))
    };
    let remedy = match kept {
        0 => "measure with one protocol, or fit few sizes at a time".to_owned(),
        _ => format!(
            "for the bandwidth leave out all that is smaller than `{}`{place}: it is slower than {:.0} % of the fastest; fit a latency to \
             small sizes alone",
            name(kept),
            FULL * 100.0
        ),
    };
    Some(format!(
        "the errors drift with the size, from {} to {}: one latency and one bandwidth do not describe all sizes, as where a library \
         changes its protocol, and the fitted bandwidth is one between\n  {remedy}",
        extreme(|a, b| a < b),
        extreme(|a, b| a > b)
    ))
}

/// The correlation of each value with the next one, about their mean.
fn neighbours(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let products: f64 = values.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::neighbours;

    #[test]
    fn values_that_drift_are_like_their_neighbours() {
        // About the mean 0: the products are 1, −1 and 1, the squares 4.
        assert_eq!(neighbours(&[1.0, 1.0, -1.0, -1.0]), 0.25);
        // Each with the other sign of its neighbour: three products of −1.
        assert_eq!(neighbours(&[1.0, -1.0, 1.0, -1.0]), -0.75);
        // About 1.5: 0.75, −0.25 and 0.75 of 2.25, 0.25, 0.25 and 2.25.
        assert_eq!(neighbours(&[0.0, 1.0, 2.0, 3.0]), 0.25);
        assert_eq!(neighbours(&[2.0, 2.0]), 0.0);
    }
}
