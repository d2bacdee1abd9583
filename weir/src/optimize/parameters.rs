//! `vary: parameters`: every candidate is the scenario with its values set, read and run anew.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use weir_optimize::parameters::{Axis, Grid, Outcome, Part, Ran, Search, Shard, Tried};
use weir_optimize::search::{Method, Objective, SearchResult, Vary};
use weir_report::{SearchReport, SearchSubject, Solution, StoppedCandidates};
use weir_scenario::{Change, Parameter, Scenario};

use super::context::{SearchContext, too_soon};
use super::goal::{self, NO_BYTES, value_of};
use super::outcome::{SearchOutcome, report};
use super::part::{PartFile, PartOf};
use super::watch::Checkpoint;
use crate::scenario::Source;
use crate::{Error, ErrorKind, Registry};

/// Values of a parameter that [`check`] tries, from either end.
const TRIED: usize = 8;

/// Reads the scenario with single values of its parameters, those at both ends of each, without a run.
///
/// # Errors
/// There is no such grid, or a value is refused.
pub(crate) fn check(scenario: &Scenario, source: &Source, registry: &Registry) -> Result<(), Error> {
    let Some(spec) = scenario.optimize.as_ref().filter(|spec| !spec.parameters.is_empty()) else { return Ok(()) };
    let parameters = &spec.parameters;
    if spec.vary.has(Vary::Parameters) {
        usable(parameters)?;
    } else {
        Grid::repeating(parameters.iter().map(axis).collect()).map_err(|error| at(parameters, &error))?;
    }
    for parameter in parameters {
        let values = parameter.values();
        for at in tried(values.len()) {
            let options = source.edited(&[(parameter.path.clone(), values[at].clone())]);
            let read = weir_scenario::load(source.input(), &options, registry);
            read.map_err(|findings| unreadable(parameter, &values[at], &registry.error_of(findings)))?;
        }
    }
    Ok(())
}

/// The values of a parameter that are tried, of so many.
fn tried(values: usize) -> impl Iterator<Item = usize> {
    (0..values.min(TRIED)).chain(TRIED.max(values.saturating_sub(TRIED))..values)
}

fn unreadable(parameter: &Parameter, value: &str, error: &Error) -> Error {
    let what = format!("{}: `{}` cannot be {value}", parameter.position, parameter.path);
    Error::new(error.kind(), format!("{what}: {}", error.brief()))
}

/// Refuses values that no candidate can have before a search begins, which may come to them late: as [`check`], with the
/// first value of all others. `edits` makes a candidate of values by their places.
pub(super) fn readable(
    context: &SearchContext<'_>,
    axes: &[(&Parameter, Vec<String>)],
    edits: impl Fn(Vec<usize>) -> Vec<(String, String)> + Sync,
) -> Result<(), Error> {
    let all: Vec<(usize, usize)> =
        axes.iter().enumerate().flat_map(|(axis, (_, values))| tried(values.len()).map(move |at| (axis, at))).collect();
    let read = |&(axis, at): &(usize, usize)| {
        let mut values = vec![0; axes.len()];
        values[axis] = at;
        let (parameter, texts) = &axes[axis];
        match context.cancelled() {
            true => Ok(()),
            false => {
                context.runs().read(&edits(values)).map(drop).map_err(|error| unreadable(parameter, &texts[at], &error))
            }
        }
    };
    // The first in the order of the file, whichever thread comes to it.
    all.par_iter().map(read).collect::<Vec<_>>().into_iter().collect()
}

/// Refuses parameters that make no grid; there may be any number of candidates.
pub(super) fn usable(parameters: &[Parameter]) -> Result<(), Error> {
    let axes: Vec<Axis> = parameters.iter().map(axis).collect();
    Grid::check(&axes).map_err(|error| at(parameters, &error))
}

/// Searches the grid, or one shard of it.
pub(super) fn search(context: &SearchContext<'_>) -> Result<SearchOutcome, Error> {
    let parameters = context.scenario.optimize.as_ref().map_or(&[][..], |spec| &spec.parameters);
    let grid = Grid::new(parameters.iter().map(axis).collect()).map_err(|e| at(parameters, &e))?;
    let (baseline, baseline_stopped) = baseline(context)?;
    let subject = context.subject()?;
    let input = input(context, &subject);
    let search = Search {
        grid: &grid,
        input: &input,
        shard: context.options.shard.unwrap_or(Shard::ALL),
        objective: context.settings.objective,
        baseline,
        checkpoint: context.options.checkpoint.map(Checkpoint::file),
    };
    let span = tracing::Span::current();
    context.options.watch.begin("candidates", grid.candidates().div_ceil(search.shard.count()), 0);
    let evaluated = AtomicU64::new(0);
    let evaluate = |values: &[(&str, &str)]| {
        let edits: Vec<_> = values.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
        let candidate = tracing::debug_span!(parent: &span, "candidate", ?values);
        let found = match candidate.in_scope(|| evaluated_with(context, &edits)) {
            Err(error) if error.kind() == ErrorKind::Stopped => Tried::Stopped(error.brief()),
            found => found.map_err(|error| error.brief())?,
        };
        context.options.watch.progress(evaluated.load(Ordering::Relaxed), time(context, &found));
        Ok(found)
    };
    let part = search.run(evaluate, context.cancel, &evaluated).map_err(Error::input)?;
    context.options.watch.finish();
    if context.options.shard.is_some() {
        return Ok(SearchOutcome::shard(PartFile::new(subject, PartOf::Parameters(part))));
    }
    let mut report = whole_report(subject, part)?;
    report.result.wall_s = context.wall();
    report.baseline_stopped = report.baseline_stopped.and(baseline_stopped);
    let changes = report.result.solution.parameters.iter().flatten();
    let changes = changes.map(|(path, value)| Change::Set(path.clone(), value.clone())).collect();
    Ok(SearchOutcome::whole(report, changes))
}

