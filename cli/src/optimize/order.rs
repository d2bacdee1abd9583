//! `vary: order`: the order in which each source sends.

use serde::{Deserialize, Serialize};
use weir_optimize::order::{
    self, Best, Enumeration, Goal, MOST_VISITED, Order, OrderError, OrderOptions, OrderProblem, Part, Rule, from_part,
    visits_all,
};
use weir_optimize::search::{Method, Objective, SearchResult, Vary};
use weir_plugin_api::ArbiterError;
use weir_report::{SearchReport, SearchSubject, Solution};
use weir_scenario::{Change, Diagnostic, Scenario};
use weir_sim_core::TaskId;

use super::bench::{Bench, Found, report, too_soon};
use super::checkpoint::Checkpoint;
use super::classes::classes;
use super::part::{PartFile, PartOf};
use super::progress::Progress;
use crate::failure::{Exit, Failure};
use crate::interrupt;

/// What a part holds beside its makespans: what else the result names.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OrderNames {
    /// Makespan of the scenario as it is, ps.
    baseline: u64,
    /// The best order of the part.
    best: Vec<(String, Vec<String>)>,
}

/// Searches for the best order.
pub(super) fn search(bench: &Bench<'_>) -> Result<Found, Failure> {
    let subject = bench.subject()?;
    let problem = problem(bench, &subject)?;
    if visits_all(&problem, bench.settings.method, Goal::Statistics) {
        return exhaustive(bench, subject, &problem);
    }
    for (option, given) in [("--shard", bench.args.shard.is_some()), ("--checkpoint", bench.args.checkpoint.is_some())]
    {
        if given {
            let count = problem.candidates().map_or_else(|| "more than 2^128".to_owned(), |count| count.to_string());
            let message = format!("{option} is for `--method exhaustive`; there are {count} orders");
            return Err(Failure::usage(format!("{message}: add it where these are not too many, else use --budget")));
        }
    }
    let own = own(bench, &problem)?;
    let budget = bench.args.budget.map(|budget| budget.saturating_sub(bench.begin.elapsed()));
    let options = OrderOptions { budget, ..options(bench, &problem, Goal::Statistics) };
    let result = order::search(&problem, &options, bench.stop.flag());
    let result = result.map_err(|error| failure(bench.scenario, &error))?;
    interrupt::settling();
    let result = as_it_is(own, result);
    Ok(found(bench, &problem, result, |result| report(subject, result)))
}

/// The best order of one scenario of many, without statistics over all.
pub(super) fn best(bench: &Bench<'_>) -> Result<SearchResult<Solution>, Failure> {
    let problem = problem(bench, &bench.subject()?)?;
    let own = own(bench, &problem)?;
    let found = order::search(&problem, &options(bench, &problem, Goal::Best), bench.stop.flag());
    let result = as_it_is(own, found.map_err(|error| failure(bench.scenario, &error))?);
    let order = named(bench.scenario, &problem, &result.solution);
    Ok(result.with_solution(Solution::Order(order)))
}

/// How to search.
fn options(bench: &Bench<'_>, problem: &OrderProblem<'_>, goal: Goal) -> OrderOptions {
    OrderOptions {
        method: bench.settings.method,
        goal,
        rule: if bench.args.exact { Rule::Exact } else { Rule::Close },
        classes: classes(bench.scenario, problem),
        ..OrderOptions::default()
    }
}

/// The transfers of the scenario as a problem of order.
fn problem<'a>(bench: &Bench<'a>, subject: &SearchSubject) -> Result<OrderProblem<'a>, Failure> {
    let (scenario, entry) = (bench.scenario, bench.entry()?);
    let params = serde_json::Value::Object(bench.spec().params.clone()).to_string();
    let fabric = &scenario.fabric;
    let make = move || (entry.make)(&fabric.view(), &params);
    let problem = OrderProblem::new(fabric, &scenario.routes, &scenario.tasks, make, entry.flags);
    let problem = problem.map_err(|error| failure(scenario, &error))?;
    let label = serde_json::json!(subject.arbiter).to_string();
    Ok(problem.with_label(label))
}

