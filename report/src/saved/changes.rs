//! What a run says of links that changed, and of the routes that transfers took then: times that cannot all be true.

use weir_plugin_api::SimDuration;

use super::amounts::{above, differ, found};
use super::run::unequal;
use crate::changes::{LinkChangeRow, LinkStepRow};
use crate::json::{RunJson, TransferRow};

/// The first contradiction, with its place.
pub(super) fn contradiction(run: &RunJson<'_>) -> Option<String> {
    let end_ps = run.makespan_ps.max(run.stopped_ps.unwrap_or(0));
    found("link_changes", &run.link_changes, |row| of_change(row, end_ps))
        .or_else(|| found("transfers", run.transfers.at_hand(), of_reroutes))
}

/// A link changes in the order of time, before the end of the run. Where all of its changes are listed, they say for how long it
/// was down.
fn of_change(row: &LinkChangeRow<'_>, end_ps: u64) -> Option<String> {
    let LinkChangeRow { steps, changes, down_s, .. } = row;
    let ends = || steps.iter().skip(1).map(|step| step.at_ps).chain([end_ps]);
    let late = |(step, end_ps): (&LinkStepRow, u64)| step.at_ps > end_ps;
    if let Some(fault) = found("steps", steps, |step| unequal("at", Some(step.at_s), Some(step.at_ps))) {
        return Some(fault);
    }
    if let Some(at) = steps.iter().zip(ends()).position(late) {
        return Some(format!("steps[{at}].at_ps: {} is after what follows", steps[at].at_ps));
    }
    let listed = steps.len() as u64;
    let known = steps.iter().zip(ends()).filter(|(step, _)| step.bandwidth == 0.0).map(|(step, end)| end - step.at_ps);
    let (known_s, end_s) = (SimDuration(known.sum()).seconds(), SimDuration(end_ps).seconds());
    let is_off = if listed == *changes { differ(*down_s, known_s) } else { listed > *changes || above(*down_s, end_s) };
    is_off.then(|| {
        format!("down_s {down_s} and changes {changes} of a link that {listed} steps hold down for {known_s} s")
    })
}

/// The two times of each route are one.
fn of_reroutes(row: &TransferRow<'_>) -> Option<String> {
    found("reroutes", &row.reroutes, |other| unequal("at", Some(other.at_s), Some(other.at_ps)))
}
