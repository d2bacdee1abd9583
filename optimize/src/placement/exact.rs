//! The best placement on a tree, with a proof: dynamic programming over sets of ranks.
//!
//! Let F_v(S) be the least cost of the edges inside S, and of the leaf values of S, when the ranks S are placed below node v.
//! With joint cost c of v and W(S) the weight of the edges inside S,
//!
//! ```text
//! group:  F_v(S) = c · W(S) + leaf · (weighted degree of S),                        |S| ≤ devices of the group
//! node:   F_v(S) = c · W(S) + min over S = S₁ ∪ … ∪ S_k (disjoint) of Σ (F_i(S_i) − c · W(S_i)),
//! ```
//!
//! since an edge between two parts costs c and one inside a part is in F_i. Every way to share the ranks out is covered, so
//! the least is proved. Among equals the lexicographically smallest placement is kept: of two parts each has its own
//! smallest, so the smallest of the whole is made of smallest parts.
//!
//! With as many ranks as devices every part has a known size and few sets remain. With more devices there are at most 3^ranks
//! pairs of a set and a part of it for each child that is joined. On 16 devices that took 76 ms at most where it was measured
//! (a chain of 16 devices, 16 ranks, random weights; benchmark `placement_exact`).

use super::number::Number;
use super::problem::Problem;
use super::tree::Below;

/// Ranks at most: a placement then fits 16 bytes, and a table 65 536 sets.
pub(super) const MOST_RANKS: usize = 16;

/// Devices at most: a device is one byte of a placement.
const MOST_DEVICES: usize = 256;

/// Pairs of a set and a part that a search may look at, some seconds. All trees of 16 devices stay below it: they have 15
/// joins at most, each of 3^16 pairs at most.
const MOST_STEPS: u64 = 1_000_000_000;

/// Least costs by set, [`Number::MOST`] where the set does not fit, with the smallest placement: byte 15 − r is rank r's device.
struct SubsetTable<T> {
    /// Devices it stands for.
    size: usize,
    cost: Vec<T>,
    placed: Vec<u128>,
}

/// The best placement.
pub(super) fn search<T: Number>(problem: &Problem<'_, T>) -> Vec<usize> {
    let search = Search::new(problem);
    let all = search.join(problem.machine.tree.root());
    let full = (1 << problem.ranks) - 1;
    let byte = |rank: usize| (all.placed[full] >> (8 * (MOST_RANKS - 1 - rank)) & 0xff) as usize;
    (0..problem.ranks).map(byte).collect()
}

/// Whether the tables fit and the search stays below its limit of steps.
pub(super) fn fits<T: Number>(problem: &Problem<'_, T>) -> bool {
    let (ranks, devices) = (problem.ranks, problem.padded);
    if ranks > MOST_RANKS || devices > MOST_DEVICES || !problem.machine.is_tree {
        return false;
    }
    let mut steps = 0_u64;
    for node in &problem.machine.tree.nodes {
        let Below::Nodes(children) = &node.below else { continue };
        let mut joined = 0;
        for &child in children {
            let size = problem.machine.tree.nodes[child].size;
            if joined > 0 {
                let pairs = sizes(ranks, devices, joined + size).map(|set| choose(ranks, set) << set);
                steps = steps.saturating_add(pairs.sum());
            }
            joined += size;
        }
    }
    steps <= MOST_STEPS
}

/// How many ranks `size` of the devices can hold: no more than they are, and the others must hold the rest.
fn sizes(ranks: usize, devices: usize, size: usize) -> std::ops::RangeInclusive<usize> {
    (ranks + size).saturating_sub(devices)..=size.min(ranks)
}

fn choose(n: usize, k: usize) -> u64 {
    (0..k).fold(1, |c, i| c * (n - i) as u64 / (i + 1) as u64)
}

struct Search<'p, 'm, T> {
    problem: &'p Problem<'m, T>,
    /// Weight of the edges inside each set.
    weight: Vec<T>,
    /// Weighted degree of each set.
    degree: Vec<T>,
}

