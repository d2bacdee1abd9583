//! The search by the name of its method, and its result in the common form.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir_sim_core::TaskId;

use super::anneal::{AnnealOptions, Annealed, ClassOrders, anneal};
use super::bounds::{BranchOptions, Rule, branch_and_bound, root_bound};
use super::exhaustive::{Enumeration, Part};
use super::problem::{OrderError, OrderProblem};
use super::run::Best;
use super::run::plan::{Plan, with_lanes};
use super::run::tree::run_own;
use crate::parameters::Shard;
use crate::search::{MOST_EXHAUSTIVE, Method, SearchResult, Vary, within};

/// [`OrderOptions::most`] unless it is set: half a day on one core.
const MOST_VISITED: u128 = 50_000_000_000;
/// Work of a chain of annealing without a budget, in orders · messages · sources: about 10 s (measured with 16 and 64
/// sources, whose evaluations take 50 and 1,000 µs).
const WORK: u64 = 200_000_000;
/// Most orders that a chain tries without a budget; *assumed*: small problems are done by then.
const MOST_EVALUATIONS: u64 = 300_000;
/// Branch and bound gets this part of a budget before annealing; *assumed*: where it ends, it ends early.
const SHARE_OF_BRANCHING: u32 = 5;

/// Per source its transfers in the order they are sent, sources in the problem's order.
pub type Order = Vec<Vec<TaskId>>;

/// What a search is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// The best order, and the makespans of all orders where these can be visited.
    Statistics,
    /// The best order alone.
    Best,
}

/// The method of an order search, and how much it may do.
#[derive(Clone, Debug)]
pub struct OrderOptions {
    /// The method; `auto` goes on from one to the next.
    pub method: Method,
    /// Whether the makespans of other orders are wanted too.
    pub goal: Goal,
    /// How close to the best is proven.
    pub rule: Rule,
    /// Whether symmetries are looked for.
    pub symmetries: bool,
    /// Most orders to visit one by one.
    pub most: u128,
    /// The part of all orders to visit, where a search that visits every order is split.
    pub shard: Option<Shard>,
    /// Nodes of branch and bound.
    pub nodes: u64,
    /// How long the search may take. Without it annealing tries a fixed number of orders, and a seed gives the same
    /// result on every machine; with it annealing follows the clock, on all threads.
    pub budget: Option<Duration>,
    /// Chains of annealing: other random numbers each, so that one that is stuck does not decide. With a budget there are
    /// as many as threads.
    pub chains: u64,
    /// Seed of the random numbers of annealing.
    pub seed: u64,
    /// Classes that annealing begins with, for generated patterns.
    pub classes: Vec<ClassOrders>,
}

impl Default for OrderOptions {
    fn default() -> Self {
        Self {
            method: Method::Auto,
            goal: Goal::Statistics,
            rule: Rule::Close,
            symmetries: true,
            most: MOST_VISITED,
            shard: None,
            nodes: BranchOptions::default().nodes,
            budget: None,
            chains: 2,
            seed: 0,
            classes: Vec::new(),
        }
    }
}

/// What an order search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The best order. Of a shard it is the best of that shard.
    pub result: SearchResult<Order>,
    /// The orders that were visited, if the search visits every order and began to.
    pub part: Option<Part>,
}

impl From<SearchResult<Order>> for Found {
    fn from(result: SearchResult<Order>) -> Self {
        Self { result, part: None }
    }
}

/// Keeps the state of a search that visits every order. `()` keeps nothing.
pub trait Keeper {
    /// Why a search cannot begin or go on.
    type Error: From<OrderError>;

    /// What ends the preparation of the search, where that is not what ends the search: a state that was kept is taken up
    /// even if no time is left to go on.
    fn preparation(&self) -> Option<&AtomicBool> {
        None
    }

    /// The search is about to visit `part`, which is empty: it may be replaced by a state that was kept.
    ///
    /// # Errors
    /// What was kept belongs to another search, or cannot be read.
    fn resume(&mut self, part: &mut Part) -> Result<(), Self::Error> {
        let _ = part;
        Ok(())
    }

    /// A state that the search can go on from, about once a second.
    fn save(&mut self, part: &Part) {
        let _ = part;
    }

