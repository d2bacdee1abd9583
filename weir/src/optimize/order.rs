//! `vary: order`: the order in which each source sends.

use weir_optimize::order::{
    self, Best, Enumeration, Goal, MOST_VISITED, Order, OrderError, OrderOptions, OrderProblem, Part, Rule, from_part,
    visits_all,
};
use weir_optimize::search::SearchResult;
use weir_plugin_api::CallError;
use weir_report::{SearchReport, SearchSubject, Solution};
use weir_scenario::{Change, Diagnostic, Scenario};
use weir_sim_core::TaskId;

use super::classes::classes;
use super::context::{SearchContext, too_soon};
use super::outcome::{SearchOutcome, report};
use super::part::{OrderNames, PartFile, PartOf};
use super::settings::SettingsError;
use crate::{Error, ErrorKind};

/// Searches for the best order.
pub(super) fn search(context: &SearchContext<'_>) -> Result<SearchOutcome, Error> {
    let subject = context.subject()?;
    let problem = problem(context, &subject)?;
    if visits_all(&problem, context.settings.method, Goal::Statistics) {
        return exhaustive(context, subject, &problem);
    }
    if let Some(option) = context.options.split() {
        return Err(SettingsError::NotExhaustive { option, candidates: problem.candidates() }.into());
    }
    let own = own(context, &problem)?;
    let budget = context.options.budget.map(|budget| budget.saturating_sub(context.begin.elapsed()));
    let options = OrderOptions { budget, ..options(context, &problem, Goal::Statistics) };
    let result = order::search(&problem, &options, context.cancel);
    let result = result.map_err(|error| failure(context.scenario, &error))?;
    context.options.watch.finish();
    let result = as_it_is(own, result);
    Ok(found(context, &problem, result, |result| report(subject, result)))
}

/// The best order of one scenario of many, without statistics over all.
pub(super) fn best(context: &SearchContext<'_>) -> Result<SearchResult<Solution>, Error> {
    let problem = problem(context, &context.subject()?)?;
    let own = own(context, &problem)?;
    let found = order::search(&problem, &options(context, &problem, Goal::Best), context.cancel);
    let result = as_it_is(own, found.map_err(|error| failure(context.scenario, &error))?);
    let order = named(context.scenario, &problem, &result.solution);
    Ok(result.with_solution(Solution::Order(order)))
}

fn options(context: &SearchContext<'_>, problem: &OrderProblem<'_>, goal: Goal) -> OrderOptions {
    OrderOptions {
        method: context.settings.method,
        goal,
        rule: if context.options.exact { Rule::Exact } else { Rule::Close },
        classes: classes(context.scenario, problem),
        ..OrderOptions::default()
    }
}

/// The transfers of the scenario as a problem of order.
fn problem<'a>(context: &SearchContext<'a>, subject: &SearchSubject) -> Result<OrderProblem<'a>, Error> {
    let (scenario, entry) = (context.scenario, context.entry());
    let params = serde_json::Value::Object(context.spec().params.clone()).to_string();
    let fabric = &scenario.fabric;
    let make = move || (entry.make)(&fabric.view(), &params);
    let problem = OrderProblem::new(fabric, &scenario.routes, &scenario.tasks, make, entry.flags);
    let problem = problem.map_err(|error| failure(scenario, &error))?;
    let label = serde_json::json!(subject.arbiter).to_string();
    Ok(problem.with_label(label))
}

/// All orders, or those of a shard.
fn exhaustive(
    context: &SearchContext<'_>,
    subject: SearchSubject,
    problem: &OrderProblem<'_>,
) -> Result<SearchOutcome, Error> {
    let refused = |error: OrderError| failure(context.scenario, &error);
    let candidates = problem.candidates();
    if candidates.is_none_or(|all| all > MOST_VISITED) {
        let instead = "branch-and-bound` or `anneal";
        return Err(refused(OrderError::TooManyOrders { candidates, most: MOST_VISITED, instead }));
    }
    let own = own(context, problem)?;
    let all = match Enumeration::unless(context.cancel, problem, true) {
        // The best so far is the order of the file, or that of the scenario.
        Err(OrderError::Cancelled) if context.options.shard.is_none() => {
            context.options.watch.finish();
            let result = as_it_is(own, order::of_workload(problem).map_err(refused)?);
            return Ok(found(context, problem, result, |result| report(subject, result)));
        }
        Err(OrderError::Cancelled) => return Err(too_soon()),
        all => all.map_err(refused)?,
    };
    let (shard, shards) = context.options.shard.map_or((1, 1), |shard| (shard.index(), shard.count()));
    let mut part = all.part(shard, shards).map_err(refused)?;
    if let Some(checkpoint) = context.options.checkpoint {
        checkpoint.resume(&subject, &mut part)?;
    }
    let best = go_on(context, &subject, &all, &mut part).map_err(refused)?;
    if let Some(checkpoint) = context.options.checkpoint {
        checkpoint.save(&subject, &part);
        checkpoint.end()?;
    }
    if context.options.shard.is_some() {
        let names = names(context, problem, own, &part);
        return Ok(SearchOutcome::shard(PartFile::new(subject, PartOf::Order { names, makespans: part })));
    }
    let result = as_it_is(own, from_part(problem, &part, best));
    let distribution = Some(part.distribution);
    Ok(found(context, problem, result, |result| SearchReport { distribution, ..report(subject, result) }))
}

