//! Exchanges of two ranks on the objective itself: descent, and kicks out of the valleys.
//!
//! table[g][r] = Σ over neighbours x of r: w(r, x) · cost(g, group of x), what rank r would cost in group g. An exchange of u
//! in A and v in B changes the objective by table[B][u] − table[A][u] + table[A][v] − table[B][v]
//! + w(u, v) · (2 cost(A, B) − cost(A, A) − cost(B, B)), and the table only in rows of neighbours of u and v.

use std::collections::HashSet;

use rand::{Rng, RngExt, seq::SliceRandom};

use super::number::Number;
use super::problem::Problem;
use crate::order::splitmix;

/// An assignment of ranks to groups with its table.
pub(super) struct Refinement<'p, 'm, T> {
    problem: &'p Problem<'m, T>,
    pub(super) group_of: Vec<u32>,
    pub(super) total: T,
    /// By group, then rank.
    table: Vec<T>,
    /// What each rank costs where it is.
    own: Vec<T>,
    /// Weight of the edge to each rank from the rank that is looked at.
    weight_to: Vec<T>,
    /// What the rank that is looked at would save or pay, by group.
    row: Vec<T>,
    /// Ranks to look at again.
    queue: Vec<u32>,
    queued: Vec<bool>,
    /// Exchanges since the last mark, to be undone.
    log: Vec<(u32, u32)>,
    changed: Vec<(u32, T)>,
    digest: u64,
    /// Digests of the assignments that it went through.
    pub(super) reached: HashSet<u64>,
}

/// A digest of an assignment: an exchange changes that of two ranks only. Padding does not count.
pub(super) fn digest<T>(problem: &Problem<'_, T>, group_of: &[u32]) -> u64 {
    group_of[..problem.ranks].iter().enumerate().fold(0, |all, (rank, &group)| all ^ mark(rank, group))
}

/// A random number of a rank in a group (Zobrist, "A New Hashing Method with Application for Game Playing", 1970).
fn mark(rank: usize, group: u32) -> u64 {
    splitmix(&mut ((rank as u64) << 32 | u64::from(group)))
}

impl<'p, 'm, T: Number> Refinement<'p, 'm, T> {
    pub(super) fn new(problem: &'p Problem<'m, T>, group_of: Vec<u32>) -> Self {
        let (n, k) = (problem.padded, problem.groups);
        let mut table = vec![T::ZERO; n * k];
        let mut row = vec![T::ZERO; k];
        for rank in 0..problem.ranks {
            row.fill(T::ZERO);
            for &(other, weight) in problem.neighbours(rank) {
                let costs = problem.costs(group_of[other as usize] as usize);
                for (sum, &cost) in row.iter_mut().zip(costs) {
                    *sum += weight * cost;
                }
            }
            for (column, &sum) in table.chunks_exact_mut(n).zip(&row) {
                column[rank] = sum;
            }
        }
        let own = (0..n).map(|r| table[group_of[r] as usize * n + r]).collect();
        let digest = digest(problem, &group_of);
        Self {
            problem,
            total: problem.total(&group_of),
            group_of,
            table,
            own,
            weight_to: vec![T::ZERO; n],
            row,
            queue: Vec::new(),
            queued: vec![false; n],
            log: Vec::new(),
            changed: Vec::new(),
            digest,
            reached: HashSet::from([digest]),
        }
    }

    /// Descends from where it stands, looking at the ranks in a seeded order, until no exchange of two ranks helps.
    pub(super) fn descend(&mut self, rng: &mut impl Rng) {
        let mut all: Vec<u32> = (0..self.problem.ranks as u32).collect();
        all.shuffle(rng);
        all.into_iter().for_each(|r| self.enqueue(r));
        self.work_off_queue();
    }

    /// Kicks and descends `times` times; what is worse is undone.
    pub(super) fn shake(&mut self, times: u32, rng: &mut impl Rng, stop: &(dyn Fn() -> bool + Sync)) {
        if self.problem.ranks == 0 {
            return;
        }
        for _ in 0..times {
            if stop() {
                return;
            }
            let before = self.total;
            self.log.clear();
            self.kick(rng);
            self.work_off_queue();
            if self.total > before {
                while let Some((u, v)) = self.log.pop() {
                    self.exchange(u as usize, v as usize);
                    self.log.pop();
                }
            }
        }
    }

    /// Three ranks of different groups change places in a ring.
    fn kick(&mut self, rng: &mut impl Rng) {
        let n = self.problem.padded;
        let first = rng.random_range(0..self.problem.ranks);
        for _ in 0..2 {
            let other = rng.random_range(0..n);
            if self.group_of[first] != self.group_of[other] {
                self.exchange(first, other);
                self.touch(first);
                self.touch(other);
            }
        }
    }

    fn enqueue(&mut self, rank: u32) {
        if (rank as usize) < self.problem.ranks && !self.queued[rank as usize] {
            self.queued[rank as usize] = true;
            self.queue.push(rank);
        }
    }

    /// A rank has moved: it and its neighbours may have better places now.
    fn touch(&mut self, rank: usize) {
        self.enqueue(rank as u32);
        for &(other, _) in self.problem.neighbours(rank) {
            self.enqueue(other);
        }
    }

    fn work_off_queue(&mut self) {
        while let Some(rank) = self.queue.pop() {
            self.queued[rank as usize] = false;
            if let Some(other) = self.best_exchange(rank as usize) {
                self.exchange(rank as usize, other);
                self.touch(rank as usize);
                self.touch(other);
            }
        }
    }

