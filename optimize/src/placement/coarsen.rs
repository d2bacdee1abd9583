//! Graphs to be cut, and the same graphs coarser: heavy-edge matching (Hendrickson and Leland, "A Multilevel Algorithm for
//! Partitioning Graphs", SC95; Karypis and Kumar, SIAM Journal on Scientific Computing 20, 1998, section 3.1).
//!
//! Vertices are matched in a seeded order, each with the free neighbour of its heaviest edge. A vertex without a free
//! neighbour is matched with another one of the same heaviest neighbour, or without any: the leaves of a star would stay
//! apart otherwise (two-hop matching, LaSalle et al., IA3 2015). A pair becomes one vertex of the coarser graph.

use rand::{Rng, seq::SliceRandom};

use super::number::Number;

/// In the place of a vertex: none.
const NONE: u32 = u32::MAX;

/// Vertices, numbered from 0, that stand for ranks, and the edges between them.
#[derive(Debug)]
pub(super) struct Graph<T> {
    offsets: Vec<u32>,
    edges: Vec<(u32, T)>,
    /// Ranks that each vertex stands for.
    pub(super) sizes: Vec<u32>,
    largest: u32,
}

impl<T: Number> Graph<T> {
    pub(super) fn new() -> Self {
        Self { offsets: vec![0], edges: Vec::new(), sizes: Vec::new(), largest: 1 }
    }

    /// Adds the next vertex with its edges.
    pub(super) fn add(&mut self, size: u32, edges: impl Iterator<Item = (u32, T)>) {
        self.edges.extend(edges);
        self.offsets.push(self.edges.len() as u32);
        self.sizes.push(size);
        self.largest = self.largest.max(size);
    }

    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Ranks of the largest vertex.
    pub(super) fn largest(&self) -> i64 {
        self.largest.into()
    }

    /// The neighbours of a vertex and the weights of their edges.
    #[inline]
    pub(super) fn edges(&self, vertex: usize) -> &[(u32, T)] {
        &self.edges[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }

    /// A coarser graph whose new vertices stand for `most` ranks at most, and which of its vertices each vertex is in.
    pub(super) fn coarser(&self, most: u32, rng: &mut impl Rng) -> (Self, Vec<u32>) {
        let mate = self.matching(most, rng);
        let mut parent = vec![NONE; self.len()];
        let mut members = Vec::with_capacity(self.len());
        for vertex in 0..self.len() {
            if parent[vertex] == NONE {
                let other = mate[vertex] as usize;
                (parent[vertex], parent[other]) = (members.len() as u32, members.len() as u32);
                members.push((vertex, other));
            }
        }
        (self.contracted(&members, &parent), parent)
    }

    /// The graph whose vertices are pairs of vertices; a vertex paired with itself stays one.
    fn contracted(&self, members: &[(usize, usize)], parent: &[u32]) -> Self {
        let mut coarse = Self::new();
        coarse.edges.reserve(self.edges.len());
        let mut slot = vec![NONE; members.len()];
        let mut row: Vec<(u32, T)> = Vec::new();
        for (at, &(a, b)) in members.iter().enumerate() {
            row.clear();
            let (both, size) = match a == b {
                true => (&[][..], self.sizes[a]),
                false => (self.edges(b), self.sizes[a] + self.sizes[b]),
            };
            for &(other, weight) in self.edges(a).iter().chain(both) {
                let other = parent[other as usize];
                match slot[other as usize] {
                    _ if other as usize == at => {}
                    NONE => {
                        slot[other as usize] = row.len() as u32;
                        row.push((other, weight));
                    }
                    known => row[known as usize].1 += weight,
                }
            }
            row.iter().for_each(|&(other, _)| slot[other as usize] = NONE);
            coarse.add(size, row.iter().copied());
        }
        coarse
    }

    /// The mate of each vertex, itself where it has none.
    fn matching(&self, most: u32, rng: &mut impl Rng) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.shuffle(rng);
        let mut mate = vec![NONE; self.len()];
        for &vertex in &order {
            if mate[vertex as usize] != NONE {
                continue;
            }
            let free = |other: u32| mate[other as usize] == NONE && self.fits(vertex, other, most);
            let free_edges = self.edges(vertex as usize).iter().filter(|edge| free(edge.0));
            if let Some(&(other, _)) = free_edges.max_by_key(|edge| edge.1) {
                (mate[vertex as usize], mate[other as usize]) = (other, vertex);
            }
        }
        self.match_across(&order, most, &mut mate);
        for (vertex, mate) in mate.iter_mut().enumerate().filter(|(_, mate)| **mate == NONE) {
            *mate = vertex as u32;
        }
        mate
    }

    /// Matches those left over that have the same heaviest neighbour, or none.
    fn match_across(&self, order: &[u32], most: u32, mate: &mut [u32]) {
        let mut waiting = vec![NONE; self.len() + 1];
        for &vertex in order {
            if mate[vertex as usize] != NONE {
                continue;
            }
            let heaviest = self.edges(vertex as usize).iter().max_by_key(|edge| edge.1);
            let other = &mut waiting[heaviest.map_or(self.len(), |edge| edge.0 as usize)];
            if *other == NONE {
                *other = vertex;
            } else if self.fits(vertex, *other, most) {
                (mate[vertex as usize], mate[*other as usize]) = (*other, vertex);
                *other = NONE;
            }
        }
    }

    /// Whether two vertices may become one.
    fn fits(&self, a: u32, b: u32, most: u32) -> bool {
        self.sizes[a as usize] + self.sizes[b as usize] <= most
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// A path a–b–c–d with a heavy middle: whoever comes first, {b, c} is a pair or {a, b} and {c, d} are.
    #[test]
    fn a_path_by_hand() {
        let mut path = Graph::<i64>::new();
        for edges in [&[(1, 1)][..], &[(0, 1), (2, 5)], &[(1, 5), (3, 1)], &[(2, 1)]] {
            path.add(1, edges.iter().copied());
        }
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..32 {
            let (coarse, parent) = path.coarser(2, &mut ChaCha8Rng::seed_from_u64(seed));
            let expected: &[&[(u32, i64)]] = match parent[..] {
                // a and d have different heaviest neighbours, so they stay.
                [0, 1, 1, 2] => &[&[(1, 1)], &[(0, 1), (2, 1)], &[(1, 1)]],
                [0, 0, 1, 1] => &[&[(1, 5)], &[(0, 5)]],
                _ => panic!("{parent:?}"),
            };
            let rows: Vec<_> = (0..coarse.len()).map(|vertex| coarse.edges(vertex)).collect();
            assert_eq!(rows, expected, "seed {seed}");
            seen.insert(parent);
        }
        assert_eq!(seen.len(), 2);
    }

    /// The leaves of a star are matched with each other, ranks without edges too; nothing exceeds the most.
    #[test]
    fn stars_and_loose_ranks_get_coarser() {
        let mut star = Graph::<i64>::new();
        star.add(1, (1..10).map(|leaf| (leaf, 1)));
        (1..10).for_each(|_| star.add(1, std::iter::once((0, 1))));
        (0..4).for_each(|_| star.add(1, std::iter::empty()));
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let (coarse, _) = star.coarser(2, &mut random);
        assert_eq!((coarse.len(), coarse.largest(), coarse.sizes.iter().sum::<u32>()), (7, 2, 14));
        let (same, parent) = coarse.coarser(2, &mut random);
        assert_eq!((same.len(), parent), (7, (0..7).collect()));
    }
}
