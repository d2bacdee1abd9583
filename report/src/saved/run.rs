//! What types do not say of a run: times that contradict each other, something listed twice, a tree that is none.
//!
//! Only what the result holds is compared: a short result has no nodes, a streamed one no transfers, one that is not
//! complete may have ended tasks that it does not list.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;

use weir_plugin_api::PS_PER_S;

use super::{Consistent, amounts, changes, flows, places, rates, spread};
use crate::json::{JobRow, LinkRow, List, NodeRow, OperationRow, PhaseRow, RunJson, TransferRow};

impl Consistent for RunJson<'_> {
    fn contradiction(&self) -> Option<String> {
        contradiction(self)
    }
}

/// The first contradiction in a run, with its place.
fn contradiction(run: &RunJson<'_>) -> Option<String> {
    let nodes = run.nodes.as_ref().map_or(&[][..], List::at_hand);
    let phases = run.phases.as_ref().map_or(&[][..], List::at_hand);
    let (transfers, operations) = (run.transfers.at_hand(), run.operations.at_hand());
    twice("transfers", transfers.iter().map(|transfer| Some(&transfer.id)))
        .or_else(|| twice("operations", operations.iter().map(|operation| Some(&operation.id))))
        .or_else(|| twice("links", run.links.at_hand().iter().map(|link| link.id)))
        .or_else(|| doubled(run.links.at_hand()))
        .or_else(|| twice("nodes", nodes.iter().map(|node| Some(node.id))))
        .or_else(|| orphan(nodes))
        .or_else(|| {
            transfers.iter().enumerate().find_map(|(i, row)| Some(format!("transfers[{i}]: {}", of_transfer(row)?)))
        })
        .or_else(|| {
            operations.iter().enumerate().find_map(|(i, row)| Some(format!("operations[{i}]: {}", of_operation(row)?)))
        })
        .or_else(|| run.jobs.iter().enumerate().find_map(|(i, row)| Some(format!("jobs[{i}]: {}", of_job(row)?))))
        .or_else(|| phases.iter().enumerate().find_map(|(i, row)| Some(format!("phases[{i}]: {}", of_phase(row)?))))
        .or_else(|| of_makespan(run))
        .or_else(|| changes::contradiction(run))
        .or_else(|| amounts::contradiction(run))
        .or_else(|| rates::contradiction(run))
        .or_else(|| spread::contradiction(run))
        .or_else(|| flows::contradiction(run))
        .or_else(|| places::contradiction(run))
}

fn of_transfer(row: &TransferRow<'_>) -> Option<String> {
    let TransferRow { id, ready_s, start_s, end_s, end_ps, .. } = row;
    let order = |first: (&str, &Option<f64>), then: (&str, &Option<f64>)| {
        let (a, b) = (first.1.as_ref()?, then.1.as_ref()?);
        (b < a).then(|| format!("`{id}` has {} {b} before {} {a}", then.0, first.0))
    };
    order(("ready_s", ready_s), ("start_s", start_s))
        .or_else(|| order(("start_s", start_s), ("end_s", end_s)))
        .or_else(|| order(("ready_s", ready_s), ("end_s", end_s)))
        .or_else(|| Some(format!("`{id}` has {}", unequal("end", *end_s, *end_ps)?)))
}

fn of_operation(row: &OperationRow<'_>) -> Option<String> {
    span(&row.id, (row.start_s, row.end_s), row.end_ps)
}

fn of_job(row: &JobRow<'_>) -> Option<String> {
    let contradicts = |slowdown: f64| {
        let (time, alone) = (row.end_s? - row.start_s?, row.alone_s?);
        Some(amounts::differ(slowdown * alone, time))
    };
    let slowdown = row.slowdown.filter(|&slowdown| contradicts(slowdown).unwrap_or(true));
    span(&row.id, (row.start_s, row.end_s), row.end_ps).or_else(|| {
        slowdown.map(|slowdown| format!("`{}` has slowdown {slowdown}, which its times contradict", row.id))
    })
}

