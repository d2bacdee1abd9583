//! What a search found.

use weir_optimize::search::SearchResult;
use weir_report::{SearchReport, SearchSubject, Solution, SweepReport};
use weir_scenario::Change;

use super::part::PartFile;

/// What a search found.
#[derive(Clone, Debug)]
pub struct SearchOutcome {
    /// What to report; none for a shard or a sweep.
    pub report: Option<SearchReport>,
    /// What to report of a sweep.
    pub sweep: Option<SweepReport>,
    /// The part, for a shard.
    pub part: Option<PartFile>,
    /// What makes the best of the scenario.
    pub changes: Vec<Change>,
}

impl SearchOutcome {
    /// A whole result and what makes it of the scenario.
    pub(super) fn whole(report: SearchReport, changes: Vec<Change>) -> Self {
        Self { report: Some(report), sweep: None, part: None, changes }
    }

    /// The results of a sweep, of which none is what the scenario should be.
    pub(super) fn sweep(sweep: SweepReport) -> Self {
        Self { report: None, sweep: Some(sweep), part: None, changes: Vec::new() }
    }

    /// A part of a search that was split.
    pub(super) fn shard(part: PartFile) -> Self {
        Self { report: None, sweep: None, part: Some(part), changes: Vec::new() }
    }

    /// Logs what was found; values are in the unit of the objective, ps for makespans.
    pub(super) fn log(&self) {
        if let Some(SearchReport { result, .. }) = &self.report {
            let SearchResult { candidates, evaluated, complete, bound, baseline, best, .. } = *result;
            let (method, proved) = (result.method.word(), result.proved_optimal);
            tracing::info!(method, best, baseline, bound, proved, complete, evaluated, candidates, "found the best");
        } else if let Some(SweepReport { sweep, .. }) = &self.sweep {
            tracing::info!(searches = sweep.finished(), "searched the points of the sweep");
        } else {
            tracing::info!("searched a part");
        }
    }
}

/// A report of a result, without what only some searches know.
pub(super) fn report(subject: SearchSubject, result: SearchResult<Solution>) -> SearchReport {
    SearchReport {
        subject,
        result,
        simulated: None,
        payback: None,
        distribution: None,
        grid: None,
        bound_by: None,
        no_bound: None,
        stopped: None,
        baseline_stopped: None,
    }
}
