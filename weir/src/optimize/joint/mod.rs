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
mod ordered;
mod simulated;
mod valued;

use std::cell::Cell;

use weir_optimize::Distribution;
use weir_optimize::joint::{Candidate, JointFound, LocalSearch, visit_all};
use weir_optimize::placement::payback;
use weir_optimize::search::{Method, Objective, SearchResult, Vary};
use weir_report::{SearchReport, Solution, StoppedCandidates};

use super::context::{SearchContext, too_soon};
use super::goal::{Baseline, baseline};
use super::outcome::{SearchOutcome, report};
use super::parameters::{none_ends, readable};
use super::settings::{SearchOptions, SettingsError};
use crate::Error;
use candidates::Candidates;
use simulated::Simulated;

/// Tasks that `auto` simulates to visit all candidates, at most; each candidate counts as [`PER_CANDIDATE`] more.
/// *Assumed*: about a minute on two cores.
const MOST_TASKS: u128 = 10_000_000;
/// Tasks that reading and preparing a candidate is worth; *assumed*.
const PER_CANDIDATE: u128 = 50;
/// Simulated hops of packets that are worth a task; *assumed* from 0.1 µs a hop.
const HOPS_PER_TASK: u128 = 100;
/// Most candidates that `exhaustive` visits; *assumed*: as many makespans as are kept.
const MOST_VISITED: u128 = 10_000_000;
/// Candidates that local search tries for each of order, placement and parameters that varies, where neither their number nor a
/// time is given: as many as searches of one after the other. *Assumed*: some ten seconds. Of packets fewer, where their hops
/// are worth more than [`MOST_TASKS`].
const TRIED: u64 = 10_000;
/// "Equal" for a proof: the tolerance of published makespans.
const EQUAL: f64 = 1e-9;

/// Searches for the best candidate.
pub(super) fn search(context: &SearchContext<'_>) -> Result<SearchOutcome, Error> {
    let candidates = Candidates::new(context)?;
    let subject = context.subject()?;
    // First of all, so that a search that is ended early has a result.
    let baseline = baseline(context)?;
    readable(context, &candidates.axes, |values| candidates.edits(&Candidate { values, ..candidates.space.first() }))?;
    let (bound, no_bound) = match bound::of(context, &candidates) {
        Ok(bound) => (bound, None),
        Err(why) => (None, Some(why.to_string())),
    };
    let best = best(context, &candidates, &baseline, bound.as_ref().map(|bound| bound.value))?;
    // A bound above what was found is wrong: then nothing is claimed.
    let holds = |bound: &bound::Bound| best.found.value >= bound.value * (1.0 - EQUAL);
    debug_assert!(bound.as_ref().is_none_or(holds), "{bound:?} above {}", best.found.value);
    let bound = bound.filter(holds);
    let (by_makespan, after) = (context.settings.objective == Objective::Makespan, context.beyond_budget());
    let (solution, changes) = candidates.solution(&after, &best.found.candidate)?;
    let simulated = match by_makespan || after.cancelled() {
        true => None,
        false => Some((baseline.makespan, Simulated::new(&after, &candidates).makespan(&best.found.candidate)?)),
    };
    context.options.watch.finish();
    let least = bound.as_ref().map(|bound| bound.value);
    let result = result(context, &best, (baseline.value, least), candidates.space.candidates()).with_solution(solution);
    let makespans = simulated.or(by_makespan.then_some((baseline.makespan, best.found.value as u64)));
    let placed = makespans.filter(|_| candidates.ranks.is_some());
    let payback = result.wall_s.zip(placed).and_then(|(wall, (old, new))| payback(wall, old?, new));
    let bound_by = bound.filter(|_| !best.knows_all()).map(|bound| bound.by);
    let (baseline_stopped, no_bound) = (baseline.stopped, no_bound.filter(|_| !best.knows_all()));
    let (distribution, stopped) = (best.makespans, best.stopped);
    let known = SearchReport { simulated, payback, distribution, bound_by, ..report(subject, result) };
    let report = SearchReport { stopped, baseline_stopped, no_bound, ..known };
    Ok(SearchOutcome::whole(report, changes))
}

/// The best candidate of one scenario of many.
pub(super) fn best_of(context: &SearchContext<'_>) -> Result<SearchResult<Solution>, Error> {
    let quiet = SearchContext { options: SearchOptions { watch: &(), ..context.options }, ..*context };
    search(&quiet)?.report.map(|report| report.result).ok_or_else(too_soon)
}

/// The result of the best candidate; values are the smaller the better, the bound where one is known.
fn result(
    context: &SearchContext<'_>,
    best: &Best,
    (baseline, bound): (f64, Option<f64>),
    candidates: Option<u128>,
) -> SearchResult<()> {
    let (found, whole, objective) = (&best.found, best.knows_all(), context.settings.objective);
    let reached = bound.is_some_and(|bound| found.value <= bound * (1.0 + EQUAL));
    let bound = if whole { Some(found.value) } else { bound.map(|bound| bound.min(found.value)) };
    let (from, to) = (objective.natural(baseline), objective.natural(found.value));
    let result = SearchResult {
        // Of those that contradict a wait, nobody asks once all are known.
        candidates: if whole { Some(best.tried().into()) } else { candidates },
        evaluated: found.evaluated.into(),
        complete: found.complete,
        proved_optimal: whole || reached,
        objective,
        bound: bound.map(|bound| objective.natural(bound)),
        wall_s: context.wall(),
        ..SearchResult::new(context.settings.vary, best.method, from, to, ())
    };
    match &best.makespans {
        Some(all) => result.with_statistics(all),
        None => result,
    }
}

