//! Local search: several chains of moves by late acceptance.
//!
//! **Definition.** A chain changes one thing at a time ([`Space::step`]) and keeps the change where the value is not worse
//! than the present one, or than that of so many moves ago. Changes to what is no candidate, such as an order that contradicts
//! a wait, are no moves: others are drawn. A chain that has found nothing better for a while begins anew from the best of all
//! chains, after a few moves.
//! **Ties.** Of equal candidates the first that a chain found counts, and that of the first chain.
//! **Source.** Burke and Bykov, "The late acceptance hill-climbing heuristic", EJOR 258 (2017), section 2. It needs neither a
//! temperature nor the time that is left, so that the end may come at any moment.
//!
//! Chains go on side by side and meet after each round. Each has a stream of random numbers of its own, so that the result
//! depends on the seed and the limit alone, not on the number of threads. What was tried in earlier rounds is known: it is
//! not evaluated again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::space::{Candidate, Space};
use super::{Evaluate, JointFound};

/// Chains; *assumed*: a few starts, and work for the cores of a workstation.
const CHAINS: usize = 8;
/// Moves that a chain looks back; *assumed*, the source takes 50 to 5,000 for larger limits.
const HISTORY: usize = 25;
/// Moves of a chain between two meetings; *assumed*.
const ROUND: u64 = 16;
/// Moves without a better candidate after which a chain begins anew; *assumed*.
const PATIENCE: u64 = 600;
/// Moves from the best of all where it then begins; *assumed*.
const KICKS: usize = 4;
/// Changes that are drawn for a move, until one leads to a candidate; *assumed*, it takes far longer to simulate one than to see
/// that it is none.
const DRAWS: usize = 64;
/// "Equal" to the bound, relative: the tolerance of published makespans.
const EQUAL: f64 = 1e-9;

/// With so many candidates no further round is kept by its digests: some 550 MB (*assumed*). What comes later is evaluated, and
/// counted, each time it comes.
const MOST_KNOWN: usize = 10_000_000;

/// The values of candidates by their digest; none for what is no candidate.
type Known = HashMap<u128, Option<f64>>;

fn is_finite(value: Option<f64>) -> bool {
    value.is_some_and(f64::is_finite)
}

/// A search from some candidates.
pub struct LocalSearch<'a, V> {
    /// What varies.
    pub space: &'a Space,
    /// What candidates are worth.
    pub evaluate: &'a V,
    /// Where chains begin, in turn; at least one.
    pub starts: &'a [Candidate],
    /// A value that no candidate is below: one that reaches it, to 1e-9, ends the search.
    pub bound: Option<f64>,
    /// Candidates that are tried at most, the starts and repetitions included, what is no candidate aside; as many as time
    /// allows if `None`.
    pub limit: Option<u64>,
    /// Of the random numbers (`ChaCha8`).
    pub seed: u64,
    /// When it becomes true the search ends with the best so far.
    pub cancel: &'a AtomicBool,
}