    /// Whether somebody waits for the search to end at once: then what came since the last state is dropped, as joining it
    /// takes the longer the more orders there are.
    fn is_hurried(&self) -> bool {
        false
    }
}

impl Keeper for () {
    type Error = OrderError;
}

/// Whether a search visits every order: by name, or by `auto` where that is affordable and statistics are wanted. Only
/// such a search can be split, and its state be kept.
#[must_use]
pub fn visits_all(problem: &OrderProblem<'_>, method: Method, goal: Goal) -> bool {
    method == Method::Exhaustive || (method == Method::Auto && goal == Goal::Statistics && few(problem))
}

/// Whether `auto` may visit every order.
fn few(problem: &OrderProblem<'_>) -> bool {
    problem.candidates().is_some_and(|all| all <= MOST_EXHAUSTIVE)
}

/// Searches for the order of the least makespan. When `cancel` becomes true the best so far is returned.
///
/// `auto` goes on from one method to the next until the best is proven:
///
/// | orders | goal | methods |
/// |---|---|---|
/// | at most 10^7 | statistics | exhaustive |
/// | at most 10^7 | best | branch and bound, then exhaustive |
/// | more | either | branch and bound (a fifth of the budget), then annealing; the better of the two |
///
/// # Errors
/// A wrong answer of the arbiter; a space too large for the method that was asked for, with one that can; an error of the
/// keeper; a shard that `cancel` ends before its first order.
pub fn search<K: Keeper>(
    problem: &OrderProblem<'_>,
    options: &OrderOptions,
    cancel: &AtomicBool,
    keeper: &mut K,
) -> Result<Found, K::Error> {
    let (method, candidates, sources) = (options.method.word(), problem.candidates(), problem.sources());
    tracing::info!(method, ?candidates, sources, "searching for the best order");
    let found = match options.method {
        Method::Exhaustive => return exhaustive(problem, options, cancel, keeper),
        Method::Auto | Method::Bisection | Method::LocalSearch if visits_all(problem, Method::Auto, options.goal) => {
            return exhaustive(problem, options, cancel, keeper);
        }
        Method::BranchAndBound => branched(problem, options, cancel)?,
        Method::Anneal => annealed(problem, options, options.budget, cancel)?,
        Method::Auto | Method::Bisection | Method::LocalSearch => match proven_or_annealed(problem, options, cancel)? {
            Some(found) => found,
            None => return exhaustive(problem, options, cancel, keeper),
        },
    };
    Ok(found.into())
}

/// Branch and bound, then annealing; nothing where the orders that are left can all be visited.
fn proven_or_annealed(
    problem: &OrderProblem<'_>,
    options: &OrderOptions,
    cancel: &AtomicBool,
) -> Result<Option<SearchResult<Order>>, OrderError> {
    let begin = Instant::now();
    let share = options.budget.map(|budget| budget / SHARE_OF_BRANCHING);
    let proven = match within(share, cancel, |cancel| branched(problem, options, cancel)) {
        Ok(found) if found.proved_optimal || cancel.load(Ordering::Relaxed) => return Ok(Some(found)),
        Ok(found) => Some(found),
        Err(OrderError::TooManyFirst { .. } | OrderError::TooManyOrders { .. }) => None,
        Err(error) => return Err(error),
    };
    if few(problem) {
        tracing::info!("branch and bound proved nothing: every order is visited");
        return Ok(None);
    }
    tracing::info!("branch and bound proved nothing: annealing goes on");
    let left = options.budget.map(|budget| budget.saturating_sub(begin.elapsed()));
    let annealed = annealed(problem, options, left, cancel)?;
    Ok(Some(match proven {
        Some(proven) => better_of(proven, annealed, options.budget.is_some()),
        None => annealed,
    }))
}

/// The better of branch and bound that was cut off and annealing, with the better bound. A search that the clock ended is
/// complete only with a proof.
fn better_of(proven: SearchResult<Order>, annealed: SearchResult<Order>, timed: bool) -> SearchResult<Order> {
    let bound = if proven.bound > annealed.bound { proven.bound } else { annealed.bound };
    let (evaluated, done) = (proven.evaluated + annealed.evaluated, annealed.complete);
    let best = if annealed.best < proven.best { annealed } else { proven };
    let proved_optimal = bound.is_some_and(|bound| bound >= best.best * (1.0 - 1e-9));
    SearchResult { bound, evaluated, proved_optimal, complete: if timed { proved_optimal } else { done }, ..best }
}

