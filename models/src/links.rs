//! The links of routes, which hosts do not name: found as hosts choose them; and what links share.
//!
//! **Definition.** A route has the fewest links, and passes only nodes that forward; among equals it is the smallest
//! sequence of link ids (scenario format, "Routes"). **Ties.** None are left.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use weir_plugin_api::{FabricView, LinkId, NodeKind, SharedLinks, Surroundings};

/// Most of destinations times links that are looked through (*assumed*: within a second and 100 MB).
const MOST_WORK: usize = 20_000_000;

/// What links of the fabric share, by number.
pub(crate) fn shared<'a>(surroundings: &Surroundings<'a>) -> impl Iterator<Item = SharedLinks<'a>> {
    let routes = surroundings.routes;
    (0..).map_while(move |number| routes.shared(number))
}

/// Links by one of their ends, in the order of ids.
struct ByEnd {
    offsets: Vec<u32>,
    links: Vec<u32>,
}

impl ByEnd {
    fn new(ends: &[u32], nodes: usize) -> Self {
        let mut offsets = vec![0; nodes + 1];
        ends.iter().for_each(|&end| offsets[end as usize + 1] += 1);
        (0..nodes).for_each(|node| offsets[node + 1] += offsets[node]);
        let mut links: Vec<u32> = (0..ends.len() as u32).collect();
        links.sort_by_key(|&link| ends[link as usize]);
        Self { offsets, links }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.links[self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize]
    }
}

/// Finds the links of routes to a number of destinations.
pub(crate) struct RouteLinks<'a> {
    fabric: &'a FabricView<'a>,
    out: ByEnd,
    into: ByEnd,
    /// Per destination, the links from each node to it; `u32::MAX` for none.
    distances: RefCell<BTreeMap<u32, Rc<[u32]>>>,
}

impl<'a> RouteLinks<'a> {
    /// `None` where the fabric is too large for so many destinations.
    pub(crate) fn new(fabric: &'a FabricView<'a>, destinations: usize) -> Option<Self> {
        let nodes = fabric.node_kind.len();
        (fabric.links().saturating_mul(destinations) <= MOST_WORK).then(|| Self {
            fabric,
            out: ByEnd::new(fabric.from.as_slice(), nodes),
            into: ByEnd::new(fabric.to.as_slice(), nodes),
            distances: RefCell::default(),
        })
    }

    /// Adds the links of a route, in order of travel; false where there is none.
    pub(crate) fn add(&self, from: u32, to: u32, links: &mut Vec<LinkId>) -> bool {
        let nodes = self.fabric.node_kind.len();
        if from as usize >= nodes || to as usize >= nodes {
            return false;
        }
        let distance = Rc::clone(self.distances.borrow_mut().entry(to).or_insert_with(|| self.distances_to(to)));
        let mut at = from;
        while at != to {
            let leads_on = |&&link: &&u32| {
                let next = self.fabric.to[link as usize];
                let nearer = distance[next as usize].checked_add(1) == Some(distance[at as usize]);
                nearer && (next == to || self.forwards(next))
            };
            let Some(&link) = self.out.of(at).iter().find(leads_on) else { return false };
            links.push(LinkId(link));
            at = self.fabric.to[link as usize];
        }
        from != to
    }

    fn forwards(&self, node: u32) -> bool {
        let kind: NodeKind = self.fabric.node_kind[node as usize];
        kind.forwards()
    }

    fn distances_to(&self, to: u32) -> Rc<[u32]> {
        let mut distance = vec![u32::MAX; self.fabric.node_kind.len()];
        distance[to as usize] = 0;
        let mut next = VecDeque::from([to]);
        while let Some(node) = next.pop_front() {
            if node != to && !self.forwards(node) {
                continue;
            }
            for &link in self.into.of(node) {
                let before = self.fabric.from[link as usize];
                if distance[before as usize] == u32::MAX {
                    distance[before as usize] = distance[node as usize] + 1;
                    next.push_back(before);
                }
            }
        }
        distance.into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_plugin_api::{LinkKind, NodeId, SimDuration};
    use weir_sim_core::{FabricBuilder, LinkSpec, Routes};

    use super::*;

    proptest! {
        /// The routes are those of the simulation, on trees with any links beside them.
        #[test]
        fn routes_are_those_of_the_simulation(
            parents in prop::collection::vec((0..6_usize, 0..8_usize), 1..30),
            laterals in prop::collection::vec((0..30_usize, 0..30_usize), 0..12),
        ) {
            let link = LinkSpec { up: 1.0, down: 1.0, latency: SimDuration(0), kind: LinkKind::PCIE };
            let mut fabric = FabricBuilder::new();
            let mut line = vec![fabric.root(NodeKind::Switch).unwrap()];
            let mut nodes = line.clone();
            for (up, kind) in parents {
                // Depth first: a child of the last node, or of one above it.
                let depth = up % line.len();
                line.truncate(line.len() - depth);
                let node = fabric.child(line[line.len() - 1], NodeKind::ALL[kind], link).unwrap();
                line.push(node);
                nodes.push(node);
            }
            for (a, b) in laterals {
                let _ = fabric.lateral(nodes[a % nodes.len()], nodes[b % nodes.len()], link);
            }
            let fabric = fabric.build();
            let (view, mut routes) = (fabric.view(), Routes::new());
            let links = RouteLinks::new(&view, nodes.len()).unwrap();
            for (&from, &to) in nodes.iter().flat_map(|a| nodes.iter().map(move |b| (a, b))) {
                let mut found = Vec::new();
                let known = links.add(from.0, to.0, &mut found);
                let route = routes.between(&fabric, NodeId(from.0), NodeId(to.0));
                prop_assert_eq!(known, route.is_some());
                if let Some(route) = route {
                    prop_assert_eq!(&found[..], routes.links(route));
                }
            }
        }
    }
}