/// All orders, or those of a shard.
fn exhaustive(bench: &Bench<'_>, subject: SearchSubject, problem: &OrderProblem<'_>) -> Result<Found, Failure> {
    let refused = |error: OrderError| failure(bench.scenario, &error);
    let candidates = problem.candidates();
    if candidates.is_none_or(|all| all > MOST_VISITED) {
        let instead = "branch-and-bound` or `anneal";
        return Err(refused(OrderError::TooManyOrders { candidates, most: MOST_VISITED, instead }));
    }
    let own = own(bench, problem)?;
    let all = match Enumeration::unless(bench.stop.flag(), problem, true) {
        // The best so far is the order of the file, or that of the scenario.
        Err(OrderError::Cancelled) if bench.args.shard.is_none() => {
            interrupt::settling();
            let result = as_it_is(own, order::of_workload(problem).map_err(refused)?);
            return Ok(found(bench, problem, result, |result| report(subject, result)));
        }
        Err(OrderError::Cancelled) => return Err(too_soon()),
        all => all.map_err(refused)?,
    };
    let (shard, shards) = bench.args.shard.map_or((1, 1), |shard| (shard.index(), shard.count()));
    let mut part = all.part(shard, shards).map_err(refused)?;
    let checkpoint = bench.args.checkpoint.as_deref().map(|file| Checkpoint::open(file, &subject, &mut part));
    let mut checkpoint = checkpoint.transpose()?;
    let best = go_on(bench, &all, &mut part, checkpoint.as_mut()).map_err(refused)?;
    if let Some(mut checkpoint) = checkpoint {
        checkpoint.save(&part);
        checkpoint.end()?;
    }
    if bench.args.shard.is_some() {
        let names = names(bench, problem, own, &part);
        return Ok(Found::part(PartFile::new(subject, PartOf::Order { names, makespans: part })));
    }
    let result = as_it_is(own, from_part(problem, &part, best));
    let distribution = Some(part.distribution);
    Ok(found(bench, problem, result, |result| SearchReport { distribution, ..report(subject, result) }))
}

/// Visits what is left of a part, and keeps its states.
fn go_on(
    bench: &Bench<'_>,
    all: &Enumeration<'_, '_>,
    part: &mut Part,
    mut checkpoint: Option<&mut Checkpoint<'_>>,
) -> Result<Option<Best>, OrderError> {
    let shown = |count: u128| u64::try_from(count).unwrap_or(u64::MAX);
    let progress = Progress::new("orders", shown(part.candidates / u128::from(part.shards)));
    progress.known(shown(part.distribution.count()));
    let mut saved = |part: &Part| {
        progress.update(shown(part.distribution.count()), part.best.map(|best| best.makespan));
        if let Some(checkpoint) = checkpoint.as_deref_mut() {
            checkpoint.save_unless(bench.stop, part);
        }
    };
    let best = all.go_on(part, bench.stop.flag(), &mut saved);
    interrupt::settling();
    best
}

/// The order that the scenario gives, where it gives one, and its makespan.
fn own(bench: &Bench<'_>, problem: &OrderProblem<'_>) -> Result<Option<(Order, u64)>, Failure> {
    let order = own_order(bench.scenario, problem);
    // Before the search: afterwards there may be no time left.
    order.map(|order| Ok((order, bench.baseline()?))).transpose()
}

/// Holds what was found against the scenario as it is, whose `order:` may be better than file order.
fn as_it_is(own: Option<(Order, u64)>, result: SearchResult<Order>) -> SearchResult<Order> {
    let Some((own, baseline)) = own else { return result };
    let baseline = baseline as f64;
    let result = SearchResult { baseline, ..result };
    if baseline < result.best { SearchResult { best: baseline, solution: own, ..result } } else { result }
}

/// The order that the scenario gives, where it gives one.
fn own_order(scenario: &Scenario, problem: &OrderProblem<'_>) -> Option<Order> {
    let given = scenario.sources();
    let of = |source: usize| {
        let transfers = problem.transfers(source);
        let own = given.iter().find(|own| Some(own.device) == problem.device(source));
        own.filter(|own| own.tasks.len() == transfers.len()).map_or(transfers, |own| own.tasks.clone())
    };
    let order: Order = (0..problem.sources()).map(of).collect();
    let changed = (0..problem.sources()).any(|source| order[source] != problem.transfers(source));
    changed.then_some(order)
}

