//! Results of searches: JSON, and what the text of [`crate::text::search`] is made of.
//!
//! Makespans appear in seconds as `best_s` and, where they are whole picoseconds, exactly as `best_ps`; other objectives
//! as `best`, in seconds where they are times. What was found by another objective has both. What a method does not know is left out.
//! `candidates` and `evaluated` are written with all their digits: numbers above 2^53 need a reader of large integers
//! (Python's is one). `candidates` is left out above 2^128.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use weir_optimize::Distribution;
use weir_optimize::parameters::Outcome;
use weir_optimize::search::{Objective, SearchResult};
use weir_plugin_api::PS_PER_S;

use crate::schemas::{Sha256, object};

/// What was searched: a scenario under one of its arbiters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchSubject {
    /// The name that the scenario gives itself, or its file's.
    pub scenario: String,
    /// The name of its file, without folders: results are the same wherever it lies.
    pub file: String,
    /// SHA-256 of everything read for it.
    pub input_sha256: String,
    /// Under which arbiter candidates were simulated.
    pub arbiter: SearchArbiter,
}

impl SearchSubject {
    /// What differs from another subject, in the words of a person; its file's name does not count.
    #[must_use]
    pub fn differs(&self, other: &Self) -> Option<&'static str> {
        let (own, others) = (&self.arbiter, &other.arbiter);
        if self.input_sha256 != other.input_sha256 {
            return Some("scenario, or the scenario was changed since");
        }
        if own.name != others.name {
            return Some("arbiter");
        }
        if own.params != others.params {
            return Some("choice of the arbiter's parameters");
        }
        (own != others).then_some("version of the arbiter")
    }
}

/// The arbiter of a search.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Arbiter")]
pub struct SearchArbiter {
    /// The name by which `arbiter:` and `--arbiter` choose it.
    pub name: String,
    /// Version that the policy states of itself.
    pub version: String,
    /// SHA-256 of the library it was loaded from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Sha256")]
    pub sha256: Option<String>,
    /// Its parameters as the scenario gives them.
    #[serde(deserialize_with = "object")]
    pub params: Map<String, Value>,
}

/// What was found, in the names of the scenario: of each kind of decision that varied.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Solution {
    /// Device and what it sends, in this order.
    #[serde(default, with = "crate::pairs::optional", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BTreeMap<String, Vec<String>>")]
    pub order: Option<Vec<(String, Vec<String>)>>,
    /// The device of each rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    pub placement: Option<Vec<String>>,
    /// Path and value, to be set in this order.
    #[serde(default, with = "crate::pairs::optional", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub parameters: Option<Vec<(String, String)>>,
}

impl Solution {
    /// Of a search over orders alone.
    #[must_use]
    pub fn of_order(order: Vec<(String, Vec<String>)>) -> Self {
        Self { order: Some(order), ..Self::default() }
    }

    /// Of a search over placements alone.
    #[must_use]
    pub fn of_placement(placement: Vec<String>) -> Self {
        Self { placement: Some(placement), ..Self::default() }
    }

    /// Of a search over parameters alone.
    #[must_use]
    pub fn of_parameters(parameters: Vec<(String, String)>) -> Self {
        Self { parameters: Some(parameters), ..Self::default() }
    }
}

/// Candidates that stop before their end: in a deadlock, or by `on_failure: fail`. They count, and are never the best.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoppedCandidates {
    /// How many.
    #[schemars(with = "crate::schemas::Whole")]
    pub candidates: u64,
    /// The first of them, and why it stops.
    pub first: String,
}

/// The result of a search, ready to be written.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchReport {
    /// Which scenario was searched, under which arbiter.
    pub subject: SearchSubject,
    /// The best candidate and the statistics, in the names of the scenario.
    pub result: SearchResult<Solution>,
    /// By another objective: the makespan of the baseline, unless that stops, and of the best, ps.
    pub simulated: Option<(Option<u64>, u64)>,
    /// Of a placement: exchanges after which the time of the search is paid back.
    pub payback: Option<u64>,
    /// All makespans, where they are known.
    pub distribution: Option<Distribution>,
    /// All candidates, of a grid of parameters.
    pub grid: Option<Outcome>,
    /// What sets the bound, where a simulated search has one: `the busiest link, a → b`.
    pub bound_by: Option<String>,
    /// Why there is no bound, where the search was to have one.
    pub no_bound: Option<String>,
    /// Candidates that stop before their end; none where all run to it, or the search does not simulate them.
    pub stopped: Option<StoppedCandidates>,
    /// Why the baseline stops before its end, where it does: it has no value then.
    pub baseline_stopped: Option<String>,
}

impl SearchReport {
    /// Whether the objective is the makespan.
    pub(crate) fn timed(&self) -> bool {
        self.result.objective == Objective::Makespan
    }

    /// Whether all that varies are seeds: then nobody chooses among the candidates, and what counts is their distribution.
    pub(crate) fn is_sample(&self) -> bool {
        let is_seed = |path: &str| path.rsplit('.').next() == Some("seed");
        self.distribution.is_some()
            && self.grid.as_ref().is_some_and(|grid| grid.grid().axes().iter().all(|axis| is_seed(&axis.path)))
    }

    /// A value of another objective than the makespan, as results write it: times in seconds.
    pub(crate) fn own(&self, value: f64) -> f64 {
        if self.result.objective.is_time() { seconds(value) } else { value }
    }

    /// The value of the baseline, by the objective; none where it stops before its end.
    #[must_use]
    pub fn baseline(&self) -> Option<f64> {
        self.baseline_stopped.is_none().then_some(self.result.baseline)
    }

    /// The makespans of the baseline, unless that stops, and of the best, ps, where they are known.
    #[must_use]
    pub fn makespans(&self) -> Option<(Option<u64>, u64)> {
        let whole = || (self.baseline().map(|ps| ps as u64), self.result.best as u64);
        if self.timed() { Some(whole()) } else { self.simulated }
    }
}

/// Seconds of ps, as for all results.
pub(crate) fn seconds(ps: f64) -> f64 {
    ps / PS_PER_S as f64
}