/// What the scenario with some edits comes to.
fn evaluated_with(context: &SearchContext<'_>, edits: &[(String, String)]) -> Result<Tried, Error> {
    let runs = context.runs();
    if context.settings.objective == Objective::Makespan {
        return runs.makespan(edits).map(Tried::from);
    }
    let scenario = runs.read(edits)?;
    let outcome = runs.outcome(&scenario)?;
    let value = value_of(context, &scenario, &outcome).ok_or_else(|| Error::input(NO_BYTES))?;
    Ok(Tried::Ran { makespan: outcome.makespan.0, value: Some(value) })
}

/// What the line of progress shows of a candidate: a time by the objective, ps.
fn time(context: &SearchContext<'_>, tried: &Tried) -> Option<u64> {
    match *tried {
        Tried::Ran { value: Some(value), .. } => context.settings.objective.is_time().then_some(value as u64),
        Tried::Ran { makespan, value: None } => Some(makespan),
        Tried::Stopped(_) => None,
    }
}

/// The baseline, or why it stops before its end.
fn baseline(context: &SearchContext<'_>) -> Result<(Option<Ran>, Option<String>), Error> {
    let found = goal::baseline(&context.preparing())?;
    let value = (context.settings.objective != Objective::Makespan).then_some(found.value);
    let ran = found.makespan.and_then(NonZeroU64::new).map(|makespan| Ran { makespan, value });
    Ok((ran, found.stopped))
}

/// What decides makespans beside the values: the files, the arbiter, the values of the command line.
fn input(context: &SearchContext<'_>, subject: &SearchSubject) -> String {
    let of = (&subject.input_sha256, &subject.arbiter, context.arbiter, &context.source.options.set);
    serde_json::json!(of).to_string()
}

/// The values that a parameter takes.
pub(super) fn axis(parameter: &Parameter) -> Axis {
    Axis::list(&parameter.path, parameter.values())
}

/// An error of the grid, with the place of the parameters in the file.
pub(super) fn at(parameters: &[Parameter], error: &dyn std::fmt::Display) -> Error {
    let place = parameters.first().map_or_else(String::new, |first| format!("{}: ", first.position));
    Error::input(format!("{place}{error}"))
}

/// The report of a whole grid.
pub(super) fn whole_report(subject: SearchSubject, part: Part) -> Result<SearchReport, Error> {
    let grid = Outcome::new(part).map_err(Error::input)?;
    let stopped = stopped(&grid);
    let result = whole(&grid).map_err(|error| match &stopped {
        Some(stopped) => none_ends(&stopped.first),
        None => error,
    })?;
    let distribution = grid.distribution().cloned();
    let simulated = (grid.objective() != Objective::Makespan).then(|| makespans(&grid)).flatten();
    // Parts do not say why.
    let baseline_stopped = grid.baseline().is_none().then(|| "it does not run to its end".to_owned());
    Ok(SearchReport { simulated, distribution, grid: Some(grid), stopped, baseline_stopped, ..report(subject, result) })
}

/// The makespans of the baseline, unless that stops, and of the best.
fn makespans(grid: &Outcome) -> Option<(Option<u64>, u64)> {
    Some((grid.baseline(), grid.makespan(grid.best()?)?))
}

/// The candidates of a grid that stop, the first by its values.
fn stopped(grid: &Outcome) -> Option<StoppedCandidates> {
    let mut stopped = grid.stopped();
    let candidates = stopped.len() as u64;
    let (number, reason) = stopped.next()?;
    Some(StoppedCandidates { candidates, first: named(grid.grid().values(number), reason) })
}

/// Why a candidate has no makespan, after its values.
pub(super) fn named<'v>(values: impl IntoIterator<Item = (&'v str, &'v str)>, reason: &str) -> String {
    let values: Vec<String> = values.into_iter().map(|(path, value)| format!("{path}={value}")).collect();
    if values.is_empty() { reason.to_owned() } else { format!("{}: {reason}", values.join(", ")) }
}

/// An error of a search none of whose candidates runs to its end.
pub(super) fn none_ends(first: &str) -> Error {
    let help = "vary something else; where links fail, let transfers wait for them: `on_failure: wait`";
    Error::new(ErrorKind::Stopped, format!("no candidate runs to its end; {help}; the first: {first}"))
}

/// The result of a whole grid.
fn whole(outcome: &Outcome) -> Result<SearchResult<Solution>, Error> {
    let best = outcome.best().and_then(|best| outcome.value(best));
    let (best, values) = best.zip(outcome.solution()).ok_or_else(too_soon)?;
    let (complete, objective) = (outcome.complete(), outcome.objective());
    let own = |(path, value): (&str, &str)| (path.to_owned(), value.to_owned());
    let (baseline, best) = (outcome.baseline_value().unwrap_or(f64::INFINITY), objective.natural(best));
    let baseline = objective.natural(baseline);
    let solution = Solution::of_parameters(values.into_iter().map(own).collect());
    let result = SearchResult {
        candidates: Some(outcome.grid().candidates().into()),
        evaluated: outcome.evaluated().into(),
        complete,
        proved_optimal: complete,
        objective,
        bound: complete.then_some(best),
        ..SearchResult::new(Vary::Parameters, Method::Exhaustive, baseline, best, solution)
    };
    Ok(match outcome.distribution() {
        Some(all) => result.with_statistics(all),
        None => result,
    })
}