/// Visits all orders, or those of a shard.
fn exhaustive<K: Keeper>(
    problem: &OrderProblem<'_>,
    options: &OrderOptions,
    cancel: &AtomicBool,
    keeper: &mut K,
) -> Result<Found, K::Error> {
    let candidates = problem.candidates();
    if candidates.is_none_or(|all| all > options.most) {
        let (most, instead) = (options.most, "branch-and-bound` or `anneal");
        return Err(OrderError::TooManyOrders { candidates, most, instead }.into());
    }
    let all = match Enumeration::unless(keeper.preparation().unwrap_or(cancel), problem, options.symmetries) {
        // The best so far is the workload's own order, of which a shard knows nothing.
        Err(OrderError::Cancelled) if options.shard.is_none() => return Ok(of_workload(problem)?.into()),
        all => all?,
    };
    let shard = options.shard.unwrap_or(Shard::ALL);
    let mut part = all.part(shard.index(), shard.count())?;
    keeper.resume(&mut part)?;
    let best = all.go_on(&mut part, cancel, keeper)?;
    Ok(Found { result: from_part(problem, &part, best), part: Some(part) })
}

/// What is known of all orders before any is visited: the workload's own.
fn of_workload(problem: &OrderProblem<'_>) -> Result<SearchResult<Order>, OrderError> {
    let plan = Plan::new(problem);
    let own = with_lanes!(plan.sources, run_own(problem, &plan))?;
    let bound = Some(root_bound(problem).min(own as f64));
    Ok(SearchResult { complete: false, bound, ..plain(problem, Method::Exhaustive, own, own, named(problem, 0)) })
}

/// The result of an enumeration, whole or not. `best` may be later than the part.
fn from_part(problem: &OrderProblem<'_>, part: &Part, best: Option<Best>) -> SearchResult<Order> {
    let (makespans, whole) = (&part.distribution, part.complete() && part.shards == 1);
    let own = Best { makespan: part.baseline, number: 0 };
    let best = best.or(part.best).map_or(own, |best| best.min(own));
    let makespan = best.makespan as f64;
    let result = SearchResult {
        complete: part.complete(),
        proved_optimal: whole,
        evaluated: makespans.count().max(1),
        bound: Some(if whole { makespan } else { root_bound(problem).min(makespan) }),
        ..plain(problem, Method::Exhaustive, part.baseline, best.makespan, named(problem, best.number))
    };
    result.with_statistics(makespans)
}

fn named(problem: &OrderProblem<'_>, number: u128) -> Order {
    problem.order(number).unwrap_or_default()
}

fn plain(problem: &OrderProblem<'_>, method: Method, baseline: u64, best: u64, solution: Order) -> SearchResult<Order> {
    let result = SearchResult::new(Vary::Order, method, baseline as f64, best as f64, solution);
    SearchResult { candidates: problem.candidates(), ..result }
}

fn branched(
    problem: &OrderProblem<'_>,
    options: &OrderOptions,
    cancel: &AtomicBool,
) -> Result<SearchResult<Order>, OrderError> {
    let found = branch_and_bound(problem, BranchOptions { rule: options.rule, nodes: options.nodes }, cancel)?;
    let order = named(problem, found.best.number);
    Ok(SearchResult {
        evaluated: u128::from(found.runs),
        complete: found.proved,
        proved_optimal: found.proved,
        bound: Some(found.bound),
        ..plain(problem, Method::BranchAndBound, found.baseline, found.best.makespan, order)
    })
}

/// Orders that a chain of annealing tries without a budget.
fn evaluations(problem: &OrderProblem<'_>) -> u64 {
    let messages: usize = problem.sources.iter().map(|source| source.messages.len()).sum();
    (WORK / (messages * problem.sources.len()) as u64).clamp(1, MOST_EVALUATIONS)
}

fn annealed(
    problem: &OrderProblem<'_>,
    options: &OrderOptions,
    time: Option<Duration>,
    cancel: &AtomicBool,
) -> Result<SearchResult<Order>, OrderError> {
    let annealing = AnnealOptions {
        evaluations: evaluations(problem),
        time,
        chains: time.map_or(options.chains.max(1), |_| rayon::current_num_threads() as u64),
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
