//! What tuned packets and measured times say of one thing in several places.

use std::collections::HashSet;

use super::Consistent;
use super::amounts::{above, differ, found, other};
use super::run::{twice, unequal};
use crate::tuned::{TunedSize, Tuning};
use crate::validation::{ErrorHistogram, ValidatedTransfer, Validation};

impl Consistent for Tuning {
    fn contradiction(&self) -> Option<String> {
        twice("operations", self.operations.iter().map(|operation| Some(&operation.id))).or_else(|| {
            found("operations", &self.operations, |operation| {
                found("sizes", &operation.sizes, of_size).or_else(|| of_order(&operation.sizes))
            })
        })
    }
}

/// Each size is there once, the smallest first.
fn of_order(sizes: &[TunedSize]) -> Option<String> {
    let i = sizes.windows(2).position(|pair| pair[1].bytes <= pair[0].bytes)?;
    Some(format!("sizes[{}].bytes: {} after {}", i + 1, sizes[i + 1].bytes, sizes[i].bytes))
}

/// Gain and bandwidth follow from bytes and times.
fn of_size(row: &TunedSize) -> Option<String> {
    let TunedSize { bytes, seconds, ps, without_packets_s: without, .. } = row;
    let takes_time = *ps > 0;
    let gain = without.filter(|_| takes_time).map(|without| without / seconds - 1.0);
    let bandwidth = takes_time.then(|| *bytes as f64 / seconds);
    let differs = unequal("", Some(*seconds), Some(*ps)).is_some();
    differs
        .then(|| format!("seconds {seconds} and ps {ps}, which differ"))
        .or_else(|| other("gain", row.gain, gain))
        .or_else(|| other("bandwidth_Bps", row.bandwidth, bandwidth))
        .or_else(|| of_tried(row))
}

/// What was chosen is among what was tried, with its time.
fn of_tried(row: &TunedSize) -> Option<String> {
    let tried = row.tried.as_ref()?;
    let known = |packet: Option<u64>| tried.iter().find(|way| way.packet == packet).map(|way| way.seconds);
    other("seconds", Some(row.seconds), known(row.packet))
        .or_else(|| other("without_packets_s", row.without_packets_s, known(None)))
}

impl Consistent for Validation<'_> {
    fn contradiction(&self) -> Option<String> {
        let transfers = &self.transfers;
        let measured: HashSet<&str> = transfers.iter().map(|row| &*row.id).collect();
        let again = self.not_measured.iter().find(|id| measured.contains(&***id));
        let unknown =
            self.not_explained.iter().flat_map(|group| &group.transfers).find(|id| !measured.contains(&***id));
        let low = self.not_explained.iter().find(|group| above(group.carries, group.measured));
        twice("transfers", transfers.iter().map(|row| Some(&row.id)))
            .or_else(|| found("transfers", transfers, of_error))
            .or_else(|| of_summary(self))
            .or_else(|| again.map(|id| format!("not_measured: `{id}` was measured")))
            .or_else(|| unknown.map(|id| format!("not_explained: `{id}` was not measured")))
            .or_else(|| {
                low.map(|group| {
                    let (measured, carries) = (group.measured, group.carries);
                    format!("not_explained: measured_Bps {measured} over {}, which carries {carries}", group.over)
                })
            })
            .or_else(|| self.histogram.as_ref().and_then(|histogram| of_histogram(histogram, transfers)))
    }
}

/// The error follows from the times; a transfer has its ends and its size, an operation none of them.
fn of_error(row: &ValidatedTransfer<'_>) -> Option<String> {
    let ValidatedTransfer { id, from, to, bytes, measured_s, simulated_s, error, cause, cause_detail, .. } = row;
    let expected = simulated_s / measured_s - 1.0;
    let has_ends = [from.is_some(), to.is_some(), bytes.is_some()];
    if has_ends[1..] != [has_ends[0]; 2] {
        return Some(format!("`{id}` has some of from, to and bytes, and not all"));
    }
    if cause.is_some() != cause_detail.is_some() {
        return Some(format!("`{id}` has one of cause and cause_detail"));
    }
    (*measured_s <= 0.0 || differ(*error, expected))
        .then(|| format!("`{id}` has error {error}, but its times make it {expected}"))
}

/// A part of the errors is at most so large. One right at the border is within, whatever its last digits.
fn of_part(key: &str, given: f64, most: f64, transfers: &[ValidatedTransfer<'_>]) -> Option<String> {
    let count = |most: f64| transfers.iter().filter(|row| row.error.abs() <= most).count();
    let [least, greatest] = [most - BORDER, most + BORDER].map(|most| count(most) as f64 / transfers.len() as f64);
    let is_off = above(least, given) || above(given, greatest);
    is_off.then(|| format!("{key}: {given}, but of the errors {greatest} are that small"))
}

/// Errors that differ by no more are one for the digits of other programs.
const BORDER: f64 = 1e-9;

/// Sums of no errors are none.
fn of_summary(validation: &Validation<'_>) -> Option<String> {
    let Validation { transfers, within_15_percent: within, mean_error, lowest_error, highest_error, .. } = validation;
    let errors = || transfers.iter().map(|row| row.error);
    let any = !transfers.is_empty();
    let mean = errors().map(f64::abs).sum::<f64>() / transfers.len() as f64;
    let lowest = errors().fold(f64::INFINITY, f64::min);
    let highest = errors().fold(f64::NEG_INFINITY, f64::max);
    let sums = [("mean_error", mean_error, mean), ("lowest_error", lowest_error, lowest)];
    let sums = sums.into_iter().chain([("highest_error", highest_error, highest)]);
    let of_sum = |(key, given, expected): (&str, &Option<f64>, f64)| other(key, *given, any.then_some(expected));
    if within.is_some() != any {
        return Some("within_15_percent: there are errors with it, and none without".to_owned());
    }
    within
        .and_then(|within| of_part("within_15_percent", within, 0.15, transfers))
        .or_else(|| sums.into_iter().find_map(of_sum))
}

/// Each error is in one bin.
fn of_histogram(histogram: &ErrorHistogram, transfers: &[ValidatedTransfer<'_>]) -> Option<String> {
    let ErrorHistogram { within_5_percent, within_10_percent, within_15_percent, bins } = histogram;
    let parts = [("5", *within_5_percent, 0.05), ("10", *within_10_percent, 0.1), ("15", *within_15_percent, 0.15)];
    let count = bins.iter().fold(0_u64, |sum, bin| sum.saturating_add(bin.count));
    if count != transfers.len() as u64 {
        return Some(format!("histogram.bins: {count} in all of {} transfers", transfers.len()));
    }
    let key = |percent: &str| format!("histogram.within_{percent}_percent");
    parts.into_iter().find_map(|(percent, given, most)| of_part(&key(percent), given, most, transfers))
}
