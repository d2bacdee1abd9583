//! Results of searches: JSON, and what the text of [`crate::text::search`] is made of.
//!
//! Makespans appear in seconds as `best_s` and, where they are whole picoseconds, exactly as `best_ps`; other objectives
//! as `best`. A placement that was found by another objective has both. What a method does not know is left out.
//! `candidates` and `evaluated` are written with all their digits: numbers above 2^53 need a reader of large integers
//! (Python's is one). `candidates` is left out above 2^128.

use std::io::Write;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use weir_optimize::order::Distribution;
use weir_optimize::parameters::Outcome;
use weir_optimize::search::{Objective, PERCENTILES, SearchResult};
use weir_plugin_api::PS_PER_S;

use crate::json::write_line;

/// The JSON Schema of one line of `weir optimize --json` or `weir merge --json`, as a text.
pub const SEARCH_SCHEMA: &str = include_str!("search.schema.json");

/// What was searched: a scenario under one of its arbiters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchSubject {
    /// The scenario's name.
    pub scenario: String,
    /// The name of its file, without folders: results are the same wherever it lies.
    pub file: String,
    /// SHA-256 of everything read for it.
    pub input_sha256: String,
    /// The arbiter.
    pub arbiter: SearchArbiter,
}

impl SearchSubject {
    /// What every result begins with.
    pub(crate) fn begin<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("weir", &1)?;
        map.serialize_entry("version", env!("CARGO_PKG_VERSION"))?;
        map.serialize_entry("scenario", &self.scenario)?;
        map.serialize_entry("file", &self.file)?;
        map.serialize_entry("input_sha256", &self.input_sha256)?;
        map.serialize_entry("arbiter", &self.arbiter)
    }

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
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchArbiter {
    /// Its name in scenarios.
    pub name: String,
    /// Version of the policy.
    pub version: String,
    /// SHA-256 of the library it was loaded from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The parameters given.
    pub params: Map<String, Value>,
}

/// What was found, in the names of the scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Solution {
    /// Device and what it sends, in this order.
    Order(Vec<(String, Vec<String>)>),
    /// The device of each rank.
    Placement(Vec<String>),
    /// Path and value, to be set in this order.
    Parameters(Vec<(String, String)>),
}

impl Serialize for Solution {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(1))?;
        match self {
            Self::Order(order) => map.serialize_entry("order", &Pairs(order))?,
            Self::Placement(devices) => map.serialize_entry("placement", devices)?,
            Self::Parameters(values) => map.serialize_entry("parameters", &Pairs(values))?,
        }
        map.end()
    }
}

/// A map in the order of a list.
pub(crate) struct Pairs<'a, T>(pub(crate) &'a [(String, T)]);

impl<T: Serialize> Serialize for Pairs<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// The result of a search, ready to be written.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchReport {
    /// What was searched.
    pub subject: SearchSubject,
    /// What was found.
    pub result: SearchResult<Solution>,
    /// Of a placement by another objective: the makespan as it is and with the best placement, ps.
    pub simulated: Option<(u64, u64)>,
    /// Of a placement: exchanges after which the time of the search is paid back.
    pub payback: Option<u64>,
    /// All makespans, where they are known.
    pub distribution: Option<Distribution>,
    /// All candidates, of a grid of parameters.
    pub grid: Option<Outcome>,
}

impl SearchReport {
    /// Writes it as one JSON line.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, out: impl Write) -> std::io::Result<()> {
        write_line(self, out)
    }

    /// Whether values of the objective are times.
    pub(crate) fn timed(&self) -> bool {
        self.result.objective == Objective::Makespan
    }

    /// The makespans as it is and of the best, ps, where they are known.
    #[must_use]
    pub fn makespans(&self) -> Option<(u64, u64)> {
        let whole = (self.result.baseline as u64, self.result.best as u64);
        if self.timed() { Some(whole) } else { self.simulated }
    }
}

impl Serialize for SearchReport {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (subject, result) = (&self.subject, &self.result);
        let mut map = to.serialize_map(None)?;
        subject.begin(&mut map)?;
        map.serialize_entry("vary", &result.vary)?;
        map.serialize_entry("method", &result.method)?;
        if let Some(candidates) = &result.candidates {
            map.serialize_entry("candidates", candidates)?;
        }
        map.serialize_entry("evaluated", &result.evaluated)?;
        map.serialize_entry("complete", &result.complete)?;
        map.serialize_entry("proved_optimal", &result.proved_optimal)?;
        map.serialize_entry("objective", &result.objective)?;
        self.values(&mut map)?;
        if let Some(count) = &result.best_count {
            map.serialize_entry("best_count", count)?;
        }
        if let Some(wall) = &result.wall_s {
            map.serialize_entry("wall_s", wall)?;
        }
        if let Some(payback) = &self.payback {
            map.serialize_entry("payback_exchanges", payback)?;
        }
        map.serialize_entry("solution", &result.solution)?;
        if let Some(outcome) = &self.grid {
            map.serialize_entry("rows", &outcome.table())?;
        }
        map.end()
    }
}

