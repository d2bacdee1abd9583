//! Cuts of the topology: into which sides ranks fall, and what links carry between them at most.
//!
//! **Definition.** A cut is all ranks at or below a node of the tree against the others, or those of a machine. Its links carry
//! at most the sum of their bandwidths each way, of each link no more than what it shares (`shared` of links); and both ways
//! together at most the sum over links of what both directions of each share, where that is less. A memory is a node whose
//! links share a bandwidth: without it the ranks fall into sides, itself one of them where it is a rank, and a message from one
//! side to another goes through it once. Sides that no lateral link joins in the tree count as one where they are not below it:
//! with fewer sides the bound is lower.

use std::collections::BTreeMap;

use weir_plugin_api::{Direction, FabricView, Surroundings};

use crate::links::shared;
use crate::machine::{ancestors, machines, parents};

/// Most of memories with nodes below them, times ranks and lateral links, that are looked at; beyond them they set no bound
/// (*assumed*: within a second).
const MOST_WORK: usize = 20_000_000;

/// What is on one side of a cut.
#[derive(Clone, Copy, Default)]
pub(super) struct Side {
    pub(super) ranks: u64,
    pub(super) has_root: bool,
    /// Neighbours in order of which the first alone is inside; and the second alone.
    pub(super) next: [u64; 2],
    /// What its links carry at most out and in, B/s.
    pub(super) bandwidth: [f64; 2],
    /// By how much less than both of these they carry both ways together, B/s.
    less: f64,
}

impl Side {
    /// What its links carry at most both ways together, B/s, where directions share.
    pub(super) fn both_ways(&self) -> Option<f64> {
        (self.less > 0.0).then(|| self.bandwidth[0] + self.bandwidth[1] - self.less)
    }

    /// The ranks on the other side.
    fn others(&self, ranks: u64) -> Self {
        let [out, into] = self.next;
        Self { ranks: ranks - self.ranks, has_root: !self.has_root, next: [into, out], ..Self::default() }
    }
}

/// A node whose links share a bandwidth.
pub(super) struct Memory {
    pub(super) node: u32,
    /// B/s.
    pub(super) bandwidth: f64,
    /// The sides into which ranks fall without it: two at least.
    pub(super) sides: Vec<Side>,
}

/// The cuts of the ranks.
pub(super) struct Cuts {
    ranks: u64,
    /// What is at or below each node.
    pub(super) below: Vec<Side>,
    /// Of each machine, at the topmost of its nodes.
    pub(super) machines: Vec<Side>,
    pub(super) memories: Vec<Memory>,
}

impl Cuts {
    /// Of ranks within the fabric.
    pub(super) fn new(ranks: &[u32], surroundings: &Surroundings<'_>) -> Self {
        let fabric = surroundings.fabric;
        let (carried, parents) = (carried(surroundings), parents(fabric));
        let below = below(ranks, fabric, &parents, &carried);
        let memories = memories(ranks, surroundings, &parents, &below);
        Self { ranks: ranks.len() as u64, machines: within(ranks, fabric, &carried), below, memories }
    }

    /// Those with ranks on both sides: the node, whether it stands for its machine, and what is inside.
    pub(super) fn sides(&self) -> impl Iterator<Item = (u32, bool, &Side)> {
        let of_nodes = (0..).zip(&self.below).map(|(node, side)| (node, false, side));
        // A machine by the topmost of its nodes, which stands first.
        let of_machines = (0..).zip(&self.machines).map(|(node, side)| (node, true, side));
        of_nodes.chain(of_machines).filter(|(_, _, side)| side.ranks > 0 && side.ranks < self.ranks)
    }
}

/// What a directed link carries at most.
#[derive(Clone, Copy)]
struct Carried {
    /// B/s.
    alone: f64,
    /// Half of what both directions carry less together than each alone, B/s.
    less: f64,
}

fn carried(surroundings: &Surroundings<'_>) -> Vec<Carried> {
    let mut all: Vec<_> = surroundings.fabric.bandwidth.iter().map(|&alone| Carried { alone, less: 0.0 }).collect();
    let of_links = || shared(surroundings).filter(|shared| shared.node.is_none());
    for shared in of_links() {
        for link in shared.links {
            all[link.index()].alone = all[link.index()].alone.min(shared.bandwidth);
        }
    }
    let ends = |link: usize| (surroundings.fabric.from[link], surroundings.fabric.to[link]);
    for shared in of_links() {
        // Two directions of one link are in the same cuts; of other links one may be without the other.
        let [there, back] = shared.links[..] else { continue };
        let (there, back) = (there.index(), back.index());
        if ends(there) == (ends(back).1, ends(back).0) {
            let less = (all[there].alone + all[back].alone - shared.bandwidth).max(0.0) / 2.0;
            [there, back].iter().for_each(|&link| all[link].less = all[link].less.max(less));
        }
    }
    all
}

