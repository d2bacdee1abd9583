//! The steps of an algorithm: which rank sends how many bytes to which, round by round.
//!
//! ```text
//! kind, algorithm, n, size ──► round 0: p ─bytes─► q, …
//!                              round 1: …             a rank sends what it has got in the rounds before
//! ```
//!
//! Ranks are positions from 0 to n − 1; position 0 is the root. Part p of a size is the bytes from ⌊p · size / n⌋ to
//! ⌊(p + 1) · size / n⌋.

pub(super) mod exchange;
mod ring;
mod tree;
pub(super) mod two_tree;

#[cfg(test)]
mod tests;

use weir_plugin_api::Direction;

use super::params::{Algorithm, Kind};

/// Bytes that one rank sends another in one round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Send {
    /// Position of the sender.
    pub(super) from: u32,
    /// Position of the receiver.
    pub(super) to: u32,
    /// Payload.
    pub(super) bytes: u64,
    /// Whether the receiver adds the bytes to its own.
    pub(super) adds: bool,
    /// Data of two trees are independent of each other.
    pub(super) tree: u8,
    /// A rank sends one message of a lane of a tree at a time, those of different lanes beside each other: 0; for what comes
    /// back from a root 1, and 2 to the second child of a binary tree.
    pub(super) lane: u8,
}

/// Lanes of a rank in a tree.
pub(super) const LANES: usize = 3;

impl Send {
    fn new(from: u64, to: u64, bytes: u64) -> Self {
        // Positions are below the number of ranks, which is bounded by that of tasks.
        Self { from: from as u32, to: to as u32, bytes, adds: false, tree: 0, lane: 0 }
    }

    fn adding(self, adds: bool) -> Self {
        Self { adds, ..self }
    }
}

/// An algorithm for a collective of n ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Steps {
    pub(super) kind: Kind,
    pub(super) algorithm: Algorithm,
    /// Ranks, at least 2.
    pub(super) n: u64,
    /// As nccl-tests count it.
    pub(super) size: u64,
}

impl Steps {
    /// Bytes of the parts from `first` on, round the end; at most n of them.
    fn parts(&self, first: u64, count: u64) -> u64 {
        // Below 2^53 · 2^24.
        let start = |part: u64| (u128::from(part) * u128::from(self.size) / u128::from(self.n)) as u64;
        let (first, end) = (first % self.n, first % self.n + count);
        match end.checked_sub(self.n) {
            Some(over) if over > 0 => self.size - start(first) + start(over),
            _ => start(end) - start(first),
        }
    }

    /// ⌈log2 n⌉.
    pub(super) fn digits(&self) -> u64 {
        u64::from(self.n.next_power_of_two().ilog2())
    }

    /// Number of rounds.
    pub(super) fn rounds(&self) -> u64 {
        use {Algorithm as A, Kind as K};
        match (self.algorithm, self.kind) {
            (A::Ring, K::AllReduce) => 2 * (self.n - 1),
            (A::Ring | A::Pairwise, _) => self.n - 1,
            (A::Tree, K::AllReduce) | (A::RecursiveHalvingDoubling, K::AllReduce) => 2 * self.digits(),
            (A::Tree | A::RecursiveDoubling | A::RecursiveHalvingDoubling | A::Bruck, _) => self.digits(),
            (A::DoubleBinaryTree, K::AllReduce) => 2 * two_tree::height(self),
            (A::DoubleBinaryTree, _) => two_tree::height(self),
            (A::Nvls, K::AllReduce) => 2,
            (A::Nvls | A::Direct | A::Auto, _) => 1,
        }
    }

    /// Messages of all rounds; of trees one less for each without a sender is not counted.
    pub(super) fn messages(&self) -> u64 {
        use {Algorithm as A, Kind as K};
        let (n, all) = (self.n, self.kind == K::AllReduce);
        match (self.algorithm, self.kind) {
            (A::Ring, K::Broadcast | K::Reduce) => n - 1,
            (A::Tree, _) => (n - 1) * (1 + u64::from(all)),
            (A::DoubleBinaryTree, _) => 2 * n * (1 + u64::from(all)),
            (A::Direct, K::SendRecvChain) => n,
            (A::Direct, kind) if kind.is_rooted() => n - 1,
            (A::Direct, _) => n.saturating_mul(n - 1),
            _ => n.saturating_mul(self.rounds()),
        }
    }

