//! The closed form of a collective: the α-β-γ model.
//!
//! **Definition.** A message of m bytes takes α + mβ, adding them mγ: α is the latency of the route and of the
//! protocol, β the time per byte of the narrowest link, γ the time to add a byte. S is the size of a channel (β
//! counts once for every channel), s = ⌈S/n⌉, d = ⌈log2 n⌉, c the chunk.
//! ```text
//! ring                         all-reduce       2(n−1)(α + sβ) + (n−1)sγ                     [1]
//!                              reduce-scatter   (n−1)(α + sβ + sγ);  all-gather (n−1)(α + sβ) [1]
//!    in chunks                 a round takes max(sβ, α + cβ + cγ) but for the last: a rank sends on while it gets
//!                              broadcast        (n−1)(α + cβ) + (S−c)β; reduce with cγ beside cβ
//! tree                         broadcast        d(α + Sβ); reduce d(α + Sβ + Sγ); all-reduce both [1]
//!                              scatter, gather  dα + (n−1)sβ                                 [1]
//! double-binary-tree           h the height: broadcast 2h(α + cβ) + (S−2c)β; all-reduce twice that [2]
//! recursive-doubling           all-gather       dα + (n−1)sβ; all-reduce d(α + Sβ + Sγ)      [1]
//! recursive-halving-doubling   reduce-scatter   dα + (n−1)s(β + γ); all-reduce 2dα + 2(n−1)sβ + (n−1)sγ [1]
//! pairwise                     all-to-all       (n−1)(α + sβ); reduce-scatter with sγ        [1]
//! bruck                        all-gather       dα + (n−1)sβ; all-to-all dα + d(about n/2)sβ [1]
//! direct                       α + (what leaves or reaches the busiest rank)(β, γ)
//! nvls                         all-reduce       2α + (S + s)β; all-gather, reduce-scatter α + Sβ [3]
//! ```
//! **Source.** \[1\] Thakur, Rabenseifner, Gropp, *Optimization of Collective Communication Operations in MPICH*,
//! International Journal of High Performance Computing Applications 19(1), 2005, with R. W. Hockney's α and β. \[2\]
//! After Sanders, Speck, Träff, *Two-tree algorithms for full bandwidth broadcast, reduction and scan*, Parallel
//! Computing 35(12), 2009, with latencies of chunks that follow each other overlapped. \[3\] Derived
//! here: every rank's S bytes go up, and its part s of the sum; as much comes down.

use super::params::{Algorithm, Kind};
use super::resolve::Collective;
use super::steps::exchange::with_digit;
use super::steps::{Steps, two_tree};

/// What a step costs, ps.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Costs {
    /// α.
    pub(super) alpha: f64,
    /// β of one byte on the links, of a channel.
    pub(super) beta: f64,
    /// γ.
    pub(super) gamma: f64,
}

/// A step in the closed form.
struct Formula<'a> {
    collective: &'a Collective,
    steps: Steps,
    costs: Costs,
}

/// The time of a channel's steps, ps.
pub(super) fn time(collective: &Collective, steps: Steps, costs: Costs) -> f64 {
    let formula = Formula { collective, steps, costs };
    use {Algorithm as A, Kind as K};
    match (steps.algorithm, steps.kind) {
        (A::Ring, K::Broadcast | K::Reduce) => formula.chain(),
        (A::Ring, _) => formula.ring(),
        (A::DoubleBinaryTree, _) => formula.two_tree(),
        (A::Direct, _) => formula.direct(),
        _ => formula.rounds(),
    }
}

