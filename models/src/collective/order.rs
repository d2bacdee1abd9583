//! `order: topology`: an order of the ranks whose ring crosses slow links least.
//!
//! **Definition.** A ring's cost is the largest, over links and over what links share, of the messages that cross it over its
//! bandwidth; among equals the sum of that over all of these and all messages. No ring is below the bound: every cut of the
//! tree is crossed at least once each way. The search looks at the order of the tree, which meets the bound where there are no
//! lateral links and nothing is shared; else at other orders, see [`super::ring_search`]. **Ties.** The given order, then the
//! tree's, then the first that is found.

use serde::Serialize;
use weir_plugin_api::{LinkId, PS_PER_S, SharedLinks, Surroundings};

use super::cuts::Cuts;
use super::ring_search::{self, Ways};
use crate::links::{RouteLinks, shared};
use crate::machine::{ancestors, parents};

/// How an order was found, for `details`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct Found {
    /// `given`, `tree`, `exact` or `local`.
    search: &'static str,
    /// Bandwidth that the ring's messages have at the link that they load most, B/s.
    ring_bandwidth: f64,
    /// No ring has more.
    at_most: f64,
}

/// Largest load of a link, or of what links share, and the sum over all of them, ps per byte.
pub(super) type Cost = (f64, f64);

/// The best order so far, by places among the ranks, with its cost and what found it.
pub(super) type Best = (Cost, Vec<usize>, &'static str);

/// An order that crosses slow links least; `None` where there is no route, or the fabric is too large.
pub(super) fn by_topology(ranks: &[u32], surroundings: &Surroundings<'_>) -> Option<(Vec<u32>, Found)> {
    let rings = Rings::new(ranks, surroundings)?;
    let given: Vec<usize> = (0..ranks.len()).collect();
    let mut best = (rings.cost(&given)?, given, "given");
    let mut bound = bound(&Cuts::new(ranks, surroundings));
    if let Some((cost, order)) = Some(rings.tree_order()).and_then(|order| Some((rings.cost(&order)?, order)))
        && is_better(cost, best.0)
    {
        best = (cost, order, "tree");
    }
    if !meets(best.0, bound) && ranks.len() <= ring_search::MOST_RANKS {
        bound = ring_search::improve(&mut best, bound, rings.ways());
    }
    let (cost, order, search) = best;
    let bandwidth = |load: f64| PS_PER_S as f64 / load;
    let found = Found { search, ring_bandwidth: bandwidth(cost.0), at_most: bandwidth(bound) };
    Some((order.into_iter().map(|place| ranks[place]).collect(), found))
}

pub(super) fn is_better(cost: Cost, than: Cost) -> bool {
    cost.0 < than.0 || (cost.0 == than.0 && cost.1 < than.1)
}

/// Whether no ring can load its links less, but for rounding.
pub(super) fn meets(cost: Cost, bound: f64) -> bool {
    cost.0 <= bound * (1.0 + 1e-9)
}

/// Least load of a link, or of what links share, ps per byte. A ring crosses each cut at least once each way, so both ways
/// together at least twice; and it leaves each side of a memory at least once, through the memory.
fn bound(cuts: &Cuts) -> f64 {
    let sides = cuts.sides().flat_map(|(_, _, side)| {
        let [out, into] = side.bandwidth;
        [(1.0, Some(out)), (1.0, Some(into)), (2.0, side.both_ways())]
    });
    let memories = cuts.memories.iter().map(|memory| (memory.sides.len() as f64, Some(memory.bandwidth)));
    let loads = sides.chain(memories).filter_map(|(times, bandwidth)| Some(times * PS_PER_S as f64 / bandwidth?));
    loads.fold(0.0, f64::max)
}

struct Rings<'a> {
    ranks: &'a [u32],
    surroundings: &'a Surroundings<'a>,
    links: RouteLinks<'a>,
    shared: Vec<SharedLinks<'a>>,
    /// Per link that shares any: which, by number.
    shared_by: std::collections::BTreeMap<LinkId, Vec<usize>>,
    /// Of links, then of what they share: time of a byte, ps.
    per_byte: Vec<f64>,
}

impl<'a> Rings<'a> {
    fn new(ranks: &'a [u32], surroundings: &'a Surroundings<'a>) -> Option<Self> {
        let links = RouteLinks::new(surroundings.fabric, ranks.len())?;
        let shared: Vec<_> = shared(surroundings).collect();
        let mut shared_by = std::collections::BTreeMap::<_, Vec<_>>::new();
        for (number, shared) in shared.iter().enumerate() {
            shared.links.iter().for_each(|&link| shared_by.entry(link).or_default().push(number));
        }
        let bandwidths = surroundings.fabric.bandwidth.iter().copied().chain(shared.iter().map(|one| one.bandwidth));
        let per_byte = bandwidths.map(|bandwidth| PS_PER_S as f64 / bandwidth).collect();
        Some(Self { ranks, surroundings, links, shared, shared_by, per_byte })
    }

    /// What a message between two places loads, each as often as it does: links by their id, then what they share.
    fn way(&self, from: usize, to: usize) -> Option<Vec<u32>> {
        let mut route = Vec::new();
        if !self.links.add(self.ranks[from], self.ranks[to], &mut route) {
            return None;
        }
        let links = self.surroundings.fabric.links();
        let mut way: Vec<u32> = route.iter().map(|link| link.0).collect();
        for (at, link) in route.iter().enumerate() {
            let enters = self.surroundings.fabric.to[link.index()];
            for &number in self.shared_by.get(link).map_or(&[][..], |numbers| numbers) {
                // A node that is passed has two links of the route, and counts once.
                let counts = self.shared[number].node.is_none_or(|node| node.0 == enters || at == 0);
                way.extend(counts.then_some((links + number) as u32));
            }
        }
        Some(way)
    }

    fn cost(&self, order: &[usize]) -> Option<Cost> {
        let (mut loads, mut cost) = (vec![0.0; self.per_byte.len()], (0.0_f64, 0.0));
        for (place, &from) in order.iter().enumerate() {
            for loaded in self.way(from, order[(place + 1) % order.len()])? {
                let (load, per_byte) = (&mut loads[loaded as usize], self.per_byte[loaded as usize]);
                *load += per_byte;
                cost = (cost.0.max(*load), cost.1 + per_byte);
            }
        }
        Some(cost)
    }

    /// The ways between all ranks; of what is loaded only that which any of them loads.
    fn ways(&self) -> Ways {
        let n = self.ranks.len();
        let pairs = (0..n * n).map(|pair| (pair / n, pair % n));
        Ways::new(n, &self.per_byte, pairs.map(|(from, to)| self.way(from, to)).collect())
    }

    /// The ranks as one meets them on a walk through the tree.
    fn tree_order(&self) -> Vec<usize> {
        let parents = parents(self.surroundings.fabric);
        let way = |place: &usize| {
            let mut nodes: Vec<u32> = ancestors(&parents, self.ranks[*place]).collect();
            nodes.reverse();
            nodes
        };
        let mut order: Vec<usize> = (0..self.ranks.len()).collect();
        order.sort_by_cached_key(way);
        let first = order.iter().position(|&place| place == 0).unwrap_or(0);
        order.rotate_left(first);
        order
    }
}
