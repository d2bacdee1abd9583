//! The search by name: which method, and its result in the common form.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weir_sim_core::TaskId;

use super::anneal::{AnnealOptions, Annealed, ClassOrders, anneal};
use super::bounds::{BranchOptions, Branched, Rule, branch_and_bound, root_bound};
use super::exhaustive::{Enumeration, Part, own_makespan};
use super::problem::{OrderError, OrderProblem};
use super::run::Best;
use crate::search::{MOST_EXHAUSTIVE, Method, Objective, PERCENTILES, SearchResult, Vary};

/// Most orders that `exhaustive` visits unless it is told otherwise: half a day on one core.
pub const MOST_VISITED: u128 = 50_000_000_000;
/// Work of a chain of annealing without a budget, in orders · messages · sources: about 10 s (measured with 16 and 64
/// sources, whose evaluations take 50 and 1,000 µs).
const WORK: u64 = 200_000_000;
/// Most orders that it tries then.
const MOST_EVALUATIONS: u64 = 300_000;

/// Per source its transfers in the order they are sent, sources in the problem's order.
pub type Order = Vec<Vec<TaskId>>;

/// How to search.
#[derive(Clone, Debug)]
pub struct OrderOptions {
    /// By which method.
    pub method: Method,
    /// How close to the best is proven.
    pub rule: Rule,
    /// Whether symmetries are looked for.
    pub symmetries: bool,
    /// Most orders to visit one by one.
    pub most: u128,
    /// Nodes of branch and bound.
    pub nodes: u64,
    /// How long annealing may take; without it a fixed number of orders is tried.
    pub time: Option<Duration>,
    /// Chains of annealing: other random numbers each, so that one that is stuck does not decide.
    pub chains: u64,
    /// Seed of annealing.
    pub seed: u64,
    /// Classes that annealing begins with, for generated patterns.
    pub classes: Vec<ClassOrders>,
}

impl Default for OrderOptions {
    fn default() -> Self {
        Self {
            method: Method::Auto,
            rule: Rule::Close,
            symmetries: true,
            most: MOST_VISITED,
            nodes: BranchOptions::default().nodes,
            time: None,
            chains: 2,
            seed: 0,
            classes: Vec::new(),
        }
    }
}

/// Searches for the order of the least makespan. `auto` visits all orders where these are at most 10^7; else it is
/// branch and bound, and where that does not end, annealing, whichever is better. When `cancel` becomes true the best so
/// far is returned.
///
/// # Errors
/// A wrong answer of the arbiter; a space too large for the method that was asked for, with one that can.
pub fn search(
    problem: &OrderProblem<'_>,
    options: &OrderOptions,
    cancel: &AtomicBool,
) -> Result<SearchResult<Order>, OrderError> {
    match options.method {
        Method::Exhaustive => exhaustive(problem, options, cancel),
        Method::BranchAndBound => branched(problem, options, cancel).map(|b| from_branch(problem, &b)),
        Method::Anneal => annealed(problem, options, cancel),
        Method::Auto | Method::Bisection => {
            if problem.candidates().is_some_and(|all| all <= MOST_EXHAUSTIVE) {
                return exhaustive(problem, options, cancel);
            }
            let proven = match branched(problem, options, cancel) {
                Ok(found) => Some(from_branch(problem, &found)),
                Err(OrderError::TooManyFirst { .. } | OrderError::TooManyOrders { .. }) => None,
                Err(error) => return Err(error),
            };
            if let Some(found) = proven.as_ref().filter(|p| p.proved_optimal) {
                return Ok(found.clone());
            }
            let annealed = annealed(problem, options, cancel)?;
            Ok(proven.map_or(annealed.clone(), |proven| combine(proven, annealed)))
        }
    }
}

/// The better of two incomplete searches, with the better bound.
fn combine(proven: SearchResult<Order>, annealed: SearchResult<Order>) -> SearchResult<Order> {
    let bound = if proven.bound > annealed.bound { proven.bound } else { annealed.bound };
    let evaluated = proven.evaluated + annealed.evaluated;
    let best =
        if annealed.best < proven.best { annealed } else { SearchResult { complete: annealed.complete, ..proven } };
    let proved_optimal = bound.is_some_and(|bound| bound >= best.best * (1.0 - 1e-9));
    SearchResult { bound, evaluated, proved_optimal, ..best }
}

