//! Searches that simulate every candidate: orders, placements and values together, or one of them where the faster search
//! does not cover the scenario or the objective.
//!
//! ```text
//! scenario, `optimize:` ─► Candidates ─► visit_all │ LocalSearch ─► best ─► SearchOutcome
//!                              │               ▲
//!                              ├─► Simulated ──┘  reads, reorders and runs
//!                              └─► bound          what no candidate is better than
//! ```

mod bound;
mod candidates;
mod cut;
mod goal;
mod simulated;

use std::cell::Cell;

use weir_optimize::Distribution;
use weir_optimize::joint::{JointFound, LocalSearch, visit_all};
use weir_optimize::placement::payback;
use weir_optimize::search::{Method, Objective, SearchResult};
use weir_report::SearchReport;

use super::context::{SearchContext, too_soon};
use super::outcome::{SearchOutcome, report};
use super::settings::SettingsError;
use crate::Error;
use candidates::Candidates;
use goal::natural;
use simulated::Simulated;

/// Tasks that `auto` simulates to visit all candidates, at most; each candidate counts as [`PER_CANDIDATE`] more.
/// *Assumed*: about a minute on two cores.
const MOST_TASKS: u128 = 10_000_000;
/// Tasks that reading and preparing a candidate is worth; *assumed*.
const PER_CANDIDATE: u128 = 50;
/// Most candidates that `exhaustive` visits; *assumed*: as many makespans as are kept.
const MOST_VISITED: u128 = 10_000_000;
/// Candidates that local search tries where neither their number nor a time is given; *assumed*: some ten seconds.
const TRIED: u64 = 10_000;
/// "Equal" for a proof: the tolerance of published makespans.
const EQUAL: f64 = 1e-9;

/// Searches for the best candidate.
pub(super) fn search(context: &SearchContext<'_>) -> Result<SearchOutcome, Error> {
    let candidates = Candidates::new(context)?;
    let subject = context.subject()?;
    let baseline = simulated::baseline(context)?;
    let bound = bound::of(context, &candidates);
    let Best { found, method, makespans } = best(context, &candidates)?;
    let (objective, after) = (context.settings.objective, context.beyond_budget());
    let (solution, changes) = candidates.solution(&found.candidate)?;
    let simulated = match objective {
        Objective::Makespan => None,
        _ if after.cancelled() => None,
        _ => Some((baseline.makespan, Simulated::new(&after, &candidates).makespan(&found.candidate)?)),
    };
    context.options.watch.finish();
    let whole = method == Method::Exhaustive && found.complete;
    let least = bound.as_ref().map(|bound| bound.value);
    let reached = least.is_some_and(|least| found.value <= least * (1.0 + EQUAL));
    let wall_s = context.wall();
    let result = SearchResult {
        // Of those that contradict a wait, nobody asks once all are known.
        candidates: if whole { Some(found.evaluated.into()) } else { candidates.space.candidates() },
        evaluated: found.evaluated.into(),
        complete: found.complete,
        proved_optimal: whole || reached,
        objective,
        bound: if whole { Some(found.value) } else { least.map(|least| least.min(found.value)) }
            .map(|bound| natural(objective, bound)),
        wall_s,
        ..SearchResult::new(
            context.settings.vary,
            method,
            natural(objective, baseline.value),
            natural(objective, found.value),
            solution,
        )
    };
    let result = makespans.as_ref().map_or_else(|| result.clone(), |all| result.clone().with_statistics(all));
    let exchanges = simulated.or((objective == Objective::Makespan).then_some((baseline.makespan, found.value as u64)));
    let placed = context.settings.vary.kinds().placement;
    let payback = wall_s.zip(exchanges.filter(|_| placed)).and_then(|(wall, (old, new))| payback(wall, old, new));
    let bound_by = bound.filter(|_| !whole).map(|bound| bound.by);
    let report = SearchReport { simulated, payback, distribution: makespans, bound_by, ..report(subject, result) };
    Ok(SearchOutcome::whole(report, changes))
}

/// What was found, how, and the makespans of all where these are known.
struct Best {
    found: JointFound,
    method: Method,
    makespans: Option<Distribution>,
}

fn best(context: &SearchContext<'_>, candidates: &Candidates<'_>) -> Result<Best, Error> {
    let all = candidates.space.candidates();
    let limit = context.options.candidates;
    let tasks = context.scenario.tasks.tasks().len() as u128 + PER_CANDIDATE;
    let few = |all: u128| match limit {
        Some(limit) => all <= u128::from(limit).min(MOST_VISITED),
        None => all.checked_mul(tasks).is_some_and(|work| work <= MOST_TASKS),
    };
    let visited = match context.settings.method {
        Method::Exhaustive => match all.filter(|&all| all <= MOST_VISITED) {
            None => return Err(SettingsError::TooManyCandidates { candidates: all, most: MOST_VISITED }.into()),
            found => found,
        },
        Method::LocalSearch | Method::Bisection => None,
        _ => all.filter(|&all| few(all)),
    };
    match visited {
        Some(all) => every(context, candidates, all as u64),
        None => some(context, candidates),
    }
}

/// By the value of every candidate.
fn every(context: &SearchContext<'_>, candidates: &Candidates<'_>, all: u64) -> Result<Best, Error> {
    context.options.watch.begin("candidates", all, 0);
    let makespans = Cell::new(Vec::new());
    let keep = |value: Option<f64>| {
        let mut all = makespans.take();
        all.extend(value.map(|value| value as u64));
        makespans.set(all);
    };
    let found = visit_all(&candidates.space, &Simulated::new(context, candidates), context.cancel, keep)?;
    let found = found.ok_or_else(|| nothing(context))?;
    let known = (context.settings.objective == Objective::Makespan).then(|| makespans.take().into_iter().collect());
    Ok(Best { found, method: Method::Exhaustive, makespans: known })
}

/// By moves from one candidate to the next.
fn some(context: &SearchContext<'_>, candidates: &Candidates<'_>) -> Result<Best, Error> {
    let limit = context.options.candidates.or(context.options.budget.is_none().then_some(TRIED));
    context.options.watch.begin("candidates", limit.unwrap_or(0), 0);
    let found = LocalSearch {
        space: &candidates.space,
        evaluate: &Simulated::new(context, candidates),
        starts: &candidates.starts(),
        limit,
        seed: context.options.seed,
        cancel: context.cancel,
    }
    .run()?;
    Ok(Best { found: found.ok_or_else(|| nothing(context))?, method: Method::LocalSearch, makespans: None })
}

/// Why there is no best.
fn nothing(context: &SearchContext<'_>) -> Error {
    if context.cancelled() {
        return too_soon();
    }
    let what = "no candidate that was tried comes to an end: each contradicts `after`, or ends in a deadlock";
    Error::input(format!("{}: {what}; vary something else", context.scenario.file))
}
