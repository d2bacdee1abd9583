//! The result of a search as one JSON line.

use std::io::{Result, Write};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};
use weir_optimize::parameters::GridTable;
use weir_optimize::search::{Method, Objective, PERCENTILES, Vary};

use super::rows::{LinkRow, NodeRow};
use super::{IdleLinks, Nodes, write_line};
use crate::pictures::{Histogram, Ranks, curve, histogram};
use crate::schemas::{Amount, Count, Parameters, Sha256, Version, Whole, schema_of, words};
use crate::search::{SearchArbiter, Solution, seconds};
use crate::{ResultKind, SearchReport};

/// The JSON Schema of one line of `weir optimize --json` or `weir merge --json`.
#[must_use]
pub fn search_schema() -> Value {
    schema_of::<SearchJson<'static>>()
}

/// A line of `weir optimize --json` or `weir merge --json`. What a method does not know is absent.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "weir search result", deny_unknown_fields, transform = relations)]
pub(crate) struct SearchJson<'a> {
    /// Version of this format.
    #[schemars(with = "Version")]
    weir: u32,
    /// What it is.
    #[schemars(schema_with = "kind")]
    kind: ResultKind,
    /// Version of the program.
    version: &'a str,
    /// Name of the scenario.
    scenario: &'a str,
    /// The name of its file, without folders.
    file: &'a str,
    /// SHA-256 over the scenario file and every file it names, in order of reading.
    #[schemars(with = "Sha256")]
    input_sha256: &'a str,
    /// The policy that divided the bandwidth.
    arbiter: &'a SearchArbiter,
    /// What was varied.
    #[schemars(schema_with = "vary")]
    vary: Vary,
    /// How it was searched.
    #[schemars(schema_with = "method")]
    method: Method,
    /// Number of candidates, with all its digits; absent above 2^128.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Count")]
    candidates: Option<u128>,
    /// Candidates whose exact value is known, by simulation or by a proven symmetry.
    #[schemars(with = "Whole")]
    evaluated: u128,
    /// Whether the search came to its end; false after an interrupt or a budget.
    complete: bool,
    /// Whether no candidate is better by more than 1e-9, with --exact by a picosecond.
    proved_optimal: bool,
    /// What is minimised.
    #[schemars(schema_with = "objective")]
    objective: Objective,
    /// No candidate is below it. Of another objective than the makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    bound: Option<f64>,
    /// No candidate is below it. Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    bound_s: Option<f64>,
    /// The scenario as it is. Of another objective than the makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    baseline: Option<f64>,
    /// The best found. Of another objective than the makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    best: Option<f64>,
    /// The scenario as it is. Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    baseline_s: Option<f64>,
    /// The scenario as it is. Picoseconds, exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Whole")]
    baseline_ps: Option<u64>,
    /// The best found. Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    best_s: Option<f64>,
    /// The best found. Picoseconds, exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Whole")]
    best_ps: Option<u64>,
    /// Mean of the middle two of all candidates. Of another objective than the makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    median: Option<f64>,
    /// Mean of the middle two of all candidates. Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    median_s: Option<f64>,
    /// Exact sum divided by the count. Of another objective than the makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    mean: Option<f64>,
    /// Exact sum divided by the count. Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    mean_s: Option<f64>,
    /// The worst of all candidates. Of another objective than the makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    worst: Option<f64>,
    /// The worst of all candidates. Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    worst_s: Option<f64>,
    /// The worst of all candidates. Picoseconds, exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Whole")]
    worst_ps: Option<u64>,
    /// sorted[count · p / 100], of another objective than the makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Percents")]
    percentiles: Option<Percents>,
    /// sorted[count · p / 100], seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Percents")]
    percentiles_s: Option<Percents>,
    /// Candidates within 1e-9 of the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Count")]
    best_count: Option<u128>,
    /// Seconds the search took; absent with --no-timing and of merged parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    wall_s: Option<f64>,
    /// Of a placement: runs after which the time of the search is paid back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Whole")]
    payback_exchanges: Option<u64>,
    /// The best found.
    solution: &'a Solution,
    /// Of parameters: each candidate that was evaluated, by number.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<GridRow>")]
    rows: Option<GridTable<'a>>,
    /// With `--full`: the makespans of all candidates, ascending; of n > 1000 those at floor(i (n − 1) / 999).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<f64>", length(max = 1000))]
    curve_s: Option<Vec<f64>>,
    /// With `--full`: how many makespans lie in each of several bins of equal width.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Histogram")]
    histogram: Option<Histogram>,
    /// With `--full`, of a placement: the topology, as in a full result of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<NodeRow>")]
    nodes: Option<Nodes<'a>>,
    /// With `--full`, of a placement: its links, as in a full result of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<LinkRow>")]
    links: Option<IdleLinks<'a>>,
    /// With `--full`, of a placement: the device of each rank as the scenario is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    baseline_placement: Option<&'a [&'a str]>,
}

/// A candidate of a grid of parameters, as [`GridTable`] writes it.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Candidate")]
#[allow(dead_code, reason = "a type for the schema")]
struct GridRow {
    /// Its number.
    #[schemars(with = "Whole")]
    candidate: u64,
    /// Path and value.
    parameters: Parameters,
    #[schemars(with = "Amount")]
    makespan_s: f64,
    #[schemars(with = "Whole")]
    makespan_ps: u64,
    /// Makespan over the best.
    #[schemars(range(min = 1))]
    ratio: f64,
    /// One row is the best.
    best: bool,
}