fn exhaustive(
    problem: &OrderProblem<'_>,
    options: &OrderOptions,
    cancel: &AtomicBool,
) -> Result<SearchResult<Order>, OrderError> {
    let candidates = problem.candidates();
    if candidates.is_none_or(|all| all > options.most) {
        let (most, instead) = (options.most, "branch-and-bound` or `anneal");
        return Err(OrderError::TooManyOrders { candidates, most, instead });
    }
    let all = match Enumeration::unless(cancel, problem, options.symmetries) {
        Err(OrderError::Cancelled) => return of_workload(problem),
        all => all?,
    };
    let mut part = all.part(1, 1)?;
    let best = all.go_on(&mut part, cancel, &mut |_| ())?;
    Ok(from_part(problem, &part, best))
}

/// What is known of all orders before any is visited: the workload's own.
///
/// # Errors
/// A wrong answer of the arbiter.
pub fn of_workload(problem: &OrderProblem<'_>) -> Result<SearchResult<Order>, OrderError> {
    let own = own_makespan(problem)?;
    let bound = Some(root_bound(problem).min(own as f64));
    Ok(SearchResult { complete: false, bound, ..plain(problem, Method::Exhaustive, own, own, named(problem, 0)) })
}

/// The result of an enumeration, whole or not. `best` may be later than the part.
#[must_use]
pub fn from_part(problem: &OrderProblem<'_>, part: &Part, best: Option<Best>) -> SearchResult<Order> {
    let (distribution, whole) = (&part.distribution, part.complete() && part.shards == 1);
    let own = Best { makespan: part.baseline, number: 0 };
    let best = best.or(part.best).map_or(own, |best| best.min(own));
    let makespan = best.makespan as f64;
    SearchResult {
        complete: part.complete(),
        proved_optimal: whole,
        evaluated: distribution.count().max(1),
        bound: Some(if whole { makespan } else { root_bound(problem).min(makespan) }),
        median: distribution.median(),
        mean: distribution.mean(),
        worst: distribution.worst().map(|worst| worst as f64),
        percentiles: distribution.at(0).map(|_| PERCENTILES.map(|p| distribution.percentile(p).unwrap_or(0) as f64)),
        best_count: (distribution.count() > 0).then(|| distribution.best_count()),
        ..plain(problem, Method::Exhaustive, part.baseline, best.makespan, named(problem, best.number))
    }
}

fn named(problem: &OrderProblem<'_>, number: u128) -> Order {
    problem.order(number).unwrap_or_default()
}

fn plain(problem: &OrderProblem<'_>, method: Method, baseline: u64, best: u64, solution: Order) -> SearchResult<Order> {
    SearchResult {
        vary: Vary::Order,
        method,
        candidates: problem.candidates(),
        evaluated: 1,
        complete: true,
        proved_optimal: false,
        objective: Objective::Makespan,
        bound: None,
        baseline: baseline as f64,
        best: best as f64,
        median: None,
        mean: None,
        worst: None,
        percentiles: None,
        best_count: None,
        wall_s: None,
        solution,
    }
}

fn branched(problem: &OrderProblem<'_>, options: &OrderOptions, cancel: &AtomicBool) -> Result<Branched, OrderError> {
    branch_and_bound(problem, BranchOptions { rule: options.rule, nodes: options.nodes }, cancel)
}

fn from_branch(problem: &OrderProblem<'_>, found: &Branched) -> SearchResult<Order> {
    let order = named(problem, found.best.number);
    SearchResult {
        evaluated: u128::from(found.runs),
        complete: found.proved,
        proved_optimal: found.proved,
        bound: Some(found.bound),
        ..plain(problem, Method::BranchAndBound, found.baseline, found.best.makespan, order)
    }
}

/// Orders that a chain of annealing tries without a budget.
fn evaluations(problem: &OrderProblem<'_>) -> u64 {
    let messages: usize = problem.sources.iter().map(|source| source.messages.len()).sum();
    (WORK / (messages * problem.sources.len()) as u64).clamp(1, MOST_EVALUATIONS)
}

fn annealed(
    problem: &OrderProblem<'_>,
    options: &OrderOptions,
    cancel: &AtomicBool,
) -> Result<SearchResult<Order>, OrderError> {
    let annealing = AnnealOptions {
        evaluations: evaluations(problem),
        time: options.time,
        chains: options.chains.max(1),
        seed: options.seed,
        classes: options.classes.clone(),
    };
    let found: Annealed = anneal(problem, &annealing, cancel)?;
    Ok(SearchResult {
        evaluated: u128::from(found.evaluated),
        complete: found.complete,
        proved_optimal: found.proved(),
        bound: Some(found.bound),
        ..plain(problem, Method::Anneal, found.baseline, found.makespan, found.order)
    })
}
