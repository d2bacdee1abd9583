//! A placement to start from: ranks cut in parts along the hierarchy, from the root down.
//!
//! The children of a node are split in two runs as equal as their sizes allow, and the ranks with them; this repeats until
//! the groups. All devices below a node are equally far from those outside, so a cut needs to look at its own ranks only.

use rand::Rng;

use super::bisect::bisect;
use super::coarsen::Graph;
use super::number::Number;
use super::problem::Problem;
use super::tree::Below;

/// Room to build starts in.
pub(super) struct Starts<'p, 'm, T> {
    problem: &'p Problem<'m, T>,
    /// Number of a rank within the set that is cut.
    local: Vec<u32>,
    group_of: Vec<u32>,
    attempts: u32,
}

/// In the place of a local number: the rank is not in the part that is cut.
const OUTSIDE: u32 = u32::MAX;

impl<'p, 'm, T: Number> Starts<'p, 'm, T> {
    pub(super) fn new(problem: &'p Problem<'m, T>, attempts: u32) -> Self {
        let n = problem.padded;
        Self { problem, local: vec![OUTSIDE; n], group_of: vec![0; n], attempts }
    }

    /// The group of each rank.
    pub(super) fn build(&mut self, rng: &mut impl Rng) -> Vec<u32> {
        let mut ranks: Vec<u32> = (0..self.problem.padded as u32).collect();
        let root = self.problem.machine.tree.root();
        self.place(&[root], &mut ranks, rng);
        self.group_of.clone()
    }

    /// Places ranks below some children of one node.
    fn place(&mut self, nodes: &[usize], ranks: &mut [u32], rng: &mut impl Rng) {
        let tree = &self.problem.machine.tree;
        if let [node] = nodes {
            match &tree.nodes[*node].below {
                Below::Nodes(children) => self.place(children, ranks, rng),
                Below::Group(group) => ranks.iter().for_each(|&r| self.group_of[r as usize] = *group as u32),
            }
            return;
        }
        let size = |nodes: &[usize]| nodes.iter().map(|&n| tree.nodes[n].size).sum::<usize>();
        let imbalance = |at: usize| size(&nodes[..at]).abs_diff(size(&nodes[at..]));
        let Some(middle) = (1..nodes.len()).min_by_key(|&at| imbalance(at)) else { return };
        let first = size(&nodes[..middle]);
        self.cut(ranks, first, rng);
        let (left, right) = ranks.split_at_mut(first);
        self.place(&nodes[..middle], left, rng);
        self.place(&nodes[middle..], right, rng);
    }

    /// Orders ranks so that the first part stands first.
    fn cut(&mut self, ranks: &mut [u32], first: usize, rng: &mut impl Rng) {
        for (i, &rank) in ranks.iter().enumerate() {
            self.local[rank as usize] = i as u32;
        }
        let mut graph = Graph::new();
        for &rank in ranks.iter() {
            let inside = |&(other, weight): &(u32, T)| (self.local[other as usize], weight);
            let edges = self.problem.neighbours(rank as usize).iter().map(inside);
            graph.add(1, edges.filter(|&(other, _)| other != OUTSIDE));
        }
        for &rank in ranks.iter() {
            self.local[rank as usize] = OUTSIDE;
        }
        let side = bisect(&graph, first, self.attempts, rng);
        let mut second = Vec::with_capacity(ranks.len() - first);
        let mut kept = 0;
        for i in 0..ranks.len() {
            if side[i] {
                second.push(ranks[i]);
            } else {
                ranks[kept] = ranks[i];
                kept += 1;
            }
        }
        ranks[kept..].copy_from_slice(&second);
    }
}