    /// Whether messages hold parts of the size, not all of it.
    pub(super) fn sends_parts(&self) -> bool {
        match self.kind {
            Kind::Broadcast | Kind::Reduce | Kind::SendRecvChain => false,
            Kind::AllReduce => matches!(self.algorithm, Algorithm::Ring | Algorithm::RecursiveHalvingDoubling),
            _ => self.algorithm != Algorithm::Nvls,
        }
    }

    /// Whether the bytes of a message go on chunk by chunk: the same bytes go all the way.
    pub(super) fn is_pipelined(&self) -> bool {
        let whole = !matches!(self.kind, Kind::Scatter | Kind::Gather);
        matches!(self.algorithm, Algorithm::Ring | Algorithm::DoubleBinaryTree) || (self.is_chunk_by_chunk() && whole)
    }

    /// Bytes of the largest message of a pipelined algorithm.
    pub(super) fn largest(&self) -> u64 {
        match (self.algorithm, self.kind) {
            (Algorithm::DoubleBinaryTree, _) => self.size.div_ceil(2),
            (Algorithm::Ring, Kind::AllReduce | Kind::AllGather | Kind::ReduceScatter) => self.part(),
            _ => self.size,
        }
    }

    /// Bytes of the largest part.
    pub(super) fn part(&self) -> u64 {
        self.size.div_ceil(self.n)
    }

    /// Trees whose data are independent of each other.
    pub(super) fn trees(&self) -> usize {
        if self.algorithm == Algorithm::DoubleBinaryTree { 2 } else { 1 }
    }

    /// Whether a chunk makes all its way before the next one is sent on by the same rank.
    pub(super) fn is_chunk_by_chunk(&self) -> bool {
        matches!(self.algorithm, Algorithm::Tree | Algorithm::DoubleBinaryTree)
    }

    /// Whether nobody begins the round before all have got what the rounds before sent.
    pub(super) fn waits_for_all(&self, round: u64) -> bool {
        self.algorithm == Algorithm::Nvls && round > 0
    }

    /// Whether all bytes cross the links of the ranks one way alone, which is up, or down; the other way only a part does.
    pub(super) fn one_way(&self) -> Option<Direction> {
        match (self.algorithm, self.kind) {
            (Algorithm::Nvls, Kind::AllGather) => Some(Direction::Down),
            (Algorithm::Nvls, Kind::ReduceScatter) => Some(Direction::Up),
            _ => None,
        }
    }

    /// Whether every rank sends to the same one in all rounds.
    pub(super) fn repeats(&self) -> bool {
        self.algorithm == Algorithm::Nvls || (self.algorithm == Algorithm::Ring && !self.kind.is_rooted())
    }

    /// Adds the messages of a round.
    pub(super) fn sends(&self, round: u64, out: &mut Vec<Send>) {
        match self.algorithm {
            Algorithm::Ring => ring::sends(self, round, out),
            Algorithm::Tree => tree::sends(self, round, out),
            Algorithm::DoubleBinaryTree => two_tree::sends(self, round, out),
            Algorithm::RecursiveDoubling | Algorithm::RecursiveHalvingDoubling => exchange::halves(self, round, out),
            Algorithm::Pairwise => exchange::pairwise(self, round, out),
            Algorithm::Bruck => exchange::bruck(self, round, out),
            Algorithm::Nvls => {
                out.extend((0..self.n).map(|p| Send::new(p, (p + 1) % self.n, self.through_switch(round))))
            }
            Algorithm::Direct | Algorithm::Auto => exchange::direct(self, out),
        }
    }

    /// Bytes that each rank sends and gets in a round of `nvls`. All-reduce: a rank's S up for the switch to add while the sum
    /// of its part comes down; then its part of the sum up to be multicast while all parts come down. In both rounds together
    /// that is as much up as down. The others have one round of the two, [`Self::one_way`]: a transfer from rank to rank has S
    /// both ways.
    fn through_switch(&self, round: u64) -> u64 {
        if round == 0 { self.size } else { self.part() }
    }
}
