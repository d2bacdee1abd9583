//! What a run says of amounts in several places: times, bytes and rates that cannot all be true.

use std::collections::HashSet;

use weir_sim_core::MOST_BRANCHES;

use super::delays;
use crate::changes::LinkChangeRow;
use crate::json::{LinkRow, List, PhaseRow, RunJson, TransferRow};

/// Relative room for the digits of other programs, and for what the audit of a run allows.
pub(super) const ROOM: f64 = 1e-8;
/// Seconds of room for picoseconds that were rounded.
const ROUNDED: f64 = 1e-11;

/// The first amounts that contradict each other, with their place.
pub(super) fn contradiction(run: &RunJson<'_>) -> Option<String> {
    let span = run.stopped_s.unwrap_or(run.makespan_s).max(run.makespan_s);
    let (links, transfers) = (run.links.at_hand(), run.transfers.at_hand());
    let changed: HashSet<(&str, &str)> = run.link_changes.iter().map(LinkChangeRow::ends).collect();
    let phases = run.phases.as_ref().map_or(&[][..], List::at_hand);
    let parts = parts(run);
    of_fingerprint(run.fingerprint())
        .or_else(|| found("transfers", transfers, |row| of_transfer(row, links)))
        .or_else(|| found("links", links, |row| of_link(row, span, parts, &changed)))
        .or_else(|| found("phases", phases, |row| of_phase(row, span)))
        .or_else(|| of_order(phases))
}

pub(super) fn found<T>(list: &str, rows: &[T], fault: impl Fn(&T) -> Option<String>) -> Option<String> {
    rows.iter().enumerate().find_map(|(i, row)| Some(format!("{list}[{i}]: {}", fault(row)?)))
}

fn of_fingerprint(text: &str) -> Option<String> {
    let is_digest = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (!is_digest).then(|| format!("fingerprint: `{text}` is not 16 hexadecimal digits"))
}

pub(super) fn above(value: f64, most: f64) -> bool {
    value > most * (1.0 + ROOM) + ROUNDED
}

pub(super) fn differ(a: f64, b: f64) -> bool {
    (a - b).abs() > a.abs().max(b.abs()) * ROOM + ROUNDED
}

/// A number that others determine, which may be none, and is another.
pub(super) fn other(key: &str, given: Option<f64>, expected: Option<f64>) -> Option<String> {
    let same = match (given, expected) {
        (Some(given), Some(expected)) => !differ(given, expected),
        (given, expected) => given.is_some() == expected.is_some(),
    };
    let text = |number: Option<f64>| number.map_or("null".to_owned(), |number| number.to_string());
    (!same).then(|| format!("{key}: {}, but by what it follows from {}", text(given), text(expected)))
}

/// Parts in which transfers went, at most one for each of their routes: parts are whole bytes, and may be one too many. Over how
/// many routes at once, short results do not say, nor do those before another route. A number that nothing else bounds would excuse any bytes.
fn parts(run: &RunJson<'_>) -> f64 {
    let parts = |row: &TransferRow<'_>| match (&row.route, &row.shares) {
        (Some(_), None) if row.reroutes.is_empty() => 1,
        _ => MOST_BRANCHES * (1 + row.reroutes.len()),
    };
    let listed: usize = run.transfers.at_hand().iter().map(parts).sum();
    (listed + MOST_BRANCHES * run.streamed.as_ref().map_or(0, |streamed| streamed.transfers)) as f64
}

fn of_transfer(row: &TransferRow<'_>, links: &[LinkRow<'_>]) -> Option<String> {
    let (TransferRow { id, mean_bps, .. }, sent) = (row, row.sent());
    if let Some(mean) = mean_bps.filter(|mean| !(mean.is_finite() && *mean >= 0.0) || *mean == 0.0 && sent > 0) {
        return Some(format!("`{id}` has mean_Bps {mean} and sent {sent} B"));
    }
    delays::contradiction(row).or_else(|| of_sending(row, links))
}

/// All bytes are sent before the end; where latencies are known, just before. Packets wait in buffers, too.
fn of_sending(row: &TransferRow<'_>, links: &[LinkRow<'_>]) -> Option<String> {
    let (TransferRow { id, bytes, .. }, end) = (row, row.end_s?);
    let (_, sent) = row.sending()?;
    let latency = |route: &Vec<u32>| -> Option<f64> {
        route.iter().map(|&link| links.get(link as usize).filter(|row| row.id == Some(link))?.latency_s).sum()
    };
    let is_simple = row.shares.is_none() && row.reroutes.is_empty();
    let latency = row.route.as_ref().filter(|_| is_simple).and_then(latency);
    let is_late = above(sent, end);
    // Of packets the mean rate is that until the end.
    let is_early = match row.sent_s {
        None => latency.is_some_and(|latency| differ(sent + latency, end)),
        Some(_) => differ(sent, end),
    };
    let is_other = row.sent_s.is_some_and(|sent| above(sent + latency.unwrap_or(0.0), end));
    (is_late || is_early || is_other)
        .then(|| format!("`{id}` sends {bytes} B until {sent} s by its mean_Bps, and ends at {end} s"))
}

fn of_link(row: &LinkRow<'_>, span: f64, parts: f64, changed: &HashSet<(&str, &str)>) -> Option<String> {
    let LinkRow { from, to, bytes, busy_s, peak_bps, bandwidth_bps, .. } = row;
    let named = |what: String| Some(format!("`{from}` → `{to}` {what}"));
    if above(*busy_s, span) {
        return named(format!("is busy for {busy_s} s of {span} s"));
    }
    if let Some(peak) = peak_bps.filter(|peak| *peak < 0.0) {
        return named(format!("has peak_Bps {peak}"));
    }
    // Of packets the wire carries headers too: what it can is not in the result.
    if let Some(wire) = row.wire_bytes {
        return if wire < *bytes { named(format!("has wire_bytes {wire}, below bytes {bytes}")) } else { None };
    }
    // A link that changed may have had a higher bandwidth for a while.
    let bandwidth_bps = bandwidth_bps.filter(|_| !changed.contains(&(&**from, &**to)));
    if let Some((peak, bandwidth)) = peak_bps.zip(bandwidth_bps).filter(|&(peak, most)| above(peak, most)) {
        return named(format!("has peak_Bps {peak} over bandwidth_Bps {bandwidth}"));
    }
    let most = peak_bps.or(bandwidth_bps)?;
    let is_above = *bytes as f64 > most * (1.0 + ROOM) * (busy_s + ROUNDED) + 1.0 + parts;
    if is_above { named(format!("carried {bytes} B in {busy_s} s at no more than {most} B/s")) } else { None }
}

fn of_phase(row: &PhaseRow<'_>, span: f64) -> Option<String> {
    let PhaseRow { end_s, .. } = row;
    above(*end_s, span).then(|| format!("end_s {end_s} is after the end of the run, {span} s"))
}

/// One phase follows the other.
fn of_order(phases: &[PhaseRow<'_>]) -> Option<String> {
    let pairs = phases.windows(2).enumerate();
    let mut early = pairs.filter(|(_, pair)| pair[1].start_s + ROUNDED < pair[0].end_s * (1.0 - ROOM));
    early.next().map(|(i, pair)| {
        format!(
            "phases[{}]: start_s {} is before the end of the phase before it, {}",
            i + 1,
            pair[1].start_s,
            pair[0].end_s
        )
    })
}
