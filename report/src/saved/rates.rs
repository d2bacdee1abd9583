//! What a run says of rates, and of how much was sent until when: rates that links cannot carry.

use std::collections::HashMap;

use super::amounts::{ROOM, above, differ, found, other};
use crate::json::{RunJson, TransferRow};
use crate::percentiles::{ByPercent, Percentiles};

/// Seconds by which rounded times of a transfer may be off.
const ROUNDED: f64 = 4e-12;

/// The first contradiction, with its place.
pub(super) fn contradiction(run: &RunJson<'_>) -> Option<String> {
    let transfers = run.transfers.at_hand();
    let sources = sources(run);
    found("transfers", transfers, |row| of_mean(row, &sources))
        .or_else(|| found("transfers", transfers, |row| of_unfinished(row, run.stopped_s)))
        .or_else(|| Some(format!("percentiles.{}", of_percentiles(run.percentiles.as_ref()?, transfers)?)))
}

/// What the links that leave each node have carried at most, all together; none where that is not known of all of them. Those
/// that carried nothing may not be listed.
fn sources<'r>(run: &'r RunJson<'_>) -> HashMap<&'r str, Option<f64>> {
    let mut sources: HashMap<&str, Option<f64>> = HashMap::new();
    for link in run.links.at_hand() {
        let sum = sources.entry(&*link.from).or_insert(Some(0.0));
        *sum = sum.zip(link.peak_bps).map(|(sum, peak)| sum + peak);
    }
    sources
}

/// A transfer is no faster on the mean than the links at its source ever were.
fn of_mean(row: &TransferRow<'_>, sources: &HashMap<&str, Option<f64>>) -> Option<String> {
    let TransferRow { id, from, start_s, mean_bps, .. } = row;
    let mean = mean_bps.filter(|mean| *mean > 0.0)?;
    if start_s.is_none() {
        return Some(format!("`{id}` has mean_Bps {mean}, and has not started"));
    }
    let (sent, most) = (row.sent() as f64, (*sources.get(&**from)?)?);
    let is_above = sent > most * (1.0 + ROOM) * (sent / mean + ROUNDED) + 1.0;
    is_above.then(|| format!("`{id}` has mean_Bps {mean}, and the links from `{from}` carried {most} B/s at most"))
}

/// What has not ended has sent some of its bytes until the run stopped.
fn of_unfinished(row: &TransferRow<'_>, stopped_s: Option<f64>) -> Option<String> {
    let TransferRow { id, bytes, sent_bytes, end_s, .. } = row;
    if sent_bytes.is_some() == end_s.is_some() || sent_bytes.is_some_and(|sent| sent > *bytes) {
        let (sent, end) = (sent_bytes.map(|sent| sent.to_string()), end_s.map(|end| end.to_string()));
        let [sent, end] = [sent, end].map(|text| text.unwrap_or_else(|| "null".to_owned()));
        return Some(format!("`{id}` has sent_bytes {sent} of {bytes} B, and end_s {end}"));
    }
    let (sent, stopped, (_, until)) = ((*sent_bytes)?, stopped_s?, row.sending()?);
    let is_off = if sent < *bytes { differ(until, stopped) } else { above(until, stopped) };
    is_off.then(|| format!("`{id}` sends {sent} B until {until} s by its mean_Bps, and the run stops at {stopped} s"))
}

/// Percentiles go up, and those of the times are of the transfers that are listed.
fn of_percentiles(percentiles: &Percentiles, transfers: &[TransferRow<'_>]) -> Option<String> {
    let Percentiles { completion_s, slowdown } = percentiles;
    let mut times: Vec<f64> = transfers.iter().filter_map(|row| Some(row.end_s? - row.ready_s?)).collect();
    times.sort_unstable_by(f64::total_cmp);
    let of_time = |&(percent, time): &(usize, f64)| {
        let at = times.len().checked_mul(percent)? / 100;
        other(&format!("completion_s.{percent}"), Some(time), times.get(at).copied())
    };
    disorder("completion_s", completion_s)
        .or_else(|| disorder("slowdown", slowdown))
        .or_else(|| if times.is_empty() { None } else { completion_s.0.iter().find_map(of_time) })
}

fn disorder(key: &str, ByPercent { 0: values, .. }: &ByPercent) -> Option<String> {
    let pair = values.windows(2).find(|pair| pair[1].0 <= pair[0].0 || above(pair[0].1, pair[1].1))?;
    Some(format!("{key}.{}: {} after {} of {} per cent", pair[1].0, pair[1].1, pair[0].1, pair[0].0))
}
