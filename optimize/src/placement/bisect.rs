//! Cutting a set of ranks in two parts of given sizes so that little weight crosses: greedy growth, then exchanges in the
//! manner of Fiduccia and Mattheyses (DAC 1982) with the balance of Kernighan and Lin (Bell System Technical Journal 49, 1970).
//!
//! One part grows from a random rank, each time by the rank that lowers the cut most. A pass then moves the best rank of one
//! part and the best of the other in turn, each once, also where the cut grows for a while, and goes back to the best state
//! that it met. Ties: the rank that comes first in a seeded order. Passes end when one does not improve.

use rand::{Rng, seq::SliceRandom};

use super::number::Number;

/// A set of ranks with the edges inside it, numbered from 0, and room to work in.
pub(super) struct Bisection<T> {
    offsets: Vec<u32>,
    edges: Vec<(u32, T)>,
    side: Vec<bool>,
    best_side: Vec<bool>,
    /// How much the cut falls when a rank changes sides.
    gain: Vec<T>,
    /// Weight of all edges of a rank.
    inside: Vec<T>,
    /// The ranks of each side that have not moved in this pass.
    open: [Open<T>; 2],
    /// Where each rank is in the open ranks of its side; [`MOVED`] once it has moved.
    slot: Vec<u32>,
    moved: Vec<u32>,
    order: Vec<u32>,
}

/// In the place of a slot: the rank has moved in this pass.
const MOVED: u32 = u32::MAX;

/// Gains that are compared side by side; *assumed*, a vector register or two.
const LANES: usize = 8;

/// A pass gives up after so many exchanges, and one for each 16 ranks, without a better state; tuned
/// on random graphs, without a record of the figures.
const PATIENCE: usize = 4;

/// Ranks that may move, with their gains side by side so that the largest is found quickly.
struct Open<T> {
    ranks: Vec<u32>,
    gains: Vec<T>,
}

impl<T: Number> Open<T> {
    fn new() -> Self {
        Self { ranks: Vec::new(), gains: Vec::new() }
    }

    fn clear(&mut self) {
        self.ranks.clear();
        self.gains.clear();
    }

    /// The first position of the largest gain: lanes first, as a processor compares several at once.
    fn best(&self) -> usize {
        let mut lanes = [-T::MOST; LANES];
        let chunks = self.gains.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for (lane, &gain) in lanes.iter_mut().zip(chunk) {
                *lane = (*lane).max(gain);
            }
        }
        let most = lanes.iter().chain(rest).copied().fold(-T::MOST, T::max);
        // Lanes again: a chunk is compared as a whole before it is searched.
        let holds = |chunk: &[T]| chunk.iter().fold(false, |found, &gain| found | (gain == most));
        let chunk = self.gains.chunks(LANES).position(holds).unwrap_or(0) * LANES;
        self.gains[chunk..].iter().position(|&gain| gain == most).map_or(0, |at| chunk + at)
    }
}