impl<V: Evaluate> LocalSearch<'_, V> {
    /// Searches. None when nothing that was tried has a value, or the search was ended before.
    ///
    /// # Errors
    /// A candidate that cannot be evaluated: in the first round with one, that of the first chain.
    pub fn run(&self) -> Result<Option<JointFound>, V::Error> {
        let mut chains: Vec<Chain<V>> = (0..CHAINS.max(self.starts.len())).map(|chain| self.chain(chain)).collect();
        let (mut left, mut known) = (self.limit, Known::new());
        let all = self.space.candidates();
        let (mut knows_all, mut forgotten) = (false, 0);
        while left != Some(0) && !knows_all && !self.cancelled() {
            // A limit is shared out so that the first chains have the more of what does not divide.
            let count = chains.len() as u64;
            let share = |chain: u64| left.map_or(ROUND, |left| (left.saturating_sub(chain).div_ceil(count)).min(ROUND));
            let moves: Vec<u64> = (0..count).map(share).collect();
            chains
                .par_iter_mut()
                .zip(&moves)
                .with_max_len(1)
                .for_each(|(chain, &moves)| self.go_on(chain, moves, &known));
            if let Some(error) = chains.iter_mut().find_map(|chain| chain.failure.take()) {
                return Err(error);
            }
            left = left.map(|left| left - moves.iter().sum::<u64>());
            // A round is kept as a whole, so that the order in a map of hashes decides nothing.
            let found = chains.iter_mut().flat_map(|chain| chain.found.drain());
            match known.len() < MOST_KNOWN {
                true => known.extend(found),
                false => forgotten += found.filter(|&(_, value)| is_finite(value)).count() as u64,
            }
            knows_all = Some(known.len() as u128) == all;
            if best_of(&chains).is_some_and(|(value, _)| self.reaches_bound(value)) {
                break;
            }
            self.meet(&mut chains);
        }
        let evaluated = known.values().filter(|value| is_finite(**value)).count() as u64 + forgotten;
        let best = best_of(&chains).filter(|(value, _)| value.is_finite());
        let (all, complete) = (knows_all, knows_all || !self.cancelled());
        Ok(best.map(|(value, candidate)| JointFound { candidate: candidate.clone(), value, evaluated, all, complete }))
    }

    /// Whether nothing can be better. A value below the bound shows that it is none.
    fn reaches_bound(&self, value: f64) -> bool {
        self.bound.is_some_and(|bound| (value - bound).abs() <= bound * EQUAL)
    }

    /// The first chains begin at the starts, the others some moves from them.
    fn chain(&self, number: usize) -> Chain<V> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(number as u64);
        let start = &self.starts[number % self.starts.len()];
        let mut begin = start.clone();
        if number >= self.starts.len() {
            (0..KICKS * number).for_each(|_| self.space.step(&mut begin, &mut rng));
        }
        Chain {
            state: self.evaluate.start(),
            rng,
            best: (f64::INFINITY, begin.clone()),
            at: (f64::INFINITY, begin.clone()),
            next: Some(begin),
            start: start.clone(),
            history: [f64::INFINITY; HISTORY],
            moves: 0,
            since: 0,
            found: Known::new(),
            failure: None,
        }
    }

    fn go_on(&self, chain: &mut Chain<V>, moves: u64, known: &Known) {
        for _ in 0..moves {
            chain.since += 1;
            for _ in 0..DRAWS {
                if self.cancelled() || self.reaches_bound(chain.best.0) {
                    return;
                }
                let begins = chain.next.take();
                let anew = begins.is_some();
                let candidate = begins.unwrap_or_else(|| {
                    let mut next = chain.at.1.clone();
                    self.space.step(&mut next, &mut chain.rng);
                    next
                });
                let Some(value) = self.value(chain, &candidate, known) else { return };
                let is_candidate = value.is_some();
                if let Some(value) = value.filter(|value| value.is_finite()) {
                    chain.take(value, candidate, anew);
                } else if anew && candidate != chain.start {
                    // A few moves led to nothing.
                    chain.next = Some(chain.start.clone());
                } else if chain.at.0.is_infinite() {
                    // So does the start: the chain looks further.
                    chain.at.1 = candidate;
                }
                if is_candidate {
                    break;
                }
            }
        }
    }

    /// The value of a candidate, none for what is none; `None` where the chain ends.
    fn value(&self, chain: &mut Chain<V>, candidate: &Candidate, known: &Known) -> Option<Option<f64>> {
        let digest = candidate.digest();
        if let Some(&value) = known.get(&digest).or_else(|| chain.found.get(&digest)) {
            return Some(value);
        }
        match self.evaluate.value(&mut chain.state, candidate) {
            Ok(value) => {
                chain.found.insert(digest, value);
                Some(value)
            }
            // A candidate that was cut off has no value, and there is nothing wrong with it.
            Err(_) if self.cancelled() => None,
            Err(error) => {
                chain.failure = Some(error);
                None
            }
        }
    }

    /// Chains that found nothing for a while begin anew near the best of all.
    fn meet(&self, chains: &mut [Chain<V>]) {
        let Some((_, best)) = best_of(chains) else { return };
        let best = best.clone();
        for chain in chains.iter_mut().filter(|chain| chain.since >= PATIENCE) {
            let mut begin = best.clone();
            (0..KICKS).for_each(|_| self.space.step(&mut begin, &mut chain.rng));
            (chain.next, chain.start, chain.since) = (Some(begin), best.clone(), 0);
        }
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// The best of all chains, the first among equals.
fn best_of<V: Evaluate>(chains: &[Chain<V>]) -> Option<(f64, &Candidate)> {
    let best = chains.iter().map(|chain| (chain.best.0, &chain.best.1));
    best.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// One chain.
struct Chain<V: Evaluate> {
    state: V::State,
    rng: ChaCha8Rng,
    best: (f64, Candidate),
    at: (f64, Candidate),
    /// Where it begins, or begins anew.
    next: Option<Candidate>,
    /// Where it begins if that is no candidate.
    start: Candidate,
    /// The values of the last moves, as a ring.
    history: [f64; HISTORY],
    moves: u64,
    /// Moves since the last better candidate.
    since: u64,
    /// What it evaluated in this round.
    found: Known,
    failure: Option<V::Error>,
}

impl<V: Evaluate> Chain<V> {
    /// Goes to a candidate where its value is good enough, whatever it is where the chain begins `anew`.
    fn take(&mut self, value: f64, candidate: Candidate, anew: bool) {
        if value < self.best.0 {
            tracing::debug!(value, "found a better candidate");
            (self.best, self.since) = ((value, candidate.clone()), 0);
        }
        let late = &mut self.history[(self.moves % HISTORY as u64) as usize];
        if anew || value <= self.at.0 || value <= *late {
            self.at = (value, candidate);
        }
        *late = late.min(self.at.0);
        if anew {
            self.history = [value; HISTORY];
        }
        self.moves += 1;
    }
}
