//! `vary: parameters`: every candidate is the scenario with its values set, read and run anew.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use weir_optimize::parameters::{Axis, Grid, Outcome, Part, Search, Shard};
use weir_optimize::search::{Method, Objective, SearchResult, Vary};
use weir_report::{SearchReport, SearchSubject, Solution};
use weir_scenario::{Change, Parameter};

use super::bench::{Bench, Found, report, too_soon};
use super::part::{PartFile, PartOf};
use super::progress::Progress;
use crate::failure::Failure;
use crate::interrupt;

/// Searches the grid, or one shard of it.
pub(super) fn search(bench: &Bench<'_>) -> Result<Found, Failure> {
    let parameters = bench.scenario.optimize.as_ref().map_or(&[][..], |spec| &spec.parameters);
    let grid = Grid::new(parameters.iter().map(axis).collect::<Result<_, _>>()?).map_err(|e| at(parameters, &e))?;
    let baseline = NonZeroU64::new(bench.baseline()?);
    let baseline = baseline.ok_or_else(|| Failure::usage("the scenario takes no time: there is nothing to compare"))?;
    let subject = bench.subject()?;
    let input = input(bench, &subject);
    let search = Search {
        grid: &grid,
        input: &input,
        shard: bench.args.shard.unwrap_or(Shard::ALL),
        baseline: Some(baseline),
        checkpoint: bench.args.checkpoint.as_deref(),
    };
    let runs = bench.runs();
    let progress = Progress::new("candidates", grid.candidates().div_ceil(search.shard.count()));
    let evaluated = AtomicU64::new(0);
    let evaluate = |values: &[(&str, &str)]| {
        let edits: Vec<_> = values.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
        let makespan = runs.makespan(&edits).map_err(|failure| failure.brief())?;
        progress.update(evaluated.load(Ordering::Relaxed), Some(makespan));
        Ok(makespan)
    };
    let part = search.run(evaluate, bench.stop.flag(), &evaluated).map_err(Failure::usage)?;
    drop(progress);
    interrupt::settling();
    if bench.args.shard.is_some() {
        return Ok(Found::part(PartFile::new(subject, PartOf::Parameters(part))));
    }
    let mut report = whole_report(subject, part)?;
    report.result.wall_s = bench.wall();
    let Solution::Parameters(values) = &report.result.solution else { return Ok(Found::whole(report, Vec::new())) };
    let changes = values.iter().map(|(path, value)| Change::Set(path.clone(), value.clone())).collect();
    Ok(Found::whole(report, changes))
}

/// What decides makespans beside the values: the files, the arbiter, the values of the command line.
fn input(bench: &Bench<'_>, subject: &SearchSubject) -> String {
    let of = (&subject.input_sha256, &subject.arbiter, bench.index, &bench.args.scenario.set);
    serde_json::json!(of).to_string()
}

/// The values that a parameter takes.
pub(super) fn axis(parameter: &Parameter) -> Result<Axis, Failure> {
    let path = &parameter.path;
    let wrong = |error| at(std::slice::from_ref(parameter), &format!("`{path}`: {error}"));
    Ok(Axis::list(path, parameter.values().map_err(wrong)?))
}

/// An error of the grid, with the place of the parameters in the file.
pub(super) fn at(parameters: &[Parameter], error: &dyn std::fmt::Display) -> Failure {
    let place = parameters.first().map_or_else(String::new, |first| format!("{}: ", first.position));
    Failure::usage(format!("{place}{error}"))
}

/// The report of a whole grid.
pub(super) fn whole_report(subject: SearchSubject, part: Part) -> Result<SearchReport, Failure> {
    let grid = Outcome::new(part).map_err(Failure::usage)?;
    let result = whole(&grid)?;
    Ok(SearchReport { distribution: Some(grid.distribution().clone()), grid: Some(grid), ..report(subject, result) })
}

/// What a whole grid tells.
fn whole(outcome: &Outcome) -> Result<SearchResult<Solution>, Failure> {
    let ((best, _), values) = outcome.best().zip(outcome.solution()).ok_or_else(too_soon)?;
    let complete = outcome.complete();
    let own = |(path, value): (&str, &str)| (path.to_owned(), value.to_owned());
    let result = SearchResult {
        vary: Vary::Parameters,
        method: Method::Exhaustive,
        candidates: Some(outcome.grid().candidates().into()),
        evaluated: outcome.evaluated().into(),
        complete,
        proved_optimal: complete,
        objective: Objective::Makespan,
        bound: complete.then_some(best as f64),
        baseline: outcome.baseline().unwrap_or(best) as f64,
        best: best as f64,
        median: None,
        mean: None,
        worst: None,
        percentiles: None,
        best_count: None,
        wall_s: None,
        solution: Solution::Parameters(values.into_iter().map(own).collect()),
    };
    Ok(result.with_statistics(outcome.distribution()))
}