impl SearchReport {
    fn values<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let result = &self.result;
        self.value(map, "bound", result.bound)?;
        self.value(map, "baseline", Some(result.baseline))?;
        self.value(map, "best", Some(result.best))?;
        if let Some((baseline, best)) = self.simulated.filter(|_| !self.timed()) {
            for (name, ps) in [("baseline", baseline), ("best", best)] {
                map.serialize_entry(&format!("{name}_s"), &seconds(ps as f64))?;
                map.serialize_entry(&format!("{name}_ps"), &ps)?;
            }
        }
        self.value(map, "median", result.median)?;
        self.value(map, "mean", result.mean)?;
        self.value(map, "worst", result.worst)?;
        if let Some(percentiles) = &result.percentiles {
            let unit = |value| if self.timed() { seconds(value) } else { value };
            let pairs: Vec<(String, f64)> = PERCENTILES
                .iter()
                .zip(percentiles)
                .map(|(percent, &value)| (percent.to_string(), unit(value)))
                .collect();
            map.serialize_entry(if self.timed() { "percentiles_s" } else { "percentiles" }, &Pairs(&pairs))?;
        }
        Ok(())
    }

    /// A value of the objective; those of candidates are whole picoseconds, a bound or a mean need not be.
    fn value<M: SerializeMap>(&self, map: &mut M, name: &str, value: Option<f64>) -> Result<(), M::Error> {
        let Some(value) = value else { return Ok(()) };
        if !self.timed() {
            return map.serialize_entry(name, &value);
        }
        map.serialize_entry(&format!("{name}_s"), &seconds(value))?;
        if matches!(name, "baseline" | "best" | "worst") {
            map.serialize_entry(&format!("{name}_ps"), &(value as u64))?;
        }
        Ok(())
    }
}

/// Seconds of ps, as for all results.
pub(crate) fn seconds(ps: f64) -> f64 {
    ps / PS_PER_S as f64
}

#[cfg(test)]
mod tests {
    use weir_optimize::search::{Method, Vary};

    use super::*;

    fn report(objective: Objective) -> SearchReport {
        let arbiter = SearchArbiter { name: "a".into(), version: "1".into(), sha256: None, params: Map::new() };
        let subject = SearchSubject { scenario: "s".into(), file: "f".into(), input_sha256: "0".into(), arbiter };
        let result = SearchResult {
            vary: Vary::Placement,
            method: Method::BranchAndBound,
            candidates: Some(u128::MAX),
            evaluated: 2,
            complete: true,
            proved_optimal: false,
            objective,
            bound: Some(1.5),
            baseline: 4.0,
            best: 3.0,
            median: None,
            mean: None,
            worst: None,
            percentiles: None,
            best_count: None,
            wall_s: None,
            solution: Solution::Order(vec![("b".into(), vec!["x".into()]), ("a".into(), Vec::new())]),
        };
        SearchReport { subject, result, simulated: Some((8, 6)), payback: None, distribution: None, grid: None }
    }

    fn json(report: &SearchReport) -> String {
        let mut out = Vec::new();
        report.write(&mut out).expect("memory takes it");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn large_numbers_have_all_their_digits_and_what_is_unknown_is_absent() {
        let text = json(&report(Objective::Makespan));
        assert!(
            text.contains("\"method\":\"branch-and-bound\",\"candidates\":340282366920938463463374607431768211455,")
        );
        assert!(
            text.contains("\"bound_s\":1.5e-12,\"baseline_s\":4e-12,\"baseline_ps\":4,\"best_s\":3e-12,\"best_ps\":3,")
        );
        assert!(text.ends_with("\"solution\":{\"order\":{\"b\":[\"x\"],\"a\":[]}}}\n"), "{text}");
        for absent in ["median", "mean", "worst", "percentiles", "best_count", "wall_s", "rows", "null"] {
            assert!(!text.contains(absent), "{absent}");
        }
    }

    #[test]
    fn another_objective_has_makespans_beside_it() {
        let text = json(&report(Objective::Distance));
        let values = "\"bound\":1.5,\"baseline\":4.0,\"best\":3.0,\
                      \"baseline_s\":8e-12,\"baseline_ps\":8,\"best_s\":6e-12,\"best_ps\":6,";
        assert!(text.contains(values), "{text}");
        assert_eq!(report(Objective::Distance).makespans(), Some((8, 6)));
        assert_eq!(report(Objective::Makespan).makespans(), Some((4, 3)));
    }
}
