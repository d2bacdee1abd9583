//! What a full result says of the arbiter's steps: phases and transfers that are not those of the run, rates that are none.

use std::collections::HashSet;

use super::amounts::{differ, found};
use crate::json::{ExplainRow, ExplainedRow, LinkRow, PhaseRow, StepRow, TransferRow};

/// The most that a scenario gives a link, bytes per second.
const MOST: f64 = 1e18;

/// Each phase is explained, with each transfer that has a rate in it once.
pub(super) fn contradiction(
    explained: &[ExplainRow<'_>],
    phases: &[PhaseRow<'_>],
    links: &[LinkRow<'_>],
    transfers: &[TransferRow<'_>],
) -> Option<String> {
    if explained.len() != phases.len() {
        return Some(format!("explain: {} phases, but `phases` has {}", explained.len(), phases.len()));
    }
    let ends: HashSet<(&str, &str)> = links.iter().map(|link| (&*link.from, &*link.to)).collect();
    let ids: HashSet<&str> = transfers.iter().map(|row| &*row.id).collect();
    explained.iter().zip(phases).enumerate().find_map(|(i, (row, phase))| {
        let fault = of_phase(row, phase).or_else(|| {
            found("transfers", &row.transfers, |transfer| {
                found("steps", &transfer.steps, |step| of_step(step, links.len(), &ends, &ids))
            })
        })?;
        Some(format!("explain[{i}]: {fault}"))
    })
}

fn of_phase(row: &ExplainRow<'_>, phase: &PhaseRow<'_>) -> Option<String> {
    if differ(row.start_s, phase.start_s) || differ(row.end_s, phase.end_s) {
        return Some("its times are not those of the phase".to_owned());
    }
    let rated: HashSet<&str> = phase.rates_bps.0.iter().map(|(id, _)| &*id.0).collect();
    let mut listed = HashSet::new();
    let other = row.transfers.iter().find(|ExplainedRow { id, .. }| !rated.contains(&**id) || !listed.insert(&**id));
    match other {
        Some(ExplainedRow { id, .. }) if rated.contains(&**id) => Some(format!("`{id}` is listed twice")),
        Some(ExplainedRow { id, .. }) => Some(format!("`{id}` has no rate in this phase")),
        None => rated.difference(&listed).min().map(|id| format!("`{id}` has a rate in this phase, and is not listed")),
    }
}

/// A step names what there is.
fn of_step(step: &StepRow<'_>, links: usize, ends: &HashSet<(&str, &str)>, ids: &HashSet<&str>) -> Option<String> {
    let StepRow { link, rate_bps, because, .. } = step;
    if let Some(link) = link.as_ref().filter(|link| !ends.contains(&(&*link.from, &*link.to))) {
        return Some(format!("`{}` → `{}` is no link", link.from, link.to));
    }
    if let Some(other) = because.iter().find(|other| !ids.contains(&*other.0)) {
        return Some(format!("because: the run has no transfer `{}`", other.0));
    }
    // Of several routes at once, a transfer has the bandwidths of all.
    let is_rate = (0.0..=MOST * links.max(1) as f64).contains(rate_bps);
    (!is_rate).then(|| format!("rate_Bps: {rate_bps} is no rate"))
}
