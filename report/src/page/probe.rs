//! How much there is to record before it is recorded.

use weir_sim_core::{Outcome, TaskGraph};

/// Sums over the phases of a run, as far as times tell: a phase begins wherever a transfer starts or has sent its last byte,
/// and arbiters that change rates in between have more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Of the transfers active in each: recorded rates.
    pub rates: u64,
    /// Of their squares: transfers named in explanations, where each is held back by all others.
    pub named: u64,
}

impl Effort {
    /// Of a run whose phases were not recorded.
    #[must_use]
    pub fn of(outcome: &Outcome, tasks: &TaskGraph) -> Self {
        let times = tasks.transfers().map(|(task, _)| outcome.tasks[task.index()]);
        let times = times.filter(|times| !times.start.is_never());
        let changes = times.flat_map(|times| [(times.start.0, 1), (times.sent.min(outcome.now).0, -1)]);
        Self::over(changes.collect())
    }

    /// Over times at which transfers begin (1) and end (−1).
    fn over(mut changes: Vec<(u64, i64)>) -> Self {
        changes.sort_unstable();
        let (mut active, mut effort) = (0_i64, Self { rates: 0, named: 0 });
        for at_once in changes.chunk_by(|a, b| a.0 == b.0) {
            active += at_once.iter().map(|change| change.1).sum::<i64>();
            effort.rates = effort.rates.saturating_add(active.unsigned_abs());
            effort.named = effort.named.saturating_add(active.unsigned_abs().saturating_pow(2));
        }
        effort
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_between_changes() {
        // [0, 4) and [0, 2), then [2, 6): two active from 0 to 2 and from 2 to 4, one from 4 to 6.
        let changes = vec![(0, 1), (4, -1), (0, 1), (2, -1), (2, 1), (6, -1)];
        assert_eq!(Effort::over(changes), Effort { rates: 5, named: 9 });
        assert_eq!(Effort::over(Vec::new()), Effort { rates: 0, named: 0 });
    }
}
