//! Multilevel bisection with refinement from several seeded starts.

use std::collections::HashSet;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::number::Number;
use super::problem::Problem;
use super::refine::{Refinement, digest};
use super::start::Starts;

/// How much to search beyond exact search. The result depends on these numbers and the seed only, not on the threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Starts by bisection; 0 counts as 1.
    pub starts: u32,
    /// Attempts per cut of more than 16 ranks; 0 counts as 1.
    pub attempts: u32,
    /// Kicks of each start: three ranks change places, the exchanges that help follow, and what is worse is undone.
    pub kicks: u32,
}

impl Effort {
    /// Some ten times the quick effort, for the last percent.
    pub const THOROUGH: Self = Self { starts: 32, attempts: 4, kicks: 500 };

    /// About ten milliseconds of processor time for 64 devices and 60 for 256. With fewer starts some placements are above
    /// the median of Scotch's.
    pub const QUICK: Self = Self { starts: 16, attempts: 2, kicks: 16 };
}

/// Times the kicks of a start that the best of all starts then gets. *Assumed*: a tenth to a fifth of the time of all.
const KICKS_OF_BEST: u32 = 16;

/// The best of all starts and the baseline; the lexicographically smallest placement among equals. The baseline is refined
/// too where no start is better, and the best of all gets more kicks. With it, how many placements were reached that differ in
/// more than devices of one group.
pub(super) fn search<T: Number>(
    problem: &Problem<'_, T>,
    baseline: &[usize],
    effort: Effort,
    seed: u64,
    stop: &(dyn Fn() -> bool + Sync),
) -> (Vec<usize>, u64) {
    let polish = |groups: Vec<u32>, kicks: u32, rng: &mut ChaCha8Rng| {
        let mut refinement = Refinement::new(problem, groups);
        refinement.descend(rng);
        refinement.shake(kicks, rng, stop);
        Candidate {
            total: refinement.total,
            placement: problem.to_placement(&refinement.group_of),
            reached: refinement.reached,
        }
    };
    let start = |index: u32| {
        if stop() {
            return None;
        }
        let mut rng = stream(seed, index);
        let groups = Starts::new(problem, effort.attempts.max(1)).build(&mut rng);
        Some(polish(groups, effort.kicks, &mut rng))
    };
    let starts = effort.starts.max(1);
    let mut found: Vec<_> = (0..starts).into_par_iter().filter_map(start).collect();
    let groups = problem.to_groups(baseline);
    let as_is = Candidate {
        total: problem.total(&groups),
        placement: baseline.to_vec(),
        reached: HashSet::from([digest(problem, &groups)]),
    };
    if found.iter().all(|f| f.total >= as_is.total) && !stop() {
        found.push(polish(groups, effort.kicks, &mut stream(seed, starts)));
    }
    let mut best = found.into_iter().fold(as_is, Candidate::better);
    if !stop() {
        let (groups, kicks) = (problem.to_groups(&best.placement), effort.kicks.saturating_mul(KICKS_OF_BEST));
        best = best.better(polish(groups, kicks, &mut stream(seed, starts + 1)));
    }
    (best.placement, best.reached.len() as u64)
}

struct Candidate<T> {
    total: T,
    placement: Vec<usize>,
    /// Digests of all placements that were reached.
    reached: HashSet<u64>,
}

impl<T: Number> Candidate<T> {
    /// The better of two, with what both have reached.
    fn better(mut self, mut other: Self) -> Self {
        if other.key() < self.key() {
            std::mem::swap(&mut self, &mut other);
        }
        self.reached.extend(other.reached);
        self
    }

    fn key(&self) -> (T, &[usize]) {
        (self.total, &self.placement)
    }
}

/// Each start has a stream of its own, so that it does not matter which thread runs it.
fn stream(seed: u64, index: u32) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(u64::from(index));
    rng
}
