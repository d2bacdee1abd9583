//! What a run says of where and by whom transfers were held back: links and transfers that are not in it.

use std::collections::HashSet;

use super::amounts::found;
use crate::json::{List, RunJson, TransferRow};
use crate::link::Ends;
use crate::{CauseKind, TransferCause};

/// The first contradiction, with its place.
pub(super) fn contradiction(run: &RunJson<'_>) -> Option<String> {
    let transfers = run.transfers.at_hand();
    let known = Known::of(run);
    of_topology(run, transfers)
        .or_else(|| found("transfers", transfers, |row| of_others(row, &known)))
        .or_else(|| found("transfers", transfers, of_cause))
}

/// A full result has the topology.
fn of_topology(run: &RunJson<'_>, transfers: &[TransferRow<'_>]) -> Option<String> {
    let topology = Topology::of(run)?;
    found("transfers", transfers, |row| of_places(row, &topology))
        .or_else(|| found("link_changes", &run.link_changes, |row| topology.lacks(row.ends())))
}

/// What `cause_detail` says of the link is the bottleneck, unless the transfer lost most before its start.
fn of_cause(row: &TransferRow<'_>) -> Option<String> {
    let TransferRow { cause, cause_detail, bottleneck, .. } = row;
    if cause.is_some() != cause_detail.is_some() {
        return Some("one of `cause` and `cause_detail` is missing".to_owned());
    }
    let TransferCause { kind, link, engine, at_bottleneck, .. } = cause_detail.as_ref()?;
    let is_queued = *kind == CauseKind::EngineBusy;
    let text = |link: &Option<Ends<'_>>| {
        link.as_ref().map_or("null".to_owned(), |Ends { from, to }| format!("`{from}` → `{to}`"))
    };
    if is_queued != engine.is_some() || !is_queued && at_bottleneck.is_some() {
        return Some("cause_detail: `engine` and `at_bottleneck` are of `engine-busy` alone".to_owned());
    }
    let expected = if is_queued { &None } else { bottleneck };
    (link != expected).then(|| format!("cause_detail.link: {}, but the bottleneck is {}", text(link), text(bottleneck)))
}

/// The ids that a run lists.
struct Known<'r> {
    transfers: HashSet<&'r str>,
    operations: HashSet<&'r str>,
}

impl<'r> Known<'r> {
    fn of(run: &'r RunJson<'_>) -> Self {
        Self {
            transfers: run.transfers.at_hand().iter().map(|row| &*row.id).collect(),
            operations: run.operations.at_hand().iter().map(|row| &*row.id).collect(),
        }
    }

    /// Whether an engine may have served it: tasks of operations are not listed by themselves.
    fn serves(&self, id: &str) -> bool {
        let is_part = || id.match_indices('/').any(|(at, _)| self.operations.contains(&id[..at]));
        self.transfers.contains(id) || self.operations.contains(id) || is_part()
    }
}

/// Who is responsible is in the run.
fn of_others(row: &TransferRow<'_>, known: &Known<'_>) -> Option<String> {
    let is_known = |cause: &TransferCause<'_>, by: &str| match cause.kind {
        CauseKind::EngineBusy => known.serves(by),
        _ => known.transfers.contains(by),
    };
    let cause = row.cause_detail.as_ref();
    if let Some(by) = cause.and_then(|cause| cause.by().filter(|by| !is_known(cause, by))) {
        return Some(format!("cause_detail.by: the run has no transfer `{by}`"));
    }
    found("held", row.held.as_deref().unwrap_or_default(), |held| {
        let by = held.by.as_deref().filter(|by| !known.transfers.contains(by))?;
        Some(format!("by: the run has no transfer `{by}`"))
    })
}

/// The nodes and links of a full result.
struct Topology<'r> {
    nodes: HashSet<&'r str>,
    links: HashSet<(&'r str, &'r str)>,
    /// By number.
    ends: Vec<(&'r str, &'r str)>,
}

impl<'r> Topology<'r> {
    fn of(run: &'r RunJson<'_>) -> Option<Self> {
        let nodes = run.nodes.as_ref().map(List::at_hand)?;
        let ends: Vec<_> = run.links.at_hand().iter().map(|link| (&*link.from, &*link.to)).collect();
        Some(Self {
            nodes: nodes.iter().map(|node| &*node.name).collect(),
            links: ends.iter().copied().collect(),
            ends,
        })
    }

    fn lacks(&self, (from, to): (&str, &str)) -> Option<String> {
        (!self.links.contains(&(from, to))).then(|| format!("`{from}` → `{to}` is no link"))
    }
}

/// Links and nodes of a transfer are those of the topology.
fn of_places(row: &TransferRow<'_>, topology: &Topology<'_>) -> Option<String> {
    let lacks = |Ends { from, to }: &Ends<'_>| topology.lacks((from, to));
    let memory = row.cause_detail.as_ref().and_then(|cause| cause.node.as_deref());
    let mut names = [Some(&*row.from), Some(&*row.to), memory].into_iter().flatten();
    let lost = names.find(|name| !topology.nodes.contains(name));
    if let Some(link) = row.bottleneck.as_ref().filter(|link| lacks(link).is_some()) {
        return Some(format!("`{}` has the bottleneck `{}` → `{}`, which is no link", row.id, link.from, link.to));
    }
    lost.map(|name| format!("`{}`: the run has no node `{name}`", row.id))
        .or_else(|| found("held", row.held.as_deref().unwrap_or_default(), |held| lacks(held.link.as_ref()?)))
        .or_else(|| {
            found("reroutes", &row.reroutes, |other| {
                lacks(&other.down).or_else(|| found("links", &other.links, lacks)).or_else(|| {
                    let numbered = other.route.as_ref()?.iter().map(|&link| topology.ends.get(link as usize).copied());
                    let named = other.links.iter().map(|link| Some((&*link.from, &*link.to)));
                    (!numbered.eq(named)).then(|| "its route has other links than `links`".to_owned())
                })
            })
        })
}