    /// The rank with which an exchange lowers the objective most; the lowest among equals.
    fn best_exchange(&mut self, u: usize) -> Option<usize> {
        let n = self.problem.padded;
        let at = self.group_of[u] as usize;
        for (g, value) in self.row.iter_mut().enumerate() {
            *value = self.table[g * n + u] - self.own[u];
        }
        let costs = self.problem.costs(at);
        for &(other, weight) in self.problem.neighbours(u) {
            self.weight_to[other as usize] = weight;
        }
        let column = &self.table[at * n..(at + 1) * n];
        let (mut best, mut least) = (None, T::ZERO);
        let ranks = column.iter().zip(&self.own).zip(&self.group_of).enumerate();
        for (v, ((&here, &own), &there)) in ranks {
            let there = there as usize;
            let mut change = here - own + self.row[there];
            if change < least {
                if self.weight_to[v] != T::ZERO {
                    let apart = costs[there] + costs[there] - costs[at] - self.problem.costs(there)[there];
                    change += self.weight_to[v] * apart;
                }
                if change < least {
                    (best, least) = (Some(v), change);
                }
            }
        }
        for &(other, _) in self.problem.neighbours(u) {
            self.weight_to[other as usize] = T::ZERO;
        }
        best
    }

    /// Exchanges two ranks and keeps the table right.
    fn exchange(&mut self, u: usize, v: usize) {
        let n = self.problem.padded;
        let (a, b) = (self.group_of[u] as usize, self.group_of[v] as usize);
        self.total -= self.own[u] + self.own[v];
        let (from, to) = (self.problem.costs(a), self.problem.costs(b));
        self.changed.clear();
        let differences = from.iter().zip(to).enumerate().map(|(g, (&f, &t))| (g as u32, t - f));
        self.changed.extend(differences.filter(|&(_, d)| d != T::ZERO));
        (self.group_of[u], self.group_of[v]) = (b as u32, a as u32);
        for (rank, sign) in [(u, true), (v, false)] {
            for &(other, weight) in self.problem.neighbours(rank) {
                let weight = if sign { weight } else { -weight };
                let other = other as usize;
                for &(g, difference) in &self.changed {
                    self.table[g as usize * n + other] += weight * difference;
                }
                self.own[other] = self.table[self.group_of[other] as usize * n + other];
            }
        }
        for rank in [u, v] {
            self.own[rank] = self.table[self.group_of[rank] as usize * n + rank];
        }
        self.total += self.own[u] + self.own[v];
        self.log.push((u as u32, v as u32));
        for rank in [u, v].into_iter().filter(|&rank| rank < self.problem.ranks) {
            self.digest ^= mark(rank, a as u32) ^ mark(rank, b as u32);
        }
        self.reached.insert(self.digest);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::placement::machine::{Machine, Measured};
    use crate::placement::pattern::Pattern;

    const DEVICES: usize = 9;
    const RANKS: usize = 8;

    /// A machine of random costs of 1 to 9; devices 0 and 1 are one group where `twins`.
    fn machine(random: &mut ChaCha8Rng, twins: bool) -> Machine {
        let mut cost = vec![vec![0.0; DEVICES]; DEVICES];
        for (a, b) in (0..DEVICES).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let drawn = if twins && b == 1 && a > 1 { cost[a][0] } else { f64::from(random.random_range(1..10_u8)) };
            (cost[a][b], cost[b][a]) = (drawn, drawn);
        }
        Machine::measured(&cost, Measured::Cost).expect("a machine")
    }

    fn pattern(random: &mut ChaCha8Rng) -> Pattern {
        let pairs = (0..RANKS).flat_map(|a| (0..a).map(move |b| (a, b)));
        let edges: Vec<(usize, usize, u64)> = pairs.map(|(a, b)| (a, b, random.random_range(0..6))).collect();
        Pattern::new(RANKS, edges, 1).expect("a pattern")
    }

    /// All that is kept from exchange to exchange is what a fresh start there computes.
    fn assert_kept(refinement: &Refinement<'_, '_, i128>) {
        let fresh = Refinement::new(refinement.problem, refinement.group_of.clone());
        assert_eq!((refinement.total, &refinement.own), (fresh.total, &fresh.own));
        assert_eq!(refinement.table, fresh.table);
        assert_eq!(refinement.digest, fresh.digest);
        assert!(refinement.weight_to.iter().all(|&weight| weight == 0) && refinement.queue.is_empty());
        assert!(refinement.queued.iter().all(|&queued| !queued));
    }

    /// A descent ends where no exchange of two ranks helps; kicks never leave it worse, and often better.
    #[test]
    fn descents_end_at_local_optima_and_kicks_leave_them() {
        let mut left = 0;
        for seed in 0..30 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let (machine, pattern) = (machine(&mut random, seed % 3 == 0), pattern(&mut random));
            let problem = Problem::<i128>::new(&pattern, &machine);
            let baseline: Vec<usize> = (0..RANKS).collect();
            let mut refinement = Refinement::new(&problem, problem.to_groups(&baseline));
            let first = refinement.total;
            refinement.descend(&mut random);
            assert_kept(&refinement);
            assert!(refinement.total <= first);
            for u in 0..DEVICES {
                for v in 0..u {
                    let mut exchanged = refinement.group_of.clone();
                    exchanged.swap(u, v);
                    assert!(problem.total(&exchanged) >= refinement.total, "seed {seed}: {u} and {v}");
                }
            }
            let before = refinement.total;
            for _ in 0..20 {
                let least = refinement.total;
                refinement.shake(1, &mut random, &|| false);
                assert!(refinement.total <= least);
                assert_kept(&refinement);
            }
            left += u32::from(refinement.total < before);
            let stopped = refinement.reached.len();
            refinement.shake(9, &mut random, &|| true);
            assert_eq!(refinement.reached.len(), stopped);
        }
        assert!(left > 3, "kicks helped {left} of 30 times");
    }
}
