//! What a full result says of the topology and of what went over it: links between nodes, routes that are ways, bytes and rates
//! that fit them. And what every result says of whether it is whole.

use std::collections::{HashMap, HashSet};

use weir_plugin_api::NodeKind;

use super::amounts::{ROOM, above, differ, found};
use super::explained;
use crate::changes::LinkChangeRow;
use crate::json::{LinkRow, List, NodeRow, PhaseRow, RunJson, StreamedJson, TransferRow};

/// Seconds.
const PS: f64 = 1e-12;

/// The first contradiction, with its place.
pub(super) fn contradiction(run: &RunJson<'_>) -> Option<String> {
    of_input(&run.input_sha256).or_else(|| of_end(run)).or_else(|| {
        let nodes = run.nodes.as_ref()?.at_hand();
        let (links, transfers) = (run.links.at_hand(), run.transfers.at_hand());
        let phases = run.phases.as_ref().map_or(&[][..], List::at_hand);
        let explained = run.explain.as_ref().map(List::at_hand);
        let mut peaks = vec![0.0; links.len()];
        of_topology(nodes, links, &names(nodes))
            .or_else(|| found("transfers", transfers, |row| of_route(row, links)))
            .or_else(|| of_bytes(run, links, transfers))
            .or_else(|| of_rates(phases, (links, &run.link_changes), transfers, &mut peaks))
            .or_else(|| if run.complete { of_sent(phases, transfers) } else { None })
            .or_else(|| if run.phases.is_some() { of_peaks(links, &peaks, transfers) } else { None })
            .or_else(|| explained::contradiction(explained?, phases, links, transfers))
    })
}

/// The names of nodes.
pub(super) fn names<'r>(nodes: &'r [NodeRow<'_>]) -> HashSet<&'r str> {
    nodes.iter().map(|node| &*node.name).collect()
}

/// Nodes are of known kinds, and links join them.
pub(super) fn of_topology(nodes: &[NodeRow<'_>], links: &[LinkRow<'_>], names: &HashSet<&str>) -> Option<String> {
    let each = || links.iter().enumerate();
    found("nodes", nodes, of_node).or_else(|| each().find_map(|(i, row)| of_link(i, row, names)))
}

fn of_input(text: &str) -> Option<String> {
    let is_digest = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (!is_digest).then(|| format!("input_sha256: `{text}` is not 64 hexadecimal digits"))
}

/// A run is complete, or it stopped at some time; in a complete one everything has ended.
fn of_end(run: &RunJson<'_>) -> Option<String> {
    let (complete, stopped) = (run.complete, run.stopped_ps);
    if complete == stopped.is_some() {
        let stopped = stopped.map_or("no stopped_ps".to_owned(), |ps| format!("stopped_ps {ps}"));
        return Some(format!("complete: {complete}, with {stopped}"));
    }
    if let Some(stopped) = stopped.filter(|&stopped| stopped < run.makespan_ps) {
        return Some(format!("stopped_ps: {stopped} is before makespan_ps {}", run.makespan_ps));
    }
    let transfers = run.transfers.at_hand();
    let ended = transfers.iter().filter(|row| row.end_ps.is_some()).count();
    if complete && ended < transfers.len() {
        let row = transfers.iter().position(|row| row.end_ps.is_none()).unwrap_or_default();
        return Some(format!("transfers[{row}].end_ps: null in a run that is complete"));
    }
    let is_off = |all: &&StreamedJson| all.ended > all.transfers || complete && all.ended < all.transfers;
    if let Some(StreamedJson { transfers, ended }) = run.streamed.as_ref().filter(is_off) {
        return Some(format!("streamed.ended: {ended} of {transfers} transfers"));
    }
    let streamed = run.streamed.as_ref().map_or(0, |streamed| streamed.ended.saturating_mul(2));
    let (events, started) = (run.events(), transfers.iter().filter(|row| row.start_s.is_some()).count());
    let least = streamed.max(started + ended);
    (events < least as u64).then(|| format!("events: {events}, but transfers alone started and ended {least} times"))
}

fn of_node(node: &NodeRow<'_>) -> Option<String> {
    let (name, kind) = (&node.name, &*node.kind);
    let is_known = NodeKind::ALL.iter().any(|known| known.word() == kind);
    (!is_known).then(|| format!("`{name}` is a `{kind}`, which is no kind of node"))
}

/// All links are there, by number, each between two nodes.
fn of_link(i: usize, row: &LinkRow<'_>, names: &HashSet<&str>) -> Option<String> {
    let LinkRow { id, from, to, bandwidth_bps, direction, .. } = row;
    let what = if id.map(|id| id as usize) != Some(i) {
        format!("its id is {}, not {i}", id.map_or("missing".to_owned(), |id| id.to_string()))
    } else if let Some(name) = [from, to].into_iter().find(|name| !names.contains(&***name)) {
        format!("the run has no node `{name}`")
    } else if !bandwidth_bps.is_some_and(|bandwidth| bandwidth > 0.0) {
        "it has no bandwidth_Bps above 0".to_owned()
    } else if !matches!(direction.as_deref(), Some("up" | "down" | "lateral")) {
        format!("direction `{}` is none of up, down and lateral", direction.as_deref().unwrap_or_default())
    } else {
        return None;
    };
    Some(format!("links[{i}]: `{from}` → `{to}`: {what}"))
}

/// A route leads from link to link, from the source to the destination; of several at once each link has its part.
fn of_route(row: &TransferRow<'_>, links: &[LinkRow<'_>]) -> Option<String> {
    let routes = std::iter::once((row.route.as_ref(), &row.shares))
        .chain(row.reroutes.iter().map(|other| (other.route.as_ref(), &other.shares)));
    routes.filter_map(|(route, shares)| of_one_route(row, (route?, shares.as_ref()), links)).next()
}

