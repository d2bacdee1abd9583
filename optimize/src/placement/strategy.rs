//! The search by objective and method, and its result in the common form.
//!
//! | objective | method | search |
//! |---|---|---|
//! | makespan | exhaustive | every placement, simulated |
//! | makespan | other | the best by distance, latency and bandwidth, refined by simulation |
//! | other | any | by the costs of pairs of devices: exact or bisection |

use std::sync::atomic::{AtomicBool, Ordering};

use super::by_cost::{Options, Placement, search};
use super::error::PlacementError;
use super::heuristic::Effort;
use super::machine::Machine;
use super::pattern::Pattern;
use super::simulated::{SimulatedError, refine_simulated};
use crate::Distribution;
use crate::search::{MOST_EXHAUSTIVE, Method, Objective, SearchResult, Vary, best_of};

/// What is placed, what placements are worth, and how to search.
pub struct PlacementSearch<'a, E> {
    /// The weights of pairs of ranks.
    pub pattern: &'a Pattern,
    /// Devices to choose from.
    pub devices: usize,
    /// The costs of pairs of devices by an objective.
    pub machine: &'a (dyn Fn(Objective) -> Result<Machine, PlacementError> + Sync),
    /// The simulated time of a placement, ps.
    pub makespan: &'a (dyn Fn(&[usize]) -> Result<u64, E> + Sync),
    /// The value of a placement.
    pub objective: Objective,
    /// The method; see the table in the module's opening for what each objective makes of it.
    pub method: Method,
    /// How much to search with bisection.
    pub effort: Option<Effort>,
    /// When it becomes true the search ends with the best so far.
    pub cancel: &'a AtomicBool,
}

/// What a search for a placement found.
#[derive(Clone, PartialEq, Debug)]
pub struct PlacementFound {
    /// The result; its solution is the device of each rank, by position in the list of devices.
    pub result: SearchResult<Vec<usize>>,
    /// Of all placements, where each was simulated.
    pub makespans: Option<Distribution>,
}

impl<E: Send> PlacementSearch<'_, E> {
    /// Searches; none where it was ended before it knew the value of the first placement.
    ///
    /// # Errors
    /// As [`search`]; more placements than are simulated one by one; a simulation that fails.
    pub fn run(&self) -> Result<Option<PlacementFound>, SimulatedError<E>> {
        match (self.objective, self.method) {
            (Objective::Makespan, Method::Exhaustive) => self.every(),
            (Objective::Makespan, _) => self.refined(),
            _ => self.by_costs().map(Some).map_err(SimulatedError::Placement),
        }
    }

    fn by_costs(&self) -> Result<PlacementFound, PlacementError> {
        let found = self.placed(self.objective, self.method)?;
        let exact = found.method == Method::Exhaustive;
        // Exact search weighs sets of ranks, not placements: it knows the values of the first and of the best.
        let ends = if found.placement.is_sorted() { 1 } else { 2 };
        let result = SearchResult {
            evaluated: if exact { ends } else { found.evaluated.into() },
            complete: found.complete,
            proved_optimal: found.proved_optimal,
            bound: found.proved_optimal.then_some(found.after),
            ..self.plain(found.method, (found.before, found.after), found.placement)
        };
        Ok(PlacementFound { result, makespans: None })
    }

    fn placed(&self, objective: Objective, method: Method) -> Result<Placement, PlacementError> {
        let stop = || self.stopped();
        let options = Options { method, effort: self.effort, seed: 0, stop: &stop };
        search(self.pattern, &(self.machine)(objective)?, options)
    }

    /// By the makespan, refined from the best placements by costs.
    fn refined(&self) -> Result<Option<PlacementFound>, SimulatedError<E>> {
        // A machine without latencies, say, gives no start; the others do.
        let by = [Objective::Distance, Objective::Latency, Objective::Bandwidth];
        let starts = by.iter().filter_map(|&objective| Some(self.placed(objective, Method::Auto).ok()?.placement));
        let starts: Vec<Vec<usize>> = starts.collect();
        let stop = || self.stopped();
        let evaluate = |placement: &[usize]| match (self.makespan)(placement) {
            Err(_) if stop() => Ok(u64::MAX),
            made => made,
        };
        let found = refine_simulated(self.pattern.ranks(), self.devices, &starts, u64::MAX, evaluate, &stop)?;
        if found.before_ps == u64::MAX {
            return Ok(None);
        }
        let result = SearchResult {
            evaluated: found.evaluated.into(),
            complete: found.complete && !stop(),
            ..self.plain(Method::Bisection, (found.before_ps as f64, found.after_ps as f64), found.placement)
        };
        Ok(Some(PlacementFound { result, makespans: None }))
    }

    /// By the makespan of every placement.
    fn every(&self) -> Result<Option<PlacementFound>, SimulatedError<E>> {
        let (ranks, devices) = (self.pattern.ranks(), self.devices);
        let candidates = count(ranks, devices);
        let Some(all) = candidates.filter(|&all| all <= MOST_EXHAUSTIVE) else {
            let error = PlacementError::TooManyPlacements { candidates, most: MOST_EXHAUSTIVE };
            return Err(SimulatedError::Placement(error));
        };
        let simulated = self.makespan;
        let value = |number| simulated(&numbered(number, ranks, devices)).map(|makespan| makespan as f64);
        let mut makespans = Vec::new();
        let best = best_of(all, value, self.cancel, |makespan| makespans.push(makespan as u64));
        let Some(best) = best.map_err(SimulatedError::Evaluation)? else { return Ok(None) };
        let complete = best.complete && best.evaluated == all;
        let before = makespans.first().map_or(best.value, |&before| before as f64);
        let makespans: Distribution = makespans.into_iter().collect();
        let result = SearchResult {
            evaluated: best.evaluated,
            complete,
            proved_optimal: complete,
            bound: complete.then_some(best.value),
            ..self.plain(Method::Exhaustive, (before, best.value), numbered(best.number, ranks, devices))
        };
        let result = result.with_statistics(&makespans);
        Ok(Some(PlacementFound { result, makespans: Some(makespans) }))
    }

    fn plain(&self, method: Method, (before, after): (f64, f64), placement: Vec<usize>) -> SearchResult<Vec<usize>> {
        SearchResult {
            candidates: count(self.pattern.ranks(), self.devices),
            objective: self.objective,
            ..SearchResult::new(Vary::Placement, method, before, after, placement)
        }
    }

    fn stopped(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// Number of placements; none above 2^128.
fn count(ranks: usize, devices: usize) -> Option<u128> {
    (0..ranks).try_fold(1_u128, |all, rank| all.checked_mul(devices.checked_sub(rank)? as u128))
}

/// The placement of a number, in lexicographic order: mixed radix, rank 0 most significant, by the devices that are left.
fn numbered(number: u128, ranks: usize, devices: usize) -> Vec<usize> {
    let (mut left, mut digits) = (number, Vec::with_capacity(ranks));
    for rank in (0..ranks).rev() {
        let radix = (devices - rank) as u128;
        digits.push((left % radix) as usize);
        left /= radix;
    }
    let mut free: Vec<usize> = (0..devices).collect();
    digits.into_iter().rev().map(|digit| free.remove(digit)).collect()
}
