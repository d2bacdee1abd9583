//! How much there is to record before it is recorded.

use crate::Run;

/// Phases times the transfers active in each, as far as times tell: a phase begins wherever a transfer starts or has sent
/// its last byte, and arbiters that change rates in between have more. Recording them takes time and memory in proportion.
#[must_use]
pub fn active_phases(run: &Run<'_>) -> u64 {
    let outcome = run.outcome;
    let times = run.transfers().map(|task| outcome.tasks[task.index()]).filter(|times| !times.start.is_never());
    let mut changes: Vec<(u64, i64)> =
        times.flat_map(|times| [(times.start.0, 1), (times.sent.min(outcome.now).0, -1)]).collect();
    changes.sort_unstable();
    let (mut active, mut sum) = (0_i64, 0_u64);
    for at_once in changes.chunk_by(|a, b| a.0 == b.0) {
        active += at_once.iter().map(|change| change.1).sum::<i64>();
        sum += active.unsigned_abs();
    }
    sum
}