impl Formula<'_> {
    /// Bytes of a message in time on the links.
    fn sent(&self, bytes: u64) -> f64 {
        self.collective.carried(bytes) as f64 * self.costs.beta
    }

    /// The same for one that is cut into chunks.
    fn cut(&self, bytes: u64) -> f64 {
        let (_, chunk) = self.collective.chunks(&self.steps);
        (bytes / chunk) as f64 * self.sent(chunk) + self.sent(bytes % chunk)
    }

    fn added(&self, bytes: u64) -> f64 {
        bytes as f64 * self.costs.gamma
    }

    fn step(&self, bytes: u64, adds: bool) -> f64 {
        self.costs.alpha + self.sent(bytes) + if adds { self.added(bytes) } else { 0.0 }
    }

    fn ring(&self) -> f64 {
        let (rounds, block) = (self.steps.rounds(), self.cut(self.steps.largest()));
        let (_, chunk) = self.collective.chunks(&self.steps);
        // Rounds that follow one in which bytes are added.
        let (added, last) = match self.steps.kind {
            Kind::AllReduce => (self.steps.n - 1, 0.0),
            Kind::ReduceScatter => (rounds - 1, self.added(chunk)),
            _ => (0, 0.0),
        };
        let period = |adds| self.step(chunk, adds).max(block);
        let between = added as f64 * period(true) + (rounds - 1 - added) as f64 * period(false);
        between + self.costs.alpha + block + last
    }

    fn chain(&self) -> f64 {
        let (_, chunk) = self.collective.chunks(&self.steps);
        let step = self.step(chunk, self.steps.kind == Kind::Reduce);
        (self.steps.n - 1) as f64 * step + self.cut(self.steps.size) - self.sent(chunk)
    }

    fn two_tree(&self) -> f64 {
        let (chunks, chunk) = self.collective.chunks(&self.steps);
        let (way, follow) = (2 * two_tree::height(&self.steps), 2 * (chunks - 1));
        let one = |adds| way as f64 * self.step(chunk, adds) + follow as f64 * self.sent(chunk);
        match self.steps.kind {
            Kind::AllReduce => one(true) + one(false),
            kind => one(kind == Kind::Reduce),
        }
    }

    fn direct(&self) -> f64 {
        let Steps { kind, n, size, .. } = self.steps;
        let (messages, bytes) = match kind {
            Kind::SendRecvChain => (1, size),
            Kind::AllReduce | Kind::Broadcast | Kind::Reduce => (n - 1, size),
            _ => (n - 1, self.steps.part()),
        };
        let adds = matches!(kind, Kind::AllReduce | Kind::Reduce | Kind::ReduceScatter);
        let each = self.sent(bytes) + if adds { self.added(bytes) } else { 0.0 };
        self.costs.alpha + messages as f64 * each
    }

    /// Algorithms whose rounds follow each other: the sum over rounds.
    fn rounds(&self) -> f64 {
        use {Algorithm as A, Kind as K};
        let Steps { kind, algorithm, n, size, .. } = self.steps;
        let (d, part) = (self.steps.digits(), self.steps.part());
        let sum = |adds: bool, parts: &dyn Fn(u64) -> u64| (0..d).map(|i| self.step(parts(1 << i) * part, adds)).sum();
        let doubling = |adds| -> f64 { sum(adds, &|distance| distance.min(n - distance)) };
        let whole = |adds| d as f64 * self.step(size, adds);
        match (algorithm, kind) {
            (A::Tree, K::Scatter | K::Gather) | (A::RecursiveDoubling | A::Bruck, K::AllGather) => doubling(false),
            (A::Tree, K::Reduce) | (A::RecursiveDoubling, K::AllReduce) => whole(true),
            (A::Tree, K::AllReduce) => whole(true) + whole(false),
            (A::Tree, _) => whole(false),
            (A::RecursiveHalvingDoubling, K::AllReduce) => doubling(true) + doubling(false),
            (A::RecursiveHalvingDoubling, _) => doubling(true),
            (A::Bruck, _) => sum(false, &|distance| with_digit(n, distance)),
            (A::Nvls, K::AllReduce) => self.step(size, false) + self.step(part, false),
            (A::Nvls, _) => self.step(size, false),
            (_, kind) => (n - 1) as f64 * self.step(part, kind == K::ReduceScatter),
        }
    }
}
