//! `vary: order`: the order in which each source sends.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weir_optimize::order::{
    self, Found, Goal, Keeper, Order, OrderError, OrderOptions, OrderProblem, Part, Rule, visits_all,
};
use weir_optimize::search::{Method, SearchResult};
use weir_plugin_api::CallError;
use weir_report::{SearchReport, SearchSubject, Solution};
use weir_scenario::{Change, Diagnostic, Scenario};
use weir_sim_core::TaskId;

use super::classes::classes;
use super::context::{SearchContext, too_soon, unchanging};
use super::joint;
use super::outcome::{SearchOutcome, report};
use super::part::{OrderNames, PartFile, PartOf};
use super::settings::SettingsError;
use super::watch::Checkpoint;
use crate::prepared::answer_words;
use crate::{Error, ErrorKind};

/// Searches for the best order, or for that of a shard.
pub(super) fn search(context: &SearchContext<'_>) -> Result<SearchOutcome, Error> {
    if context.spec().packets.is_some() {
        context.settings.simulating(&context.options)?;
        return joint::search(context);
    }
    let subject = context.subject()?;
    let problem = match problem(context, &subject) {
        Ok(problem) if context.scenario.changes.is_empty() => problem,
        // What the fast search does not cover is simulated, unless what only that has was asked for.
        Ok(_) | Err(_) if simulates(context) => return joint::search(context),
        problem => {
            unchanging(context)?;
            problem?
        }
    };
    if context.options.candidates.is_some() {
        return Err(SettingsError::NotCounted { objective: context.settings.objective }.into());
    }
    if let Some(option) =
        context.options.split().filter(|_| !visits_all(&problem, context.settings.method, Goal::Statistics))
    {
        return Err(SettingsError::NotExhaustive { option, candidates: problem.candidates() }.into());
    }
    let own = own(&context.preparing(), &problem)?;
    let budget = context.options.budget.map(|budget| budget.saturating_sub(context.begin.elapsed()));
    let options = OrderOptions { budget, shard: context.options.shard, ..options(context, &problem, Goal::Statistics) };
    let found = order::search(&problem, &options, context.cancel, &mut Kept { context, subject: &subject });
    context.options.watch.finish();
    let Found { result, part } = found.map_err(|error| error.of(context))?;
    context.options.checkpoint.map_or(Ok(()), Checkpoint::end)?;
    match part {
        Some(part) if options.shard.is_some() => {
            let names = names(context, &problem, own, &part);
            Ok(SearchOutcome::shard(PartFile::new(subject, PartOf::Order { names, makespans: part })))
        }
        part => {
            let distribution = part.map(|part| part.distribution);
            let result = with_baseline(own, result);
            Ok(outcome(context, &problem, result, |result| SearchReport { distribution, ..report(subject, result) }))
        }
    }
}

/// Whether orders may be simulated one by one.
fn simulates(context: &SearchContext<'_>) -> bool {
    let any = matches!(context.settings.method, Method::Auto | Method::Exhaustive);
    any && context.options.split().is_none() && !context.options.exact
}

/// The best order of one scenario of many, without statistics over all.
pub(super) fn best(context: &SearchContext<'_>) -> Result<SearchResult<Solution>, Error> {
    if context.spec().packets.is_some() {
        context.settings.simulating(&context.options)?;
        return joint::best_of(context);
    }
    unchanging(context)?;
    let problem = problem(context, &context.subject()?)?;
    let own = own(context, &problem)?;
    let found = order::search(&problem, &options(context, &problem, Goal::Best), context.cancel, &mut ());
    let result = with_baseline(own, found.map_err(|error| failure(context, &error))?.result);
    let order = named(context.scenario, &problem, &result.solution);
    Ok(result.with_solution(Solution::of_order(order)))
}

/// The order that annealing finds for the baseline, by source; none where the fast search does not cover it, or was
/// ended before it knew one.
pub(super) fn annealed(context: &SearchContext<'_>, budget: Option<Duration>) -> Result<Option<Order>, Error> {
    let covered = context.spec().packets.is_none() && context.scenario.changes.is_empty();
    let subject = context.subject()?;
    let Some(problem) = covered.then(|| problem(context, &subject)).and_then(Result::ok) else { return Ok(None) };
    let options = OrderOptions { method: Method::Anneal, budget, ..options(context, &problem, Goal::Best) };
    match order::search(&problem, &options, context.cancel, &mut ()) {
        Ok(found) => Ok(Some(found.result.solution)),
        Err(OrderError::Cancelled) => Ok(None),
        Err(error) => Err(failure(context, &error)),
    }
}

fn options(context: &SearchContext<'_>, problem: &OrderProblem<'_>, goal: Goal) -> OrderOptions {
    OrderOptions {
        method: context.settings.method,
        goal,
        rule: if context.options.exact { Rule::Exact } else { Rule::Close },
        classes: classes(context.scenario, problem),
        seed: context.options.seed,
        ..OrderOptions::default()
    }
}

