//! Interned routes. A transfer takes the route with the fewest links, among equals the lexicographically smallest sequence
//! of link ids, or what a [`Selection`] says.

mod branches;
mod equal;
mod search;

use rustc_hash::FxHashMap;
use weir_plugin_api::{LinkId, NodeId, RouteId, RouteTable, SimDuration};

use crate::fabric::Fabric;
pub use branches::{branches, divided, shares};
pub(crate) use branches::{full_rate, split};
use equal::EqualRoutes;
pub use equal::MOST_BRANCHES;
use search::climb;

/// Which of the routes with the fewest links a transfer takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selection {
    /// The one whose sequence of link ids is smallest.
    First,
    /// At each node where several of them part, the (h mod k)-th of the k links, in id order; then h becomes ⌊h / k⌋.
    Hashed(u128),
    /// All of them, with equal parts of the bytes.
    All,
}

/// A way that a transfer goes, or one of several at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Way {
    /// Its source.
    pub from: NodeId,
    /// To the nodes that it passes, in order; the last one is its destination.
    pub legs: Vec<Leg>,
    /// Which routes it takes on them.
    pub selection: Selection,
}

/// The next part of a way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leg {
    /// Where it ends.
    pub to: NodeId,
    /// The links that it may take.
    pub over: Over,
}

/// Links that a leg may take, by the numbers of the areas in which they lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Over {
    /// All.
    Any,
    /// Those of one area.
    Only(u32),
    /// Those of all areas but one.
    Not(u32),
}

impl Over {
    fn allows(self, areas: &[u32], link: LinkId) -> bool {
        let area = || areas.get(link.index() / 2).copied();
        match self {
            Self::Any => true,
            Self::Only(number) => area() == Some(number),
            Self::Not(number) => area() != Some(number),
        }
    }
}

impl Way {
    /// The way through nodes, over any links; at least a source and a destination.
    #[must_use]
    pub fn through(nodes: &[NodeId], selection: Selection) -> Self {
        let legs = nodes.iter().skip(1).map(|&to| Leg { to, over: Over::Any }).collect();
        Self { from: nodes.first().copied().unwrap_or(NodeId::NONE), legs, selection }
    }
}

/// Why there is no route as it is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RouteError {
    /// One node cannot be reached from the other, or is the same.
    #[error("node {} cannot be reached from node {}", .1.0, .0.0)]
    Unreachable(NodeId, NodeId),
    /// A node that it should pass ends transfers.
    #[error("node {} passes no transfers on", .0.0)]
    NotForwarded(NodeId),
    /// It would pass a node twice.
    #[error("the route would pass node {} twice", .0.0)]
    Twice(NodeId),
    /// More than [`MOST_BRANCHES`] in all.
    #[error("there are more than {MOST_BRANCHES} routes of equal length from node {} to node {}", .0.0, .1.0)]
    TooMany(NodeId, NodeId),
}

/// The table of routes in use. Only pairs that are asked for are computed; there is no all-pairs table.
#[derive(Clone, Debug)]
pub struct Routes {
    offsets: Vec<u64>,
    links: Vec<LinkId>,
    latency: Vec<SimDuration>,
    by_pair: FxHashMap<(NodeId, NodeId), RouteId>,
    /// Those that a selection found, by their links.
    selected: FxHashMap<Box<[LinkId]>, RouteId>,
    /// The hash by which one of several was picked, of the way that was found first.
    picked: FxHashMap<RouteId, u128>,
    branched: bool,
}

impl Default for Routes {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            links: Vec::new(),
            latency: Vec::new(),
            by_pair: FxHashMap::default(),
            selected: FxHashMap::default(),
            picked: FxHashMap::default(),
            branched: false,
        }
    }
}

impl Routes {
    /// A table without routes: each is found when it is first asked for.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The route from one node to another, computed at its first use; `None` when `to` cannot be reached or is `from`.
    pub fn between(&mut self, fabric: &Fabric, from: NodeId, to: NodeId) -> Option<RouteId> {
        if from == to {
            return None;
        }
        if let Some(&route) = self.by_pair.get(&(from, to)) {
            return Some(route);
        }
        let start = self.links.len();
        if !fabric.has_laterals() {
            if !climb(fabric, from, to, &mut self.links) {
                self.links.truncate(start);
                return None;
            }
        } else {
            self.links.extend(EqualRoutes::find(fabric, from, to, &|_| true)?.one(&mut 0));
        }
        let latency = latency(fabric, &self.links[start..]);
        let route = self.end_route(latency);
        self.by_pair.insert((from, to), route);
        Some(route)
    }