/// What was found, how, and the makespans of all where these are known.
struct Best {
    found: JointFound,
    method: Method,
    makespans: Option<Distribution>,
    stopped: Option<StoppedCandidates>,
}

impl Best {
    /// Whether every candidate was simulated.
    fn knows_all(&self) -> bool {
        self.found.all
    }

    /// Candidates that were tried, without those that are none.
    fn tried(&self) -> u64 {
        self.found.evaluated + self.stopped.as_ref().map_or(0, |stopped| stopped.candidates)
    }
}

fn best(
    context: &SearchContext<'_>,
    candidates: &Candidates<'_>,
    baseline: &Baseline,
    bound: Option<f64>,
) -> Result<Best, Error> {
    let all = candidates.space.candidates();
    let limit = context.options.candidates;
    let of_hops = u128::from(baseline.hops) / HOPS_PER_TASK;
    let tasks = context.scenario.tasks.tasks().len() as u128 + PER_CANDIDATE + of_hops;
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
    let (method, (found, makespans), stopped) = match visited {
        Some(all) => {
            let (found, stopped) = every(context, candidates, all as u64)?;
            (Method::Exhaustive, found.unzip(), stopped)
        }
        None => {
            let (found, stopped) = some(context, candidates, bound, of_hops)?;
            (Method::LocalSearch, (found, None), stopped)
        }
    };
    let found = found.or_else(|| as_it_is(context, candidates, baseline));
    let found = found.ok_or_else(|| nothing(context, stopped.as_ref()))?;
    Ok(Best { found, method, makespans: makespans.flatten(), stopped })
}

/// The baseline, of a search that was ended before it knew another candidate; none where it is none.
fn as_it_is(context: &SearchContext<'_>, candidates: &Candidates<'_>, baseline: &Baseline) -> Option<JointFound> {
    let candidate = candidates.own().filter(|_| context.cancelled() && baseline.stopped.is_none())?;
    Some(JointFound { candidate, value: baseline.value, evaluated: 1, all: false, complete: false })
}

/// The best of all candidates, and their times where the objective is one.
type Known = (JointFound, Option<Distribution>);

/// By the value of every candidate.
fn every(
    context: &SearchContext<'_>,
    candidates: &Candidates<'_>,
    all: u64,
) -> Result<(Option<Known>, Option<StoppedCandidates>), Error> {
    context.options.watch.begin("candidates", all, 0);
    let makespans = Cell::new(Vec::new());
    let keep = |value: Option<f64>| {
        let mut all = makespans.take();
        all.extend(value.map(|value| value as u64));
        makespans.set(all);
    };
    let simulated = Simulated::new(context, candidates);
    let found = visit_all(&candidates.space, &simulated, context.cancel, keep)?;
    let known = || context.settings.objective.is_time().then(|| makespans.take().into_iter().collect());
    Ok((found.map(|found| (found, known())), simulated.stopped()))
}

/// By moves from one candidate to the next.
fn some(
    context: &SearchContext<'_>,
    candidates: &Candidates<'_>,
    bound: Option<f64>,
    of_hops: u128,
) -> Result<(Option<JointFound>, Option<StoppedCandidates>), Error> {
    let varied = [Vary::Order, Vary::Placement, Vary::Parameters].iter().filter(|one| context.settings.vary.has(**one));
    let most = TRIED * varied.count().max(1) as u64;
    let tried = (MOST_TASKS / of_hops.max(1)).clamp(1, u128::from(most)) as u64;
    let limit = context.options.candidates.or(context.options.budget.is_none().then_some(tried));
    context.options.watch.begin("candidates", limit.unwrap_or(0), 0);
    let simulated = Simulated::new(context, candidates);
    let (starts, taken) = match valued::starts(context, candidates, &simulated, limit)? {
        Some(found) => found,
        None => (ordered::starts(context, candidates)?, 0),
    };
    let found = LocalSearch {
        space: &candidates.space,
        evaluate: &simulated,
        starts: &starts,
        bound,
        limit: limit.map(|all| all - taken),
        seed: context.options.seed,
        cancel: context.cancel,
    }
    .run()?;
    Ok((found, simulated.stopped()))
}

/// Why there is no best.
fn nothing(context: &SearchContext<'_>, stopped: Option<&StoppedCandidates>) -> Error {
    if context.cancelled() {
        return too_soon();
    }
    if let Some(stopped) = stopped {
        return none_ends(&stopped.first);
    }
    let what =
        "no candidate that was tried counts: each contradicts `after`, or has places that a transfer does not allow";
    Error::input(format!("{}: {what}; vary something else", context.scenario.file))
}
