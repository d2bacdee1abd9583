//! Who sends how much to whom: an undirected weighted graph of ranks.

use super::error::PlacementError;

/// The communication pattern. Edge {u, v} has the weight (bytes u → v + bytes v → u) / 2 / unit: two messages of one unit,
/// one each way, weigh 1. Messages from a rank to itself do not leave its device and are left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    ranks: usize,
    unit: u64,
    /// (u, v, bytes both ways) with u < v, ascending, bytes above 0.
    edges: Vec<(u32, u32, u128)>,
}

impl Pattern {
    /// A pattern from its messages (from rank, to rank, bytes); `unit` in bytes (the smallest message, by habit).
    ///
    /// # Errors
    /// A rank that does not exist, or a unit of 0.
    pub fn new(
        ranks: usize,
        messages: impl IntoIterator<Item = (usize, usize, u64)>,
        unit: u64,
    ) -> Result<Self, PlacementError> {
        if unit == 0 {
            return Err(PlacementError::NoUnit);
        }
        let mut edges = Vec::new();
        for (from, to, bytes) in messages {
            let rank = from.max(to);
            if rank >= ranks || u32::try_from(rank).is_err() {
                return Err(PlacementError::NoSuchRank { rank, ranks });
            }
            if from != to && bytes > 0 {
                edges.push((from.min(to) as u32, rank as u32, u128::from(bytes)));
            }
        }
        edges.sort_unstable_by_key(|&(u, v, _)| (u, v));
        edges.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        Ok(Self { ranks, unit, edges })
    }

    /// How many ranks exchange data, those without traffic included.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Bytes that weigh 1 when sent each way.
    #[must_use]
    pub fn unit(&self) -> u64 {
        self.unit
    }

    /// The edges (u, v, bytes both ways), u < v, ascending.
    #[must_use]
    pub fn edges(&self) -> &[(u32, u32, u128)] {
        &self.edges
    }

    /// Greatest number that divides the bytes of every edge; 1 without edges.
    pub(super) fn common(&self) -> u128 {
        self.edges.iter().fold(0, |g, e| gcd(g, e.2)).max(1)
    }
}

/// Greatest common divisor; gcd(0, b) = b.
pub(super) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}
