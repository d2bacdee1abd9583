//! One cut of a graph, grown from a vertex, and the moves that make it lighter (Fiduccia and Mattheyses, "A Linear-Time
//! Heuristic for Improving Network Partitions", DAC 1982).
//!
//! One part grows from a random vertex, each time by the vertex that lowers the cut most. A pass then moves vertices across one
//! by one, each once, also where the cut grows for a while, and goes back to the best state that it met. The side that has too
//! much gives the next vertex; where both sides are as they should be, the better one does. So no side is ever wrong by more
//! than the largest vertex; the best state is wrong by less, which at the finest level, where all sizes are 1, is not at all.
//! Ties: the vertex that comes first in a seeded order. Passes end when one does not improve.

use rand::{Rng, seq::SliceRandom};

use super::coarsen::Graph;
use super::number::Number;

/// In the place of a slot: the vertex has moved in this pass.
const MOVED: u32 = u32::MAX;

/// Gains that are compared side by side; *assumed*, a vector register or two.
const LANES: usize = 8;

/// A pass gives up after so many moves, and one for each 8 vertices, without a better state; on random graphs of 64 to 256 ranks
/// twice as many and half gave placements of equal cost.
const PATIENCE: usize = 8;

/// Which vertices are in the second part, and room to change that.
pub(super) struct Cut<T> {
    pub(super) side: Vec<bool>,
    /// Of the edges between the parts.
    pub(super) weight: T,
    /// Ranks in the first part, less those that belong there.
    excess: i64,
    first: i64,
    /// How much the weight falls when a vertex changes sides.
    gain: Vec<T>,
    /// The vertices of each side that have not moved in this pass.
    open: [Open<T>; 2],
    /// Where each vertex is in the open ones of its side; [`MOVED`] once it has moved.
    slot: Vec<u32>,
    moved: Vec<u32>,
    order: Vec<u32>,
}

/// Vertices that may move, with their gains side by side so that the largest is found quickly.
struct Open<T> {
    vertices: Vec<u32>,
    gains: Vec<T>,
}

impl<T: Number> Open<T> {
    fn new() -> Self {
        Self { vertices: Vec::new(), gains: Vec::new() }
    }

    fn clear(&mut self) {
        self.vertices.clear();
        self.gains.clear();
    }

    /// The first position of the largest gain: lanes first, as a processor compares several at once.
    fn best(&self) -> Option<usize> {
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
        let chunk = self.gains.chunks(LANES).position(holds)? * LANES;
        self.gains[chunk..].iter().position(|&gain| gain == most).map(|at| chunk + at)
    }
}

/// What a pass compares, less is better: ranks on the wrong side beyond the largest vertex, weight cut, imbalance.
type Quality<T> = (i64, T, i64);

