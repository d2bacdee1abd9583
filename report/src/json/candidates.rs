//! The candidates of a grid of parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_optimize::parameters::GridTable;

use super::list::RowMaker;
use super::rows::Name;
use crate::pairs::Pairs;
use crate::schemas::{Amount, Parameters, Whole};

/// A candidate of a grid of parameters.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Candidate")]
pub(crate) struct CandidateRow<'a> {
    /// Number of the candidate in the grid, from 0.
    #[schemars(with = "Whole")]
    pub(crate) candidate: u64,
    /// The value of each path that varies.
    #[serde(borrow)]
    #[schemars(with = "Parameters")]
    pub(crate) parameters: Pairs<Name<'a>, Name<'a>>,
    /// Its value by another objective than the makespan: seconds, or of a throughput bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) value: Option<Amount>,
    pub(crate) makespan_s: Amount,
    #[schemars(with = "Whole")]
    pub(crate) makespan_ps: u64,
    /// How many times as bad as the best it is by the objective.
    #[schemars(range(min = 1))]
    pub(crate) ratio: Amount,
    /// One row is the best.
    pub(crate) best: bool,
}

/// A candidate of a grid of one parameter.
pub(crate) struct ByValue<'a> {
    pub(crate) candidate: u64,
    pub(crate) path: &'a str,
    pub(crate) value: &'a str,
    pub(crate) makespan_s: f64,
    pub(crate) is_best: bool,
}

impl CandidateRow<'_> {
    /// `None` where several parameters vary, or the objective is not the makespan.
    pub(crate) fn by_value(&self) -> Option<ByValue<'_>> {
        if self.value.is_some() {
            return None;
        }
        let [(path, value)] = &self.parameters.0[..] else { return None };
        let (path, value) = (&*path.0, &*value.0);
        Some(ByValue { candidate: self.candidate, path, value, makespan_s: self.makespan_s.0, is_best: self.best })
    }
}

impl<'a> RowMaker for GridTable<'a> {
    type ResultRow = CandidateRow<'a>;

    fn rows(&self) -> impl Iterator<Item = CandidateRow<'a>> {
        GridTable::rows(self).map(|row| CandidateRow {
            candidate: row.candidate,
            value: row.value.map(Amount),
            makespan_s: Amount(row.seconds()),
            makespan_ps: row.makespan,
            ratio: Amount(row.ratio),
            best: row.best,
            parameters: Pairs(row.parameters.into_iter().map(|(path, value)| (path.into(), value.into())).collect()),
        })
    }
}
