//! The result of a search as one JSON line.

use std::borrow::Cow;
use std::io::{Result, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_optimize::parameters::GridTable;
use weir_optimize::search::{Method, Objective, Vary};

use super::list::List;
use super::lists::{IdleLinks, Nodes};
use super::search_schema::{self, Percents};
use super::write::write_line;
use crate::pictures::{Histogram, Ranks, curve, histogram};
use crate::schemas::{Amount, Count, Sha256, Version, Whole};
use crate::search::{SearchArbiter, Solution, StoppedCandidates, seconds};
use crate::{ResultKind, SearchReport};

/// A line of `weir optimize --json` or `weir merge --json`. What a method does not know is absent.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(title = "weir search result", deny_unknown_fields, transform = search_schema::relations)]
pub(crate) struct SearchJson<'a> {
    /// Version of the format of results.
    #[schemars(with = "Version")]
    pub(crate) weir: u32,
    /// The kind of result: `search`.
    #[schemars(schema_with = "search_schema::kind")]
    pub(crate) kind: ResultKind,
    /// Version of weir that wrote it.
    pub(crate) version: Cow<'a, str>,
    /// The `name` of the scenario.
    pub(crate) scenario: Cow<'a, str>,
    /// The name of its file, without folders.
    pub(crate) file: Cow<'a, str>,
    /// SHA-256 over the scenario file and every file it names, in order of reading.
    #[schemars(with = "Sha256")]
    input_sha256: Cow<'a, str>,
    /// The policy that divided the bandwidth.
    pub(crate) arbiter: Cow<'a, SearchArbiter>,
    /// What the candidates differ in.
    #[schemars(schema_with = "search_schema::vary")]
    pub(crate) vary: Vary,
    /// The method that found the result, also where `auto` chose it.
    #[schemars(schema_with = "search_schema::method")]
    pub(crate) method: Method,
    /// Number of candidates, with all its digits; absent above 2^128.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Count")]
    pub(crate) candidates: Option<u128>,
    /// Candidates whose exact value is known, by simulation or by a proven symmetry.
    #[schemars(with = "Whole")]
    pub(crate) evaluated: u128,
    /// Candidates that stop before their end, of a search that simulates each; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "StoppedCandidates")]
    pub(crate) stopped: Option<Cow<'a, StoppedCandidates>>,
    /// Why the baseline stops before its end; only where it does, and then it has no makespan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) baseline_stopped: Option<Cow<'a, str>>,
    /// Whether the search came to its end; false after an interrupt or a budget.
    pub(crate) complete: bool,
    /// Whether no candidate is better by more than 1e-9, with --exact by a picosecond.
    pub(crate) proved_optimal: bool,
    /// The quantity that is minimised.
    #[schemars(schema_with = "search_schema::objective")]
    pub(crate) objective: Objective,
    /// No candidate is better. Of another objective than the makespan: of end, sum and max seconds, of a throughput bytes
    /// per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) bound: Option<Amount>,
    /// No candidate is below it. Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) bound_s: Option<Amount>,
    /// What sets the bound, where all candidates are simulated: a link, an engine, the critical path.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) bound_by: Option<Cow<'a, str>>,
    /// Why there is no bound, where the search was to have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) no_bound: Option<Cow<'a, str>>,
    /// The scenario without changes. Of another objective than the makespan, as `bound`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) baseline: Option<Amount>,
    /// The best found. Of another objective than the makespan, as `bound`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) best: Option<Amount>,
    /// The scenario without changes. Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) baseline_s: Option<Amount>,
    /// The scenario without changes. Picoseconds, exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Whole")]
    pub(crate) baseline_ps: Option<u64>,
    /// The best found. Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) best_s: Option<Amount>,
    /// The best found. Picoseconds, exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Whole")]
    pub(crate) best_ps: Option<u64>,
    /// Mean of the middle two of all candidates. Of another objective than the makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) median: Option<Amount>,
    /// Mean of the middle two of all candidates. Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) median_s: Option<Amount>,
    /// Exact sum divided by the count. Of another objective than the makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) mean: Option<Amount>,
    /// Exact sum divided by the count. Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) mean_s: Option<Amount>,
    /// The worst of all candidates. Of another objective than the makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) worst: Option<Amount>,
    /// The worst of all candidates. Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) worst_s: Option<Amount>,
    /// The worst of all candidates. Picoseconds, exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Whole")]
    pub(crate) worst_ps: Option<u64>,
    /// sorted[count · p / 100], of another objective than the makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Percents")]
    pub(crate) percentiles: Option<Percents>,
    /// sorted[count · p / 100], seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Percents")]
    pub(crate) percentiles_s: Option<Percents>,
    /// Candidates within 1e-9 of the best.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Count")]
    pub(crate) best_count: Option<u128>,
    /// Seconds the search took; absent with --no-timing and of merged parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Amount")]
    pub(crate) wall_s: Option<Amount>,
    /// Of a placement: runs after which the time of the search is paid back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Whole")]
    pub(crate) payback_exchanges: Option<u64>,
    /// The best candidate, in the names of the scenario.
    pub(crate) solution: Cow<'a, Solution>,
    /// Of parameters: each candidate that was evaluated, by number.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "List<GridTable<'a>>")]
    pub(crate) rows: Option<List<GridTable<'a>>>,
    /// With `--full`: the makespans of all candidates, ascending; of n > 1000 those at floor(i (n − 1) / 999).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<f64>", length(max = 1000))]
    pub(crate) curve_s: Option<Vec<Amount>>,
    /// With `--full`: how many makespans lie in each of several bins of equal width.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Histogram")]
    pub(crate) histogram: Option<Histogram>,
    /// With `--full`, of a placement: the topology, as in a full result of a run.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "List<Nodes<'a>>")]
    pub(crate) nodes: Option<List<Nodes<'a>>>,
    /// With `--full`, of a placement: its links, as in a full result of a run.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "List<IdleLinks<'a>>")]
    pub(crate) links: Option<List<IdleLinks<'a>>>,
    /// With `--full`, of a placement: the device of each rank as the scenario is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    pub(crate) baseline_placement: Option<Vec<Cow<'a, str>>>,
}

