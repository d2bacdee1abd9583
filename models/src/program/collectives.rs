//! Collectives of traces as messages: what one rank sends and receives, step by step.
//!
//! All-reduces, all-gathers and reduce-scatters of Chakra go round a ring (Patarasu, Yuan, *Bandwidth optimal all-reduce
//! algorithms for clusters of workstations*, JPDC 69(2), 2009). Broadcasts and reductions go along a binomial tree (Thakur,
//! Rabenseifner, Gropp, *Optimization of Collective Communication Operations in MPICH*, IJHPCA 19(1), 2005, section 5), the
//! others straight from rank to rank. Which algorithm the traced program took is not in its trace: *assumed*.
//!
//! The model `collective` has the messages of all ranks round by round, over the links alone; [`super::calls`] plans with it what
//! `collectives` asks for. Here messages cost processors what others do, may wait for their receives, and travel the LogGOPS
//! network, too, without devices; ranks have sizes of their own (`alltoallv`), and barriers none. A rank's own messages alone are
//! made, so that n ranks cost n times what one sends.

use super::operations::{FIRST_TAG, Work};

/// Steps of a rank, each of messages that go on at once.
pub(super) type Steps = Vec<Vec<Work>>;

/// A rank in its k-th collective.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    rank: u32,
    ranks: u32,
    pub(super) tag: u32,
}

impl Member {
    pub(super) fn new(rank: u32, ranks: u32, number: u32) -> Self {
        Self { rank, ranks, tag: FIRST_TAG + number % (FIRST_TAG - 1) }
    }

    fn send(self, to: u32, bytes: u64) -> Work {
        Work::Send { to, bytes, tag: self.tag }
    }

    fn receive(self, from: u32, bytes: u64) -> Work {
        Work::Receive { from, bytes, tag: self.tag }
    }

    /// The rank's place in a tree with this root, which is one of the ranks; and the rank of a place.
    fn place(self, root: u32) -> u32 {
        (self.rank + self.ranks - root) % self.ranks
    }

    fn rank_of(self, place: u32, root: u32) -> u32 {
        (place + root) % self.ranks
    }

    /// The bits of the places below this one: children are at place + 2^k for k below its lowest set bit.
    fn children(self, place: u32) -> impl DoubleEndedIterator<Item = u32> {
        let bits = if place == 0 { 32 } else { place.trailing_zeros() };
        let ranks = self.ranks;
        (0..bits).filter_map(move |bit| place.checked_add(1_u32.checked_shl(bit)?).filter(|&child| child < ranks))
    }

    pub(super) fn broadcast(self, root: u32, bytes: u64) -> Steps {
        let place = self.place(root);
        let mut steps = Vec::new();
        if place != 0 {
            let parent = place & (place - 1);
            steps.push(vec![self.receive(self.rank_of(parent, root), bytes)]);
        }
        // The largest subtree first.
        steps.extend(self.children(place).rev().map(|child| vec![self.send(self.rank_of(child, root), bytes)]));
        steps
    }

    pub(super) fn reduce(self, root: u32, bytes: u64) -> Steps {
        let place = self.place(root);
        let mut steps: Steps =
            self.children(place).map(|child| vec![self.receive(self.rank_of(child, root), bytes)]).collect();
        if place != 0 {
            let parent = place & (place - 1);
            steps.push(vec![self.send(self.rank_of(parent, root), bytes)]);
        }
        steps
    }

    /// A reduction to rank 0, and a broadcast from there.
    pub(super) fn all_reduce(self, bytes: u64) -> Steps {
        [self.reduce(0, bytes), self.broadcast(0, bytes)].concat()
    }

    /// Every rank sends a part to every other one; sizes by the other rank.
    pub(super) fn exchange(self, sent: impl Fn(u32) -> u64, received: impl Fn(u32) -> u64) -> Steps {
        let others = || (1..self.ranks).map(move |k| (self.rank + k) % self.ranks);
        let receives = others().map(|from| self.receive(from, received(from)));
        vec![receives.chain(others().map(|to| self.send(to, sent(to)))).collect()]
    }

    /// To the root `bytes` of this rank, or from each rank its part.
    pub(super) fn gather(self, root: u32, bytes: u64, part: impl Fn(u32) -> u64) -> Steps {
        if self.rank != root {
            return vec![vec![self.send(root, bytes)]];
        }
        let others = (0..self.ranks).filter(|&from| from != root);
        vec![others.map(|from| self.receive(from, part(from))).collect()]
    }

    /// From the root `bytes` for this rank, or to each rank its part.
    pub(super) fn scatter(self, root: u32, part: impl Fn(u32) -> u64, bytes: u64) -> Steps {
        if self.rank != root {
            return vec![vec![self.receive(root, bytes)]];
        }
        let others = (0..self.ranks).filter(|&to| to != root);
        vec![others.map(|to| self.send(to, part(to))).collect()]
    }

    /// Rounds of a ring: a part to the next rank, one from the rank before.
    pub(super) fn ring(self, rounds: u32, part: u64) -> Steps {
        let (next, before) = ((self.rank + 1) % self.ranks, (self.rank + self.ranks - 1) % self.ranks);
        if next == self.rank {
            return Vec::new();
        }
        (0..rounds).map(|_| vec![self.receive(before, part), self.send(next, part)]).collect()
    }
}