fn below(ranks: &[u32], fabric: &FabricView<'_>, parents: &[Option<u32>], carried: &[Carried]) -> Vec<Side> {
    let mut below = vec![Side::default(); parents.len()];
    for (position, &rank) in ranks.iter().enumerate() {
        for node in ancestors(parents, rank) {
            below[node as usize].ranks += 1;
            below[node as usize].has_root |= position == 0;
        }
        let next = ranks[(position + 1) % ranks.len()];
        apart(parents, rank, next, |node, way| below[node as usize].next[way] += 1);
    }
    for (link, carried) in carried.iter().enumerate() {
        let (from, to) = (fabric.from[link], fabric.to[link]);
        let mut add = |node: u32, way: usize| {
            below[node as usize].bandwidth[way] += carried.alone;
            below[node as usize].less += carried.less;
        };
        match fabric.direction[link] {
            Direction::Up => add(from, 0),
            Direction::Down => add(to, 1),
            Direction::Lateral => apart(parents, from, to, add),
        }
    }
    below
}

/// The same of machines: all that hangs together without a network.
fn within(ranks: &[u32], fabric: &FabricView<'_>, carried: &[Carried]) -> Vec<Side> {
    let machine = machines(fabric);
    let of = |node: u32| machine[node as usize] as usize;
    let mut within = apart_by(ranks, of, machine.len());
    for (link, carried) in carried.iter().enumerate() {
        let (from, to) = (of(fabric.from[link]), of(fabric.to[link]));
        if from != to {
            within[from].bandwidth[0] += carried.alone;
            within[to].bandwidth[1] += carried.alone;
            [from, to].iter().for_each(|&machine| within[machine].less += carried.less);
        }
    }
    within
}

/// The ranks by side, of so many sides; without what links carry.
fn apart_by(ranks: &[u32], side: impl Fn(u32) -> usize, count: usize) -> Vec<Side> {
    let mut sides = vec![Side::default(); count];
    for (position, &rank) in ranks.iter().enumerate() {
        let (from, to) = (side(rank), side(ranks[(position + 1) % ranks.len()]));
        sides[from].ranks += 1;
        sides[from].has_root |= position == 0;
        if from != to {
            sides[from].next[0] += 1;
            sides[to].next[1] += 1;
        }
    }
    sides
}

/// Calls `each` for the nodes that have only `from` at or below them (0) and those that have only `to` (1).
fn apart(parents: &[Option<u32>], from: u32, to: u32, mut each: impl FnMut(u32, usize)) {
    let [above_from, above_to] = [from, to].map(|node| ancestors(parents, node).collect::<Vec<_>>());
    let shared = above_from.iter().rev().zip(above_to.iter().rev()).take_while(|(a, b)| a == b).count();
    above_from.iter().rev().skip(shared).for_each(|&node| each(node, 0));
    above_to.iter().rev().skip(shared).for_each(|&node| each(node, 1));
}

fn memories(ranks: &[u32], surroundings: &Surroundings<'_>, parents: &[Option<u32>], below: &[Side]) -> Vec<Memory> {
    let (fabric, n) = (surroundings.fabric, ranks.len() as u64);
    let lateral = |&link: &usize| fabric.direction[link] == Direction::Lateral && fabric.from[link] < fabric.to[link];
    let laterals: Vec<_> = (0..fabric.links()).filter(lateral).map(|at| (fabric.from[at], fabric.to[at])).collect();
    let mut work = MOST_WORK;
    let memories = shared(surroundings).filter_map(|shared| Some((shared.node?.0, shared.bandwidth)));
    let memories = memories.filter_map(|(node, bandwidth)| {
        let inside = below[node as usize];
        // What stands beside the ways of the tree separates nobody.
        let sides = match inside.ranks {
            0 => return None,
            1 if ranks.contains(&node) => vec![inside, inside.others(n)],
            _ => {
                work = work.checked_sub(ranks.len() + laterals.len())?;
                without(node, ranks, parents, &laterals)
            }
        };
        let sides: Vec<Side> = sides.into_iter().filter(|side| side.ranks > 0).collect();
        (sides.len() > 1).then_some(Memory { node, bandwidth, sides })
    });
    memories.collect()
}

/// The sides into which ranks fall without a node.
fn without(node: u32, ranks: &[u32], parents: &[Option<u32>], laterals: &[(u32, u32)]) -> Vec<Side> {
    // The node itself, one of those just below it, or, for all that is not below it, none.
    let branch = |of: u32| match of == node {
        true => Some(node),
        false => ancestors(parents, of).find(|&above| parents[above as usize] == Some(node)),
    };
    let mut joined: BTreeMap<Option<u32>, Option<u32>> = BTreeMap::new();
    let find = |joined: &BTreeMap<Option<u32>, Option<u32>>, mut branch: Option<u32>| {
        while let Some(&other) = joined.get(&branch) {
            branch = other;
        }
        branch
    };
    for &(a, b) in laterals.iter().filter(|(a, b)| *a != node && *b != node) {
        let [a, b] = [a, b].map(|end| find(&joined, branch(end)));
        if a != b {
            joined.insert(a.max(b), a.min(b));
        }
    }
    let mut numbers = BTreeMap::new();
    for &rank in ranks {
        let count = numbers.len();
        numbers.entry(find(&joined, branch(rank))).or_insert(count);
    }
    apart_by(ranks, |rank| numbers[&find(&joined, branch(rank))], numbers.len())
}