impl<T: Number> Cut<T> {
    /// An empty cut whose first part gets `first` ranks.
    pub(super) fn new(first: usize) -> Self {
        Self {
            side: Vec::new(),
            weight: T::ZERO,
            excess: 0,
            first: first as i64,
            gain: Vec::new(),
            open: [Open::new(), Open::new()],
            slot: Vec::new(),
            moved: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Ranks on the wrong side beyond what the sizes of the vertices explain.
    pub(super) fn excess_of(&self, graph: &Graph<T>) -> i64 {
        (self.excess.abs() - graph.largest() + 1).max(0)
    }

    /// All vertices in the second part, then the first part grown from a random vertex, then moves.
    pub(super) fn grow(&mut self, graph: &Graph<T>, rng: &mut impl Rng) {
        self.side.clear();
        self.side.resize(graph.len(), true);
        self.begin(graph, rng);
        self.open_all();
        let mut next = (!graph.is_empty()).then_some(0);
        while let Some(at) = next.filter(|_| self.excess < 0) {
            let vertex = self.take(1, at);
            // Whichever is nearer: short of the vertex, or past it.
            if self.excess + i64::from(graph.sizes[vertex]) > -self.excess {
                break;
            }
            self.flip(graph, vertex);
            next = self.open[1].best();
        }
        self.slot.fill(MOVED);
        self.refine(graph, rng);
    }

    /// Passes over a graph whose vertices are on the sides of `side`, until one does not help.
    pub(super) fn refine(&mut self, graph: &Graph<T>, rng: &mut impl Rng) {
        self.begin(graph, rng);
        while self.pass(graph) {}
    }

    /// Draws an order; works weight, excess and gains out.
    fn begin(&mut self, graph: &Graph<T>, rng: &mut impl Rng) {
        self.order.clear();
        self.order.extend(0..graph.len() as u32);
        self.order.shuffle(rng);
        self.slot.clear();
        self.slot.resize(graph.len(), MOVED);
        (self.weight, self.excess) = (T::ZERO, -self.first);
        self.gain.clear();
        for vertex in 0..graph.len() {
            let mut gain = T::ZERO;
            for &(other, weight) in graph.edges(vertex) {
                if self.side[vertex] == self.side[other as usize] {
                    gain -= weight;
                } else {
                    gain += weight;
                    // Once for each edge: from its end on the first side.
                    self.weight += if self.side[vertex] { T::ZERO } else { weight };
                }
            }
            self.gain.push(gain);
            self.excess += if self.side[vertex] { 0 } else { i64::from(graph.sizes[vertex]) };
        }
    }

    /// Opens all vertices, in the seeded order.
    fn open_all(&mut self) {
        for open in &mut self.open {
            open.clear();
        }
        for &vertex in &self.order {
            let open = &mut self.open[usize::from(self.side[vertex as usize])];
            self.slot[vertex as usize] = open.vertices.len() as u32;
            open.vertices.push(vertex);
            open.gains.push(self.gain[vertex as usize]);
        }
    }

    fn take(&mut self, side: usize, at: usize) -> usize {
        let open = &mut self.open[side];
        let vertex = open.vertices.swap_remove(at) as usize;
        open.gains.swap_remove(at);
        if let Some(&last) = open.vertices.get(at) {
            self.slot[last as usize] = at as u32;
        }
        self.slot[vertex] = MOVED;
        vertex
    }

    /// Moves a vertex that is not open to the other side and keeps the gains right.
    fn flip(&mut self, graph: &Graph<T>, vertex: usize) {
        let side = !self.side[vertex];
        self.side[vertex] = side;
        self.weight -= self.gain[vertex];
        self.gain[vertex] = -self.gain[vertex];
        let size = i64::from(graph.sizes[vertex]);
        self.excess += if side { -size } else { size };
        for &(other, weight) in graph.edges(vertex) {
            let other = other as usize;
            let change = if self.side[other] == side { -weight } else { weight };
            self.gain[other] += change + change;
            if self.slot[other] != MOVED {
                self.open[usize::from(self.side[other])].gains[self.slot[other] as usize] = self.gain[other];
            }
        }
    }

    /// The side and position of the vertex that moves next; none where the side that has too much is empty.
    fn next(&self, largest: i64) -> Option<(usize, usize)> {
        let best = |side: usize| self.open[side].best().map(|at| (side, at));
        if self.excess.abs() >= largest {
            return best(usize::from(self.excess < 0));
        }
        match (best(0), best(1)) {
            (Some(first), Some(second)) => {
                let gains = [first, second].map(|(side, at)| self.open[side].gains[at]);
                let evens = if self.excess < 0 { second } else { first };
                Some(match gains[0].cmp(&gains[1]) {
                    std::cmp::Ordering::Greater => first,
                    std::cmp::Ordering::Less => second,
                    std::cmp::Ordering::Equal => evens,
                })
            }
            (first, second) => first.or(second),
        }
    }

    /// One pass; whether it helped.
    fn pass(&mut self, graph: &Graph<T>) -> bool {
        self.open_all();
        self.moved.clear();
        let largest = graph.largest();
        let start = self.quality(graph);
        let (mut best, mut keep) = (start, 0);
        let patience = PATIENCE + graph.len() / 8;
        while self.moved.len() < keep + patience || best.0 > 0 {
            let Some((side, at)) = self.next(largest) else { break };
            let vertex = self.take(side, at);
            self.flip(graph, vertex);
            self.moved.push(vertex as u32);
            let now = self.quality(graph);
            if now < best {
                (best, keep) = (now, self.moved.len());
            }
        }
        self.slot.fill(MOVED);
        while self.moved.len() > keep {
            if let Some(vertex) = self.moved.pop() {
                self.flip(graph, vertex as usize);
            }
        }
        (best.0, best.1) < (start.0, start.1)
    }

    fn quality(&self, graph: &Graph<T>) -> Quality<T> {
        (self.excess_of(graph), self.weight, self.excess.abs())
    }
}