impl<'p, 'm, T: Number> Search<'p, 'm, T> {
    fn new(problem: &'p Problem<'m, T>) -> Self {
        let sets = 1_usize << problem.ranks;
        let (mut weight, mut degree) = (vec![T::ZERO; sets], vec![T::ZERO; sets]);
        for set in 1..sets {
            let (rank, rest) = (set.trailing_zeros() as usize, set & (set - 1));
            (weight[set], degree[set]) = (weight[rest], degree[rest]);
            for &(other, w) in problem.neighbours(rank) {
                degree[set] += w;
                if rest >> other & 1 == 1 {
                    weight[set] += w;
                }
            }
        }
        Self { problem, weight, degree }
    }

    fn sizes(&self, size: usize) -> std::ops::RangeInclusive<usize> {
        sizes(self.problem.ranks, self.problem.padded, size)
    }

    /// The table of a node.
    fn join(&self, node: usize) -> SubsetTable<T> {
        let node = &self.problem.machine.tree.nodes[node];
        let joint = T::of(node.joint);
        let children = match &node.below {
            Below::Group(group) => return self.group(*group, joint),
            Below::Nodes(children) => children,
        };
        let mut table: Option<SubsetTable<T>> = None;
        for &child in children {
            let mut part = self.join(child);
            self.add(&mut part, -joint);
            table = Some(match table {
                None => part,
                Some(table) => self.merge(&table, &part),
            });
        }
        let mut table = table.unwrap_or_else(|| self.nothing());
        self.add(&mut table, joint);
        table
    }

    /// Adds a multiple of the weight inside each set.
    fn add(&self, table: &mut SubsetTable<T>, times: T) {
        for (cost, &weight) in table.cost.iter_mut().zip(&self.weight).filter(|(cost, _)| **cost != T::MOST) {
            *cost += times * weight;
        }
    }

    /// The table of no devices: only the empty set fits.
    fn nothing(&self) -> SubsetTable<T> {
        let mut table = self.empty(0);
        table.cost[0] = T::ZERO;
        table
    }

    fn empty(&self, size: usize) -> SubsetTable<T> {
        SubsetTable { size, cost: vec![T::MOST; self.weight.len()], placed: vec![0; self.weight.len()] }
    }

    /// Ranks in ascending order on the first devices of the group.
    fn group(&self, group: usize, joint: T) -> SubsetTable<T> {
        let group = &self.problem.machine.tree.groups[group];
        let (size, leaf) = (group.devices.len(), T::of(group.leaf));
        let fits = self.sizes(size);
        let mut table = self.empty(size);
        for set in (0..self.weight.len()).filter(|s| fits.contains(&(s.count_ones() as usize))) {
            table.cost[set] = joint * self.weight[set] + leaf * self.degree[set];
            let ranks = (0..self.problem.ranks).filter(|r| set >> r & 1 == 1);
            table.placed[set] = ranks
                .zip(&group.devices)
                .fold(0, |all, (rank, &device)| all | u128::from(device) << (8 * (MOST_RANKS - 1 - rank)));
        }
        table
    }

    /// Shares every set out between two tables in all ways.
    fn merge(&self, first: &SubsetTable<T>, second: &SubsetTable<T>) -> SubsetTable<T> {
        let size = first.size + second.size;
        let fits = self.sizes(size);
        let mut table = self.empty(size);
        for set in (0..self.weight.len()).filter(|s| fits.contains(&(s.count_ones() as usize))) {
            let (mut best, mut placed) = (T::MOST, 0);
            let mut part = set;
            loop {
                let (a, b) = (first.cost[set ^ part], second.cost[part]);
                if a != T::MOST && b != T::MOST && a + b <= best {
                    let at = first.placed[set ^ part] | second.placed[part];
                    if a + b < best || at < placed {
                        (best, placed) = (a + b, at);
                    }
                }
                if part == 0 {
                    break;
                }
                part = (part - 1) & set;
            }
            (table.cost[set], table.placed[set]) = (best, placed);
        }
        table
    }
}