/// The transfers of the scenario as a problem of order.
fn problem<'a>(context: &SearchContext<'a>, subject: &SearchSubject) -> Result<OrderProblem<'a>, Error> {
    let (scenario, entry) = (context.scenario, context.entry());
    let params = context.spec().params_json();
    let fabric = &scenario.fabric;
    let make = move || (entry.make)(&fabric.view(), &params);
    let problem = OrderProblem::new(fabric, &scenario.routes, &scenario.tasks, make, entry.flags);
    let problem = problem.map_err(|error| failure(context, &error))?;
    let label = serde_json::json!(subject.arbiter).to_string();
    Ok(problem.with_label(label))
}

/// The checkpoint and the progress of a search that visits every order.
struct Kept<'a, 'c> {
    context: &'a SearchContext<'c>,
    subject: &'a SearchSubject,
}

/// Why such a search has no result.
enum KeptError {
    Order(OrderError),
    Checkpoint(Error),
}

impl From<OrderError> for KeptError {
    fn from(error: OrderError) -> Self {
        Self::Order(error)
    }
}

impl KeptError {
    fn of(self, context: &SearchContext<'_>) -> Error {
        match self {
            Self::Order(error) => failure(context, &error),
            Self::Checkpoint(error) => error,
        }
    }
}

impl Keeper for Kept<'_, '_> {
    type Error = KeptError;

    fn preparation(&self) -> Option<&AtomicBool> {
        self.context.options.checkpoint.map(|_| self.context.preparing().cancel)
    }

    fn resume(&mut self, part: &mut Part) -> Result<(), KeptError> {
        if let Some(checkpoint) = self.context.options.checkpoint {
            checkpoint.resume(self.subject, part).map_err(KeptError::Checkpoint)?;
        }
        let all = progress(part.candidates / u128::from(part.shards));
        self.context.options.watch.begin("orders", all, progress(part.distribution.count()));
        Ok(())
    }

    fn save(&mut self, part: &Part) {
        let best = part.best.map(|best| best.makespan);
        self.context.options.watch.progress(progress(part.distribution.count()), best);
        if let Some(checkpoint) = self.context.options.checkpoint {
            checkpoint.save(self.subject, part);
        }
    }

    fn is_hurried(&self) -> bool {
        self.context.beyond_budget().cancelled()
    }
}

/// A number of orders as the progress bar counts them.
fn progress(count: u128) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// The order that the scenario gives, where it gives one, and its makespan.
fn own(context: &SearchContext<'_>, problem: &OrderProblem<'_>) -> Result<Option<(Order, u64)>, Error> {
    let order = own_order(context.scenario, problem);
    // Before the search: afterwards there may be no time left.
    order.map(|order| Ok((order, context.baseline()?))).transpose()
}

/// What was found beside the baseline, which is better where the scenario has a good `order:`.
fn with_baseline(own: Option<(Order, u64)>, result: SearchResult<Order>) -> SearchResult<Order> {
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

fn outcome(
    context: &SearchContext<'_>,
    problem: &OrderProblem<'_>,
    result: SearchResult<Order>,
    report: impl FnOnce(SearchResult<Solution>) -> SearchReport,
) -> SearchOutcome {
    let order = named(context.scenario, problem, &result.solution);
    let changes = vec![Change::Order(order.clone())];
    let result = SearchResult { wall_s: context.wall(), ..result }.with_solution(Solution::of_order(order));
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
    let best = part.best.and_then(|best| problem.order(best.number));
    OrderNames { baseline, best: best.map_or_else(Vec::new, |order| named(context.scenario, problem, &order)) }
}

/// Why there is no search, with the place in the file where there is one. What is wrong with an arbiter begins with its name.
fn failure(context: &SearchContext<'_>, error: &OrderError) -> Error {
    let (scenario, arbiter) = (context.scenario, &context.spec().name);
    let at = |task: TaskId, kind: ErrorKind| {
        let name = scenario.task_name(task);
        let position = scenario.position(task);
        let what = format!("transfer `{name}`: {error}");
        let what = if position.is_none() { format!("{}: {what}", scenario.file) } else { what };
        Error::diagnosed_as(kind, Diagnostic { position, ..Diagnostic::error(what) })
    };
    let file = &scenario.file;
    let plain = |kind: ErrorKind| Error::new(kind, format!("{file}: {error}"));
    let wrong = |what: String| Error::new(ErrorKind::Plugin, format!("{file}: arbiter `{arbiter}`: {what}"));
    match error {
        OrderError::Cancelled => too_soon(),
        OrderError::Task { task, .. } | OrderError::Messages { task, .. } => at(*task, ErrorKind::Input),
        OrderError::Route { task, error: CallError::Refused(_) } => at(*task, ErrorKind::Input),
        OrderError::Route { task, .. } => wrong(format!("transfer `{}`: {error}", scenario.task_name(*task))),
        OrderError::Arbiter(CallError::Refused(why)) => {
            Error::new(ErrorKind::Input, format!("{file}: arbiter `{arbiter}` refuses this scenario: {why}"))
        }
        OrderError::Answer(answer) => wrong(answer_words(scenario, answer)),
        OrderError::Arbiter(_) | OrderError::Capacity | OrderError::Recheck => wrong(error.to_string()),
        OrderError::Stuck => plain(ErrorKind::Stopped),
        _ => plain(ErrorKind::Input),
    }
}
