//! Refinement of a placement by its simulated time.
//!
//! From the best of the given placements, exchanges of two ranks, and of a rank's device for a free one, are tried in a fixed
//! order: by rank, then by the other rank or the free device. They are tried in batches, whose members are evaluated in
//! parallel; the best of a batch is taken if it is faster, the first among equals. Trying goes on behind it. The search
//! ends when all exchanges were tried in vain, or after so many evaluations. Batches do not depend on the number of threads.

use rayon::prelude::*;

use super::error::PlacementError;

/// Exchanges per batch; *assumed*: enough for the cores of a large machine.
const BATCH: usize = 32;

/// What a refinement by simulation found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Simulated {
    /// Device of each rank, by position in the list of devices.
    pub placement: Vec<usize>,
    /// Time of the exchange with rank i on device i, ps.
    pub before_ps: u64,
    /// Time of the exchange with the placement found, ps.
    pub after_ps: u64,
    /// Placements simulated, the starts included.
    pub evaluated: u64,
    /// Whether no exchange of two devices makes it faster; `false` when the budget or the caller ended the search.
    pub complete: bool,
}

/// Why a refinement by simulation failed.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SimulatedError<E> {
    /// The placements to start from.
    #[error(transparent)]
    Placement(PlacementError),
    /// A simulation.
    #[error("{0}")]
    Evaluation(E),
}

/// Refines by simulation. `evaluate` gives the time in ps of an exchange with the placement; `starts` are placements found
/// by other objectives (the baseline, rank i on device i, is always tried as well); at most `budget` evaluations, but at
/// least one for each start. `stop` is asked before each batch.
///
/// # Errors
/// Fewer devices than ranks, a start that is no placement, the first error of an evaluation in the order of trying.
pub fn refine_simulated<E: Send>(
    ranks: usize,
    devices: usize,
    starts: &[Vec<usize>],
    budget: u64,
    evaluate: impl Fn(&[usize]) -> Result<u64, E> + Sync,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Simulated, SimulatedError<E>> {
    if ranks > devices {
        return Err(SimulatedError::Placement(PlacementError::TooFewDevices { ranks, devices }));
    }
    let all = beginnings(ranks, devices, starts).map_err(SimulatedError::Placement)?;
    let times = evaluate_all(&all, &evaluate)?;
    let (before_ps, mut evaluated, mut complete) = (times[0], all.len() as u64, true);
    // At least the baseline is there, so the fallback is never taken.
    let (mut after_ps, placement) = times.into_iter().zip(all).min().unwrap_or_default();
    tracing::debug!(before = before_ps, best = after_ps, starts = evaluated, "simulated the placements to start from");
    let mut exchanges = Exchanges::new(placement, devices);
    while exchanges.tried < exchanges.count() {
        if evaluated >= budget || stop() {
            complete = false;
            break;
        }
        let left = usize::try_from(budget - evaluated).unwrap_or(BATCH);
        evaluated += exchanges.try_batch(BATCH.min(left), &mut after_ps, &evaluate)?;
    }
    Ok(Simulated { placement: exchanges.placement(), before_ps, after_ps, evaluated, complete })
}

/// The baseline, then the distinct placements to start from.
fn beginnings(ranks: usize, devices: usize, starts: &[Vec<usize>]) -> Result<Vec<Vec<usize>>, PlacementError> {
    let mut all: Vec<Vec<usize>> = vec![(0..ranks).collect()];
    for start in starts {
        check_start(start, ranks, devices)?;
        if !all.contains(start) {
            all.push(start.clone());
        }
    }
    Ok(all)
}

/// The times of placements, or the first error.
fn evaluate_all<E: Send>(
    placements: &[Vec<usize>],
    evaluate: &(impl Fn(&[usize]) -> Result<u64, E> + Sync),
) -> Result<Vec<u64>, SimulatedError<E>> {
    let times: Vec<Result<u64, E>> = placements.par_iter().map(|p| evaluate(p)).collect();
    times.into_iter().collect::<Result<_, _>>().map_err(SimulatedError::Evaluation)
}

pub(super) fn check_start(start: &[usize], ranks: usize, devices: usize) -> Result<(), PlacementError> {
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

/// The exchanges of one placement in their fixed order, and how far they were tried.
struct Exchanges {
    /// Devices of the ranks, then the free devices, ascending.
    places: Vec<usize>,
    ranks: usize,
    /// The next to try; the order is a ring.
    next: usize,
    /// Tried in vain since the last that helped.
    tried: usize,
}

impl Exchanges {
    fn new(placement: Vec<usize>, devices: usize) -> Self {
        let ranks = placement.len();
        let mut free = vec![true; devices];
        placement.iter().for_each(|&d| free[d] = false);
        let places = placement.into_iter().chain((0..devices).filter(|&d| free[d])).collect();
        Self { places, ranks, next: 0, tried: 0 }
    }

    /// How many exchanges there are: of each rank with every later rank and every free device.
    fn count(&self) -> usize {
        let n = self.places.len();
        (0..self.ranks).map(|r| n - 1 - r).sum()
    }

    /// Positions (i < j, i a rank) of the exchange with this number.
    fn pair(&self, mut number: usize) -> (usize, usize) {
        let n = self.places.len();
        let mut first = 0;
        while number >= n - 1 - first {
            number -= n - 1 - first;
            first += 1;
        }
        (first, first + 1 + number)
    }

    /// Tries the next few side by side, and takes the fastest if it is faster than `best`; returns how many were tried.
    fn try_batch<E: Send>(
        &mut self,
        most: usize,
        best: &mut u64,
        evaluate: &(impl Fn(&[usize]) -> Result<u64, E> + Sync),
    ) -> Result<u64, SimulatedError<E>> {
        let batch = self.batch(most);
        let placements: Vec<_> = batch.iter().map(|&i| self.exchanged(i)).collect();
        let times = evaluate_all(&placements, evaluate)?;
        match times.iter().enumerate().min_by_key(|&(i, &t)| (t, i)) {
            Some((i, &time)) if time < *best => {
                *best = time;
                tracing::debug!(best = time, "found a better placement");
                self.take(batch[i]);
            }
            _ => self.pass(batch.len()),
        }
        Ok(times.len() as u64)
    }

    fn batch(&self, most: usize) -> Vec<usize> {
        let count = self.count();
        (0..most.min(count - self.tried)).map(|i| (self.next + i) % count).collect()
    }

    fn exchanged(&self, number: usize) -> Vec<usize> {
        let (a, b) = self.pair(number);
        let mut places = self.places.clone();
        places.swap(a, b);
        places.truncate(self.ranks);
        places
    }

    fn take(&mut self, number: usize) {
        let (a, b) = self.pair(number);
        self.places.swap(a, b);
        (self.next, self.tried) = ((number + 1) % self.count(), 0);
    }

    fn pass(&mut self, tried: usize) {
        self.next = (self.next + tried) % self.count();
        self.tried += tried;
    }

    fn placement(self) -> Vec<usize> {
        let mut places = self.places;
        places.truncate(self.ranks);
        places
    }
}