fn of_one_route(
    row: &TransferRow<'_>,
    (route, shares): (&Vec<u32>, Option<&Vec<f64>>),
    links: &[LinkRow<'_>],
) -> Option<String> {
    let TransferRow { id, from, to, .. } = row;
    if let Some(link) = route.iter().find(|&&link| link as usize >= links.len()) {
        return Some(format!("`{id}` has link {link} on its route, and the run has {} links", links.len()));
    }
    if let Some(shares) = shares {
        let are_parts = shares.len() == route.len() && shares.iter().all(|&share| share > 0.0 && !above(share, 1.0));
        return (!are_parts).then(|| format!("`{id}` has `shares` that are no parts, one for each link of `route`"));
    }
    let mut at = from;
    for &link in route {
        let link = &links[link as usize];
        if link.from != *at {
            return Some(format!("`{id}` has a route that goes from `{at}` on over `{}` → `{}`", link.from, link.to));
        }
        at = &link.to;
    }
    (at != to && !route.is_empty()).then(|| format!("`{id}` has a route that ends at `{at}`, not at `{to}`"))
}

/// Links carried what transfers sent. Packets that were in buffers when a run stopped have not crossed all of their links.
fn of_bytes(run: &RunJson<'_>, links: &[LinkRow<'_>], transfers: &[TransferRow<'_>]) -> Option<String> {
    if run.streamed.is_some() || transfers.iter().any(|row| row.route.is_none()) {
        return None;
    }
    // Each route of several has whole bytes, and the least share is that of one route.
    let mut sent = vec![(0.0, 1.0); links.len()];
    for row in transfers {
        for (from, _, bytes) in row.legs((f64::NEG_INFINITY, f64::INFINITY)) {
            let least = row.parts_at(from).fold(1.0, |least: f64, (_, share)| least.min(share));
            for (link, share) in row.parts_at(from) {
                sent[link as usize].0 += bytes as f64 * share;
                sent[link as usize].1 += share / least;
            }
        }
    }
    links.iter().zip(sent).enumerate().find_map(|(i, (row, (sent, room)))| {
        let off = row.bytes as f64 - sent;
        let is_less = off < 0.0 && run.fidelity.is_some() && !run.complete;
        let is_off = off.abs() > room + sent * ROOM && !is_less;
        let LinkRow { from, to, bytes, .. } = row;
        is_off.then(|| format!("links[{i}]: `{from}` → `{to}` carried {bytes} B, and transfers sent {sent} B over it"))
    })
}

/// In each phase, transfers have rates, and links that do not change carry no more than their bandwidths. `peaks` takes the most
/// that each link carries.
fn of_rates(
    phases: &[PhaseRow<'_>],
    (links, changes): (&[LinkRow<'_>], &[LinkChangeRow<'_>]),
    transfers: &[TransferRow<'_>],
    peaks: &mut [f64],
) -> Option<String> {
    let changed: HashSet<(&str, &str)> = changes.iter().map(LinkChangeRow::ends).collect();
    let by_id: HashMap<&str, &TransferRow<'_>> = transfers.iter().map(|row| (&*row.id, row)).collect();
    let mut loads = vec![0.0; links.len()];
    phases.iter().enumerate().find_map(|(i, phase)| {
        let fault = of_phase(phase, &by_id, (&mut loads, peaks), (links, &changed));
        fault.map(|what| format!("phases[{i}]: {what}"))
    })
}

/// `loads` is all 0 before and after.
fn of_phase(
    phase: &PhaseRow<'_>,
    by_id: &HashMap<&str, &TransferRow<'_>>,
    (loads, peaks): (&mut [f64], &mut [f64]),
    (links, changed): (&[LinkRow<'_>], &HashSet<(&str, &str)>),
) -> Option<String> {
    let mut used = Vec::new();
    for (id, rate) in &phase.rates_bps.0 {
        let id = &*id.0;
        let Some(row) = by_id.get(id) else { return Some(format!("the run has no transfer `{id}`")) };
        if !(rate.is_finite() && *rate >= 0.0) {
            return Some(format!("`{id}` has rate {rate}"));
        }
        for (link, share) in row.parts_at(phase.start_s) {
            loads[link as usize] += rate * share;
            used.push(link as usize);
        }
    }
    let over = used.iter().find_map(|&link| {
        let (load, row) = (loads[link], &links[link]);
        let most = row.bandwidth_bps.filter(|&most| !changed.contains(&(&*row.from, &*row.to)) && above(load, most))?;
        Some(format!("rates of {load} B/s in all over `{}` → `{}`, whose bandwidth_Bps is {most}", row.from, row.to))
    });
    for link in used {
        peaks[link] = loads[link].max(peaks[link]);
        loads[link] = 0.0;
    }
    over
}

/// The most that a link carried in a phase is its peak. One that takes another route does so at any moment of a phase.
fn of_peaks(links: &[LinkRow<'_>], peaks: &[f64], transfers: &[TransferRow<'_>]) -> Option<String> {
    if transfers.iter().any(|row| row.route.is_none() || !row.reroutes.is_empty()) {
        return None;
    }
    links.iter().zip(peaks).enumerate().find_map(|(i, (row, most))| {
        let LinkRow { from, to, peak_bps, .. } = row;
        let peak = peak_bps.filter(|&peak| differ(peak, *most))?;
        Some(format!("links[{i}]: `{from}` → `{to}` has peak_Bps {peak}, and carries {most} B/s at most in `phases`"))
    })
}

/// Phases of a complete run have sent at least the bytes of each transfer, which may be sent again after a link was down. Times
/// of phases are to a picosecond, and rates have all digits.
fn of_sent(phases: &[PhaseRow<'_>], transfers: &[TransferRow<'_>]) -> Option<String> {
    if phases.is_empty() {
        return None;
    }
    let mut sent: HashMap<&str, (f64, f64)> = HashMap::new();
    for phase in phases {
        for (id, rate) in &phase.rates_bps.0 {
            let (bytes, room) = sent.entry(&*id.0).or_default();
            *bytes += rate * (phase.end_s - phase.start_s);
            *room += rate * (2.0 * PS + phase.end_s * f64::EPSILON);
        }
    }
    transfers.iter().enumerate().find_map(|(i, row)| {
        let (bytes, room) = sent.get(&*row.id).copied().unwrap_or_default();
        let lacks = above(row.bytes as f64, bytes + room + 1.0);
        lacks.then(|| format!("transfers[{i}]: `{}` has {} bytes, and `phases` send {bytes}", row.id, row.bytes))
    })
}
