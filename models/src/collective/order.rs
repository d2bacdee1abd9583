//! `order: topology`: an order of the ranks whose ring crosses slow links least.
//!
//! **Definition.** A ring's cost is the largest, over links, of the messages that cross it over its bandwidth; among
//! equals the sum of that over all links and messages. No ring is below the bound: every cut of the tree is crossed
//! at least once each way. The search looks at the order of the tree, which meets the bound where there are no
//! lateral links; else, of up to 8 ranks, at all orders; else it reverses stretches of the best order so far as long
//! as that helps. **Ties.** The given order, then the tree's, then the first that is found.

use serde::Serialize;
use weir_plugin_api::{FabricView, LinkId, PS_PER_S};

use crate::links::RouteLinks;
use crate::machine::{ancestors, parents};

/// Most ranks whose orders are all tried: 7! = 5040 rings.
const EXACT: usize = 8;
/// Most ranks whose order is searched: a pass over all stretches of 64 ranks tries 2016 rings (*assumed*: within a
/// second).
const SEARCHED: usize = 64;
/// Most passes of the search (*assumed*).
const PASSES: usize = 20;

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

/// Largest load of a link, and the sum over links, ps per byte.
type Cost = (f64, f64);

/// An order that crosses slow links least; `None` where there is no route, or the fabric is too large.
pub(super) fn by_topology(ranks: &[u32], fabric: &FabricView<'_>) -> Option<(Vec<u32>, Found)> {
    let rings = Rings::new(ranks, fabric)?;
    let given: Vec<usize> = (0..ranks.len()).collect();
    let mut best = (rings.cost(&given)?, given.clone(), "given");
    let bound = rings.bound();
    rings.better(&mut best, rings.tree_order(), "tree");
    if best.0.0 > bound * (1.0 + 1e-9) {
        if ranks.len() <= EXACT {
            rings.exact(&mut best, given, 1);
        } else if ranks.len() <= SEARCHED {
            rings.reversed(&mut best);
        }
    }
    let (cost, order, search) = best;
    let bandwidth = |load: f64| PS_PER_S as f64 / load;
    let found = Found { search, ring_bandwidth: bandwidth(cost.0), at_most: bandwidth(bound) };
    Some((order.into_iter().map(|place| ranks[place]).collect(), found))
}

struct Rings<'a> {
    ranks: &'a [u32],
    fabric: &'a FabricView<'a>,
    links: RouteLinks<'a>,
    parents: Vec<Option<u32>>,
    loads: std::cell::RefCell<Vec<f64>>,
}

type Best = (Cost, Vec<usize>, &'static str);

impl<'a> Rings<'a> {
    fn new(ranks: &'a [u32], fabric: &'a FabricView<'a>) -> Option<Self> {
        let loads = std::cell::RefCell::new(vec![0.0; fabric.links()]);
        let links = RouteLinks::new(fabric, ranks.len())?;
        Some(Self { ranks, fabric, links, parents: parents(fabric), loads })
    }

    fn cost(&self, order: &[usize]) -> Option<Cost> {
        let (mut links, mut route) = (Vec::new(), Vec::<LinkId>::new());
        for (place, &from) in order.iter().enumerate() {
            let to = order[(place + 1) % order.len()];
            let [from, to] = [from, to].map(|place| self.ranks[place]);
            route.clear();
            if !self.links.add(from, to, &mut route) {
                return None;
            }
            links.append(&mut route);
        }
        let (mut loads, mut cost) = (self.loads.borrow_mut(), (0.0_f64, 0.0));
        for link in &links {
            let per_byte = PS_PER_S as f64 / self.fabric.bandwidth[link.index()];
            loads[link.index()] += per_byte;
            cost = (cost.0.max(loads[link.index()]), cost.1 + per_byte);
        }
        links.iter().for_each(|link| loads[link.index()] = 0.0);
        Some(cost)
    }

    /// Keeps the better of two; whether it was the new one.
    fn better(&self, best: &mut Best, order: Vec<usize>, search: &'static str) -> bool {
        let Some(cost) = self.cost(&order) else { return false };
        let is_better = cost.0 < best.0.0 || (cost.0 == best.0.0 && cost.1 < best.0.1);
        if is_better {
            *best = (cost, order, search);
        }
        is_better
    }

    /// The ranks as one meets them on a walk through the tree.
    fn tree_order(&self) -> Vec<usize> {
        let way = |place: &usize| {
            let mut nodes: Vec<u32> = ancestors(&self.parents, self.ranks[*place]).collect();
            nodes.reverse();
            nodes
        };
        let mut order: Vec<usize> = (0..self.ranks.len()).collect();
        order.sort_by_cached_key(way);
        let first = order.iter().position(|&place| place == 0).unwrap_or(0);
        order.rotate_left(first);
        order
    }

    /// Tries all orders of the places from `fixed` on; the first rank stays.
    fn exact(&self, best: &mut Best, mut order: Vec<usize>, fixed: usize) {
        if fixed == order.len() {
            self.better(best, order, "exact");
            return;
        }
        for next in fixed..order.len() {
            order.swap(fixed, next);
            self.exact(best, order.clone(), fixed + 1);
            order.swap(fixed, next);
        }
    }

    fn reversed(&self, best: &mut Best) {
        for _ in 0..PASSES {
            let mut helped = false;
            for first in 1..self.ranks.len() {
                for end in first + 2..=self.ranks.len() {
                    let mut order = best.1.clone();
                    order[first..end].reverse();
                    helped |= self.better(best, order, "local");
                }
            }
            if !helped {
                return;
            }
        }
    }

    /// Least load of a link, ps per byte: each cut is crossed once each way.
    fn bound(&self) -> f64 {
        let capacities = super::bound::cuts(self.ranks, self.fabric);
        capacities.map(|bandwidth| PS_PER_S as f64 / bandwidth).fold(0.0, f64::max)
    }
}
