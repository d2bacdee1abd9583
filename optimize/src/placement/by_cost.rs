//! The search for the placement of least cost: exact where that is possible, else by bisection.

use std::sync::atomic::{AtomicBool, Ordering};

use super::error::PlacementError;
use super::every;
use super::exact;
use super::heuristic::{self, Effort};
use super::machine::Machine;
use super::number::Number;
use super::pattern::Pattern;
use super::problem::{self, Problem};
use crate::joint::Space;
use crate::search::{MOST_EXHAUSTIVE, Method};

/// What to search with.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Exhaustive: dynamic programming over sets of ranks, up to 16 ranks on a tree of 16 devices (of more where the tables
    /// allow it); else every placement, up to 10^7 of them. Bisection: recursive bisection, exchanges, several starts. Any other: exhaustive where it is possible,
    /// else bisection.
    pub method: Method,
    /// How much to search with bisection; [`Effort::QUICK`] if `None`.
    pub effort: Option<Effort>,
    /// Of the starts' random numbers (`ChaCha8`).
    pub seed: u64,
    /// Asked between starts and kicks; `true` ends the search with the best so far.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { method: Method::Auto, effort: None, seed: 0, stop: &|| false }
    }
}

/// What a search found.
#[derive(Clone, PartialEq, Debug)]
pub struct Placement {
    /// Device of each rank, by position in the list of devices.
    pub placement: Vec<usize>,
    /// Objective with rank i on device i.
    pub before: f64,
    /// Objective with the placement.
    pub after: f64,
    /// Whether no placement has an objective that is smaller by more than 1e-9 of it.
    pub proved_optimal: bool,
    /// The method that was used: [`Method::Exhaustive`] or [`Method::Bisection`].
    pub method: Method,
    /// Different placements whose objective is known; dynamic programming knows the baseline's and the best one's.
    pub evaluated: u64,
    /// Whether the search ended by itself.
    pub complete: bool,
}

/// Searches for the placement with the smallest objective. Never worse than the baseline; the same on any number of threads.
///
/// # Errors
/// More ranks than devices, sums that exact integers do not hold, an exact search that is not possible.
pub fn search(pattern: &Pattern, machine: &Machine, options: Options<'_>) -> Result<Placement, PlacementError> {
    let (ranks, devices) = (pattern.ranks(), machine.devices());
    if ranks > devices {
        return Err(PlacementError::TooFewDevices { ranks, devices });
    }
    match problem::bits(pattern, machine) {
        Some(..31) => run(&Problem::<i32>::new(pattern, machine), pattern, options),
        Some(..63) => run(&Problem::<i64>::new(pattern, machine), pattern, options),
        Some(..127) => run(&Problem::<i128>::new(pattern, machine), pattern, options),
        _ => Err(PlacementError::TooLarge),
    }
}

fn run<T: Number>(
    problem: &Problem<'_, T>,
    pattern: &Pattern,
    options: Options<'_>,
) -> Result<Placement, PlacementError> {
    let stopped = AtomicBool::new(false);
    let stop = || {
        let stop = (options.stop)();
        stopped.fetch_or(stop, Ordering::Relaxed);
        stop
    };
    let baseline: Vec<usize> = (0..problem.ranks).collect();
    let exact = if options.method == Method::Bisection { None } else { exactly(problem, &baseline, &stop) };
    let method = if exact.is_some() { Method::Exhaustive } else { Method::Bisection };
    if options.method == Method::Exhaustive && method != Method::Exhaustive {
        return Err(PlacementError::NotExact);
    }
    let effort = options.effort.unwrap_or(Effort::QUICK);
    let (placement, evaluated) =
        exact.unwrap_or_else(|| heuristic::search(problem, &baseline, effort, options.seed, &stop));
    let value = |placement: &[usize]| value(pattern, problem.machine, placement);
    let (before, after) = (value(&baseline), value(&placement));
    // Of two that are equal within the rounding of costs, the search may take the worse one.
    let (placement, after) = if after > before { (baseline, before) } else { (placement, after) };
    let complete = !stopped.into_inner();
    let proved_optimal = method == Method::Exhaustive && complete && problem.machine.proves();
    tracing::debug!(?method, before, after, evaluated, "found a placement by costs");
    Ok(Placement { placement, before, after, proved_optimal, method, evaluated, complete })
}

/// The best placement and how many values are known, where exact search is possible.
fn exactly<T: Number>(
    problem: &Problem<'_, T>,
    baseline: &[usize],
    stop: &dyn Fn() -> bool,
) -> Option<(Vec<usize>, u64)> {
    if exact::fits(problem) {
        let placement = exact::search(problem);
        let known = if placement == baseline { 1 } else { 2 };
        return Some((placement, known));
    }
    let space = Space { ranks: problem.ranks, devices: problem.padded, ..Space::default() };
    let few = space.candidates().is_some_and(|all| all <= MOST_EXHAUSTIVE);
    few.then(|| every::search(problem, stop))
}

/// Σ weight · cost, by the costs themselves. Whole weights and costs are added exactly up to 2^53.
fn value(pattern: &Pattern, machine: &Machine, placement: &[usize]) -> f64 {
    let common = pattern.common();
    let of = |&(u, v, bytes): &(u32, u32, u128)| {
        (bytes / common) as f64 * machine.units(placement[u as usize], placement[v as usize])
    };
    let sum: f64 = pattern.edges().iter().map(of).sum();
    sum * common as f64 * machine.unit / (2.0 * pattern.unit() as f64)
}

/// The objective of a placement.
///
/// # Errors
/// More ranks than devices, a placement that is none.
pub fn objective(pattern: &Pattern, machine: &Machine, placement: &[usize]) -> Result<f64, PlacementError> {
    let (ranks, devices) = (pattern.ranks(), machine.devices());
    if ranks > devices {
        return Err(PlacementError::TooFewDevices { ranks, devices });
    }
    check_start(placement, ranks, devices)?;
    Ok(value(pattern, machine, placement))
}

/// Refuses what is no placement.
fn check_start(start: &[usize], ranks: usize, devices: usize) -> Result<(), PlacementError> {
    let mut free = vec![true; devices];
    for (rank, &device) in start.iter().enumerate() {
        match free.get_mut(device) {
            Some(free) if *free && rank < ranks => *free = false,
            _ => return Err(PlacementError::BadStart { rank, device }),
        }
    }
    if start.len() < ranks {
        return Err(PlacementError::ShortStart { given: start.len(), ranks });
    }
    Ok(())
}