    /// The route of a transfer that may go several ways at once, all from its source to its destination. Of several routes
    /// the links stand one route after the other: they are the [`branches`] of this one. `areas` has a number for each pair
    /// of links, for the ways that ask for it.
    ///
    /// # Errors
    /// There is no such route.
    pub fn select(&mut self, fabric: &Fabric, ways: &[Way], areas: &[u32]) -> Result<RouteId, RouteError> {
        if let [Way { from, legs, selection: Selection::First }] = ways
            && let [Leg { to, over: Over::Any }] = legs[..]
        {
            return self.between(fabric, *from, to).ok_or(RouteError::Unreachable(*from, to));
        }
        let mut found: Vec<Vec<LinkId>> = Vec::new();
        for way in ways {
            found.extend(equal::routes_of(fabric, way, areas, MOST_BRANCHES - found.len())?);
        }
        self.branched |= found.len() > 1;
        let known = self.len();
        let route = self.intern(fabric, found.concat());
        if let ([Way { selection: Selection::Hashed(hash), .. }], true) = (ways, route.index() == known) {
            self.picked.insert(route, *hash);
        }
        Ok(route)
    }

    /// Another route between the ends of one, over links that `is_up` allows: its branches that are allowed, else the route
    /// with the fewest links; among equals the one that the same hash picks, or the first. `None` where there is none.
    pub(crate) fn detour(
        &self,
        fabric: &Fabric,
        route: RouteId,
        is_up: &dyn Fn(LinkId) -> bool,
    ) -> Option<Vec<LinkId>> {
        let links = self.links(route);
        let left = branches(fabric, links).filter(|branch| branch.iter().all(|&link| is_up(link)));
        let left: Vec<LinkId> = left.flatten().copied().collect();
        if !left.is_empty() {
            return Some(left);
        }
        let (from, to) = (fabric.link(*links.first()?).from, fabric.link(*links.last()?).to);
        let mut hash = self.picked.get(&route).copied().unwrap_or(0);
        Some(EqualRoutes::find(fabric, from, to, is_up)?.one(&mut hash))
    }

    /// The route of these links, whose branches stand one after the other.
    pub(crate) fn intern(&mut self, fabric: &Fabric, links: Vec<LinkId>) -> RouteId {
        if let Some(&route) = self.selected.get(&*links) {
            return route;
        }
        let slowest = branches(fabric, &links).map(|branch| latency(fabric, branch)).max().unwrap_or(SimDuration::ZERO);
        self.links.extend_from_slice(&links);
        let route = self.end_route(slowest);
        self.selected.insert(links.into(), route);
        route
    }

    /// Makes the links since the last route a route.
    fn end_route(&mut self, latency: SimDuration) -> RouteId {
        self.latency.push(latency);
        self.offsets.push(self.links.len() as u64);
        RouteId::from_index(self.latency.len() - 1)
    }

    /// Whether any route has more than one of [`branches`]: only [`crate::region_arbiter`] can divide bandwidth then.
    #[must_use]
    pub fn has_branches(&self) -> bool {
        self.branched
    }

    /// Per route the number of its [`branches`]; empty where all have one.
    #[must_use]
    pub fn branch_counts(&self, fabric: &Fabric) -> Vec<u32> {
        let count = |route| branches(fabric, self.links(RouteId::from_index(route))).count() as u32;
        if self.branched { (0..self.len()).map(count).collect() } else { Vec::new() }
    }

    /// The route from one node to another, if it has been computed.
    #[must_use]
    pub fn known(&self, from: NodeId, to: NodeId) -> Option<RouteId> {
        self.by_pair.get(&(from, to)).copied()
    }

    /// Number of distinct routes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.latency.len()
    }

    /// Whether no route is in use.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.latency.is_empty()
    }

    /// The links of a route, in order of travel; of one with several [`branches`], one branch after the other.
    #[inline]
    #[must_use]
    pub fn links(&self, route: RouteId) -> &[LinkId] {
        &self.links[self.offsets[route.index()] as usize..self.offsets[route.index() + 1] as usize]
    }

    /// Sum of the latencies of a route's links; of several branches the largest.
    #[inline]
    #[must_use]
    pub fn latency(&self, route: RouteId) -> SimDuration {
        self.latency[route.index()]
    }

    /// The table as arbiters see it.
    #[must_use]
    pub fn table(&self) -> RouteTable<'_> {
        RouteTable { offsets: (&self.offsets).into(), links: (&self.links).into() }
    }
}

fn latency(fabric: &Fabric, links: &[LinkId]) -> SimDuration {
    links.iter().fold(SimDuration::ZERO, |sum, &link| sum.plus(fabric.link(link).latency))
}
