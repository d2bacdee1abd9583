//! `double-binary-tree`: two binary trees with half of the bytes each; who passes bytes on in one is a leaf in the
//! other.
//!
//! **Definition.** With b the lowest binary digit of r that is 1, r's parent in the first tree is r − b + 2b if r
//! holds no 2b and there is such a rank, else r − b; rank 0 is the root. The second tree is the first one with the
//! ranks counted from the end, or one place on where n is odd. For broadcast and reduce the trees hold all but
//! position 0, which is the parent of both roots. A rank sends to both children at once, so that each has half of its
//! link, as the two trees have of the link of who receives. The paper has them in turn instead, in an order in which nobody
//! receives of both trees at once. **Source.** P. Sanders, J. Speck, J. L. Träff, *Two-tree algorithms
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

    /// The lane to a position from its parent, whose children stand on either side of it in the first tree.
    fn lane(&self, position: u64) -> u8 {
        let rank = self.place(position.saturating_sub(self.first), true);
        if parent(rank, self.m).is_some_and(|parent| rank > parent) { 2 } else { 1 }
    }

    /// The longest way from the root of all to a leaf: each step up raises the lowest digit, and from rank 1 all do so by one.
    fn height(&self) -> u64 {
        self.first + u64::from(self.m.next_power_of_two().ilog2())
    }

    /// How far below the root of all each position is.
    fn depths(&self) -> Vec<u64> {
        let mut depths = vec![0; (self.first + self.m) as usize];
        depths[(self.first + self.place(0, false)) as usize] = self.first;
        // A parent has a higher lowest digit than its children, and the root none.
        for bit in (0..=self.m.ilog2()).rev() {
            for rank in (1_u64 << bit..self.m).step_by(2 << bit) {
                let position = self.first + self.place(rank, false);
                if let Some(parent) = self.parent(position) {
                    depths[position as usize] = depths[parent as usize] + 1;
                }
            }
        }
        depths
    }
}

/// The longest way from a root to a leaf.
pub(in crate::collective) fn height(steps: &Steps) -> u64 {
    Tree::of(steps, false).height()
}

pub(super) fn sends(steps: &Steps, round: u64, out: &mut Vec<Send>) {
    let height = height(steps);
    let up = round < height && steps.kind != Kind::Broadcast;
    let depth = if up { height - round } else { round % height + 1 };
    for second in [false, true] {
        let tree = Tree::of(steps, second);
        let bytes = if second { steps.size / 2 } else { steps.size.div_ceil(2) };
        let depths = tree.depths();
        for position in (0..steps.n).filter(|&position| depths[position as usize] == depth) {
            let Some(parent) = tree.parent(position) else { continue };
            let (from, to) = if up { (position, parent) } else { (parent, position) };
            let send = Send::new(from, to, bytes).adding(up);
            let lane = if up { 0 } else { tree.lane(position) };
            out.push(Send { tree: second.into(), lane, ..send });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows the parents one by one.
    fn followed(tree: &Tree, position: u64) -> u64 {
        std::iter::successors(tree.parent(position), |&position| tree.parent(position)).count() as u64
    }

    #[test]
    fn depths_are_the_ways_to_the_root() {
        for (first, m) in (0..2).flat_map(|first| (1..200).map(move |m| (first, m))) {
            for second in [false, true] {
                let tree = Tree { first, m, second };
                let ways: Vec<u64> = (0..first + m).map(|position| followed(&tree, position)).collect();
                assert_eq!(tree.depths(), ways, "{m} ranks from {first} on");
                assert_eq!(tree.height(), *ways.iter().max().expect("ranks"), "{m} ranks from {first} on");
            }
        }
    }
}
