//! `double-binary-tree`: two binary trees with half of the bytes each; who passes bytes on in one is a leaf in the
//! other.
//!
//! **Definition.** With b the lowest binary digit of r that is 1, r's parent in the first tree is r − b + 2b if r
//! holds no 2b and there is such a rank, else r − b; rank 0 is the root. The second tree is the first one with the
//! ranks counted from the end, or one place on where n is odd. For broadcast and reduce the trees hold all but
//! position 0, which is the parent of both roots. **Source.** P. Sanders, J. Speck, J. L. Träff, *Two-tree algorithms
//! for full bandwidth broadcast, reduction and scan*, Parallel Computing 35(12), 2009; the numbering as in NCCL,
//! `src/graph/trees.cc`.

use super::{Kind, Send, Steps};

/// Parent of a rank in the first tree of m ranks; `None` for the root.
fn parent(rank: u64, m: u64) -> Option<u64> {
    if rank == 0 {
        return None;
    }
    let bit = rank & rank.wrapping_neg();
    let up = (rank ^ bit) | (bit << 1);
    Some(if up < m { up } else { rank ^ bit })
}

/// A tree of the m ranks from `first` on.
struct Tree {
    first: u64,
    m: u64,
    second: bool,
}

impl Tree {
    fn of(steps: &Steps, second: bool) -> Self {
        let first = u64::from(steps.kind != Kind::AllReduce);
        Self { first, m: steps.n - first, second }
    }

    /// From a rank of the first tree to the one in its place, and back.
    fn place(&self, rank: u64, back: bool) -> u64 {
        match (self.second, self.m.is_multiple_of(2)) {
            (false, _) => rank,
            (true, true) => self.m - 1 - rank,
            (true, false) => (rank + if back { self.m - 1 } else { 1 }) % self.m,
        }
    }

    /// Parent of a position; `None` for the root of all.
    fn parent(&self, position: u64) -> Option<u64> {
        let rank = self.place(position.checked_sub(self.first)?, true);
        match parent(rank, self.m) {
            Some(parent) => Some(self.first + self.place(parent, false)),
            None => (self.first > 0).then_some(0),
        }
    }

    fn depth(&self, mut position: u64) -> u64 {
        let mut depth = 0;
        while let Some(parent) = self.parent(position) {
            (position, depth) = (parent, depth + 1);
        }
        depth
    }
}

/// The longest way from a root to a leaf.
pub(in crate::collective) fn height(steps: &Steps) -> u64 {
    let tree = Tree::of(steps, false);
    (0..steps.n).map(|position| tree.depth(position)).max().unwrap_or(0)
}

pub(super) fn sends(steps: &Steps, round: u64, out: &mut Vec<Send>) {
    let height = height(steps);
    let up = round < height && steps.kind != Kind::Broadcast;
    let depth = if up { height - round } else { round % height + 1 };
    for second in [false, true] {
        let tree = Tree::of(steps, second);
        let bytes = if second { steps.size / 2 } else { steps.size.div_ceil(2) };
        for position in (0..steps.n).filter(|&position| tree.depth(position) == depth) {
            let Some(parent) = tree.parent(position) else { continue };
            let (from, to) = if up { (position, parent) } else { (parent, position) };
            let send = Send::new(from, to, bytes).adding(up);
            out.push(Send { tree: second.into(), back: !up, ..send });
        }
    }
}