/// Visits what is left of a part, and keeps its states.
fn go_on(
    context: &SearchContext<'_>,
    subject: &SearchSubject,
    all: &Enumeration<'_, '_>,
    part: &mut Part,
) -> Result<Option<Best>, OrderError> {
    let shown = |count: u128| u64::try_from(count).unwrap_or(u64::MAX);
    let known = shown(part.distribution.count());
    context.options.watch.begin("orders", shown(part.candidates / u128::from(part.shards)), known);
    let mut saved = |part: &Part| {
        context.options.watch.progress(shown(part.distribution.count()), part.best.map(|best| best.makespan));
        // A search that must end saves its last state afterwards.
        if let Some(checkpoint) = context.options.checkpoint.filter(|_| !context.cancelled()) {
            checkpoint.save(subject, part);
        }
    };
    let best = all.go_on(part, context.cancel, &mut saved);
    context.options.watch.finish();
    best
}

/// The order that the scenario gives, where it gives one, and its makespan.
fn own(context: &SearchContext<'_>, problem: &OrderProblem<'_>) -> Result<Option<(Order, u64)>, Error> {
    let order = own_order(context.scenario, problem);
    // Before the search: afterwards there may be no time left.
    order.map(|order| Ok((order, context.baseline()?))).transpose()
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
    context: &SearchContext<'_>,
    problem: &OrderProblem<'_>,
    result: SearchResult<Order>,
    report: impl FnOnce(SearchResult<Solution>) -> SearchReport,
) -> SearchOutcome {
    let order = named(context.scenario, problem, &result.solution);
    let changes = vec![Change::Order(order.clone())];
    let result = SearchResult { wall_s: context.wall(), ..result }.with_solution(Solution::Order(order));
    SearchOutcome::whole(report(result), changes)
}

/// What the result of a shard will name.
fn names(
    context: &SearchContext<'_>,
    problem: &OrderProblem<'_>,
    own: Option<(Order, u64)>,
    part: &Part,
) -> OrderNames {
    let baseline = own.map_or(part.baseline, |(_, baseline)| baseline);
    let best = part.best.and_then(|best: Best| problem.order(best.number));
    OrderNames { baseline, best: best.map_or_else(Vec::new, |order| named(context.scenario, problem, &order)) }
}

/// Why there is no search, with the place in the file where there is one.
fn failure(scenario: &Scenario, error: &OrderError) -> Error {
    let at = |task: TaskId, kind: ErrorKind| {
        let name = scenario.task_name(task);
        let position = scenario.position(task);
        let what = format!("transfer `{name}`: {error}");
        let what = if position.is_none() { format!("{}: {what}", scenario.file) } else { what };
        Error::diagnosed_as(kind, Diagnostic { position, ..Diagnostic::error(what) })
    };
    let file = &scenario.file;
    let plain = |kind: ErrorKind| Error::new(kind, format!("{file}: {error}"));
    match error {
        OrderError::Task { task, .. } | OrderError::Messages { task, .. } => at(*task, ErrorKind::Input),
        OrderError::Route { task, error: CallError::Refused(_) } => at(*task, ErrorKind::Input),
        OrderError::Route { task, .. } | OrderError::Rate { task, .. } => at(*task, ErrorKind::Plugin),
        OrderError::Arbiter(CallError::Refused(_)) => plain(ErrorKind::Input),
        OrderError::Arbiter(_) | OrderError::OverCapacity { .. } | OrderError::Capacity | OrderError::Recheck => {
            plain(ErrorKind::Plugin)
        }
        OrderError::Stuck => plain(ErrorKind::Stopped),
        _ => plain(ErrorKind::Input),
    }
}