impl SearchJson<'_> {
    /// A key that this search lacks, by its objective and by what it varied.
    pub(crate) fn lacks(&self) -> Option<&'static str> {
        let (own, timed) = ((self.baseline, self.best), self.objective == Objective::Makespan);
        let (baseline, best) = if timed { (self.baseline_s, self.best_s) } else { own };
        let solved = match (self.vary, &*self.solution) {
            (vary, solution) if !varied(vary, solution) => return Some("solution"),
            (Vary::Parameters, _) => self.rows.is_some() || self.method != Method::Exhaustive,
            _ => true,
        };
        let known = [
            ("baseline", baseline.is_some() || self.baseline_stopped.is_some()),
            ("best", best.is_some()),
            ("rows", solved),
        ];
        known.into_iter().find(|(_, known)| !known).map(|(key, _)| key)
    }
}

/// Whether a solution is one of all that varied.
fn varied(vary: Vary, solution: &Solution) -> bool {
    vary.singles().all(|kind| match kind {
        Vary::Order => solution.order.is_some(),
        Vary::Placement => solution.placement.is_some(),
        Vary::Parameters => solution.parameters.is_some(),
        Vary::Joint(_) => true,
    })
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
            nodes: ranks.map(|ranks| List::Made(Nodes { scenario: ranks.scenario })),
            links: ranks.map(|ranks| List::Made(IdleLinks { scenario: ranks.scenario })),
            baseline_placement: ranks.map(|ranks| ranks.devices.iter().map(|&device| device.into()).collect()),
            ..self.json()
        };
        write_line(&full, out)
    }

    fn json(&self) -> SearchJson<'_> {
        let (subject, result) = (&self.subject, &self.result);
        let timed = self.timed();
        // Values of the objective are whole picoseconds where candidates have them; a bound or a mean need not be.
        let own = |value: Option<f64>| value.filter(|_| !timed).map(|value| Amount(self.own(value)));
        let time = |value: Option<f64>| value.filter(|_| timed).map(seconds).map(Amount);
        let exact = |value: Option<f64>| value.filter(|_| timed).map(|ps| ps as u64);
        let (baseline, best) = (self.baseline(), Some(result.best));
        let (baseline_ps, best_ps) = self.makespans().map_or((None, None), |(baseline, best)| (baseline, Some(best)));
        let of_ps = |ps: Option<u64>| ps.map(|ps| Amount(seconds(ps as f64)));
        let percentiles = result.percentiles;
        SearchJson {
            weir: 1,
            kind: ResultKind::Search,
            version: env!("CARGO_PKG_VERSION").into(),
            scenario: (&*subject.scenario).into(),
            file: (&*subject.file).into(),
            input_sha256: (&*subject.input_sha256).into(),
            arbiter: Cow::Borrowed(&subject.arbiter),
            vary: result.vary,
            method: result.method,
            candidates: result.candidates,
            evaluated: result.evaluated,
            stopped: self.stopped.as_ref().map(Cow::Borrowed),
            baseline_stopped: self.baseline_stopped.as_deref().map(Cow::Borrowed),
            complete: result.complete,
            proved_optimal: result.proved_optimal,
            objective: result.objective,
            bound: own(result.bound),
            bound_s: time(result.bound),
            bound_by: self.bound_by.as_deref().map(Cow::Borrowed),
            no_bound: self.no_bound.as_deref().map(Cow::Borrowed),
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
            percentiles: percentiles
                .filter(|_| !timed)
                .map(|values| Percents::new(values.map(|value| self.own(value)))),
            percentiles_s: percentiles.filter(|_| timed).map(|values| Percents::new(values.map(seconds))),
            best_count: result.best_count,
            wall_s: result.wall_s.map(Amount),
            payback_exchanges: self.payback,
            solution: Cow::Borrowed(&result.solution),
            rows: self.grid.as_ref().map(|outcome| List::Made(outcome.table())),
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
    use serde_json::Map;
    use weir_optimize::search::SearchResult;

    use super::*;
    use crate::SearchSubject;

    fn report(objective: Objective) -> SearchReport {
        let arbiter = SearchArbiter { name: "a".into(), version: "1".into(), sha256: None, params: Map::new() };
        let subject = SearchSubject { scenario: "s".into(), file: "f".into(), input_sha256: "0".into(), arbiter };
        let solution = Solution::of_order(vec![("b".into(), vec!["x".into()]), ("a".into(), Vec::new())]);
        let result = SearchResult {
            candidates: Some(u128::MAX),
            evaluated: 2,
            objective,
            bound: Some(1.5),
            ..SearchResult::new(Vary::Placement, Method::BranchAndBound, 4.0, 3.0, solution)
        };
        SearchReport {
            subject,
            result,
            simulated: Some((Some(8), 6)),
            payback: None,
            distribution: None,
            grid: None,
            bound_by: None,
            no_bound: None,
            stopped: None,
            baseline_stopped: None,
        }
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
        assert_eq!(report(Objective::Distance).makespans(), Some((Some(8), 6)));
        assert_eq!(report(Objective::Makespan).makespans(), Some((Some(4), 3)));
    }
}