/// Values by per cent.
struct Percents([f64; 6]);

impl Serialize for Percents {
    fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_map(PERCENTILES.iter().zip(&self.0))
    }
}

impl JsonSchema for Percents {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Percents".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let keys = PERCENTILES.map(|percent| percent.to_string());
        let properties: Map<String, Value> =
            keys.iter().map(|key| (key.clone(), json!({ "type": "number", "minimum": 0 }))).collect();
        json_schema!({ "type": "object", "required": keys, "properties": properties, "additionalProperties": false })
    }
}

fn kind(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "const": ResultKind::Search })
}

fn vary(_: &mut SchemaGenerator) -> Schema {
    words(Vary::ALL)
}

/// A result names the method that was taken.
fn method(_: &mut SchemaGenerator) -> Schema {
    words(Method::ALL.into_iter().filter(|&method| method != Method::Auto))
}

fn objective(_: &mut SchemaGenerator) -> Schema {
    words(Objective::ALL)
}

/// Which keys go together: what types do not say.
fn relations(schema: &mut Schema) {
    let only = |vary: &str, others: Value| {
        let mut then = json!({ "properties": { "solution": { "required": [vary] } } });
        for absent in others.as_array().into_iter().flatten().filter_map(Value::as_str) {
            then["properties"][absent] = false.into();
        }
        json!({ "if": { "properties": { "vary": { "const": vary } } }, "then": then })
    };
    let mut parameters = only("parameters", json!(["payback_exchanges"]));
    parameters["then"]["required"] = json!(["rows", "candidates"]);
    let plain = ["bound", "baseline", "best", "median", "mean", "worst", "percentiles"];
    let absent: Map<String, Value> = plain.iter().map(|&key| (key.to_owned(), false.into())).collect();
    let makespan = json!({
        "if": { "properties": { "objective": { "const": "makespan" } } },
        "then": { "required": ["baseline_s", "baseline_ps", "best_s", "best_ps"], "properties": absent },
        "else": { "required": ["baseline", "best"], "properties": { "vary": { "const": "placement" } } }
    });
    let all =
        [only("order", json!(["rows", "payback_exchanges"])), only("placement", json!(["rows"])), parameters, makespan];
    schema.insert("allOf".to_owned(), all.into_iter().collect());
}

impl SearchReport {
    /// Writes it as one JSON line.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, out: impl Write) -> Result<()> {
        write_line(&self.json(), out)
    }

    /// Writes it as one JSON line, with what pictures need: `curve_s` and `histogram` where the makespans of all candidates
    /// are known, and for placements `nodes`, `links` and `baseline_placement`.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_full(&self, ranks: Option<&Ranks<'_>>, out: impl Write) -> Result<()> {
        let all = self.all().filter(|distribution| distribution.count() > 0);
        let full = SearchJson {
            curve_s: all.as_ref().map(curve),
            histogram: all.as_ref().map(histogram),
            nodes: ranks.map(|ranks| Nodes { scenario: ranks.scenario }),
            links: ranks.map(|ranks| IdleLinks { scenario: ranks.scenario }),
            baseline_placement: ranks.map(|ranks| &ranks.devices[..]),
            ..self.json()
        };
        write_line(&full, out)
    }

    fn json(&self) -> SearchJson<'_> {
        let (subject, result) = (&self.subject, &self.result);
        let timed = self.timed();
        // Values of the objective are whole picoseconds where candidates have them; a bound or a mean need not be.
        let own = |value: Option<f64>| value.filter(|_| !timed);
        let time = |value: Option<f64>| value.filter(|_| timed).map(seconds);
        let exact = |value: Option<f64>| value.filter(|_| timed).map(|ps| ps as u64);
        let (baseline, best) = (Some(result.baseline), Some(result.best));
        let (baseline_ps, best_ps) = self.makespans().unzip();
        let of_ps = |ps: Option<u64>| ps.map(|ps| seconds(ps as f64));
        let percentiles = result.percentiles;
        SearchJson {
            weir: 1,
            kind: ResultKind::Search,
            version: env!("CARGO_PKG_VERSION"),
            scenario: &subject.scenario,
            file: &subject.file,
            input_sha256: &subject.input_sha256,
            arbiter: &subject.arbiter,
            vary: result.vary,
            method: result.method,
            candidates: result.candidates,
            evaluated: result.evaluated,
            complete: result.complete,
            proved_optimal: result.proved_optimal,
            objective: result.objective,
            bound: own(result.bound),
            bound_s: time(result.bound),
            baseline: own(baseline),
            best: own(best),
            baseline_s: time(baseline).or(of_ps(baseline_ps)),
            baseline_ps,
            best_s: time(best).or(of_ps(best_ps)),
            best_ps,
            median: own(result.median),
            median_s: time(result.median),
            mean: own(result.mean),
            mean_s: time(result.mean),
            worst: own(result.worst),
            worst_s: time(result.worst),
            worst_ps: exact(result.worst),
            percentiles: percentiles.filter(|_| !timed).map(Percents),
            percentiles_s: percentiles.filter(|_| timed).map(|values| Percents(values.map(seconds))),
            best_count: result.best_count,
            wall_s: result.wall_s,
            payback_exchanges: self.payback,
            solution: &result.solution,
            rows: self.grid.as_ref().map(|outcome| outcome.table()),
            curve_s: None,
            histogram: None,
            nodes: None,
            links: None,
            baseline_placement: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_optimize::search::SearchResult;

    use super::*;
    use crate::SearchSubject;

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