impl<T: Number> Bisection<T> {
    pub(super) fn new() -> Self {
        Self {
            offsets: Vec::new(),
            edges: Vec::new(),
            side: Vec::new(),
            best_side: Vec::new(),
            gain: Vec::new(),
            inside: Vec::new(),
            open: [Open::new(), Open::new()],
            slot: Vec::new(),
            moved: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Forgets all ranks and edges.
    pub(super) fn clear(&mut self) {
        self.offsets.clear();
        self.offsets.push(0);
        self.edges.clear();
    }

    /// Adds the next rank with its edges to ranks of the set.
    pub(super) fn add(&mut self, edges: impl Iterator<Item = (u32, T)>) {
        self.edges.extend(edges);
        self.offsets.push(self.edges.len() as u32);
    }

    /// The best of some attempts: which ranks are in the second part. The first part gets `first` ranks.
    pub(super) fn cut(&mut self, first: usize, attempts: u32, rng: &mut impl Rng) -> &[bool] {
        let n = self.offsets.len() - 1;
        self.order.clear();
        self.order.extend(0..n as u32);
        self.order.shuffle(rng);
        self.inside.clear();
        for rank in 0..n {
            let inside = self.edges[self.edges(rank)].iter().fold(T::ZERO, |sum, e| sum + e.1);
            self.inside.push(inside);
        }
        // A small set has few cuts; an attempt for each start that is not tried yet.
        let attempts = (attempts as usize).min(1 + n / 4);
        let mut best = None;
        for start in 0..attempts {
            let mut cut = self.grow(first, start);
            while let Some(gained) = self.pass() {
                cut -= gained;
            }
            if best.is_none_or(|b| cut < b) {
                best = Some(cut);
                self.best_side.clone_from(&self.side);
            }
        }
        &self.best_side
    }

    fn edges(&self, rank: usize) -> std::ops::Range<usize> {
        self.offsets[rank] as usize..self.offsets[rank + 1] as usize
    }

    /// All ranks in the second part, then the first part grown; the weight cut.
    fn grow(&mut self, first: usize, start: usize) -> T {
        let n = self.order.len();
        self.side.clear();
        self.side.resize(n, true);
        self.gain.clear();
        self.gain.extend(self.inside.iter().map(|&inside| -inside));
        self.slot.clear();
        self.slot.resize(n, MOVED);
        self.open_all();
        let mut cut = T::ZERO;
        for step in 0..first {
            let at = if step == 0 { start } else { self.open[1].best() };
            let rank = self.take(1, at);
            cut -= self.gain[rank];
            self.flip(rank);
        }
        cut
    }

    /// Opens all ranks, in the seeded order.
    fn open_all(&mut self) {
        for open in &mut self.open {
            open.clear();
        }
        for &rank in &self.order {
            let open = &mut self.open[usize::from(self.side[rank as usize])];
            self.slot[rank as usize] = open.ranks.len() as u32;
            open.ranks.push(rank);
            open.gains.push(self.gain[rank as usize]);
        }
    }

    fn take(&mut self, side: usize, at: usize) -> usize {
        let open = &mut self.open[side];
        let rank = open.ranks.swap_remove(at) as usize;
        open.gains.swap_remove(at);
        if let Some(&last) = open.ranks.get(at) {
            self.slot[last as usize] = at as u32;
        }
        self.slot[rank] = MOVED;
        rank
    }

    /// Moves a rank that is not open to the other side and keeps the gains right.
    fn flip(&mut self, rank: usize) {
        let side = !self.side[rank];
        self.side[rank] = side;
        self.gain[rank] = -self.gain[rank];
        for at in self.edges(rank) {
            let (other, weight) = self.edges[at];
            let other = other as usize;
            let change = if self.side[other] == side { -weight } else { weight };
            self.gain[other] += change + change;
            if self.slot[other] != MOVED {
                self.open[usize::from(self.side[other])].gains[self.slot[other] as usize] = self.gain[other];
            }
        }
    }

    /// One pass; how much less is cut, or `None` when no exchange helped.
    fn pass(&mut self) -> Option<T> {
        self.open_all();
        self.moved.clear();
        let (mut gained, mut most, mut keep) = (T::ZERO, T::ZERO, 0);
        let patience = PATIENCE + self.order.len() / 16;
        while !self.open[0].ranks.is_empty() && !self.open[1].ranks.is_empty() && self.moved.len() < keep + 2 * patience
        {
            for side in [0, 1] {
                let at = self.open[side].best();
                let rank = self.take(side, at);
                gained += self.gain[rank];
                self.flip(rank);
                self.moved.push(rank as u32);
            }
            if gained > most {
                (most, keep) = (gained, self.moved.len());
            }
        }
        self.slot.fill(MOVED);
        while self.moved.len() > keep {
            if let Some(rank) = self.moved.pop() {
                self.flip(rank as usize);
            }
        }
        (keep > 0).then_some(most)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Half of a ring is an arc, which has an edge at either end.
    #[test]
    fn halves_of_a_ring_are_arcs() {
        const RANKS: u32 = 24;
        let mut ring = Bisection::<i64>::new();
        ring.clear();
        for rank in 0..RANKS {
            ring.add([(rank + 1) % RANKS, (rank + RANKS - 1) % RANKS].into_iter().map(|other| (other, 1)));
        }
        for seed in 0..8 {
            let second = ring.cut(RANKS as usize / 2, 1, &mut ChaCha8Rng::seed_from_u64(seed));
            let cut = (0..RANKS as usize).filter(|&rank| second[rank] != second[(rank + 1) % RANKS as usize]);
            assert_eq!((cut.count(), second.iter().filter(|&&second| second).count()), (2, 12), "seed {seed}");
        }
    }
}