/// An order in the names of the scenario; sources of one transfer have none.
fn named(scenario: &Scenario, problem: &OrderProblem<'_>, order: &[Vec<TaskId>]) -> Vec<(String, Vec<String>)> {
    let several = order.iter().enumerate().filter(|(_, tasks)| tasks.len() > 1);
    let of = |(source, tasks): (usize, &Vec<TaskId>)| {
        let device = scenario.node_name(problem.device(source)?).to_owned();
        Some((device, tasks.iter().map(|&task| scenario.order_name(task).into_owned()).collect()))
    };
    several.filter_map(of).collect()
}

fn found(
    bench: &Bench<'_>,
    problem: &OrderProblem<'_>,
    result: SearchResult<Order>,
    report: impl FnOnce(SearchResult<Solution>) -> SearchReport,
) -> Found {
    let order = named(bench.scenario, problem, &result.solution);
    let changes = vec![Change::Order(order.clone())];
    let result = SearchResult { wall_s: bench.wall(), ..result }.with_solution(Solution::Order(order));
    Found::whole(report(result), changes)
}

/// What the result of a shard will name.
fn names(bench: &Bench<'_>, problem: &OrderProblem<'_>, own: Option<(Order, u64)>, part: &Part) -> OrderNames {
    let baseline = own.map_or(part.baseline, |(_, baseline)| baseline);
    let best = part.best.and_then(|best: Best| problem.order(best.number));
    OrderNames { baseline, best: best.map_or_else(Vec::new, |order| named(bench.scenario, problem, &order)) }
}

/// The whole of all shards.
pub(super) fn merged(subject: SearchSubject, parts: Vec<(OrderNames, Part)>) -> Result<SearchReport, Failure> {
    let (names, parts): (Vec<OrderNames>, Vec<Part>) = parts.into_iter().unzip();
    let whole = Part::merge(&parts).map_err(Failure::usage)?;
    let at = parts.iter().position(|part| part.best == whole.best).zip(whole.best);
    let Some((at, best)) = at else { return Err(Failure::usage("the parts hold no order: run them again")) };
    let distribution = whole.distribution;
    let makespan = best.makespan as f64;
    let result = SearchResult {
        vary: Vary::Order,
        method: Method::Exhaustive,
        candidates: Some(whole.candidates),
        evaluated: distribution.count(),
        complete: true,
        proved_optimal: true,
        objective: Objective::Makespan,
        bound: Some(makespan),
        baseline: names[at].baseline as f64,
        best: makespan,
        median: None,
        mean: None,
        worst: None,
        percentiles: None,
        best_count: None,
        wall_s: None,
        solution: Solution::Order(names[at].best.clone()),
    };
    let result = result.with_statistics(&distribution);
    Ok(SearchReport { distribution: Some(distribution), ..report(subject, result) })
}

/// Why there is no search, with the place in the file where there is one.
fn failure(scenario: &Scenario, error: &OrderError) -> Failure {
    let at = |task: TaskId, exit: Exit| {
        let name = scenario.task_name(task);
        let position = scenario.position(task);
        let what = format!("transfer `{name}`: {error}");
        let what = if position.is_none() { format!("{}: {what}", scenario.file) } else { what };
        Failure::diagnosed(exit, Diagnostic { position, ..Diagnostic::error(what) })
    };
    let file = &scenario.file;
    let plain = |exit: Exit| Failure::new(exit, format!("{file}: {error}"));
    match error {
        OrderError::Task { task, .. } | OrderError::Messages { task, .. } => at(*task, Exit::Usage),
        OrderError::Route { task, error: ArbiterError::Refused(_) } => at(*task, Exit::Usage),
        OrderError::Route { task, .. } | OrderError::Rate { task, .. } => at(*task, Exit::Plugin),
        OrderError::Arbiter(ArbiterError::Refused(_)) => plain(Exit::Usage),
        OrderError::Arbiter(_) | OrderError::OverCapacity { .. } | OrderError::Capacity | OrderError::Recheck => {
            plain(Exit::Plugin)
        }
        OrderError::Stuck => plain(Exit::Stopped),
        _ => plain(Exit::Usage),
    }
}