fn span(id: &str, (start_s, end_s): (Option<f64>, Option<f64>), end_ps: Option<u64>) -> Option<String> {
    let early = start_s.zip(end_s).filter(|(start, end)| end < start);
    early
        .map(|(start, end)| format!("`{id}` has end_s {end} before start_s {start}"))
        .or_else(|| Some(format!("`{id}` has {}", unequal("end", end_s, end_ps)?)))
}

fn of_phase(row: &PhaseRow<'_>) -> Option<String> {
    let PhaseRow { start_s, end_s, .. } = row;
    (end_s < start_s).then(|| format!("end_s {end_s} is before start_s {start_s}"))
}

/// The makespan is the latest end. All ends are listed where the run is complete and its transfers are in it.
fn of_makespan(run: &RunJson<'_>) -> Option<String> {
    let makespan = run.makespan_ps;
    let transfers = run.transfers.at_hand().iter().map(|row| (&row.id, row.end_ps));
    let operations = run.operations.at_hand().iter().map(|row| (&row.id, row.end_ps));
    let jobs = run.jobs.iter().map(|row| (&row.id, row.end_ps));
    let last =
        transfers.chain(operations).chain(jobs).filter_map(|(id, end)| Some((end?, id))).max_by_key(|&(end, _)| end);
    let contradicts = last.filter(|&(end, _)| end > makespan || (run.all_listed() && end < makespan));
    unequal("makespan", Some(run.makespan_s), Some(makespan))
        .or_else(|| unequal("stopped", run.stopped_s, run.stopped_ps))
        .or_else(|| {
            contradicts.map(|(end, id)| format!("makespan_ps: {makespan}, but the last end is {end}, of `{id}`"))
        })
}

/// A time in seconds and in picoseconds that are two times; 10⁻¹² of it and 1 ps are left to other programs' digits.
pub(super) fn unequal(what: &str, seconds: Option<f64>, ps: Option<u64>) -> Option<String> {
    let same = match (seconds, ps) {
        (Some(seconds), Some(ps)) => (seconds * PS_PER_S as f64 - ps as f64).abs() <= 1.0 + ps as f64 * 1e-12,
        (seconds, ps) => seconds.is_some() == ps.is_some(),
    };
    let text = |value: Option<String>| value.unwrap_or_else(|| "null".to_owned());
    let (seconds, ps) = (text(seconds.map(|s| s.to_string())), text(ps.map(|ps| ps.to_string())));
    (!same).then(|| format!("{what}_s {seconds} and {what}_ps {ps}, which differ"))
}

/// A node that does not come after its parent: there is no way up from it.
pub(super) fn orphan(nodes: &[NodeRow<'_>]) -> Option<String> {
    let mut seen = HashSet::new();
    nodes.iter().enumerate().find_map(|(i, node)| {
        let parent = node.parent.filter(|parent| !seen.contains(parent));
        seen.insert(node.id);
        Some(format!("nodes[{i}].parent: {} is not an earlier node", parent?))
    })
}

/// A link that is none, or that is listed again: two nodes are joined once.
fn doubled(links: &[LinkRow<'_>]) -> Option<String> {
    let mut seen = HashSet::new();
    let i = links.iter().position(|link| link.from == link.to || !seen.insert((&link.from, &link.to)))?;
    let LinkRow { from, to, .. } = &links[i];
    let what = if from == to { "joins a node to itself" } else { "occurs twice" };
    Some(format!("links[{i}]: `{from}` → `{to}` {what}"))
}

pub(super) fn twice<I: Hash + Eq + Clone + Display>(
    list: &str,
    ids: impl Iterator<Item = Option<I>>,
) -> Option<String> {
    let mut seen = HashSet::new();
    let mut known = ids.enumerate().filter_map(|(i, id)| Some((i, id?)));
    let (i, id) = known.find(|(_, id)| !seen.insert(id.clone()))?;
    Some(format!("{list}[{i}].id: {id} occurs twice"))
}
