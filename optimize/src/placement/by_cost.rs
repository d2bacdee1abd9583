//! The search for the placement of least cost: exact where that is possible, else by bisection.

use std::sync::atomic::{AtomicBool, Ordering};

use super::error::PlacementError;
use super::exact;
use super::heuristic::{self, Effort};
use super::machine::Machine;
use super::number::Number;
use super::pattern::Pattern;
use super::problem::{self, Problem};
use crate::search::Method;

/// What to search with.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Exhaustive: dynamic programming over sets of ranks, up to 16 ranks on a tree of 16 devices (of more where the tables
    /// allow it). Bisection: recursive bisection, exchanges, several starts. Any other: exhaustive where it is possible,
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
    /// Whether no placement has a smaller objective.
    pub proved_optimal: bool,
    /// The method that was used: [`Method::Exhaustive`] or [`Method::Bisection`].
    pub method: Method,
    /// Exact search: pairs of a set of ranks and a part of it; bisection: exchanges weighed.
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
    let before = problem.total(&problem.to_groups(&baseline)).wide();
    let (common, twice) = (pattern.common() as f64, 2.0 * pattern.unit() as f64);
    let value = |total: i128| total as f64 * common * problem.machine.step / twice;
    let possible = options.method != Method::Bisection && exact::fits(problem);
    if options.method == Method::Exhaustive && !possible {
        return Err(PlacementError::NotExact);
    }
    let (placement, total, evaluated) = if possible {
        let (placement, total, steps) = exact::search(problem);
        (placement, total.wide(), steps)
    } else {
        let effort = options.effort.unwrap_or(Effort::QUICK);
        let found = heuristic::search(problem, &baseline, effort, options.seed, &stop);
        (found.placement, found.total, found.weighed)
    };
    let (before, after) = (value(before), value(total));
    tracing::debug!(exact = possible, before, after, evaluated, "found a placement by costs");
    Ok(Placement {
        placement,
        before,
        after,
        proved_optimal: possible,
        method: if possible { Method::Exhaustive } else { Method::Bisection },
        evaluated,
        complete: !stopped.into_inner(),
    })
}

/// The objective of a placement.
///
/// # Errors
/// More ranks than devices, a placement that is none, sums that exact integers do not hold.
pub fn objective(pattern: &Pattern, machine: &Machine, placement: &[usize]) -> Result<f64, PlacementError> {
    let (ranks, devices) = (pattern.ranks(), machine.devices());
    if ranks > devices {
        return Err(PlacementError::TooFewDevices { ranks, devices });
    }
    check_start(placement, ranks, devices)?;
    let most = i128::MAX as u128;
    let sum = pattern.edges().iter().try_fold(0_u128, |sum, &(u, v, bytes)| {
        let cost = machine.matrix.at(placement[u as usize], placement[v as usize]);
        sum.checked_add(bytes.checked_mul(u128::from(cost))?).filter(|&s| s <= most)
    });
    let sum = sum.ok_or(PlacementError::TooLarge)?;
    Ok(sum as f64 * machine.step / (2.0 * pattern.unit() as f64))
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
